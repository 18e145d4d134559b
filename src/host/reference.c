#include "host/reference.h"

#include "base/memory.h"
#include "base/thread_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 16  /* columns of a product that one task computes side by side */
#define PIECE 512 /* numbers widened at a time; a multiple of every type's block */

struct tw_reference {
    const struct tw_graph *g;
    double **values; /* per tensor; NULL but for temporary and written bound tensors */
};

/* One operation being run. */
struct job {
    struct tw_reference *r;
    const struct tw_op *op;
    const struct tw_tensor *out, *in[4]; /* NULL where there is no operand */
    struct tw_pool *pool;
    double *scratch;
    size_t scratch_each; /* doubles a worker */
};

static size_t element_bytes(const struct tw_tensor *t)
{
    return tw_type_info(t->type)->bytes;
}

static int is_element_type(const struct tw_tensor *t)
{
    return tw_type_info(t->type)->block == 1;
}

static size_t byte_offset(const struct tw_tensor *t, int64_t batch, int64_t row)
{
    return t->offset + (size_t)batch * t->batch_stride + (size_t)row * t->row_stride;
}

/* n numbers stored in format type, widened; src lies at a block's start. */
static void widen(enum tw_type type, const unsigned char *src, double *dst, int64_t n)
{
    float piece[PIECE];
    while (n > 0) {
        int64_t some = n < PIECE ? n : PIECE;
        tw_row_to_f32(type, src, piece, some);
        for (int64_t i = 0; i < some; i++)
            dst[i] = (double)piece[i];
        src += tw_row_bytes(type, some);
        dst += some;
        n -= some;
    }
}

static void widen_i32(const unsigned char *src, double *dst, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t v;
        memcpy(&v, src + (size_t)i * sizeof v, sizeof v);
        dst[i] = v;
    }
}

/* n numbers of a row from column col; of quantised tensors col is a multiple of the block. */
static void load(const struct tw_reference *r, const struct tw_tensor *t, int64_t batch, int64_t row, int64_t col,
                 int64_t n, double *dst)
{
    const double *values = r->values[t->base];
    size_t at = byte_offset(t, batch, row) + tw_row_bytes(t->type, col);
    if (values != NULL)
        memcpy(dst, values + at / element_bytes(t), (size_t)n * sizeof *dst);
    else if (t->type == TW_I32)
        widen_i32(r->g->tensors[t->base].data + at, dst, n);
    else
        widen(t->type, r->g->tensors[t->base].data + at, dst, n);
}

static void load_row(const struct tw_reference *r, const struct tw_tensor *t, int64_t batch, int64_t row, double *dst)
{
    load(r, t, batch, row, 0, t->cols, dst);
}

/* A row of a written tensor, in place: outputs are never quantised. */
static double *row_of(const struct tw_reference *r, const struct tw_tensor *t, int64_t batch, int64_t row)
{
    return r->values[t->base] + byte_offset(t, batch, row) / element_bytes(t);
}

static void store_row(const struct tw_reference *r, const struct tw_tensor *t, int64_t batch, int64_t row,
                      const double *src)
{
    memcpy(row_of(r, t, batch, row), src, (size_t)t->cols * sizeof *src);
}

static double *scratch_of(const struct job *job, unsigned worker)
{
    return job->scratch + worker * job->scratch_each;
}

