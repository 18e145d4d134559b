/*
 * Products. Few rows (a decoder's step) read each weight once and are bound by memory: skinny. Many rows (an encoder)
 * are bound by arithmetic: both operands are packed into panels, and blocks of the result are computed tile by tile.
 */
#include "host/panel.h"

#include <stdlib.h>

/* The block of the result that one task computes: its sums stay in the second-level cache until they are finished. */
#define BLOCK_ROWS 96
#define BLOCK_COLS 256

/* Most floats of packed a and packed b at a time; larger operands are taken in parts. */
#define A_FLOATS (4u << 20)
#define B_FLOATS (1u << 20)

/* With more rows packing pays, which converts each weight once: measured for 512 x 2048. */
#define SKINNY_ROWS 24
#define SKINNY_ROWS_QUANTISED 16
/* Weights that a task of the skinny product reads: worth starting it, and still in cache for the next group of rows. */
#define LEAST_BYTES 65536
#define MOST_BYTES 262144
#define TASKS_A_THREAD 4 /* so many tasks let threads of unequal speed finish together */

struct product {
    const struct tw_host *host;
    const struct tw_kernels *kernels;
    struct tw_operand a, b, out; /* one matrix of each */
    int64_t k, n;
    const float *bias;        /* NULL, or n floats */
    struct tw_operand addend; /* out itself for a product that accumulates; without data: none */
    struct tw_finish finish;  /* accumulates when there is an addend */
    int b_rows;

    /* skinny */
    const float *rows; /* of a, as floats */
    int64_t row_stride, cols_a_task;

    /* packed: the part of the result in work, the length of its runs, and where its operands lie */
    int64_t chunk, row, n_rows, col, n_cols;
    float *packed_a, *packed_b;
    int64_t pack_a_tasks;
    int64_t block_rows, block_cols, blocks_down;
};

/* Puts the addend's numbers where the results are to be computed, at `to` and `stride` from row to row. */
static void put_addend(const struct product *p, int64_t row, int64_t col, int rows, int64_t n, float *to,
                       int64_t stride)
{
    const struct tw_operand *d = &p->addend;
    if (d->data == NULL || (const unsigned char *)to == tw_operand_row(d, row) + tw_row_bytes(d->type, col))
        return;
    for (int r = 0; r < rows; r++)
        p->kernels->widen(d->type, tw_operand_row(d, row + r) + tw_row_bytes(d->type, col), to + r * stride, n);
}

/*
 * rows x n sums, at `stride` from row to row, become results from (row, col) on. spare, used when results cannot be
 * computed where they go: rows x n floats.
 */
static void finish(const struct product *p, int64_t row, int64_t col, int rows, int64_t n, const float *sums,
                   int64_t stride, float *spare)
{
    const struct tw_kernels *k = p->kernels;
    const float *bias = p->bias != NULL ? p->bias + col : NULL;
    if (tw_operand_direct(&p->out)) {
        float *to = tw_row_target(&p->out, row, col, NULL);
        int64_t to_stride = (int64_t)(p->out.row_stride / sizeof *to);
        put_addend(p, row, col, rows, n, to, to_stride);
        k->finish(rows, n, sums, stride, &p->finish, bias, to, to_stride);
        return;
    }
    put_addend(p, row, col, rows, n, spare, n);
    k->finish(rows, n, sums, stride, &p->finish, bias, spare, n);
    for (int r = 0; r < rows; r++)
        tw_row_write(k, &p->out, row + r, col, n, spare + r * n);
}

/* All rows, in groups of like size, for some of the columns: a task's weights stay in cache from group to group. */
static void skinny_task(void *arg, size_t index, unsigned worker)
{
    const struct product *p = arg;
    int64_t first = (int64_t)index * p->cols_a_task;
    int64_t n = tw_least(p->cols_a_task, p->n - first), rows = p->out.rows;
    int64_t group = tw_ceil_div(rows, tw_ceil_div(rows, TW_DOT_ROWS));
    float *sums = tw_own(p->host, worker), *spare = sums + TW_DOT_ROWS * n;
    for (int64_t r = 0; r < rows; r += group) {
        int here = (int)tw_least(group, rows - r);
        p->kernels->dots(p->b.type, here, p->k, p->rows + r * p->row_stride, p->row_stride,
                         tw_operand_row(&p->b, first), p->b.row_stride, n, sums, n);
        finish(p, r, first, here, n, sums, n, spare);
    }
}

/* a's rows as floats, in place or in the shared area. */
static int read_rows(struct tw_host *h, struct product *p, struct tw_error *err)
{
    if (tw_operand_direct(&p->a)) {
        p->rows = (const float *)(const void *)p->a.data;
        p->row_stride = (int64_t)(p->a.row_stride / sizeof(float));
        return TW_OK;
    }
    int rc = tw_shared_reserve(h, (size_t)(p->a.rows * p->k), err);
    if (rc < 0)
        return rc;
    for (int64_t r = 0; r < p->a.rows; r++)
        p->kernels->widen(p->a.type, tw_operand_row(&p->a, r), tw_shared(h) + r * p->k, p->k);
    p->rows = tw_shared(h);
    p->row_stride = p->k;
    return TW_OK;
}

