#define _GNU_SOURCE /* sched_getaffinity */
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * About 200 microseconds of polling before a worker sleeps: longer than the gap between two operations of a graph, and
 * than what the emulated array does between two turns of its cores. To wake one that sleeps costs half of a short loop.
 * The caller polls less: the one that it waits for may need its processor.
 */
#define SPINS_OF_WORKER 20000
#define SPINS_OF_CALLER 4000

struct worker {
    struct tw_pool *pool;
    pthread_t thread;
    unsigned number;
};

struct tw_pool {
    unsigned size;
    struct worker *workers; /* size - 1 of them; the caller is number 0 */
    pthread_mutex_t caller; /* one loop at a time */

    tw_task *task;
    void *arg;
    size_t count;
    atomic_size_t next;
    atomic_uint round;   /* changes when a loop starts */
    atomic_uint pending; /* workers that have not finished the round */
    atomic_int stop;

    pthread_mutex_t lock; /* guards sleeping; round and pending change under it when somebody may sleep */
    pthread_cond_t start;
    pthread_cond_t done;
    unsigned sleepers;
    int caller_sleeps;
};

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    sched_yield();
#endif
}

unsigned tw_processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

static void take_tasks(struct tw_pool *pool, unsigned number)
{
    size_t i;
    while ((i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->count)
        pool->task(pool->arg, i, number);
}

static void wait_for_round(struct tw_pool *pool, unsigned seen)
{
    for (int i = 0; i < SPINS_OF_WORKER; i++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen)
            return;
        pause_cpu();
    }
    pthread_mutex_lock(&pool->lock);
    pool->sleepers++;
    while (atomic_load_explicit(&pool->round, memory_order_acquire) == seen)
        pthread_cond_wait(&pool->start, &pool->lock);
    pool->sleepers--;
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *arg)
{
    struct worker *self = arg;
    struct tw_pool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        wait_for_round(pool, seen);
        seen = atomic_load_explicit(&pool->round, memory_order_acquire);
        if (atomic_load_explicit(&pool->stop, memory_order_relaxed))
            return NULL;
        take_tasks(pool, self->number);
        if (atomic_fetch_sub_explicit(&pool->pending, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&pool->lock);
            if (pool->caller_sleeps)
                pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

static void begin_round(struct tw_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add_explicit(&pool->round, 1, memory_order_release);
    if (pool->sleepers > 0)
        pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
}

static void end_round(struct tw_pool *pool)
{
    for (int i = 0; i < SPINS_OF_CALLER; i++) {
        if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0)
            return;
        pause_cpu();
    }
    pthread_mutex_lock(&pool->lock);
    pool->caller_sleeps = 1;
    while (atomic_load_explicit(&pool->pending, memory_order_acquire) != 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pool->caller_sleeps = 0;
    pthread_mutex_unlock(&pool->lock);
}

void tw_pool_run(struct tw_pool *pool, size_t count, tw_task *task, void *arg)
{
    if (count == 0)
        return;
    pthread_mutex_lock(&pool->caller);
    if (pool->size == 1 || count == 1) {
        for (size_t i = 0; i < count; i++)
            task(arg, i, 0);
    } else {
        pool->task = task;
        pool->arg = arg;
        pool->count = count;
        atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
        atomic_store_explicit(&pool->pending, pool->size - 1, memory_order_relaxed);
        begin_round(pool);
        take_tasks(pool, 0);
        end_round(pool);
    }
    pthread_mutex_unlock(&pool->caller);
}

int tw_pool_create(unsigned threads, struct tw_pool **out, struct tw_error *err)
{
    *out = NULL;
    if (threads == 0)
        threads = tw_processors();
    if (threads > TW_POOL_MAX)
        return tw_fail(err, TW_E_LIMIT, "%u threads asked for, at most %d are possible", threads, TW_POOL_MAX);
    struct tw_pool *pool = calloc(1, sizeof *pool);
    struct worker *workers = calloc(threads, sizeof *workers);
    if (pool == NULL || workers == NULL) {
        free(pool);
        free(workers);
        return tw_fail(err, TW_E_MEMORY, "no memory for a pool of %u threads", threads);
    }
    pool->workers = workers;
    pool->size = 1;
    pthread_mutex_init(&pool->caller, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (unsigned i = 1; i < threads; i++) {
        struct worker *w = &workers[i - 1];
        w->pool = pool;
        w->number = i;
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            tw_pool_destroy(pool);
            return tw_fail(err, TW_E_MEMORY, "cannot start thread %u of %u; try fewer with --threads", i + 1, threads);
        }
        pool->size++;
    }
    *out = pool;
    return TW_OK;
}

void tw_pool_destroy(struct tw_pool *pool)
{
    if (pool == NULL)
        return;
    atomic_store_explicit(&pool->stop, 1, memory_order_relaxed);
    begin_round(pool);
    for (unsigned i = 1; i < pool->size; i++)
        pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->caller);
    free(pool->workers);
    free(pool);
}

unsigned tw_pool_size(const struct tw_pool *pool)
{
    return pool->size;
}
