/* Graphs on the emulated array: right results whatever happens, and every run told in the counts. */
#include "job/array_workers.h"
#include "job/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 12, THREADS = WORKERS_MAX, ARRAYS = 3 };

static void expect_clean(const struct rig *rig)
{
    const struct tw_executor_counts c = rig_counts(rig);
    if (rig->warnings != 0)
        fail_msg("%s", rig->sentence);
    assert_int_equal(c.fallbacks, 0);
    assert_int_equal(c.mismatches, 0);
    assert_true(c.launches > 0 && c.products_on_array >= c.launches && c.cycles > 0);
}

/* Whatever the area holds, nothing of it may be in a result: it is filled with what is not a number. */
static void poison(struct rig *rig)
{
    struct area *area = &rig->runner->area;
    const struct window all_of_it = {.row_bytes = area->bytes, .rows = area->bytes > 0};
    assert_int_equal(area_host_writes(area, &all_of_it, NULL), 0);
    memset(area->data, 0xff, area->bytes);
}

static void run_twice(struct rig *rig, struct net *n)
{
    net_run(n, rig->runner);
    net_check(n, rig->host);
    poison(rig);
    net_again(n, rig->runner, rig->host);
}

static void test_random_graphs(void **state)
{
    struct rig rig;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &verify_all, MACHINE_PLAIN), 0);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct net n;
        net_random(&n, seed);
        run_twice(&rig, &n);
        net_free(&n);
    }
    expect_clean(&rig);
    assert_int_equal(rig_counts(&rig).runs, 2 * SEEDS);
    rig_close(&rig);
}

/*
 * x y^T z, with sides that fill no block: both operands of a product have been written by the CPU, and B lies in
 * columns and in rows.
 */
static void test_temporaries(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &verify_all, MACHINE_PLAIN), 0);
    net_begin(&n, 9);
    n.in = net_bind(&n, TW_F32, 45, 37, 0);
    const tw_id y = net_bind(&n, TW_F32, 45, 37, 0), z = net_bind(&n, TW_F32, 45, 37, 0);
    const tw_id scores = net_temp(&n, 37, 37), soft = net_temp(&n, 37, 37), out = net_temp(&n, 45, 37);
    tw_graph_product(n.g, scores, n.in, y, TW_NONE, (struct tw_product_options){0});
    tw_graph_softmax(n.g, soft, scores, 1, 0, 0);
    tw_graph_product(n.g, out, soft, z, TW_NONE, (struct tw_product_options){.b_rows = 1});
    net_end(&n, out);
    run_twice(&rig, &n);
    expect_clean(&rig);
    assert_int_equal(rig_counts(&rig).products_on_array, 2 * 2);
    net_free(&n);
    rig_close(&rig);
}

/* Products of one size, with GELU and without, have headers of their own. */
static void test_headers(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    net_begin(&n, 10);
    n.in = net_bind(&n, TW_F32, 64, 20, 0);
    net_end(&n, net_linear(&n, net_linear(&n, net_linear(&n, n.in, 64, 0, 1), 64, 0, 0), 64, 0, 1));
    run_twice(&rig, &n);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

static void test_no_array(void **state)
{
    struct tw_host *host = NULL;
    struct tw_runner *runner = NULL;
    struct tw_executor_counts counts;
    struct net n;
    (void)state;
    assert_int_equal(tw_host_create(NULL, &host, NULL), 0);
    assert_int_equal(tw_runner_create(NULL, host, &runner, NULL), 0);
    net_simple(&n, 1, 5, 40);
    net_run(&n, runner);
    net_check(&n, host);
    tw_runner_counts(runner, &counts);
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.launches, 0);
    assert_int_equal(counts.products_on_host, 2);
    assert_int_equal(counts.operations_on_host, n.g->n_ops);
    net_free(&n);
    tw_runner_destroy(runner);
    tw_host_destroy(host);
}

/* A graph runs again with what was made for it, and follows its inputs. */
static void test_again(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &verify_all, MACHINE_PLAIN), 0);
    net_simple(&n, 2, 40, 70);
    net_run(&n, rig.runner);
    net_check(&n, rig.host);
    const struct tw_executor_counts first = rig_counts(&rig);
    for (int i = 0; i < 3; i++)
        net_again(&n, rig.runner, rig.host);
    const struct tw_executor_counts last = rig_counts(&rig);
    assert_true(first.control_seconds > 0 && last.control_seconds == first.control_seconds);
    assert_int_equal(last.weights_packed, first.weights_packed);
    assert_int_equal(last.launches, 4 * first.launches);
    assert_int_equal(last.cycles / first.cycles, 4);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

