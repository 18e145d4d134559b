/* The kernels in plain C: the right answer, and what runs where no vector unit is known. */
#include "host/kernels.h"
#include "host/pack_kernels.h"
#include "host/sum_kernels.h"

#include <math.h>
#include <string.h>

#define MR 4
#define NR 8

#define RUN 64 /* terms of a float sum before they join a double one */

/* NR neighbouring sums at a time, so that a compiler can keep them in vector registers. */
static void tile_row(int64_t k, const float *a, const float *b, double *sum)
{
    for (int64_t from = 0; from < k; from += RUN) {
        int64_t end = k - from < RUN ? k : from + RUN;
        float part[NR] = {0};
        for (int64_t p = from; p < end; p++)
            for (int j = 0; j < NR; j++)
                part[j] += a[p * MR] * b[p * NR + j];
        for (int j = 0; j < NR; j++)
            sum[j] += (double)part[j];
    }
}

static void tile(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add)
{
    for (int i = 0; i < rows; i++) {
        float *row = c + i * c_stride;
        double sum[NR] = {0};
        for (int j = 0; j < NR && add; j++)
            sum[j] = (double)row[j];
        tile_row(k, a + i, b, sum);
        for (int j = 0; j < NR; j++)
            row[j] = (float)sum[j];
    }
}

static void transpose(const float *const *rows, int n_rows, int64_t n, float *dst, int64_t width)
{
    for (int64_t c = 0; c < n; c++)
        for (int r = 0; r < n_rows; r++)
            dst[c * width + r] = rows[r][c];
}

static double dot(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void dots(enum tw_type type, int rows, int64_t k, const float *a, int64_t a_stride, const unsigned char *w,
                 size_t w_stride, int64_t n, float *out, int64_t out_stride)
{
    for (int64_t j = 0; j < n; j++) {
        double sum[TW_DOT_ROWS] = {0};
        for (int64_t p = 0; p < k; p += TW_CHUNK) {
            float stored[TW_CHUNK];
            int64_t len = k - p < TW_CHUNK ? k - p : TW_CHUNK;
            tw_row_to_f32(type, w + (size_t)j * w_stride + tw_row_bytes(type, p), stored, len);
            for (int r = 0; r < rows; r++)
                sum[r] += dot(a + r * a_stride + p, stored, len);
        }
        for (int r = 0; r < rows; r++)
            out[r * out_stride + j] = (float)sum[r];
    }
}

static void weigh(enum tw_type type, int rows, int64_t n, const float *p, int64_t p_stride, const unsigned char *v,
                  size_t v_stride, int64_t d, float *o, int64_t o_stride)
{
    for (int64_t c = 0; c < d; c++) {
        double sum[TW_DOT_ROWS] = {0};
        for (int64_t j = 0; j < n; j++) {
            float value;
            tw_row_to_f32(type, v + (size_t)j * v_stride + tw_row_bytes(type, c), &value, 1);
            for (int r = 0; r < rows; r++)
                sum[r] += (double)p[r * p_stride + j] * (double)value;
        }
        for (int r = 0; r < rows; r++)
            o[r * o_stride + c] = (float)((double)o[r * o_stride + c] + sum[r]);
    }
}

/* What is subtracted before exp: with nothing but -inf so far any finite number gives the zeros that are due. */
static float reference_of(float max)
{
    return max == -INFINITY ? 0 : max;
}

static void exp_row(const float *x, int64_t n, float scale, struct tw_softmax *state, float *y)
{
    float max = state->max;
    for (int64_t i = 0; i < n; i++)
        max = fmaxf(max, scale * x[i]);
    float base = reference_of(max);
    state->factor = expf(state->max - base);
    double sum = state->sum * (double)state->factor;
    for (int64_t i = 0; i < n; i++) {
        y[i] = expf((float)((double)scale * (double)x[i] - (double)base));
        sum += (double)y[i];
    }
    state->sum = sum;
    state->max = max;
}

static void scale(const float *x, float factor, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = factor * x[i];
}

static void softmax(enum tw_type from, const void *x, int64_t n, const void *next, float factor, enum tw_type to,
                    void *y, float *spare)
{
    (void)next;
    struct tw_softmax state = {.max = -INFINITY};
    tw_row_to_f32(from, x, spare, n);
    exp_row(spare, n, factor, &state, spare);
    scale(spare, (float)(1 / state.sum), spare, n);
    tw_row_from_f32(to, spare, y, n);
}

static void exp_columns(float *s, int64_t n, float *max, float *sum, float *factor)
{
    for (int c = 0; c < NR; c++) {
        float top = max[c];
        for (int64_t j = 0; j < n; j++)
            top = fmaxf(top, s[j * NR + c]);
        float base = reference_of(top);
        factor[c] = expf(max[c] - base);
        double part = 0;
        for (int64_t j = 0; j < n; j++) {
            s[j * NR + c] = expf(s[j * NR + c] - base);
            part += (double)s[j * NR + c];
        }
        sum[c] = sum[c] * factor[c] + (float)part;
        max[c] = top;
    }
}

static void scale_columns(float *s, int64_t n, const float *factor)
{
    for (int64_t j = 0; j < n; j++)
        for (int c = 0; c < NR; c++)
            s[j * NR + c] *= factor[c];
}

/* In double, because rounding x / sqrt 2 to float alone would cost many digits of a small erfc. */
static float gelu_of(float x)
{
    return (float)(0.5 * (double)x * erfc((double)x * -0.70710678118654752440));
}

static void gelu(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = gelu_of(x[i]);
}

static void add(const float *x, const float *y, float *sum, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = x[i] + y[i];
}

static void layer_norm(const float *x, const float *gain, const float *shift, float eps, enum tw_type to, void *y,
                       int64_t n)
{
    unsigned char *at = y;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    double inverse = 1 / sqrt(squares / (double)n + (double)eps);
    for (int64_t i = 0; i < n; i++, at += tw_row_bytes(to, 1)) {
        float v = (float)(((double)x[i] - mean) * inverse * (double)gain[i] + (double)shift[i]);
        tw_row_from_f32(to, &v, at, 1);
    }
}

static void finish(int rows, int64_t n, const float *c, int64_t c_stride, const struct tw_finish *how,
                   const float *bias, float *y, int64_t y_stride)
{
    for (int r = 0; r < rows; r++)
        for (int64_t i = 0; i < n; i++) {
            float v = how->scale * c[r * c_stride + i], *to = &y[r * y_stride + i];
            if (bias != NULL)
                v += bias[i];
            if (how->gelu)
                v = gelu_of(v);
            *to = how->accumulate ? *to + v : v;
        }
}

const struct tw_kernels tw_kernels_c = {
    .name = "c",
    .packing = &tw_pack_kernels_c,
    .sums = &tw_sum_kernels_c,
    .tile_rows = MR,
    .tile_cols = NR,
    .widen = tw_row_to_f32,
    .narrow = tw_row_from_f32,
    .transpose = transpose,
    .tile = tile,
    .dots = dots,
    .weigh = weigh,
    .softmax = softmax,
    .exp_row = exp_row,
    .exp_columns = exp_columns,
    .scale_columns = scale_columns,
    .gelu = gelu,
    .scale = scale,
    .add = add,
    .layer_norm = layer_norm,
    .finish = finish,
};
