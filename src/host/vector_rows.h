/* What is computed of rows number by number, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_ROWS_H
#define TW_HOST_VECTOR_ROWS_H

#include "host/kernels.h"
#include "host/vector_exp.h"

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

static void add(const float *x, const float *y, float *sum, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        v_store(sum + i, v_add(v_load(x + i), v_load(y + i)));
    if (i < n)
        v_store_n(sum + i, v_add(v_load_n(x + i, n - i), v_load_n(y + i, n - i)), n - i);
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

#endif
