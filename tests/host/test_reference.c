/* The float64 executor on results worked out by hand, and on what it must leave alone. */
#include "base/random.h"
#include "base/thread_pool.h"
#include "graph/graph.h"
#include "host/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct tw_product_options plain = {0};

static int make(void **state)
{
    *state = tw_graph_create();
    return *state == NULL;
}

static int unmake(void **state)
{
    tw_graph_destroy(*state);
    return 0;
}

static tw_id in(struct tw_graph *g, const float *data, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_constant(g, "in", TW_F32, cols, rows, batch, data);
}

static tw_id temp(struct tw_graph *g, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_temp(g, "temp", TW_F32, cols, rows, batch);
}

static struct tw_reference *run(struct tw_graph *g)
{
    struct tw_reference *r = NULL;
    struct tw_error err = {0};
    if (tw_graph_finish(g, &err) != TW_OK || tw_reference_run(g, NULL, &r, &err) != TW_OK)
        fail_msg("%s", err.text);
    return r;
}

/* Compares tensor id with n expected numbers; NaN is equal to NaN. */
static void holds(const struct tw_reference *r, tw_id id, const double *expected, int n)
{
    double got[64];
    assert_true(n < 64);
    got[n] = 77;
    assert_int_equal(tw_reference_get(r, id, got, NULL), TW_OK);
    assert_true(got[n] == 77);
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <= 1e-14 * fabs(expected[i]) || (isnan(got[i]) && isnan(expected[i]))))
            fail_msg("number %d is %.17g, should be %.17g", i, got[i], expected[i]);
}

/* Runs the list, compares its output, and empties it. */
static void gives(struct tw_graph *g, tw_id id, const double *expected, int n)
{
    struct tw_reference *r = run(g);
    holds(r, id, expected, n);
    tw_reference_destroy(r);
    tw_graph_reset(g);
}

#define GIVES(g, id, ...) gives(g, id, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define HOLDS(r, id, ...) holds(r, id, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void products(void **state)
{
    struct tw_graph *g = *state;
    const float *a = numbers, *b = numbers + 4;
    tw_id out = temp(g, 2, 2, 1);
    tw_graph_product(g, out, in(g, a, 2, 2, 1), in(g, b, 2, 2, 1), TW_NONE, plain);
    GIVES(g, out, 17, 23, 39, 53);
    out = temp(g, 2, 2, 1);
    tw_graph_product(g, out, in(g, a, 2, 2, 1), in(g, b, 2, 2, 1), TW_NONE, (struct tw_product_options){.b_rows = 1});
    GIVES(g, out, 19, 22, 43, 50);
    out = temp(g, 2, 2, 1);
    tw_graph_product(g, out, in(g, a, 2, 2, 1), in(g, b, 2, 2, 1), in(g, a, 2, 1, 1),
                     (struct tw_product_options){.scale = -0.5f});
    GIVES(g, out, -7.5, -9.5, -18.5, -24.5);
    /* Two batches with one matrix, then with one each. */
    out = temp(g, 1, 1, 2);
    tw_graph_product(g, out, in(g, a, 2, 1, 2), in(g, b, 2, 1, 1), TW_NONE, plain);
    GIVES(g, out, 17, 39);
    out = temp(g, 1, 1, 2);
    tw_graph_product(g, out, in(g, a, 2, 1, 2), in(g, b, 2, 1, 2), TW_NONE, plain);
    GIVES(g, out, 17, 53);
    out = temp(g, 1, 1, 2);
    tw_graph_copy(g, out, in(g, numbers, 1, 1, 2));
    tw_graph_product(g, out, in(g, a, 2, 1, 2), in(g, b, 2, 1, 2), TW_NONE,
                     (struct tw_product_options){.accumulate = 1});
    GIVES(g, out, 18, 55);
    out = temp(g, 1, 1, 2);
    tw_graph_product_onto(g, out, in(g, a, 2, 1, 2), in(g, b, 2, 1, 2), TW_NONE, in(g, numbers + 4, 1, 1, 2), plain);
    GIVES(g, out, 22, 59);
    /* More columns than are computed side by side. */
    static float ones[40];
    double expected[40];
    for (int i = 0; i < 40; i++)
        expected[i] = 3 * (double)(ones[i] = (float)i);
    out = temp(g, 40, 1, 1);
    tw_graph_product(g, out, in(g, numbers + 2, 1, 1, 1), in(g, ones, 1, 40, 1), TW_NONE, plain);
    gives(g, out, expected, 40);
}