/* Only the first run is verified when it is right; none of it costs commands that are counted. */
static void test_verified_once(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    net_simple(&n, 3, 20, 33);
    net_run(&n, rig.runner);
    const struct tw_executor_counts first = rig_counts(&rig);
    net_run(&n, rig.runner);
    assert_true(first.verify_seconds > 0 && rig_counts(&rig).verify_seconds == first.verify_seconds);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

/* Weights of two graphs in turn, with room for none: they are packed each time. */
static void test_small_budget(void **state)
{
    const struct tw_executor_options options = {.verify = TW_VERIFY_ALL, .weight_bytes = 1};
    struct rig rig;
    struct net n[2];
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &options, MACHINE_PLAIN), 0);
    net_simple(&n[0], 4, 40, 70);
    net_simple(&n[1], 5, 33, 96);
    for (int i = 0; i < 6; i++)
        net_again(&n[i % 2], rig.runner, rig.host);
    const struct tw_executor_counts c = rig_counts(&rig);
    assert_int_equal(c.weights_evicted, c.weights_packed);
    assert_true(c.weights_packed >= 6 * 4);
    expect_clean(&rig);
    net_free(&n[0]);
    net_free(&n[1]);
    rig_close(&rig);
}

/* More graphs than plans are kept, some of one shape and at other addresses; all in the same memory. */
static void test_many_graphs(void **state)
{
    struct rig rig;
    struct net n[7];
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    for (int i = 0; i < 7; i++)
        net_simple(&n[i], 10 + (uint64_t)i, 1 + 20 * (i / 2), 16 + 9 * (i / 2));
    for (int i = 0; i < 14; i++) {
        net_run(&n[i % 7], rig.runner);
        net_check(&n[i % 7], rig.host);
    }
    expect_clean(&rig);
    for (int i = 0; i < 7; i++)
        net_free(&n[i]);
    rig_close(&rig);
}

/* Weights that change are noticed when the array is told so. */
static void test_forget(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &verify_all, MACHINE_PLAIN), 0);
    net_simple(&n, 6, 17, 64);
    net_run(&n, rig.runner);
    const uint64_t packed = rig_counts(&rig).weights_packed;
    const tw_id changed[] = {n.weights, n.bias};
    for (size_t i = 0; i < 2; i++) {
        const struct tw_tensor *t = &n.g->tensors[changed[i]];
        memset(t->data, 0, t->bytes);
        tw_executor_forget(rig.array, t->data, t->bytes);
    }
    net_run(&n, rig.runner);
    net_check(&n, rig.host);
    assert_int_equal(rig_counts(&rig).weights_packed, packed + 2);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

/* A bias that is no constant is read anew in each run. */
static void test_changing_bias(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &verify_all, MACHINE_PLAIN), 0);
    net_begin(&n, 7);
    n.in = net_bind(&n, TW_F32, 40, 1, 0);
    const tw_id x = net_bind(&n, TW_F32, 50, 30, 0), w = net_bind(&n, TW_F16, 50, 40, 1), y = net_temp(&n, 40, 30);
    tw_graph_product(n.g, y, x, w, n.in, (struct tw_product_options){.gelu = 1});
    net_end(&n, y);
    for (int i = 0; i < 3; i++)
        net_again(&n, rig.runner, rig.host);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

/* ---- Watching */

struct watched {
    int32_t next; /* operation that should come */
    uint64_t launches, steps, cycles;
    const struct tw_graph *graph, *original;
};

static void watch(void *arg, const struct tw_runner_event *e)
{
    struct watched *w = arg;
    assert_int_equal(e->first, w->next);
    assert_true(e->count > 0 && e->seconds >= 0);
    for (int32_t i = e->first; i < e->first + e->count; i++)
        assert_true(e->from == NULL || (e->from[i] >= 0 && e->from[i] < e->original->n_ops));
    w->next = e->first + e->count;
    w->graph = e->graph;
    w->original = e->original;
    w->steps++;
    assert_int_equal(e->on_array, e->modelled != NULL);
    if (e->on_array) {
        w->launches++;
        w->cycles += e->modelled->cycles;
    }
}

static void test_watch(void **state)
{
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    net_simple(&n, 8, 30, 50);
    for (int apart = 0; apart < 2; apart++) {
        struct watched w = {0};
        const struct tw_executor_counts before = rig_counts(&rig);
        tw_runner_watch(rig.runner, apart, watch, &w);
        net_run(&n, rig.runner);
        const struct tw_executor_counts after = rig_counts(&rig);
        assert_int_equal(w.next, w.graph->n_ops);
        assert_ptr_equal(w.original, n.g);
        assert_int_equal(w.launches, after.launches - before.launches);
        assert_int_equal(w.launches, 1 + apart);
        assert_int_equal(w.cycles, after.cycles - before.cycles);
    }
    tw_runner_watch(rig.runner, 0, NULL, NULL);
    net_run(&n, rig.runner);
    net_check(&n, rig.host);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

/* ---- Several at once */

static void work_on_array(struct worker *workers, int count)
{
    work_at_once(workers, count);
    for (int i = 0; i < count; i++) {
        assert_true(workers[i].counts.launches > 0);
        assert_int_equal(workers[i].counts.fallbacks, 0);
    }
}

static void test_threads(void **state)
{
    const struct tw_executor_options options = {.verify = TW_VERIFY_FIRST, .weight_bytes = 60000};
    struct worker workers[THREADS];
    struct rig rig;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, &options, MACHINE_PLAIN), 0);
    for (int i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.array = rig.array, .seed = 20 + (uint64_t)i, .is_mixed = 1};
    work_on_array(workers, THREADS);
    assert_int_equal(rig.warnings, 0);
    rig_close(&rig);
}