static int run_skinny(struct tw_host *h, struct product *p, struct tw_error *err)
{
    int64_t bytes = (int64_t)tw_row_bytes(p->b.type, p->k);
    int64_t least = tw_ceil_div(LEAST_BYTES, bytes), most = tw_ceil_div(MOST_BYTES, bytes);
    int64_t even = tw_ceil_div(p->n, (int64_t)h->threads * TASKS_A_THREAD);
    p->cols_a_task = even < least ? least : tw_least(even, most);
    int rc = tw_own_reserve(h, (size_t)(2 * TW_DOT_ROWS * p->cols_a_task), err);
    if (rc >= 0)
        rc = read_rows(h, p, err);
    if (rc >= 0)
        tw_pool_run(h->pool, (size_t)tw_ceil_div(p->n, p->cols_a_task), skinny_task, p);
    return rc;
}

/* Panels lie chunk after chunk: all panels' first run, then all panels' second run, and so on. */
static float *panel_at(float *packed, int64_t padded, int64_t from, int64_t chunk, int64_t panel, int width)
{
    return packed + padded * from + panel * width * chunk;
}

static void pack_panel(const struct product *p, int is_a, int64_t panel, float *spare)
{
    int width = is_a ? p->kernels->tile_rows : p->kernels->tile_cols;
    int64_t of_part = is_a ? p->n_rows : p->n_cols;
    int64_t first = (is_a ? p->row : p->col) + panel * width;
    int64_t count = tw_least(width, of_part - panel * width);
    float *packed = is_a ? p->packed_a : p->packed_b;
    for (int64_t from = 0; from < p->k; from += p->chunk) {
        int64_t n = tw_least(p->chunk, p->k - from);
        float *to = panel_at(packed, tw_round_up(of_part, width), from, n, panel, width);
        if (!is_a && p->b_rows)
            tw_pack_cols(p->kernels, &p->b, first, count, from, n, width, to, spare);
        else
            tw_pack_rows(p->kernels, is_a ? &p->a : &p->b, first, count, from, n, width, to, spare);
    }
}

static void pack_task(void *arg, size_t index, unsigned worker)
{
    const struct product *p = arg;
    float *spare = tw_own(p->host, worker);
    int64_t i = (int64_t)index;
    if (i < p->pack_a_tasks)
        pack_panel(p, 1, i, spare);
    else
        pack_panel(p, 0, i - p->pack_a_tasks, spare);
}

/* The run of the sums that begins at `from`, for rows x cols of the part at row0, col0; the last run finishes them. */
static void add_run(const struct product *p, int64_t row0, int64_t rows, int64_t col0, int64_t cols, int64_t from,
                    float *sums)
{
    const struct tw_kernels *k = p->kernels;
    int mr = k->tile_rows, nr = k->tile_cols;
    int64_t n = tw_least(p->chunk, p->k - from);
    int64_t padded_a = tw_round_up(p->n_rows, mr), padded_b = tw_round_up(p->n_cols, nr);
    for (int64_t j = 0; j < cols; j += nr) {
        const float *b = panel_at(p->packed_b, padded_b, from, n, (col0 + j) / nr, nr);
        for (int64_t i = 0; i < rows; i += mr) {
            const float *a = panel_at(p->packed_a, padded_a, from, n, (row0 + i) / mr, mr);
            float *c = sums + i * BLOCK_COLS + j;
            int down = (int)tw_least(mr, rows - i);
            k->tile(down, n, a, b, c, BLOCK_COLS, from > 0);
            if (from + n == p->k)
                finish(p, p->row + row0 + i, p->col + col0 + j, down, tw_least(nr, cols - j), c, BLOCK_COLS,
                       sums + BLOCK_ROWS * BLOCK_COLS);
        }
    }
}

static void block_task(void *arg, size_t index, unsigned worker)
{
    const struct product *p = arg;
    int64_t row0 = (int64_t)index % p->blocks_down * p->block_rows;
    int64_t col0 = (int64_t)index / p->blocks_down * p->block_cols;
    int64_t rows = tw_least(p->block_rows, p->n_rows - row0);
    int64_t cols = tw_least(p->block_cols, p->n_cols - col0);
    for (int64_t from = 0; from < p->k; from += p->chunk)
        add_run(p, row0, rows, col0, cols, from, tw_own(p->host, worker));
}

static int64_t blocks(const struct product *p)
{
    return tw_ceil_div(p->n_rows, p->block_rows) * tw_ceil_div(p->n_cols, p->block_cols);
}

/* Smaller blocks when there would be too few of them for all threads. */
static void choose_blocks(struct product *p, unsigned threads)
{
    int64_t wanted = (int64_t)threads * TASKS_A_THREAD;
    p->block_rows = BLOCK_ROWS;
    p->block_cols = BLOCK_COLS;
    while (p->block_cols > TW_TILE_MAX && blocks(p) < wanted)
        p->block_cols /= 2;
    if (blocks(p) < wanted)
        p->block_rows /= 2;
    p->blocks_down = tw_ceil_div(p->n_rows, p->block_rows);
}