static void gelu_and_accumulate(void **state)
{
    struct tw_graph *g = *state;
    static const float x[] = {0, 1, -1, -6};
    const double at_1 = 0.84134474606854294859, at_minus_6 = -5.919525870226167644e-9;
    tw_id out = temp(g, 4, 1, 1);
    tw_graph_gelu(g, out, in(g, x, 4, 1, 1));
    GIVES(g, out, 0, at_1, at_1 - 1, at_minus_6);
    /* What is there stays out of the GELU. */
    out = temp(g, 1, 1, 1);
    tw_graph_copy(g, out, in(g, numbers + 9, 1, 1, 1));
    tw_graph_product(g, out, in(g, x, 2, 1, 1), in(g, x, 2, 1, 1), TW_NONE,
                     (struct tw_product_options){.gelu = 1, .accumulate = 1});
    GIVES(g, out, 10 + at_1);
}

static void rows(void **state)
{
    struct tw_graph *g = *state;
    static const float logs[] = {0, 0.69314718f, 0, 0.69314718f, 0, 0};
    const double two = exp((double)0.69314718f), r = 1 / sqrt(1.25);
    tw_id out = temp(g, 4, 1, 1);
    tw_graph_layer_norm(g, out, in(g, numbers, 4, 1, 1), in(g, numbers + 4, 4, 1, 1), in(g, numbers, 4, 1, 1), 0);
    GIVES(g, out, -1.5 * r * 5 + 1, -0.5 * r * 6 + 2, 0.5 * r * 7 + 3, 1.5 * r * 8 + 4);
    out = temp(g, 3, 2, 1);
    tw_graph_softmax(g, out, in(g, logs, 3, 2, 1), 1, 0, 0);
    GIVES(g, out, 1 / (2 + two), two / (2 + two), 1 / (2 + two), two / (2 + two), 1 / (2 + two), 1 / (2 + two));
    out = temp(g, 3, 2, 1);
    tw_graph_softmax(g, out, in(g, logs, 3, 2, 1), 2, 1, 0);
    GIVES(g, out, 1, 0, 0, two * two / (two * two + 1), 1 / (two * two + 1), 0);
    out = temp(g, 2, 2, 2);
    tw_graph_add(g, out, in(g, numbers, 2, 2, 2), in(g, numbers + 8, 2, 1, 2));
    GIVES(g, out, 10, 12, 12, 14, 16, 18, 18, 20);
    out = temp(g, 2, 2, 2);
    tw_graph_add(g, out, in(g, numbers, 2, 2, 2), in(g, numbers + 8, 2, 2, 1));
    GIVES(g, out, 10, 12, 14, 16, 14, 16, 18, 20);
    out = temp(g, 2, 1, 1);
    tw_graph_scale(g, out, in(g, numbers, 2, 1, 1), 0.25f);
    GIVES(g, out, 0.25, 0.5);
}

