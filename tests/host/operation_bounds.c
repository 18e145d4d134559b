#include "host/operation_bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define EPS 0x1p-20      /* the contract: part of the sum of magnitudes */
#define NOTHING 0x1p-120 /* a weight that small may become 0 */
#define ROUNDING 0x1p-23 /* one or two roundings of a float */

/* An operand as doubles with its shape. */
struct values {
    double *v;
    int64_t cols, rows, batch;
};

int64_t tensor_numbers(const struct tw_tensor *t)
{
    return t->cols * t->rows * t->batch;
}

double *read_tensor(const struct tw_graph *g, tw_id id)
{
    const struct tw_tensor *t = &g->tensors[id];
    const unsigned char *data = tw_tensor_data(g, id, NULL);
    double *dst = malloc((size_t)tensor_numbers(t) * sizeof *dst), *to = dst;
    float *line = malloc((size_t)t->cols * sizeof *line);
    assert_true(dst != NULL && line != NULL);
    for (int64_t i = 0; i < t->rows * t->batch; i++, to += t->cols) {
        const unsigned char *row =
            data + (size_t)(i / t->rows) * t->batch_stride + (size_t)(i % t->rows) * t->row_stride;
        if (t->type == TW_I32) {
            memcpy(line, row, (size_t)t->cols * sizeof *line);
            for (int64_t c = 0; c < t->cols; c++) {
                int32_t number;
                memcpy(&number, line + c, sizeof number);
                to[c] = number;
            }
            continue;
        }
        tw_row_to_f32(t->type, row, line, t->cols);
        for (int64_t c = 0; c < t->cols; c++)
            to[c] = (double)line[c];
    }
    free(line);
    return dst;
}

static struct values values_of(const struct tw_graph *g, tw_id id)
{
    if (id == TW_NONE)
        return (struct values){NULL, 0, 0, 0};
    const struct tw_tensor *t = &g->tensors[id];
    return (struct values){read_tensor(g, id), t->cols, t->rows, t->batch};
}

/* A row; operands with 1 batch or 1 row repeat it. */
static const double *row_at(const struct values *x, int64_t batch, int64_t row)
{
    return x->v + ((x->batch == 1 ? 0 : batch) * x->rows + (x->rows == 1 ? 0 : row)) * x->cols;
}

static double largest_in(const double *x, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Sum of |a * b| over the depth for output row and column. */
static double product_magnitude(const struct tw_op *op, const struct values *a, const struct values *b, int64_t batch,
                                int64_t row, int64_t col)
{
    const double *line = row_at(a, batch, row);
    const double *matrix = b->v + (b->batch == 1 ? 0 : batch) * b->rows * b->cols;
    double sum = 0;
    for (int64_t k = 0; k < a->cols; k++)
        sum += fabs(line[k] * (op->b_rows ? matrix[k * b->cols + col] : matrix[col * b->cols + k]));
    return sum;
}

/* GELU passes errors on at most 1.13 times; adding to what was there is one more number in the sum. */
static void product_bounds(const struct tw_op *op, const struct values *in, const struct values *out, double *bound)
{
    const struct values *addend = op->accumulate ? out : &in[3];
    for (int64_t b = 0; b < out->batch; b++)
        for (int64_t r = 0; r < out->rows; r++)
            for (int64_t c = 0; c < out->cols; c++) {
                double sum = fabs((double)op->scale) * product_magnitude(op, &in[0], &in[1], b, r, c);
                if (in[2].v != NULL)
                    sum += fabs(in[2].v[c]);
                if (op->gelu)
                    sum *= 1.13;
                if (addend->v != NULL)
                    sum += fabs(row_at(addend, b, r)[c]);
                *bound++ = EPS * sum;
            }
}

/* The mean is off by a rounding of the largest number, and everything is stretched to a deviation of 1. */
static void layer_norm_bounds(const struct tw_op *op, const struct values *in, double *bound)
{
    int64_t n = in[0].cols;
    for (int64_t i = 0; i < in[0].rows * in[0].batch; i++) {
        const double *x = in[0].v + i * n;
        double mean = 0, variance = 0;
        for (int64_t c = 0; c < n; c++)
            mean += x[c] / (double)n;
        for (int64_t c = 0; c < n; c++)
            variance += (x[c] - mean) * (x[c] - mean) / (double)n;
        double stretched = largest_in(x, n) / sqrt(variance + (double)op->eps);
        for (int64_t c = 0; c < n; c++)
            *bound++ = EPS * (stretched * fabs(in[1].v[c]) + fabs(in[2].v[c]));
    }
}

/* Exponents are off by roundings of scale * x. */
static void softmax_bounds(const struct tw_op *op, const struct values *in, const double *want, double *bound)
{
    int64_t n = in[0].cols;
    for (int64_t i = 0; i < in[0].rows * in[0].batch; i++) {
        int64_t seen = op->causal ? op->past + i % in[0].rows + 1 : n;
        double exponent = 0;
        for (int64_t c = 0; c < seen; c++)
            if (isfinite(in[0].v[i * n + c]))
                exponent = fmax(exponent, fabs(in[0].v[i * n + c] * (double)op->scale));
        for (int64_t c = 0; c < n; c++, want++)
            *bound++ = c < seen ? fabs(*want) * (EPS + 4 * ROUNDING * exponent) + NOTHING : 0;
    }
}

/* The softmax of one query row and head to p; returns how far a score may be off. */
static double scores(const struct tw_op *op, const double *q, const struct values *k, int64_t batch, int64_t first,
                     int64_t width, int64_t seen, double *p)
{
    double off = 0, largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < seen; j++) {
        const double *key = k->v + ((k->batch == 1 ? 0 : batch) * k->rows + j) * k->cols + first;
        double magnitude = 0;
        p[j] = 0;
        for (int64_t d = 0; d < width; d++) {
            p[j] += (double)op->scale * q[d] * key[d];
            magnitude += fabs((double)op->scale * q[d] * key[d]);
        }
        off = fmax(off, EPS * magnitude);
        largest = fmax(largest, p[j]);
    }
    for (int64_t j = 0; j < seen; j++) {
        p[j] = exp(p[j] - largest);
        sum += p[j];
    }
    for (int64_t j = 0; j < seen; j++)
        p[j] /= sum;
    return off;
}

