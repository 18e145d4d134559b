/* Sums of rows, each with a weight, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_WEIGH_H
#define TW_HOST_VECTOR_WEIGH_H

#include "host/vector_dots.h"

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

#endif
