/*
 * Half-precision numbers: IEEE binary16 and bfloat16, bit patterns held in uint16_t. These scalar conversions define the
 * right answer; vector code must agree bit for bit (any NaN may become any NaN).
 */
#ifndef TW_BASE_HALF_H
#define TW_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t tw_float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float tw_bits_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline float tw_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exponent = (h >> 10) & 0x1fu;
    uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0x1f)
        return tw_bits_float(sign | 0x7f800000u | mantissa << 13);
    if (exponent != 0)
        return tw_bits_float(sign | (exponent + 112) << 23 | mantissa << 13);
    /* Denormal: mantissa * 2^-24, exact in float. */
    float value = (float)mantissa * 0x1p-24f;
    return sign ? -value : value;
}

/* Rounds to nearest, ties to even; overflows to infinity. */
static inline uint16_t tw_f32_to_f16(float f)
{
    uint32_t u = tw_float_bits(f);
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000u);
    u &= 0x7fffffffu;
    if (u > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (u >= 0x477ff000u) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (u < 0x38800000u) { /* below 2^-14: adding 0.5 lets the hardware round the mantissa to a multiple of 2^-24 */
        float shifted = tw_bits_float(u) + 0.5f;
        return (uint16_t)(sign | (tw_float_bits(shifted) - 0x3f000000u));
    }
    uint32_t odd = u >> 13 & 1u;
    return (uint16_t)(sign | (u - 0x38000000u + 0xfffu + odd) >> 13);
}

static inline float tw_bf16_to_f32(uint16_t b)
{
    return tw_bits_float((uint32_t)b << 16);
}

/* Rounds to nearest, ties to even; NaNs stay NaNs. */
static inline uint16_t tw_f32_to_bf16(float f)
{
    uint32_t u = tw_float_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

#endif
