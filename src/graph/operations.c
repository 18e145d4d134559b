/* The builders of operations: each checks its operands' types and shapes and appends one entry to the list. */
#include "graph/graph.h"

#include "graph/list.h"
#include "graph/window.h"

#include <math.h>

#define BIT(type) (1u << (type))
#define ONLY_F32 BIT(TW_F32)
#define FLOATS (BIT(TW_F32) | BIT(TW_F16) | BIT(TW_BF16))
#define STORED (FLOATS | BIT(TW_Q5_0) | BIT(TW_Q8_0))

static struct tw_op new_op(enum tw_op_kind kind, tw_id out, tw_id x, tw_id y, tw_id z)
{
    return (struct tw_op){.kind = kind, .out = out, .in = {x, y, z, TW_NONE}, .scale = 1};
}

static const struct tw_tensor *at(const struct tw_graph *g, tw_id id)
{
    return &g->tensors[id];
}

/* The allowed types as words, for messages. */
static const char *types_text(unsigned types)
{
    switch (types) {
    case ONLY_F32:
        return "f32";
    case BIT(TW_I32):
        return "i32";
    case BIT(TW_F32) | BIT(TW_F16):
        return "f32 or f16";
    case FLOATS:
        return "f32, f16 or bf16";
    default:
        return "a type of weights, not i32";
    }
}

static int refuse(struct tw_graph *g, const struct tw_op *op, const char *sentence)
{
    return tw_graph_refuse_op(g, g->n_ops, op, TW_E_SHAPE, "%s", sentence);
}

static int check_operand(struct tw_graph *g, const struct tw_op *op, tw_id id, const char *role, unsigned types)
{
    if (id < 0) {
        tw_graph_refuse_op(g, g->n_ops, op, id, "%s is no tensor but the error code %d", role, id);
        return id;
    }
    if (!tw_graph_is_tensor(g, id))
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_ARGUMENT, "%s is missing or not in this graph", role);
    if ((types & BIT(at(g, id)->type)) == 0)
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_ARGUMENT, "%s must be %s", role, types_text(types));
    return TW_OK;
}

/* out can be written: a computable type, and no two of its numbers in one place. */
static int check_out(struct tw_graph *g, const struct tw_op *op, unsigned types)
{
    int code = check_operand(g, op, op->out, "the output", types);
    if (code == TW_OK && tw_window_folded(at(g, op->out)))
        return refuse(g, op, "rows of the output overlap each other");
    return code;
}

static int check_finite(struct tw_graph *g, const struct tw_op *op)
{
    if (!isfinite(op->scale) || !isfinite(op->eps) || op->eps < 0)
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_ARGUMENT, "scale and eps must be finite and eps not negative");
    return TW_OK;
}

/* Output and first operand of a row operation. */
static int check_out_and_x(struct tw_graph *g, const struct tw_op *op)
{
    int code = check_out(g, op, FLOATS);
    if (code == TW_OK)
        code = check_operand(g, op, op->in[0], "x", FLOATS);
    return code == TW_OK ? check_finite(g, op) : code;
}

static int same_shape(const struct tw_tensor *a, const struct tw_tensor *b)
{
    return a->cols == b->cols && a->rows == b->rows && a->batch == b->batch;
}

static int is_row(const struct tw_tensor *t, int64_t cols)
{
    return t->cols == cols && t->rows == 1 && t->batch == 1;
}

static int add_op(struct tw_graph *g, const struct tw_op *op)
{
    if (g->finished)
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_STATE, "it comes after the graph was finished; reset it first");
    void *items = g->ops;
    int code = tw_graph_grow(g, &items, &g->op_room, g->n_ops, sizeof *op);
    g->ops = items;
    if (code == TW_OK)
        g->ops[g->n_ops++] = *op;
    return code;
}

