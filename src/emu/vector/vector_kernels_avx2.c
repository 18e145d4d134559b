/* AVX2. Vectors of 64 bytes are two halves here. */
#include "fast_sum.h"
#include "loops.h"
#include "tables.h"
#include "wide_sum.h"

#include <immintrin.h>

/* ---- bf16 sums: mac_bf16.c says what they are, fast_sum.h why single floats can hold them */

/* 16 lanes: max(exponent, 1); far below zero for a zero. */
static inline __m256i exponents_16(__m256i x)
{
    __m256i e = _mm256_and_si256(_mm256_srli_epi16(x, 7), _mm256_set1_epi16(0xff));
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
    __m256i zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    return _mm256_blendv_epi8(_mm256_max_epi16(e, _mm256_set1_epi16(1)), _mm256_set1_epi16(SUM_ZERO_EXPONENT), zero);
}

static inline int has_nan_or_infinity(__m256i exponents_a, __m256i exponents_b)
{
    __m256i largest = _mm256_max_epi16(exponents_a, exponents_b);
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16(largest, _mm256_set1_epi16(254))) != 0;
}

static inline __m256i accumulator_exponents(__m256i acc)
{
    __m256i magnitude = _mm256_and_si256(acc, _mm256_set1_epi32(0x7fffffff));
    __m256i e = _mm256_add_epi32(_mm256_max_epi32(_mm256_srli_epi32(magnitude, 23), _mm256_set1_epi32(1)),
                                 _mm256_set1_epi32(SUM_ACCUMULATOR_BIAS));
    return _mm256_andnot_si256(_mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()), e);
}

/* acc2 NULL: there is none. */
static inline __m256i larger_accumulator(__m256i exponent, __m256i acc1, const void *acc2)
{
    exponent = _mm256_max_epi32(exponent, accumulator_exponents(acc1));
    return acc2 == NULL ? exponent : _mm256_max_epi32(exponent, accumulator_exponents(_mm256_loadu_si256(acc2)));
}

/* Whether every lane's largest exponent is in the range of single floats (or there is nothing to add). */
static inline int in_range(__m256i exponent)
{
    __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(SUM_EXPONENT_MIN), exponent);
    __m256i above = _mm256_cmpgt_epi32(exponent, _mm256_set1_epi32(SUM_EXPONENT_MAX));
    __m256i something = _mm256_cmpgt_epi32(exponent, _mm256_set1_epi32(SUM_NOTHING_MAX));
    return _mm256_movemask_epi8(_mm256_and_si256(something, _mm256_or_si256(below, above))) == 0;
}

/* What turns a term into units of the sum. */
static inline __m256 scale_of(__m256i exponent)
{
    __m256i e = _mm256_max_epi32(exponent, _mm256_set1_epi32(SUM_EXPONENT_MIN));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(SUM_SCALE_BIAS), e), 23));
}

static inline __m256i aligned(__m256 term, __m256 scale)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(term, scale));
}

static inline unsigned finish(__m256i sum, __m256 scale, void *out)
{
    __m256i unit = _mm256_sub_epi32(_mm256_set1_epi32(SUM_INVERSE_BITS), _mm256_castps_si256(scale));
    __m256i result = _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_castsi256_ps(unit)));
    __m256i magnitude = _mm256_and_si256(result, _mm256_set1_epi32(0x7fffffff));
    _mm256_storeu_si256(out, result);
    __m256i zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    __m256i infinite = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
    unsigned flags = _mm256_movemask_epi8(zero) != 0 ? TW_FLOAT_ZERO : 0;
    return flags | (_mm256_movemask_epi8(infinite) != 0 ? TW_FLOAT_INFINITY | TW_FLOAT_HUGE : 0);
}

static inline __m256i add_accumulators(__m256i sum, __m256i acc1, const void *acc2, __m256 scale)
{
    sum = _mm256_add_epi32(sum, aligned(_mm256_castsi256_ps(acc1), scale));
    return acc2 == NULL ? sum : _mm256_add_epi32(sum, aligned(_mm256_loadu_ps(acc2), scale));
}

