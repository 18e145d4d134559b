/* AVX-512 (F, BW, VL, DQ). */
#include "loops.h"
#include "tables.h"
#include "wide_sum.h"

#include <immintrin.h>

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* ---- bf16 sums: mac_bf16.c says what they are, fast_sum.h why single floats can hold them */
#include "fast_sum.h"

/*
 * Constants that are broadcast from memory, which the load units do; compilers would make them out of immediate
 * numbers, in the unit that all shuffles wait for.
 */
#define WORDS(x) ((int32_t)(0x10001u * ((uint32_t)(x)&0xffffu))) /* two words of 16 bits */
static const struct constants {
    int32_t magnitude, infinity, odd, low_half, one;
    int32_t accumulator_bias, exponent_min, range, nothing_max, scale_bias, inverse_bits;
    int32_t words_magnitude, words_exponent, words_one, words_zero, words_special;
} constants = {
    .magnitude = 0x7fffffff,
    .infinity = 0x7f800000,
    .odd = (int32_t)0xffff0000,
    .low_half = 0xffff,
    .one = 1,
    .accumulator_bias = SUM_ACCUMULATOR_BIAS,
    .exponent_min = SUM_EXPONENT_MIN,
    .range = SUM_EXPONENT_MAX - SUM_EXPONENT_MIN,
    .nothing_max = SUM_NOTHING_MAX,
    .scale_bias = SUM_SCALE_BIAS,
    .inverse_bits = SUM_INVERSE_BITS,
    .words_magnitude = WORDS(0x7fff),
    .words_exponent = WORDS(0xff),
    .words_one = WORDS(1),
    .words_zero = WORDS(SUM_ZERO_EXPONENT),
    .words_special = WORDS(255),
};

static inline const struct constants *load_constants(void)
{
    const struct constants *k = &constants;
    __asm__("" : "+r"(k));
    return k;
}

/* 32 lanes: max(exponent, 1); far below zero for a zero. */
static inline __m512i exponents_16(const struct constants *k, __m512i x)
{
    __m512i e = _mm512_and_si512(_mm512_srli_epi16(x, 7), _mm512_set1_epi32(k->words_exponent));
    __mmask32 nonzero = _mm512_test_epi16_mask(x, _mm512_set1_epi32(k->words_magnitude));
    return _mm512_mask_max_epi16(_mm512_set1_epi32(k->words_zero), nonzero, e, _mm512_set1_epi32(k->words_one));
}

static inline int has_nan_or_infinity(const struct constants *k, __m512i exponents_a, __m512i exponents_b)
{
    return _mm512_cmpge_epi16_mask(_mm512_max_epi16(exponents_a, exponents_b), _mm512_set1_epi32(k->words_special)) !=
           0;
}

static inline __m512i accumulator_exponents(const struct constants *k, __m512i acc)
{
    __m512i magnitude = _mm512_and_si512(acc, _mm512_set1_epi32(k->magnitude));
    __m512i e = _mm512_add_epi32(_mm512_max_epi32(_mm512_srli_epi32(magnitude, 23), _mm512_set1_epi32(k->one)),
                                 _mm512_set1_epi32(k->accumulator_bias));
    return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(magnitude, magnitude), e);
}

/* acc2 NULL: there is none. */
static inline __m512i larger_accumulator(const struct constants *k, __m512i exponent, __m512i acc1, const void *acc2)
{
    exponent = _mm512_max_epi32(exponent, accumulator_exponents(k, acc1));
    return acc2 == NULL ? exponent : _mm512_max_epi32(exponent, accumulator_exponents(k, _mm512_loadu_si512(acc2)));
}

/* Whether every lane's largest exponent is in the range of single floats (or there is nothing to add). */
static inline int in_range(const struct constants *k, __m512i exponent)
{
    __m512i above = _mm512_sub_epi32(exponent, _mm512_set1_epi32(k->exponent_min));
    __mmask16 outside = _mm512_cmpgt_epu32_mask(above, _mm512_set1_epi32(k->range));
    return _mm512_mask_cmpgt_epi32_mask(outside, exponent, _mm512_set1_epi32(k->nothing_max)) == 0;
}

/* What turns a term into units of the sum. */
static inline __m512 scale_of(const struct constants *k, __m512i exponent)
{
    __m512i e = _mm512_max_epi32(exponent, _mm512_set1_epi32(k->exponent_min));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_sub_epi32(_mm512_set1_epi32(k->scale_bias), e), 23));
}

