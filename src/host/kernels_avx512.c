/* The kernels for AVX-512 (F, BW, VL, DQ), with AVX2, FMA and F16C. */
#include "host/vector.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define LANES 16
#define MR 12
#define NR 32
#define WHOLE 0x1.8p+23f /* a float of this size has no digits after the point: adding it rounds */
#define DOT_COLS(rows) ((rows) <= 6 ? 4 : 2)

typedef __m512 V;
typedef struct {
    __m512d low, high;
} D;

INLINE V v_zero(void)
{
    return _mm512_setzero_ps();
}

INLINE V v_set(float x)
{
    return _mm512_set1_ps(x);
}

/* An address, for it may lie outside whatever is there: nothing is read. */
INLINE void v_prefetch(uintptr_t address)
{
    _mm_prefetch((const char *)address, _MM_HINT_T0);
}

INLINE V v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

INLINE V v_load_bytes(const unsigned char *p)
{
    return _mm512_loadu_ps(p);
}

INLINE void v_store(float *p, V v)
{
    _mm512_storeu_ps(p, v);
}

INLINE void v_store_bytes(unsigned char *p, V v)
{
    _mm512_storeu_ps(p, v);
}

INLINE __mmask16 first(int64_t n)
{
    return (__mmask16)((1u << n) - 1);
}

INLINE V v_load_n(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps(first(n), p);
}

INLINE void v_store_n(float *p, V v, int64_t n)
{
    _mm512_mask_storeu_ps(p, first(n), v);
}

INLINE V v_keep(V v, int64_t n)
{
    return _mm512_maskz_mov_ps(first(n), v);
}

INLINE V v_add(V a, V b)
{
    return _mm512_add_ps(a, b);
}

INLINE V v_sub(V a, V b)
{
    return _mm512_sub_ps(a, b);
}

INLINE V v_mul(V a, V b)
{
    return _mm512_mul_ps(a, b);
}

INLINE V v_fma(V a, V b, V c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE V v_fnma(V a, V b, V c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

/* With a NaN, the second operand: so here and below. */
INLINE V v_max(V a, V b)
{
    return _mm512_max_ps(a, b);
}

INLINE V v_min(V a, V b)
{
    return _mm512_min_ps(a, b);
}

INLINE V v_abs(V v)
{
    return _mm512_abs_ps(v);
}

/* v * 2^n, n rounded down, from -126 to 0; also given as WHOLE + n. */
INLINE V v_scale2(V v, V n, V shifted)
{
    (void)shifted;
    return _mm512_scalef_ps(v, n);
}

/* 2^x = 2^n * (1 + r * (a polynomial in r with these numbers, the highest power first)), where n is x rounded down, so
 * that r is from 0 to 1 (minimax, 2^-23.3 relative). What v_scale2 takes for n is x itself. */
#define EXP2_TERMS 0.00186712993f, 0.00901703071f, 0.0557999127f, 0.240164444f, 0.693151295f

INLINE V v_part(V x, V *shifted)
{
    *shifted = x;
    return _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

/* 1 / v within 1 unit in the last place, for ordinary v: the estimate has 14 good bits, one step of Newton doubles
 * them. */
INLINE V v_inverse(V v)
{
    V x = _mm512_rcp14_ps(v);
    return v_fma(x, v_fnma(v, x, v_set(1)), x);
}

/* Zeros where x < limit, else v. */
INLINE V v_zero_below(V x, V limit, V v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), v);
}

INLINE V v_if_negative(V v, V yes, V no)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(v, v_zero(), _CMP_LT_OQ), no, yes);
}

INLINE V v_if_equal(V a, V b, V yes, V no)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), no, yes);
}

/* The largest of all lanes, none of them NaN. */
INLINE float v_largest(V v)
{
    return _mm512_reduce_max_ps(v);
}

INLINE __m128 sum_quarters(V v)
{
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

INLINE void v_sum4(V a, V b, V c, V d, float *four)
{
    __m128 w = sum_quarters(a), x = sum_quarters(b), y = sum_quarters(c), z = sum_quarters(d);
    _MM_TRANSPOSE4_PS(w, x, y, z);
    _mm_storeu_ps(four, _mm_add_ps(_mm_add_ps(w, x), _mm_add_ps(y, z)));
}

INLINE V v_load_f16(const unsigned char *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
}

INLINE V v_load_bf16(const unsigned char *p)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

INLINE V block_scale(const unsigned char *block)
{
    return v_set(_cvtsh_ss((unsigned short)(block[0] | block[1] << 8)));
}

INLINE void v_load_q8_0(const unsigned char *block, V *x)
{
    V scale = block_scale(block);
    EACH (s, 2)
        x[s] =
            v_mul(scale, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(block + 2 + 16 * s)))));
}

/*
 * The low nibbles are numbers 0..15, the high ones 16..31. Nibble and high bit together pick a number's value from a
 * table of all 32.
 */
INLINE void v_load_q5_0(const unsigned char *block, V *x)
{
    const V ramp = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i sixteen = _mm512_set1_epi32(16);
    V scale = block_scale(block), lower = v_mul(scale, v_sub(ramp, v_set(16))), upper = v_mul(scale, ramp);
    __m512i pairs = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(block + 6)));
    __m512i nibbles[2] = {_mm512_and_si512(pairs, _mm512_set1_epi32(15)), _mm512_srli_epi32(pairs, 4)};
    EACH (s, 2) {
        __mmask16 high = (__mmask16)(block[2 + 2 * s] | block[3 + 2 * s] << 8);
        __m512i place = _mm512_mask_or_epi32(nibbles[s], high, nibbles[s], sixteen);
        x[s] = _mm512_permutex2var_ps(lower, place, upper);
    }
}

