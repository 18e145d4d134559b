/* Softmax of a row, and of rows and columns that come piece by piece, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_SOFTMAX_H
#define TW_HOST_VECTOR_SOFTMAX_H

#include "host/vector_exp.h"
#include "host/vector_numbers.h"
#include "host/vector_rows.h"

#include <math.h>

/* What is subtracted before exp: with nothing but -inf so far any finite number gives the zeros that are due. */
static float reference_of(float max)
{
    return max == -INFINITY ? 0 : max;
}

static float largest(const float *x, int64_t n, float scale, float max)
{
    V most = v_set(max), factor = v_set(scale);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        most = v_max(v_mul(factor, v_load(x + i)), most);
    max = v_largest(most);
    for (; i < n; i++)
        max = scale * x[i] > max ? scale * x[i] : max;
    return max;
}

/* The sum of e = exp(scale * x - base) for n numbers, which go to y. */
static double exp_sum(const float *x, int64_t n, float scale, float base, float *y)
{
    V factor = v_set(scale), offset = v_set(-base);
    D sum = d_zero();
    for (int64_t from = 0; from < n; from += TERMS * LANES) {
        int64_t end = n - from < TERMS * LANES ? n : from + TERMS * LANES, i = from;
        V part = v_zero();
        for (; i + LANES <= end; i += LANES) {
            V e = v_exp(v_fma(factor, v_load(x + i), offset));
            v_store(y + i, e);
            part = v_add(part, e);
        }
        if (i < end) {
            V e = v_exp(v_fma(factor, v_load_n(x + i, end - i), offset));
            v_store_n(y + i, e, end - i);
            part = v_add(part, v_keep(e, end - i));
        }
        sum = d_add(sum, part);
    }
    return d_sum(sum);
}

static void exp_row(const float *x, int64_t n, float scale, struct tw_softmax *state, float *y)
{
    float max = largest(x, n, scale, state->max), base = reference_of(max), lanes[LANES];
    v_store(lanes, v_exp(v_set(state->max - base)));
    state->factor = lanes[0];
    state->sum = state->sum * (double)state->factor + exp_sum(x, n, scale, base, y);
    state->max = max;
}

/* The largest of n >= PAIRS bf16 numbers; NaNs do not count. Looking at some twice does no harm. */
static float largest_bf16(const unsigned char *x, int64_t n)
{
    V most[4], v[2];
    EACH (c, 4)
        most[c] = v_set(-INFINITY);
    for (int64_t i = 0; i < n; i += 2 * PAIRS) {
        EACH (h, 2) {
            int64_t at = i + h * PAIRS;
            v_load_pairs(x + 2 * (n - at < PAIRS ? n - PAIRS : at), v);
            EACH (c, 2)
                most[2 * h + c] = v_max(v[c], most[2 * h + c]);
        }
    }
    return v_largest(v_max(v_max(most[0], most[1]), v_max(most[2], most[3])));
}

/* e = 2^(factor * x + offset). */
INLINE void exp2_pairs(const unsigned char *x, V factor, V offset, V *e)
{
    v_load_pairs(x, e);
    EACH (c, 2)
        e[c] = v_exp2(v_fma(factor, e[c], offset));
}

/*
 * The sum of 2^(scale * x - base) for n bf16 numbers, which go to y in pairs, to a whole number of them. The row at
 * next is asked for meanwhile.
 */
static double exp2_sum(const unsigned char *x, int64_t n, const unsigned char *next, float scale, float base, float *y)
{
    V factor = v_set(scale), offset = v_set(-base), e[2];
    D sum = d_zero();
    for (int64_t from = 0; from < n; from += TERMS * PAIRS) {
        int64_t end = n - from < TERMS * PAIRS ? n : from + TERMS * PAIRS, i = from;
        V part[2] = {v_zero(), v_zero()};
        for (; i + PAIRS <= end; i += PAIRS) {
            v_prefetch((uintptr_t)next + 2 * (size_t)i);
            exp2_pairs(x + 2 * i, factor, offset, e);
            EACH (c, 2) {
                v_store(y + i + c * LANES, e[c]);
                part[c] = v_add(part[c], e[c]);
            }
        }
        if (i < end) {
            unsigned char some[2 * PAIRS] = {0};
            memcpy(some, x + 2 * i, 2 * (size_t)(end - i));
            exp2_pairs(some, factor, offset, e);
            EACH (c, 2) {
                v_store(y + i + c * LANES, e[c]);
                part[c] = v_add(part[c], v_keep(e[c], (end - i + 1 - c) / 2));
            }
        }
        sum = d_add(d_add(sum, part[0]), part[1]);
    }
    return d_sum(sum);
}

