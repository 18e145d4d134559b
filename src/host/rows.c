/* Operations that work row by row: GELU, scale, add, copy, layer norm, softmax. */
#include "host/executor.h"

#include <string.h>

/* Numbers that one task handles: enough that starting it costs nothing against it. */
#define TASK_NUMBERS 16384

struct job {
    const struct tw_host *host;
    const struct tw_op *op;
    struct tw_operand x, y, out; /* y: the second operand of ADD */
    const float *gain, *shift;
    int64_t rows_a_task;
};

/* Row r, counted through all matrices, as row r % rows of matrix r / rows; operands with one of either repeat it. */
static unsigned char *row_at(const struct tw_operand *x, int64_t batch, int64_t row)
{
    size_t b = x->batch > 1 ? (size_t)batch : 0;
    size_t r = x->rows > 1 ? (size_t)row : 0;
    return x->data + b * x->batch_stride + r * x->row_stride;
}

static const float *read_row(const struct job *job, const struct tw_operand *x, const unsigned char *p, float *spare)
{
    if (tw_operand_direct(x))
        return (const float *)(const void *)p;
    job->host->kernels->widen(x->type, p, spare, x->cols);
    return spare;
}

/* Causal rows see a part of x; the rest is 0, whose bytes are 0 in every type. */
static void softmax(const struct job *job, int64_t row, const unsigned char *from, unsigned char *to, float *spare)
{
    int64_t n = job->out.cols;
    const unsigned char *next = row + 1 < job->x.rows ? from + job->x.row_stride : from;
    int64_t seen = job->op->causal ? tw_least(n, (int64_t)job->op->past + row + 1) : n;
    size_t done = tw_row_bytes(job->out.type, seen);
    job->host->kernels->softmax(job->x.type, from, seen, next, job->op->scale, job->out.type, to, spare);
    memset(to + done, 0, tw_row_bytes(job->out.type, n) - done);
}

/* Operations whose kernels know floats only. */
static void run_floats(const struct job *job, int64_t batch, int64_t row, const float *x, float *y, float *spare)
{
    const struct tw_kernels *k = job->host->kernels;
    int64_t n = job->out.cols;
    switch (job->op->kind) {
    case TW_OP_GELU:
        k->gelu(x, y, n);
        break;
    case TW_OP_SCALE:
        k->scale(x, job->op->scale, y, n);
        break;
    default: /* ADD */
        k->add(x, read_row(job, &job->y, row_at(&job->y, batch, row), spare), y, n);
    }
}

static void run_row(const struct job *job, int64_t batch, int64_t row, float *spare)
{
    const struct tw_kernels *k = job->host->kernels;
    enum tw_op_kind kind = job->op->kind;
    int64_t n = job->out.cols;
    unsigned char *to = row_at(&job->out, batch, row);
    const unsigned char *from = row_at(&job->x, batch, row);
    if (kind == TW_OP_SOFTMAX) {
        softmax(job, row, from, to, spare);
        return;
    }
    if (kind == TW_OP_COPY && job->x.type == job->out.type) {
        memcpy(to, from, tw_row_bytes(job->out.type, n));
        return;
    }
    const float *x = read_row(job, &job->x, from, spare);
    if (kind == TW_OP_LAYER_NORM) {
        k->layer_norm(x, job->gain, job->shift, job->op->eps, job->out.type, to, n);
        return;
    }
    if (kind == TW_OP_COPY) {
        k->narrow(job->out.type, x, to, n);
        return;
    }
    int direct = tw_operand_direct(&job->out);
    float *y = direct ? (float *)(void *)to : spare + n;
    run_floats(job, batch, row, x, y, spare + 2 * n);
    if (!direct)
        k->narrow(job->out.type, y, to, n);
}

static void run_some(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    int64_t rows = job->out.rows;
    int64_t first = (int64_t)index * job->rows_a_task;
    int64_t end = tw_least(first + job->rows_a_task, rows * job->out.batch);
    for (int64_t r = first; r < end; r++)
        run_row(job, r / rows, r % rows, tw_own(job->host, worker));
}

/* Gain or shift as aligned floats; a copy in the shared area when they lie oddly. */
static const float *vector_of(struct tw_host *h, const struct tw_graph *g, tw_id id, float *copy)
{
    struct tw_operand v = tw_operand_of(h, g, id);
    return tw_row_read(h->kernels, &v, 0, 0, v.cols, copy);
}

int tw_run_rows(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    struct job job = {.host = h, .op = op};
    job.x = tw_operand_of(h, g, op->in[0]);
    job.out = tw_operand_of(h, g, op->out);
    if (op->kind == TW_OP_ADD)
        job.y = tw_operand_of(h, g, op->in[1]);
    int64_t n = job.out.cols, rows = job.out.rows * job.out.batch;
    int rc = tw_own_reserve(h, 3 * (size_t)n, err);
    if (rc < 0)
        return rc;
    if (op->kind == TW_OP_LAYER_NORM) {
        rc = tw_shared_reserve(h, 2 * (size_t)n, err);
        if (rc < 0)
            return rc;
        job.gain = vector_of(h, g, op->in[1], tw_shared(h));
        job.shift = vector_of(h, g, op->in[2], tw_shared(h) + n);
    }
    job.rows_a_task = n >= TASK_NUMBERS ? 1 : TASK_NUMBERS / n;
    tw_pool_run(h->pool, (size_t)tw_ceil_div(rows, job.rows_a_task), run_some, &job);
    return TW_OK;
}
