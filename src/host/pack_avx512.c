/* Packing with AVX-512 (F, BW, VL, DQ). */
#include "host/pack_kernels.h"

#include "host/vector.h"

#include <immintrin.h>

/*
 * Whole cache lines are written past the caches: packed weights are read by the device, or much later. Where lines are
 * not whole, that would be slow.
 */
INLINE void put(unsigned char *to, __m512i tile, int past_caches)
{
    if (past_caches)
        _mm512_stream_si512((__m512i *)(void *)to, tile);
    else
        _mm512_storeu_si512(to, tile);
}

/* 16 floats, rounded to bf16 that are the high halves; the low halves are of no meaning. */
INLINE __m512i rounded(__m512 x)
{
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(sum, nan, bits, _mm512_set1_epi32(0x400000));
}

/* The first of 16 numbers, those in mask, as high halves; the others are zero. */
INLINE __m512i high(enum tw_type type, const unsigned char *p, __mmask16 mask)
{
    if (type == TW_F32)
        return rounded(_mm512_maskz_loadu_ps(mask, p));
    const __m256i halves = _mm256_maskz_loadu_epi16(mask, p);
    if (type == TW_F16)
        return rounded(_mm512_cvtph_ps(halves));
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}

/* The high halves of a and b in turns. */
INLINE __m512i pairs(__m512i a, __m512i b)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(a, 16), b);
}

INLINE void two_tiles(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], size_t at, unsigned char *to,
                      size_t stride, int past_caches)
{
    const __m512i left = pairs(high(type, rows[0] + at, 0xffff), high(type, rows[1] + at, 0xffff));
    const __m512i right = pairs(high(type, rows[2] + at, 0xffff), high(type, rows[3] + at, 0xffff));
    /* A lane of these is two of the depth, so that a tile is two lanes of each. */
    const __m512i low = _mm512_unpacklo_epi32(left, right), up = _mm512_unpackhi_epi32(left, right);
    const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    put(to, _mm512_permutex2var_epi64(low, first, up), past_caches);
    put(to + stride, _mm512_permutex2var_epi64(low, second, up), past_caches);
}

INLINE void all_columns(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], int64_t groups,
                        unsigned char *to, size_t stride, int past_caches)
{
    const size_t bytes = 2 * TW_PACK_DEPTH * (type == TW_F32 ? sizeof(float) : sizeof(uint16_t));
    size_t at = 0;
    /* The next four columns most likely lie behind these; an address, for it may lie outside whatever is there. */
    const size_t next = TW_PACK_WIDTH * ((uintptr_t)rows[1] - (uintptr_t)rows[0]);
    for (int64_t g = 0; g < groups; g += 2, at += bytes, to += 2 * stride) {
        EACH (r, TW_PACK_WIDTH)
            _mm_prefetch((const char *)((uintptr_t)rows[r] + at + next), _MM_HINT_T0);
        two_tiles(type, rows, at, to, stride, past_caches);
    }
}

static void columns(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], int64_t groups,
                    unsigned char *to, size_t stride)
{
    const int past_caches = ((uintptr_t)to | stride) % TW_PACK_TILE_BYTES == 0;
    if (!past_caches)
        all_columns(type, rows, groups, to, stride, 0);
    else if (type == TW_F32)
        all_columns(TW_F32, rows, groups, to, stride, 1);
    else if (type == TW_F16)
        all_columns(TW_F16, rows, groups, to, stride, 1);
    else
        all_columns(TW_BF16, rows, groups, to, stride, 1);
}

/* 32 numbers in order, those in mask; the others are zero. */
INLINE __m512i in_order(enum tw_type type, const unsigned char *p, __mmask32 mask)
{
    if (type == TW_BF16)
        return _mm512_maskz_loadu_epi16(mask, p);
    const __m512i odd_words =
        _mm512_add_epi16(_mm512_slli_epi16(_mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                                            16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                           1),
                         _mm512_set1_epi16(1));
    const size_t bytes = 16 * (type == TW_F32 ? sizeof(float) : sizeof(uint16_t));
    return _mm512_permutex2var_epi16(high(type, p, (__mmask16)mask), odd_words,
                                     high(type, p + bytes, (__mmask16)(mask >> 16)));
}

/* Lane t of the four is tile 2 * t. */
INLINE void put_lanes(const __m512i x[4], int64_t tiles, unsigned char *to, int past_caches)
{
    const __m512i front_01 = _mm512_shuffle_i64x2(x[0], x[1], 0x44), front_23 = _mm512_shuffle_i64x2(x[2], x[3], 0x44);
    const __m512i back_01 = _mm512_shuffle_i64x2(x[0], x[1], 0xee), back_23 = _mm512_shuffle_i64x2(x[2], x[3], 0xee);
    const __m512i tile[4] = {
        _mm512_shuffle_i64x2(front_01, front_23, 0x88), _mm512_shuffle_i64x2(front_01, front_23, 0xdd),
        _mm512_shuffle_i64x2(back_01, back_23, 0x88), _mm512_shuffle_i64x2(back_01, back_23, 0xdd)};
    EACH (t, 4)
        if (2 * t < tiles)
            put(to + 2 * t * TW_PACK_TILE_BYTES, tile[t], past_caches);
}

/* At most eight tiles. */
INLINE void some_tiles(enum tw_type type, const unsigned char *const from[TW_PACK_DEPTH], size_t at, int64_t tiles,
                       unsigned char *to, int past_caches)
{
    const __mmask32 mask = tiles >= 8 ? 0xffffffffu : (1u << TW_PACK_WIDTH * tiles) - 1;
    __m512i row[TW_PACK_DEPTH], even[4], odd[4];
    EACH (r, TW_PACK_DEPTH)
        row[r] = in_order(type, from[r] + at, mask);
    EACH (i, 4) {
        even[i] = _mm512_unpacklo_epi64(row[2 * i], row[2 * i + 1]);
        odd[i] = _mm512_unpackhi_epi64(row[2 * i], row[2 * i + 1]);
    }
    put_lanes(even, tiles, to, past_caches);
    put_lanes(odd, tiles - 1, to + TW_PACK_TILE_BYTES, past_caches);
}

INLINE void all_rows(enum tw_type type, const unsigned char *const from[TW_PACK_DEPTH], int64_t tiles,
                     unsigned char *to, int past_caches)
{
    const size_t bytes = TW_PACK_WIDTH * (type == TW_F32 ? sizeof(float) : sizeof(uint16_t));
    int64_t t = 0;
    for (; t + 8 <= tiles; t += 8)
        some_tiles(type, from, (size_t)t * bytes, 8, to + t * TW_PACK_TILE_BYTES, past_caches);
    if (t < tiles)
        some_tiles(type, from, (size_t)t * bytes, tiles - t, to + t * TW_PACK_TILE_BYTES, past_caches);
}

static void rows(enum tw_type type, const unsigned char *const from[TW_PACK_DEPTH], int64_t tiles, unsigned char *to)
{
    const int past_caches = (uintptr_t)to % TW_PACK_TILE_BYTES == 0;
    if (!past_caches)
        all_rows(type, from, tiles, to, 0);
    else if (type == TW_F32)
        all_rows(TW_F32, from, tiles, to, 1);
    else if (type == TW_F16)
        all_rows(TW_F16, from, tiles, to, 1);
    else
        all_rows(TW_BF16, from, tiles, to, 1);
}

static void settle(void)
{
    _mm_sfence();
}

const struct tw_pack_kernels tw_pack_kernels_avx512 = {.columns = columns, .rows = rows, .settle = settle};
