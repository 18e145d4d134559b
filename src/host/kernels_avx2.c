/* The kernels for AVX2 with FMA and F16C. */
#include "host/vector.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define LANES 8
#define MR 6
#define NR 16
/* A float of this size has no digits after the point: adding it rounds. The last bits of the sum are then those of the
 * exponent of 2^n, when shifted there. */
#define WHOLE (0x1.8p+23f + 127)
#define DOT_COLS(rows) ((rows) <= 2 ? 4 : (rows) <= 4 ? 2 : 1)

typedef __m256 V;
typedef struct {
    __m256d low, high;
} D;

INLINE V v_zero(void)
{
    return _mm256_setzero_ps();
}

INLINE V v_set(float x)
{
    return _mm256_set1_ps(x);
}

/* An address, for it may lie outside whatever is there: nothing is read. */
INLINE void v_prefetch(uintptr_t address)
{
    _mm_prefetch((const char *)address, _MM_HINT_T0);
}

INLINE V v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

INLINE V v_load_bytes(const unsigned char *p)
{
    return _mm256_castsi256_ps(_mm256_loadu_si256((const void *)p));
}

INLINE void v_store(float *p, V v)
{
    _mm256_storeu_ps(p, v);
}

INLINE void v_store_bytes(unsigned char *p, V v)
{
    _mm256_storeu_si256((void *)p, _mm256_castps_si256(v));
}

INLINE __m256i first(int64_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}

INLINE V v_load_n(const float *p, int64_t n)
{
    return _mm256_maskload_ps(p, first(n));
}

INLINE void v_store_n(float *p, V v, int64_t n)
{
    _mm256_maskstore_ps(p, first(n), v);
}

INLINE V v_keep(V v, int64_t n)
{
    return _mm256_and_ps(v, _mm256_castsi256_ps(first(n)));
}

INLINE V v_add(V a, V b)
{
    return _mm256_add_ps(a, b);
}

INLINE V v_sub(V a, V b)
{
    return _mm256_sub_ps(a, b);
}

INLINE V v_mul(V a, V b)
{
    return _mm256_mul_ps(a, b);
}

INLINE V v_fma(V a, V b, V c)
{
    return _mm256_fmadd_ps(a, b, c);
}

INLINE V v_fnma(V a, V b, V c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

/* With a NaN, the second operand: so here and below. */
INLINE V v_max(V a, V b)
{
    return _mm256_max_ps(a, b);
}

INLINE V v_min(V a, V b)
{
    return _mm256_min_ps(a, b);
}

INLINE V v_abs(V v)
{
    return _mm256_andnot_ps(v_set(-0.0f), v);
}

/* v * 2^n, n a whole number from -126 to 0, also given as WHOLE + n. */
INLINE V v_scale2(V v, V n, V shifted)
{
    (void)n;
    return v_mul(v, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}

/* 2^x = 2^n * (1 + r * (a polynomial in r with these numbers, the highest power first)), where n is the whole number
 * nearest to x, so that r is from -1/2 to 1/2 (minimax, 2^-23.1 relative). */
#define EXP2_TERMS 0.00132645853f, 0.00967161916f, 0.0555073507f, 0.240222409f, 0.693147004f

INLINE V v_part(V x, V *shifted)
{
    *shifted = v_add(x, v_set(WHOLE));
    return v_sub(x, v_sub(*shifted, v_set(WHOLE)));
}

INLINE V v_inverse(V v)
{
    return _mm256_div_ps(v_set(1), v);
}

/* Zeros where x < limit, else v. */
INLINE V v_zero_below(V x, V limit, V v)
{
    return _mm256_and_ps(v, _mm256_cmp_ps(x, limit, _CMP_NLT_UQ));
}

INLINE V v_if_negative(V v, V yes, V no)
{
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(v, v_zero(), _CMP_LT_OQ));
}

INLINE V v_if_equal(V a, V b, V yes, V no)
{
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}

/* The largest of all lanes, none of them NaN. */
INLINE float v_largest(V v)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

INLINE __m128 sum_halves(V v)
{
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

INLINE void v_sum4(V a, V b, V c, V d, float *four)
{
    __m128 w = sum_halves(a), x = sum_halves(b), y = sum_halves(c), z = sum_halves(d);
    _MM_TRANSPOSE4_PS(w, x, y, z);
    _mm_storeu_ps(four, _mm_add_ps(_mm_add_ps(w, x), _mm_add_ps(y, z)));
}

INLINE V v_load_f16(const unsigned char *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
}

INLINE V v_load_bf16(const unsigned char *p)
{
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

INLINE V block_scale(const unsigned char *block)
{
    return v_set(_cvtsh_ss((unsigned short)(block[0] | block[1] << 8)));
}

INLINE void v_load_q8_0(const unsigned char *block, V *x)
{
    V scale = block_scale(block);
    EACH (s, 4)
        x[s] =
            v_mul(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(block + 2 + 8 * s)))));
}

