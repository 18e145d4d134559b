#include "kernels/twin_gelu.h"

#include "kernels/twin_float.h"

/* The names and numbers of job_gelu.s. */
enum {
    UNITS = 0x45400000,
    POSITIVE = 0x7fffffff,
    FRACTION = 0x03ff,
    TO_MANTISSA = 8192,
    EXPONENT = 0x32800000,
    E1 = -2500,
    E2 = 1850,
    E3 = 650,
    GREATEST = 32767,
    ONE = 32768 /* of u / 8 */
};
static const int32_t g[6] = {25600, -4694, -15404, -11633, 10112, -3854};

/* value / 2^by to nearest, ties to even, as a number of 16 bits. */
static int32_t shift(int32_t value, unsigned by)
{
    int64_t step = (int64_t)1 << by, floor = value >= 0 ? value / step : -((-(int64_t)value + step - 1) / step);
    int64_t rest = 2 * (value - floor * step);

    floor += rest > step || (rest == step && (floor & 1) != 0);
    return floor > GREATEST ? GREATEST : floor < -GREATEST ? -GREATEST : (int32_t)floor;
}

/* erfc(|x| / sqrt 2) / 2 as a float. */
static uint32_t tail(uint32_t x)
{
    uint32_t steps = tw_twin_add(x, UNITS) - UNITS;
    int32_t size = shift(steps > POSITIVE ? -1 - (int32_t)~steps : (int32_t)steps, 0);
    int32_t q = g[5];

    size = size < 0 ? -size : size;
    for (unsigned i = 4; i > 0; i -= 2) {
        q = shift(q * size + g[i] * ONE, 15);
        q = shift(q * size, 15) + g[i - 1];
    }
    q = shift(q * size, 14) + g[0];
    int32_t f = q & FRACTION, mantissa = shift((shift(E3 * f, 10) + E2) * f, 10) + E1;
    return (uint32_t)(EXPONENT + q * TO_MANTISSA + mantissa * f);
}

uint32_t tw_twin_gelu(uint32_t x)
{
    uint32_t q = tail(x), size = x & POSITIVE, y = x > POSITIVE ? 0 : x;
    uint16_t size_high = tw_twin_to_bf16(size), q_high = tw_twin_to_bf16(q);
    uint16_t size_low = tw_twin_to_bf16(tw_twin_sub(size, tw_twin_from_bf16(size_high)));

    return tw_twin_msc_pair(y, size_high, q_high, size_low, q_high);
}