/* Two arrays of one device, and one of another. */
static void test_several_arrays(void **state)
{
    struct worker workers[ARRAYS];
    struct tw_executor *second = NULL;
    struct rig rig[2];
    (void)state;
    assert_int_equal(rig_open(&rig[0], NULL, NULL, MACHINE_PLAIN), 0);
    assert_int_equal(rig_open(&rig[1], NULL, NULL, MACHINE_PLAIN), 0);
    assert_int_equal(tw_executor_open(rig[0].machine.device, NULL, &second, NULL), 0);
    struct tw_executor *const arrays[ARRAYS] = {rig[0].array, rig[1].array, second};
    for (int i = 0; i < ARRAYS; i++)
        workers[i] = (struct worker){.array = arrays[i], .seed = 40 + (uint64_t)i, .is_mixed = 1};
    work_on_array(workers, ARRAYS);
    tw_executor_close(second);
    rig_close(&rig[0]);
    rig_close(&rig[1]);
}

static int stop_at(void *arg)
{
    int *left = arg;
    return (*left)-- <= 0;
}

/* A run that is stopped ends before its next step, with the array and without. */
static void test_stop(void **state)
{
    struct rig rig;
    struct net n;
    struct tw_runner *alone;
    struct tw_error err = {0};
    int steps = 0;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    net_simple(&n, 7, 20, 40);
    for (int code = TW_E_CANCELLED; code == TW_E_CANCELLED; steps++) {
        const uint64_t before = rig_counts(&rig).launches;
        int left = steps;
        tw_runner_ask(rig.runner, stop_at, &left);
        code = tw_runner_run(rig.runner, n.g, &err);
        assert_true(code == TW_OK || code == TW_E_CANCELLED);
        assert_true(steps > 0 || rig_counts(&rig).launches == before);
    }
    assert_true(steps > 2);
    net_check(&n, rig.host);
    tw_runner_ask(rig.runner, NULL, NULL);
    net_again(&n, rig.runner, rig.host);
    expect_clean(&rig);

    int none = 0, one = 1;
    assert_int_equal(tw_runner_create(NULL, rig.host, &alone, &err), 0);
    tw_runner_ask(alone, stop_at, &none);
    assert_int_equal(tw_runner_run(alone, n.g, &err), TW_E_CANCELLED);
    tw_runner_ask(alone, stop_at, &one);
    assert_int_equal(tw_runner_run(alone, n.g, &err), TW_OK);
    tw_runner_destroy(alone);
    net_free(&n);
    rig_close(&rig);
}

/* Bytes that a run writes. */
static uint64_t written(struct rig *rig, struct net *n)
{
    const uint64_t before = rig_counts(rig).write_bytes;
    net_again(n, rig->runner, rig->host);
    return rig_counts(rig).write_bytes - before;
}

/* Two graphs that differ in nothing else do not share a plan. */
static void test_kept_scores(void **state)
{
    enum { HEADS = 3, WIDTH = 32 * HEADS, ROWS = 40 };
    struct rig rig;
    struct net n;
    (void)state;
    assert_int_equal(rig_open(&rig, NULL, NULL, MACHINE_PLAIN), 0);
    net_begin(&n, 8);
    n.in = net_bind(&n, TW_F32, 50, ROWS, 0);
    const tw_id q = net_linear(&n, n.in, WIDTH, 0, 0), k = net_linear(&n, n.in, WIDTH, 0, 0);
    const tw_id v = net_linear(&n, n.in, WIDTH, 0, 0), out = net_temp(&n, WIDTH, ROWS);
    tw_graph_attention(n.g, out, q, k, v, HEADS, 0.2f, 0, 0);
    net_end(&n, out);
    const uint64_t rounded = written(&rig, &n);
    assert_int_equal(written(&rig, &n), rounded);
    for (int32_t i = 0; i < n.g->n_ops; i++)
        n.g->ops[i].keep_scores = n.g->ops[i].kind == TW_OP_ATTENTION;
    assert_true(written(&rig, &n) > rounded);
    expect_clean(&rig);
    net_free(&n);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),  cmocka_unit_test(test_temporaries), cmocka_unit_test(test_headers),
        cmocka_unit_test(test_no_array),       cmocka_unit_test(test_again),       cmocka_unit_test(test_verified_once),
        cmocka_unit_test(test_small_budget),   cmocka_unit_test(test_many_graphs), cmocka_unit_test(test_forget),
        cmocka_unit_test(test_changing_bias),  cmocka_unit_test(test_watch),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_several_arrays), cmocka_unit_test(test_stop),        cmocka_unit_test(test_kept_scores),
    };
    return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
