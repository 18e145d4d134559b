/* What stands behind struct tw_engine (tilewright.h). */
#ifndef TW_JOB_ENGINE_H
#define TW_JOB_ENGINE_H

#include "job/executor.h"

#include <pthread.h>

struct tw_engine {
    pthread_mutex_t lock; /* one run at a time */
    struct tw_host *host;
    struct tw_executor *array; /* NULL: the processor alone */
    struct tw_runner *runner;
    struct tw_graph *product; /* the list of tw_product_run, made anew by each */
};

#endif