INLINE void v_store_f16(unsigned char *p, V v)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* v rounded to bf16, to nearest even, in the upper halves; the lower halves mean nothing. NaNs may become numbers, but
 * not those whose lower half is 0. */
INLINE __m512i round_numbers(V v)
{
    __m512i bits = _mm512_castps_si512(v), rounded = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    return _mm512_mask_add_epi32(rounded, odd, rounded, _mm512_set1_epi32(1));
}

/* The same for all there is, in the lower halves; the upper ones are 0. */
INLINE __m512i round_all(V v)
{
    __m512i rounded = round_numbers(v);
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, _mm512_castps_si512(v), _mm512_set1_epi32(0x400000));
    return _mm512_srli_epi32(rounded, 16);
}

INLINE void v_store_bf16(unsigned char *p, V v)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(round_all(v)));
}

/* v[0], then v[1]. */
INLINE void v_store_two_bf16(unsigned char *p, const V *v)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i mixed = _mm512_packus_epi32(round_all(v[0]), round_all(v[1]));
    _mm512_storeu_si512(p, _mm512_permutexvar_epi64(order, mixed));
}

INLINE void v_load_pairs(const unsigned char *p, V *v)
{
    __m512i pairs = _mm512_loadu_si512(p);
    v[0] = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
    v[1] = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xffff0000)));
}

INLINE void v_store_pairs(unsigned char *p, const V *v)
{
    __m512i even = _mm512_srli_epi32(round_numbers(v[0]), 16);
    __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    _mm512_storeu_si512(p, _mm512_ternarylogic_epi32(even, round_numbers(v[1]), upper, 0xf8)); /* a | (b & c) */
}

INLINE D d_zero(void)
{
    return (D){_mm512_setzero_pd(), _mm512_setzero_pd()};
}

INLINE D d_from(V v)
{
    return (D){_mm512_cvtps_pd(_mm512_castps512_ps256(v)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1))};
}

INLINE D d_add(D sum, V v)
{
    D x = d_from(v);
    return (D){_mm512_add_pd(sum.low, x.low), _mm512_add_pd(sum.high, x.high)};
}

INLINE D d_add_square(D sum, V v)
{
    D x = d_from(v);
    return (D){_mm512_fmadd_pd(x.low, x.low, sum.low), _mm512_fmadd_pd(x.high, x.high, sum.high)};
}

INLINE double d_sum(D v)
{
    return _mm512_reduce_add_pd(_mm512_add_pd(v.low, v.high));
}

/* A square of 16 x 16 numbers turned over in registers: pairs, fours, then quarters of registers change places. */
INLINE void turn_square(V *v)
{
    V w[LANES];
    EACH (half, LANES / 2) {
        int i = 2 * half;
        w[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        w[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    EACH (quarter, LANES / 4) {
        int i = 4 * quarter;
        v[i] = _mm512_shuffle_ps(w[i], w[i + 2], 0x44);
        v[i + 1] = _mm512_shuffle_ps(w[i], w[i + 2], 0xee);
        v[i + 2] = _mm512_shuffle_ps(w[i + 1], w[i + 3], 0x44);
        v[i + 3] = _mm512_shuffle_ps(w[i + 1], w[i + 3], 0xee);
    }
    EACH (i, 4) {
        w[i] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0x88);
        w[i + 4] = _mm512_shuffle_f32x4(v[i], v[i + 4], 0xdd);
        w[i + 8] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0x88);
        w[i + 12] = _mm512_shuffle_f32x4(v[i + 8], v[i + 12], 0xdd);
    }
    EACH (i, 8) {
        v[i] = _mm512_shuffle_f32x4(w[i], w[i + 8], 0x88);
        v[i + 8] = _mm512_shuffle_f32x4(w[i], w[i + 8], 0xdd);
    }
}

/* v[0][0], v[1][0], v[2][0], v[0][1] and so on. One order for each puts all lanes in place for all three results. */
INLINE void mix_three(V *v)
{
    V x = _mm512_permutexvar_ps(_mm512_setr_epi32(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5), v[0]);
    V y = _mm512_permutexvar_ps(_mm512_setr_epi32(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10), v[1]);
    V z = _mm512_permutexvar_ps(_mm512_setr_epi32(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15), v[2]);
    const __mmask16 seconds = 0x2492, thirds = 0x4924; /* lanes 1, 4, 7, ... and 2, 5, 8, ... */
    v[0] = _mm512_mask_mov_ps(_mm512_mask_mov_ps(x, seconds, y), thirds, z);
    v[1] = _mm512_mask_mov_ps(_mm512_mask_mov_ps(y, seconds, z), thirds, x);
    v[2] = _mm512_mask_mov_ps(_mm512_mask_mov_ps(z, seconds, x), thirds, y);
}

#include "host/vector_kernels.h"

/* Tiles of 4, 8 and 12 rows. */
#define ROWS_4(X) X(0) X(1) X(2) X(3)
#define ROWS_8(X) ROWS_4(X) X(4) X(5) X(6) X(7)
#define ROWS_12(X) ROWS_8(X) X(8) X(9) X(10) X(11)

TILE(tile_4, ROWS_4)
TILE(tile_8, ROWS_8)
TILE(tile_12, ROWS_12)

static void tile_run(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add_to)
{
    if (rows > 8)
        tile_12(k, a, b, c, c_stride, add_to);
    else if (rows > 4)
        tile_8(k, a, b, c, c_stride, add_to);
    else
        tile_4(k, a, b, c, c_stride, add_to);
}

const struct tw_kernels tw_kernels_avx512 = VECTOR_KERNELS(avx512);
