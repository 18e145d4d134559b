/*
 * Every table of kernels that runs on this processor against the plain C one: conversion, packing and products, over
 * random and odd shapes, every stored type at every byte alignment, and edge values.
 */
#include "host/kernel_case.h"

#include "base/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check_widen(const struct tw_kernels *k, struct tw_random *r)
{
    for (size_t t = 0; t < N_TYPES; t++)
        for (int round = 0; round < 40; round++) {
            enum tw_type type = all_types[t];
            int64_t n = tw_random_range(r, 0, 6) * 32;
            if (tw_type_info(type)->block == 1)
                n += tw_random_range(r, 0, 31);
            size_t bytes = tw_row_bytes(type, n), shift = (size_t)tw_random_range(r, 0, 3);
            unsigned char *src = random_bytes(r, bytes + shift);
            struct output got = new_output(n), want = new_output(n);
            k->widen(type, src + shift, got.at, n);
            tw_row_to_f32(type, src + shift, want.at, n);
            for (int64_t i = 0; i < n; i++)
                assert_true(same(got.at[i], want.at[i]));
            end_output(&got);
            end_output(&want);
            free(src);
        }
}

/* Every half-precision pattern there is. */
static void check_all_halves(const struct tw_kernels *k, struct tw_random *r)
{
    (void)r;
    static uint16_t bits[65536];
    static float got[65536];
    for (uint32_t i = 0; i < 65536; i++)
        bits[i] = (uint16_t)i;
    k->widen(TW_F16, bits, got, 65536);
    for (uint32_t i = 0; i < 65536; i++)
        assert_true(same(got[i], tw_f16_to_f32((uint16_t)i)));
    k->widen(TW_BF16, bits, got, 65536);
    for (uint32_t i = 0; i < 65536; i++)
        assert_true(same(got[i], tw_bf16_to_f32((uint16_t)i)));
}

static int same_half(enum tw_type type, const unsigned char *a, const unsigned char *b)
{
    float x, y;
    tw_row_to_f32(type, a, &x, 1);
    tw_row_to_f32(type, b, &y, 1);
    return same(x, y);
}

static void check_narrow(const struct tw_kernels *k, struct tw_random *r)
{
    static const enum tw_type types[] = {TW_F32, TW_F16, TW_BF16};
    static const uint32_t nans[] = {0x7f800001, 0x7fffffff, 0xff800001, 0xffffffff}; /* rounding must not end them */
    for (size_t t = 0; t < 3; t++)
        for (int round = 0; round < 60; round++) {
            int64_t n = tw_random_range(r, 0, 100);
            size_t bytes = tw_row_bytes(types[t], n), each = tw_row_bytes(types[t], 1);
            float *src = random_floats(r, n, -3, 3);
            for (int64_t i = 0; i < n; i++)
                src[i] = round % 3 == 0   ? wild(r)
                         : round % 3 == 1 ? tw_bits_float((uint32_t)tw_random_u64(r))
                                          : tw_bits_float(nans[tw_random_range(r, 0, 3)]);
            unsigned char got[512], want[512];
            memset(got, 0xa5, sizeof got);
            memset(want, 0xa5, sizeof want);
            k->narrow(types[t], src, got + 3, n);
            tw_row_from_f32(types[t], src, want + 3, n);
            for (size_t i = 0; i < (size_t)n; i++)
                assert_true(same_half(types[t], got + 3 + i * each, want + 3 + i * each));
            assert_memory_equal(got, want, 3);
            assert_memory_equal(got + 3 + bytes, want + 3 + bytes, sizeof got - 3 - bytes);
            free(src);
        }
}

static void check_transpose(const struct tw_kernels *k, struct tw_random *r)
{
    for (int round = 0; round < 100; round++) {
        int n_rows = round % 4 == 0 ? 3 : (int)tw_random_range(r, 1, TW_TRANSPOSE_ROWS);
        int64_t n = tw_random_range(r, 1, 70), width = n_rows + (round % 8 < 4 ? 0 : tw_random_range(r, 0, 20));
        float *src = random_floats(r, n_rows * n, -1, 1);
        const float *rows[TW_TRANSPOSE_ROWS];
        for (int i = 0; i < n_rows; i++)
            rows[i] = src + i * n;
        struct output got = new_output(n * width);
        k->transpose(rows, n_rows, n, got.at, width);
        for (int64_t c = 0; c < n; c++)
            for (int64_t i = 0; i < width; i++)
                assert_true(i < n_rows ? same(got.at[c * width + i], src[i * n + c])
                                       : poisoned(&got.at[c * width + i]));
        end_output(&got);
        free(src);
    }
}

