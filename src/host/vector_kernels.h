/*
 * The vector kernels that read alike for every instruction set. A kernels_<set>.c includes this file once, after it has
 * defined the vector V of LANES floats and the v_... operations on it, D, as many doubles, turn_square and mix_three.
 *
 * Where bf16 goes in and out, order does not matter, and numbers are taken as pairs (v_load_pairs, v_store_pairs): of
 * 2 * LANES neighbours one vector has those at even places and one those at odd ones, which takes an instruction each.
 * What is stored as pairs must be numbers, or NaNs that came from bf16 numbers.
 */
#include "host/kernels.h"
#include "host/pack_kernels.h"
#include "host/sum_kernels.h"
#include "host/vector.h"

#include <math.h>
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

/* At most LANES rows: squares of LANES by LANES are turned over in registers. */
static void transpose_some(const float *const *rows, int n_rows, int64_t n, float *dst, int64_t width)
{
    for (int64_t c = 0; c < n; c += LANES) {
        int64_t cols = n - c < LANES ? n - c : LANES;
        V v[LANES];
        EACH (r, LANES)
            v[r] = r < n_rows ? v_load_n(rows[r] + c, cols) : v_zero();
        turn_square(v);
        EACH (i, LANES)
            if (i < cols)
                v_store_n(dst + (c + i) * width, v[i], n_rows);
    }
}

/* Three rows become rows of three, side by side: the windows of a convolution. */
static void transpose_three(const float *const *rows, int64_t n, float *dst)
{
    int64_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        V v[3] = {v_load(rows[0] + c), v_load(rows[1] + c), v_load(rows[2] + c)};
        mix_three(v);
        EACH (i, 3)
            v_store(dst + 3 * c + i * LANES, v[i]);
    }
    for (; c < n; c++)
        for (int r = 0; r < 3; r++)
            dst[3 * c + r] = rows[r][c];
}

static void transpose(const float *const *rows, int n_rows, int64_t n, float *dst, int64_t width)
{
    if (n_rows == 3 && width == 3) {
        transpose_three(rows, n, dst);
        return;
    }
    for (int r = 0; r < n_rows; r += LANES)
        transpose_some(rows + r, n_rows - r < LANES ? n_rows - r : LANES, n, dst + r, width);
}

/* ---- products with few rows ---- */

/*
 * Weights come from memory once, in short rows that the processor's own prefetching follows badly. While row j is read,
 * what lies so many bytes further on is asked for: some rows later, or later in a long row.
 */
static size_t bytes_ahead(size_t row_bytes, size_t stride)
{
    const size_t distance = 4096, rows = row_bytes > 0 ? distance / row_bytes : 1;
    if (rows == 0)
        return distance / 2;
    return (rows > 4 ? rows : 4) * stride;
}

INLINE void prefetch_block(enum tw_type type, uintptr_t address)
{
    v_prefetch(address);
    if (type == TW_F32)
        v_prefetch(address + 64);
}

/*
 * rows x cols dots of k numbers; type and both counts are constants, so that the accumulators are registers. Each is
 * added up in the same order, however many there are.
 */
INLINE void dot_block(enum tw_type type, int rows, int cols, int64_t k, const float *a, int64_t a_stride,
                      const unsigned char *w, size_t w_stride, size_t ahead, float *out, int64_t out_stride)
{
    V total[TW_DOT_ROWS][4];
    EACH (r, rows)
        EACH (j, 4)
            total[r][j] = v_zero();
    for (int64_t from = 0; from < k; from += TERMS * LANES) {
        int64_t end = k - from < TERMS * LANES ? k : from + TERMS * LANES, p = from;
        V sum[TW_DOT_ROWS][4];
        EACH (r, rows)
            EACH (j, cols)
                sum[r][j] = v_zero();
        for (; p + BLOCK <= end; p += BLOCK) {
            EACH (j, cols)
                prefetch_block(type, (uintptr_t)w + (size_t)j * w_stride + bytes_of(type, p) + ahead);
            V x[4][BLOCK / LANES];
            EACH (j, cols)
                widen_block(type, w + (size_t)j * w_stride, p, x[j]);
            EACH (s, BLOCK / LANES)
                EACH (r, rows) {
                    V y = v_load(a + r * a_stride + p + s * LANES);
                    EACH (j, cols)
                        sum[r][j] = v_fma(x[j][s], y, sum[r][j]);
                }
        }
        for (; p < end; p += LANES) {
            int64_t some = end - p < LANES ? end - p : LANES;
            EACH (j, cols) {
                V x = widen_some(type, w + (size_t)j * w_stride + tw_row_bytes(type, p), some);
                EACH (r, rows)
                    sum[r][j] = v_fma(x, v_load_n(a + r * a_stride + p, some), sum[r][j]);
            }
        }
        EACH (r, rows)
            EACH (j, cols)
                total[r][j] = v_add(total[r][j], sum[r][j]);
    }
    EACH (r, rows) {
        float four[4];
        v_sum4(total[r][0], total[r][1], total[r][2], total[r][3], four);
        memcpy(out + r * out_stride, four, (size_t)cols * sizeof *four);
    }
}