/* Runs task count times with `each` doubles of scratch memory a worker. */
static int run_tasks(struct job *job, int64_t count, size_t each, tw_task *task, struct tw_error *err)
{
    size_t doubles, bytes;
    unsigned workers = job->pool == NULL ? 1 : tw_pool_size(job->pool);
    int too_large = tw_mul_size(each, workers, &doubles) || tw_mul_size(doubles, sizeof *job->scratch, &bytes);
    job->scratch = too_large ? NULL : tw_alloc(bytes);
    job->scratch_each = each;
    if (job->scratch == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the float64 form of operation '%s'", tw_op_name(job->op->kind));
    if (job->pool != NULL)
        tw_pool_run(job->pool, (size_t)count, task, job);
    else
        for (int64_t i = 0; i < count; i++)
            task(job, (size_t)i, 0);
    free(job->scratch);
    return TW_OK;
}

/* x/2 * (1 + erf(x / sqrt 2)); by erfc the tail of negative x keeps its digits. */
static double gelu(double x)
{
    return 0.5 * x * erfc(-x * 0.70710678118654752440);
}

/* bt[k][j] = b's number for output column first + j at depth k; columns past the end are 0. */
static void load_block(const struct job *job, int64_t batch, int64_t first, int64_t count, double *line, double *bt)
{
    const struct tw_tensor *b = job->in[1];
    int64_t depth = job->in[0]->cols;
    memset(bt, 0, (size_t)depth * BLOCK * sizeof *bt);
    if (job->op->b_rows) {
        for (int64_t k = 0; k < depth; k++)
            load(job->r, b, batch, k, first, count, bt + k * BLOCK);
        return;
    }
    for (int64_t j = 0; j < count; j++) {
        load_row(job->r, b, batch, first + j, line);
        for (int64_t k = 0; k < depth; k++)
            bt[k * BLOCK + j] = line[k];
    }
}

static void product_row(const struct job *job, int64_t batch, int64_t row, int64_t first, int64_t count, double *line,
                        const double *bt)
{
    const struct tw_op *op = job->op;
    double sum[BLOCK] = {0}, bias[BLOCK] = {0}, addend[BLOCK] = {0};
    load_row(job->r, job->in[0], batch, row, line);
    for (int64_t k = 0; k < job->in[0]->cols; k++)
        for (int j = 0; j < BLOCK; j++)
            sum[j] += line[k] * bt[k * BLOCK + j];
    if (job->in[2] != NULL)
        load(job->r, job->in[2], 0, 0, first, count, bias);
    const struct tw_tensor *onto = op->accumulate ? job->out : job->in[3];
    if (onto != NULL)
        load(job->r, onto, batch, row, first, count, addend);
    double *out = row_of(job->r, job->out, batch, row) + first;
    for (int64_t j = 0; j < count; j++) {
        double v = (double)op->scale * sum[j] + bias[j];
        out[j] = addend[j] + (op->gelu ? gelu(v) : v);
    }
}

static int64_t blocks_of(int64_t cols)
{
    return (cols - 1) / BLOCK + 1;
}

/* A block of output columns, for all rows of all batches that share this matrix of b. */
static void product_task(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct tw_tensor *out = job->out, *b = job->in[1];
    int64_t blocks = blocks_of(out->cols), batch = (int64_t)index / blocks, first = (int64_t)index % blocks * BLOCK;
    int64_t count = out->cols - first < BLOCK ? out->cols - first : BLOCK;
    double *line = scratch_of(job, worker), *bt = line + job->in[0]->cols;
    load_block(job, batch, first, count, line, bt);
    int64_t end = b->batch == 1 ? out->batch : batch + 1;
    for (; batch < end; batch++)
        for (int64_t row = 0; row < out->rows; row++)
            product_row(job, batch, row, first, count, line, bt);
}

static int run_product(struct job *job, struct tw_error *err)
{
    size_t each;
    if (tw_mul_size((size_t)job->in[0]->cols, BLOCK + 1, &each))
        each = SIZE_MAX;
    return run_tasks(job, blocks_of(job->out->cols) * job->in[1]->batch, each, product_task, err);
}

static void softmax(double *x, int64_t n, double scale)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] *= scale;
        largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = exp(x[i] - largest);
        sum += x[i];
    }
    for (int64_t i = 0; i < n; i++)
        x[i] /= sum;
}

static void layer_norm(const struct job *job, double *x, double *factors)
{
    int64_t n = job->out->cols;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; i++)
        mean += x[i];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    double factor = 1 / sqrt(variance / (double)n + (double)job->op->eps);
    load_row(job->r, job->in[1], 0, 0, factors);
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - mean) * factor * factors[i];
    load_row(job->r, job->in[2], 0, 0, factors);
    for (int64_t i = 0; i < n; i++)
        x[i] += factors[i];
}

static void add_row(const struct job *job, int64_t batch, int64_t row, double *x, double *y)
{
    const struct tw_tensor *ty = job->in[1];
    load_row(job->r, ty, ty->batch == 1 ? 0 : batch, ty->rows == 1 ? 0 : row, y);
    for (int64_t i = 0; i < ty->cols; i++)
        x[i] += y[i];
}

/* Operations whose output row depends on the same row of x. */
static void row_task(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct tw_op *op = job->op;
    int64_t batch = (int64_t)index / job->out->rows, row = (int64_t)index % job->out->rows, n = job->out->cols;
    double *x = scratch_of(job, worker), *y = x + n;
    load_row(job->r, job->in[0], batch, row, x);
    if (op->kind == TW_OP_GELU) {
        for (int64_t i = 0; i < n; i++)
            x[i] = gelu(x[i]);
    } else if (op->kind == TW_OP_SCALE) {
        for (int64_t i = 0; i < n; i++)
            x[i] *= (double)op->scale;
    } else if (op->kind == TW_OP_ADD) {
        add_row(job, batch, row, x, y);
    } else if (op->kind == TW_OP_LAYER_NORM) {
        layer_norm(job, x, y);
    } else if (op->kind == TW_OP_SOFTMAX) {
        int64_t seen = op->causal ? op->past + row + 1 : n;
        softmax(x, seen, (double)op->scale);
        memset(x + seen, 0, (size_t)(n - seen) * sizeof *x);
    }
    store_row(job->r, job->out, batch, row, x);
}

