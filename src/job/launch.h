/* A step of a plan as one command of the NPU: products of the overlay on the runner's area. */
#ifndef TW_JOB_LAUNCH_H
#define TW_JOB_LAUNCH_H

#include "job/plan.h"
#include "job/state.h"

/* Something in the weight store, and where control code expects it. */
struct held {
    struct tw_store_entry *entry; /* NULL unless the launch is being made or runs */
    uint64_t slab;                /* its number; 0: not known yet */
    size_t offset;
    uint32_t argument;
};

/* One operation, all its matrices. */
struct part {
    const struct tw_op *op;
    struct tw_overlay_shape shape;
    struct held weights; /* unused when B is a temporary */
    struct held headers; /* unused when the bias may change from run to run: then they are in the launch's own buffer */
    int has_own_headers;
    size_t own_headers;                                /* where they are there */
    int a_is_outside, b_is_outside, addend_is_outside; /* a temporary that the launch does not write itself */
};

struct launch {
    const struct tw_graph *graph;
    int32_t first, count; /* operations */
    struct part *parts;   /* as many */
    uint64_t matrices;
    struct tw_buffer *own; /* headers with a bias that may change; NULL: none */
    size_t own_bytes;
    struct tw_job *job;         /* NULL: to be made */
    uint64_t context;           /* that it was made for */
    struct tw_buffer **buffers; /* of the job; room for all that there may be */
    uint64_t *slabs;            /* the number of the slab that argument i is */
    uint32_t n_buffers;
    struct tw_modelled modelled; /* of the last run */
    int is_modelled;
};

/* Arguments that are no slabs. */
enum argument { ARGUMENT_AREA, ARGUMENT_OWN, ARGUMENT_SLABS /* from here on */ };

/*
 * Chooses shapes for step of graph, a plan's, which must outlive the launch. Release with launch_free also when it
 * fails, with TW_E_UNSUPPORTED, TW_E_SHAPE or TW_E_MEMORY.
 */
int launch_make(const struct tw_graph *graph, const struct tw_step *step, struct launch *launch, struct tw_error *err);
void launch_free(struct launch *launch);
/* Gives its control code back, which is made again when it is needed. */
void launch_drop_job(struct launch *launch);

/*
 * Makes ready what a run needs: weights in the device's memory, which stay there until launch_release, and the job.
 * Counts its time in r->counts. Fails as tw_buffer_create, tw_host_pack and tw_job_create do; then too launch_release
 * is needed.
 */
int launch_prepare(struct tw_runner *r, struct launch *launch, struct tw_error *err);
/* Runs it once on the area. Fails as tw_job_run does. */
int launch_run(struct tw_runner *r, struct launch *launch, struct tw_error *err);
void launch_release(struct tw_runner *r, struct launch *launch);

/*
 * Proves what it has computed (host/checksum.h), before launch_release. Fails with TW_E_CHECKSUM, or because it cannot
 * be done.
 */
int launch_verify(struct tw_runner *r, struct launch *launch, struct tw_error *err);

/* Where tensor id, which is a temporary, and its matrix number i begin in the area. */
size_t launch_offset(const struct tw_graph *g, tw_id id, int64_t i);

/* n numbers of a bias, aligned, in new memory to be freed; NULL: no memory. */
float *launch_bias(const struct launch *launch, const struct part *part);

#endif
