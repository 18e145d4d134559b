/*
 * The floating-point operations of the core that kernels' twins are made of, one lane each, bit for bit. bf16 numbers
 * and fp32 numbers are patterns. Results are never denormal; not a number comes out as some pattern of that kind.
 */
#ifndef TW_KERNELS_TWIN_FLOAT_H
#define TW_KERNELS_TWIN_FLOAT_H

#include <stdint.h>

#define TW_TWIN_PAIRS 8

/*
 * The multiplier: acc + a[0] * b[0] + ... + a[7] * b[7]. The nine terms are aligned to the greatest exponent, each
 * rounded to nearest even there, added exactly, and the sum is rounded once. Not a chain of roundings.
 */
uint32_t tw_twin_mac_bf16(uint32_t acc, const uint16_t a[TW_TWIN_PAIRS], const uint16_t b[TW_TWIN_PAIRS]);

/* The same with two pairs, as the elementwise form has them (lanes i and i + 16); and with the products taken away. */
uint32_t tw_twin_mac_pair(uint32_t acc, uint16_t a0, uint16_t b0, uint16_t a1, uint16_t b1);
uint32_t tw_twin_msc_pair(uint32_t acc, uint16_t a0, uint16_t b0, uint16_t a1, uint16_t b1);

/* a + b and a - b, by the same rules. */
uint32_t tw_twin_add(uint32_t a, uint32_t b);
uint32_t tw_twin_sub(uint32_t a, uint32_t b);

/* fp32 to bf16, to nearest, ties to even (rounding mode 12): denormals stay, what overflows is infinite. */
uint16_t tw_twin_to_bf16(uint32_t value);

static inline uint32_t tw_twin_from_bf16(uint16_t value)
{
    return (uint32_t)value << 16;
}

/* Whether a comes before b in the order in which bf16 numbers are compared: -0 comes before 0, NaN before nothing. */
int tw_twin_less_bf16(uint16_t a, uint16_t b);

#endif