static int check_product_shapes(struct tw_graph *g, const struct tw_op *op)
{
    const struct tw_tensor *out = at(g, op->out), *a = at(g, op->in[0]), *b = at(g, op->in[1]);
    int64_t k = op->b_rows ? b->rows : b->cols, n = op->b_rows ? b->cols : b->rows;
    if (a->cols != k)
        return refuse(g, op, op->b_rows ? "cols of a and rows of b must agree" : "cols of a and of b must agree");
    if (out->rows != a->rows)
        return refuse(g, op, "rows of a and of the output must agree");
    if (out->cols != n)
        return refuse(
            g, op, op->b_rows ? "the output must have as many cols as b" : "the output must have a column a row of b");
    if (a->batch != out->batch || (b->batch != 1 && b->batch != out->batch))
        return refuse(g, op, "batches must agree, but b may have 1");
    if (op->in[2] != TW_NONE && !is_row(at(g, op->in[2]), n))
        return refuse(g, op, "the bias must be one row of the output's cols");
    if (op->in[3] != TW_NONE && !same_shape(at(g, op->in[3]), out))
        return refuse(g, op, "the addend must have the output's shape");
    return TW_OK;
}

int tw_graph_product(struct tw_graph *g, tw_id out, tw_id a, tw_id b, tw_id bias, struct tw_product_options options)
{
    return tw_graph_product_onto(g, out, a, b, bias, TW_NONE, options);
}

static int check_addend(struct tw_graph *g, const struct tw_op *op)
{
    if (op->in[3] == TW_NONE)
        return TW_OK;
    if (op->accumulate)
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_ARGUMENT, "it has an addend and accumulates; choose one");
    return check_operand(g, op, op->in[3], "the addend", ONLY_F32);
}

int tw_graph_product_onto(struct tw_graph *g, tw_id out, tw_id a, tw_id b, tw_id bias, tw_id addend,
                          struct tw_product_options options)
{
    struct tw_op op = new_op(TW_OP_PRODUCT, out, a, b, bias);
    op.in[3] = addend;
    op.scale = options.scale == 0 ? 1 : options.scale;
    op.gelu = options.gelu != 0;
    op.accumulate = options.accumulate != 0;
    op.b_rows = options.b_rows != 0;
    int code = check_out(g, &op, op.accumulate ? ONLY_F32 : FLOATS);
    if (code == TW_OK)
        code = check_operand(g, &op, a, "a", FLOATS);
    if (code == TW_OK)
        code = check_operand(g, &op, b, "b", op.b_rows ? FLOATS : STORED);
    if (code == TW_OK && bias != TW_NONE)
        code = check_operand(g, &op, bias, "the bias", ONLY_F32);
    if (code == TW_OK)
        code = check_addend(g, &op);
    if (code == TW_OK)
        code = check_finite(g, &op);
    if (code == TW_OK)
        code = check_product_shapes(g, &op);
    return code == TW_OK ? add_op(g, &op) : code;
}

/* A row operation of one operand whose output has the operand's shape. */
static int add_unary(struct tw_graph *g, const struct tw_op *op)
{
    int code = check_out_and_x(g, op);
    if (code == TW_OK && !same_shape(at(g, op->out), at(g, op->in[0])))
        code = refuse(g, op, "output and x must have the same shape");
    return code == TW_OK ? add_op(g, op) : code;
}

int tw_graph_gelu(struct tw_graph *g, tw_id out, tw_id x)
{
    struct tw_op op = new_op(TW_OP_GELU, out, x, TW_NONE, TW_NONE);
    return add_unary(g, &op);
}

int tw_graph_scale(struct tw_graph *g, tw_id out, tw_id x, float scale)
{
    struct tw_op op = new_op(TW_OP_SCALE, out, x, TW_NONE, TW_NONE);
    op.scale = scale;
    return add_unary(g, &op);
}

int tw_graph_copy(struct tw_graph *g, tw_id out, tw_id x)
{
    struct tw_op op = new_op(TW_OP_COPY, out, x, TW_NONE, TW_NONE);
    return add_unary(g, &op);
}

