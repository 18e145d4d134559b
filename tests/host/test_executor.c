/* The executor itself: what it refuses, and results that do not depend on threads or on how work is divided. */
#include "base/random.h"
#include "host/host.h"
#include "host/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static float *random_floats(int64_t n, uint64_t seed)
{
    struct tw_random r = {seed};
    float *p = malloc((size_t)n * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)(2 * tw_random_unit(&r) - 1);
    return p;
}

static void run(const struct tw_graph *g, unsigned threads, const char *kernels)
{
    struct tw_error err;
    struct tw_host *host;
    struct tw_host_options options = {.threads = threads, .kernels = kernels};
    assert_int_equal(tw_host_create(&options, &host, &err), TW_OK);
    assert_int_equal(tw_host_threads(host), threads);
    assert_int_equal(tw_host_run(host, g, &err), TW_OK);
    tw_host_destroy(host);
}

static void unknown_kernels(void **state)
{
    (void)state;
    struct tw_error err = {0};
    struct tw_host *host;
    struct tw_host_options options = {.threads = 1, .kernels = "abacus"};
    assert_int_equal(tw_host_create(&options, &host, &err), TW_E_UNSUPPORTED);
    assert_null(host);
    assert_non_null(strstr(err.text, "abacus"));
}

static void too_many_threads(void **state)
{
    (void)state;
    struct tw_error err = {0};
    struct tw_host *host;
    struct tw_host_options options = {.threads = TW_POOL_MAX + 1};
    assert_int_equal(tw_host_create(&options, &host, &err), TW_E_LIMIT);
    assert_null(host);
}

static void unfinished_graph(void **state)
{
    (void)state;
    struct tw_error err = {0};
    struct tw_host *host;
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    struct tw_host_options options = {.threads = 1};
    struct tw_graph *g = tw_graph_create();
    assert_int_equal(tw_host_create(&options, &host, &err), TW_OK);
    tw_id from = tw_graph_bind(g, "x", TW_F32, 4, 1, 1, x), to = tw_graph_bind(g, "y", TW_F32, 4, 1, 1, y);
    tw_graph_scale(g, to, from, 2);
    assert_int_equal(tw_host_run(host, g, &err), TW_E_STATE);
    assert_true(y[0] == 0);
    assert_int_equal(tw_graph_finish(g, &err), TW_OK);
    assert_int_equal(tw_host_run(host, g, &err), TW_OK);
    assert_true(y[0] == 2 && y[3] == 8);
    tw_graph_destroy(g);
    tw_host_destroy(host);
}

static void default_options(void **state)
{
    (void)state;
    struct tw_error err;
    struct tw_host *host;
    assert_int_equal(tw_host_create(NULL, &host, &err), TW_OK);
    assert_int_equal(tw_host_threads(host), tw_processors());
    assert_non_null(tw_host_kernels(host));
    assert_int_equal(tw_pool_size(tw_host_pool(host)), tw_host_threads(host));
    tw_host_destroy(host);
    tw_host_destroy(NULL);
}

/* A layer with everything in it: shapes that leave every kind of remainder. */
#define ROWS 131
#define WIDTH 96
#define WIDE 333

struct layer {
    float *x, *gain, *shift, *projection, *out;
    unsigned char *wide, *narrow;
};

