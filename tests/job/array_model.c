#include "job/array_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A matrix in memory as the device addresses it: rows a pitch apart, numbers of one type. */
struct matrix {
    unsigned char *data;
    size_t pitch, size;
    enum tw_type type;
    int64_t rows, cols;
};

static struct matrix matrix_of(const struct tw_graph *g, tw_id id, int64_t m, unsigned char *work)
{
    const struct tw_tensor *t = &g->tensors[id];
    return (struct matrix){tw_tensor_data(g, id, work) + (t->batch == 1 ? 0 : (size_t)m * t->batch_stride),
                           t->storage == TW_BOUND || g->tensors[t->base].storage == TW_BOUND ? t->row_stride
                                                                                             : tw_plan_pitch(g, id),
                           tw_type_info(t->type)->bytes,
                           t->type,
                           t->rows,
                           t->cols};
}

static float get(const struct matrix *x, int64_t row, int64_t col)
{
    float v;
    tw_row_to_f32(x->type, x->data + (size_t)row * x->pitch + (size_t)col * x->size, &v, 1);
    return v;
}

static void put(const struct matrix *x, int64_t row, int64_t col, float v)
{
    tw_row_from_f32(x->type, &v, x->data + (size_t)row * x->pitch + (size_t)col * x->size, 1);
}

/* ---- Who runs the launch */

static int64_t up(int64_t n)
{
    return (n + 31) / 32 * 32;
}

static void zero_around(const struct matrix *x)
{
    for (int64_t row = 0; row < up(x->rows); row++) {
        const int64_t from = row < x->rows ? x->cols : 0;
        memset(x->data + (size_t)row * x->pitch + (size_t)from * x->size, 0, (size_t)(up(x->cols) - from) * x->size);
    }
}

static int is_written(const struct tw_graph *g, const struct tw_step *step, tw_id id)
{
    for (int32_t i = step->first; i < step->first + step->count; i++)
        if (g->tensors[g->ops[i].out].base == g->tensors[id].base)
            return 1;
    return 0;
}

static void zero_operand(const struct tw_graph *g, const struct tw_step *step, tw_id id, unsigned char *work)
{
    if (id == TW_NONE || g->tensors[g->tensors[id].base].storage != TW_TEMP || is_written(g, step, id))
        return;
    for (int64_t m = 0; m < g->tensors[id].batch; m++) {
        const struct matrix x = matrix_of(g, id, m, work);
        zero_around(&x);
    }
}

static void zero_operands(const struct tw_graph *g, const struct tw_step *step, unsigned char *work)
{
    for (int32_t i = step->first; i < step->first + step->count; i++) {
        const struct tw_op *op = &g->ops[i];
        zero_operand(g, step, op->in[0], work);
        zero_operand(g, step, op->in[1], work);
        zero_operand(g, step, op->in[3], work);
    }
}

/* ---- The device */

struct product {
    const struct tw_op *op;
    struct tw_overlay_size size;
    int64_t height, depth, width;
    float *a, *b, *c; /* height x depth, depth x width, height x width */
};

/* Rows of a beyond the product's are not needed: theirs may be anything. */
static void load_a(const struct product *p, const struct matrix *x)
{
    for (int64_t row = 0; row < x->rows; row++)
        tw_row_to_f32(x->type, x->data + (size_t)row * x->pitch, p->a + row * p->depth, p->depth);
}

/* Rounded to bf16, and zero beyond, as packed. */
static void load_packed(const struct product *p, const struct matrix *x)
{
    float *row = malloc((size_t)x->cols * sizeof *row);
    assert_non_null(row);
    memset(p->b, 0, (size_t)(p->depth * p->width) * sizeof *p->b);
    for (int64_t i = 0; i < x->rows; i++) {
        tw_row_to_f32(x->type, x->data + (size_t)i * x->pitch, row, x->cols);
        for (int64_t j = 0; j < x->cols; j++) {
            uint16_t rounded;
            tw_row_from_f32(TW_BF16, &row[j], &rounded, 1);
            tw_row_to_f32(TW_BF16, &rounded, &p->b[p->op->b_rows ? i * p->width + j : j * p->width + i], 1);
        }
    }
    free(row);
}

