/* Whatever fails on the array: the result is right, it is counted, told once, and the next run is as before. */
#include "job/array_workers.h"
#include "job/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    THREADS = WORKERS_MAX,
    MEMORY_FAULTS_MAX = 40,
    LAUNCHED_TWICE = 8 /* weights and headers of two products, made twice */
};

static void run(struct rig *rig, struct net *n)
{
    net_again(n, rig->runner, rig->host);
}

/* Three runs with one fault, of which one launch falls to the CPU. */
static void expect_one_fallback(const char *fault)
{
    struct rig rig;
    struct net n;
    assert_int_equal(rig_open(&rig, fault, &verify_all, MACHINE_PLAIN), 0);
    net_simple(&n, 1, 40, 70);
    for (int i = 0; i < 3; i++)
        run(&rig, &n);
    const struct tw_executor_counts c = rig_counts(&rig);
    assert_int_equal(c.fallbacks, 1);
    assert_int_equal(rig.warnings, 1);
    assert_non_null(strstr(rig.sentence, "the CPU computes it"));
    assert_true(c.launches > 0 && c.products_on_host > 0);
    assert_int_equal(c.products_on_array + c.products_on_host, 3 * 2);
    assert_int_equal(c.contexts, 1);
    net_free(&n);
    rig_close(&rig);
}

static void test_lost_token(void **state)
{
    (void)state;
    expect_one_fallback("token:1");
    expect_one_fallback("token:12");
}

static void test_hanging_core(void **state)
{
    (void)state;
    expect_one_fallback("core:1");
    expect_one_fallback("core:700");
}

/* A flipped bit is found if it is worth more than rounding; whatever happens, the result is right. */
static void test_flipped_bit(void **state)
{
    uint64_t mismatches = 0;
    (void)state;
    for (int seed = 0; seed < 6; seed++) {
        char fault[64];
        struct rig rig;
        struct net n;
        snprintf(fault, sizeof fault, "bit:%d:seed=%d", 500 * seed + 1, seed);
        assert_int_equal(rig_open(&rig, fault, &verify_all, MACHINE_PLAIN), 0);
        net_simple(&n, 2, 20, 40);
        for (int i = 0; i < 2; i++)
            run(&rig, &n);
        const struct tw_executor_counts c = rig_counts(&rig);
        assert_int_equal(c.fallbacks, c.mismatches);
        assert_int_equal(rig.warnings, c.mismatches);
        mismatches += c.mismatches;
        net_free(&n);
        rig_close(&rig);
    }
    assert_true(mismatches >= 2);
}

/* All matrices of a batch are proved, not only the first. */
static void test_flipped_bit_of_a_batch(void **state)
{
    enum { MATRICES = 4, ROWS = 64, COLUMNS = 32, TRIES = 8 };
    uint64_t mismatches = 0;
    (void)state;
    for (int seed = 0; seed < TRIES; seed++) {
        char fault[64];
        struct rig rig;
        struct net n;
        snprintf(fault, sizeof fault, "bit:%d:seed=%d", MATRICES * ROWS * ROWS / TRIES * seed + 1, seed);
        assert_int_equal(rig_open(&rig, fault, &verify_all, MACHINE_PLAIN), 0);
        net_begin(&n, 5);
        n.in = net_bind(&n, TW_F32, COLUMNS, MATRICES * ROWS, 0);
        const tw_id out = net_temp(&n, ROWS, MATRICES * ROWS);
        const tw_id a = tw_graph_view(n.g, n.in, COLUMNS, ROWS, MATRICES, 0, 4 * COLUMNS, 4 * COLUMNS * ROWS);
        const tw_id c = tw_graph_view(n.g, out, ROWS, ROWS, MATRICES, 0, 4 * ROWS, 4 * ROWS * ROWS);
        tw_graph_product(n.g, c, a, a, TW_NONE, (struct tw_product_options){0});
        net_end(&n, out);
        run(&rig, &n);
        mismatches += rig_counts(&rig).mismatches;
        net_free(&n);
        rig_close(&rig);
    }
    assert_true(mismatches >= TRIES / 3);
}

