/* The operations anew: products on operands that suit the array, attention as products, copies where they are needed.
 */
#include "job/lower.h"

#include "graph/window.h"

static struct lower_base *base_of(const struct lower *l, int32_t w)
{
    return &l->bases[l->windows[w].base];
}

static struct lower_op *push(struct lower *l, int32_t from, const struct tw_op *op)
{
    /* What was copied of the output's base is out of date. */
    base_of(l, op->out)->copies = -1;
    l->ops[l->n_ops] = (struct lower_op){.op = *op, .from = from};
    return &l->ops[l->n_ops++];
}

static void push_copy(struct lower *l, int32_t from, int32_t to, int32_t of)
{
    push(l, from, &(struct tw_op){.kind = TW_OP_COPY, .out = to, .in = {of, TW_NONE, TW_NONE, TW_NONE}, .scale = 1});
}

/* ---- Operands */

/* Copies that are looked through for the one that is wanted; more of one base are made again. */
enum { COPIES_SEEN = 16 };

/* A temporary of this type with the numbers of window w, which is a tensor's. */
static int32_t copy_of(struct lower *l, int32_t from, int32_t w, enum tw_type type)
{
    const struct tw_tensor *wanted = &l->g->tensors[l->windows[w].original];
    int32_t at = base_of(l, w)->copies;
    for (int i = 0; i < COPIES_SEEN && at >= 0; i++, at = l->copies[at].next) {
        const struct lower_copy *c = &l->copies[at];
        if (base_of(l, c->window)->type == type && tw_window_same(&l->g->tensors[l->windows[c->of].original], wanted))
            return c->window;
    }
    const struct lower_window *of = &l->windows[w];
    const int32_t copy = lower_fresh(l, base_of(l, w)->name, type, of->cols, of->rows, of->batch);
    push_copy(l, from, copy, w);
    l->copies[l->n_copies] = (struct lower_copy){w, copy, base_of(l, w)->copies};
    base_of(l, w)->copies = l->n_copies++;
    return copy;
}

static int32_t split(struct lower *l, int32_t w, int32_t heads)
{
    return heads == 0 ? w : lower_split(l, w, heads);
}

/*
 * What the array can read as window w: itself, or a copy. heads: w is cut into so many, 0 for none. rows and cols: what
 * it reads of each matrix.
 */
static int32_t operand(struct lower *l, int32_t from, int32_t w, enum tw_type type, int32_t heads, uint32_t rows,
                       uint32_t cols)
{
    int32_t part = split(l, w, heads);
    if (base_of(l, w)->type != type || !lower_can_read(l, &l->windows[part], cols))
        part = split(l, copy_of(l, from, w, type), heads);
    lower_make_room(l, &l->windows[part], rows, cols);
    return part;
}

/* Where the array's result is to go, and what has to be copied afterwards. */
struct target {
    int32_t written;    /* window that the array writes */
    int32_t from, home; /* windows, or -1: the result is copied home */
};

static enum tw_type out_type(const struct lower *l, int32_t base)
{
    return l->bases[base].type == TW_BF16 ? TW_BF16 : TW_F32;
}

static struct target target(struct lower *l, int32_t index, int32_t heads, const struct tw_overlay_shape *shape)
{
    const int32_t base = l->uses[index].out;
    const int32_t home = lower_window_of(l, base, l->g->ops[index].out);
    struct target t = {split(l, home, heads), -1, -1};
    if (!lower_can_write(l, &l->windows[t.written], tw_overlay_width(shape))) {
        const struct lower_window *w = &l->windows[home];
        t.from = lower_fresh(l, l->bases[base].name, out_type(l, base), w->cols, w->rows, w->batch);
        t.home = home;
        t.written = split(l, t.from, heads);
    }
    lower_make_room(l, &l->windows[t.written], tw_overlay_height(shape), tw_overlay_width(shape));
    return t;
}

static void bring_home(struct lower *l, int32_t from, const struct target *t)
{
    if (t->home >= 0)
        push_copy(l, from, t->home, t->from);
}

/* ---- Products */

