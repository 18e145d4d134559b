/* Threads that run networks on arrays at once, each with a runner and an executor of its own. */
#ifndef TW_TESTS_JOB_ARRAY_WORKERS_H
#define TW_TESTS_JOB_ARRAY_WORKERS_H

#include "job/array_rig.h"

enum { WORKERS_MAX = 8 };

struct worker {
    struct tw_executor *array;
    uint64_t seed;
    int is_mixed;                     /* two networks in turn: net_simple's and a random one; else the first alone */
    struct tw_executor_counts counts; /* of its runner, in the end */
};

/* Runs all of them, four times each, and expects right results. */
void work_at_once(struct worker *workers, int count);

#endif
