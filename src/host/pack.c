#include "host/pack.h"

#include "base/memory.h"
#include "host/executor.h"
#include "host/pack_kernels.h"

#include <string.h>

enum { STEP = TW_PACK_GROUPS * TW_PACK_DEPTH, PIECE_STEPS = 8, PIECE = PIECE_STEPS * STEP };

/* Bytes that a task writes, at most, so that the pages it goes back and forth between stay known to the processor. */
#define TASK_BYTES (256u << 10)
#define TASKS_A_THREAD 4 /* so many tasks let threads of unequal speed finish together */

struct packing {
    const struct tw_pack *p;
    const struct tw_host *host;
    const struct tw_pack_kernels *kernels;
    unsigned char *to;
    int64_t steps_a_task, parts; /* of a block, when B comes column by column */
};

static int64_t number_of(const struct tw_pack *p, int64_t from, int64_t most)
{
    int64_t n = p->k - from;
    return n < 0 ? 0 : tw_least(n, most);
}

static const unsigned char *row_of(const struct tw_pack *p, int64_t row)
{
    return (const unsigned char *)p->data + (size_t)row * p->row_stride;
}

static size_t group_bytes(const struct tw_pack *p)
{
    return (size_t)p->block_columns / TW_PACK_WIDTH * TW_PACK_TILE_BYTES;
}

static unsigned char *group_at(const struct packing *w, int64_t block, int64_t group)
{
    const struct tw_pack *p = w->p;
    return w->to + ((size_t)block * p->steps * TW_PACK_GROUPS + (size_t)group) * group_bytes(p);
}

/* ---- B as rows of the depth: four of them are a strip of tiles ---- */

/* Steps [step, step + count) of row `row` as a piece of PIECE numbers that can be packed; returns their type. */
static enum tw_type piece_of(const struct packing *w, int64_t row, int64_t step, int64_t count, float *piece)
{
    const struct tw_pack *p = w->p;
    const int quantised = tw_type_info(p->type)->block > 1;
    int64_t n = row < p->n ? number_of(p, step * STEP, count * STEP) : 0;
    const unsigned char *from = n > 0 ? row_of(p, row) + tw_row_bytes(p->type, step * STEP) : NULL;
    memset(piece, 0, PIECE * sizeof *piece);
    if (n > 0 && quantised)
        w->host->kernels->widen(p->type, from, piece, n);
    else if (n > 0)
        memcpy(piece, from, tw_row_bytes(p->type, n));
    return quantised ? TW_F32 : p->type;
}

/* What cannot be read where it lies: quantised numbers, the last step of the depth, columns that are not there. */
static void strip_by_pieces(const struct packing *w, int64_t column, int64_t step, int64_t end, unsigned char *to,
                            float *spare)
{
    const size_t stride = group_bytes(w->p);
    for (; step < end; step += PIECE_STEPS, to += PIECE_STEPS * TW_PACK_GROUPS * stride) {
        const unsigned char *rows[TW_PACK_WIDTH];
        const int64_t count = tw_least(PIECE_STEPS, end - step);
        enum tw_type type = TW_F32;
        for (int r = 0; r < TW_PACK_WIDTH; r++) {
            type = piece_of(w, column + r, step, count, spare + r * PIECE);
            rows[r] = (const unsigned char *)(spare + r * PIECE);
        }
        w->kernels->columns(type, rows, count * TW_PACK_GROUPS, to, stride);
    }
}

static void strip(const struct packing *w, int64_t column, int64_t step, int64_t end, unsigned char *to, float *spare)
{
    const struct tw_pack *p = w->p;
    const int direct = tw_type_info(p->type)->block == 1 && column + TW_PACK_WIDTH <= p->n;
    int64_t whole = direct ? tw_least(end, p->k / STEP) - step : 0;
    if (whole > 0) {
        const unsigned char *rows[TW_PACK_WIDTH];
        for (int r = 0; r < TW_PACK_WIDTH; r++)
            rows[r] = row_of(p, column + r) + tw_row_bytes(p->type, step * STEP);
        w->kernels->columns(p->type, rows, whole * TW_PACK_GROUPS, to, group_bytes(p));
        step += whole;
        to += (size_t)whole * TW_PACK_GROUPS * group_bytes(p);
    }
    strip_by_pieces(w, column, step, end, to, spare);
}

static void columns_task(void *arg, size_t index, unsigned worker)
{
    const struct packing *w = arg;
    const struct tw_pack *p = w->p;
    int64_t block = (int64_t)index / w->parts, step = (int64_t)index % w->parts * w->steps_a_task;
    int64_t end = tw_least(step + w->steps_a_task, p->steps);
    unsigned char *to = group_at(w, block, step * TW_PACK_GROUPS);
    for (int64_t j = 0; j < p->block_columns; j += TW_PACK_WIDTH, to += TW_PACK_TILE_BYTES)
        strip(w, block * p->block_columns + j, step, end, to, tw_own(w->host, worker));
    w->kernels->settle();
}

static void pack_columns(struct tw_host *h, struct packing *w)
{
    const struct tw_pack *p = w->p;
    int64_t most = TASK_BYTES / (group_bytes(p) * TW_PACK_GROUPS);
    int64_t even = tw_ceil_div((int64_t)p->steps * p->blocks, (int64_t)h->threads * TASKS_A_THREAD);
    w->steps_a_task = tw_least(most > PIECE_STEPS ? most : PIECE_STEPS, tw_round_up(even, PIECE_STEPS));
    w->parts = tw_ceil_div(p->steps, w->steps_a_task);
    tw_pool_run(h->pool, (size_t)(w->parts * p->blocks), columns_task, w);
}

