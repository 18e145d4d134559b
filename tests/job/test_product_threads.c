/*
 * Eight threads share an engine, and engines share a process and a machine: each gets its own results, bit for bit what
 * they are when nothing else runs. The emulated machine's memory is not coherent. With TILEWRIGHT_LONG in the
 * environment more rounds and larger products.
 */
#include "job/emulated_engine.h"
#include "job/sample.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 8, SAMPLES = 3, ENGINES = 4, CONTEXTS = 6 };

static int is_long(void)
{
    return getenv("TILEWRIGHT_LONG") != NULL;
}

/* A thread's own products, and what they come to when they run alone. */
struct worker {
    struct tw_engine *engine;
    struct sample samples[SAMPLES];
    unsigned char *right[SAMPLES];
    int wrong; /* the first round whose result was another, from 1 on */
};

static void make_worker(struct worker *w, uint64_t seed, struct tw_engine *alone, struct tw_pool *pool)
{
    struct tw_random r = {seed};
    const int64_t side = is_long() ? 400 : 64;
    *w = (struct worker){0};
    for (int i = 0; i < SAMPLES; i++) {
        struct sample *s = &w->samples[i];
        const int64_t m = sample_side(&r, 8, side), k = sample_side(&r, 8, side), n = sample_side(&r, 8, side);
        sample_make(s, &r, m, k, n);
        sample_run(s, alone, "alone");
        sample_check(s, pool, "alone");
        w->right[i] = malloc(s->c_bytes);
        assert_non_null(w->right[i]);
        memcpy(w->right[i], s->c, s->c_bytes);
    }
}

static void free_worker(struct worker *w)
{
    for (int i = 0; i < SAMPLES; i++) {
        sample_free(&w->samples[i]);
        free(w->right[i]);
    }
}

static void make_workers(struct worker workers[THREADS])
{
    struct tw_engine *alone = emulated_engine(1, TW_VERIFY_NONE);
    struct tw_pool *pool;
    assert_int_equal(tw_pool_create(1, &pool, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        make_worker(&workers[i], 50 + (uint64_t)i, alone, pool);
    engine_expect_clean(alone);
    tw_pool_destroy(pool);
    tw_engine_close(alone);
}

static int rounds(void)
{
    return is_long() ? 40 : 3;
}

/* Threads do not fail the test themselves. */
static void *work(void *arg)
{
    struct worker *w = arg;
    for (int round = 1; round <= rounds() && w->wrong == 0; round++)
        for (int i = 0; i < SAMPLES; i++) {
            struct sample *s = &w->samples[(i + round) % SAMPLES];
            const unsigned char *right = w->right[(i + round) % SAMPLES];
            if (sample_try(s, w->engine, NULL) != 0 || memcmp(s->c, right, s->c_bytes) != 0)
                w->wrong = round;
            if (round % 2 == 0)
                sample_forget(s, w->engine);
        }
    return NULL;
}

static void run_workers(struct worker workers[THREADS])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].wrong != 0)
            fail_msg("thread %d has another result in round %d", i, workers[i].wrong);
}

static void free_workers(struct worker workers[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        free_worker(&workers[i]);
}

/* Each thread's engine is one of these. */
static void share(struct worker workers[THREADS], struct tw_engine *const *engines, int n)
{
    uint64_t products = 0;
    make_workers(workers);
    for (int i = 0; i < THREADS; i++)
        workers[i].engine = engines[i % n];
    run_workers(workers);
    for (int i = 0; i < n; i++)
        products += engine_expect_clean(engines[i]).products_on_npu;
    assert_int_equal(products, (uint64_t)THREADS * SAMPLES * (uint64_t)rounds());
    free_workers(workers);
}

static void one_engine(void **state)
{
    struct worker workers[THREADS];
    struct tw_engine *engine = emulated_engine(2, TW_VERIFY_FIRST);
    (void)state;
    share(workers, &engine, 1);
    tw_engine_close(engine);
}

/* On machines of their own. */
static void engines_of_one_process(void **state)
{
    struct worker workers[THREADS];
    struct tw_engine *engines[ENGINES];
    (void)state;
    for (int i = 0; i < ENGINES; i++)
        engines[i] = emulated_engine(1 + (unsigned)i % 2, TW_VERIFY_FIRST);
    share(workers, engines, ENGINES);
    for (int i = 0; i < ENGINES; i++)
        tw_engine_close(engines[i]);
}

/* On the machine that all of the process use, by one device and by several: as many as it has contexts. */
static void engines_of_one_machine(void **state)
{
    struct worker workers[THREADS];
    struct tw_engine *engines[CONTEXTS];
    struct tw_device *shared = emulated_device(0);
    (void)state;
    for (int i = 0; i < CONTEXTS; i++) {
        struct tw_device *own = emulated_device(0);
        engines[i] = emulated_engine_on(i % 2 == 0 ? shared : own, 1, TW_VERIFY_NONE);
        tw_device_close(own);
    }
    tw_device_close(shared);
    share(workers, engines, CONTEXTS);
    for (int i = 0; i < CONTEXTS; i++)
        tw_engine_close(engines[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_engine),
        cmocka_unit_test(engines_of_one_process),
        cmocka_unit_test(engines_of_one_machine),
    };
    return cmocka_run_group_tests_name("product_threads", tests, NULL, NULL);
}