/* A tile of any table against sums in double; C's twin has a tile of another size, so the sums are taken here. */
static void check_tile(const struct tw_kernels *k, struct tw_random *r)
{
    int mr = k->tile_rows, nr = k->tile_cols;
    for (int round = 0; round < 120; round++) {
        int rows = (int)tw_random_range(r, 1, mr), add = (int)tw_random_range(r, 0, 1);
        int64_t len = tw_random_range(r, 1, TW_CHUNK), stride = nr + tw_random_range(r, 0, 9);
        float low = round % 3 == 0 ? 1 : -1; /* now and then no cancellation */
        float *a = random_floats(r, len * mr, low, 2), *b = random_floats(r, len * nr, low, 2);
        struct output c = new_output(mr * stride);
        float *old = random_floats(r, mr * stride, -1, 1);
        for (int i = 0; i < rows && add; i++)
            memcpy(c.at + i * stride, old + i * stride, (size_t)nr * sizeof *old);
        k->tile(rows, len, a, b, c.at, stride, add);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < nr; j++) {
                double sum = add ? (double)old[i * stride + j] : 0, size = fabs(sum);
                for (int64_t p = 0; p < len; p++) {
                    sum += (double)a[p * mr + i] * (double)b[p * nr + j];
                    size += fabs((double)a[p * mr + i] * (double)b[p * nr + j]);
                }
                assert_true(fabs(sum - (double)c.at[i * stride + j]) <= NEAR * size);
            }
        for (int i = 0; i < mr; i++)
            for (int64_t j = nr; j < stride; j++)
                assert_true(poisoned(&c.at[i * stride + j]));
        end_output(&c);
        free(a);
        free(b);
        free(old);
    }
}

/* Infinities and NaNs in one row or column stay there. */
static void check_tile_of_edges(const struct tw_kernels *k, struct tw_random *r)
{
    int mr = k->tile_rows, nr = k->tile_cols;
    float *a = random_floats(r, 70 * mr, -1, 1), *b = random_floats(r, 70 * nr, -1, 1);
    struct output c = new_output(mr * nr);
    a[3 * mr + 1] = INFINITY;
    b[66 * nr + 5] = NAN;
    k->tile(mr, 70, a, b, c.at, nr, 0);
    for (int i = 0; i < mr; i++)
        for (int j = 0; j < nr; j++) {
            float v = c.at[i * nr + j];
            assert_true(j == 5 ? isnan(v) : i == 1 ? isinf(v) != 0 : isfinite(v));
        }
    end_output(&c);
    free(a);
    free(b);
}

