/* Operations that move numbers: transpose, im2col, gather. */
#include "host/executor.h"

#include <string.h>

#define SIDE                                                                                                           \
    64                     /* of the square that a transpose moves at a time: whole cache lines on both sides, and its \
                              numbers stay in the first-level cache */
#define TASK_SQUARES 4     /* squares of a task, side by side */
#define TASK_NUMBERS 16384 /* numbers that a task of the others moves */

struct job {
    const struct tw_host *host;
    const struct tw_op *op;
    struct tw_operand x, out;
    const unsigned char *indices;
    int64_t down, across; /* TRANSPOSE: tasks of a matrix */
    int64_t rows_a_task;  /* IM2COL and GATHER */
};

/* Rows and columns of x from (row, col) on, at most SIDE of both. */
static void transpose_square(const struct tw_kernels *k, const struct tw_operand *x, const struct tw_operand *out,
                             int64_t row, int64_t col, float *spare)
{
    int64_t n_rows = tw_least(SIDE, x->rows - row), n = tw_least(SIDE, x->cols - col);
    float *square = spare + TW_TRANSPOSE_ROWS * SIDE;
    for (int64_t r = 0; r < n_rows; r += TW_TRANSPOSE_ROWS) {
        const float *rows[TW_TRANSPOSE_ROWS];
        int some = (int)tw_least(TW_TRANSPOSE_ROWS, n_rows - r);
        for (int i = 0; i < some; i++)
            rows[i] = tw_row_read(k, x, row + r + i, col, n, spare + i * SIDE);
        k->transpose(rows, some, n, square + r, SIDE);
    }
    for (int64_t j = 0; j < n; j++)
        tw_row_write(k, out, col + j, row, n_rows, square + j * SIDE);
}

static void transpose_some(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    int64_t matrix = (int64_t)index / (job->down * job->across), part = (int64_t)index % (job->down * job->across);
    struct tw_operand x = tw_operand_matrix(&job->x, matrix), out = tw_operand_matrix(&job->out, matrix);
    int64_t row = part / job->across * SIDE, first = part % job->across * TASK_SQUARES * SIDE;
    int64_t end = tw_least(first + TASK_SQUARES * SIDE, x.cols);
    for (int64_t col = first; col < end; col += SIDE)
        transpose_square(job->host->kernels, &x, &out, row, col, tw_own(job->host, worker));
}

int tw_run_transpose(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    struct job job = {.host = h, .op = op};
    job.x = tw_operand_of(h, g, op->in[0]);
    job.out = tw_operand_of(h, g, op->out);
    job.down = tw_ceil_div(job.x.rows, SIDE);
    job.across = tw_ceil_div(job.x.cols, TASK_SQUARES * SIDE);
    int rc = tw_own_reserve(h, (TW_TRANSPOSE_ROWS + SIDE) * SIDE, err);
    if (rc < 0)
        return rc;
    tw_pool_run(h->pool, (size_t)(job.down * job.across * job.out.batch), transpose_some, &job);
    return TW_OK;
}

#define TAPS TW_TRANSPOSE_ROWS /* taps of a window that are placed at a time */

/* Scratch of a worker for windows: TAPS rows of x as floats, a row of zeros, and a row of out. */
struct windows {
    float *spare, *zeros, *row;
};

static struct windows windows_in(const struct job *job, float *memory)
{
    int64_t channels = job->x.cols;
    struct windows w = {.spare = memory, .zeros = memory + TAPS * channels};
    w.row = w.zeros + channels;
    memset(w.zeros, 0, (size_t)channels * sizeof *w.zeros);
    return w;
}

