/* Lane by lane arithmetic of the mv slot. */
#include "lanes.h"
#include "plain.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a < b ? b : a;
}

static int64_t combine(enum tw_lane_operation operation, int64_t a, int64_t b)
{
    switch (operation) {
    case TW_LANES_ADD:
        return a + b;
    case TW_LANES_SUB:
        return a - b;
    case TW_LANES_MAX:
        return larger(a, b);
    case TW_LANES_MIN:
        return a < b ? a : b;
    default:
        return larger(a - b, 0);
    }
}

void tw_plain_lanes(enum tw_lane_operation operation, unsigned bits, int is_signed, const void *a, const void *b,
                    void *out)
{
    for (unsigned i = 0; i < 8 * TW_X_BYTES / bits; i++)
        tw_set_lane(
            out, bits, i,
            (uint64_t)combine(operation, tw_lane_value(a, bits, i, is_signed), tw_lane_value(b, bits, i, is_signed)));
}

uint64_t tw_plain_less(unsigned bits, int is_signed, const void *a, const void *b)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8 * TW_X_BYTES / bits; i++)
        mask |= (uint64_t)(tw_lane_value(a, bits, i, is_signed) < tw_lane_value(b, bits, i, is_signed)) << i;
    return mask;
}

void tw_plain_select(unsigned bits, uint64_t mask, const void *a, const void *b, void *out)
{
    for (unsigned i = 0; i < 8 * TW_X_BYTES / bits; i++)
        tw_set_lane(out, bits, i, tw_lane(mask >> i & 1u ? b : a, bits, i));
}