/* The low nibbles are numbers 0..15, the high ones 16..31; a number without its high bit is worth 16 less. */
INLINE void v_load_q5_0(const unsigned char *block, V *x)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), sixteen = _mm256_set1_epi32(16);
    V scale = block_scale(block);
    EACH (s, 4) {
        __m256i pairs = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(block + 6 + s % 2 * 8)));
        __m256i nibbles = _mm256_and_si256(_mm256_srli_epi32(pairs, s < 2 ? 0 : 4), _mm256_set1_epi32(15));
        __m256i high = _mm256_and_si256(_mm256_set1_epi32(block[2 + s]), bit);
        __m256i lower = _mm256_andnot_si256(_mm256_cmpeq_epi32(high, bit), sixteen);
        x[s] = v_mul(scale, _mm256_cvtepi32_ps(_mm256_sub_epi32(nibbles, lower)));
    }
}

INLINE void v_store_f16(unsigned char *p, V v)
{
    _mm_storeu_si128((void *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* v rounded to bf16, to nearest even, in the upper halves; the lower halves mean nothing. NaNs may become numbers, but
 * not those whose lower half is 0. */
INLINE __m256i round_numbers(V v)
{
    __m256i bits = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

/* The same for all there is, in the lower halves; the upper ones are 0. */
INLINE __m256i round_all(V v)
{
    __m256i quiet = _mm256_or_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x400000));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_blendv_epi8(round_numbers(v), quiet, nan), 16);
}

INLINE void v_store_bf16(unsigned char *p, V v)
{
    __m256i upper = round_all(v);
    __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
    _mm_storeu_si128((void *)p, packed);
}

/* v[0], then v[1]. */
INLINE void v_store_two_bf16(unsigned char *p, const V *v)
{
    __m256i mixed = _mm256_packus_epi32(round_all(v[0]), round_all(v[1]));
    _mm256_storeu_si256((void *)p, _mm256_permute4x64_epi64(mixed, 0xd8));
}

INLINE void v_load_pairs(const unsigned char *p, V *v)
{
    __m256i pairs = _mm256_loadu_si256((const void *)p);
    v[0] = _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
    v[1] = _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000)));
}

INLINE void v_store_pairs(unsigned char *p, const V *v)
{
    __m256i even = _mm256_srli_epi32(round_numbers(v[0]), 16);
    _mm256_storeu_si256((void *)p, _mm256_blend_epi16(even, round_numbers(v[1]), 0xaa));
}

INLINE D d_zero(void)
{
    return (D){_mm256_setzero_pd(), _mm256_setzero_pd()};
}

INLINE D d_from(V v)
{
    return (D){_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
}

INLINE D d_add(D sum, V v)
{
    D x = d_from(v);
    return (D){_mm256_add_pd(sum.low, x.low), _mm256_add_pd(sum.high, x.high)};
}

INLINE D d_add_square(D sum, V v)
{
    D x = d_from(v);
    return (D){_mm256_fmadd_pd(x.low, x.low, sum.low), _mm256_fmadd_pd(x.high, x.high, sum.high)};
}

INLINE double d_sum(D v)
{
    double lanes[4];
    _mm256_storeu_pd(lanes, _mm256_add_pd(v.low, v.high));
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* A square of 8 x 8 numbers turned over in registers: pairs, fours, then halves of registers change places. */
INLINE void turn_square(V *v)
{
    V w[LANES];
    EACH (half, LANES / 2) {
        int i = 2 * half;
        w[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        w[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    EACH (quarter, LANES / 4) {
        int i = 4 * quarter;
        v[i] = _mm256_shuffle_ps(w[i], w[i + 2], 0x44);
        v[i + 1] = _mm256_shuffle_ps(w[i], w[i + 2], 0xee);
        v[i + 2] = _mm256_shuffle_ps(w[i + 1], w[i + 3], 0x44);
        v[i + 3] = _mm256_shuffle_ps(w[i + 1], w[i + 3], 0xee);
    }
    EACH (i, 4) {
        w[i] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x20);
        w[i + 4] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x31);
    }
    EACH (i, LANES)
        v[i] = w[i];
}

/* v[0][0], v[1][0], v[2][0], v[0][1] and so on. One order for each puts all lanes in place for all three results. */
INLINE void mix_three(V *v)
{
    V x = _mm256_permutevar8x32_ps(v[0], _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    V y = _mm256_permutevar8x32_ps(v[1], _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2));
    V z = _mm256_permutevar8x32_ps(v[2], _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
    enum { SECONDS = 0x92, THIRDS = 0x24 }; /* lanes 1, 4 and 7; 2 and 5 */
    v[0] = _mm256_blend_ps(_mm256_blend_ps(x, y, SECONDS), z, THIRDS);
    v[1] = _mm256_blend_ps(_mm256_blend_ps(z, x, SECONDS), y, THIRDS);
    v[2] = _mm256_blend_ps(_mm256_blend_ps(y, z, SECONDS), x, THIRDS);
}

#include "host/vector_kernels.h"

/* Tiles of 2, 4 and 6 rows. */
#define ROWS_2(X) X(0) X(1)
#define ROWS_4(X) ROWS_2(X) X(2) X(3)
#define ROWS_6(X) ROWS_4(X) X(4) X(5)

TILE(tile_2, ROWS_2)
TILE(tile_4, ROWS_4)
TILE(tile_6, ROWS_6)

static void tile_run(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add_to)
{
    if (rows > 4)
        tile_6(k, a, b, c, c_stride, add_to);
    else if (rows > 2)
        tile_4(k, a, b, c, c_stride, add_to);
    else
        tile_2(k, a, b, c, c_stride, add_to);
}

const struct tw_kernels tw_kernels_avx2 = VECTOR_KERNELS(avx2);
