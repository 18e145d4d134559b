/* tw_product_run: one product as a graph of one operation. */
#include "base/memory.h"
#include "graph/window.h"
#include "job/engine.h"

/* One matrix in the caller's memory; data NULL: not there. */
struct matrix {
    const char *name;
    const void *data;
    enum tw_type type;
    int64_t cols, rows, stride;
    int constant;
    int64_t numbers; /* from its first to its last one */
};

enum operand { A, B, C, BIAS, ADDEND, OPERANDS };

static int64_t dense(int64_t stride, int64_t cols)
{
    return stride == 0 ? cols : stride;
}

static void list_operands(const struct tw_product *p, struct matrix m[OPERANDS])
{
    const int64_t b_cols = p->b_columns ? p->k : p->n, b_rows = p->b_columns ? p->n : p->k;
    m[A] = (struct matrix){"A", p->a, p->a_type, p->k, p->m, dense(p->a_stride, p->k), 0, 0};
    m[B] = (struct matrix){"B", p->b, p->b_type, b_cols, b_rows, dense(p->b_stride, b_cols), p->b_constant, 0};
    m[C] = (struct matrix){"C", p->c, p->c_type, p->n, p->m, dense(p->c_stride, p->n), 0, 0};
    m[BIAS] = (struct matrix){"bias", p->bias, TW_F32, p->n, 1, p->n, p->b_constant, 0};
    m[ADDEND] = (struct matrix){"addend", p->addend, TW_F32, p->n, p->m, dense(p->addend_stride, p->n), 0, 0};
}

static int check_type(const struct matrix *m, enum operand i, struct tw_error *err)
{
    if (m->type == TW_F32 || m->type == TW_BF16 || (i != C && m->type == TW_F16))
        return TW_OK;
    const struct tw_type_info *info = tw_type_info(m->type);
    return tw_fail(err, TW_E_ARGUMENT, "%s of a product is of type %s; it can be f32%s or bf16", m->name,
                   info != NULL ? info->name : "?", i == C ? "" : ", f16");
}

static int check_span(struct matrix *m, struct tw_error *err)
{
    size_t steps, bytes;
    if (m->stride < m->cols)
        return tw_fail(err, TW_E_SHAPE, "rows of %s are %lld numbers long, but only %lld apart", m->name,
                       (long long)m->cols, (long long)m->stride);
    if (tw_mul_size((size_t)(m->rows - 1), (size_t)m->stride, &steps) || steps > PTRDIFF_MAX - (size_t)m->cols ||
        tw_mul_size(steps + (size_t)m->cols, tw_type_info(m->type)->bytes, &bytes) ||
        bytes > UINTPTR_MAX - (uintptr_t)m->data || bytes > PTRDIFF_MAX)
        return tw_fail(err, TW_E_LIMIT, "%s of a product, %lld rows that are %lld numbers apart, is too large", m->name,
                       (long long)m->rows, (long long)m->stride);
    m->numbers = (int64_t)(steps + (size_t)m->cols);
    return TW_OK;
}

/* The window of a matrix in all of the address space. */
static struct tw_tensor window(const struct matrix *m)
{
    const size_t size = tw_type_info(m->type)->bytes;
    return (struct tw_tensor){.type = m->type,
                              .cols = m->cols,
                              .rows = m->rows,
                              .batch = 1,
                              .row_stride = (size_t)m->stride * size,
                              .batch_stride = (size_t)m->stride * size * (size_t)m->rows,
                              .offset = (size_t)(uintptr_t)m->data};
}

static int is_c(const struct matrix *m, const struct matrix *c)
{
    return m->data == c->data && m->type == c->type && (m->stride == c->stride || m->rows == 1);
}

/* C is written while the others are still read. */
static int check_apart(const struct matrix m[OPERANDS], struct tw_error *err)
{
    const struct tw_tensor c = window(&m[C]);
    for (int i = 0; i < OPERANDS; i++) {
        if (i == C || m[i].data == NULL || (i == ADDEND && is_c(&m[i], &m[C])))
            continue;
        const struct tw_tensor other = window(&m[i]);
        if (tw_window_overlap(&c, &other))
            return tw_fail(err, TW_E_ARGUMENT, "C of a product lies over its %s%s", m[i].name,
                           i == ADDEND ? ", which has to be C itself or none of its memory" : "");
    }
    return TW_OK;
}

/*
 * The memory that C and operands between its rows lie in, as columns of one matrix: to a graph that is one tensor with
 * several views, because of tensors it asks that their memory is apart.
 */
struct shared {
    uintptr_t from, to;
    int has[OPERANDS];
};

static uintptr_t first_byte(const struct matrix *m)
{
    return (uintptr_t)m->data;
}
static uintptr_t end_of(const struct matrix *m)
{
    return first_byte(m) + (size_t)m->numbers * tw_type_info(m->type)->bytes;
}

