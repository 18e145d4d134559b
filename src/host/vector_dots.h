/* Products with few rows, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_DOTS_H
#define TW_HOST_VECTOR_DOTS_H

#include "host/vector_numbers.h"

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

#endif