static inline __m256 even_floats(__m256i pairs)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
}

static inline __m256 odd_floats(__m256i pairs)
{
    return _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000)));
}

/* The larger of both halves of each lane, none of them negative, plus one: the exponent of a pair of products. */
static inline __m256i pair_exponents(__m256i sums)
{
    __m256i larger = _mm256_max_epi32(_mm256_srli_epi32(sums, 16), _mm256_and_si256(sums, _mm256_set1_epi32(0xffff)));
    return _mm256_add_epi32(larger, _mm256_set1_epi32(1));
}

static inline const void *half_of(const void *vector, int half)
{
    return vector == NULL ? NULL : (const __m256i *)vector + half;
}

/* B with two rows interleaved into pairs in each 128-bit lane, which fills a vector of its own. */
struct factor_b {
    __m256i exponents[4];
    __m256 even[4], odd[4];
    int special;
};

static inline struct factor_b prepare_b(const void *b)
{
    const __m128i interleave = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    struct factor_b f = {.special = 0};
    for (int j = 0; j < 4; j++) {
        __m128i rows = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)b + j), interleave);
        __m256i pairs = _mm256_broadcastsi128_si256(rows);
        f.exponents[j] = exponents_16(pairs);
        f.even[j] = even_floats(pairs);
        f.odd[j] = odd_floats(pairs);
        f.special |= has_nan_or_infinity(f.exponents[j], f.exponents[j]);
    }
    return f;
}

/* Two rows of A lie in the 128-bit lanes of x: a pair of columns of each is broadcast inside its lane. */
#define PAIR(j)                                                                                                        \
    do {                                                                                                               \
        __m256i sums = _mm256_add_epi16(_mm256_shuffle_epi32(ea, 0x55 * (j)), f->exponents[j]);                        \
        largest = _mm256_max_epi16(largest, sums);                                                                     \
        even[j] = _mm256_mul_ps(_mm256_permute_ps(a0, 0x55 * (j)), f->even[j]);                                        \
        odd[j] = _mm256_mul_ps(_mm256_permute_ps(a1, 0x55 * (j)), f->odd[j]);                                          \
    } while (0)

/* Two rows of the result. Returns the flags, or -1: the definition must do it. */
static inline int two_rows(const void *acc1, const void *acc2, const void *a, const struct factor_b *f, void *out)
{
    __m256i c1 = _mm256_loadu_si256(acc1), x = _mm256_loadu_si256(a);
    __m256i ea = exponents_16(x), largest = _mm256_setzero_si256();
    __m256 a0 = even_floats(x), a1 = odd_floats(x), even[4], odd[4];
    PAIR(0);
    PAIR(1);
    PAIR(2);
    PAIR(3);
    __m256i exponent = larger_accumulator(pair_exponents(largest), c1, acc2);
    if (!in_range(exponent) || has_nan_or_infinity(ea, ea))
        return -1;
    __m256 scale = scale_of(exponent);
    __m256i sum = _mm256_setzero_si256();
    for (int j = 0; j < 4; j++)
        sum = _mm256_add_epi32(sum, _mm256_add_epi32(aligned(even[j], scale), aligned(odd[j], scale)));
    return (int)finish(add_accumulators(sum, c1, acc2, scale), scale, out);
}

static unsigned bf16_matrix(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    struct factor_b f = prepare_b(b);
    int low = f.special ? -1 : two_rows(acc1, acc2, a, &f, out);
    int high = low < 0 ? -1 : two_rows(half_of(acc1, 1), half_of(acc2, 1), half_of(a, 1), &f, (__m256i *)out + 1);
    return high < 0 ? wide_bf16_matrix(acc1, acc2, a, b, out) : (unsigned)(low | high);
}

