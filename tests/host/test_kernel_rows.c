/* Every table of kernels against the plain C one: exponentials, GELU, sums, and the ends of products. */
#include "host/kernel_case.h"

#include "base/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Rows of scores in pieces, the first of them hidden throughout. */
static void check_exp_row(const struct tw_kernels *k, struct tw_random *r)
{
    for (int round = 0; round < 60; round++) {
        struct tw_softmax got = {.max = -INFINITY}, want = got;
        float scale = random_in(r, -2, 2);
        for (int piece = 0; piece < 3; piece++) {
            int64_t n = tw_random_range(r, 0, 300);
            float *x = random_floats(r, n, -30, 30);
            for (int64_t i = 0; i < n; i++)
                if (piece == 0 || tw_random_range(r, 0, 9) == 0)
                    x[i] = scale < 0 ? INFINITY : -INFINITY;
            struct output a = new_output(n), b = new_output(n);
            k->exp_row(x, n, scale, &got, a.at);
            tw_kernels_c.exp_row(x, n, scale, &want, b.at);
            assert_true(same(got.max, want.max));
            assert_true(near(got.factor, want.factor, (double)want.factor + 0x1p-106));
            assert_true(fabs(got.sum - want.sum) <= NEAR * want.sum);
            for (int64_t i = 0; i < n; i++)
                assert_true(near(a.at[i], b.at[i], (double)b.at[i] + 0x1p-106));
            end_output(&a);
            end_output(&b);
            free(x);
        }
    }
}

static void check_exp_row_of_edges(const struct tw_kernels *k, struct tw_random *r)
{
    (void)r;
    float x[40], y[40];
    struct tw_softmax state = {.max = -INFINITY};
    for (int i = 0; i < 40; i++)
        x[i] = i == 7 || i == 39 ? NAN : (float)i;
    k->exp_row(x, 40, 1, &state, y);
    assert_true(isnan(state.sum) && isnan(y[7]) && isnan(y[39]) && y[38] == 1);
    state = (struct tw_softmax){.max = -INFINITY};
    x[7] = INFINITY;
    x[39] = -INFINITY;
    k->exp_row(x, 40, 1, &state, y);
    assert_true(isnan(y[7]) && y[0] == 0 && y[39] == 0);
}

/* Each column against C's exp_row of the same numbers. */
static void check_exp_columns(const struct tw_kernels *k, struct tw_random *r)
{
    int nr = k->tile_cols;
    for (int round = 0; round < 40; round++) {
        struct tw_softmax want[TW_TILE_MAX];
        float max[TW_TILE_MAX], sum[TW_TILE_MAX], factor[TW_TILE_MAX];
        int64_t n = tw_random_range(r, 1, TW_CHUNK);
        struct output s = new_output(n * nr), twin = new_output(n * nr);
        for (int c = 0; c < nr; c++) {
            max[c] = round % 3 == 0 ? random_in(r, -3, 3) : -INFINITY;
            sum[c] = round % 3 == 0 ? random_in(r, 1, 3) : 0;
            want[c] = (struct tw_softmax){.max = max[c], .sum = (double)sum[c]};
            for (int64_t j = 0; j < n; j++) {
                int hidden = c == 3 || tw_random_range(r, 0, 9) == 0;
                s.at[j * nr + c] = twin.at[c * n + j] = hidden ? -INFINITY : random_in(r, -20, 20);
            }
            tw_kernels_c.exp_row(twin.at + c * n, n, 1, &want[c], twin.at + c * n);
        }
        k->exp_columns(s.at, n, max, sum, factor);
        for (int c = 0; c < nr; c++) {
            assert_true(same(max[c], want[c].max));
            assert_true(fabs((double)sum[c] - want[c].sum) <= NEAR * want[c].sum);
            assert_true(near(factor[c], want[c].factor, (double)want[c].factor + 0x1p-106));
            for (int64_t j = 0; j < n; j++)
                assert_true(near(s.at[j * nr + c], twin.at[c * n + j], (double)twin.at[c * n + j] + 0x1p-106));
        }
        end_output(&s);
        end_output(&twin);
    }
}

static void check_scale_columns(const struct tw_kernels *k, struct tw_random *r)
{
    int nr = k->tile_cols;
    float *factor = random_floats(r, nr, -2, 2), *x = random_floats(r, 9 * nr, -5, 5);
    struct output s = new_output(9 * nr);
    memcpy(s.at, x, (size_t)(9 * nr) * sizeof *x);
    k->scale_columns(s.at, 9, factor);
    for (int i = 0; i < 9 * nr; i++)
        assert_true(same(s.at[i], x[i] * factor[i % nr]));
    end_output(&s);
    free(x);
    free(factor);
}

/* Against double, relative to the result itself: so small results of negative x count as much as others. */
static void check_gelu(const struct tw_kernels *k, struct tw_random *r)
{
    (void)r;
    const int64_t n = 40001;
    float *x = malloc((size_t)n * sizeof *x);
    struct output y = new_output(n);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i - 20000) * 0x1p-10f; /* -19.5 .. 19.5 */
    k->gelu(x, y.at, n);
    for (int64_t i = 0; i < n; i++) {
        double want = 0.5 * (double)x[i] * erfc(-(double)x[i] * 0.70710678118654752440);
        assert_true(fabs((double)y.at[i] - want) <= 0x1p-21 * fabs(want) + 0x1p-120);
    }
    end_output(&y);
    free(x);
}

