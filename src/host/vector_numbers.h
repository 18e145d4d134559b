/* Stored numbers to vectors of floats and back, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_NUMBERS_H
#define TW_HOST_VECTOR_NUMBERS_H

#include "host/kernels.h"
#include "host/vector.h"

#include <string.h>

/*
 * Terms that are added up in one register before they join a larger sum. A float sum of many equal terms drifts in
 * proportion to their number: with 64 it stays near 2^-20 of the whole, with 256 it would be at 2^-18, and 32 would
 * cost the register tile a twentieth of its speed.
 */
#define TERMS 64

#define PAIRS (2 * LANES)
#define BLOCK 32 /* numbers of a quantised block; other types are taken in the same steps */

/* Bytes of n numbers, of whole blocks; the type is a constant. */
INLINE size_t bytes_of(enum tw_type type, int64_t n)
{
    switch (type) {
    case TW_F16:
    case TW_BF16:
        return (size_t)n * 2;
    case TW_Q5_0:
        return (size_t)n / BLOCK * 22;
    case TW_Q8_0:
        return (size_t)n / BLOCK * 34;
    default:
        return (size_t)n * 4;
    }
}

/* LANES stored numbers from number i of a row. Not for quantised types. */
INLINE V widen_at(enum tw_type type, const unsigned char *row, int64_t i)
{
    switch (type) {
    case TW_F16:
        return v_load_f16(row + 2 * i);
    case TW_BF16:
        return v_load_bf16(row + 2 * i);
    default:
        return v_load_bytes(row + 4 * i);
    }
}

/* Lanes [0, n) of stored numbers, n < LANES, zeros above. Not for quantised types. */
INLINE V widen_some(enum tw_type type, const unsigned char *p, int64_t n)
{
    unsigned char some[LANES * sizeof(float)] = {0};
    memcpy(some, p, bytes_of(type, n));
    return widen_at(type, some, 0);
}

/* The BLOCK stored numbers from number i of a row; i a multiple of BLOCK. */
INLINE void widen_block(enum tw_type type, const unsigned char *row, int64_t i, V *x)
{
    if (type == TW_Q5_0)
        v_load_q5_0(row + i / BLOCK * 22, x);
    else if (type == TW_Q8_0)
        v_load_q8_0(row + i / BLOCK * 34, x);
    else
        EACH (s, BLOCK / LANES)
            x[s] = widen_at(type, row, i + s * LANES);
}

INLINE void widen_row(enum tw_type type, const unsigned char *src, float *dst, int64_t n)
{
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        V x[BLOCK / LANES];
        widen_block(type, src, i, x);
        EACH (s, BLOCK / LANES)
            v_store(dst + i + s * LANES, x[s]);
    }
    for (; i + LANES <= n; i += LANES)
        v_store(dst + i, widen_at(type, src, i));
    if (i < n)
        v_store_n(dst + i, widen_some(type, src + bytes_of(type, i), n - i), n - i);
}

static void widen(enum tw_type type, const void *src, float *dst, int64_t n)
{
    switch (type) {
    case TW_F16:
        widen_row(TW_F16, src, dst, n);
        break;
    case TW_BF16:
        widen_row(TW_BF16, src, dst, n);
        break;
    case TW_Q5_0:
        widen_row(TW_Q5_0, src, dst, n);
        break;
    case TW_Q8_0:
        widen_row(TW_Q8_0, src, dst, n);
        break;
    default:
        memcpy(dst, src, (size_t)n * sizeof *dst);
    }
}

/* LANES numbers to number i of a row, rounded. Not for quantised types, here and below. */
INLINE void narrow_at(enum tw_type type, unsigned char *row, int64_t i, V x)
{
    switch (type) {
    case TW_F16:
        v_store_f16(row + 2 * i, x);
        break;
    case TW_BF16:
        v_store_bf16(row + 2 * i, x);
        break;
    default:
        v_store_bytes(row + 4 * i, x);
    }
}

/* 2 * LANES of them. */
INLINE void narrow_two(enum tw_type type, unsigned char *row, int64_t i, const V *x)
{
    if (type == TW_BF16) {
        v_store_two_bf16(row + 2 * i, x);
        return;
    }
    narrow_at(type, row, i, x[0]);
    narrow_at(type, row, i + LANES, x[1]);
}

/* The first n <= LANES of x. */
INLINE void narrow_some(enum tw_type type, unsigned char *row, int64_t i, V x, int64_t n)
{
    unsigned char some[LANES * sizeof(float)];
    narrow_at(type, some, 0, x);
    memcpy(row + bytes_of(type, i), some, bytes_of(type, n));
}

INLINE void narrow_row(enum tw_type type, const float *src, unsigned char *to, int64_t n)
{
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        V x[2] = {v_load(src + i), v_load(src + i + LANES)};
        narrow_two(type, to, i, x);
    }
    if (i + LANES <= n) {
        narrow_at(type, to, i, v_load(src + i));
        i += LANES;
    }
    if (i < n)
        narrow_some(type, to, i, v_load_n(src + i, n - i), n - i);
}

static void narrow(enum tw_type type, const float *src, void *dst, int64_t n)
{
    if (type == TW_F16)
        narrow_row(TW_F16, src, dst, n);
    else if (type == TW_BF16)
        narrow_row(TW_BF16, src, dst, n);
    else
        tw_row_from_f32(type, src, dst, n);
}

#endif
