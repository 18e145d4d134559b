#include "job/sample.h"

#include "graph/type.h"
#include "job/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { AROUND = 64 /* bytes before and behind a matrix */, GAP_MAX = 40, POISON = 0xff /* not a number in any type */ };

int64_t sample_side(struct tw_random *r, int64_t low, int64_t high)
{
    const double side = (double)low * exp(tw_random_unit(r) * log((double)(high + 1) / (double)low));
    return (int64_t)fmin(side, (double)high);
}

/* ---- memory */

struct matrix {
    unsigned char *data;
    enum tw_type type;
    int64_t cols, rows, stride; /* in numbers; of quantised ones cols */
};

static int is_quantised(enum tw_type type)
{
    return type == TW_Q5_0 || type == TW_Q8_0;
}

static size_t block_bytes(const struct matrix *m)
{
    return 2 * (size_t)AROUND + (size_t)m->rows * tw_row_bytes(m->type, m->stride);
}

/* A block for the matrix, which begins at any byte of it if its numbers are plain. */
static unsigned char *make_block(struct matrix *m, struct tw_random *r)
{
    unsigned char *block = malloc(block_bytes(m));
    assert_non_null(block);
    memset(block, POISON, block_bytes(m));
    m->data = block + AROUND / 2 + (is_quantised(m->type) ? 0 : tw_random_range(r, 0, 7));
    return block;
}

enum { EXACT = -1 /* instead of a spread: multiples of 1/32 */ };

/* Up to 1, or of magnitudes far apart. */
static float number(struct tw_random *r, int spread)
{
    if (spread == EXACT)
        return (float)tw_random_range(r, -32, 32) / 32;
    return ldexpf((float)(2 * tw_random_unit(r) - 1), (int)tw_random_range(r, -spread, spread));
}

static void fill(const struct matrix *m, struct tw_random *r, int spread)
{
    const size_t bytes = tw_row_bytes(m->type, m->cols);
    float *line = malloc((size_t)m->cols * sizeof *line);
    unsigned char *stored = malloc(bytes);
    assert_true(line != NULL && stored != NULL);
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t j = 0; j < m->cols; j++)
            line[j] = number(r, spread);
        tw_row_from_f32(m->type, line, stored, m->cols);
        memcpy(m->data + (size_t)i * tw_row_bytes(m->type, m->stride), stored, bytes);
    }
    free(line);
    free(stored);
}

/* All rows as floats, side by side. */
static float *widen(const struct matrix *m)
{
    const size_t bytes = tw_row_bytes(m->type, m->cols);
    float *all = malloc((size_t)(m->rows * m->cols) * sizeof *all);
    unsigned char *stored = malloc(bytes);
    assert_true(all != NULL && stored != NULL);
    for (int64_t i = 0; i < m->rows; i++) {
        memcpy(stored, m->data + (size_t)i * tw_row_bytes(m->type, m->stride), bytes);
        tw_row_to_f32(m->type, stored, all + i * m->cols, m->cols);
    }
    free(stored);
    return all;
}

/* ---- making one */

static int64_t random_stride(struct tw_random *r, int64_t cols)
{
    return tw_random_range(r, 0, 1) ? cols + tw_random_range(r, 0, GAP_MAX) : 0;
}

static int64_t dense(int64_t stride, int64_t cols)
{
    return stride == 0 ? cols : stride;
}

static struct matrix matrix_a(const struct tw_product *p)
{
    return (struct matrix){(unsigned char *)(uintptr_t)p->a, p->a_type, p->k, p->m, dense(p->a_stride, p->k)};
}

static struct matrix matrix_b(const struct tw_product *p)
{
    const int64_t cols = p->b_columns ? p->k : p->n, rows = p->b_columns ? p->n : p->k;
    return (struct matrix){(unsigned char *)(uintptr_t)p->b, p->b_type, cols, rows, dense(p->b_stride, cols)};
}

static struct matrix matrix_c(const struct tw_product *p)
{
    return (struct matrix){p->c, p->c_type, p->n, p->m, dense(p->c_stride, p->n)};
}

static struct matrix matrix_addend(const struct tw_product *p)
{
    return (struct matrix){(unsigned char *)(uintptr_t)p->addend, TW_F32, p->n, p->m, dense(p->addend_stride, p->n)};
}