static inline __m256i words(const void *from)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(from));
}

/* Eight lanes of two products each; half: 0 or 1. */
static inline int eight_elements(const void *acc1, const void *acc2, const void *a, const void *b, int half, void *out)
{
    __m256i c1 = _mm256_loadu_si256(acc1);
    const __m128i *x = (const __m128i *)a + half, *y = (const __m128i *)b + half;
    __m256i xs = _mm256_or_si256(words(x), _mm256_slli_epi32(words(x + 2), 16)); /* pairs: lane i, lane i + 16 */
    __m256i ys = _mm256_or_si256(words(y), _mm256_slli_epi32(words(y + 2), 16));
    __m256i ea = exponents_16(xs), eb = exponents_16(ys);
    __m256i sums = _mm256_max_epi16(_mm256_add_epi16(ea, eb), _mm256_setzero_si256());
    __m256i exponent = larger_accumulator(pair_exponents(sums), c1, acc2);
    if (!in_range(exponent) || has_nan_or_infinity(ea, eb))
        return -1;
    __m256 scale = scale_of(exponent);
    __m256i sum = _mm256_add_epi32(aligned(_mm256_mul_ps(even_floats(xs), even_floats(ys)), scale),
                                   aligned(_mm256_mul_ps(odd_floats(xs), odd_floats(ys)), scale));
    return (int)finish(add_accumulators(sum, c1, acc2, scale), scale, out);
}

static unsigned bf16_elements(const void *acc1, const void *acc2, const void *a, const void *b, void *out)
{
    int low = eight_elements(acc1, acc2, a, b, 0, out);
    int high = low < 0 ? -1 : eight_elements(half_of(acc1, 1), half_of(acc2, 1), a, b, 1, (__m256i *)out + 1);
    return high < 0 ? wide_bf16_elements(acc1, acc2, a, b, out) : (unsigned)(low | high);
}

static inline int eight_sums(const void *acc1, const void *acc2, void *out)
{
    __m256i c1 = _mm256_loadu_si256(acc1), exponent = larger_accumulator(_mm256_setzero_si256(), c1, acc2);
    if (!in_range(exponent))
        return -1;
    __m256 scale = scale_of(exponent);
    return (int)finish(add_accumulators(_mm256_setzero_si256(), c1, acc2, scale), scale, out);
}

static unsigned fp32_add(const void *acc1, const void *acc2, void *out)
{
    int low = eight_sums(acc1, acc2, out);
    int high = low < 0 ? -1 : eight_sums(half_of(acc1, 1), half_of(acc2, 1), (__m256i *)out + 1);
    return high < 0 ? wide_fp32_add(acc1, acc2, out) : (unsigned)(low | high);
}

/* ---- integers */

static inline __m256i words_of(__m128i bytes, int is_signed)
{
    return is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

/* A row of 8 bytes, as pairs of words; each pair is multiplied with the same pair of rows of B, column by column. */
static void int8_matrix(int a_signed, int b_signed, const void *a, const void *b, void *out)
{
    __m256i b_pairs[4];
    for (int j = 0; j < 4; j++) {
        __m128i two = _mm_loadu_si128((const __m128i *)b + j);
        b_pairs[j] = words_of(_mm_unpacklo_epi8(two, _mm_unpackhi_epi64(two, two)), b_signed);
    }
    for (int m = 0; m < 4; m++) {
        __m128i bytes = _mm_loadl_epi64((const __m128i *)((const unsigned char *)a + 8 * m));
        __m128i row = a_signed ? _mm_cvtepi8_epi16(bytes) : _mm_cvtepu8_epi16(bytes);
        __m256i rows = _mm256_broadcastsi128_si256(row);
        __m256i sum = _mm256_madd_epi16(_mm256_shuffle_epi32(rows, 0x00), b_pairs[0]);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi32(rows, 0x55), b_pairs[1]));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi32(rows, 0xaa), b_pairs[2]));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi32(rows, 0xff), b_pairs[3]));
        _mm256_storeu_si256((__m256i *)out + m, sum);
    }
}

