#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

/* About 200 microseconds of polling before a thread sleeps, and 40 before the owner does: see thread_pool.c. */
enum { SPINS_OF_THREAD = 20000, SPINS_OF_OWNER = 4000 };

struct tw_crew {
    tw_crew_job *job;
    void *arg;
    unsigned n_threads; /* without the owner */
    pthread_t *threads;
    pthread_mutex_t lock; /* of those who sleep */
    pthread_cond_t start, done;
    atomic_uint sleepers;
    atomic_int owner_sleeps;
    atomic_int stop;
    _Atomic uint64_t due[TW_CREW_JOBS];
    alignas(64) _Atomic uint64_t waiting; /* jobs that nobody has begun, a bit for each */
    alignas(64) _Atomic uint64_t over;    /* jobs that have been done */
};

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    sched_yield();
#endif
}

static uint64_t bit(unsigned number)
{
    return UINT64_C(1) << number;
}

/* The one of these jobs that is due first. */
static unsigned first_due(const struct tw_crew *crew, uint64_t jobs)
{
    unsigned first = (unsigned)__builtin_ctzll(jobs);
    for (jobs &= jobs - 1; jobs != 0; jobs &= jobs - 1) {
        unsigned other = (unsigned)__builtin_ctzll(jobs);
        if (atomic_load_explicit(&crew->due[other], memory_order_relaxed) <
            atomic_load_explicit(&crew->due[first], memory_order_relaxed))
            first = other;
    }
    return first;
}

/* Whether the caller is the one who does the job. */
static int begin(struct tw_crew *crew, unsigned number)
{
    return (atomic_fetch_and_explicit(&crew->waiting, ~bit(number), memory_order_acq_rel) & bit(number)) != 0;
}

static void run(struct tw_crew *crew, unsigned number)
{
    crew->job(crew->arg, number);
    atomic_fetch_or(&crew->over, bit(number));
}

/* Does one of the jobs that wait. Returns 0 when there is none. */
static int run_any(struct tw_crew *crew)
{
    uint64_t jobs;
    while ((jobs = atomic_load_explicit(&crew->waiting, memory_order_acquire)) != 0) {
        unsigned number = first_due(crew, jobs);
        if (!begin(crew, number))
            continue;
        run(crew, number);
        return 1;
    }
    return 0;
}

static int has_call(const struct tw_crew *crew)
{
    return atomic_load(&crew->waiting) != 0 || atomic_load(&crew->stop);
}

static void wait_for_call(struct tw_crew *crew)
{
    for (int i = 0; i < SPINS_OF_THREAD; i++) {
        if (has_call(crew))
            return;
        pause_cpu();
    }
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add(&crew->sleepers, 1);
    while (!has_call(crew))
        pthread_cond_wait(&crew->start, &crew->lock);
    atomic_fetch_sub(&crew->sleepers, 1);
    pthread_mutex_unlock(&crew->lock);
}

static void wake_owner(struct tw_crew *crew)
{
    if (!atomic_load(&crew->owner_sleeps))
        return;
    pthread_mutex_lock(&crew->lock);
    pthread_cond_signal(&crew->done);
    pthread_mutex_unlock(&crew->lock);
}

static void *work(void *arg)
{
    struct tw_crew *crew = arg;
    while (!atomic_load(&crew->stop)) {
        if (run_any(crew))
            wake_owner(crew);
        else
            wait_for_call(crew);
    }
    return NULL;
}

void tw_crew_put(struct tw_crew *crew, unsigned number, uint64_t due)
{
    atomic_store_explicit(&crew->due[number], due, memory_order_relaxed);
    atomic_fetch_and_explicit(&crew->over, ~bit(number), memory_order_relaxed);
    atomic_fetch_or(&crew->waiting, bit(number));
    if (atomic_load(&crew->sleepers) == 0)
        return;
    pthread_mutex_lock(&crew->lock);
    pthread_cond_signal(&crew->start);
    pthread_mutex_unlock(&crew->lock);
}

int tw_crew_is_over(const struct tw_crew *crew, unsigned number)
{
    return (atomic_load_explicit(&crew->over, memory_order_acquire) & bit(number)) != 0;
}

static void sleep_until_over(struct tw_crew *crew, unsigned number)
{
    pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->owner_sleeps, 1);
    while ((atomic_load(&crew->over) & bit(number)) == 0)
        pthread_cond_wait(&crew->done, &crew->lock);
    atomic_store(&crew->owner_sleeps, 0);
    pthread_mutex_unlock(&crew->lock);
}

void tw_crew_finish(struct tw_crew *crew, unsigned number)
{
    if (tw_crew_is_over(crew, number))
        return;
    if (begin(crew, number)) {
        run(crew, number);
        return;
    }
    for (int spins = 0; !tw_crew_is_over(crew, number);) {
        if (run_any(crew)) {
            spins = 0;
        } else if (spins++ < SPINS_OF_OWNER) {
            pause_cpu();
        } else {
            sleep_until_over(crew, number);
        }
    }
}

int tw_crew_create(unsigned threads, tw_crew_job *job, void *arg, struct tw_crew **out, struct tw_error *err)
{
    *out = NULL;
    if (threads < 2 || threads > TW_CREW_MAX)
        return tw_fail(err, TW_E_LIMIT, "a crew has 2 to %d threads, not %u", TW_CREW_MAX, threads);
    struct tw_crew *crew = aligned_alloc(alignof(struct tw_crew), sizeof *crew);
    pthread_t *handles = calloc(threads, sizeof *handles);
    if (crew == NULL || handles == NULL) {
        free(crew);
        free(handles);
        return tw_fail(err, TW_E_MEMORY, "no memory for a crew of %u threads", threads);
    }
    *crew = (struct tw_crew){.job = job, .arg = arg, .threads = handles};
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->start, NULL);
    pthread_cond_init(&crew->done, NULL);
    for (unsigned i = 1; i < threads; i++) {
        if (pthread_create(&crew->threads[crew->n_threads], NULL, work, crew) != 0) {
            tw_crew_destroy(crew);
            return tw_fail(err, TW_E_MEMORY, "cannot start thread %u of %u; try fewer with --threads", i + 1, threads);
        }
        crew->n_threads++;
    }
    *out = crew;
    return TW_OK;
}

void tw_crew_destroy(struct tw_crew *crew)
{
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->stop, 1);
    pthread_cond_broadcast(&crew->start);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->n_threads; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_cond_destroy(&crew->done);
    pthread_cond_destroy(&crew->start);
    pthread_mutex_destroy(&crew->lock);
    free(crew->threads);
    free(crew);
}
