/* What stands behind struct tw_executor and struct tw_runner, for the files of this folder. */
#ifndef TW_JOB_STATE_H
#define TW_JOB_STATE_H

#include "host/weight_store.h"
#include "job/area.h"
#include "job/executor.h"
#include "job/slabs.h"

struct planned;

struct tw_executor {
    struct tw_buffer *keeper; /* keeps the device open for as long as a new context may be needed */
    struct tw_device *device;
    unsigned char *pdi;
    size_t pdi_bytes;
    double image_seconds;
    enum tw_verify verify;
    void (*warn)(void *arg, const char *sentence);
    void *arg;
    struct slabs slabs;
    struct tw_store *store; /* of weights and headers, in the slabs */
    pthread_mutex_t lock;   /* of what follows */
    struct tw_context *context;
    uint64_t contexts; /* taken so far, which is the number of the present one */
    unsigned failures; /* in a row */
    int is_warned, is_renewed, is_left_alone;
    int is_proved; /* all products of a run were right */
};

struct tw_runner {
    struct tw_executor *array; /* NULL: none */
    struct tw_host *host;
    struct area area;
    struct planned *plans; /* last used first */
    int apart;
    int (*stop)(void *arg);
    void *stop_arg;
    void (*event)(void *arg, const struct tw_runner_event *event);
    void *arg;
    struct tw_executor_counts counts;
};

/* A job of the present context, whose number *context gets. Fails as tw_job_create does. */
int executor_job_create(struct tw_executor *array, const void *code, size_t bytes, struct tw_job **job,
                        uint64_t *context, struct tw_error *err);
/* The number of the present context: jobs of earlier ones are to be made again. */
uint64_t executor_context(struct tw_executor *array);

/*
 * Notes how a launch went, on the context of that number. The first failure is told; after several in a row the array
 * is left alone, which is told too.
 */
void executor_worked(struct tw_executor *array);
void executor_failed(struct tw_executor *array, uint64_t context, const struct tw_error *why);
int executor_is_left_alone(struct tw_executor *array);

/* Whether a run is to be verified, and that one was, without finding anything. */
int executor_must_verify(struct tw_executor *array);
void executor_is_proved(struct tw_executor *array);

#endif
