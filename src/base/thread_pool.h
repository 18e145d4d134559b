/*
 * A pool of threads for parallel loops. Workers spin for a few microseconds after a loop, because the next operation of
 * a graph usually follows at once, and then sleep, so that an idle program uses no processor time.
 */
#ifndef TW_BASE_THREAD_POOL_H
#define TW_BASE_THREAD_POOL_H

#include "base/error.h"

#include <stddef.h>

struct tw_pool;

/* One piece of a loop: index in [0, count), worker in [0, tw_pool_size) for per-thread scratch memory. */
typedef void tw_task(void *arg, size_t index, unsigned worker);

/* threads counts the calling thread; 0 means one per processor this process may use. At most TW_POOL_MAX. */
#define TW_POOL_MAX 256
int tw_pool_create(unsigned threads, struct tw_pool **pool, struct tw_error *err);
void tw_pool_destroy(struct tw_pool *pool);
unsigned tw_pool_size(const struct tw_pool *pool);

/*
 * Calls task(arg, i, worker) for every i in [0, count), each once, in any order, on any thread, and returns when all are
 * done. The caller takes part as worker 0. Calls from several threads at once wait for each other; a task must not call
 * tw_pool_run on the same pool.
 */
void tw_pool_run(struct tw_pool *pool, size_t count, tw_task *task, void *arg);

/* Processors this process may run on, at least 1. */
unsigned tw_processors(void);

#endif