int tw_graph_add(struct tw_graph *g, tw_id out, tw_id x, tw_id y)
{
    struct tw_op op = new_op(TW_OP_ADD, out, x, y, TW_NONE);
    int code = check_out_and_x(g, &op);
    if (code == TW_OK)
        code = check_operand(g, &op, y, "y", FLOATS);
    if (code != TW_OK)
        return code;
    const struct tw_tensor *tx = at(g, x), *ty = at(g, y);
    if (!same_shape(at(g, out), tx))
        return refuse(g, &op, "output and x must have the same shape");
    if (ty->cols != tx->cols || (ty->rows != 1 && ty->rows != tx->rows) || (ty->batch != 1 && ty->batch != tx->batch))
        return refuse(g, &op, "y must have the shape of x, or 1 row or 1 batch of it");
    return add_op(g, &op);
}

int tw_graph_transpose(struct tw_graph *g, tw_id out, tw_id x)
{
    struct tw_op op = new_op(TW_OP_TRANSPOSE, out, x, TW_NONE, TW_NONE);
    int code = check_out_and_x(g, &op);
    if (code != TW_OK)
        return code;
    const struct tw_tensor *to = at(g, out), *tx = at(g, x);
    if (to->cols != tx->rows || to->rows != tx->cols || to->batch != tx->batch)
        return refuse(g, &op, "the output must have the shape of x with cols and rows exchanged");
    return add_op(g, &op);
}

int tw_graph_layer_norm(struct tw_graph *g, tw_id out, tw_id x, tw_id gain, tw_id shift, float eps)
{
    struct tw_op op = new_op(TW_OP_LAYER_NORM, out, x, gain, shift);
    op.eps = eps;
    int code = check_out_and_x(g, &op);
    if (code == TW_OK)
        code = check_operand(g, &op, gain, "the gain", ONLY_F32);
    if (code == TW_OK)
        code = check_operand(g, &op, shift, "the shift", ONLY_F32);
    if (code != TW_OK)
        return code;
    if (!same_shape(at(g, out), at(g, x)))
        return refuse(g, &op, "output and x must have the same shape");
    if (!is_row(at(g, gain), at(g, x)->cols) || !is_row(at(g, shift), at(g, x)->cols))
        return refuse(g, &op, "gain and shift must be one row of the cols of x");
    return add_op(g, &op);
}

/* Query rows see keys 0 .. past + row, all of which must be there. */
static int check_causal(struct tw_graph *g, struct tw_op *op, int causal, int32_t past, int64_t rows, int64_t keys)
{
    if (!causal)
        return TW_OK;
    op->causal = 1;
    op->past = past;
    if (past < 0 || past > keys - rows)
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_SHAPE,
                                  "%d past positions and %lld rows do not fit the %lld positions to look at", past,
                                  (long long)rows, (long long)keys);
    return TW_OK;
}

int tw_graph_softmax(struct tw_graph *g, tw_id out, tw_id x, float scale, int causal, int32_t past)
{
    struct tw_op op = new_op(TW_OP_SOFTMAX, out, x, TW_NONE, TW_NONE);
    op.scale = scale;
    int code = check_operand(g, &op, x, "x", FLOATS);
    if (code == TW_OK)
        code = check_causal(g, &op, causal, past, at(g, x)->rows, at(g, x)->cols);
    return code == TW_OK ? add_unary(g, &op) : code;
}

int tw_graph_im2col(struct tw_graph *g, tw_id out, tw_id x, int32_t window, int32_t stride)
{
    struct tw_op op = new_op(TW_OP_IM2COL, out, x, TW_NONE, TW_NONE);
    op.window = window;
    op.stride = stride;
    int code = check_out_and_x(g, &op);
    if (code != TW_OK)
        return code;
    if (window < 1 || stride < 1)
        return tw_graph_refuse_op(g, g->n_ops, &op, TW_E_ARGUMENT, "window %d and stride %d must be at least 1", window,
                                  stride);
    const struct tw_tensor *to = at(g, out), *tx = at(g, x);
    /* An even window has one zero more than it needs, so that every length has at least one window. */
    int64_t surplus = window % 2 == 0;
    if (to->rows != (tx->rows - 1 + surplus) / stride + 1 || to->cols / window != tx->cols || to->cols % window != 0 ||
        to->batch != tx->batch)
        return tw_graph_refuse_op(g, g->n_ops, &op, TW_E_SHAPE,
                                  "windows of %d at stride %d need %lld rows and %d times the cols of x", window,
                                  stride, (long long)((tx->rows - 1 + surplus) / stride + 1), window);
    return add_op(g, &op);
}