static void choose_types(struct sample *s, struct tw_random *r)
{
    struct tw_product *p = &s->p;
    static const enum tw_type a[] = {TW_F32, TW_BF16, TW_F16}, b[] = {TW_F32, TW_BF16, TW_F16, TW_Q8_0, TW_Q5_0};
    p->a_type = a[tw_random_range(r, 0, 2)];
    p->b_type = b[tw_random_range(r, 0, s->is_exact ? 2 : 4)];
    p->c_type = tw_random_range(r, 0, 1) ? TW_F32 : TW_BF16;
    p->b_columns = (int)tw_random_range(r, 0, 1);
    p->b_constant = (int)tw_random_range(r, 0, 1);
    p->gelu = (int)tw_random_range(r, 0, 2) == 0;
    if (is_quantised(p->b_type)) {
        p->b_columns = p->b_constant = 1;
        p->k = (p->k + 31) / 32 * 32;
    }
    p->a_stride = random_stride(r, p->k);
    p->b_stride = is_quantised(p->b_type) ? 0 : random_stride(r, p->b_columns ? p->k : p->n);
    p->c_stride = random_stride(r, p->n);
}

static void make_operands(struct sample *s, struct tw_random *r)
{
    struct tw_product *p = &s->p;
    const int spread = s->is_exact ? EXACT : s->is_rough ? 6 : 0;
    struct matrix a = matrix_a(p), b = matrix_b(p), c = matrix_c(p);
    s->a = make_block(&a, r);
    s->b = make_block(&b, r);
    s->c = make_block(&c, r);
    s->a_bytes = block_bytes(&a);
    s->b_bytes = block_bytes(&b);
    s->c_bytes = block_bytes(&c);
    p->a = a.data;
    p->b = b.data;
    p->c = c.data;
    fill(&a, r, spread);
    fill(&b, r, spread);
}

static void make_bias(struct sample *s, struct tw_random *r)
{
    s->bias = malloc((size_t)s->p.n * sizeof *s->bias);
    assert_non_null(s->bias);
    for (int64_t j = 0; j < s->p.n; j++)
        s->bias[j] = 2 * number(r, s->is_exact ? EXACT : 0);
    s->p.bias = s->bias;
}

/* Memory of its own, or C itself. */
static void make_addend(struct sample *s, struct tw_random *r)
{
    struct tw_product *p = &s->p;
    struct matrix d;
    if (p->c_type == TW_F32 && tw_random_range(r, 0, 1)) {
        d = matrix_c(p);
        p->addend_stride = p->c_stride;
    } else {
        p->addend_stride = random_stride(r, p->n);
        d = matrix_addend(p);
        s->addend = make_block(&d, r);
    }
    p->addend = (const float *)(const void *)d.data;
    fill(&d, r, s->is_exact ? EXACT : 2);
}

static void make(struct sample *s, struct tw_random *r)
{
    choose_types(s, r);
    make_operands(s, r);
    if (tw_random_range(r, 0, 1))
        make_bias(s, r);
    if (tw_random_range(r, 0, 2) == 0)
        make_addend(s, r);
    s->before = malloc(s->c_bytes);
    assert_non_null(s->before);
    memcpy(s->before, s->c, s->c_bytes);
}

void sample_make(struct sample *s, struct tw_random *r, int64_t m, int64_t k, int64_t n)
{
    *s = (struct sample){.p = {.m = m, .k = k, .n = n}, .is_rough = tw_random_range(r, 0, 3) == 0};
    make(s, r);
}

void sample_make_exact(struct sample *s, struct tw_random *r, int64_t m, int64_t k, int64_t n)
{
    *s = (struct sample){.p = {.m = m, .k = k, .n = n}, .is_exact = 1};
    make(s, r);
}

void sample_free(struct sample *s)
{
    tw_graph_destroy(s->g);
    free(s->a);
    free(s->b);
    free(s->c);
    free(s->addend);
    free(s->bias);
    free(s->before);
}

/* ---- running it */

/* The memory from the first number to the last, and a window of it. */
static tw_id bind(struct tw_graph *g, const struct matrix *m)
{
    const int64_t all = (m->rows - 1) * m->stride + m->cols;
    const size_t row_bytes = tw_row_bytes(m->type, m->stride);
    const tw_id whole = tw_graph_bind(g, "matrix", m->type, all, 1, 1, m->data);
    return tw_graph_view(g, whole, m->cols, m->rows, 1, 0, row_bytes, row_bytes * (size_t)m->rows);
}