static void moves(void **state)
{
    struct tw_graph *g = *state;
    static const int32_t which[] = {2, 0, 2};
    tw_id out = temp(g, 2, 3, 2);
    tw_graph_transpose(g, out, in(g, numbers, 3, 2, 2));
    GIVES(g, out, 1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12);
    /* Two channels at three times, channel by channel in each row. */
    out = temp(g, 6, 3, 1);
    tw_graph_im2col(g, out, in(g, numbers, 2, 3, 1), 3, 1);
    GIVES(g, out, 0, 1, 3, 0, 2, 4, 1, 3, 5, 2, 4, 6, 3, 5, 0, 4, 6, 0);
    out = temp(g, 6, 2, 1);
    tw_graph_im2col(g, out, in(g, numbers, 2, 3, 1), 3, 2);
    GIVES(g, out, 0, 1, 3, 0, 2, 4, 3, 5, 0, 4, 6, 0);
    out = temp(g, 2, 3, 1);
    tw_graph_im2col(g, out, in(g, numbers, 1, 2, 1), 2, 1);
    GIVES(g, out, 0, 1, 1, 2, 2, 0);
    out = temp(g, 2, 3, 1);
    tw_graph_gather(g, out, in(g, numbers, 2, 6, 1), tw_graph_constant(g, "which", TW_I32, 3, 1, 1, which));
    GIVES(g, out, 5, 6, 1, 2, 5, 6);
}

/* Scores 0 and log 3 weigh one and three quarters; the second head sees the keys the other way round. */
static void attention(void **state)
{
    struct tw_graph *g = *state;
    const float log3 = 1.0986123f;
    const float q[] = {1, 1, 1, 1}, k[] = {0, log3, log3, 0}, v[] = {1, 10, 2, 20};
    const double high = exp((double)log3) / (1 + exp((double)log3)), low = 1 - high;
    tw_id out = temp(g, 2, 2, 1);
    tw_graph_attention(g, out, in(g, q, 2, 2, 1), in(g, k, 2, 2, 1), in(g, v, 2, 2, 1), 2, 1, 0, 0);
    GIVES(g, out, low + 2 * high, 10 * high + 20 * low, low + 2 * high, 10 * high + 20 * low);
    out = temp(g, 2, 2, 1);
    tw_graph_attention(g, out, in(g, q, 2, 2, 1), in(g, k, 2, 2, 1), in(g, v, 2, 2, 1), 2, 1, 1, 0);
    GIVES(g, out, 1, 10, low + 2 * high, 10 * high + 20 * low);
    /* One head of two: both scores are log 3. */
    out = temp(g, 2, 2, 1);
    tw_graph_attention(g, out, in(g, q, 2, 2, 1), in(g, k, 2, 2, 1), in(g, v, 2, 2, 1), 1, 1, 0, 0);
    GIVES(g, out, 1.5, 15, 1.5, 15);
    /* Two batches of queries, one of keys. */
    out = temp(g, 2, 1, 2);
    tw_graph_attention(g, out, in(g, q, 2, 1, 2), in(g, k, 2, 2, 1), in(g, v, 2, 2, 1), 2, 1, 0, 0);
    GIVES(g, out, low + 2 * high, 10 * high + 20 * low, low + 2 * high, 10 * high + 20 * low);
}

/* A third is no half-precision number, and is one here. */
static void nothing_is_rounded(void **state)
{
    struct tw_graph *g = *state;
    static const float one = 1;
    tw_id half = tw_graph_temp(g, "half", TW_F16, 1, 1, 1), brain = tw_graph_temp(g, "brain", TW_BF16, 1, 1, 1);
    tw_graph_scale(g, half, in(g, &one, 1, 1, 1), 0.333333343f);
    tw_graph_scale(g, brain, half, 0.333333343f);
    GIVES(g, brain, (double)0.333333343f * (double)0.333333343f);
}

static void stored_types_are_widened(void **state)
{
    struct tw_graph *g = *state;
    static unsigned char q8[34] = {0x00, 0x38, 2, 0xfe}, halves[] = {1, 0x3c, 0, 0xc0};
    static const int32_t integers[] = {-7, INT32_MAX};
    static const float weights[32] = {1, 2};
    tw_id w = tw_graph_constant(g, "w", TW_Q8_0, 32, 1, 1, q8), h = tw_graph_constant(g, "h", TW_F16, 2, 1, 1, halves);
    tw_id i = tw_graph_constant(g, "i", TW_I32, 2, 1, 1, integers), x = in(g, weights, 32, 1, 1),
          out = temp(g, 1, 1, 1);
    tw_graph_product(g, out, x, w, TW_NONE, plain);
    struct tw_reference *r = run(g);
    HOLDS(r, out, -1);
    HOLDS(r, h, 1 + 0x1p-10, -2);
    HOLDS(r, i, -7, INT32_MAX);
    tw_reference_destroy(r);
}