/* n numbers in pairs, times factor, as bf16. */
static void scale_pairs(const float *x, float factor, unsigned char *y, int64_t n)
{
    V f = v_set(factor);
    int64_t i = 0;
    for (; i + PAIRS <= n; i += PAIRS) {
        V v[2] = {v_mul(v_load(x + i), f), v_mul(v_load(x + i + LANES), f)};
        v_store_pairs(y + 2 * i, v);
    }
    if (i < n) {
        unsigned char some[2 * PAIRS];
        V v[2] = {v_mul(v_load(x + i), f), v_mul(v_load(x + i + LANES), f)};
        v_store_pairs(some, v);
        memcpy(y + 2 * i, some, 2 * (size_t)(n - i));
    }
}

static void softmax(enum tw_type from, const void *x, int64_t n, const void *next, float factor, enum tw_type to,
                    void *y, float *spare)
{
    if (from == TW_BF16 && to == TW_BF16 && n >= PAIRS) {
        /* With any other factor the largest product may not be that of the largest number. */
        float factor2 = factor * LOG2_E, base = factor2 > 0 ? factor2 * largest_bf16(x, n) : NAN;
        if (isfinite(base)) {
            double sum = exp2_sum(x, n, next, factor2, base, spare);
            scale_pairs(spare, (float)(1 / sum), y, n);
            return;
        }
    }
    struct tw_softmax state = {.max = -INFINITY};
    widen(from, x, spare, n);
    exp_row(spare, n, factor, &state, spare);
    scale(spare, (float)(1 / state.sum), spare, n);
    narrow(to, spare, y, n);
}

#define WIDE (NR / LANES) /* vectors in a row of the register tile */

static void exp_columns(float *s, int64_t n, float *max, float *sum, float *factor)
{
    V most[WIDE], base[WIDE], total[WIDE];
    EACH (c, WIDE)
        most[c] = v_load(max + c * LANES);
    for (int64_t j = 0; j < n; j++)
        EACH (c, WIDE)
            most[c] = v_max(v_load(s + j * NR + c * LANES), most[c]);
    EACH (c, WIDE) {
        base[c] = v_if_equal(most[c], v_set(-INFINITY), v_zero(), most[c]);
        V f = v_exp(v_sub(v_load(max + c * LANES), base[c]));
        v_store(factor + c * LANES, f);
        v_store(max + c * LANES, most[c]);
        total[c] = v_mul(v_load(sum + c * LANES), f);
    }
    for (int64_t from = 0; from < n; from += TERMS) {
        int64_t end = n - from < TERMS ? n : from + TERMS;
        V part[WIDE];
        EACH (c, WIDE)
            part[c] = v_zero();
        for (int64_t j = from; j < end; j++)
            EACH (c, WIDE) {
                float *at = s + j * NR + c * LANES;
                V e = v_exp(v_sub(v_load(at), base[c]));
                v_store(at, e);
                part[c] = v_add(part[c], e);
            }
        EACH (c, WIDE)
            total[c] = v_add(total[c], part[c]);
    }
    EACH (c, WIDE)
        v_store(sum + c * LANES, total[c]);
}

static void scale_columns(float *s, int64_t n, const float *factor)
{
    V f[WIDE];
    EACH (c, WIDE)
        f[c] = v_load(factor + c * LANES);
    for (int64_t j = 0; j < n; j++)
        EACH (c, WIDE)
            v_store(s + j * NR + c * LANES, v_mul(v_load(s + j * NR + c * LANES), f[c]));
}

#endif