static void make_graph(struct sample *s)
{
    const struct tw_product *p = &s->p;
    const struct matrix a = matrix_a(p), c = matrix_c(p), d = matrix_addend(p);
    struct tw_error err = {0};
    struct tw_graph *g = s->g = tw_graph_create();
    assert_non_null(g);
    const tw_id b = tw_graph_constant(g, "B", p->b_type, p->k, p->n, 1, p->b), x = bind(g, &a), out = bind(g, &c);
    const tw_id bias = p->bias != NULL ? tw_graph_constant(g, "bias", TW_F32, p->n, 1, 1, p->bias) : TW_NONE;
    tw_id addend = TW_NONE;
    if (p->addend != NULL)
        addend = (const void *)p->addend == p->c ? out : bind(g, &d);
    tw_graph_product_onto(g, out, x, b, bias, addend, (struct tw_product_options){.gelu = p->gelu});
    if (tw_graph_finish(g, &err) != 0)
        fail_msg("%s", err.text);
}

int sample_try(struct sample *s, struct tw_engine *engine, struct tw_error *err)
{
    memcpy(s->c, s->before, s->c_bytes);
    if (is_quantised(s->p.b_type) && s->g == NULL)
        make_graph(s);
    return s->g != NULL ? tw_engine_run(engine, s->g, err) : tw_product_run(engine, &s->p, err);
}

void sample_run(struct sample *s, struct tw_engine *engine, const char *where)
{
    struct tw_error err = {0};
    if (sample_try(s, engine, &err) != 0)
        fail_msg("%s: %s", where, err.text);
}

void sample_forget(const struct sample *s, struct tw_engine *engine)
{
    tw_engine_forget(engine, s->b, s->b_bytes);
    if (s->bias != NULL)
        tw_engine_forget(engine, s->bias, (size_t)s->p.n * sizeof *s->bias);
}

/* ---- comparing it */

static void expect_all_else_as_before(const struct sample *s, const char *where)
{
    const struct matrix c = matrix_c(&s->p);
    const size_t row = tw_row_bytes(c.type, c.stride), written = tw_row_bytes(c.type, c.cols);
    size_t from = 0;
    for (int64_t i = 0; i <= c.rows; i++) {
        const size_t to = i < c.rows ? (size_t)(c.data - s->c) + (size_t)i * row : s->c_bytes;
        if (memcmp(s->c + from, s->before + from, to - from) != 0)
            fail_msg("%s, %lld x %lld x %lld: memory before row %lld of C has changed", where, (long long)s->p.m,
                     (long long)s->p.k, (long long)s->p.n, (long long)i);
        from = to + written;
    }
}

static float *turn(float *columns, int64_t k, int64_t n)
{
    float *rows = malloc((size_t)(k * n) * sizeof *rows);
    assert_non_null(rows);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < k; i++)
            rows[i * n + j] = columns[j * k + i];
    free(columns);
    return rows;
}

static float *addend_of(const struct sample *s)
{
    struct matrix d = matrix_addend(&s->p);
    if (s->p.addend == NULL)
        return NULL;
    if ((const void *)s->p.addend == s->p.c)
        d.data = s->before + (d.data - s->c);
    return widen(&d);
}

static struct reference reference_of(const struct sample *s)
{
    const struct tw_product *p = &s->p;
    const struct matrix a = matrix_a(p), b = matrix_b(p), c = matrix_c(p);
    struct reference x = {.m = p->m,
                          .k = p->k,
                          .n = p->n,
                          .a = widen(&a),
                          .b = widen(&b),
                          .bias = p->bias,
                          .addend = addend_of(s),
                          .found = widen(&c),
                          .gelu = p->gelu,
                          .bf16_out = p->c_type == TW_BF16,
                          .is_rough = s->is_rough};
    if (p->b_columns)
        x.b = turn(x.b, p->k, p->n);
    reference_round(x.a, p->m * p->k);
    reference_round(x.b, p->k * p->n);
    return x;
}

static void free_reference(struct reference *x)
{
    free(x->a);
    free(x->b);
    free(x->addend);
    free(x->found);
}

double sample_check(const struct sample *s, struct tw_pool *pool, const char *where)
{
    struct reference x = reference_of(s);
    expect_all_else_as_before(s, where);
    const double worst = reference_check(&x, pool, where);
    free_reference(&x);
    return worst;
}

void sample_check_passed(const struct sample *s, const char *where)
{
    struct reference x = reference_of(s);
    expect_all_else_as_before(s, where);
    reference_check_passed(&x, where);
    free_reference(&x);
}