static double sum_of_magnitudes(enum tw_type type, const unsigned char *w, const float *a, int64_t n)
{
    float *v = malloc((size_t)n * sizeof *v);
    assert_non_null(v);
    tw_row_to_f32(type, w, v, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs((double)v[i] * (double)a[i]);
    free(v);
    return sum;
}

static void check_dots_once(const struct tw_kernels *k, struct tw_random *r, enum tw_type type, int64_t len, int rows)
{
    int64_t n = tw_random_range(r, 1, 11), a_stride = len + tw_random_range(r, 0, 5),
            stride = n + tw_random_range(r, 0, 3);
    struct stored w = random_stored(r, type, len, n);
    float *a = random_floats(r, rows * a_stride, -1, 1);
    struct output got = new_output(rows * stride), want = new_output(rows * stride), one = new_output(n);
    k->dots(type, rows, len, a, a_stride, w.at, w.stride, n, got.at, stride);
    tw_kernels_c.dots(type, rows, len, a, a_stride, w.at, w.stride, n, want.at, stride);
    for (int i = 0; i < rows; i++) {
        k->dots(type, 1, len, a + i * a_stride, a_stride, w.at, w.stride, n, one.at, n);
        for (int64_t j = 0; j < n; j++) {
            double size = sum_of_magnitudes(type, w.at + (size_t)j * w.stride, a + i * a_stride, len);
            assert_true(near(got.at[i * stride + j], want.at[i * stride + j], size));
            assert_true(same(got.at[i * stride + j], one.at[j])); /* whatever comes along with it */
        }
        for (int64_t j = n; j < stride; j++)
            assert_true(poisoned(&got.at[i * stride + j]));
    }
    end_output(&got);
    end_output(&want);
    end_output(&one);
    free(a);
    free(w.block);
}

static void check_dots(const struct tw_kernels *k, struct tw_random *r)
{
    for (size_t t = 0; t < N_TYPES; t++)
        for (int rows = 1; rows <= TW_DOT_ROWS; rows++)
            for (int round = 0; round < 5; round++) {
                int64_t len = tw_random_range(r, 1, 40) * 32;
                if (tw_type_info(all_types[t])->block == 1)
                    len -= tw_random_range(r, 0, 31);
                check_dots_once(k, r, all_types[t], len, rows);
            }
}

static void check_weigh(const struct tw_kernels *k, struct tw_random *r)
{
    static const enum tw_type types[] = {TW_F32, TW_F16, TW_BF16};
    for (int round = 0; round < 90; round++) {
        enum tw_type type = types[round % 3];
        int rows = (int)tw_random_range(r, 1, TW_DOT_ROWS);
        int64_t n = tw_random_range(r, 1, TW_CHUNK), d = tw_random_range(r, 1, 150);
        int64_t p_stride = n + tw_random_range(r, 0, 4), o_stride = d + tw_random_range(r, 0, 4);
        struct stored v = random_stored(r, type, d, n);
        float *p = random_floats(r, rows * p_stride, 0, 1), *old = random_floats(r, d, -1, 1);
        struct output got = new_output(rows * o_stride), want = new_output(rows * o_stride);
        for (int i = 0; i < rows; i++) {
            memcpy(got.at + i * o_stride, old, (size_t)d * sizeof *old);
            memcpy(want.at + i * o_stride, old, (size_t)d * sizeof *old);
        }
        k->weigh(type, rows, n, p, p_stride, v.at, v.stride, d, got.at, o_stride);
        tw_kernels_c.weigh(type, rows, n, p, p_stride, v.at, v.stride, d, want.at, o_stride);
        for (int i = 0; i < rows; i++)
            for (int64_t c = 0; c < o_stride; c++) {
                double size = 1;
                for (int64_t j = 0; j < n; j++)
                    size += (double)p[i * p_stride + j]; /* times about 1 */
                int64_t at = i * o_stride + c;
                assert_true(c < d ? near(got.at[at], want.at[at], size) : poisoned(&got.at[at]));
            }
        end_output(&got);
        end_output(&want);
        free(p);
        free(old);
        free(v.block);
    }
}

/*
 * Many equal terms are the worst that a float sum can be given: each addition rounds the same way. Twice the agreed
 * error is what sums of 64 in a register stay under; sums of 256 would take four times of it.
 */
static void check_equal_terms(const struct tw_kernels *k, struct tw_random *r)
{
    enum { LONG = 2048 };
    int mr = k->tile_rows, nr = k->tile_cols;
    for (int round = 0; round < 20; round++) {
        float x = random_in(r, 1, 2), y = random_in(r, 1, 2);
        float *a = random_floats(r, LONG * TW_TILE_MAX, x, x), *b = random_floats(r, LONG * TW_TILE_MAX, y, y);
        float c[TW_TILE_MAX * TW_TILE_MAX], dot, o = 0;
        double term = (double)x * (double)y;
        k->tile(mr, TW_CHUNK, a, b, c, nr, 0);
        assert_true(near(c[0], (float)(TW_CHUNK * term), 2 * TW_CHUNK * term));
        k->dots(TW_F32, 1, LONG, a, LONG, (const unsigned char *)b, 0, 1, &dot, 1);
        assert_true(near(dot, (float)(LONG * term), 2 * LONG * term));
        k->weigh(TW_F32, 1, TW_CHUNK, a, TW_CHUNK, (const unsigned char *)b, sizeof y, 1, &o, 1);
        assert_true(near(o, (float)(TW_CHUNK * term), 2 * TW_CHUNK * term));
        free(a);
        free(b);
    }
}

static void widen(void **state)
{
    (void)state;
    for_each_table(check_widen);
}

static void all_halves(void **state)
{
    (void)state;
    for_each_table(check_all_halves);
}

static void narrow(void **state)
{
    (void)state;
    for_each_table(check_narrow);
}

static void transpose(void **state)
{
    (void)state;
    for_each_table(check_transpose);
}

static void tile(void **state)
{
    (void)state;
    for_each_table(check_tile);
}

static void tile_of_edges(void **state)
{
    (void)state;
    for_each_table(check_tile_of_edges);
}

static void equal_terms(void **state)
{
    (void)state;
    for_each_table(check_equal_terms);
}

static void dots(void **state)
{
    (void)state;
    for_each_table(check_dots);
}

static void weigh(void **state)
{
    (void)state;
    for_each_table(check_weigh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widen),       cmocka_unit_test(all_halves), cmocka_unit_test(narrow),
        cmocka_unit_test(transpose),   cmocka_unit_test(tile),       cmocka_unit_test(tile_of_edges),
        cmocka_unit_test(equal_terms), cmocka_unit_test(dots),       cmocka_unit_test(weigh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