static struct tw_graph *layer_graph(struct layer *l)
{
    struct tw_error err;
    struct tw_graph *g = tw_graph_create();
    tw_id x = tw_graph_bind(g, "x", TW_F32, WIDTH, ROWS, 1, l->x);
    tw_id gain = tw_graph_constant(g, "gain", TW_F32, WIDTH, 1, 1, l->gain);
    tw_id shift = tw_graph_constant(g, "shift", TW_F32, WIDTH, 1, 1, l->shift);
    tw_id projection = tw_graph_constant(g, "projection", TW_F32, WIDTH, WIDTH, 1, l->projection);
    tw_id wide = tw_graph_constant(g, "wide", TW_F16, WIDTH, WIDE, 1, l->wide);
    tw_id narrow = tw_graph_constant(g, "narrow", TW_F16, WIDE, WIDTH, 1, l->narrow);
    tw_id out = tw_graph_bind(g, "out", TW_F32, WIDTH, ROWS, 1, l->out);
    tw_id norm = tw_graph_temp(g, "norm", TW_F32, WIDTH, ROWS, 1), q = tw_graph_temp(g, "q", TW_F32, WIDTH, ROWS, 1);
    tw_id seen = tw_graph_temp(g, "seen", TW_F32, WIDTH, ROWS, 1), mid = tw_graph_temp(g, "mid", TW_F32, WIDE, ROWS, 1);
    tw_graph_layer_norm(g, norm, x, gain, shift, 1e-5f);
    tw_graph_product(g, q, norm, projection, shift, (struct tw_product_options){0});
    tw_graph_attention(g, seen, q, norm, norm, 3, 0.2f, 1, 0);
    tw_graph_product(g, mid, seen, wide, TW_NONE, (struct tw_product_options){.gelu = 1});
    tw_graph_copy(g, out, x);
    tw_graph_product(g, out, mid, narrow, shift, (struct tw_product_options){.accumulate = 1});
    assert_int_equal(tw_graph_finish(g, &err), TW_OK);
    return g;
}

static unsigned char *random_halves(int64_t n, uint64_t seed)
{
    float *f = random_floats(n, seed);
    unsigned char *p = malloc(2 * (size_t)n);
    assert_non_null(p);
    tw_row_from_f32(TW_F16, f, p, n);
    free(f);
    return p;
}

static void same_bits_on_any_threads(void **state)
{
    (void)state;
    static const char *const tables[] = {NULL, "c"};
    size_t bytes = ROWS * WIDTH * sizeof(float);
    struct layer l = {random_floats(ROWS * WIDTH, 1),  random_floats(WIDTH, 2), random_floats(WIDTH, 3),
                      random_floats(WIDTH * WIDTH, 4), malloc(bytes),           random_halves(WIDTH * WIDE, 5),
                      random_halves(WIDTH * WIDE, 6)};
    float *first = malloc(bytes);
    assert_non_null(l.out);
    assert_non_null(first);
    struct tw_graph *g = layer_graph(&l);
    for (int t = 0; t < 2; t++)
        for (unsigned threads = 1; threads <= 9; threads += threads < 3 ? 1 : 3) {
            memset(l.out, 0xff, bytes);
            run(g, threads, tables[t]);
            if (threads == 1)
                memcpy(first, l.out, bytes);
            assert_memory_equal(first, l.out, bytes);
        }
    tw_graph_destroy(g);
    float *const all[] = {l.x, l.gain, l.shift, l.projection, l.out, first};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(l.wide);
    free(l.narrow);
}

/* Operands too large to be packed at once are taken in parts. */
static void product_in_parts(void **state)
{
    (void)state;
    const int64_t m = 205, k = 24001, n = 131;
    struct tw_error err;
    float *a = random_floats(m * k, 1), *b = random_floats(n * k, 2), *out = random_floats(m * n, 3);
    struct tw_graph *g = tw_graph_create();
    tw_id ta = tw_graph_constant(g, "a", TW_F32, k, m, 1, a), tb = tw_graph_constant(g, "b", TW_F32, k, n, 1, b);
    tw_graph_product(g, tw_graph_bind(g, "out", TW_F32, n, m, 1, out), ta, tb, TW_NONE, (struct tw_product_options){0});
    assert_int_equal(tw_graph_finish(g, &err), TW_OK);
    run(g, 2, NULL);
    for (int64_t i = 0; i < m * n; i += 37) {
        double sum = 0, size = 0;
        for (int64_t p = 0; p < k; p++) {
            double term = (double)a[i / n * k + p] * (double)b[i % n * k + p];
            sum += term;
            size += fabs(term);
        }
        assert_true(fabs(sum - (double)out[i]) <= 0x1p-20 * size);
    }
    tw_graph_destroy(g);
    free(a);
    free(b);
    free(out);
}