static inline __m512i aligned(__m512 term, __m512 scale)
{
    return _mm512_cvt_roundps_epi32(_mm512_mul_ps(term, scale), NEAREST);
}

static inline unsigned finish(const struct constants *k, __m512i sum, __m512 scale, void *out)
{
    __m512i unit = _mm512_sub_epi32(_mm512_set1_epi32(k->inverse_bits), _mm512_castps_si512(scale));
    __m512 result = _mm512_mul_ps(_mm512_cvt_roundepi32_ps(sum, NEAREST), _mm512_castsi512_ps(unit));
    __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(result), _mm512_set1_epi32(k->magnitude));
    _mm512_storeu_si512(out, _mm512_castps_si512(result));
    unsigned flags = _mm512_testn_epi32_mask(magnitude, magnitude) != 0 ? TW_FLOAT_ZERO : 0;
    if (_mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(k->infinity)) != 0)
        flags |= TW_FLOAT_INFINITY | TW_FLOAT_HUGE;
    return flags;
}

static inline __m512i add_accumulators(__m512i sum, __m512i acc1, const void *acc2, __m512 scale)
{
    sum = _mm512_add_epi32(sum, aligned(_mm512_castsi512_ps(acc1), scale));
    return acc2 == NULL ? sum : _mm512_add_epi32(sum, aligned(_mm512_loadu_ps(acc2), scale));
}

static inline __m512 even_floats(__m512i pairs)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
}

static inline __m512 odd_floats(const struct constants *k, __m512i pairs)
{
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(k->odd)));
}

/* The larger of both halves of each lane, none of them negative, plus one: the exponent of a pair of products. */
static inline __m512i pair_exponents(const struct constants *k, __m512i sums)
{
    __m512i larger =
        _mm512_and_si512(_mm512_max_epi16(sums, _mm512_rol_epi32(sums, 16)), _mm512_set1_epi32(k->low_half));
    return _mm512_add_epi32(larger, _mm512_set1_epi32(k->one));
}

/* Factor B: two rows interleaved into pairs in each 128-bit lane, in memory, where a lane is broadcast from. */
struct factor_b {
    __m512i exponents;
    __m512 even, odd;
};

static inline __m512i lane_of(const __m512i *from, int lane)
{
    return _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)from + lane));
}

static inline __m512 floats_of(const __m512 *from, int lane)
{
    return _mm512_castsi512_ps(lane_of((const __m512i *)from, lane));
}

/* Keeps a factor in memory: or it would stay in registers, and shuffles instead of loads would take it apart. */
static inline void keep_in_memory(struct factor_b *f)
{
    __asm__("" : "+m"(*f));
}

/* Rows of A lie in 128-bit lanes: a pair of columns of each row is broadcast inside its lane. */
#define PAIR_EXPONENTS(j)                                                                                              \
    _mm512_add_epi16(_mm512_shuffle_epi32(ea, (_MM_PERM_ENUM)(0x55 * (j))), lane_of(&f.exponents, j))
#define PAIR_OF_PRODUCTS(j)                                                                                            \
    _mm512_add_epi32(aligned(_mm512_mul_ps(_mm512_permute_ps(a0, 0x55 * (j)), floats_of(&f.even, j)), scale),          \
                     aligned(_mm512_mul_ps(_mm512_permute_ps(a1, 0x55 * (j)), floats_of(&f.odd, j)), scale))

static inline __attribute__((always_inline)) unsigned matrix(const void *acc1, const void *acc2, const void *a,
                                                             const void *b, void *out)
{
    const struct constants *k = load_constants();
    const __m512i interleave =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    __m512i x = _mm512_loadu_si512(a), y = _mm512_shuffle_epi8(_mm512_loadu_si512(b), interleave);
    __m512i c1 = _mm512_loadu_si512(acc1), ea = exponents_16(k, x), eb = exponents_16(k, y);
    struct factor_b f = {eb, even_floats(y), odd_floats(k, y)};
    keep_in_memory(&f);
    __m512i largest = _mm512_max_epi16(_mm512_max_epi16(PAIR_EXPONENTS(0), PAIR_EXPONENTS(1)),
                                       _mm512_max_epi16(PAIR_EXPONENTS(2), PAIR_EXPONENTS(3)));
    largest = _mm512_max_epi16(largest, _mm512_setzero_si512());
    __m512i exponent = larger_accumulator(k, pair_exponents(k, largest), c1, acc2);
    if (!in_range(k, exponent) || has_nan_or_infinity(k, ea, eb))
        return wide_bf16_matrix(acc1, acc2, a, b, out);
    keep_in_memory(&f);
    __m512 scale = scale_of(k, exponent), a0 = even_floats(x), a1 = odd_floats(k, x);
    __m512i sum = _mm512_add_epi32(_mm512_add_epi32(PAIR_OF_PRODUCTS(0), PAIR_OF_PRODUCTS(1)),
                                   _mm512_add_epi32(PAIR_OF_PRODUCTS(2), PAIR_OF_PRODUCTS(3)));
    return finish(k, add_accumulators(sum, c1, acc2, scale), scale, out);
}

