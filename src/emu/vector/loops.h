/*
 * Vector functions as plain loops that compilers turn into the vector instructions of whatever they compile for:
 * included by the file of each instruction set. Each equals its definition in plain.h.
 */
#ifndef TW_EMU_VECTOR_LOOPS_H
#define TW_EMU_VECTOR_LOOPS_H

#include "lanes.h"
#include "mac.h"
#include "plain.h"

#include <string.h>

/* ---- resizes */

/* Whether to round up, by four bits: guard, rest, odd, negative (the lowest first); one bit for each case. */
static const uint16_t round_up_cases[16] = {
    [TW_ROUND_CEIL] = 0xeeee,      [TW_ROUND_TO_ZERO] = 0xee00,   [TW_ROUND_FROM_ZERO] = 0x00ee,
    [TW_ROUND_HALF_DOWN] = 0x8888, [TW_ROUND_HALF_UP] = 0xaaaa,   [TW_ROUND_HALF_TO_ZERO] = 0xaa88,
    [TW_ROUND_HALF_AWAY] = 0x88aa, [TW_ROUND_HALF_EVEN] = 0xa8a8, [TW_ROUND_HALF_ODD] = 0x8a8a,
};

struct lane_limits {
    int64_t low, high; /* the range of a lane */
    int clamps;
};

static inline struct lane_limits lane_limits(const struct tw_resize *how, int is_signed)
{
    uint64_t half = UINT64_C(1) << (how->to - 1);
    struct lane_limits l = {0, (int64_t)(2 * half - 1), how->saturate & 1};
    if (is_signed) {
        l.high = (int64_t)(half - 1);
        l.low = -l.high - !(how->saturate & 2);
    }
    return l;
}

/* Defines a shift-round-saturate of `lanes` lanes of type T (unsigned U) that gives lanes of type TO. */
#define SRS_LOOP(name, T, U, TO, lanes)                                                                                \
    static unsigned name(const struct tw_resize *how, const void *in, void *out)                                       \
    {                                                                                                                  \
        T x[lanes];                                                                                                    \
        TO y[lanes];                                                                                                   \
        const struct lane_limits l = lane_limits(how, how->is_signed);                                                 \
        const T low = (T)l.low, high = (T)l.high;                                                                      \
        const U cases = round_up_cases[how->rounding], s = (U)how->shift;                                              \
        const U guard_bit = s > 0 ? (U)1 << (s - 1) : 0, rest_bits = s > 0 ? guard_bit - 1 : 0;                        \
        U outside = 0;                                                                                                 \
        memcpy(x, in, sizeof x);                                                                                       \
        for (unsigned i = 0; i < lanes; i++) {                                                                         \
            T t = x[i] >> s;                                                                                           \
            U index = (U)(((U)x[i] & guard_bit) != 0) | (U)(((U)x[i] & rest_bits) != 0) << 1 | ((U)t & 1) << 2 |       \
                      (U)(x[i] < 0) << 3;                                                                              \
            t += (T)(cases >> index & 1);                                                                              \
            outside |= (U)(t < low) | (U)(t > high);                                                                   \
            T clamped = t < low ? low : t > high ? high : t;                                                           \
            y[i] = (TO)(l.clamps ? clamped : t);                                                                       \
        }                                                                                                              \
        memcpy(out, y, sizeof y);                                                                                      \
        return (unsigned)outside;                                                                                      \
    }

SRS_LOOP(srs_32_8, int32_t, uint32_t, uint8_t, 32)
SRS_LOOP(srs_32_16, int32_t, uint32_t, uint16_t, 16)
SRS_LOOP(srs_32_16_wide, int32_t, uint32_t, uint16_t, 32)
SRS_LOOP(srs_64_16, int64_t, uint64_t, uint16_t, 16)
SRS_LOOP(srs_64_32, int64_t, uint64_t, uint32_t, 8)
SRS_LOOP(srs_64_32_wide, int64_t, uint64_t, uint32_t, 16)

static unsigned loop_srs(const struct tw_resize *how, const void *in, void *out)
{
    if (how->shift < 0)
        return tw_plain_srs(how, in, out);
    switch (how->from << 16 | how->to << 8 | how->lanes) {
    case 32 << 16 | 8 << 8 | 32:
        return srs_32_8(how, in, out);
    case 32 << 16 | 16 << 8 | 16:
        return srs_32_16(how, in, out);
    case 32 << 16 | 16 << 8 | 32:
        return srs_32_16_wide(how, in, out);
    case 64 << 16 | 16 << 8 | 16:
        return srs_64_16(how, in, out);
    case 64 << 16 | 32 << 8 | 8:
        return srs_64_32(how, in, out);
    case 64 << 16 | 32 << 8 | 16:
        return srs_64_32_wide(how, in, out);
    default:
        return tw_plain_srs(how, in, out);
    }
}