int tw_graph_gather(struct tw_graph *g, tw_id out, tw_id table, tw_id indices)
{
    struct tw_op op = new_op(TW_OP_GATHER, out, table, indices, TW_NONE);
    int code = check_out(g, &op, ONLY_F32);
    if (code == TW_OK)
        code = check_operand(g, &op, table, "the table", STORED);
    if (code == TW_OK)
        code = check_operand(g, &op, indices, "the indices", BIT(TW_I32));
    if (code != TW_OK)
        return code;
    const struct tw_tensor *to = at(g, out), *tt = at(g, table), *ti = at(g, indices);
    if (ti->rows != 1 || ti->batch != 1 || tt->batch != 1 || to->batch != 1)
        return refuse(g, &op, "indices must be one row, and nothing may have batches");
    if (to->rows != ti->cols || to->cols != tt->cols)
        return refuse(g, &op, "the output must have a row an index, of the table's cols");
    return add_op(g, &op);
}

static int check_attention_shapes(struct tw_graph *g, const struct tw_op *op)
{
    const struct tw_tensor *out = at(g, op->out), *q = at(g, op->in[0]), *k = at(g, op->in[1]), *v = at(g, op->in[2]);
    if (!same_shape(out, q))
        return refuse(g, op, "output and queries must have the same shape");
    if (!same_shape(k, v) || k->type != v->type)
        return refuse(g, op, "keys and values must have the same shape and type");
    if (k->cols != q->cols)
        return refuse(g, op, "queries and keys must have the same cols");
    if (k->batch != 1 && k->batch != q->batch)
        return refuse(g, op, "batches must agree, but keys and values may have 1");
    if (op->heads < 1 || q->cols % op->heads != 0)
        return tw_graph_refuse_op(g, g->n_ops, op, TW_E_SHAPE, "the cols do not divide into %d heads", op->heads);
    return TW_OK;
}

int tw_graph_attention(struct tw_graph *g, tw_id out, tw_id q, tw_id k, tw_id v, int32_t heads, float scale, int causal,
                       int32_t past)
{
    struct tw_op op = new_op(TW_OP_ATTENTION, out, q, k, v);
    op.heads = heads;
    op.scale = scale;
    int code = check_out(g, &op, ONLY_F32);
    if (code == TW_OK)
        code = check_operand(g, &op, q, "the queries", ONLY_F32);
    if (code == TW_OK)
        code = check_operand(g, &op, k, "the keys", BIT(TW_F32) | BIT(TW_F16));
    if (code == TW_OK)
        code = check_operand(g, &op, v, "the values", BIT(TW_F32) | BIT(TW_F16));
    if (code == TW_OK)
        code = check_finite(g, &op);
    if (code == TW_OK)
        code = check_attention_shapes(g, &op);
    if (code == TW_OK)
        code = check_causal(g, &op, causal, past, at(g, q)->rows, at(g, k)->rows);
    return code == TW_OK ? add_op(g, &op) : code;
}

int tw_graph_keep_scores(struct tw_graph *g)
{
    if (g->failure.code != TW_OK)
        return g->failure.code;
    if (g->finished || g->n_ops == 0 || g->ops[g->n_ops - 1].kind != TW_OP_ATTENTION)
        return tw_graph_refuse(g, TW_E_STATE, "scores can be kept of an attention that has just been added");
    g->ops[g->n_ops - 1].keep_scores = 1;
    return TW_OK;
}