/* Row t of out: the rows of x under the window turned to columns; zeros where it reaches beyond x. */
static void place_window(const struct job *job, const struct tw_operand *x, const struct tw_operand *out, int64_t t,
                         const struct windows *w)
{
    const struct tw_kernels *k = job->host->kernels;
    int64_t window = job->op->window, channels = x->cols, first = t * job->op->stride - window / 2;
    float *to = tw_row_target(out, t, 0, w->row);
    for (int64_t j = 0; j < window; j += TAPS) {
        const float *rows[TAPS];
        int taps = (int)tw_least(TAPS, window - j);
        for (int i = 0; i < taps; i++) {
            int64_t from = first + j + i;
            rows[i] =
                from >= 0 && from < x->rows ? tw_row_read(k, x, from, 0, channels, w->spare + i * channels) : w->zeros;
        }
        k->transpose(rows, taps, channels, to + j, window);
    }
    tw_row_write(k, out, t, 0, out->cols, to);
}

static void im2col_rows(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    struct windows w = windows_in(job, tw_own(job->host, worker));
    int64_t first = (int64_t)index * job->rows_a_task;
    int64_t end = tw_least(first + job->rows_a_task, job->out.rows * job->out.batch);
    for (int64_t i = first; i < end; i++) {
        struct tw_operand x = tw_operand_matrix(&job->x, i / job->out.rows);
        struct tw_operand out = tw_operand_matrix(&job->out, i / job->out.rows);
        place_window(job, &x, &out, i % job->out.rows, &w);
    }
}

static int64_t rows_of_a_task(int64_t cols)
{
    return cols >= TASK_NUMBERS ? 1 : TASK_NUMBERS / cols;
}

int tw_run_im2col(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    struct job job = {.host = h, .op = op};
    job.x = tw_operand_of(h, g, op->in[0]);
    job.out = tw_operand_of(h, g, op->out);
    job.rows_a_task = rows_of_a_task(job.out.cols);
    int rc = tw_own_reserve(h, (TAPS + 1) * (size_t)job.x.cols + (size_t)job.out.cols, err);
    if (rc < 0)
        return rc;
    tw_pool_run(h->pool, (size_t)tw_ceil_div(job.out.rows * job.out.batch, job.rows_a_task), im2col_rows, &job);
    return TW_OK;
}

static int32_t index_at(const unsigned char *indices, int64_t i)
{
    int32_t v;
    memcpy(&v, indices + (size_t)i * sizeof v, sizeof v);
    return v;
}

static void gather_rows(void *arg, size_t index, unsigned worker)
{
    const struct job *job = arg;
    const struct tw_kernels *k = job->host->kernels;
    int64_t first = (int64_t)index * job->rows_a_task;
    int64_t end = tw_least(first + job->rows_a_task, job->out.rows);
    for (int64_t i = first; i < end; i++) {
        float *to = tw_row_target(&job->out, i, 0, tw_own(job->host, worker));
        k->widen(job->x.type, tw_operand_row(&job->x, index_at(job->indices, i)), to, job->out.cols);
        tw_row_write(k, &job->out, i, 0, job->out.cols, to);
    }
}

int tw_run_gather(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    struct job job = {.host = h, .op = op};
    job.x = tw_operand_of(h, g, op->in[0]);
    job.out = tw_operand_of(h, g, op->out);
    job.indices = tw_operand_of(h, g, op->in[1]).data;
    job.rows_a_task = rows_of_a_task(job.out.cols);
    for (int64_t i = 0; i < job.out.rows; i++) {
        int32_t row = index_at(job.indices, i);
        if (row < 0 || row >= job.x.rows)
            return tw_fail(err, TW_E_ARGUMENT, "index %d at position %lld is outside table '%s' of %lld rows", (int)row,
                           (long long)i, g->tensors[op->in[0]].name, (long long)job.x.rows);
    }
    int rc = tw_own_reserve(h, (size_t)job.out.cols, err);
    if (rc < 0)
        return rc;
    tw_pool_run(h->pool, (size_t)tw_ceil_div(job.out.rows, job.rows_a_task), gather_rows, &job);
    return TW_OK;
}