static void load_b(const struct product *p, const struct matrix *x)
{
    if (p->size.order == TW_OVERLAY_PACKED) {
        load_packed(p, x);
        return;
    }
    for (int64_t k = 0; k < p->depth; k++)
        for (int64_t col = 0; col < p->width; col++)
            p->b[k * p->width + col] = p->op->b_rows ? get(x, k, col) : get(x, col, k);
}

static void multiply(const struct product *p)
{
    for (int64_t row = 0; row < (int64_t)p->size.rows; row++)
        for (int64_t k = 0; k < p->depth; k++) {
            const float a = p->a[row * p->depth + k];
            for (int64_t col = 0; col < p->width; col++)
                p->c[row * p->width + col] += a * p->b[k * p->width + col];
        }
}

static float finish(const struct product *p, float sum, float bias, float addend)
{
    sum += bias;
    if (p->op->gelu)
        sum = (float)(sum / 2 * (1 + erf(sum / sqrt(2.0))));
    return sum + addend;
}

/* Columns beyond: packed B makes zeros, an addend adds its own; all else may be anything. */
static void store(const struct product *p, const struct matrix *c, const struct matrix *d, const float *bias)
{
    for (int64_t row = 0; row < p->height; row++)
        for (int64_t col = 0; col < p->width; col++) {
            const float addend = d == NULL || row >= c->rows ? 0 : get(d, row, col);
            float v = (float)NAN;
            if (row < c->rows && col < c->cols)
                v = finish(p, p->c[row * p->width + col], bias == NULL ? 0 : bias[col], addend);
            else if (row < c->rows && p->size.order == TW_OVERLAY_PACKED)
                v = p->c[row * p->width + col] + addend;
            put(c, row, col, v);
        }
}

static float *numbers(int64_t n)
{
    float *p = calloc((size_t)n, sizeof *p);
    assert_non_null(p);
    return p;
}

static void run_matrix(const struct tw_graph *g, const struct product *p, int64_t m, unsigned char *work)
{
    const struct tw_op *op = p->op;
    const struct matrix a = matrix_of(g, op->in[0], m, work), b = matrix_of(g, op->in[1], m, work);
    const struct matrix c = matrix_of(g, op->out, m, work);
    struct matrix d;
    if (op->in[3] != TW_NONE)
        d = matrix_of(g, op->in[3], m, work);
    memset(p->c, 0, (size_t)(p->height * p->width) * sizeof *p->c);
    load_a(p, &a);
    load_b(p, &b);
    multiply(p);
    store(p, &c, op->in[3] == TW_NONE ? NULL : &d,
          op->in[2] == TW_NONE ? NULL : (const float *)(const void *)tw_tensor_data(g, op->in[2], work));
}

static void run_product(const struct tw_graph *g, const struct tw_op *op, unsigned char *work)
{
    struct product p = {.op = op};
    struct tw_overlay_shape shape;
    tw_plan_size(g, op, &p.size);
    assert_int_equal(tw_overlay_choose(&p.size, &shape, NULL), 0);
    p.height = tw_overlay_height(&shape);
    p.depth = tw_overlay_depth(&shape);
    p.width = tw_overlay_width(&shape);
    p.a = numbers(p.height * p.depth);
    p.b = numbers(p.depth * p.width);
    p.c = numbers(p.height * p.width);
    for (int64_t m = 0; m < g->tensors[op->out].batch; m++)
        run_matrix(g, &p, m, work);
    free(p.a);
    free(p.b);
    free(p.c);
}

void array_model_run(const struct tw_plan *plan, struct tw_host *host, unsigned char *work)
{
    struct tw_error err = {0};
    const struct tw_graph *g = plan->graph;
    for (int32_t s = 0; s < plan->n_steps; s++) {
        const struct tw_step *step = &plan->steps[s];
        if (step->kind == TW_STEP_HOST) {
            if (tw_host_run_some(host, g, step->first, step->count, work, &err) != TW_OK)
                fail_msg("%s", err.text);
            continue;
        }
        zero_operands(g, step, work);
        for (int32_t i = 0; i < 2 * step->count; i++)
            run_product(g, &g->ops[step->first + i % step->count], work);
    }
}
