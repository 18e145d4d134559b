/*
 * The CPU executor: runs a finished graph on a pool of threads, with the best kernels of this processor.
 *
 * Results do not depend on the number of threads: no sum is ever split between threads.
 */
#ifndef TW_HOST_HOST_H
#define TW_HOST_HOST_H

#include "graph/graph.h"

struct tw_host;

struct tw_host_options {
    unsigned threads;    /* 0: one per processor */
    const char *kernels; /* "c", "avx2", "avx512"; NULL: the best that this processor has */
};

/* Fails with TW_E_UNSUPPORTED when the named kernels are not there or cannot run on this processor. */
int tw_host_create(const struct tw_host_options *options, struct tw_host **host, struct tw_error *err);
void tw_host_destroy(struct tw_host *host);

/*
 * Runs all operations of g. The executor keeps its work area from run to run (it grows, never shrinks). One run at a
 * time per executor; several executors may run the same graph at once if it writes to no bound tensor they share.
 */
int tw_host_run(struct tw_host *host, const struct tw_graph *g, struct tw_error *err);

/*
 * Runs operations first .. first + count - 1 of g with its temporary tensors in `work`: g->work_bytes of the caller's
 * memory, aligned to 64 bytes. NULL: in the executor's own, which keeps them until it runs another graph. What the
 * operations read must be there. Fails with TW_E_STATE for a graph that is not finished, TW_E_ARGUMENT for operations
 * that it does not have or memory that is not aligned, and as the operations do.
 */
int tw_host_run_some(struct tw_host *host, const struct tw_graph *g, int32_t first, int32_t count, unsigned char *work,
                     struct tw_error *err);

unsigned tw_host_threads(const struct tw_host *host);
const char *tw_host_kernels(const struct tw_host *host);

/* Runs task over [0, count) on this executor's threads, for work that is no graph (spectrograms, sampling). */
#include "base/thread_pool.h"
struct tw_pool *tw_host_pool(struct tw_host *host);

#endif