/* Keys are taken in pieces of 240: queries whose last key lies just before, on and after the seam. */
static void few_queries_across_pieces(void **state)
{
    (void)state;
    enum { WIDTH_OF_HEADS = 32, QUERIES = 5, KEYS = 490 };
    struct tw_error err;
    float *q = random_floats(QUERIES * WIDTH_OF_HEADS, 1), *out = random_floats(QUERIES * WIDTH_OF_HEADS, 4);
    float *k = random_floats(KEYS * WIDTH_OF_HEADS, 2), *v = random_floats(KEYS * WIDTH_OF_HEADS, 3);
    for (int32_t past = 234; past < 486; past += past == 243 ? 231 : 1) {
        double want[QUERIES * WIDTH_OF_HEADS];
        struct tw_reference *reference;
        struct tw_graph *g = tw_graph_create();
        tw_id to = tw_graph_bind(g, "out", TW_F32, WIDTH_OF_HEADS, QUERIES, 1, out);
        tw_graph_attention(g, to, tw_graph_bind(g, "q", TW_F32, WIDTH_OF_HEADS, QUERIES, 1, q),
                           tw_graph_bind(g, "k", TW_F32, WIDTH_OF_HEADS, KEYS, 1, k),
                           tw_graph_bind(g, "v", TW_F32, WIDTH_OF_HEADS, KEYS, 1, v), 2, 0.5f, 1, past);
        assert_int_equal(tw_graph_finish(g, &err), TW_OK);
        assert_int_equal(tw_reference_run(g, NULL, &reference, &err), TW_OK);
        assert_int_equal(tw_reference_get(reference, to, want, &err), TW_OK);
        run(g, 1, NULL);
        for (int i = 0; i < QUERIES * WIDTH_OF_HEADS; i++)
            assert_true(fabs((double)out[i] - want[i]) <= 0x1p-20);
        tw_reference_destroy(reference);
        tw_graph_destroy(g);
    }
    free(q);
    free(k);
    free(v);
    free(out);
}

/* One executor, run after run: smaller and larger graphs share its memory. */
static void one_executor_for_many_graphs(void **state)
{
    (void)state;
    struct tw_error err;
    struct tw_host *host;
    struct tw_host_options options = {.threads = 2};
    assert_int_equal(tw_host_create(&options, &host, &err), TW_OK);
    for (int64_t n = 1; n < 2000; n = n * 3 + 1) {
        float *x = random_floats(n * 20, 1), *y = random_floats(n * 20, 2);
        struct tw_graph *g = tw_graph_create();
        tw_id twice = tw_graph_temp(g, "twice", TW_F32, n, 20, 1);
        tw_graph_scale(g, twice, tw_graph_bind(g, "x", TW_F32, n, 20, 1, x), 2);
        tw_graph_scale(g, tw_graph_bind(g, "y", TW_F32, n, 20, 1, y), twice, 3);
        assert_int_equal(tw_graph_finish(g, &err), TW_OK);
        assert_int_equal(tw_host_run(host, g, &err), TW_OK);
        for (int64_t i = 0; i < n * 20; i++)
            assert_true(y[i] == 3 * (2 * x[i]));
        tw_graph_destroy(g);
        free(x);
        free(y);
    }
    tw_host_destroy(host);
}

/* y = 3 * (2 * x + 1), in three operations with two temporaries. */
static struct tw_graph *three_operations(float *x, float *y, float *one)
{
    struct tw_graph *g = tw_graph_create();
    tw_id twice = tw_graph_temp(g, "twice", TW_F32, 50, 3, 1), more = tw_graph_temp(g, "more", TW_F32, 50, 3, 1);
    tw_graph_scale(g, twice, tw_graph_bind(g, "x", TW_F32, 50, 3, 1, x), 2);
    tw_graph_add(g, more, twice, tw_graph_constant(g, "one", TW_F32, 50, 1, 1, one));
    tw_graph_scale(g, tw_graph_bind(g, "y", TW_F32, 50, 3, 1, y), more, 3);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    return g;
}