typedef void dots_function(int64_t k, const float *a, int64_t a_stride, const unsigned char *w, size_t w_stride,
                           size_t ahead, int64_t n, float *out, int64_t out_stride);

/* For n >= DOT_COLS(rows). The last block begins earlier when less than a whole one is left, and repeats results. */
#define DOTS(name, type, rows)                                                                                         \
    static void name(int64_t k, const float *a, int64_t a_stride, const unsigned char *w, size_t w_stride,             \
                     size_t ahead, int64_t n, float *out, int64_t out_stride)                                          \
    {                                                                                                                  \
        const int cols = DOT_COLS(rows);                                                                               \
        for (int64_t next = 0; next < n; next += cols) {                                                               \
            int64_t j = next + cols <= n ? next : n - cols;                                                            \
            dot_block(type, rows, cols, k, a, a_stride, w + (size_t)j * w_stride, w_stride, ahead, out + j,            \
                      out_stride);                                                                                     \
        }                                                                                                              \
    }

/* For any n: fewer columns than a block are taken one by one, as a block of equal ones. */
static void call_dots(dots_function *function, int rows, int64_t k, const float *a, int64_t a_stride,
                      const unsigned char *w, size_t w_stride, size_t ahead, int64_t n, float *out, int64_t out_stride)
{
    const int cols = DOT_COLS(rows);
    if (n >= cols) {
        function(k, a, a_stride, w, w_stride, ahead, n, out, out_stride);
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        float equal[TW_DOT_ROWS * 4];
        function(k, a, a_stride, w + (size_t)j * w_stride, 0, 0, cols, equal, cols);
        for (int r = 0; r < rows; r++)
            out[r * out_stride + j] = equal[r * cols];
    }
}