static void transpose_task(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct tw_tensor *x = job->in[0];
    int64_t batch = (int64_t)index / x->rows, row = (int64_t)index % x->rows;
    double *line = scratch_of(job, worker);
    load_row(job->r, x, batch, row, line);
    for (int64_t i = 0; i < x->cols; i++)
        row_of(job->r, job->out, batch, i)[row] = line[i];
}

static void im2col_task(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct tw_tensor *x = job->in[0];
    int64_t window = job->op->window, batch = (int64_t)index / job->out->rows, row = (int64_t)index % job->out->rows;
    double *line = scratch_of(job, worker), *out = row_of(job->r, job->out, batch, row);
    for (int64_t j = 0; j < window; j++) {
        int64_t time = row * job->op->stride + j - window / 2;
        if (time >= 0 && time < x->rows)
            load_row(job->r, x, batch, time, line);
        else
            memset(line, 0, (size_t)x->cols * sizeof *line);
        for (int64_t c = 0; c < x->cols; c++)
            out[c * window + j] = line[c];
    }
}

static void gather_task(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    double which, *line = scratch_of(job, worker);
    load(job->r, job->in[1], 0, 0, (int64_t)index, 1, &which);
    load_row(job->r, job->in[0], 0, (int64_t)which, line);
    store_row(job->r, job->out, 0, (int64_t)index, line);
}

static int check_indices(const struct job *job, struct tw_error *err)
{
    for (int64_t i = 0; i < job->in[1]->cols; i++) {
        double which;
        load(job->r, job->in[1], 0, 0, i, 1, &which);
        if (which < 0 || which >= (double)job->in[0]->rows)
            return tw_fail(err, TW_E_ARGUMENT, "index %.0f at place %lld of '%s' is outside the %lld rows of '%s'",
                           which, (long long)i, job->in[1]->name, (long long)job->in[0]->rows, job->in[0]->name);
    }
    return TW_OK;
}

/* The scratch memory of attention: one head's keys (transposed) and values, and a row of queries and of scores. */
struct head {
    double *keys, *values, *query, *scores;
    int64_t width, count; /* of a head, and of keys */
};

static void load_head(const struct job *job, int64_t batch, int64_t first, struct head *h)
{
    const struct tw_tensor *k = job->in[1], *v = job->in[2];
    batch = k->batch == 1 ? 0 : batch;
    for (int64_t i = 0; i < h->count; i++) {
        load(job->r, k, batch, i, first, h->width, h->query);
        for (int64_t d = 0; d < h->width; d++)
            h->keys[d * h->count + i] = h->query[d];
        load(job->r, v, batch, i, first, h->width, h->values + i * h->width);
    }
}

static void attend(const struct job *job, const struct head *h, int64_t seen, double *out)
{
    memset(h->scores, 0, (size_t)seen * sizeof *h->scores);
    for (int64_t d = 0; d < h->width; d++)
        for (int64_t i = 0; i < seen; i++)
            h->scores[i] += h->query[d] * h->keys[d * h->count + i];
    softmax(h->scores, seen, (double)job->op->scale);
    memset(out, 0, (size_t)h->width * sizeof *out);
    for (int64_t i = 0; i < seen; i++)
        for (int64_t d = 0; d < h->width; d++)
            out[d] += h->scores[i] * h->values[i * h->width + d];
}

static void attention_task(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct tw_op *op = job->op;
    const struct tw_tensor *q = job->in[0];
    int64_t batch = (int64_t)index / op->heads;
    struct head h = {.width = q->cols / op->heads, .count = job->in[1]->rows};
    int64_t first = (int64_t)index % op->heads * h.width;
    h.keys = scratch_of(job, worker);
    h.values = h.keys + h.width * h.count;
    h.query = h.values + h.width * h.count;
    h.scores = h.query + h.width;
    load_head(job, batch, first, &h);
    for (int64_t row = 0; row < q->rows; row++) {
        load(job->r, q, batch, row, first, h.width, h.query);
        attend(job, &h, op->causal ? op->past + row + 1 : h.count, row_of(job->r, job->out, batch, row) + first);
    }
}

