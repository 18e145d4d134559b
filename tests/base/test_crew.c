/* The crew: each job put is done once before it counts as over, by whoever; the most urgent first; also by sleepers. */
#include "base/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum { ROUNDS = 2000 };

struct work {
    unsigned long done[TW_CREW_JOBS]; /* not atomic: the crew has to order them */
    atomic_uint order, place[TW_CREW_JOBS], begun, may_end;
};

static void count(void *arg, unsigned number)
{
    struct work *w = arg;
    w->done[number]++;
    atomic_store(&w->place[number], atomic_fetch_add(&w->order, 1));
}

static struct tw_crew *crew_of(unsigned threads, tw_crew_job *job, struct work *w)
{
    struct tw_crew *crew = NULL;
    struct tw_error err = {0};
    memset(w, 0, sizeof *w);
    assert_int_equal(tw_crew_create(threads, job, w, &crew, &err), TW_OK);
    assert_non_null(crew);
    return crew;
}

static void sleep_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static void each_job_once(void **state)
{
    (void)state;
    for (unsigned threads = 2; threads <= 4; threads++) {
        struct work w;
        struct tw_crew *crew = crew_of(threads, count, &w);
        for (unsigned round = 1; round <= ROUNDS; round++) {
            unsigned jobs = round % TW_CREW_JOBS + 1;
            unsigned long before[TW_CREW_JOBS];
            memcpy(before, w.done, sizeof before);
            for (unsigned j = 0; j < jobs; j++)
                tw_crew_put(crew, j, round + j);
            for (unsigned j = jobs; j-- > 0;) {
                tw_crew_finish(crew, j);
                assert_true(tw_crew_is_over(crew, j));
                assert_int_equal(w.done[j], before[j] + 1);
            }
            tw_crew_finish(crew, 0); /* once more changes nothing */
            assert_int_equal(w.done[0], before[0] + 1);
        }
        tw_crew_destroy(crew);
    }
}

/* A job that goes on until it may end, so that its thread does nothing else meanwhile. */
static void hold_or_count(void *arg, unsigned number)
{
    struct work *w = arg;
    if (number != 0) {
        count(arg, number);
        return;
    }
    atomic_store(&w->begun, 1);
    while (!atomic_load(&w->may_end))
        sleep_ms(1);
}

static void *let_it_end(void *arg)
{
    struct work *w = arg;
    while (atomic_load(&w->order) < 5)
        sleep_ms(1);
    atomic_store(&w->may_end, 1);
    return NULL;
}

/* While another thread is at the job, its owner does the others, in the order in which they are due; then it sleeps. */
static void the_owner_helps(void **state)
{
    static const uint64_t due[] = {0, 50, 20, 40, 10, 30};
    static const unsigned place[] = {0, 4, 1, 3, 0, 2};
    struct work w;
    struct tw_crew *crew = crew_of(2, hold_or_count, &w);
    pthread_t other;
    (void)state;
    tw_crew_put(crew, 0, 0);
    while (!atomic_load(&w.begun))
        sleep_ms(1);
    assert_false(tw_crew_is_over(crew, 0));
    for (unsigned j = 1; j <= 5; j++)
        tw_crew_put(crew, j, due[j]);
    assert_int_equal(pthread_create(&other, NULL, let_it_end, &w), 0);
    tw_crew_finish(crew, 0);
    pthread_join(other, NULL);
    for (unsigned j = 1; j <= 5; j++) {
        assert_int_equal(w.done[j], 1);
        assert_int_equal(atomic_load(&w.place[j]), place[j]);
    }
    tw_crew_destroy(crew);
}

/* Threads that have gone to sleep do a job although its owner does not ask for it. */
static void a_job_wakes_a_sleeper(void **state)
{
    struct work w;
    struct tw_crew *crew = crew_of(2, count, &w);
    (void)state;
    for (int round = 0; round < 5; round++) {
        sleep_ms(20);
        tw_crew_put(crew, 63, 0);
        for (int ms = 0; ms < 10000 && !tw_crew_is_over(crew, 63); ms++)
            sleep_ms(1);
        assert_true(tw_crew_is_over(crew, 63));
        assert_int_equal(w.done[63], round + 1);
    }
    tw_crew_destroy(crew);
}

static void numbers_of_threads(void **state)
{
    static const unsigned bad[] = {0, 1, TW_CREW_MAX + 1};
    struct work w;
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tw_crew *crew = (void *)&w;
        struct tw_error err = {0};
        assert_int_equal(tw_crew_create(bad[i], count, &w, &crew, &err), TW_E_LIMIT);
        assert_null(crew);
        assert_non_null(strstr(err.text, "threads"));
    }
    tw_crew_destroy(crew_of(TW_CREW_MAX, count, &w));
    tw_crew_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_once),
        cmocka_unit_test(the_owner_helps),
        cmocka_unit_test(a_job_wakes_a_sleeper),
        cmocka_unit_test(numbers_of_threads),
    };
    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