static void multiply_part(struct tw_host *h, struct product *p, int pack_a)
{
    p->pack_a_tasks = pack_a ? tw_ceil_div(p->n_rows, p->kernels->tile_rows) : 0;
    int64_t pack_b_tasks = tw_ceil_div(p->n_cols, p->kernels->tile_cols);
    tw_pool_run(h->pool, (size_t)(p->pack_a_tasks + pack_b_tasks), pack_task, p);
    choose_blocks(p, h->threads);
    tw_pool_run(h->pool, (size_t)blocks(p), block_task, p);
}

/* The longest part of `all` rows of k floats that stays under `floats`, in whole blocks, in parts of like length. */
static int64_t part_of(int64_t all, int64_t k, int64_t floats, int64_t block)
{
    int64_t most = floats / k / block * block;
    if (most < block)
        most = block;
    return tw_round_up(tw_ceil_div(all, tw_ceil_div(all, most)), block);
}

static int run_packed(struct tw_host *h, struct product *p, struct tw_error *err)
{
    int64_t rows = p->out.rows;
    int64_t part_rows = tw_least(part_of(rows, p->k, A_FLOATS, BLOCK_ROWS), tw_round_up(rows, p->kernels->tile_rows));
    int64_t part_cols = tw_least(part_of(p->n, p->k, B_FLOATS, TW_TILE_MAX), tw_round_up(p->n, p->kernels->tile_cols));
    size_t own = BLOCK_ROWS * BLOCK_COLS + TW_TILE_MAX * TW_TILE_MAX;
    int rc = tw_own_reserve(h, own > TW_PANEL_SPARE ? own : TW_PANEL_SPARE, err);
    if (rc >= 0)
        rc = tw_shared_reserve(h, (size_t)((part_rows + part_cols) * p->k), err);
    if (rc < 0)
        return rc;
    p->chunk = tw_chunk_length(p->k);
    p->packed_a = tw_shared(h);
    p->packed_b = p->packed_a + part_rows * p->k;
    for (p->row = 0; p->row < rows; p->row += part_rows) {
        p->n_rows = tw_least(part_rows, rows - p->row);
        for (p->col = 0; p->col < p->n; p->col += part_cols) {
            p->n_cols = tw_least(part_cols, p->n - p->col);
            multiply_part(h, p, p->col == 0);
        }
    }
    return TW_OK;
}

/* Batches whose matrices follow each other at the distance of rows are one taller matrix. */
static int stacks(const struct tw_operand *x)
{
    return x->batch_stride == (size_t)x->rows * x->row_stride;
}

static void stack(struct tw_operand *x)
{
    x->rows *= x->batch;
    x->batch = 1;
}

static int run_batches(struct tw_host *h, struct product *p, struct tw_error *err)
{
    struct tw_operand a = p->a, b = p->b, addend = p->addend, out = p->out;
    int rc = TW_OK;
    if (out.batch > 1 && b.batch == 1 && stacks(&a) && stacks(&addend) && stacks(&out)) {
        stack(&a);
        stack(&addend);
        stack(&out);
    }
    int64_t few = tw_type_info(b.type)->block > 1 ? SKINNY_ROWS_QUANTISED : SKINNY_ROWS;
    int skinny = out.rows <= few && !p->b_rows;
    for (int64_t i = 0; rc >= 0 && i < out.batch; i++) {
        p->a = tw_operand_matrix(&a, i);
        p->b = tw_operand_matrix(&b, i);
        p->addend = tw_operand_matrix(&addend, i);
        p->out = tw_operand_matrix(&out, i);
        rc = skinny ? run_skinny(h, p, err) : run_packed(h, p, err);
    }
    return rc;
}

int tw_run_product(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    struct product p = {
        .host = h,
        .kernels = h->kernels,
        .a = tw_operand_of(h, g, op->in[0]),
        .b = tw_operand_of(h, g, op->in[1]),
        .out = tw_operand_of(h, g, op->out),
        .finish = {.scale = op->scale, .gelu = op->gelu, .accumulate = op->accumulate || op->in[3] != TW_NONE},
        .b_rows = op->b_rows,
    };
    if (p.finish.accumulate)
        p.addend = op->accumulate ? p.out : tw_operand_of(h, g, op->in[3]);
    p.k = p.a.cols;
    p.n = p.out.cols;
    float *copy = NULL;
    if (op->in[2] != TW_NONE) {
        struct tw_operand bias = tw_operand_of(h, g, op->in[2]);
        if (!tw_operand_direct(&bias) && (copy = malloc((size_t)p.n * sizeof *copy)) == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for a bias of %lld numbers", (long long)p.n);
        p.bias = tw_row_read(h->kernels, &bias, 0, 0, p.n, copy);
    }
    int rc = run_batches(h, &p, err);
    free(copy);
    return rc;
}