/* Defines an upshift; T has room for every shifted value. */
#define UPS_LOOP(name, FROM, T, TO, lanes)                                                                             \
    static unsigned name(const struct tw_resize *how, const void *in, void *out)                                       \
    {                                                                                                                  \
        FROM x[lanes];                                                                                                 \
        TO y[lanes];                                                                                                   \
        const struct lane_limits l = lane_limits(how, 1);                                                              \
        const T low = (T)l.low, high = (T)l.high;                                                                      \
        const unsigned s = (unsigned)how->shift;                                                                       \
        unsigned outside = 0;                                                                                          \
        memcpy(x, in, sizeof x);                                                                                       \
        for (unsigned i = 0; i < lanes; i++) {                                                                         \
            T t = (T)((uint64_t)(T)x[i] << s);                                                                         \
            outside |= (unsigned)(t < low) | (unsigned)(t > high);                                                     \
            T clamped = t < low ? low : t > high ? high : t;                                                           \
            y[i] = (TO)(l.clamps ? clamped : t);                                                                       \
        }                                                                                                              \
        memcpy(out, y, sizeof y);                                                                                      \
        return outside;                                                                                                \
    }
#define UPS_LOOPS(from, to, lanes)                                                                                     \
    UPS_LOOP(ups_s##from##_##to##_##lanes, int##from##_t, int64_t, uint##to##_t, lanes)                                \
    UPS_LOOP(ups_u##from##_##to##_##lanes, uint##from##_t, int64_t, uint##to##_t, lanes)

UPS_LOOPS(8, 32, 32)
UPS_LOOPS(16, 32, 16)
UPS_LOOPS(16, 32, 32)
UPS_LOOPS(16, 64, 16)
UPS_LOOPS(32, 64, 8)
UPS_LOOPS(32, 64, 16)

static unsigned loop_ups(const struct tw_resize *how, const void *in, void *out)
{
    switch (how->from << 16 | how->to << 8 | how->lanes) {
    case 8 << 16 | 32 << 8 | 32:
        return how->is_signed ? ups_s8_32_32(how, in, out) : ups_u8_32_32(how, in, out);
    case 16 << 16 | 32 << 8 | 16:
        return how->is_signed ? ups_s16_32_16(how, in, out) : ups_u16_32_16(how, in, out);
    case 16 << 16 | 32 << 8 | 32:
        return how->is_signed ? ups_s16_32_32(how, in, out) : ups_u16_32_32(how, in, out);
    case 16 << 16 | 64 << 8 | 16:
        return how->is_signed ? ups_s16_64_16(how, in, out) : ups_u16_64_16(how, in, out);
    case 32 << 16 | 64 << 8 | 8:
        return how->is_signed ? ups_s32_64_8(how, in, out) : ups_u32_64_8(how, in, out);
    case 32 << 16 | 64 << 8 | 16:
        return how->is_signed ? ups_s32_64_16(how, in, out) : ups_u32_64_16(how, in, out);
    default:
        return tw_plain_ups(how, in, out);
    }
}

static inline int8_t pack_lane(int x, int low, int high, int clamps)
{
    int clamped = x < low ? low : x > high ? high : x;
    return (int8_t)(clamps ? clamped : x);
}

static void loop_pack(const struct tw_resize *how, const void *in, void *out)
{
    const struct lane_limits l = lane_limits(how, how->is_signed);
    const int low = (int)l.low, high = (int)l.high;
    uint8_t y[32];
    if (how->from == 16 && how->to == 8 && how->lanes == 32) {
        int16_t x[32];
        memcpy(x, in, sizeof x);
        for (unsigned i = 0; i < 32; i++)
            y[i] = (uint8_t)pack_lane(x[i], low, high, l.clamps);
    } else if (how->from == 8 && how->to == 4 && how->lanes == 64) {
        int8_t x[64];
        memcpy(x, in, sizeof x);
        for (unsigned i = 0; i < 32; i++)
            y[i] = (uint8_t)((pack_lane(x[2 * i], low, high, l.clamps) & 15) |
                             (pack_lane(x[2 * i + 1], low, high, l.clamps) & 15) << 4);
    } else {
        tw_plain_pack(how, in, out);
        return;
    }
    memcpy(out, y, sizeof y);
}

static void loop_unpack(const struct tw_resize *how, const void *in, void *out)
{
    uint8_t x[32];
    memcpy(x, in, sizeof x);
    if (how->from == 8 && how->to == 16 && how->lanes == 32) {
        uint16_t y[32];
        const unsigned sign = how->is_signed ? 0x80 : 0;
        for (unsigned i = 0; i < 32; i++)
            y[i] = (uint16_t)((x[i] ^ sign) - sign);
        memcpy(out, y, sizeof y);
    } else if (how->from == 4 && how->to == 8 && how->lanes == 64) {
        uint8_t y[64];
        const unsigned sign = how->is_signed ? 8 : 0;
        for (unsigned i = 0; i < 32; i++) {
            y[2 * i] = (uint8_t)(((x[i] & 15u) ^ sign) - sign);
            y[2 * i + 1] = (uint8_t)(((unsigned)(x[i] >> 4) ^ sign) - sign);
        }
        memcpy(out, y, sizeof y);
    } else {
        tw_plain_unpack(how, in, out);
    }
}

/* ---- float conversions */

static void loop_bf16_to_fp32(const void *in, void *out)
{
    uint16_t x[16];
    uint32_t y[16];
    memcpy(x, in, sizeof x);
    for (unsigned i = 0; i < 16; i++)
        y[i] = (uint32_t)x[i] << 16;
    memcpy(out, y, sizeof y);
}

/* As round_up_cases, for magnitudes: the first four modes are numbered differently for bf16. */
static const uint16_t magnitude_cases[16] = {
    [0] = 0xee00, [1] = 0x00ee,  [2] = 0x0000,  [3] = 0xeeee,  [8] = 0xaa88,
    [9] = 0x88aa, [10] = 0x8888, [11] = 0xaaaa, [12] = 0xa8a8, [13] = 0x8a8a,
};

static unsigned loop_fp32_to_bf16(unsigned rounding, const void *in, void *out)
{
    uint32_t x[16];
    uint16_t y[16];
    const uint32_t cases = magnitude_cases[rounding & 15u];
    uint32_t nans = 0, zeros = 0, tiny = 0, infinite = 0, huge = 0;
    memcpy(x, in, sizeof x);
    for (unsigned i = 0; i < 16; i++) {
        uint32_t magnitude = x[i] & 0x7fffffffu, kept = x[i] >> 16, nan = magnitude > 0x7f800000u;
        uint32_t index =
            (x[i] >> 15 & 1u) | (uint32_t)((x[i] & 0x7fffu) != 0) << 1 | (kept & 1u) << 2 | x[i] >> 31 << 3;
        uint32_t rounded = kept + (cases >> index & 1u), quiet = kept | (uint32_t)((kept & 0x7fu) == 0);
        uint32_t is_zero = (rounded & 0x7fffu) == 0, is_infinite = (rounded & 0x7fffu) == 0x7f80u;
        nans |= nan;
        zeros |= is_zero & (nan ^ 1u);
        tiny |= is_zero & (uint32_t)(magnitude != 0) & (nan ^ 1u);
        infinite |= is_infinite & (nan ^ 1u);
        huge |= is_infinite & (uint32_t)(magnitude != 0x7f800000u) & (nan ^ 1u);
        y[i] = (uint16_t)(nan ? quiet : rounded);
    }
    memcpy(out, y, sizeof y);
    return zeros * TW_FLOAT_ZERO | infinite * TW_FLOAT_INFINITY | nans * TW_FLOAT_INVALID | tiny * TW_FLOAT_TINY |
           huge * TW_FLOAT_HUGE;
}

/* ---- lanes */

#define LANES_LOOP(name, T, lanes)                                                                                     \
    static void name(enum tw_lane_operation operation, const void *a, const void *b, void *out)                        \
    {                                                                                                                  \
        T x[lanes], y[lanes], z[lanes];                                                                                \
        memcpy(x, a, sizeof x);                                                                                        \
        memcpy(y, b, sizeof y);                                                                                        \
        switch (operation) {                                                                                           \
        case TW_LANES_ADD:                                                                                             \
            for (unsigned i = 0; i < lanes; i++)                                                                       \
                z[i] = (T)((uint32_t)x[i] + (uint32_t)y[i]);                                                           \
            break;                                                                                                     \
        case TW_LANES_SUB:                                                                                             \
            for (unsigned i = 0; i < lanes; i++)                                                                       \
                z[i] = (T)((uint32_t)x[i] - (uint32_t)y[i]);                                                           \
            break;                                                                                                     \
        case TW_LANES_MAX:                                                                                             \
            for (unsigned i = 0; i < lanes; i++)                                                                       \
                z[i] = x[i] < y[i] ? y[i] : x[i];                                                                      \
            break;                                                                                                     \
        case TW_LANES_MIN:                                                                                             \
            for (unsigned i = 0; i < lanes; i++)                                                                       \
                z[i] = x[i] < y[i] ? x[i] : y[i];                                                                      \
            break;                                                                                                     \
        default:                                                                                                       \
            for (unsigned i = 0; i < lanes; i++)                                                                       \
                z[i] = x[i] > y[i] ? (T)((uint32_t)x[i] - (uint32_t)y[i]) : (T)0;                                      \
            break;                                                                                                     \
        }                                                                                                              \
        memcpy(out, z, sizeof z);                                                                                      \
    }

LANES_LOOP(lanes_s8, int8_t, 64)
LANES_LOOP(lanes_u8, uint8_t, 64)
LANES_LOOP(lanes_s16, int16_t, 32)
LANES_LOOP(lanes_u16, uint16_t, 32)
LANES_LOOP(lanes_s32, int32_t, 16)
LANES_LOOP(lanes_u32, uint32_t, 16)

static void loop_lanes(enum tw_lane_operation operation, unsigned bits, int is_signed, const void *a, const void *b,
                       void *out)
{
    if (bits == 8 && is_signed)
        lanes_s8(operation, a, b, out);
    else if (bits == 8)
        lanes_u8(operation, a, b, out);
    else if (bits == 16 && is_signed)
        lanes_s16(operation, a, b, out);
    else if (bits == 16)
        lanes_u16(operation, a, b, out);
    else if (is_signed)
        lanes_s32(operation, a, b, out);
    else
        lanes_u32(operation, a, b, out);
}

/* ---- integer products */

#define WIDEN(T, count)                                                                                                \
    do {                                                                                                               \
        T x[count];                                                                                                    \
        memcpy(x, vector, sizeof x);                                                                                   \
        for (unsigned i = 0; i < count; i++)                                                                           \
            out[i] = x[i];                                                                                             \
    } while (0)

/* All elements of a vector of 64 bytes; an element has at most 16 bits. */
static void widen(const void *vector, unsigned bits, int is_signed, int32_t out[128])
{
    if (bits == 8 && is_signed)
        WIDEN(int8_t, 64);
    else if (bits == 8)
        WIDEN(uint8_t, 64);
    else if (bits == 16 && is_signed)
        WIDEN(int16_t, 32);
    else if (bits == 16)
        WIDEN(uint16_t, 32);
    else
        for (unsigned i = 0; i < 128; i++)
            out[i] = (int32_t)tw_lane_value(vector, 4, i, is_signed);
}

static inline uint32_t product_32(int32_t a, int32_t b)
{
    return (uint32_t)a * (uint32_t)b;
}

static inline uint64_t product_64(int32_t a, int32_t b)
{
    return (uint64_t)((int64_t)a * b);
}

/* Defines sums of products in lanes of type U: matrices of N columns, element by element, and any other pattern. */
#define PRODUCT_LOOPS(U, width)                                                                                        \
    static void matrix_##width(unsigned k, unsigned rows, unsigned n, const int32_t *a, const int32_t *b, U *sum)      \
    {                                                                                                                  \
        for (unsigned m = 0; m < rows; m++)                                                                            \
            for (unsigned t = 0; t < k; t++)                                                                           \
                for (unsigned j = 0; j < n; j++)                                                                       \
                    sum[m * n + j] += product_##width(a[m * k + t], b[t * n + j]);                                     \
    }                                                                                                                  \
    static void elements_##width(unsigned k, unsigned n, const int32_t *a, const int32_t *b, U *sum)                   \
    {                                                                                                                  \
        for (unsigned t = 0; t < k; t++)                                                                               \
            for (unsigned i = 0; i < n; i++)                                                                           \
                sum[i] += product_##width(a[n * t + i], b[n * t + i]);                                                 \
    }                                                                                                                  \
    static void convolution_##width(unsigned k, unsigned n, unsigned lanes, const int32_t *a, const int32_t *b,        \
                                    U *sum)                                                                            \
    {                                                                                                                  \
        for (unsigned t = 0; t < k; t++)                                                                               \
            for (unsigned i = 0; i < lanes; i++)                                                                       \
                sum[i] += product_##width(a[n * t + i], b[n * t + i % n]);                                             \
    }                                                                                                                  \
    static void listed_##width(const struct tw_mac_mode *mode, unsigned lanes, const int32_t *a, const int32_t *b,     \
                               U *sum)                                                                                 \
    {                                                                                                                  \
        for (unsigned i = 0; i < lanes; i++) {                                                                         \
            for (unsigned t = 0; t < mode->k; t++) {                                                                   \
                unsigned f, g;                                                                                         \
                tw_mac_elements(mode, i, t, &f, &g);                                                                   \
                sum[i] += product_##width(a[f], b[g]);                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void products_##width(const struct tw_mac_mode *mode, const int32_t *a, const int32_t *b, void *out)        \
    {                                                                                                                  \
        enum { LANES = 1024 / width };                                                                                 \
        U sum[LANES] = {0};                                                                                            \
        if (mode->pattern == TW_MAC_MATRIX && mode->n == 8)                                                            \
            matrix_##width(mode->k, LANES / 8, 8, a, b, sum);                                                          \
        else if (mode->pattern == TW_MAC_MATRIX)                                                                       \
            matrix_##width(mode->k, LANES / 4, 4, a, b, sum);                                                          \
        else if (mode->pattern == TW_MAC_ELEMENTS)                                                                     \
            elements_##width(mode->k, LANES, a, b, sum);                                                               \
        else if (mode->pattern == TW_MAC_CHANNELS && mode->n == 1)                                                     \
            convolution_##width(mode->k, 1, LANES, a, b, sum);                                                         \
        else if (mode->pattern == TW_MAC_CHANNELS && mode->n == 4)                                                     \
            convolution_##width(mode->k, 4, LANES, a, b, sum);                                                         \
        else if (mode->pattern == TW_MAC_CHANNELS)                                                                     \
            convolution_##width(mode->k, 8, LANES, a, b, sum);                                                         \
        else                                                                                                           \
            listed_##width(mode, LANES, a, b, sum);                                                                    \
        memcpy(out, sum, sizeof sum);                                                                                  \
    }

PRODUCT_LOOPS(uint32_t, 32)
PRODUCT_LOOPS(uint64_t, 64)

static void loop_products(const struct tw_mac_mode *mode, int a_signed, int b_signed, const void *a, const void *b,
                          void *out)
{
    int32_t x[128], y[128];
    if (mode->a_bits > 16) {
        tw_plain_products(mode, a_signed, b_signed, a, b, out);
        return;
    }
    widen(a, mode->a_bits, a_signed, x);
    widen(b, mode->b_bits, b_signed, y);
    if (mode->lane_bits == 32)
        products_32(mode, x, y, out);
    else
        products_64(mode, x, y, out);
}

/* x or, when mask is all ones, -x: in all lanes of a sum. */
#define ACCUMULATE_LOOP(U, width)                                                                                      \
    static void accumulate_##width(const struct tw_accumulate *how, const void *acc1, const void *acc2,                \
                                   const void *products, void *out)                                                    \
    {                                                                                                                  \
        enum { LANES = 1024 / width };                                                                                 \
        U x[LANES], y[LANES] = {0}, p[LANES];                                                                          \
        const U mx = -(U)how->negates_acc1, my = -(U)how->negates_acc2, mp = -(U)how->negates_products;                \
        memcpy(x, acc1, sizeof x);                                                                                     \
        memcpy(p, products, sizeof p);                                                                                 \
        if (acc2 != NULL)                                                                                              \
            memcpy(y, acc2, sizeof y);                                                                                 \
        for (unsigned i = 0; i < LANES; i++)                                                                           \
            x[i] = (((x[i] << how->shift) ^ mx) - mx) + ((y[i] ^ my) - my) + ((p[i] ^ mp) - mp);                       \
        memcpy(out, x, sizeof x);                                                                                      \
    }

ACCUMULATE_LOOP(uint32_t, 32)
ACCUMULATE_LOOP(uint64_t, 64)

static void loop_accumulate(const struct tw_accumulate *how, const void *acc1, const void *acc2, const void *products,
                            void *out)
{
    if (how->lane_bits == 32)
        accumulate_32(how, acc1, acc2, products, out);
    else
        accumulate_64(how, acc1, acc2, products, out);
}

/* The matrix product of 8 by 8 bits, for which the sets have functions of their own. */
static inline int is_int8_matrix(const struct tw_mac_mode *mode)
{
    return mode->pattern == TW_MAC_MATRIX && mode->a_bits == 8 && mode->b_bits == 8;
}

#endif
