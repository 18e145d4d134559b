/*
 * Sums of bf16 products that fast_sum.h has no room for: probabilities of a softmax, which are small, and what happens
 * to lie in memory around a matrix, where numbers are of any size, infinite or none at all. Each lane has a size of its
 * own, by which its factors are multiplied before, so that single floats hold its terms as fast_sum.h says. NaN and
 * infinity count as numbers of exponent 255, as in the definition; what they make of the sum is worked out apart. Lanes
 * are loops, which compilers turn into vectors. What is too odd even for this is left to the definition.
 */
#ifndef TW_EMU_VECTOR_WIDE_SUM_H
#define TW_EMU_VECTOR_WIDE_SUM_H

#include "fast_sum.h"
#include "plain.h"

#include <math.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum {
    WIDE_LANES = 16,
    WIDE_PAIRS = 8,
    /* Lanes with larger exponents have factors 2^68 times smaller: what that makes inexact is too small to count. */
    WIDE_LARGE_MIN = 341,
    WIDE_LARGE_DOWN = 68,
    /* Those below SUM_EXPONENT_MIN have factors 2^48 times larger, which have to stay finite. */
    WIDE_SMALL_UP = 48,
    WIDE_SMALL_MIN = SUM_EXPONENT_MIN - 2 * WIDE_SMALL_UP,
    WIDE_SMALL_FACTOR_MAX = 254 - WIDE_SMALL_UP,
    WIDE_ONE = 127,     /* exponent of 1 */
    WIDE_SPECIAL = 255, /* of NaN and infinity */
    WIDE_SHIFT = 23,
    WIDE_INFINITY = WIDE_SPECIAL << WIDE_SHIFT,
    WIDE_MANTISSA = (1 << WIDE_SHIFT) - 1
};
#define WIDE_SIGN 0x80000000u
#define WIDE_MAGNITUDE 0x7fffffffu

/* Floats as their bits. */
struct wide_terms {
    alignas(64) uint32_t a[WIDE_PAIRS][WIDE_LANES];
    alignas(64) uint32_t b[WIDE_PAIRS][WIDE_LANES];
    alignas(64) uint32_t acc[2][WIDE_LANES];
    unsigned pairs;
    int keeps_sign_of_zero;
};

/* What is known about a lane before anything is added. */
struct wide_lanes {
    alignas(64) int32_t exponent[WIDE_LANES]; /* the largest of its terms */
    alignas(64) int32_t shift[WIDE_LANES];    /* its terms are 2^shift times larger; a factor half of it */
    alignas(64) float special[WIDE_LANES];    /* NaN or infinity when the sum is; else a number */
    alignas(64) int32_t sum[WIDE_LANES];
};

static inline float wide_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t wide_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline int32_t wide_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* One of both, without a branch that would keep loops from becoming vectors. */
static inline uint32_t wide_choose(int condition, uint32_t yes, uint32_t no)
{
    uint32_t mask = 0u - (uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

static inline int32_t wide_exponent(uint32_t x)
{
    int32_t e = wide_larger((int32_t)((x & WIDE_MAGNITUDE) >> WIDE_SHIFT), 1);
    return (x & WIDE_MAGNITUDE) == 0 ? SUM_ZERO_EXPONENT : e;
}

/* NaN, infinity, zero, and 1 for all others, with their signs: products and sums of these are special as the real. */
static inline float wide_kind(uint32_t x)
{
    uint32_t magnitude = x & WIDE_MAGNITUDE;
    uint32_t kind = wide_choose(magnitude >= WIDE_INFINITY, magnitude, (uint32_t)WIDE_ONE << WIDE_SHIFT);
    return wide_float((x & WIDE_SIGN) | wide_choose(magnitude == 0, 0, kind));
}

static inline float wide_power(int32_t exponent)
{
    return wide_float((uint32_t)(WIDE_ONE + exponent) << WIDE_SHIFT);
}

/* x times 2^shift; what is special, which only large lanes have, as the number that it counts as. */
static inline float wide_resized(uint32_t x, int32_t shift)
{
    float scaled = wide_float(x) * wide_power(shift);
    uint32_t special = x + ((uint32_t)shift << WIDE_SHIFT);
    return (x & WIDE_MAGNITUDE) >= WIDE_INFINITY ? wide_float(special) : scaled;
}

/* Returns the lanes that this file has no room for: not 0 for each. */
static inline int32_t wide_prepare(const struct wide_terms *w, struct wide_lanes *l)
{
    alignas(64) int32_t factor[WIDE_LANES] = {0};
    int32_t odd = 0;
    for (unsigned i = 0; i < WIDE_LANES; i++) {
        int32_t e1 = wide_exponent(w->acc[0][i]), e2 = wide_exponent(w->acc[1][i]);
        l->exponent[i] = wide_larger(wide_larger(e1, e2) + SUM_ACCUMULATOR_BIAS, 0);
        l->special[i] = wide_kind(w->acc[0][i]) + wide_kind(w->acc[1][i]);
        l->sum[i] = 0;
    }
    for (unsigned t = 0; t < w->pairs; t++)
        for (unsigned i = 0; i < WIDE_LANES; i++) {
            int32_t a = wide_exponent(w->a[t][i]), b = wide_exponent(w->b[t][i]);
            factor[i] = wide_larger(factor[i], wide_larger(a, b));
            l->exponent[i] = wide_larger(l->exponent[i], a + b + 1);
            l->special[i] += wide_kind(w->a[t][i]) * wide_kind(w->b[t][i]);
        }
    for (unsigned i = 0; i < WIDE_LANES; i++) {
        int32_t e = l->exponent[i], nothing = e <= SUM_NOTHING_MAX;
        int32_t large = e >= WIDE_LARGE_MIN, small = (e < SUM_EXPONENT_MIN) & !nothing;
        int32_t special = (wide_bits(l->special[i]) & WIDE_MAGNITUDE) >= WIDE_INFINITY;
        l->shift[i] = large ? -2 * WIDE_LARGE_DOWN : small ? 2 * WIDE_SMALL_UP : 0;
        odd |= (special & !large) | (small & ((e < WIDE_SMALL_MIN) | (factor[i] > WIDE_SMALL_FACTOR_MAX)));
    }
    return odd;
}

static inline uint32_t wide_scale(const struct wide_lanes *l, unsigned i)
{
    return (uint32_t)(SUM_SCALE_BIAS - wide_larger(l->exponent[i] + l->shift[i], SUM_EXPONENT_MIN)) << WIDE_SHIFT;
}

static inline void wide_add(const struct wide_terms *w, struct wide_lanes *l)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < WIDE_LANES; i++) {
            float half = wide_resized(w->acc[k][i], l->shift[i] / 2), x = half * wide_power(l->shift[i] / 2);
            l->sum[i] += (int32_t)rintf(x * wide_float(wide_scale(l, i)));
        }
    for (unsigned t = 0; t < w->pairs; t++)
        for (unsigned i = 0; i < WIDE_LANES; i++) {
            float a = wide_resized(w->a[t][i], l->shift[i] / 2), b = wide_resized(w->b[t][i], l->shift[i] / 2);
            l->sum[i] += (int32_t)rintf(a * b * wide_float(wide_scale(l, i)));
        }
}