#define DOTS_OF_ROWS(type_name, type)                                                                                  \
    DOTS(type_name##_1, type, 1)                                                                                       \
    DOTS(type_name##_2, type, 2)                                                                                       \
    DOTS(type_name##_3, type, 3)                                                                                       \
    DOTS(type_name##_4, type, 4)                                                                                       \
    DOTS(type_name##_5, type, 5)                                                                                       \
    DOTS(type_name##_6, type, 6)                                                                                       \
    DOTS(type_name##_7, type, 7)                                                                                       \
    DOTS(type_name##_8, type, 8)                                                                                       \
    static dots_function *const type_name[TW_DOT_ROWS + 1] = {                                                         \
        [1] = type_name##_1, [2] = type_name##_2, [3] = type_name##_3, [4] = type_name##_4,                            \
        [5] = type_name##_5, [6] = type_name##_6, [7] = type_name##_7, [8] = type_name##_8,                            \
    };

DOTS_OF_ROWS(dots_f32, TW_F32)
DOTS_OF_ROWS(dots_f16, TW_F16)
DOTS(dots_bf16, TW_BF16, 1)
DOTS(dots_q5_0, TW_Q5_0, 1)
DOTS(dots_q8_0, TW_Q8_0, 1)

#define NEAR_FLOATS 4096  /* widened floats that stay in the first-level cache beside their use */
#define MOST_FLOATS 20480 /* and what is put there in the end when rows are long */

static void prefetch_row(uintptr_t address, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        v_prefetch(address + i);
}

/* Several rows: stored weights are widened once, some at a time, and serve all rows from there. */
static void dots_widened(enum tw_type type, int rows, int64_t k, const float *a, int64_t a_stride,
                         const unsigned char *w, size_t w_stride, int64_t n, float *out, int64_t out_stride)
{
    float wide[MOST_FLOATS];
    size_t bytes = tw_row_bytes(type, k), ahead = bytes_ahead(bytes, w_stride);
    int64_t fit = NEAR_FLOATS / (k > 0 ? k : 1), group = fit > 4 ? fit / 4 * 4 : 4;
    for (int64_t j = 0; j < n; j += group) {
        int64_t here = n - j < group ? n - j : group;
        for (int64_t i = 0; i < here; i++) {
            const unsigned char *row = w + (size_t)(j + i) * w_stride;
            prefetch_row((uintptr_t)row + ahead, bytes);
            widen(type, row, wide + i * k, k);
        }
        call_dots(dots_f32[rows], rows, k, a, a_stride, (const unsigned char *)wide, (size_t)k * sizeof *wide, 0, here,
                  out + j, out_stride);
    }
}

/* The function for so many rows; NULL when stored weights should be widened first, or taken by one row after the other.
 */
static dots_function *dots_function_of(enum tw_type type, int rows)
{
    switch (type) {
    case TW_F32:
        return dots_f32[rows];
    case TW_F16:
        return dots_f16[rows];
    case TW_BF16:
        return rows == 1 ? dots_bf16 : NULL;
    case TW_Q5_0:
        return rows == 1 ? dots_q5_0 : NULL;
    case TW_Q8_0:
        return rows == 1 ? dots_q8_0 : NULL;
    default:
        return NULL;
    }
}

static void dots(enum tw_type type, int rows, int64_t k, const float *a, int64_t a_stride, const unsigned char *w,
                 size_t w_stride, int64_t n, float *out, int64_t out_stride)
{
    dots_function *function = dots_function_of(type, rows), *one = dots_function_of(type, 1);
    size_t ahead = bytes_ahead(tw_row_bytes(type, k), w_stride);
    if (function != NULL)
        call_dots(function, rows, k, a, a_stride, w, w_stride, ahead, n, out, out_stride);
    else if (k <= MOST_FLOATS / 4)
        dots_widened(type, rows, k, a, a_stride, w, w_stride, n, out, out_stride);
    else
        for (int r = 0; r < rows; r++)
            call_dots(one, 1, k, a + r * a_stride, a_stride, w, w_stride, ahead, n, out + r * out_stride, out_stride);
}

/* ---- sums of rows, each with a weight ---- */

#define ROWS_AHEAD 16 /* rows of a head are short: that many further on, the next ones are asked for */

/* cols vectors of LANES columns; type and both counts are constants. */
INLINE void weigh_block(enum tw_type type, int rows, int cols, int64_t n, const float *p, int64_t p_stride,
                        const unsigned char *v, size_t v_stride, float *o, int64_t o_stride)
{
    V sum[TW_DOT_ROWS][4];
    EACH (r, rows)
        EACH (c, cols)
            sum[r][c] = v_zero();
    for (int64_t j = 0; j < n; j++) {
        V x[4];
        EACH (c, cols) {
            v_prefetch((uintptr_t)v + (size_t)(j + ROWS_AHEAD) * v_stride + bytes_of(type, c * LANES));
            x[c] = widen_at(type, v + (size_t)j * v_stride, c * LANES);
        }
        EACH (r, rows) {
            V weight = v_set(p[r * p_stride + j]);
            EACH (c, cols)
                sum[r][c] = v_fma(weight, x[c], sum[r][c]);
        }
    }
    EACH (r, rows)
        EACH (c, cols) {
            float *to = o + r * o_stride + c * LANES;
            v_store(to, v_add(v_load(to), sum[r][c]));
        }
}

/* The last d < LANES columns of one row. */
static void weigh_rest(enum tw_type type, int64_t n, const float *p, const unsigned char *v, size_t v_stride, int64_t d,
                       float *o)
{
    V sum = v_zero();
    for (int64_t j = 0; j < n; j++)
        sum = v_fma(v_set(p[j]), widen_some(type, v + (size_t)j * v_stride, d), sum);
    v_store_n(o, v_add(v_load_n(o, d), sum), d);
}

typedef void weigh_function(int64_t n, const float *p, int64_t p_stride, const unsigned char *v, size_t v_stride,
                            int64_t d, float *o, int64_t o_stride);

#define WEIGH(name, type, rows)                                                                                        \
    static void name(int64_t n, const float *p, int64_t p_stride, const unsigned char *v, size_t v_stride, int64_t d,  \
                     float *o, int64_t o_stride)                                                                       \
    {                                                                                                                  \
        const int cols = DOT_COLS(rows);                                                                               \
        int64_t c = 0;                                                                                                 \
        for (; c + cols * LANES <= d; c += cols * LANES)                                                               \
            weigh_block(type, rows, cols, n, p, p_stride, v + bytes_of(type, c), v_stride, o + c, o_stride);           \
        for (; c + LANES <= d; c += LANES)                                                                             \
            weigh_block(type, rows, 1, n, p, p_stride, v + bytes_of(type, c), v_stride, o + c, o_stride);              \
        for (int r = 0; r < rows && c < d; r++)                                                                        \
            weigh_rest(type, n, p + r * p_stride, v + bytes_of(type, c), v_stride, d - c, o + r * o_stride + c);       \
    }

WEIGH(weigh_f16, TW_F16, 1)
WEIGH(weigh_bf16, TW_BF16, 1)
WEIGH(weigh_1, TW_F32, 1)
WEIGH(weigh_2, TW_F32, 2)
WEIGH(weigh_3, TW_F32, 3)
WEIGH(weigh_4, TW_F32, 4)
WEIGH(weigh_5, TW_F32, 5)
WEIGH(weigh_6, TW_F32, 6)
WEIGH(weigh_7, TW_F32, 7)
WEIGH(weigh_8, TW_F32, 8)

static weigh_function *const weigh_floats[TW_DOT_ROWS + 1] = {
    [1] = weigh_1, [2] = weigh_2, [3] = weigh_3, [4] = weigh_4,
    [5] = weigh_5, [6] = weigh_6, [7] = weigh_7, [8] = weigh_8,
};

/* Several rows of weights on stored values: as with dots_widened. n at most TERMS. */
static void weigh_widened(enum tw_type type, int rows, int64_t n, const float *p, int64_t p_stride,
                          const unsigned char *v, size_t v_stride, int64_t d, float *o, int64_t o_stride)
{
    const int64_t most = NEAR_FLOATS / TERMS;
    float wide[NEAR_FLOATS];
    for (int64_t c = 0; c < d; c += most) {
        int64_t cols = d - c < most ? d - c : most;
        for (int64_t j = 0; j < n; j++) {
            const unsigned char *row = v + (size_t)j * v_stride + bytes_of(type, c);
            prefetch_row((uintptr_t)row + ROWS_AHEAD * v_stride, bytes_of(type, cols));
            widen(type, row, wide + j * cols, cols);
        }
        weigh_floats[rows](n, p, p_stride, (const unsigned char *)wide, (size_t)cols * sizeof *wide, cols, o + c,
                           o_stride);
    }
}

static void weigh(enum tw_type type, int rows, int64_t n, const float *p, int64_t p_stride, const unsigned char *v,
                  size_t v_stride, int64_t d, float *o, int64_t o_stride)
{
    for (int64_t from = 0; from < n; from += TERMS) {
        int64_t run = n - from < TERMS ? n - from : TERMS;
        const unsigned char *values = v + (size_t)from * v_stride;
        if (type == TW_F32)
            weigh_floats[rows](run, p + from, p_stride, values, v_stride, d, o, o_stride);
        else if (rows > 1)
            weigh_widened(type, rows, run, p + from, p_stride, values, v_stride, d, o, o_stride);
        else if (type == TW_F16)
            weigh_f16(run, p + from, p_stride, values, v_stride, d, o, o_stride);
        else
            weigh_bf16(run, p + from, p_stride, values, v_stride, d, o, o_stride);
    }
}

/* ---- exp and what is made of it ---- */

#define LOG2_E 0x1.715476p+0f

/* p * 2^n where x is large enough, else 0: results under 2^-126 are slow to compute with, and nothing against a sum
 * that has a 1 in it. Ordinary for NaN. */
INLINE V v_exp_end(V x, V p, V n, V shifted)
{
    return v_zero_below(x, v_set(-87.33654f), v_scale2(p, n, shifted));
}

/*
 * exp(x + extra) for x <= 0 and tiny extra, within 1 unit in the last place; NaN for NaN. With n the nearest integer to
 * x / ln 2, exp(x) = 2^n * exp(r), and exp(r) = 1 + r + r^2 * polynomial (minimax, 3e-9 relative).
 */
INLINE V v_exp_sum(V x, V extra)
{
    V shifted = v_fma(x, v_set(LOG2_E), v_set(WHOLE)), n = v_sub(shifted, v_set(WHOLE));
    V r = v_fnma(n, v_set(0x1.62e4p-1f), x); /* ln 2 in two parts; n times the first is exact */
    r = v_add(v_fnma(n, v_set(0x1.7f7d1cp-20f), r), extra);
    V p = v_set(0.00138145968867f);
    p = v_fma(p, r, v_set(0.00836871692045f));
    p = v_fma(p, r, v_set(0.0416683880851f));
    p = v_fma(p, r, v_set(0.166665206313f));
    p = v_fma(p, r, v_set(0.499999934476f));
    p = v_add(v_fma(v_mul(r, r), p, r), v_set(1));
    return v_exp_end(x, p, n, shifted);
}

/*
 * exp(x) for x <= 0, within 2^-21 relative and exact for 0: what a softmax needs. The polynomial (minimax, 2^-23.3) has
 * a term less, and ln 2 as one float is off by 2^-29, at most 126 times.
 */
INLINE V v_exp(V x)
{
    V shifted = v_fma(x, v_set(LOG2_E), v_set(WHOLE)), n = v_sub(shifted, v_set(WHOLE));
    V r = v_fnma(n, v_set(0x1.62e43p-1f), x);
    V p = v_set(0.00829022565f);
    p = v_fma(p, r, v_set(0.0418983921f));
    p = v_fma(p, r, v_set(0.166676402f));
    p = v_fma(p, r, v_set(0.499991447f));
    p = v_fma(p, r, v_set(0.999999702f));
    p = v_fma(p, r, v_set(1));
    return v_exp_end(x, p, n, shifted);
}

/*
 * x * Phi(x), Phi the normal distribution. For u = |x|: Phi(-u) = exp(-u^2 / 2) * h(u), where h falls smoothly from 1/2
 * like 0.4 / u; h(u) * (u + 4) is a polynomial in (u - 4) / (u + 4) (minimax, 2^-26.8 relative). The square is kept in
 * two parts because exp turns its rounding error into a relative one. So small results of negative x are as exact as
 * others.
 */
INLINE V v_gelu(V x)
{
    V u = v_min(v_set(16), v_abs(x));
    V square = v_mul(u, u), rest = v_sub(v_zero(), v_fnma(u, u, square));
    V e = v_exp_sum(v_mul(v_set(-0.5f), square), v_mul(v_set(-0.5f), rest));
    V inverse = v_inverse(v_add(u, v_set(4)));
    V q = v_mul(v_sub(u, v_set(4)), inverse);
    V p = v_set(-0.000131971730592f);
    p = v_fma(p, q, v_set(0.000179354349772f));
    p = v_fma(p, q, v_set(0.00156992348952f));
    p = v_fma(p, q, v_set(-0.00351255403094f));
    p = v_fma(p, q, v_set(-0.00752527135573f));
    p = v_fma(p, q, v_set(0.0604038310984f));
    p = v_fma(p, q, v_set(-0.186523441462f));
    p = v_fma(p, q, v_set(0.387136901109f));
    p = v_fma(p, q, v_set(-0.60789658827f));
    p = v_fma(p, q, v_set(0.755285135384f));
    V below = v_mul(v_mul(e, inverse), p);
    return v_mul(x, v_if_negative(x, below, v_sub(v_set(1), below)));
}

static void gelu(const float *x, float *y, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        v_store(y + i, v_gelu(v_load(x + i)));
    if (i < n)
        v_store_n(y + i, v_gelu(v_load_n(x + i, n - i)), n - i);
}

static void scale(const float *x, float factor, float *y, int64_t n)
{
    V f = v_set(factor);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        v_store(y + i, v_mul(v_load(x + i), f));
    if (i < n)
        v_store_n(y + i, v_mul(v_load_n(x + i, n - i), f), n - i);
}

/* What is subtracted before exp: with nothing but -inf so far any finite number gives the zeros that are due. */
static float reference_of(float max)
{
    return max == -INFINITY ? 0 : max;
}

static float largest(const float *x, int64_t n, float scale, float max)
{
    V most = v_set(max), factor = v_set(scale);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        most = v_max(v_mul(factor, v_load(x + i)), most);
    max = v_largest(most);
    for (; i < n; i++)
        max = scale * x[i] > max ? scale * x[i] : max;
    return max;
}

/* 2^x for x <= 0, within 2^-22 relative and exact for 0; NaN for NaN. */
INLINE V v_exp2(V x)
{
    const float terms[] = {EXP2_TERMS, 1};
    V shifted, r = v_part(x, &shifted), p = v_set(terms[0]);
    EACH (i, 5)
        p = v_fma(p, r, v_set(terms[i + 1]));
    return v_zero_below(x, v_set(-126), v_scale2(p, x, shifted));
}

/* The sum of e = exp(scale * x - base) for n numbers, which go to y. */
static double exp_sum(const float *x, int64_t n, float scale, float base, float *y)
{
    V factor = v_set(scale), offset = v_set(-base);
    D sum = d_zero();
    for (int64_t from = 0; from < n; from += TERMS * LANES) {
        int64_t end = n - from < TERMS * LANES ? n : from + TERMS * LANES, i = from;
        V part = v_zero();
        for (; i + LANES <= end; i += LANES) {
            V e = v_exp(v_fma(factor, v_load(x + i), offset));
            v_store(y + i, e);
            part = v_add(part, e);
        }
        if (i < end) {
            V e = v_exp(v_fma(factor, v_load_n(x + i, end - i), offset));
            v_store_n(y + i, e, end - i);
            part = v_add(part, v_keep(e, end - i));
        }
        sum = d_add(sum, part);
    }
    return d_sum(sum);
}

static void exp_row(const float *x, int64_t n, float scale, struct tw_softmax *state, float *y)
{
    float max = largest(x, n, scale, state->max), base = reference_of(max), lanes[LANES];
    v_store(lanes, v_exp(v_set(state->max - base)));
    state->factor = lanes[0];
    state->sum = state->sum * (double)state->factor + exp_sum(x, n, scale, base, y);
    state->max = max;
}

/* The largest of n >= PAIRS bf16 numbers; NaNs do not count. Looking at some twice does no harm. */
static float largest_bf16(const unsigned char *x, int64_t n)
{
    V most[4], v[2];
    EACH (c, 4)
        most[c] = v_set(-INFINITY);
    for (int64_t i = 0; i < n; i += 2 * PAIRS) {
        EACH (h, 2) {
            int64_t at = i + h * PAIRS;
            v_load_pairs(x + 2 * (n - at < PAIRS ? n - PAIRS : at), v);
            EACH (c, 2)
                most[2 * h + c] = v_max(v[c], most[2 * h + c]);
        }
    }
    return v_largest(v_max(v_max(most[0], most[1]), v_max(most[2], most[3])));
}

/* e = 2^(factor * x + offset). */
INLINE void exp2_pairs(const unsigned char *x, V factor, V offset, V *e)
{
    v_load_pairs(x, e);
    EACH (c, 2)
        e[c] = v_exp2(v_fma(factor, e[c], offset));
}

/*
 * The sum of 2^(scale * x - base) for n bf16 numbers, which go to y in pairs, to a whole number of them. The row at
 * next is asked for meanwhile.
 */
static double exp2_sum(const unsigned char *x, int64_t n, const unsigned char *next, float scale, float base, float *y)
{
    V factor = v_set(scale), offset = v_set(-base), e[2];
    D sum = d_zero();
    for (int64_t from = 0; from < n; from += TERMS * PAIRS) {
        int64_t end = n - from < TERMS * PAIRS ? n : from + TERMS * PAIRS, i = from;
        V part[2] = {v_zero(), v_zero()};
        for (; i + PAIRS <= end; i += PAIRS) {
            v_prefetch((uintptr_t)next + 2 * (size_t)i);
            exp2_pairs(x + 2 * i, factor, offset, e);
            EACH (c, 2) {
                v_store(y + i + c * LANES, e[c]);
                part[c] = v_add(part[c], e[c]);
            }
        }
        if (i < end) {
            unsigned char some[2 * PAIRS] = {0};
            memcpy(some, x + 2 * i, 2 * (size_t)(end - i));
            exp2_pairs(some, factor, offset, e);
            EACH (c, 2) {
                v_store(y + i + c * LANES, e[c]);
                part[c] = v_add(part[c], v_keep(e[c], (end - i + 1 - c) / 2));
            }
        }
        sum = d_add(d_add(sum, part[0]), part[1]);
    }
    return d_sum(sum);
}

/* n numbers in pairs, times factor, as bf16. */
static void scale_pairs(const float *x, float factor, unsigned char *y, int64_t n)
{
    V f = v_set(factor);
    int64_t i = 0;
    for (; i + PAIRS <= n; i += PAIRS) {
        V v[2] = {v_mul(v_load(x + i), f), v_mul(v_load(x + i + LANES), f)};
        v_store_pairs(y + 2 * i, v);
    }
    if (i < n) {
        unsigned char some[2 * PAIRS];
        V v[2] = {v_mul(v_load(x + i), f), v_mul(v_load(x + i + LANES), f)};
        v_store_pairs(some, v);
        memcpy(y + 2 * i, some, 2 * (size_t)(n - i));
    }
}

static void softmax(enum tw_type from, const void *x, int64_t n, const void *next, float factor, enum tw_type to,
                    void *y, float *spare)
{
    if (from == TW_BF16 && to == TW_BF16 && n >= PAIRS) {
        /* With any other factor the largest product may not be that of the largest number. */
        float factor2 = factor * LOG2_E, base = factor2 > 0 ? factor2 * largest_bf16(x, n) : NAN;
        if (isfinite(base)) {
            double sum = exp2_sum(x, n, next, factor2, base, spare);
            scale_pairs(spare, (float)(1 / sum), y, n);
            return;
        }
    }
    struct tw_softmax state = {.max = -INFINITY};
    widen(from, x, spare, n);
    exp_row(spare, n, factor, &state, spare);
    scale(spare, (float)(1 / state.sum), spare, n);
    narrow(to, spare, y, n);
}

#define WIDE (NR / LANES) /* vectors in a row of the register tile */

static void exp_columns(float *s, int64_t n, float *max, float *sum, float *factor)
{
    V most[WIDE], base[WIDE], total[WIDE];
    EACH (c, WIDE)
        most[c] = v_load(max + c * LANES);
    for (int64_t j = 0; j < n; j++)
        EACH (c, WIDE)
            most[c] = v_max(v_load(s + j * NR + c * LANES), most[c]);
    EACH (c, WIDE) {
        base[c] = v_if_equal(most[c], v_set(-INFINITY), v_zero(), most[c]);
        V f = v_exp(v_sub(v_load(max + c * LANES), base[c]));
        v_store(factor + c * LANES, f);
        v_store(max + c * LANES, most[c]);
        total[c] = v_mul(v_load(sum + c * LANES), f);
    }
    for (int64_t from = 0; from < n; from += TERMS) {
        int64_t end = n - from < TERMS ? n : from + TERMS;
        V part[WIDE];
        EACH (c, WIDE)
            part[c] = v_zero();
        for (int64_t j = from; j < end; j++)
            EACH (c, WIDE) {
                float *at = s + j * NR + c * LANES;
                V e = v_exp(v_sub(v_load(at), base[c]));
                v_store(at, e);
                part[c] = v_add(part[c], e);
            }
        EACH (c, WIDE)
            total[c] = v_add(total[c], part[c]);
    }
    EACH (c, WIDE)
        v_store(sum + c * LANES, total[c]);
}

static void scale_columns(float *s, int64_t n, const float *factor)
{
    V f[WIDE];
    EACH (c, WIDE)
        f[c] = v_load(factor + c * LANES);
    for (int64_t j = 0; j < n; j++)
        EACH (c, WIDE)
            v_store(s + j * NR + c * LANES, v_mul(v_load(s + j * NR + c * LANES), f[c]));
}

/* ---- rows ---- */

static void add(const float *x, const float *y, float *sum, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        v_store(sum + i, v_add(v_load(x + i), v_load(y + i)));
    if (i < n)
        v_store_n(sum + i, v_add(v_load_n(x + i, n - i), v_load_n(y + i, n - i)), n - i);
}

static double mean_of(const float *x, int64_t n)
{
    D sum = d_zero();
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum = d_add(sum, v_load(x + i));
    if (i < n)
        sum = d_add(sum, v_load_n(x + i, n - i));
    return d_sum(sum) / (double)n;
}

/* x - (high + low): high nearly cancels x, so that the difference is as exact as x is. */
INLINE V deviation(V x, V high, V low)
{
    return v_sub(v_sub(x, high), low);
}

/* What turns x to (x - mean) / deviation: subtract high and low, multiply with inverse. */
struct norm {
    float high, low, inverse;
};

/* For any numbers: in double. */
static struct norm norm_in_double(const float *x, float eps, int64_t n)
{
    double mean = mean_of(x, n);
    struct norm m = {.high = (float)mean};
    m.low = (float)(mean - (double)m.high);
    V high = v_set(m.high), low = v_set(m.low);
    D squares = d_zero();
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        squares = d_add_square(squares, deviation(v_load(x + i), high, low));
    if (i < n)
        squares = d_add_square(squares, v_keep(deviation(v_load_n(x + i, n - i), high, low), n - i));
    m.inverse = (float)(1 / sqrt(d_sum(squares) / (double)n + (double)eps));
    return m;
}

/* Four registers of floats side by side, because each sum has to wait for the one before it. */
#define SIDES 4
#define SIDE_NUMBERS (TERMS * SIDES * LANES) /* a run in which no register gets more than about TERMS numbers */

INLINE D d_add_sides(D sum, const V *part)
{
    return d_add(sum, v_add(v_add(part[0], part[1]), v_add(part[2], part[3])));
}

static float mean_near(const float *x, int64_t n)
{
    D sum = d_zero();
    for (int64_t from = 0; from < n; from += SIDE_NUMBERS) {
        int64_t end = n - from < SIDE_NUMBERS ? n : from + SIDE_NUMBERS, i = from;
        V part[SIDES];
        EACH (c, SIDES)
            part[c] = v_zero();
        for (; i + SIDES * LANES <= end; i += SIDES * LANES)
            EACH (c, SIDES)
                part[c] = v_add(part[c], v_load(x + i + c * LANES));
        for (; i < end; i += LANES)
            part[0] = v_add(part[0], v_load_n(x + i, end - i < LANES ? end - i : LANES));
        sum = d_add_sides(sum, part);
    }
    return (float)(d_sum(sum) / (double)n);
}

/* What numbers differ from `from`: the sum of that, and the sum of its squares. */
static void differences(const float *x, float from, int64_t n, double *sum, double *square_sum)
{
    V base = v_set(from);
    D all = d_zero(), all_squares = d_zero();
    for (int64_t first = 0; first < n; first += SIDE_NUMBERS) {
        int64_t end = n - first < SIDE_NUMBERS ? n : first + SIDE_NUMBERS, i = first;
        V part[SIDES], squares[SIDES];
        EACH (c, SIDES)
            part[c] = squares[c] = v_zero();
        for (; i + SIDES * LANES <= end; i += SIDES * LANES)
            EACH (c, SIDES) {
                V d = v_sub(v_load(x + i + c * LANES), base);
                part[c] = v_add(part[c], d);
                squares[c] = v_fma(d, d, squares[c]);
            }
        for (; i < end; i += LANES) {
            int64_t rest = end - i < LANES ? end - i : LANES;
            V d = v_keep(v_sub(v_load_n(x + i, rest), base), rest);
            part[0] = v_add(part[0], d);
            squares[0] = v_fma(d, d, squares[0]);
        }
        all = d_add_sides(all, part);
        all_squares = d_add_sides(all_squares, squares);
    }
    *sum = d_sum(all);
    *square_sum = d_sum(all_squares);
}

/*
 * Quickly, for ordinary numbers: a float near the mean is found first, then in one pass how far off it is and the sum
 * of squares around it. The difference below loses nothing: the float is off by a few units in the last place of the
 * numbers, and where that matters beside the deviation, differences are so few units that their sums are exact.
 */
static struct norm norm_of(const float *x, float eps, int64_t n)
{
    float high = mean_near(x, n);
    double sum, squares;
    differences(x, high, n, &sum, &squares);
    double off = sum / (double)n, mean_square = squares / (double)n;
    if (!(mean_square > 0x1p-80 && mean_square < 0x1p+80)) /* overflow and underflow */
        return norm_in_double(x, eps, n);
    double variance = mean_square - off * off;
    return (struct norm){.high = high, .low = (float)off, .inverse = (float)(1 / sqrt(variance + (double)eps))};
}

INLINE void layer_norm_to(const float *x, const float *gain, const float *shift, struct norm m, enum tw_type to,
                          unsigned char *y, int64_t n)
{
    V high = v_set(m.high), low = v_set(m.low), inverse = v_set(m.inverse);
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        V d[2];
        EACH (c, 2) {
            int64_t at = i + c * LANES;
            d[c] = v_mul(deviation(v_load(x + at), high, low), inverse);
            d[c] = v_fma(d[c], v_load(gain + at), v_load(shift + at));
        }
        narrow_two(to, y, i, d);
    }
    for (; i < n; i += LANES) {
        int64_t rest = n - i < LANES ? n - i : LANES;
        V d = v_mul(deviation(v_load_n(x + i, rest), high, low), inverse);
        narrow_some(to, y, i, v_fma(d, v_load_n(gain + i, rest), v_load_n(shift + i, rest)), rest);
    }
}

static void layer_norm(const float *x, const float *gain, const float *shift, float eps, enum tw_type to, void *y,
                       int64_t n)
{
    struct norm m = norm_of(x, eps, n);
    if (to == TW_BF16)
        layer_norm_to(x, gain, shift, m, TW_BF16, y, n);
    else if (to == TW_F16)
        layer_norm_to(x, gain, shift, m, TW_F16, y, n);
    else
        layer_norm_to(x, gain, shift, m, TW_F32, y, n);
}

/* One row of a product's results; whether there is a GELU and an old value are constants. */
INLINE void finish_row(int64_t n, const float *c, float factor, const float *bias, int with_gelu, int accumulate,
                       float *y)
{
    V f = v_set(factor);
    for (int64_t i = 0; i < n; i += LANES) {
        int64_t rest = n - i;
        int whole = rest >= LANES;
        V b = bias == NULL ? v_zero() : whole ? v_load(bias + i) : v_load_n(bias + i, rest);
        V v = v_fma(whole ? v_load(c + i) : v_load_n(c + i, rest), f, b);
        if (with_gelu)
            v = v_gelu(v);
        if (accumulate)
            v = v_add(v, whole ? v_load(y + i) : v_load_n(y + i, rest));
        if (whole)
            v_store(y + i, v);
        else
            v_store_n(y + i, v, rest);
    }
}

static void finish(int rows, int64_t n, const float *c, int64_t c_stride, const struct tw_finish *how,
                   const float *bias, float *y, int64_t y_stride)
{
    for (int r = 0; r < rows; r++) {
        const float *from = c + r * c_stride;
        float *to = y + r * y_stride;
        if (how->gelu && how->accumulate)
            finish_row(n, from, how->scale, bias, 1, 1, to);
        else if (how->gelu)
            finish_row(n, from, how->scale, bias, 1, 0, to);
        else if (how->accumulate)
            finish_row(n, from, how->scale, bias, 0, 1, to);
        else
            finish_row(n, from, how->scale, bias, 0, 0, to);
    }
}

/* ---- the register tile ---- */

/* Panels of a come from the second-level cache, each used once in a while, and are asked for so many terms ahead: this
 * is worth 5 to 9 in a hundred. Panels of b stay near from tile to tile. */
#define TERMS_AHEAD 16

/* A run of at most TERMS terms; defined by who includes this file, with TILE. */
static void tile_run(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add_to);

static void tile(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add_to)
{
    for (int64_t from = 0; from < k; from += TERMS) {
        int64_t n = k - from < TERMS ? k - from : TERMS;
        tile_run(rows, n, a + from * MR, b + from * NR, c, c_stride, add_to || from > 0);
    }
}

/*
 * TILE(name, rows) makes a tile of NR = 2 * LANES columns; rows(X) is X(0) X(1) and so on. Each row has two
 * accumulators with names of their own, and the function stays by itself: both keep compilers from moving accumulators
 * to memory.
 */
#define START(i) V s##i = v_zero(), t##i = v_zero();
#define STEP(i)                                                                                                        \
    x = v_set(a[i]);                                                                                                   \
    s##i = v_fma(x, left, s##i);                                                                                       \
    t##i = v_fma(x, right, t##i);
#define ADD(i)                                                                                                         \
    s##i = v_add(s##i, v_load(c + i * c_stride));                                                                      \
    t##i = v_add(t##i, v_load(c + i * c_stride + LANES));
#define STORE(i)                                                                                                       \
    v_store(c + i * c_stride, s##i);                                                                                   \
    v_store(c + i * c_stride + LANES, t##i);

#define TILE(name, rows)                                                                                               \
    static __attribute__((noinline)) void name(int64_t k, const float *a, const float *b, float *c, int64_t c_stride,  \
                                               int add_to)                                                             \
    {                                                                                                                  \
        rows(START) for (int64_t p = 0; p < k; p++, a += MR, b += NR)                                                  \
        {                                                                                                              \
            v_prefetch((uintptr_t)a + TERMS_AHEAD * MR * sizeof *a);                                                   \
            V left = v_load(b), right = v_load(b + LANES), x;                                                          \
            rows(STEP)                                                                                                 \
        }                                                                                                              \
        if (add_to) {                                                                                                  \
            rows(ADD)                                                                                                  \
        }                                                                                                              \
        rows(STORE)                                                                                                    \
    }

#define VECTOR_KERNELS(set)                                                                                            \
    {                                                                                                                  \
        .name = #set, .packing = &tw_pack_kernels_##set, .sums = &tw_sum_kernels_##set, .tile_rows = MR,               \
        .tile_cols = NR, .widen = widen, .narrow = narrow, .transpose = transpose, .tile = tile, .dots = dots,         \
        .weigh = weigh, .softmax = softmax, .exp_row = exp_row, .exp_columns = exp_columns,                            \
        .scale_columns = scale_columns, .gelu = gelu, .scale = scale, .add = add, .layer_norm = layer_norm,            \
        .finish = finish                                                                                               \
    }