static void push_product(struct lower *l, int32_t from, const struct tw_overlay_shape *shape, const struct tw_op *op)
{
    struct lower_op *to = push(l, from, op);
    to->is_launched = 1;
    to->cycles = shape->cycles * (uint64_t)l->windows[op->out].batch;
}

/* What the array is asked for by product `index` of the original. */
static struct tw_overlay_size size_of(const struct lower *l, int32_t index)
{
    const struct tw_op *op = &l->g->ops[index];
    const struct tw_tensor *out = &l->g->tensors[op->out];
    return (struct tw_overlay_size){
        .rows = (uint32_t)out->rows,
        .depth = (uint32_t)l->g->tensors[op->in[0]].cols,
        .columns = (uint32_t)out->cols,
        .bf16_out = out_type(l, l->uses[index].out) == TW_BF16,
        .order = lower_order_of_b(l->g, op),
        .addend = op->accumulate || op->in[3] != TW_NONE,
    };
}

static int32_t operand_b(struct lower *l, int32_t index, const struct tw_overlay_shape *shape)
{
    const struct tw_op *op = &l->g->ops[index];
    const int32_t b = lower_window_of(l, l->uses[index].in[1], op->in[1]);
    const uint32_t depth = tw_overlay_depth(shape), width = tw_overlay_width(shape);
    switch (shape->size.order) {
    case TW_OVERLAY_PACKED:
        return b;
    case TW_OVERLAY_BY_ROWS:
        return operand(l, index, b, TW_BF16, 0, depth, width);
    default:
        return operand(l, index, b, TW_BF16, 0, width, depth);
    }
}

/* What accumulates is added to what its output held before. */
static int32_t operand_addend(struct lower *l, int32_t index, const struct tw_overlay_shape *shape)
{
    const struct tw_op *op = &l->g->ops[index];
    const struct lower_use *use = &l->uses[index];
    if (!shape->size.addend)
        return TW_NONE;
    const int32_t addend =
        op->accumulate ? lower_window_of(l, use->before, op->out) : lower_window_of(l, use->in[3], op->in[3]);
    return operand(l, index, addend, TW_F32, 0, tw_overlay_height(shape), tw_overlay_width(shape));
}

static int emit_product(struct lower *l, int32_t index, struct tw_error *err)
{
    const struct tw_op *op = &l->g->ops[index];
    const struct lower_use *use = &l->uses[index];
    const struct tw_overlay_size size = size_of(l, index);
    struct tw_overlay_shape shape;
    int code = tw_overlay_choose(&size, &shape, err);
    if (code < 0)
        return code;
    const int32_t a = lower_window_of(l, use->in[0], op->in[0]);
    struct tw_op made = *op;
    made.accumulate = 0;
    made.in[0] = operand(l, index, a, TW_BF16, 0, tw_overlay_height(&shape), tw_overlay_depth(&shape));
    made.in[1] = operand_b(l, index, &shape);
    if (op->in[2] != TW_NONE)
        made.in[2] = lower_window_of(l, use->in[2], op->in[2]);
    made.in[3] = operand_addend(l, index, &shape);
    const struct target t = target(l, index, 0, &shape);
    made.out = t.written;
    push_product(l, index, &shape, &made);
    bring_home(l, index, &t);
    return TW_OK;
}

/* ---- Attention: scores of all heads as a batch, their softmax, and what they make of the values */

struct attention {
    int32_t index;
    struct tw_overlay_shape scores, mixed;
    int32_t scored, weights; /* the windows of scores, and of what softmax makes of them: the same if both are bf16 */
};

static int choose_shapes(const struct lower *l, struct attention *a, struct tw_error *err)
{
    const struct tw_op *op = &l->g->ops[a->index];
    const struct tw_tensor *q = &l->g->tensors[op->in[0]], *k = &l->g->tensors[op->in[1]];
    const uint32_t head = (uint32_t)(q->cols / op->heads);
    struct tw_overlay_size size = {.rows = (uint32_t)q->rows,
                                   .depth = head,
                                   .columns = (uint32_t)k->rows,
                                   .bf16_out = !op->keep_scores,
                                   .order = TW_OVERLAY_BY_COLUMNS};
    int code = tw_overlay_choose(&size, &a->scores, err);
    if (code < 0)
        return code;
    size.depth = (uint32_t)k->rows;
    size.columns = head;
    size.bf16_out = out_type(l, l->uses[a->index].out) == TW_BF16;
    size.order = TW_OVERLAY_BY_ROWS;
    return tw_overlay_choose(&size, &a->mixed, err);
}

