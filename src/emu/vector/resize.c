/* Lanes that become narrower or wider: shift-round-saturate, upshift, pack, unpack. */
#include "lanes.h"
#include "plain.h"

int tw_rounding_is_known(unsigned rounding)
{
    return rounding <= 3 || (rounding >= 8 && rounding <= 13);
}

/* Whether a value that was cut is made one larger. guard: the highest bit cut off; rest: any lower one. */
static int rounds_up(unsigned rounding, int guard, int rest, int odd, int negative)
{
    switch (rounding) {
    case TW_ROUND_CEIL:
        return guard | rest;
    case TW_ROUND_TO_ZERO:
        return negative & (guard | rest);
    case TW_ROUND_FROM_ZERO:
        return !negative && (guard | rest);
    case TW_ROUND_HALF_DOWN:
        return guard & rest;
    case TW_ROUND_HALF_UP:
        return guard;
    case TW_ROUND_HALF_TO_ZERO:
        return guard & (negative | rest);
    case TW_ROUND_HALF_AWAY:
        return guard && (!negative || rest);
    case TW_ROUND_HALF_EVEN:
        return guard & (odd | rest);
    case TW_ROUND_HALF_ODD:
        return guard && (!odd || rest);
    default:
        return 0;
    }
}

/* x >> shift, rounded to minus infinity; right shifts of negative numbers are not left to the compiler. */
static int64_t shift_right(int64_t x, unsigned shift)
{
    return x < 0 ? (int64_t) ~(~(uint64_t)x >> shift) : (int64_t)((uint64_t)x >> shift);
}

/* The range of a lane. Symmetric saturation leaves out the most negative number. */
static void lane_range(unsigned bits, int is_signed, int symmetric, int64_t *low, int64_t *high)
{
    uint64_t half = UINT64_C(1) << (bits - 1);
    if (is_signed) {
        *high = (int64_t)(half - 1);
        *low = -*high - !symmetric;
    } else {
        *high = bits == 64 ? INT64_MAX : (int64_t)(2 * half - 1);
        *low = 0;
    }
}

static uint64_t saturate(const struct tw_resize *how, int64_t x, unsigned *overflow)
{
    int64_t low, high;
    lane_range(how->to, how->is_signed, how->saturate >> 1 & 1, &low, &high);
    if (x >= low && x <= high)
        return (uint64_t)x;
    *overflow = 1;
    if (!(how->saturate & 1))
        return (uint64_t)x;
    return (uint64_t)(x < low ? low : high);
}

/* x * 2^left, which may need more than 64 bits: what is out of range stays out of range. */
static uint64_t shift_left(const struct tw_resize *how, int64_t x, unsigned left, unsigned *overflow)
{
    const int64_t limit = INT64_MAX >> left;
    if (x <= limit && x >= -limit)
        return saturate(how, x * (INT64_C(1) << left), overflow);
    *overflow = 1;
    return how->saturate & 1 ? saturate(how, x < 0 ? INT64_MIN : INT64_MAX, overflow) : (uint64_t)x << left;
}

uint64_t tw_srs_lane(const struct tw_resize *how, int64_t x, unsigned *overflow)
{
    if (how->shift < 0)
        return shift_left(how, x, (unsigned)-how->shift, overflow);
    unsigned s = (unsigned)how->shift;
    int64_t t = shift_right(x, s);
    int guard = s > 0 && ((uint64_t)x >> (s - 1) & 1u) != 0;
    int rest = s > 1 && ((uint64_t)x & ((UINT64_C(1) << (s - 1)) - 1)) != 0;
    t += rounds_up(how->rounding, guard, rest, t & 1, x < 0);
    return saturate(how, t, overflow);
}

uint64_t tw_ups_lane(const struct tw_resize *how, int64_t x, unsigned *overflow)
{
    /* 32 bits shifted by up to 31 fit 64: the shift cannot lose anything before the clamp. */
    int64_t shifted = (int64_t)((uint64_t)x << how->shift);
    struct tw_resize accumulator = *how;
    accumulator.is_signed = 1;
    return saturate(&accumulator, shifted, overflow);
}

uint64_t tw_pack_lane(const struct tw_resize *how, int64_t x)
{
    unsigned overflow = 0;
    return saturate(how, x, &overflow);
}

unsigned tw_plain_srs(const struct tw_resize *how, const void *in, void *out)
{
    unsigned overflow = 0;
    for (unsigned i = 0; i < how->lanes; i++)
        tw_set_lane(out, how->to, i, tw_srs_lane(how, tw_lane_value(in, how->from, i, 1), &overflow));
    return overflow;
}

unsigned tw_plain_ups(const struct tw_resize *how, const void *in, void *out)
{
    unsigned overflow = 0;
    for (unsigned i = 0; i < how->lanes; i++)
        tw_set_lane(out, how->to, i, tw_ups_lane(how, tw_lane_value(in, how->from, i, how->is_signed), &overflow));
    return overflow;
}

void tw_plain_pack(const struct tw_resize *how, const void *in, void *out)
{
    for (unsigned i = 0; i < how->lanes; i++)
        tw_set_lane(out, how->to, i, tw_pack_lane(how, tw_lane_value(in, how->from, i, 1)));
}

void tw_plain_unpack(const struct tw_resize *how, const void *in, void *out)
{
    for (unsigned i = 0; i < how->lanes; i++)
        tw_set_lane(out, how->to, i, (uint64_t)tw_lane_value(in, how->from, i, how->is_signed));
}
