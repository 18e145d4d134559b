/* The thread pool: every index exactly once, workers numbered, sleep and wake, many pools, many callers. */
#include "base/thread_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

struct count {
    atomic_uint *times; /* per index */
    atomic_uint *busy;  /* per worker: nonzero while it runs a task */
    unsigned size;
    atomic_int wrong;
};

static void count_once(void *arg, size_t index, unsigned worker)
{
    struct count *c = arg;
    if (worker >= c->size || atomic_fetch_add(&c->busy[worker], 1) != 0)
        atomic_store(&c->wrong, 1);
    atomic_fetch_add(&c->times[index], 1);
    if (worker < c->size)
        atomic_fetch_sub(&c->busy[worker], 1);
}

/* Runs count tasks and checks that each ran once, no worker number in two threads at a time. Nonzero when not. */
static int wrong_run(struct tw_pool *pool, size_t count)
{
    struct count c = {.size = tw_pool_size(pool)};
    c.times = calloc(count + 1, sizeof *c.times);
    c.busy = calloc(c.size, sizeof *c.busy);
    int wrong = c.times == NULL || c.busy == NULL;
    if (!wrong) {
        tw_pool_run(pool, count, count_once, &c);
        wrong = atomic_load(&c.wrong);
        for (size_t i = 0; i <= count; i++)
            wrong |= atomic_load(&c.times[i]) != (i < count);
    }
    free(c.times);
    free(c.busy);
    return wrong;
}

static struct tw_pool *pool_of(unsigned threads)
{
    struct tw_pool *pool = NULL;
    struct tw_error err = {0};
    assert_int_equal(tw_pool_create(threads, &pool, &err), TW_OK);
    assert_non_null(pool);
    return pool;
}

static void pause_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static void every_index_once(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000};
    for (unsigned threads = 1; threads <= 9; threads++) {
        struct tw_pool *pool = pool_of(threads);
        assert_int_equal(tw_pool_size(pool), threads);
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            assert_int_equal(wrong_run(pool, counts[i]), 0);
        tw_pool_destroy(pool);
    }
}

static void many_short_loops(void **state)
{
    (void)state;
    struct tw_pool *pool = pool_of(3);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(wrong_run(pool, i % 7), 0);
    tw_pool_destroy(pool);
}

struct meeting {
    atomic_uint arrived;
    unsigned expected;
};

static void meet(void *arg, size_t index, unsigned worker)
{
    struct meeting *m = arg;
    (void)index;
    (void)worker;
    atomic_fetch_add(&m->arrived, 1);
    while (atomic_load(&m->arrived) < m->expected)
        pause_ms(1);
}

/* As many tasks as threads, each waiting for all others: ends only when every thread takes part. */
static void all_threads_work_also_after_sleep(void **state)
{
    (void)state;
    struct tw_pool *pool = pool_of(4);
    for (int i = 0; i < 3; i++) {
        struct meeting m = {.expected = 4};
        tw_pool_run(pool, 4, meet, &m);
        assert_int_equal(atomic_load(&m.arrived), 4);
        pause_ms(20);
    }
    tw_pool_destroy(pool);
}

static void stay_a_while(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    if (index % 2 == 1)
        pause_ms(5);
    atomic_fetch_add((atomic_uint *)arg, 1);
}

/* The caller is done first and has to sleep until the slow worker is. */
static void caller_waits_for_slow_tasks(void **state)
{
    (void)state;
    struct tw_pool *pool = pool_of(4);
    for (int i = 0; i < 5; i++) {
        atomic_uint done = 0;
        tw_pool_run(pool, 8, stay_a_while, &done);
        assert_int_equal(atomic_load(&done), 8);
    }
    tw_pool_destroy(pool);
}

static void many_pools(void **state)
{
    (void)state;
    struct tw_pool *pools[12];
    for (int i = 0; i < 12; i++)
        pools[i] = pool_of(2);
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < 12; i++)
            assert_int_equal(wrong_run(pools[i], 50), 0);
    for (int i = 0; i < 12; i++)
        tw_pool_destroy(pools[i]);
}

static void destroyed_at_once_and_when_asleep(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++)
        tw_pool_destroy(pool_of(4));
    struct tw_pool *pool = pool_of(4);
    pause_ms(30);
    tw_pool_destroy(pool);
    pool = pool_of(4);
    assert_int_equal(wrong_run(pool, 100), 0);
    pause_ms(30);
    tw_pool_destroy(pool);
    tw_pool_destroy(NULL);
}

struct caller {
    struct tw_pool *pool;
    int wrong;
};

static void *call_often(void *arg)
{
    struct caller *c = arg;
    for (size_t i = 0; i < 200; i++)
        c->wrong |= wrong_run(c->pool, 1 + i % 40);
    return NULL;
}

static void concurrent_callers(void **state)
{
    (void)state;
    struct tw_pool *pool = pool_of(3);
    struct caller callers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        callers[i] = (struct caller){pool, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(callers[i].wrong, 0);
    tw_pool_destroy(pool);
}

static void sizes(void **state)
{
    (void)state;
    struct tw_pool *pool = pool_of(0);
    assert_true(tw_processors() >= 1);
    assert_int_equal(tw_pool_size(pool), tw_processors());
    tw_pool_destroy(pool);
    struct tw_error err = {0};
    pool = (struct tw_pool *)&err;
    assert_int_equal(tw_pool_create(TW_POOL_MAX + 1, &pool, &err), TW_E_LIMIT);
    assert_null(pool);
    assert_non_null(strstr(err.text, "257"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_once),
        cmocka_unit_test(many_short_loops),
        cmocka_unit_test(all_threads_work_also_after_sleep),
        cmocka_unit_test(caller_waits_for_slow_tasks),
        cmocka_unit_test(many_pools),
        cmocka_unit_test(destroyed_at_once_and_when_asleep),
        cmocka_unit_test(concurrent_callers),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