static void emit_scores(struct lower *l, struct attention *a)
{
    const struct tw_op *op = &l->g->ops[a->index];
    const struct lower_use *use = &l->uses[a->index];
    const uint32_t height = tw_overlay_height(&a->scores), depth = tw_overlay_depth(&a->scores),
                   width = tw_overlay_width(&a->scores);
    const int32_t q = lower_window_of(l, use->in[0], op->in[0]), k = lower_window_of(l, use->in[1], op->in[1]);
    struct tw_op product = {.kind = TW_OP_PRODUCT, .in = {TW_NONE, TW_NONE, TW_NONE, TW_NONE}, .scale = 1};
    product.in[0] = operand(l, a->index, q, TW_BF16, op->heads, height, depth);
    product.in[1] = operand(l, a->index, k, TW_BF16, op->heads, width, depth);
    a->scored =
        lower_fresh(l, "scores", op->keep_scores ? TW_F32 : TW_BF16, l->windows[k].rows, l->windows[q].rows, op->heads);
    lower_make_room(l, &l->windows[a->scored], height, width);
    product.out = a->scored;
    push_product(l, a->index, &a->scores, &product);
}

static void emit_softmax(struct lower *l, struct attention *a)
{
    const struct tw_op *op = &l->g->ops[a->index];
    a->weights = a->scored;
    if (op->keep_scores) {
        const struct lower_window *w = &l->windows[a->scored];
        a->weights = lower_fresh(l, "weights", TW_BF16, w->cols, w->rows, w->batch);
    }
    push(l, a->index,
         &(struct tw_op){.kind = TW_OP_SOFTMAX,
                         .out = a->weights,
                         .in = {a->scored, TW_NONE, TW_NONE, TW_NONE},
                         .scale = op->scale});
}

static void emit_mix(struct lower *l, struct attention *a)
{
    const struct tw_op *op = &l->g->ops[a->index];
    const int32_t v = lower_window_of(l, l->uses[a->index].in[2], op->in[2]);
    const struct target t = target(l, a->index, op->heads, &a->mixed);
    struct tw_op product = {.kind = TW_OP_PRODUCT, .in = {a->weights, TW_NONE, TW_NONE, TW_NONE}, .scale = 1};
    product.b_rows = 1;
    product.out = t.written;
    product.in[1] =
        operand(l, a->index, v, TW_BF16, op->heads, tw_overlay_depth(&a->mixed), tw_overlay_width(&a->mixed));
    lower_make_room(l, &l->windows[a->weights], tw_overlay_height(&a->mixed), tw_overlay_depth(&a->mixed));
    push_product(l, a->index, &a->mixed, &product);
    bring_home(l, a->index, &t);
}

static int emit_attention(struct lower *l, int32_t index, struct tw_error *err)
{
    struct attention a = {.index = index};
    int code = choose_shapes(l, &a, err);
    if (code < 0)
        return code;
    emit_scores(l, &a);
    emit_softmax(l, &a);
    emit_mix(l, &a);
    return TW_OK;
}

/* ---- All */

static void emit_same(struct lower *l, int32_t index)
{
    const struct lower_use *use = &l->uses[index];
    struct tw_op op = l->g->ops[index];
    for (int i = 0; i < 4; i++)
        if (op.in[i] != TW_NONE)
            op.in[i] = lower_window_of(l, use->in[i], op.in[i]);
    op.out = lower_window_of(l, use->out, op.out);
    push(l, index, &op);
}

int lower_emit(struct lower *l, struct tw_error *err)
{
    int code = TW_OK;
    for (int32_t i = 0; i < l->g->n_ops && code == TW_OK; i++) {
        if (!l->uses[i].on_array)
            emit_same(l, i);
        else
            code = l->g->ops[i].kind == TW_OP_PRODUCT ? emit_product(l, i, err) : emit_attention(l, i, err);
    }
    return code;
}