/* The results and their flags. */
static inline unsigned wide_finish(const struct wide_lanes *l, int keeps_sign_of_zero, void *out)
{
    alignas(64) uint32_t results[WIDE_LANES];
    unsigned flags = 0;
    for (unsigned i = 0; i < WIDE_LANES; i++) {
        float unit = wide_float((uint32_t)SUM_INVERSE_BITS - wide_scale(l, i));
        uint32_t bits = wide_bits((float)l->sum[i] * unit), sign = bits & WIDE_SIGN, mantissa = bits & WIDE_MANTISSA;
        uint32_t special = wide_bits(l->special[i]), kind = special & WIDE_MAGNITUDE;
        int32_t e = (int32_t)((bits & WIDE_MAGNITUDE) >> WIDE_SHIFT) - l->shift[i];
        int zero = (bits & WIDE_MAGNITUDE) == 0, low = e <= 0, high = e >= WIDE_SPECIAL;
        int nan = kind > WIDE_INFINITY, infinite = kind == WIDE_INFINITY;
        uint32_t finite = sign | (uint32_t)e << WIDE_SHIFT | mantissa, nothing = keeps_sign_of_zero ? sign : 0;
        uint32_t result = wide_choose(high, sign | WIDE_INFINITY, wide_choose(low, nothing, finite));
        uint32_t number = sign | WIDE_INFINITY | wide_choose(zero | low | high, 1, mantissa | 1);
        uint32_t ordinary =
            wide_choose(high, TW_FLOAT_INFINITY | TW_FLOAT_HUGE, wide_choose(low, TW_FLOAT_ZERO | TW_FLOAT_TINY, 0));
        result = wide_choose(infinite, special, wide_choose(zero, 0, result));
        ordinary = wide_choose(infinite, TW_FLOAT_INFINITY, wide_choose(zero, TW_FLOAT_ZERO, ordinary));
        results[i] = wide_choose(nan, number, result);
        flags |= wide_choose(nan, TW_FLOAT_INVALID, ordinary);
    }
    memcpy(out, results, sizeof results);
    return flags;
}

/* Returns 0 when the definition has to do it. */
static inline int wide_sum(struct wide_terms *w, const void *acc1, const void *acc2, void *out, unsigned *flags)
{
    struct wide_lanes l;
    memcpy(w->acc[0], acc1, sizeof w->acc[0]);
    memset(w->acc[1], 0, sizeof w->acc[1]);
    if (acc2 != NULL)
        memcpy(w->acc[1], acc2, sizeof w->acc[1]);
    if (wide_prepare(w, &l))
        return 0;
    wide_add(w, &l);
    *flags = wide_finish(&l, w->keeps_sign_of_zero, out);
    return 1;
}

static unsigned wide_bf16_matrix(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    const uint16_t *x = a, *y = b;
    struct wide_terms w = {.pairs = 8};
    unsigned flags;
    for (unsigned t = 0; t < 8; t++)
        for (unsigned i = 0; i < WIDE_LANES; i++) {
            w.a[t][i] = (uint32_t)x[8 * (i / 4) + t] << 16;
            w.b[t][i] = (uint32_t)y[4 * t + i % 4] << 16;
        }
    return wide_sum(&w, acc1, acc2, out, &flags) ? flags : tw_plain_bf16_matrix(acc1, acc2, a, b, out);
}

static unsigned wide_bf16_elements(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    const uint16_t *x = a, *y = b;
    struct wide_terms w = {.pairs = 2};
    unsigned flags;
    for (unsigned t = 0; t < 2; t++)
        for (unsigned i = 0; i < WIDE_LANES; i++) {
            w.a[t][i] = (uint32_t)x[WIDE_LANES * t + i] << 16;
            w.b[t][i] = (uint32_t)y[WIDE_LANES * t + i] << 16;
        }
    return wide_sum(&w, acc1, acc2, out, &flags) ? flags : tw_plain_bf16_elements(acc1, acc2, a, b, out);
}

static unsigned wide_fp32_add(const void *acc1, const void *acc2, void *out)
{
    struct wide_terms w = {.keeps_sign_of_zero = 1};
    unsigned flags;
    return wide_sum(&w, acc1, acc2, out, &flags) ? flags : tw_plain_fp32_add(acc1, acc2, out);
}

#endif