static void check_gelu_of_edges(const struct tw_kernels *k, struct tw_random *r)
{
    for (int64_t n = 0; n < 40; n++) {
        float *x = random_floats(r, n, -1, 1);
        struct output y = new_output(n);
        for (int64_t i = 0; i < n; i++)
            x[i] = wild(r);
        k->gelu(x, y.at, n);
        for (int64_t i = 0; i < n; i++) {
            if (isnan(x[i]))
                assert_true(isnan(y.at[i]));
            else if (x[i] > 20)
                assert_true(y.at[i] == x[i]);
            else if (x[i] < -20)
                assert_true(y.at[i] == 0 || isinf(x[i]));
        }
        end_output(&y);
        free(x);
    }
}

static void check_scale_and_add(const struct tw_kernels *k, struct tw_random *r)
{
    for (int64_t n = 0; n < 70; n++) {
        struct output x = new_output(n), y = new_output(n), z = new_output(n);
        float factor = wild(r);
        for (int64_t i = 0; i < n; i++) {
            x.at[i] = wild(r);
            y.at[i] = wild(r);
        }
        k->add(x.at, y.at, z.at, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(same(z.at[i], x.at[i] + y.at[i]));
        k->scale(x.at, factor, z.at, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(same(z.at[i], x.at[i] * factor));
        k->scale(x.at, factor, x.at, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(same(x.at[i], z.at[i]));
        end_output(&x);
        end_output(&y);
        end_output(&z);
    }
}

static void check_finish(const struct tw_kernels *k, struct tw_random *r)
{
    for (int round = 0; round < 160; round++) {
        int rows = (int)tw_random_range(r, 1, 13);
        int64_t n = tw_random_range(r, 1, 80), c_stride = n + tw_random_range(r, 0, 5),
                y_stride = n + tw_random_range(r, 0, 5);
        struct tw_finish how = {.scale = random_in(r, -2, 2), .gelu = round & 1, .accumulate = round >> 1 & 1};
        float *c = random_floats(r, rows * c_stride, -5, 5), *old = random_floats(r, rows * y_stride, -5, 5);
        float *bias = round & 4 ? random_floats(r, n, -5, 5) : NULL;
        struct output got = new_output(rows * y_stride), want = new_output(rows * y_stride);
        for (int64_t i = 0; i < rows * y_stride && how.accumulate; i++)
            if (i % y_stride < n)
                got.at[i] = want.at[i] = old[i];
        k->finish(rows, n, c, c_stride, &how, bias, got.at, y_stride);
        tw_kernels_c.finish(rows, n, c, c_stride, &how, bias, want.at, y_stride);
        for (int64_t i = 0; i < rows * y_stride; i++) {
            double size = 5 + fabs((double)how.scale * (double)c[i / y_stride * c_stride + i % y_stride % n]);
            assert_true(i % y_stride < n ? near(got.at[i], want.at[i], 2 * size) : poisoned(&got.at[i]));
        }
        end_output(&got);
        end_output(&want);
        free(c);
        free(old);
        free(bias);
    }
}

static void find_tables(void **state)
{
    (void)state;
    const struct tw_kernels *best = tw_kernels_at(0);
    assert_non_null(best);
    assert_ptr_equal(tw_kernels_find(NULL), best);
    assert_ptr_equal(tw_kernels_find("c"), &tw_kernels_c);
    assert_null(tw_kernels_find("sse"));
    for (unsigned i = 0; tw_kernels_at(i) != NULL; i++) {
        const struct tw_kernels *k = tw_kernels_at(i);
        assert_ptr_equal(tw_kernels_find(k->name), k);
        assert_true(k->tile_rows <= TW_TILE_MAX && k->tile_cols <= TW_TILE_MAX);
        assert_int_equal(48 % k->tile_rows, 0); /* what blocks of products and pieces of keys rely on */
        assert_int_equal(240 % k->tile_rows, 0);
        assert_int_equal(64 % k->tile_cols, 0);
    }
}

static void exp_row(void **state)
{
    (void)state;
    for_each_table(check_exp_row);
}

static void exp_row_of_edges(void **state)
{
    (void)state;
    for_each_table(check_exp_row_of_edges);
}

static void exp_columns(void **state)
{
    (void)state;
    for_each_table(check_exp_columns);
}

static void scale_columns(void **state)
{
    (void)state;
    for_each_table(check_scale_columns);
}

static void gelu(void **state)
{
    (void)state;
    for_each_table(check_gelu);
}

static void gelu_of_edges(void **state)
{
    (void)state;
    for_each_table(check_gelu_of_edges);
}

static void scale_and_add(void **state)
{
    (void)state;
    for_each_table(check_scale_and_add);
}

static void finish(void **state)
{
    (void)state;
    for_each_table(check_finish);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_tables),   cmocka_unit_test(exp_row),       cmocka_unit_test(exp_row_of_edges),
        cmocka_unit_test(exp_columns),   cmocka_unit_test(scale_columns), cmocka_unit_test(gelu),
        cmocka_unit_test(gelu_of_edges), cmocka_unit_test(scale_and_add), cmocka_unit_test(finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
