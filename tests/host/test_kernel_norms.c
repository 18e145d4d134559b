/* Softmax and layer norm of every table, with numbers of every type: against double, and at the edges of floats. */
#include "host/kernel_case.h"

#include "base/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const enum tw_type types[] = {TW_F32, TW_F16, TW_BF16};

/* Half of the last place of a number of that type and size. */
static double half_place(enum tw_type type, double size)
{
    int exponent;
    frexp(size, &exponent);
    if (type == TW_BF16)
        return ldexp(1, exponent - 9);
    return type == TW_F16 ? ldexp(1, exponent < -13 ? -25 : exponent - 12) : 0;
}

/* A row of stored numbers at an odd address, with guards. */
struct row {
    enum tw_type type;
    int64_t n;
    unsigned char *block, *at;
};

#define ROW_GUARD 131 /* bytes; more than any vector */

static struct row new_row(enum tw_type type, int64_t n)
{
    struct row row = {type, n, malloc(tw_row_bytes(type, n) + 2 * ROW_GUARD), NULL};
    assert_non_null(row.block);
    memset(row.block, 0xa5, tw_row_bytes(type, n) + 2 * ROW_GUARD);
    row.at = row.block + ROW_GUARD;
    return row;
}

static float number_of(const struct row *row, int64_t i)
{
    float v;
    tw_row_to_f32(row->type, row->at + tw_row_bytes(row->type, i), &v, 1);
    return v;
}

static void end_row(struct row *row)
{
    size_t bytes = tw_row_bytes(row->type, row->n);
    for (int i = 0; i < ROW_GUARD; i++)
        assert_true(row->block[i] == 0xa5 && row->at[bytes + (size_t)i] == 0xa5);
    free(row->block);
}

/* Runs softmax of the n floats as type from, in place when asked; the result as type to is the caller's. */
static struct row softmax_of(const struct tw_kernels *k, const float *x, int64_t n, float scale, enum tw_type from,
                             enum tw_type to, int in_place)
{
    struct row source = new_row(from, n), out = new_row(to, n);
    float *spare = random_floats(&(struct tw_random){1}, n + 31, -1, 1);
    tw_row_from_f32(from, x, source.at, n);
    if (in_place)
        memcpy(out.at, source.at, tw_row_bytes(from, n));
    k->softmax(from, in_place ? out.at : source.at, n, source.at, scale, to, out.at, spare);
    end_row(&source);
    free(spare);
    return out;
}

static void check_result(const float *x, float scale, enum tw_type from, const struct row *got)
{
    int64_t n = got->n;
    double *want = malloc((size_t)n * sizeof *want), max = -INFINITY, sum = 0;
    assert_non_null(want);
    for (int64_t i = 0; i < n; i++) {
        unsigned char stored[4];
        float rounded;
        tw_row_from_f32(from, &x[i], stored, 1);
        tw_row_to_f32(from, stored, &rounded, 1);
        want[i] = (double)scale * (double)rounded;
        max = fmax(max, want[i]);
    }
    for (int64_t i = 0; i < n; i++)
        sum += want[i] = exp(want[i] - max);
    for (int64_t i = 0; i < n; i++) {
        double size = want[i] / sum, far = fabs(log(fmax(want[i], 0x1p-140))) * 0x1p-23 + 2 * NEAR;
        assert_true(fabs((double)number_of(got, i) - size) <=
                    size * far + half_place(got->type, size * (1 + far)) + 0x1p-120);
    }
    free(want);
}

static void check_softmax(const struct tw_kernels *k, struct tw_random *r)
{
    for (int round = 0; round < 400; round++) {
        enum tw_type from = round % 2 ? TW_BF16 : types[tw_random_range(r, 0, 2)];
        enum tw_type to = round % 4 ? from : types[tw_random_range(r, 0, 2)];
        int64_t n = round % 30 == 0 ? tw_random_range(r, 1000, 5000) : tw_random_range(r, 1, 140);
        float scale = random_in(r, round % 7 == 0 ? -2 : 0, 2), size = round % 3 == 0 ? 40 : 4;
        float *x = random_floats(r, n, -size, size);
        struct row got = softmax_of(k, x, n, scale, from, to, from == to && tw_random_range(r, 0, 1));
        check_result(x, scale, from, &got);
        end_row(&got);
        free(x);
    }
}

/* The largest number at every place, the last ones too: it alone is left. */
static void check_largest_at(const struct tw_kernels *k, struct tw_random *r)
{
    for (int64_t n = 1; n < 140; n += 1 + n / 40)
        for (int64_t place = 0; place < n; place++) {
            float *x = random_floats(r, n, -900, -800);
            x[place] = -600;
            struct row got = softmax_of(k, x, n, 1, TW_BF16, TW_BF16, 1);
            for (int64_t i = 0; i < n; i++)
                assert_true(number_of(&got, i) == (i == place ? 1.0f : 0.0f));
            end_row(&got);
            free(x);
        }
}

/* Hidden numbers weigh nothing, a NaN or an infinity in the row makes all of it NaN, and so does hiding all. */
static void check_softmax_of_edges(const struct tw_kernels *k, struct tw_random *r)
{
    for (int round = 0; round < 200; round++) {
        enum tw_type from = types[round % 3], to = types[round / 3 % 3];
        int64_t n = tw_random_range(r, 2, 100), place = tw_random_range(r, 0, n - 1);
        float *x = random_floats(r, n, -3, 3);
        int hidden = round % 4 == 0, all = round % 4 == 1;
        for (int64_t i = 0; i < n; i++)
            if (all || (hidden && i != place && tw_random_range(r, 0, 1)))
                x[i] = -INFINITY;
        if (!hidden && !all)
            x[place] = round % 4 == 2 ? NAN : INFINITY;
        struct row got = softmax_of(k, x, n, 1, from, to, 0);
        for (int64_t i = 0; i < n; i++)
            assert_true(hidden ? (x[i] == -INFINITY) == (number_of(&got, i) == 0) : isnan(number_of(&got, i)));
        if (hidden)
            check_result(x, 1, from, &got);
        end_row(&got);
        free(x);
    }
}