static void is_three_times_odd(const float *x, const float *y)
{
    for (int i = 0; i < 150; i++)
        assert_true(y[i] == 3 * (2 * x[i] + 1));
}

/* Operations one by one and in pairs, with temporaries in the executor's memory and in the caller's. */
static void some_operations(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char work[2][4096];
    float *x = random_floats(150, 1), *y = random_floats(150, 2), one[50];
    struct tw_host *hosts[2];
    struct tw_error err;
    for (int i = 0; i < 50; i++)
        one[i] = 1;
    struct tw_graph *g = three_operations(x, y, one);
    assert_true(g->work_bytes <= sizeof work[0]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tw_host_create(&(struct tw_host_options){.threads = 1 + (unsigned)i}, &hosts[i], &err), TW_OK);
    for (int outside = 0; outside < 2; outside++)
        for (int32_t step = 1; step <= 3; step++) {
            memset(y, 0xff, 150 * sizeof *y);
            memset(work, 0xff, sizeof work);
            for (int32_t i = 0; i < 3; i += step)
                assert_int_equal(
                    tw_host_run_some(hosts[0], g, i, step < 3 - i ? step : 3 - i, outside ? work[0] : NULL, &err),
                    TW_OK);
            is_three_times_odd(x, y);
        }
    /* What one executor began in the caller's memory, another ends; runs of other graphs in between do not matter. */
    memset(y, 0xff, 150 * sizeof *y);
    memset(work, 0xff, sizeof work);
    assert_int_equal(tw_host_run_some(hosts[0], g, 0, 2, work[0], &err), TW_OK);
    assert_int_equal(tw_host_run(hosts[1], g, &err), TW_OK);
    memset(y, 0xff, 150 * sizeof *y);
    assert_int_equal(tw_host_run_some(hosts[1], g, 0, 1, work[1], &err), TW_OK);
    assert_int_equal(tw_host_run_some(hosts[1], g, 2, 1, work[0], &err), TW_OK);
    is_three_times_odd(x, y);
    for (int i = 0; i < 2; i++)
        tw_host_destroy(hosts[i]);
    tw_graph_destroy(g);
    free(x);
    free(y);
}

static void operations_that_are_not_there(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char work[4096 + 64];
    static const int32_t ranges[][2] = {
        {-1, 1}, {0, -1}, {0, 4}, {1, 3}, {3, 1}, {4, 0}, {INT32_MAX, INT32_MAX}, {2, INT32_MAX}, {INT32_MIN, 0}};
    float *x = random_floats(150, 1), *y = random_floats(150, 2), one[50] = {0};
    struct tw_host *host;
    struct tw_error err;
    struct tw_graph *g = three_operations(x, y, one);
    assert_int_equal(tw_host_create(NULL, &host, &err), TW_OK);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        assert_int_equal(tw_host_run_some(host, g, ranges[i][0], ranges[i][1], work, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_host_run_some(host, g, 0, 3, work + 32, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "aligned"));
    assert_int_equal(tw_host_run_some(host, g, 3, 0, work, &err), TW_OK);
    assert_int_equal(tw_host_run_some(host, g, 0, 0, NULL, &err), TW_OK);
    tw_host_destroy(host);
    tw_graph_destroy(g);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_kernels),           cmocka_unit_test(too_many_threads),
        cmocka_unit_test(unfinished_graph),          cmocka_unit_test(default_options),
        cmocka_unit_test(same_bits_on_any_threads),  cmocka_unit_test(product_in_parts),
        cmocka_unit_test(few_queries_across_pieces), cmocka_unit_test(one_executor_for_many_graphs),
        cmocka_unit_test(some_operations),           cmocka_unit_test(operations_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
