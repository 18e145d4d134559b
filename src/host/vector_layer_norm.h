/* Layer norm of a row, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_LAYER_NORM_H
#define TW_HOST_VECTOR_LAYER_NORM_H

#include "host/vector_numbers.h"

#include <math.h>

static double mean_of(const float *x, int64_t n)
{
    D sum = d_zero();
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum = d_add(sum, v_load(x + i));
    if (i < n)
        sum = d_add(sum, v_load_n(x + i, n - i));
    return d_sum(sum) / (double)n;
}

/* x - (high + low): high nearly cancels x, so that the difference is as exact as x is. */
INLINE V deviation(V x, V high, V low)
{
    return v_sub(v_sub(x, high), low);
}

/* What turns x to (x - mean) / deviation: subtract high and low, multiply with inverse. */
struct norm {
    float high, low, inverse;
};

/* For any numbers: in double. */
static struct norm norm_in_double(const float *x, float eps, int64_t n)
{
    double mean = mean_of(x, n);
    struct norm m = {.high = (float)mean};
    m.low = (float)(mean - (double)m.high);
    V high = v_set(m.high), low = v_set(m.low);
    D squares = d_zero();
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        squares = d_add_square(squares, deviation(v_load(x + i), high, low));
    if (i < n)
        squares = d_add_square(squares, v_keep(deviation(v_load_n(x + i, n - i), high, low), n - i));
    m.inverse = (float)(1 / sqrt(d_sum(squares) / (double)n + (double)eps));
    return m;
}

/* Four registers of floats side by side, because each sum has to wait for the one before it. */
#define SIDES 4
#define SIDE_NUMBERS (TERMS * SIDES * LANES) /* a run in which no register gets more than about TERMS numbers */

INLINE D d_add_sides(D sum, const V *part)
{
    return d_add(sum, v_add(v_add(part[0], part[1]), v_add(part[2], part[3])));
}

static float mean_near(const float *x, int64_t n)
{
    D sum = d_zero();
    for (int64_t from = 0; from < n; from += SIDE_NUMBERS) {
        int64_t end = n - from < SIDE_NUMBERS ? n : from + SIDE_NUMBERS, i = from;
        V part[SIDES];
        EACH (c, SIDES)
            part[c] = v_zero();
        for (; i + SIDES * LANES <= end; i += SIDES * LANES)
            EACH (c, SIDES)
                part[c] = v_add(part[c], v_load(x + i + c * LANES));
        for (; i < end; i += LANES)
            part[0] = v_add(part[0], v_load_n(x + i, end - i < LANES ? end - i : LANES));
        sum = d_add_sides(sum, part);
    }
    return (float)(d_sum(sum) / (double)n);
}

/* What numbers differ from `from`: the sum of that, and the sum of its squares. */
static void differences(const float *x, float from, int64_t n, double *sum, double *square_sum)
{
    V base = v_set(from);
    D all = d_zero(), all_squares = d_zero();
    for (int64_t first = 0; first < n; first += SIDE_NUMBERS) {
        int64_t end = n - first < SIDE_NUMBERS ? n : first + SIDE_NUMBERS, i = first;
        V part[SIDES], squares[SIDES];
        EACH (c, SIDES)
            part[c] = squares[c] = v_zero();
        for (; i + SIDES * LANES <= end; i += SIDES * LANES)
            EACH (c, SIDES) {
                V d = v_sub(v_load(x + i + c * LANES), base);
                part[c] = v_add(part[c], d);
                squares[c] = v_fma(d, d, squares[c]);
            }
        for (; i < end; i += LANES) {
            int64_t rest = end - i < LANES ? end - i : LANES;
            V d = v_keep(v_sub(v_load_n(x + i, rest), base), rest);
            part[0] = v_add(part[0], d);
            squares[0] = v_fma(d, d, squares[0]);
        }
        all = d_add_sides(all, part);
        all_squares = d_add_sides(all_squares, squares);
    }
    *sum = d_sum(all);
    *square_sum = d_sum(all_squares);
}

/*
 * Quickly, for ordinary numbers: a float near the mean is found first, then in one pass how far off it is and the sum
 * of squares around it. The difference below loses nothing: the float is off by a few units in the last place of the
 * numbers, and where that matters beside the deviation, differences are so few units that their sums are exact.
 */
static struct norm norm_of(const float *x, float eps, int64_t n)
{
    float high = mean_near(x, n);
    double sum, squares;
    differences(x, high, n, &sum, &squares);
    double off = sum / (double)n, mean_square = squares / (double)n;
    if (!(mean_square > 0x1p-80 && mean_square < 0x1p+80)) /* overflow and underflow */
        return norm_in_double(x, eps, n);
    double variance = mean_square - off * off;
    return (struct norm){.high = high, .low = (float)off, .inverse = (float)(1 / sqrt(variance + (double)eps))};
}

INLINE void layer_norm_to(const float *x, const float *gain, const float *shift, struct norm m, enum tw_type to,
                          unsigned char *y, int64_t n)
{
    V high = v_set(m.high), low = v_set(m.low), inverse = v_set(m.inverse);
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        V d[2];
        EACH (c, 2) {
            int64_t at = i + c * LANES;
            d[c] = v_mul(deviation(v_load(x + at), high, low), inverse);
            d[c] = v_fma(d[c], v_load(gain + at), v_load(shift + at));
        }
        narrow_two(to, y, i, d);
    }
    for (; i < n; i += LANES) {
        int64_t rest = n - i < LANES ? n - i : LANES;
        V d = v_mul(deviation(v_load_n(x + i, rest), high, low), inverse);
        narrow_some(to, y, i, v_fma(d, v_load_n(gain + i, rest), v_load_n(shift + i, rest)), rest);
    }
}

static void layer_norm(const float *x, const float *gain, const float *shift, float eps, enum tw_type to, void *y,
                       int64_t n)
{
    struct norm m = norm_of(x, eps, n);
    if (to == TW_BF16)
        layer_norm_to(x, gain, shift, m, TW_BF16, y, n);
    else if (to == TW_F16)
        layer_norm_to(x, gain, shift, m, TW_F16, y, n);
    else
        layer_norm_to(x, gain, shift, m, TW_F32, y, n);
}

#endif