static int run_attention(struct job *job, struct tw_error *err)
{
    /* Keys and values are tensors, so twice their numbers plus one row of each fits in a size_t. */
    size_t width = (size_t)(job->in[0]->cols / job->op->heads), count = (size_t)job->in[1]->rows;
    return run_tasks(job, job->in[0]->batch * job->op->heads, 2 * width * count + width + count, attention_task, err);
}

static int run_op(struct job *job, struct tw_error *err)
{
    const struct tw_tensor *out = job->out, *x = job->in[0];
    int code;
    switch (job->op->kind) {
    case TW_OP_PRODUCT:
        return run_product(job, err);
    case TW_OP_ATTENTION:
        return run_attention(job, err);
    case TW_OP_TRANSPOSE:
        return run_tasks(job, x->rows * x->batch, (size_t)x->cols, transpose_task, err);
    case TW_OP_IM2COL:
        return run_tasks(job, out->rows * out->batch, (size_t)x->cols, im2col_task, err);
    case TW_OP_GATHER:
        code = check_indices(job, err);
        return code == TW_OK ? run_tasks(job, out->rows, (size_t)out->cols, gather_task, err) : code;
    default:
        return run_tasks(job, out->rows * out->batch, 2 * (size_t)out->cols, row_task, err);
    }
}

/* The double array of a base tensor: NaN for a temporary, a widened copy for bound memory. */
static double *copy_of(const struct tw_tensor *t)
{
    int64_t n = (int64_t)(t->bytes / element_bytes(t));
    size_t bytes;
    double *values = tw_mul_size((size_t)n, sizeof *values, &bytes) ? NULL : tw_alloc(bytes);
    if (values == NULL)
        return NULL;
    if (t->storage == TW_BOUND)
        widen(t->type, t->data, values, n);
    else
        for (int64_t i = 0; i < n; i++)
            values[i] = NAN;
    return values;
}

static int copy_all(struct tw_reference *r, struct tw_error *err)
{
    for (tw_id id = 0; id < r->g->n_tensors; id++) {
        const struct tw_tensor *t = &r->g->tensors[id];
        if (t->storage == TW_VIEW || !is_element_type(t) || (t->storage == TW_BOUND && !t->written))
            continue;
        r->values[id] = copy_of(t);
        if (r->values[id] == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for tensor '%s' in float64", t->name);
    }
    return TW_OK;
}

static int run_all(struct tw_reference *r, struct tw_pool *pool, struct tw_error *err)
{
    int code = copy_all(r, err);
    for (int32_t i = 0; i < r->g->n_ops && code == TW_OK; i++) {
        const struct tw_op *op = &r->g->ops[i];
        struct job job = {.r = r, .op = op, .out = &r->g->tensors[op->out], .pool = pool};
        for (int j = 0; j < 4; j++)
            job.in[j] = op->in[j] == TW_NONE ? NULL : &r->g->tensors[op->in[j]];
        code = run_op(&job, err);
    }
    return code;
}

int tw_reference_run(const struct tw_graph *g, struct tw_pool *pool, struct tw_reference **result, struct tw_error *err)
{
    *result = NULL;
    if (!g->finished)
        return tw_fail(err, TW_E_STATE, "a graph must be finished before it runs");
    struct tw_reference *r = calloc(1, sizeof *r);
    double **values = calloc((size_t)g->n_tensors + 1, sizeof *values);
    if (r == NULL || values == NULL) {
        free(r);
        free(values);
        return tw_fail(err, TW_E_MEMORY, "no memory for a graph of %d tensors in float64", g->n_tensors);
    }
    r->g = g;
    r->values = values;
    int code = run_all(r, pool, err);
    if (code == TW_OK)
        *result = r;
    else
        tw_reference_destroy(r);
    return code;
}

void tw_reference_destroy(struct tw_reference *r)
{
    if (r == NULL)
        return;
    for (tw_id id = 0; id < r->g->n_tensors; id++)
        free(r->values[id]);
    free(r->values);
    free(r);
}

int tw_reference_get(const struct tw_reference *r, tw_id id, double *dst, struct tw_error *err)
{
    if (id < 0 || id >= r->g->n_tensors)
        return tw_fail(err, TW_E_ARGUMENT, "tensor number %d is not in the graph of %d tensors", id, r->g->n_tensors);
    const struct tw_tensor *t = &r->g->tensors[id];
    for (int64_t batch = 0; batch < t->batch; batch++)
        for (int64_t row = 0; row < t->rows; row++, dst += t->cols)
            load_row(r, t, batch, row, dst);
    return TW_OK;
}
