/* Conversions between bf16, fp32 and int32, and the order of bf16 numbers. */
#include "lanes.h"
#include "plain.h"

#define BF16_SIGN 0x8000u
#define BF16_MAGNITUDE 0x7fffu
#define BF16_INFINITY 0x7f80u
#define FP32_MAGNITUDE 0x7fffffffu
#define FP32_INFINITY 0x7f800000u

int tw_bf16_is_nan(uint16_t a)
{
    return (a & BF16_MAGNITUDE) > BF16_INFINITY;
}

static int sign_magnitude_order(uint16_t a)
{
    return a & BF16_SIGN ? -(int)(a & BF16_MAGNITUDE) - 1 : a;
}

int tw_bf16_less(uint16_t a, uint16_t b)
{
    return !tw_bf16_is_nan(a) && !tw_bf16_is_nan(b) && sign_magnitude_order(a) < sign_magnitude_order(b);
}

/* Whether the magnitude grows by one: the numbering of crRnd 0..3 differs from that of srs. */
static int magnitude_rounds_up(unsigned rounding, unsigned guard, unsigned rest, unsigned odd, unsigned negative)
{
    switch (rounding) {
    case 0: /* to minus infinity */
        return negative & (guard | rest);
    case 1: /* to plus infinity */
        return (negative ^ 1u) & (guard | rest);
    case 3: /* away from zero */
        return guard | rest;
    case TW_ROUND_HALF_DOWN:
        return guard & (negative | rest);
    case TW_ROUND_HALF_UP:
        return guard & ((negative ^ 1u) | rest);
    case TW_ROUND_HALF_TO_ZERO:
        return guard & rest;
    case TW_ROUND_HALF_AWAY:
        return guard;
    case TW_ROUND_HALF_EVEN:
        return guard & (odd | rest);
    case TW_ROUND_HALF_ODD:
        return guard & ((odd ^ 1u) | rest);
    default: /* 2: to zero */
        return 0;
    }
}

static unsigned narrowed_flags(uint32_t before, unsigned after)
{
    unsigned magnitude = after & BF16_MAGNITUDE;
    unsigned flags = magnitude == 0 ? TW_FLOAT_ZERO : 0;
    if (magnitude == BF16_INFINITY)
        flags |= (before & FP32_MAGNITUDE) == FP32_INFINITY ? TW_FLOAT_INFINITY : TW_FLOAT_INFINITY | TW_FLOAT_HUGE;
    if (magnitude == 0 && (before & FP32_MAGNITUDE) != 0)
        flags |= TW_FLOAT_TINY;
    return flags;
}

uint16_t tw_fp32_to_bf16_lane(unsigned rounding, uint32_t x, unsigned *flags)
{
    unsigned kept = x >> 16;
    if ((x & FP32_MAGNITUDE) > FP32_INFINITY) {
        *flags |= TW_FLOAT_INVALID;
        return (uint16_t)((kept & 0x7fu) == 0 ? kept | 1u : kept);
    }
    kept += (unsigned)magnitude_rounds_up(rounding, x >> 15 & 1u, (x & 0x7fffu) != 0, kept & 1u, x >> 31);
    *flags |= narrowed_flags(x, kept);
    return (uint16_t)kept;
}

void tw_plain_bf16_to_fp32(const void *in, void *out)
{
    for (unsigned i = 0; i < 16; i++)
        tw_set_lane(out, 32, i, tw_lane(in, 16, i) << 16);
}

unsigned tw_plain_fp32_to_bf16(unsigned rounding, const void *in, void *out)
{
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++)
        tw_set_lane(out, 16, i, tw_fp32_to_bf16_lane(rounding, (uint32_t)tw_lane(in, 32, i), &flags));
    return flags;
}

/* floor(+-mantissa * 2^exponent), clamped to int32. */
static int32_t floor_scaled(int64_t mantissa, int exponent, unsigned *flags)
{
    if (exponent < 0) {
        unsigned right = exponent < -62 ? 62u : (unsigned)-exponent;
        int64_t whole = (int64_t)((uint64_t)(mantissa < 0 ? -mantissa : mantissa) >> right);
        int exact = mantissa == 0 || (exponent >= -62 && (mantissa & (int64_t)((UINT64_C(1) << right) - 1)) == 0);
        mantissa = mantissa < 0 ? -whole - !exact : whole;
    } else if (exponent > 32) {
        mantissa = mantissa < 0 ? INT64_MIN : mantissa > 0 ? INT64_MAX : 0;
    } else {
        mantissa *= INT64_C(1) << exponent;
    }
    if (mantissa >= INT32_MIN && mantissa <= INT32_MAX)
        return (int32_t)mantissa;
    *flags |= TW_FLOAT_HUGE;
    return mantissa < 0 ? INT32_MIN : INT32_MAX;
}

int32_t tw_floor_lane(int shift, uint16_t x, unsigned *flags)
{
    if (tw_bf16_is_nan(x)) {
        *flags |= TW_FLOAT_INVALID;
        return INT32_MAX;
    }
    int biased = x >> 7 & 0xff;
    int64_t mantissa = (x & 0x7f) | (biased != 0 ? 0x80 : 0);
    /* A mantissa of 8 bits stands for a value 2^7 times smaller than its exponent says. */
    int exponent = (biased != 0 ? biased : 1) - 127 - 7 + shift;
    int32_t result = floor_scaled(x & BF16_SIGN ? -mantissa : mantissa, exponent, flags);
    if (result == 0)
        *flags |= mantissa == 0 ? TW_FLOAT_ZERO : TW_FLOAT_ZERO | TW_FLOAT_TINY;
    return result;
}