/* ---- B as rows of its columns: eight of them are a group of tiles in each block ---- */

/* The tile that B's last column is in, of eight rows from `column` on. */
static void last_tile(const struct packing *w, const unsigned char *const rows[TW_PACK_DEPTH], int64_t column,
                      int64_t count, unsigned char *to)
{
    enum { ROW = TW_PACK_WIDTH * sizeof(float) };
    unsigned char piece[TW_PACK_DEPTH * ROW] = {0};
    const unsigned char *copies[TW_PACK_DEPTH];
    for (int r = 0; r < TW_PACK_DEPTH; r++) {
        memcpy(piece + r * ROW, rows[r] + tw_row_bytes(w->p->type, column), tw_row_bytes(w->p->type, count));
        copies[r] = piece + r * ROW;
    }
    w->kernels->rows(w->p->type, copies, 1, to);
}

/* A group of a block; rows begin at the block's first column, of which `columns` are there. */
static void group(const struct packing *w, const unsigned char *const rows[TW_PACK_DEPTH], int64_t columns,
                  unsigned char *to)
{
    unsigned char *end = to + group_bytes(w->p);
    int64_t tiles = columns / TW_PACK_WIDTH, rest = columns % TW_PACK_WIDTH;
    w->kernels->rows(w->p->type, rows, tiles, to);
    to += (size_t)tiles * TW_PACK_TILE_BYTES;
    if (rest > 0) {
        last_tile(w, rows, tiles * TW_PACK_WIDTH, rest, to);
        to += TW_PACK_TILE_BYTES;
    }
    memset(to, 0, (size_t)(end - to));
}

static void rows_task(void *arg, size_t index, unsigned worker)
{
    const struct packing *w = arg;
    const struct tw_pack *p = w->p;
    unsigned char *zeros = memset(tw_own(w->host, worker), 0, p->block_columns * sizeof(float));
    for (int64_t g = (int64_t)index * TW_PACK_GROUPS; g < ((int64_t)index + 1) * TW_PACK_GROUPS; g++)
        for (int64_t block = 0; block < p->blocks; block++) {
            const unsigned char *rows[TW_PACK_DEPTH];
            int64_t first = block * p->block_columns;
            int64_t columns = p->n > first ? tw_least(p->n - first, p->block_columns) : 0;
            for (int r = 0; r < TW_PACK_DEPTH; r++) {
                int64_t k = g * TW_PACK_DEPTH + r;
                rows[r] = k < p->k && columns > 0 ? row_of(p, k) + tw_row_bytes(p->type, first) : zeros;
            }
            group(w, rows, columns, group_at(w, block, g));
        }
    w->kernels->settle();
}

/* ---- both ---- */

size_t tw_pack_bytes(const struct tw_pack *p)
{
    size_t bytes;
    if (tw_mul_size(p->blocks, p->steps, &bytes) || tw_mul_size(bytes, p->block_columns, &bytes) ||
        tw_mul_size(bytes, STEP * sizeof(uint16_t), &bytes) || bytes > PTRDIFF_MAX)
        return 0;
    return bytes;
}

static int check(const struct tw_pack *p, const void *to, struct tw_error *err)
{
    const struct tw_type_info *info = tw_type_info(p->type);
    if (info == NULL || p->type == TW_I32 || (p->b_rows && info->block > 1))
        return tw_fail(err, TW_E_ARGUMENT, "weights of type %s cannot be packed%s", info == NULL ? "?" : info->name,
                       p->b_rows ? " row by row" : "");
    if (p->data == NULL || to == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "weights were to be packed from or to no memory");
    if (p->k < 1 || p->n < 1 || (!p->b_rows && p->k % info->block != 0))
        return tw_fail(err, TW_E_SHAPE, "weights of %lld x %lld numbers in %s cannot be packed", (long long)p->k,
                       (long long)p->n, info->name);
    if (tw_pack_bytes(p) == 0 || p->block_columns % TW_PACK_WIDTH != 0)
        return tw_fail(err, TW_E_SHAPE, "%u blocks of %u steps and %u columns are no form for packed weights",
                       p->blocks, p->steps, p->block_columns);
    if (p->k > (int64_t)p->steps * STEP || p->n > (int64_t)p->blocks * p->block_columns)
        return tw_fail(err, TW_E_SHAPE,
                       "weights of depth %lld and %lld columns do not fit %u blocks of %u steps and %u "
                       "columns",
                       (long long)p->k, (long long)p->n, p->blocks, p->steps, p->block_columns);
    return TW_OK;
}

int tw_host_pack(struct tw_host *h, const struct tw_pack *p, void *to, struct tw_error *err)
{
    struct packing w = {.p = p, .host = h, .kernels = h->kernels->packing, .to = to};
    int rc = check(p, to, err);
    if (rc == TW_OK)
        rc = tw_own_reserve(h, p->b_rows ? p->block_columns : TW_PACK_WIDTH * PIECE, err);
    if (rc != TW_OK)
        return rc;
    if (p->b_rows)
        tw_pool_run(h->pool, p->steps, rows_task, &w);
    else
        pack_columns(h, &w);
    return TW_OK;
}
