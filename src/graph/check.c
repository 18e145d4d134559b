/* tw_graph_finish: what only the whole list shows. Who writes and reads what, and in which order. */
#include "graph/graph.h"

#include "graph/list.h"
#include "graph/order.h"
#include "graph/window.h"

/* The tensor and its base are used by operation number index. */
static void use(struct tw_graph *g, tw_id id, int32_t index)
{
    struct tw_tensor *both[2] = {&g->tensors[id], &g->tensors[g->tensors[id].base]};
    for (int i = 0; i < 2; i++) {
        if (both[i]->first_use < 0)
            both[i]->first_use = index;
        both[i]->last_use = index;
    }
}

static int check_read(struct tw_graph *g, int32_t index, tw_id id)
{
    const struct tw_tensor *base = &g->tensors[g->tensors[id].base];
    if (base->storage == TW_TEMP && !base->written)
        return tw_graph_refuse_op(g, index, &g->ops[index], TW_E_STATE, "'%s' is read before anything is written to it",
                                  g->tensors[id].name);
    use(g, id, index);
    return TW_OK;
}

static int check_write(struct tw_graph *g, int32_t index, tw_id id)
{
    struct tw_tensor *t = &g->tensors[id], *base = &g->tensors[t->base];
    if (base->constant)
        return tw_graph_refuse_op(g, index, &g->ops[index], TW_E_ARGUMENT, "the output is constant memory");
    t->written = base->written = 1;
    use(g, id, index);
    return TW_OK;
}

/* Each number of these outputs depends on numbers of x that the same step reads before it writes. */
static int works_in_place(enum tw_op_kind kind)
{
    return kind == TW_OP_GELU || kind == TW_OP_SCALE || kind == TW_OP_ADD || kind == TW_OP_LAYER_NORM ||
           kind == TW_OP_SOFTMAX;
}

static int check_aliases(struct tw_graph *g, int32_t index)
{
    const struct tw_op *op = &g->ops[index];
    const struct tw_tensor *out = &g->tensors[op->out];
    for (int i = 0; i < 4; i++) {
        if (op->in[i] == TW_NONE)
            continue;
        const struct tw_tensor *in = &g->tensors[op->in[i]];
        if (in->base != out->base || !tw_window_overlap(in, out))
            continue;
        int may_be_same = (i == 0 && works_in_place(op->kind)) || (i == 3 && op->kind == TW_OP_PRODUCT);
        if (may_be_same && tw_window_same(in, out))
            continue;
        return tw_graph_refuse_op(g, index, op, TW_E_ARGUMENT,
                                  "the output overlaps an operand that is still read; write to another tensor");
    }
    return TW_OK;
}

static int check_op(struct tw_graph *g, int32_t index)
{
    const struct tw_op *op = &g->ops[index];
    int code = TW_OK;
    for (int i = 0; i < 4 && code == TW_OK; i++)
        if (op->in[i] != TW_NONE)
            code = check_read(g, index, op->in[i]);
    if (code == TW_OK && op->accumulate)
        code = check_read(g, index, op->out);
    if (code == TW_OK)
        code = check_aliases(g, index);
    return code == TW_OK ? check_write(g, index, op->out) : code;
}

static uint64_t address(const struct tw_tensor *t)
{
    return (uint64_t)(uintptr_t)t->data;
}

static int refuse_shared(struct tw_graph *g, const struct tw_tensor *written, const struct tw_tensor *other)
{
    return tw_graph_refuse(
        g, TW_E_ARGUMENT, "tensors '%s' and '%s' were bound to overlapping memory and '%s' is written; make one a view",
        written->name, other->name, written->name);
}

/* The last of n sorted entries whose memory begins before end, or -1. */
static int64_t last_before(const struct tw_order *sorted, int64_t n, uint64_t end)
{
    int64_t low = 0;
    while (low < n) {
        int64_t middle = low + (n - low) / 2;
        if (sorted[middle].key < end)
            low = middle + 1;
        else
            n = middle;
    }
    return low - 1;
}

/*
 * Bound memory that is written belongs to one tensor; otherwise the checks of order and overlap, which know tensors
 * only, would miss what depends on it.
 */
static int check_bound(struct tw_graph *g)
{
    struct tw_order *written = tw_graph_scratch(g, (size_t)g->n_tensors * sizeof *written);
    int64_t n = 0;
    if (written == NULL && g->n_tensors > 0)
        return TW_E_MEMORY;
    for (tw_id id = 0; id < g->n_tensors; id++)
        if (g->tensors[id].storage == TW_BOUND && g->tensors[id].written)
            written[n++] = (struct tw_order){address(&g->tensors[id]), id};
    if (n == 0)
        return TW_OK;
    tw_order_sort(written, (size_t)n);
    for (int64_t i = 1; i < n; i++) {
        const struct tw_tensor *t = &g->tensors[written[i - 1].item];
        if (address(t) + t->bytes > written[i].key)
            return refuse_shared(g, t, &g->tensors[written[i].item]);
    }
    for (tw_id id = 0; id < g->n_tensors; id++) {
        const struct tw_tensor *t = &g->tensors[id];
        if (t->storage != TW_BOUND || t->first_use < 0 || t->written)
            continue;
        int64_t i = last_before(written, n, address(t) + t->bytes);
        const struct tw_tensor *w = i < 0 ? NULL : &g->tensors[written[i].item];
        if (w != NULL && address(w) + w->bytes > address(t))
            return refuse_shared(g, w, t);
    }
    return TW_OK;
}

/* Stretches the lives of temporaries as tw_graph_hold wants it. */
static int apply_holds(struct tw_graph *g)
{
    for (tw_id id = 0; id < g->n_tensors; id++) {
        struct tw_tensor *t = &g->tensors[id];
        if (t->storage != TW_TEMP || t->first_use < 0)
            continue;
        if (t->hold >= g->n_ops)
            return tw_graph_refuse(g, TW_E_ARGUMENT, "tensor '%s' is held until operation %d, but there are only %d",
                                   t->name, t->hold, g->n_ops);
        if (t->hold > t->last_use)
            t->last_use = t->hold;
    }
    return TW_OK;
}

static int check_all(struct tw_graph *g)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        int code = check_op(g, i);
        if (code != TW_OK)
            return code;
    }
    int code = check_bound(g);
    if (code == TW_OK)
        code = apply_holds(g);
    return code == TW_OK ? tw_graph_plan(g) : code;
}

int tw_graph_finish(struct tw_graph *g, struct tw_error *err)
{
    if (g->failure.code == TW_OK && !g->finished)
        g->finished = check_all(g) == TW_OK;
    if (g->failure.code != TW_OK)
        return tw_fail(err, g->failure.code, "%s", g->failure.text);
    return TW_OK;
}
