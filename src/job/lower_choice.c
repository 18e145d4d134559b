/* Which operations the array takes. */
#include "job/lower.h"

enum tw_overlay_order lower_order_of_b(const struct tw_graph *g, const struct tw_op *op)
{
    const struct tw_tensor *b = &g->tensors[op->in[1]];
    if (g->tensors[b->base].constant && b->batch == 1)
        return TW_OVERLAY_PACKED;
    return op->b_rows ? TW_OVERLAY_BY_ROWS : TW_OVERLAY_BY_COLUMNS;
}

static int is_float(enum tw_type type)
{
    return type == TW_F32 || type == TW_F16 || type == TW_BF16;
}

/* Blocks are at most 4 x 96 numbers wide and high, so that less than this is added to a side. */
enum { BLOCK_MAX = 4 * 96 };

/* Nonzero when rows of so many numbers, and blocks around them, are within what the overlay steps over. */
static int is_pitch(int64_t numbers, enum tw_type type)
{
    return numbers + BLOCK_MAX <= LOWER_PITCH / (type == TW_F32 ? 4 : 2);
}

static int is_side(int64_t n)
{
    return n <= TW_OVERLAY_SIDE_MAX;
}

/* How a product of so many equal matrices would be asked for, at worst. */
struct wish {
    int64_t rows, depth, columns, matrices;
    enum tw_overlay_order order;
    int addend;
};

static int fits(const struct wish *w)
{
    if (!is_side(w->rows) || !is_side(w->depth) || !is_side(w->columns) || w->matrices > LOWER_MATRICES)
        return 0;
    if (!is_pitch(w->depth, TW_BF16) || !is_pitch(w->columns, TW_F32))
        return 0;
    struct tw_overlay_size size = {.rows = (uint32_t)w->rows,
                                   .depth = (uint32_t)w->depth,
                                   .columns = (uint32_t)w->columns,
                                   .order = w->order,
                                   .addend = w->addend};
    struct tw_overlay_shape shape;
    for (size.bf16_out = 0; size.bf16_out < 2; size.bf16_out++)
        if (tw_overlay_choose(&size, &shape, NULL) != 0 || shape.cycles > TW_PLAN_LAUNCH_CYCLES / (uint64_t)w->matrices)
            return 0;
    return 1;
}

/* The array's program takes the bias before the launch, from memory that no operation changes. */
static int is_bias(const struct tw_graph *g, tw_id bias)
{
    if (bias == TW_NONE)
        return 1;
    const struct tw_tensor *base = &g->tensors[g->tensors[bias].base];
    return base->storage == TW_BOUND && !base->written;
}

static int takes_product(const struct tw_graph *g, const struct tw_op *op)
{
    const struct tw_tensor *out = &g->tensors[op->out], *a = &g->tensors[op->in[0]];
    const struct wish wish = {.rows = out->rows,
                              .depth = a->cols,
                              .columns = out->cols,
                              .matrices = out->batch,
                              .order = lower_order_of_b(g, op),
                              .addend = op->accumulate || op->in[3] != TW_NONE};
    return op->scale == 1 && is_bias(g, op->in[2]) &&
           (wish.order == TW_OVERLAY_PACKED || is_float(g->tensors[op->in[1]].type)) && fits(&wish);
}

/* Heads are windows of 32 columns or a multiple, beside which nothing has to be zeroed. */
static int takes_attention(const struct tw_graph *g, const struct tw_op *op)
{
    const struct tw_tensor *q = &g->tensors[op->in[0]], *k = &g->tensors[op->in[1]];
    const int64_t head = q->cols / op->heads;
    const struct wish scores = {
        .rows = q->rows, .depth = head, .columns = k->rows, .matrices = op->heads, .order = TW_OVERLAY_BY_COLUMNS};
    const struct wish mixed = {
        .rows = q->rows, .depth = k->rows, .columns = head, .matrices = op->heads, .order = TW_OVERLAY_BY_ROWS};
    return !op->causal && q->batch == 1 && head % LOWER_ZEROED == 0 && is_pitch(q->cols, TW_F32) && fits(&scores) &&
           fits(&mixed);
}

int lower_takes(const struct tw_graph *g, const struct tw_op *op)
{
    return op->kind == TW_OP_PRODUCT ? takes_product(g, op) : op->kind == TW_OP_ATTENTION ? takes_attention(g, op) : 0;
}