/*
 * Weights change by at most twice what scores are off, relative to the weighted sum of |v|. With an infinite score
 * nothing is promised: a denormal number times infinity may be infinity, or NaN when it was taken for 0.
 */
static void attention_bounds(const struct tw_op *op, const struct values *in, double *bound)
{
    const struct values *q = &in[0], *k = &in[1], *v = &in[2];
    int64_t width = q->cols / op->heads;
    double *p = malloc((size_t)k->rows * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < q->batch * q->rows * op->heads; i++) {
        int64_t head = i % op->heads, row = i / op->heads % q->rows, batch = i / op->heads / q->rows;
        int64_t seen = op->causal ? op->past + row + 1 : k->rows;
        double off = scores(op, row_at(q, batch, row) + head * width, k, batch, head * width, width, seen, p);
        for (int64_t d = 0; d < width; d++) {
            double sum = 0;
            for (int64_t j = 0; j < seen; j++)
                sum += ((2 * off + 2 * EPS) * p[j] + NOTHING) *
                       fabs(v->v[((v->batch == 1 ? 0 : batch) * v->rows + j) * v->cols + head * width + d]);
            *bound++ = isfinite(off) ? sum : NAN;
        }
    }
    free(p);
}

void operation_bounds(const struct tw_graph *g, const double *want, double *bound)
{
    const struct tw_op *op = &g->ops[0];
    struct values in[4], out = values_of(g, op->out);
    int64_t n = tensor_numbers(&g->tensors[op->out]);
    for (int i = 0; i < 4; i++)
        in[i] = values_of(g, op->in[i]);
    for (int64_t i = 0; i < n; i++)
        bound[i] = op->kind == TW_OP_SCALE || op->kind == TW_OP_ADD ? ROUNDING * fabs(want[i])
                   : op->kind == TW_OP_GELU                         ? EPS * fabs(in[0].v[i])
                                                                    : -1;
    if (op->kind == TW_OP_PRODUCT)
        product_bounds(op, in, &out, bound);
    if (op->kind == TW_OP_LAYER_NORM)
        layer_norm_bounds(op, in, bound);
    if (op->kind == TW_OP_SOFTMAX)
        softmax_bounds(op, in, want, bound);
    if (op->kind == TW_OP_ATTENTION)
        attention_bounds(op, in, bound);
    for (int i = 0; i < 4; i++)
        free(in[i].v);
    free(out.v);
}