/* One accumulator is the rule: that function has no room for a second one. */
static unsigned bf16_matrix(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    return acc2 == NULL ? matrix(acc1, NULL, a, b, out) : matrix(acc1, acc2, a, b, out);
}

static unsigned bf16_elements(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    const struct constants *k = load_constants();
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b), c1 = _mm512_loadu_si512(acc1);
    __m512i ea = exponents_16(k, x), eb = exponents_16(k, y), sums = _mm512_add_epi16(ea, eb);
    __m256i both = _mm256_max_epi16(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
    __m512i exponent = _mm512_add_epi32(_mm512_cvtepi16_epi32(both), _mm512_set1_epi32(k->one));
    exponent = larger_accumulator(k, _mm512_max_epi32(exponent, _mm512_setzero_si512()), c1, acc2);
    if (!in_range(k, exponent) || has_nan_or_infinity(k, ea, eb))
        return wide_bf16_elements(acc1, acc2, a, b, out);
    __m512 x0 = even_floats(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(x)));
    __m512 x1 = even_floats(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(x, 1)));
    __m512 y0 = even_floats(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(y)));
    __m512 y1 = even_floats(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(y, 1)));
    __m512 scale = scale_of(k, exponent);
    __m512i sum = _mm512_add_epi32(aligned(_mm512_mul_ps(x0, y0), scale), aligned(_mm512_mul_ps(x1, y1), scale));
    return finish(k, add_accumulators(sum, c1, acc2, scale), scale, out);
}

static unsigned fp32_add(const void *acc1, const void *acc2, void *out)
{
    const struct constants *k = load_constants();
    __m512i c1 = _mm512_loadu_si512(acc1), exponent = larger_accumulator(k, _mm512_setzero_si512(), c1, acc2);
    if (!in_range(k, exponent))
        return wide_fp32_add(acc1, acc2, out);
    __m512 scale = scale_of(k, exponent);
    return finish(k, add_accumulators(_mm512_setzero_si512(), c1, acc2, scale), scale, out);
}

/* ---- integers */

/* Rows of A of 8 bytes, as words, fill 128-bit lanes; B's rows are interleaved into pairs of words. */
#define INT8_PAIR(j)                                                                                                   \
    do {                                                                                                               \
        __m512i pairs = _mm512_broadcast_i64x4(b_pairs[j]);                                                            \
        __m512i column = _mm512_shuffle_epi32(rows, (_MM_PERM_ENUM)(0x55 * (j)));                                      \
        low = _mm512_add_epi32(low, _mm512_madd_epi16(_mm512_permutexvar_epi64(rows_01, column), pairs));              \
        high = _mm512_add_epi32(high, _mm512_madd_epi16(_mm512_permutexvar_epi64(rows_23, column), pairs));            \
    } while (0)

static inline __m512i words_of(__m256i bytes, int is_signed)
{
    return is_signed ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes);
}

static void int8_matrix(int a_signed, int b_signed, const void *a, const void *b, void *out)
{
    const __m512i rows_01 = _mm512_setr_epi64(0, 1, 0, 1, 2, 3, 2, 3),
                  rows_23 = _mm512_setr_epi64(4, 5, 4, 5, 6, 7, 6, 7);
    __m512i rows = words_of(_mm256_loadu_si256(a), a_signed), low = _mm512_setzero_si512(), high = low;
    __m256i b_pairs[4];
    for (int j = 0; j < 4; j++) {
        __m128i two = _mm_loadu_si128((const __m128i *)b + j);
        __m128i pairs = _mm_unpacklo_epi8(two, _mm_unpackhi_epi64(two, two)); /* (row 2j, row 2j + 1) of each column */
        b_pairs[j] = b_signed ? _mm256_cvtepi8_epi16(pairs) : _mm256_cvtepu8_epi16(pairs);
    }
    INT8_PAIR(0);
    INT8_PAIR(1);
    INT8_PAIR(2);
    INT8_PAIR(3);
    _mm512_storeu_si512(out, low);
    _mm512_storeu_si512((__m512i *)out + 1, high);
}

