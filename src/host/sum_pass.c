#include "host/sum_pass.h"

#include "host/executor.h"

#include <string.h>

enum {
    PIECE = 1024,   /* columns of a pass at a time: what belongs to them stays in the first-level cache */
    TASK_ROWS = 32, /* rows of a task */
    SPARE_ROWS = 8  /* rows that are converted at a time */
};

struct pass {
    const struct tw_host *host;
    enum tw_type type;
    int converted; /* its numbers count as rounded to bf16, which they are not yet */
    const unsigned char *x;
    size_t stride;
    int64_t rows, n;
    struct tw_sums sums; /* those of columns are collected by each worker */
};

static double *own_columns(const struct pass *p, unsigned worker)
{
    return (double *)(void *)tw_own(p->host, worker);
}

void tw_round_row(const struct tw_kernels *k, enum tw_type type, const unsigned char *x, int64_t n, uint16_t *to,
                  float *line)
{
    if (type == TW_F32 && (uintptr_t)x % sizeof(float) == 0) {
        k->narrow(TW_BF16, (const float *)(const void *)x, to, n);
        return;
    }
    k->widen(type, x, line, n);
    k->narrow(TW_BF16, line, to, n);
}

static const unsigned char *numbers_at(const struct pass *p, int64_t row, int64_t column)
{
    return p->x + (size_t)row * p->stride + tw_row_bytes(p->type, column);
}

static void add_piece(const struct pass *p, int64_t row, int64_t rows, int64_t from, int64_t n, float *spare,
                      struct tw_sums sums)
{
    const struct tw_kernels *k = p->host->kernels;
    if (!p->converted) {
        k->sums->add(p->type, numbers_at(p, row, from), p->stride, rows, n, &sums);
        return;
    }
    uint16_t *halves = (uint16_t *)(void *)(spare + PIECE);
    for (int64_t r = 0; r < rows; r += SPARE_ROWS) {
        const int64_t here = tw_least(SPARE_ROWS, rows - r);
        struct tw_sums s = sums;
        s.left = s.left != NULL ? s.left + r : NULL;
        s.rows = s.rows != NULL ? s.rows + r : NULL;
        s.row_squares = s.row_squares != NULL ? s.row_squares + r : NULL;
        for (int64_t i = 0; i < here; i++)
            tw_round_row(k, p->type, numbers_at(p, row + r + i, from), n, halves + i * PIECE, spare);
        k->sums->add(TW_BF16, (const unsigned char *)halves, PIECE * sizeof *halves, here, n, &s);
    }
}

static void pass_task(void *arg, size_t index, unsigned worker)
{
    const struct pass *p = arg;
    const int64_t row = (int64_t)index * TASK_ROWS, rows = tw_least(TASK_ROWS, p->rows - row);
    double *columns = own_columns(p, worker);
    float *spare = (float *)(void *)(columns + 2 * p->n);
    for (int64_t from = 0; from < p->n; from += PIECE) {
        const struct tw_sums *all = &p->sums;
        const struct tw_sums sums = {
            .left = all->left != NULL ? all->left + row : NULL,
            .columns = all->columns != NULL ? columns + from : NULL,
            .right = all->right != NULL ? all->right + from : NULL,
            .rows = all->rows != NULL ? all->rows + row : NULL,
            .row_squares = all->row_squares != NULL ? all->row_squares + row : NULL,
            .column_squares = all->column_squares != NULL ? columns + p->n + from : NULL,
        };
        add_piece(p, row, rows, from, tw_least(PIECE, p->n - from), spare, sums);
    }
}

static void clear(double *sums, int64_t n)
{
    if (sums != NULL)
        memset(sums, 0, (size_t)n * sizeof *sums);
}

static void collect(const struct pass *p, double *sums, int64_t at)
{
    clear(sums, p->n);
    for (unsigned worker = 0; sums != NULL && worker < p->host->threads; worker++)
        for (int64_t c = 0; c < p->n; c++)
            sums[c] += own_columns(p, worker)[at + c];
}

int tw_sum_pass_reserve(struct tw_host *h, int64_t n, struct tw_error *err)
{
    const size_t a_double = sizeof(double) / sizeof(float);
    return tw_own_reserve(h, 2 * (size_t)n * a_double + (SPARE_ROWS / 2 + 1) * PIECE, err);
}

void tw_sum_pass(struct tw_host *h, enum tw_type type, int as_bf16, const void *x, size_t stride, int64_t rows,
                 int64_t n, struct tw_sums sums)
{
    struct pass p = {.host = h,
                     .type = type,
                     .converted = as_bf16 && type != TW_BF16,
                     .x = x,
                     .stride = stride,
                     .rows = rows,
                     .n = n,
                     .sums = sums};
    clear(sums.rows, rows);
    clear(sums.row_squares, rows);
    for (unsigned worker = 0; worker < h->threads; worker++)
        clear(own_columns(&p, worker), 2 * n);
    tw_pool_run(h->pool, (size_t)tw_ceil_div(rows, TASK_ROWS), pass_task, &p);
    collect(&p, sums.columns, 0);
    collect(&p, sums.column_squares, n);
}
