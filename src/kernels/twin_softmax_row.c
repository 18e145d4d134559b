#include "kernels/twin_softmax_row.h"

#include "kernels/twin_float.h"

/* The constants of softmax_row.s: bf16 patterns of four digits, fp32 patterns of eight. */
enum {
    LOG2E_HIGH = 0x3fb9,
    LOG2E_LOW = 0xbb2c,
    P1_HIGH = 0x3f31,
    P3_HIGH = 0x3d62,
    P3_LOW = 0xb68a,
    MAGIC = 0x4b40,
    ONE_BF16 = 0x3f80,
    HALF_BF16 = 0x3f00,
    MINUS_INFINITY = 0xff80,
    LANES = 16
};
static const uint32_t p0 = 0x3f7ffb49, p1_low = 0x3af31a98, p2 = 0x3e786f0d, offset = 0x44c00000, one = 0x3f800000,
                      minus_64 = 0xc2800000, guess = 0x7ef311c3;

/* A number in two parts. */
struct parts {
    uint16_t high, low;
};

static struct parts split(uint32_t value)
{
    struct parts p = {tw_twin_to_bf16(value), 0};

    p.low = tw_twin_to_bf16(tw_twin_sub(value, tw_twin_from_bf16(p.high)));
    return p;
}

static uint16_t greatest(const uint16_t *in, uint32_t n)
{
    uint16_t max = MINUS_INFINITY;

    for (uint32_t i = 0; i < n; i++)
        max = tw_twin_less_bf16(max, in[i]) ? in[i] : max;
    return max;
}

/* 2^y, with y = x * log2(e) + bias - 1536. */
static uint16_t exponential(uint16_t x, uint32_t bias, uint16_t least)
{
    x = tw_twin_less_bf16(x, least) ? least : x;
    uint32_t y = tw_twin_mac_pair(bias, x, LOG2E_HIGH, x, LOG2E_LOW);
    uint32_t n = tw_twin_mac_pair(y, ONE_BF16, MAGIC, ONE_BF16, 0);
    n = tw_twin_msc_pair(n, ONE_BF16, MAGIC, ONE_BF16, 0);
    uint16_t f = tw_twin_to_bf16(tw_twin_sub(y, n));
    uint16_t q = tw_twin_to_bf16(tw_twin_mac_pair(p2, f, P3_HIGH, f, P3_LOW));
    q = tw_twin_to_bf16(tw_twin_mac_pair(p1_low, f, q, f, 0));
    uint16_t power = tw_twin_to_bf16(tw_twin_mac_pair(p0, f, q, f, P1_HIGH));
    return (uint16_t)(power + (n >> 6)); /* the bits of 1536 + n end in 2^16 + n * 128 there */
}

/* The sum of the lanes, in the order of the kernel. */
static uint32_t total(uint32_t lanes[LANES])
{
    for (unsigned distance = LANES / 2; distance > 0; distance /= 2)
        for (unsigned i = 0; i < distance; i++)
            lanes[i] = tw_twin_add(lanes[i], lanes[i + distance]);
    return lanes[0];
}

static struct parts inverse_of(uint32_t sum)
{
    struct parts s = split(sum);
    uint16_t g = (uint16_t)((guess - sum) >> 16);
    uint32_t near = 0;

    for (int i = 0; i < 3; i++) {
        uint16_t d = tw_twin_to_bf16(tw_twin_msc_pair(one, s.high, g, s.low, g));
        near = tw_twin_mac_pair(tw_twin_from_bf16(g), g, d, 0, d);
        g = tw_twin_to_bf16(near);
    }
    return split(near);
}

void tw_twin_softmax_row(const uint16_t *in, uint16_t *out, uint32_t blocks)
{
    uint32_t n = blocks * TW_SOFTMAX_BLOCK, lanes[LANES] = {0};
    uint16_t max = greatest(in, n);
    uint32_t bias = tw_twin_msc_pair(offset, max, LOG2E_HIGH, max, LOG2E_LOW);
    uint16_t least = tw_twin_to_bf16(tw_twin_mac_pair(minus_64, max, HALF_BF16, max, HALF_BF16));

    for (uint32_t i = 0; i < n; i++)
        out[i] = exponential(in[i], bias, least);
    for (uint32_t i = 0; i < n; i += TW_SOFTMAX_BLOCK)
        for (unsigned k = 0; k < LANES; k++)
            lanes[k] = tw_twin_mac_pair(lanes[k], out[i + k], ONE_BF16, out[i + LANES + k], ONE_BF16);
    struct parts inverse = inverse_of(total(lanes));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t result = tw_twin_mac_pair(0, out[i], inverse.low, 0, 0);
        out[i] = tw_twin_to_bf16(tw_twin_mac_pair(result, out[i], inverse.high, 0, 0));
    }
}
