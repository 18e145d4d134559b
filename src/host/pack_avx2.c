/* Packing with AVX2 and F16C. */
#include "host/pack_kernels.h"

#include "host/vector.h"

#include <immintrin.h>

/* As with AVX-512: whole cache lines go past the caches. */
INLINE void put(unsigned char *to, __m256i first, __m256i second, int past_caches)
{
    if (past_caches) {
        _mm256_stream_si256((__m256i *)(void *)to, first);
        _mm256_stream_si256((__m256i *)(void *)(to + sizeof first), second);
    } else {
        _mm256_storeu_si256((__m256i *)(void *)to, first);
        _mm256_storeu_si256((__m256i *)(void *)(to + sizeof first), second);
    }
}

/* 8 floats, rounded to bf16 that are the high halves; the low halves are of no meaning. */
INLINE __m256i rounded(__m256 x)
{
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(sum, quiet, nan);
}

/* 8 numbers as high halves. */
INLINE __m256i high(enum tw_type type, const unsigned char *p)
{
    if (type == TW_F32)
        return rounded(_mm256_loadu_ps((const float *)(const void *)p));
    const __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)p);
    if (type == TW_F16)
        return rounded(_mm256_cvtph_ps(halves));
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);
}

/* The high halves of a and b in turns. */
INLINE __m256i pairs(__m256i a, __m256i b)
{
    return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa);
}

INLINE void all_columns(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], int64_t groups,
                        unsigned char *to, size_t stride, int past_caches)
{
    const size_t bytes = TW_PACK_DEPTH * (type == TW_F32 ? sizeof(float) : sizeof(uint16_t));
    size_t at = 0;
    /* The next four columns most likely lie behind these; an address, for it may lie outside whatever is there. */
    const size_t next = TW_PACK_WIDTH * ((uintptr_t)rows[1] - (uintptr_t)rows[0]);
    for (int64_t g = 0; g < groups; g++, at += bytes, to += stride) {
        EACH (r, TW_PACK_WIDTH)
            _mm_prefetch((const char *)((uintptr_t)rows[r] + at + next), _MM_HINT_T0);
        const __m256i left = pairs(high(type, rows[0] + at), high(type, rows[1] + at));
        const __m256i right = pairs(high(type, rows[2] + at), high(type, rows[3] + at));
        /* A lane of these is two of the depth. */
        const __m256i low = _mm256_unpacklo_epi32(left, right), up = _mm256_unpackhi_epi32(left, right);
        put(to, _mm256_permute2x128_si256(low, up, 0x20), _mm256_permute2x128_si256(low, up, 0x31), past_caches);
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

/* 16 numbers in order. */
INLINE __m256i in_order(enum tw_type type, const unsigned char *p)
{
    if (type == TW_BF16)
        return _mm256_loadu_si256((const __m256i *)(const void *)p);
    const size_t bytes = 8 * (type == TW_F32 ? sizeof(float) : sizeof(uint16_t));
    const __m256i front = _mm256_srli_epi32(high(type, p), 16), back = _mm256_srli_epi32(high(type, p + bytes), 16);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(front, back), 0xd8);
}

/* Half of each of four tiles: tile t from number t of the four rows. */
INLINE void transposed(const __m256i row[4], __m256i half[4])
{
    const __m256i even_01 = _mm256_unpacklo_epi64(row[0], row[1]), odd_01 = _mm256_unpackhi_epi64(row[0], row[1]);
    const __m256i even_23 = _mm256_unpacklo_epi64(row[2], row[3]), odd_23 = _mm256_unpackhi_epi64(row[2], row[3]);
    half[0] = _mm256_permute2x128_si256(even_01, even_23, 0x20);
    half[1] = _mm256_permute2x128_si256(odd_01, odd_23, 0x20);
    half[2] = _mm256_permute2x128_si256(even_01, even_23, 0x31);
    half[3] = _mm256_permute2x128_si256(odd_01, odd_23, 0x31);
}

INLINE void all_rows(enum tw_type type, const unsigned char *const from[TW_PACK_DEPTH], int64_t tiles,
                     unsigned char *to, int past_caches)
{
    const size_t bytes = TW_PACK_WIDTH * (type == TW_F32 ? sizeof(float) : sizeof(uint16_t));
    int64_t t = 0;
    for (; t + 4 <= tiles; t += 4) {
        __m256i row[TW_PACK_DEPTH], first[4], second[4];
        EACH (r, TW_PACK_DEPTH)
            row[r] = in_order(type, from[r] + (size_t)t * bytes);
        transposed(row, first);
        transposed(row + 4, second);
        EACH (i, 4)
            put(to + (t + i) * TW_PACK_TILE_BYTES, first[i], second[i], past_caches);
    }
    const unsigned char *rest[TW_PACK_DEPTH];
    for (int r = 0; r < TW_PACK_DEPTH; r++)
        rest[r] = from[r] + (size_t)t * bytes;
    tw_pack_kernels_c.rows(type, rest, tiles - t, to + t * TW_PACK_TILE_BYTES);
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

const struct tw_pack_kernels tw_pack_kernels_avx2 = {.columns = columns, .rows = rows, .settle = settle};