/* Takes in what overlaps the memory found so far; returns how many did. */
static int widen(const struct matrix m[OPERANDS], struct shared *s)
{
    int found = 0;
    for (int i = 0; i < OPERANDS; i++) {
        if (s->has[i] || m[i].data == NULL || first_byte(&m[i]) >= s->to || end_of(&m[i]) <= s->from)
            continue;
        s->has[i] = 1;
        s->from = first_byte(&m[i]) < s->from ? first_byte(&m[i]) : s->from;
        s->to = end_of(&m[i]) > s->to ? end_of(&m[i]) : s->to;
        found++;
    }
    return found;
}

static int find_shared(const struct matrix m[OPERANDS], struct shared *s, struct tw_error *err)
{
    const size_t size = tw_type_info(m[C].type)->bytes;
    *s = (struct shared){first_byte(&m[C]), end_of(&m[C]), {[C] = 1}};
    while (widen(m, s) > 0)
        continue;
    for (int i = 0; i < OPERANDS; i++)
        if (s->has[i] && (m[i].type != m[C].type || (first_byte(&m[i]) - s->from) % size != 0))
            return tw_fail(err, TW_E_ARGUMENT, "%s of a product lies between the rows of C, but is of another type",
                           m[i].name);
    return TW_OK;
}

static int check(const struct tw_product *p, struct matrix m[OPERANDS], struct tw_error *err)
{
    if (p->m < 1 || p->k < 1 || p->n < 1)
        return tw_fail(err, TW_E_SHAPE, "a product of %lld x %lld x %lld was asked for; no side may be below 1",
                       (long long)p->m, (long long)p->k, (long long)p->n);
    for (int i = 0; i < OPERANDS; i++) {
        if (m[i].data == NULL && i <= C)
            return tw_fail(err, TW_E_ARGUMENT, "%s of a product is nowhere", m[i].name);
        if (m[i].data == NULL)
            continue;
        int code = check_type(&m[i], (enum operand)i, err);
        if (code == TW_OK)
            code = check_span(&m[i], err);
        if (code < 0)
            return code;
    }
    return check_apart(m, err);
}

/* Rows at a distance are a view of the memory from the first to the last number. */
static tw_id bind(struct tw_graph *g, const struct matrix *m)
{
    const int is_dense = m->stride == m->cols || m->rows == 1;
    const int64_t cols = is_dense ? m->cols : m->numbers, rows = is_dense ? m->rows : 1;
    tw_id all = m->constant ? tw_graph_constant(g, m->name, m->type, cols, rows, 1, m->data)
                            : tw_graph_bind(g, m->name, m->type, cols, rows, 1, (void *)(uintptr_t)m->data);
    if (is_dense)
        return all;
    return tw_graph_view(g, all, m->cols, m->rows, 1, 0, (size_t)m->stride * tw_type_info(m->type)->bytes, 0);
}

static void bind_shared(struct tw_graph *g, const struct matrix m[OPERANDS], const struct shared *s,
                        tw_id ids[OPERANDS])
{
    const size_t size = tw_type_info(m[C].type)->bytes;
    void *data = (unsigned char *)m[C].data - (first_byte(&m[C]) - s->from);
    tw_id all = tw_graph_bind(g, m[C].name, m[C].type, (int64_t)((s->to - s->from) / size), 1, 1, data);
    for (int i = 0; i < OPERANDS; i++)
        if (s->has[i])
            ids[i] = tw_graph_view(g, all, m[i].cols, m[i].rows, 1, first_byte(&m[i]) - s->from,
                                   (size_t)m[i].stride * size, 0);
}

static int build(struct tw_graph *g, const struct tw_product *p, const struct matrix m[OPERANDS],
                 const struct shared *s, struct tw_error *err)
{
    const struct tw_product_options options = {.gelu = p->gelu != 0, .b_rows = !p->b_columns};
    tw_id ids[OPERANDS];
    int n_shared = 0;
    for (int i = 0; i < OPERANDS; i++)
        n_shared += s->has[i];
    tw_graph_reset(g);
    if (n_shared > 1)
        bind_shared(g, m, s, ids);
    for (int i = 0; i < OPERANDS; i++)
        if (m[i].data == NULL)
            ids[i] = TW_NONE;
        else if (n_shared == 1 || !s->has[i])
            ids[i] = bind(g, &m[i]);
    tw_graph_product_onto(g, ids[C], ids[A], ids[B], ids[BIAS], ids[ADDEND], options);
    return tw_graph_finish(g, err);
}

int tw_product_run(struct tw_engine *engine, const struct tw_product *product, struct tw_error *err)
{
    struct matrix m[OPERANDS];
    struct shared shared = {0};
    if (engine == NULL || product == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "there is no %s to run", engine == NULL ? "engine" : "product");
    list_operands(product, m);
    int code = check(product, m, err);
    if (code == TW_OK)
        code = find_shared(m, &shared, err);
    if (code < 0)
        return code;
    pthread_mutex_lock(&engine->lock);
    code = build(engine->product, product, m, &shared, err);
    if (code == TW_OK)
        code = tw_runner_run(engine->runner, engine->product, err);
    pthread_mutex_unlock(&engine->lock);
    return code;
}