static void test_refused_context(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_true(rig_open(&rig, "context:1", NULL, MACHINE_PLAIN) < 0);
    assert_null(rig.array);
    assert_true(rig.err.text[0] != '\0');
    net_simple(&n, 3, 10, 20);
    run(&rig, &n);
    net_free(&n);
    rig_close(&rig);
}

/* Each allocation of the driver fails once, and all goes on as before. Returns 0 when there were not so many. */
static int lack_memory(int number)
{
    char fault[32];
    struct rig rig;
    struct net n;
    snprintf(fault, sizeof fault, "memory:%d", number);
    const int code = rig_open(&rig, fault, &verify_all, MACHINE_PLAIN);
    assert_true(code == 0 || (code == TW_E_MEMORY && rig.array == NULL));
    net_simple(&n, 4, 20, 40);
    for (int i = 0; i < 2; i++)
        run(&rig, &n);
    const struct tw_executor_counts c = rig_counts(&rig);
    assert_true(rig.warnings <= 1 && c.mismatches == 0);
    assert_int_equal(c.fallbacks, rig.warnings);
    run(&rig, &n);
    assert_int_equal(rig_counts(&rig).fallbacks, c.fallbacks);
    assert_true(code < 0 || rig_counts(&rig).launches > c.launches);
    const int found = code < 0 || rig.warnings > 0;
    net_free(&n);
    rig_close(&rig);
    return found;
}

static void test_no_memory(void **state)
{
    int number = 1, misses = 0;
    (void)state;
    for (; number < MEMORY_FAULTS_MAX && misses < 3; number++)
        misses = lack_memory(number) ? 0 : misses + 1;
    assert_true(number > 8);
    assert_true(number < MEMORY_FAULTS_MAX);
}

/* The same while no weights stay that nobody needs: whoever tries a launch twice must not hold them twice. */
static int lack_memory_for_weights(int number, int *tried_again)
{
    const struct tw_executor_options tight = {.weight_bytes = 1, .verify = TW_VERIFY_NONE};
    char fault[32];
    struct rig rig;
    struct net n;
    struct tw_store_counts weights = {0};
    snprintf(fault, sizeof fault, "memory:%d", number);
    const int code = rig_open(&rig, fault, &tight, MACHINE_PLAIN);
    net_simple(&n, 4, 20, 40);
    for (int i = 0; i < 2; i++)
        run(&rig, &n);
    if (code == 0)
        tw_store_counts(rig.array->store, &weights);
    assert_int_equal(weights.bytes, 0);
    const int found = code < 0 || rig.warnings > 0 || weights.made > LAUNCHED_TWICE;
    *tried_again += weights.made > LAUNCHED_TWICE;
    net_free(&n);
    rig_close(&rig);
    return found;
}

static void test_nothing_stays_held(void **state)
{
    int tried_again = 0;
    (void)state;
    for (int number = 1, misses = 0; number < MEMORY_FAULTS_MAX && misses < 3; number++)
        misses = lack_memory_for_weights(number, &tried_again) ? 0 : misses + 1;
    assert_true(tried_again > 0);
}

/* ---- Things that do not pass */

static void expect_left_alone(struct rig *rig, struct net *n, uint64_t fallbacks_max)
{
    for (int i = 0; i < 5; i++)
        run(rig, n);
    const struct tw_executor_counts before = rig_counts(rig);
    run(rig, n);
    const struct tw_executor_counts after = rig_counts(rig);
    assert_true(before.fallbacks > 0 && before.fallbacks <= fallbacks_max);
    assert_int_equal(after.fallbacks, before.fallbacks);
    assert_int_equal(after.launches, before.launches);
    assert_int_equal(rig->warnings, 2);
    assert_non_null(strstr(rig->sentence, "left alone"));
}

static void test_always_hanging(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, "core:1.0", NULL, MACHINE_PLAIN), 0);
    net_simple(&n, 5, 20, 40);
    expect_left_alone(&rig, &n, 3);
    assert_int_equal(rig_counts(&rig).contexts, 2);
    net_free(&n);
    rig_close(&rig);
}

