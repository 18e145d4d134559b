/*
 * Sums of bf16 products and fp32 accumulators as the vector unit makes them: every term is aligned to the largest
 * exponent and rounded there, the sum of the aligned terms is exact and rounded once. Exponents of products are those
 * of the factors, not of the normalised product; denormals keep their mantissa.
 */
#include "lanes.h"
#include "mac.h"
#include "plain.h"

#define FP32_SIGN 0x80000000u
#define FP32_INFINITY 0x7f800000u
#define FP32_MAGNITUDE 0x7fffffffu
#define FP32_MANTISSA 0x7fffffu
#define BF16_INFINITY 0x7f80u

/* The unit of aligned terms is 2^(exponent - 278): nine bits below the lowest of a product of 8-bit mantissas. */
#define PRODUCT_BITS 9
/* An accumulator's exponent counts as that of a product whose factors have 128 together with the bias's one. */
#define ACCUMULATOR_BIAS 128
#define RESULT_BIAS 151 /* 278 - 127 */

struct term {
    int exponent;     /* 0: the term is zero */
    int64_t mantissa; /* with sign, in units of the aligned sum when the exponent is the largest */
};

/* What the inputs were, for NaN and infinity. */
struct specials {
    int nan, positive_infinity, negative_infinity;
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void note_infinity(struct specials *s, int negative)
{
    if (negative)
        s->negative_infinity = 1;
    else
        s->positive_infinity = 1;
}

static int64_t bf16_mantissa(uint16_t x)
{
    return (x & 0x7f) | ((x & BF16_INFINITY) != 0 ? 0x80 : 0);
}

static struct term product(uint16_t a, uint16_t b, struct specials *s)
{
    unsigned ma = a & 0x7fffu, mb = b & 0x7fffu;
    int negative = (a ^ b) >> 15 & 1;
    if (ma > BF16_INFINITY || mb > BF16_INFINITY || (ma == BF16_INFINITY && mb == 0) ||
        (mb == BF16_INFINITY && ma == 0))
        s->nan = 1;
    else if (ma == BF16_INFINITY || mb == BF16_INFINITY)
        note_infinity(s, negative);
    if (ma == 0 || mb == 0)
        return (struct term){0, 0};
    int64_t p = bf16_mantissa(a) * bf16_mantissa(b) * (1 << PRODUCT_BITS);
    return (struct term){larger((int)(ma >> 7), 1) + larger((int)(mb >> 7), 1) + 1, negative ? -p : p};
}

static struct term accumulator(uint32_t x, struct specials *s)
{
    uint32_t magnitude = x & FP32_MAGNITUDE;
    if (magnitude > FP32_INFINITY)
        s->nan = 1;
    else if (magnitude == FP32_INFINITY)
        note_infinity(s, x >> 31 != 0);
    if (magnitude == 0)
        return (struct term){0, 0};
    int exponent = (int)(magnitude >> 23);
    int64_t m = (int64_t)((magnitude & FP32_MANTISSA) | (exponent != 0 ? FP32_MANTISSA + 1 : 0));
    return (struct term){larger(exponent, 1) + ACCUMULATOR_BIAS, x & FP32_SIGN ? -m : m};
}

/* x / 2^bits to the nearest whole number, ties to even. */
static uint64_t shift_to_nearest(uint64_t x, unsigned bits)
{
    if (bits == 0)
        return x;
    if (bits > 62)
        return 0;
    uint64_t whole = x >> bits, rest = x & ((UINT64_C(1) << bits) - 1), half = UINT64_C(1) << (bits - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

static int64_t align(struct term t, int exponent)
{
    if (t.exponent == 0)
        return 0;
    uint64_t magnitude =
        shift_to_nearest((uint64_t)(t.mantissa < 0 ? -t.mantissa : t.mantissa), (unsigned)(exponent - t.exponent));
    return t.mantissa < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* The sum as fp32 apart from what NaN and infinity make of it. */
struct rounded {
    uint32_t sign;
    int exponent; /* biased; outside 1 .. 254: out of range */
    uint32_t mantissa;
    int is_zero;
};

static struct rounded round_sum(int64_t sum, int exponent)
{
    if (sum == 0)
        return (struct rounded){0, 0, 0, 1};
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    int top = 63;
    while (!(magnitude >> top & 1u))
        top--;
    if (top > 23) {
        magnitude = shift_to_nearest(magnitude, (unsigned)(top - 23));
        if (magnitude >> 24 != 0) {
            magnitude >>= 1;
            top++;
        }
    } else {
        magnitude <<= 23 - top;
    }
    return (struct rounded){sum < 0 ? FP32_SIGN : 0, exponent + top - RESULT_BIAS, (uint32_t)magnitude & FP32_MANTISSA,
                            0};
}

static uint32_t not_a_number(const struct rounded *r)
{
    int in_range = !r->is_zero && r->exponent > 0 && r->exponent < 255;
    return r->sign | FP32_INFINITY | (in_range ? r->mantissa | 1u : 1u);
}

static uint32_t finite(const struct rounded *r, int keeps_sign_of_zero, unsigned *flags)
{
    if (r->is_zero) {
        *flags |= TW_FLOAT_ZERO;
        return 0;
    }
    if (r->exponent <= 0) {
        *flags |= TW_FLOAT_ZERO | TW_FLOAT_TINY;
        return keeps_sign_of_zero ? r->sign : 0;
    }
    if (r->exponent >= 255) {
        *flags |= TW_FLOAT_INFINITY | TW_FLOAT_HUGE;
        return r->sign | FP32_INFINITY;
    }
    return r->sign | (uint32_t)r->exponent << 23 | r->mantissa;
}

uint32_t tw_bf16_sum(const struct tw_bf16_lane *lane, unsigned *flags)
{
    struct specials s = {0, 0, 0};
    struct term terms[TW_BF16_PAIRS_MAX + 2];
    unsigned n = 0;
    for (unsigned i = 0; i < lane->pairs; i++)
        terms[n++] = product(lane->a[i], lane->b[i], &s);
    terms[n++] = accumulator(lane->acc1, &s);
    terms[n++] = accumulator(lane->acc2, &s);
    int exponent = 0;
    for (unsigned i = 0; i < n; i++)
        exponent = larger(exponent, terms[i].exponent);
    int64_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += align(terms[i], exponent);
    struct rounded r = round_sum(sum, exponent);
    if (s.nan || (s.positive_infinity && s.negative_infinity)) {
        *flags |= TW_FLOAT_INVALID;
        return not_a_number(&r);
    }
    if (s.positive_infinity || s.negative_infinity) {
        *flags |= TW_FLOAT_INFINITY;
        return s.negative_infinity ? FP32_SIGN | FP32_INFINITY : FP32_INFINITY;
    }
    return finite(&r, lane->keeps_sign_of_zero, flags);
}

static void load_accumulators(struct tw_bf16_lane *lane, const void *acc1, const void *acc2, unsigned i)
{
    lane->acc1 = (uint32_t)tw_lane(acc1, 32, i);
    lane->acc2 = acc2 != NULL ? (uint32_t)tw_lane(acc2, 32, i) : 0;
}

unsigned tw_plain_bf16_matrix(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct tw_bf16_lane lane = {.pairs = 8};
        load_accumulators(&lane, acc1, acc2, i);
        for (unsigned t = 0; t < 8; t++) {
            lane.a[t] = (uint16_t)tw_lane(a, 16, 8 * (i / 4) + t);
            lane.b[t] = (uint16_t)tw_lane(b, 16, 4 * t + i % 4);
        }
        tw_set_lane(out, 32, i, tw_bf16_sum(&lane, &flags));
    }
    return flags;
}

unsigned tw_plain_bf16_elements(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct tw_bf16_lane lane = {.pairs = 2};
        load_accumulators(&lane, acc1, acc2, i);
        for (unsigned t = 0; t < 2; t++) {
            lane.a[t] = (uint16_t)tw_lane(a, 16, i + 16 * t);
            lane.b[t] = (uint16_t)tw_lane(b, 16, i + 16 * t);
        }
        tw_set_lane(out, 32, i, tw_bf16_sum(&lane, &flags));
    }
    return flags;
}

unsigned tw_plain_fp32_add(const void *acc1, const void *acc2, void *out)
{
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct tw_bf16_lane lane = {.keeps_sign_of_zero = 1};
        load_accumulators(&lane, acc1, acc2, i);
        tw_set_lane(out, 32, i, tw_bf16_sum(&lane, &flags));
    }
    return flags;
}