/* Rows of equal numbers whose parts lie exactly between two bf16 numbers; the even one is right, below or above. */
static void check_softmax_between(const struct tw_kernels *k, struct tw_random *r)
{
    static const int64_t lengths[] = {253241, 262657};
    (void)r;
    for (int t = 0; t < 2; t++) {
        int64_t n = lengths[t];
        float *x = calloc((size_t)n, sizeof *x), part = 1 / (float)n;
        assert_non_null(x);
        assert_int_equal(tw_float_bits(part) & 0xffff, 0x8000);
        struct row got = softmax_of(k, x, n, 1, TW_BF16, TW_BF16, 1);
        for (int64_t i = 0; i < n; i++)
            assert_true(number_of(&got, i) == tw_bf16_to_f32(tw_f32_to_bf16(part)));
        end_row(&got);
        free(x);
    }
}

/* In double, for numbers of any size; how far a result may be off goes with the largest number after scaling. */
static void check_norm(const struct tw_kernels *k, const float *x, const float *gain, const float *shift, float eps,
                       struct row *out)
{
    int64_t n = out->n;
    double mean = 0, variance = 0, largest = 0;
    k->layer_norm(x, gain, shift, eps, out->type, out->at, n);
    for (int64_t i = 0; i < n; i++) {
        mean += (double)x[i] / (double)n;
        largest = fmax(largest, fabs((double)x[i]));
    }
    for (int64_t i = 0; i < n; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)n;
    double inverse = 1 / sqrt(variance + (double)eps);
    for (int64_t i = 0; i < n; i++) {
        double size = ((double)x[i] - mean) * inverse * (double)gain[i];
        double bound = NEAR * (largest * inverse * fabs((double)gain[i]) + fabs((double)shift[i]));
        double want = size + (double)shift[i];
        assert_true(fabs((double)number_of(out, i) - want) <= bound + half_place(out->type, fabs(want) + bound));
    }
}

/* Numbers around a middle, far from or near zero, so large or so small that their squares are no floats, or all equal.
 */
static void check_layer_norm(const struct tw_kernels *k, struct tw_random *r)
{
    static const struct {
        float middle, spread, eps;
    } kinds[] = {{0, 1, 1e-5f},         {300, 1, 1e-5f}, {1000, 0.001f, 1e-5f}, {-5, 0, 1e-5f},    {0, 1e25f, 0},
                 {1e37f, 3e37f, 1e-5f}, {0, 1e-25f, 0},  {0, 1e-22f, 0},        {4096, 0.001f, 0}, {7e14f, 0, 1e-5f}};
    const int n_kinds = sizeof kinds / sizeof *kinds;
    for (int round = 0; round < 200; round++) {
        int equal = kinds[round % n_kinds].spread == 0; /* sums of many equal numbers are off the most */
        int64_t n = equal || round % 19 == 0 ? tw_random_range(r, 4000, 9000) : tw_random_range(r, 2, 300);
        float middle = kinds[round % n_kinds].middle, spread = kinds[round % n_kinds].spread;
        float *x = random_floats(r, n, middle - spread, middle + spread), *gain = random_floats(r, n, -2, 2);
        float *shift = random_floats(r, n, -2, 2);
        struct row out = new_row(types[round / n_kinds % 3], n);
        x[0] = middle + spread; /* so that some number does lie apart from the others */
        check_norm(k, x, gain, shift, kinds[round % n_kinds].eps, &out);
        end_row(&out);
        free(x);
        free(gain);
        free(shift);
    }
}

static void check_layer_norm_of_edges(const struct tw_kernels *k, struct tw_random *r)
{
    for (int round = 0; round < 60; round++) {
        int64_t n = tw_random_range(r, 1, 200);
        float *x = random_floats(r, n, -1, 1), *one = random_floats(r, n, 1, 1);
        struct row out = new_row(types[round % 3], n);
        x[tw_random_range(r, 0, n - 1)] = round & 1 ? NAN : -INFINITY;
        k->layer_norm(x, one, one, 1e-5f, out.type, out.at, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(isnan(number_of(&out, i)));
        end_row(&out);
        free(x);
        free(one);
    }
}

static void softmax(void **state)
{
    (void)state;
    for_each_table(check_softmax);
}

static void softmax_finds_the_largest(void **state)
{
    (void)state;
    for_each_table(check_largest_at);
}

static void softmax_of_edges(void **state)
{
    (void)state;
    for_each_table(check_softmax_of_edges);
}

static void softmax_rounds_to_even(void **state)
{
    (void)state;
    for_each_table(check_softmax_between);
}

static void layer_norm(void **state)
{
    (void)state;
    for_each_table(check_layer_norm);
}

static void layer_norm_of_edges(void **state)
{
    (void)state;
    for_each_table(check_layer_norm_of_edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),          cmocka_unit_test(softmax_finds_the_largest),
        cmocka_unit_test(softmax_of_edges), cmocka_unit_test(softmax_rounds_to_even),
        cmocka_unit_test(layer_norm),       cmocka_unit_test(layer_norm_of_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