static void test_lost_after_hang(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_STAYS_REFUSED), 0);
    net_simple(&n, 6, 20, 40);
    run(&rig, &n);
    machine_hang(&rig.machine);
    expect_left_alone(&rig, &n, 3);
    net_free(&n);
    rig_close(&rig);
}

static void test_removed(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_BARE), 0);
    net_simple(&n, 7, 20, 40);
    run(&rig, &n);
    machine_remove(&rig.machine);
    expect_left_alone(&rig, &n, 3);
    net_free(&n);
    rig_close(&rig);
}

/* After two hangs in a row there is a new context, on which all goes on. */
static void test_new_context(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_BARE), 0);
    net_simple(&n, 9, 20, 40);
    run(&rig, &n);
    for (uint64_t i = 1; i <= 2; i++) {
        machine_hang(&rig.machine);
        run(&rig, &n);
        assert_int_equal(rig_counts(&rig).fallbacks, i);
        assert_int_equal(rig_counts(&rig).contexts, i);
    }
    const uint64_t launches = rig_counts(&rig).launches;
    run(&rig, &n);
    assert_true(rig_counts(&rig).launches > launches);
    assert_int_equal(rig_counts(&rig).fallbacks, 2);
    assert_int_equal(rig.warnings, 1);
    net_free(&n);
    rig_close(&rig);
}

/* Failures count only in a row. */
static void test_now_and_then(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_BARE), 0);
    net_simple(&n, 10, 20, 40);
    for (uint64_t i = 1; i <= 4; i++) {
        machine_hang(&rig.machine);
        run(&rig, &n);
        assert_int_equal(rig_counts(&rig).fallbacks, i);
        run(&rig, &n);
        assert_int_equal(rig_counts(&rig).fallbacks, i);
    }
    assert_int_equal(rig_counts(&rig).contexts, 1);
    assert_int_equal(rig.warnings, 1);
    net_free(&n);
    rig_close(&rig);
}

/* What a launch is refused for says nothing of the device, however often it comes. */
static void test_refused_launches(void **state)
{
    static const int codes[] = {TW_E_ARGUMENT, TW_E_LIMIT, TW_E_SHAPE, TW_E_UNSUPPORTED, TW_E_HEAP, TW_E_MEMORY};
    struct rig rig;
    struct tw_error why = {.text = "so it is"};
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        why.code = codes[i];
        executor_failed(rig.array, executor_context(rig.array), &why);
    }
    assert_false(executor_is_left_alone(rig.array));
    assert_int_equal(rig.warnings, 1);
    why.code = TW_E_DEVICE;
    for (int i = 0; i < 3; i++)
        executor_failed(rig.array, executor_context(rig.array), &why);
    assert_true(executor_is_left_alone(rig.array));
    rig_close(&rig);
}

/* ---- Threads: one command hangs, and takes those with it that are queued behind it */

static void test_threads(void **state)
{
    struct worker workers[THREADS];
    struct rig rig;
    struct net n;
    uint64_t fallbacks = 0;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_BARE), 0);
    machine_hang(&rig.machine);
    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.array = rig.array, .seed = 20 + (uint64_t)i};
    work_at_once(workers, THREADS);
    for (int i = 0; i < THREADS; i++)
        fallbacks += workers[i].counts.fallbacks;
    assert_true(fallbacks >= 1 && fallbacks <= THREADS);
    assert_int_equal(rig.warnings, 1);
    net_simple(&n, 8, 20, 40);
    run(&rig, &n);
    assert_int_equal(rig_counts(&rig).fallbacks, 0);
    assert_true(rig_counts(&rig).launches > 0);
    net_free(&n);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_token),         cmocka_unit_test(test_hanging_core),
        cmocka_unit_test(test_flipped_bit),        cmocka_unit_test(test_flipped_bit_of_a_batch),
        cmocka_unit_test(test_refused_context),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_nothing_stays_held), cmocka_unit_test(test_always_hanging),
        cmocka_unit_test(test_lost_after_hang),    cmocka_unit_test(test_removed),
        cmocka_unit_test(test_new_context),        cmocka_unit_test(test_now_and_then),
        cmocka_unit_test(test_refused_launches),   cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("array_faults", tests, NULL, NULL);
}