static void views_share_memory(void **state)
{
    struct tw_graph *g = *state;
    float memory[12], before[12];
    memcpy(memory, numbers, sizeof memory);
    memcpy(before, numbers, sizeof before);
    /* Columns 1 and 2 of the rows of 4 get 2x what column 0 and 1 of the row before hold. */
    tw_id base = tw_graph_bind(g, "cache", TW_F32, 4, 3, 1, memory);
    tw_id from = tw_graph_view(g, base, 2, 1, 1, 0, 0, 0), to = tw_graph_view(g, base, 2, 1, 1, 20, 0, 0);
    tw_id column = tw_graph_view(g, base, 1, 3, 1, 4, 16, 0), part = temp(g, 4, 1, 1);
    tw_graph_scale(g, to, from, 2);
    tw_graph_scale(g, tw_graph_view(g, base, 2, 1, 1, 36, 0, 0), tw_graph_view(g, base, 2, 1, 1, 16, 0, 0), 2);
    tw_graph_copy(g, tw_graph_view(g, part, 1, 1, 1, 8, 0, 0), from = tw_graph_view(g, base, 1, 1, 1, 20, 0, 0));
    struct tw_reference *r = run(g);
    HOLDS(r, base, 1, 2, 3, 4, 5, 2, 4, 8, 9, 10, 4, 12);
    HOLDS(r, column, 2, 2, 10);
    HOLDS(r, part, NAN, NAN, 2, NAN);
    assert_memory_equal(memory, before, sizeof memory);
    tw_reference_destroy(r);
}

static void threads_change_nothing(void **state)
{
    struct tw_graph *g = *state;
    static float data[4096];
    double one[900], three[900];
    struct tw_random random = {51};
    struct tw_pool *pool;
    struct tw_reference *r;
    for (int i = 0; i < 4096; i++)
        data[i] = (float)tw_random_unit(&random) - 0.5f;
    tw_id a = in(g, data, 30, 30, 1), b = in(g, data + 900, 30, 30, 1), x = temp(g, 30, 30, 1), y = temp(g, 30, 30, 1);
    tw_graph_product(g, x, a, b, TW_NONE, plain);
    tw_graph_softmax(g, x, x, 3, 1, 0);
    tw_graph_attention(g, y, x, a, b, 5, 1, 0, 0);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    assert_int_equal(tw_pool_create(3, &pool, NULL), TW_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tw_reference_run(g, i == 0 ? NULL : pool, &r, NULL), TW_OK);
        assert_int_equal(tw_reference_get(r, y, i == 0 ? one : three, NULL), TW_OK);
        tw_reference_destroy(r);
    }
    assert_memory_equal(one, three, sizeof one);
    tw_pool_destroy(pool);
}

static void misuse(void **state)
{
    struct tw_graph *g = *state;
    struct tw_reference *r;
    struct tw_error err = {0};
    double d;
    tw_id x = in(g, numbers, 1, 1, 1);
    assert_int_equal(tw_reference_run(g, NULL, &r, &err), TW_E_STATE);
    assert_null(r);
    assert_non_null(strstr(err.text, "finished"));
    r = run(g);
    assert_int_equal(tw_reference_get(r, x + 1, &d, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_reference_get(r, -1, &d, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_reference_get(r, TW_NONE, &d, &err), TW_E_ARGUMENT);
    tw_reference_destroy(r);
    tw_reference_destroy(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(products),
        TEST(gelu_and_accumulate),
        TEST(rows),
        TEST(moves),
        TEST(attention),
        TEST(nothing_is_rounded),
        TEST(stored_types_are_widened),
        TEST(views_share_memory),
        TEST(threads_change_nothing),
        TEST(misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