static void products(const struct tw_mac_mode *mode, int a_signed, int b_signed, const void *a, const void *b,
                     void *out)
{
    if (is_int8_matrix(mode))
        int8_matrix(a_signed, b_signed, a, b, out);
    else
        loop_products(mode, a_signed, b_signed, a, b, out);
}

/* Lanes less than another's, as a mask of 32 bits for the 32 bytes. */
static inline uint64_t less_bytes(unsigned bits, int is_signed, __m256i x, __m256i y)
{
    static const int sign[33] = {[8] = (int)0x80808080, [16] = (int)0x80008000, [32] = (int)0x80000000};
    __m256i flip = _mm256_set1_epi32(is_signed ? 0 : sign[bits]);
    x = _mm256_xor_si256(x, flip);
    y = _mm256_xor_si256(y, flip);
    __m256i less = bits == 8    ? _mm256_cmpgt_epi8(y, x)
                   : bits == 16 ? _mm256_cmpgt_epi16(y, x)
                                : _mm256_cmpgt_epi32(y, x);
    return (uint32_t)_mm256_movemask_epi8(less);
}

static uint64_t less(unsigned bits, int is_signed, const void *a, const void *b)
{
    const __m256i *x = a, *y = b;
    uint64_t bytes = less_bytes(bits, is_signed, _mm256_loadu_si256(x), _mm256_loadu_si256(y)) |
                     less_bytes(bits, is_signed, _mm256_loadu_si256(x + 1), _mm256_loadu_si256(y + 1)) << 32;
    unsigned step = bits / 8;
    uint64_t mask = 0;
    if (step == 1)
        return bytes;
    for (unsigned i = 0; i < 64 / step; i++)
        mask |= (bytes >> (step * i) & 1u) << i;
    return mask;
}

static void select_lanes(unsigned bits, uint64_t mask, const void *a, const void *b, void *out)
{
    unsigned char chosen[64];
    unsigned step = bits / 8;
    for (unsigned i = 0; i < 64; i++)
        chosen[i] = mask >> (i / step) & 1u ? 0xff : 0;
    for (int half = 0; half < 2; half++) {
        __m256i x = _mm256_loadu_si256((const __m256i *)a + half), y = _mm256_loadu_si256((const __m256i *)b + half);
        __m256i m = _mm256_loadu_si256((const __m256i *)chosen + half);
        _mm256_storeu_si256((__m256i *)out + half, _mm256_blendv_epi8(x, y, m));
    }
}

/* Rows, columns and sizes are powers of two, so that bits of a byte's number change places. */
static void shuffle(unsigned mode, const void *a, const void *b, void *out)
{
    const struct tw_shuffle *s = &tw_shuffles[mode];
    unsigned size = (unsigned)__builtin_ctz(s->bits / 8u), rows = (unsigned)__builtin_ctz(s->rows);
    unsigned columns = (unsigned)__builtin_ctz(s->columns), inside = ((1u << (rows + columns)) - 1) << size;
    unsigned char in[128], numbers[64], *to = out;
    memcpy(in, a, 64);
    memcpy(in + 64, b, 64);
    for (unsigned i = 0; i < 64; i++) {
        unsigned at = i + 64u * s->high;
        unsigned row = at >> size & (s->rows - 1u), column = at >> (size + rows) & (s->columns - 1u);
        numbers[i] = (unsigned char)((at & ~inside) | row << (size + columns) | column << size);
    }
    for (unsigned i = 0; i < 64; i++)
        to[i] = in[mode == TW_SHUFFLE_SWAP ? i ^ 2u : numbers[i]];
}

const struct tw_vector_kernels tw_vector_kernels_avx2[2] = {FAST_TABLE("AVX2", 0), FAST_TABLE("AVX2", 1)};