static void products(const struct tw_mac_mode *mode, int a_signed, int b_signed, const void *a, const void *b,
                     void *out)
{
    if (is_int8_matrix(mode))
        int8_matrix(a_signed, b_signed, a, b, out);
    else
        loop_products(mode, a_signed, b_signed, a, b, out);
}

static uint64_t less(unsigned bits, int is_signed, const void *a, const void *b)
{
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    if (bits == 8)
        return is_signed ? _mm512_cmplt_epi8_mask(x, y) : _mm512_cmplt_epu8_mask(x, y);
    if (bits == 16)
        return is_signed ? _mm512_cmplt_epi16_mask(x, y) : _mm512_cmplt_epu16_mask(x, y);
    return is_signed ? _mm512_cmplt_epi32_mask(x, y) : _mm512_cmplt_epu32_mask(x, y);
}

static void select_lanes(unsigned bits, uint64_t mask, const void *a, const void *b, void *out)
{
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    if (bits == 8)
        x = _mm512_mask_mov_epi8(x, mask, y);
    else if (bits == 16)
        x = _mm512_mask_mov_epi16(x, (__mmask32)mask, y);
    else
        x = _mm512_mask_mov_epi32(x, (__mmask16)mask, y);
    _mm512_storeu_si512(out, x);
}

/* ---- shuffles: rows, columns and sizes are powers of two, so that bits of the byte's number change places */

static inline __m128i count_of(unsigned n)
{
    return _mm_cvtsi32_si128((int)n);
}

/* Where 32 result bytes, given by their numbers as words, come from. */
static inline __m512i sources(const struct tw_shuffle *s, __m512i at)
{
    unsigned size = (unsigned)__builtin_ctz(s->bits / 8u), rows = (unsigned)__builtin_ctz(s->rows);
    unsigned columns = (unsigned)__builtin_ctz(s->columns);
    __m512i row = _mm512_and_si512(_mm512_srl_epi16(at, count_of(size)), _mm512_set1_epi16((short)(s->rows - 1)));
    __m512i column =
        _mm512_and_si512(_mm512_srl_epi16(at, count_of(size + rows)), _mm512_set1_epi16((short)(s->columns - 1)));
    __m512i moved =
        _mm512_or_si512(_mm512_sll_epi16(row, count_of(size + columns)), _mm512_sll_epi16(column, count_of(size)));
    short inside = (short)(((1u << (rows + columns)) - 1) << size);
    return _mm512_or_si512(_mm512_andnot_si512(_mm512_set1_epi16(inside), at), moved);
}

/* The bytes with these numbers, each in the low half of a word. */
static inline __m512i bytes_at(__m512i numbers, __m512i a, __m512i b)
{
    __m512i words = _mm512_permutex2var_epi16(a, _mm512_srli_epi16(numbers, 1), b);
    __m512i odd = _mm512_slli_epi16(_mm512_and_si512(numbers, _mm512_set1_epi16(1)), 3);
    return _mm512_and_si512(_mm512_srlv_epi16(words, odd), _mm512_set1_epi16(0xff));
}

static void shuffle(unsigned mode, const void *a, const void *b, void *out)
{
    const struct tw_shuffle *s = &tw_shuffles[mode];
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    if (mode == TW_SHUFFLE_SWAP) {
        _mm512_storeu_si512(out, _mm512_rol_epi32(x, 16));
        return;
    }
    if (s->rows == 1) { /* turned, a row is itself */
        _mm512_storeu_si512(out, s->high ? y : x);
        return;
    }
    __m512i even = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24, 22,
                                    20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    even = _mm512_add_epi16(even, _mm512_set1_epi16(s->high ? 64 : 0));
    __m512i from = sources(s, even);
    __m512i result;
    if (s->bits > 8) {
        result = _mm512_permutex2var_epi16(x, _mm512_srli_epi16(from, 1), y);
    } else {
        __m512i second = sources(s, _mm512_add_epi16(even, _mm512_set1_epi16(1)));
        result = _mm512_or_si512(bytes_at(from, x, y), _mm512_slli_epi16(bytes_at(second, x, y), 8));
    }
    _mm512_storeu_si512(out, result);
}

const struct tw_vector_kernels tw_vector_kernels_avx512[2] = {FAST_TABLE("AVX-512", 0), FAST_TABLE("AVX-512", 1)};
