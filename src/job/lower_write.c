/* The lowered operations as a graph. */
#include "job/lower.h"

#include <stdio.h>

/* ---- Tensors */

static tw_id make_base(struct tw_graph *to, const struct lower *l, const struct lower_base *b)
{
    const struct tw_tensor *t = b->original == TW_NONE ? NULL : &l->g->tensors[b->original];
    if (t == NULL || t->storage == TW_TEMP)
        return tw_graph_temp(to, b->name, b->type, b->pitch, b->height, b->batch);
    return t->constant ? tw_graph_constant(to, b->name, t->type, t->cols, t->rows, t->batch, t->data)
                       : tw_graph_bind(to, b->name, t->type, t->cols, t->rows, t->batch, t->data);
}

static size_t bytes_to(const struct lower_base *b, const struct lower_spot *spot)
{
    return (size_t)((spot->matrix * b->height + spot->row) * b->pitch + spot->col) * tw_type_info(b->type)->bytes;
}

/* Nonzero when a window of a base with a new layout is just all of it. */
static int is_all(const struct lower_base *b, const struct lower_window *w)
{
    return w->cols == b->pitch && w->rows == b->height && w->batch == b->batch && w->form.row_step.row == 1 &&
           w->form.row_step.col == 0 && w->form.row_step.matrix == 0 &&
           (w->batch == 1 || (w->form.batch_step.matrix == 1 && w->form.batch_step.row == 0));
}

static tw_id make_window(struct tw_graph *to, const struct lower *l, const struct lower_base *b,
                         const struct lower_window *w)
{
    if (!b->keeps && is_all(b, w))
        return b->id;
    if (!b->keeps)
        return tw_graph_view(to, b->id, w->cols, w->rows, w->batch, bytes_to(b, &w->form.at),
                             bytes_to(b, &w->form.row_step), bytes_to(b, &w->form.batch_step));
    const struct tw_tensor *t = &l->g->tensors[w->original];
    return t->storage == TW_VIEW
               ? tw_graph_view(to, b->id, t->cols, t->rows, t->batch, t->offset, t->row_stride, t->batch_stride)
               : b->id;
}

static tw_id tensor(struct tw_graph *to, struct lower *l, tw_id w)
{
    if (w == TW_NONE)
        return TW_NONE;
    struct lower_window *window = &l->windows[w];
    struct lower_base *base = &l->bases[window->base];
    if (base->id < 0)
        base->id = make_base(to, l, base);
    if (base->id < 0)
        return base->id;
    if (window->id < 0)
        window->id = make_window(to, l, base, window);
    return window->id;
}

/* ---- Operations */

static int write_op(struct tw_graph *to, struct lower *l, const struct lower_op *lowered)
{
    const struct tw_op *op = &lowered->op;
    const struct tw_product_options options = {op->scale, op->gelu, op->accumulate, op->b_rows};
    const tw_id out = tensor(to, l, op->out), x = tensor(to, l, op->in[0]), y = tensor(to, l, op->in[1]),
                z = tensor(to, l, op->in[2]);
    switch (op->kind) {
    case TW_OP_PRODUCT:
        return tw_graph_product_onto(to, out, x, y, z, tensor(to, l, op->in[3]), options);
    case TW_OP_GELU:
        return tw_graph_gelu(to, out, x);
    case TW_OP_SCALE:
        return tw_graph_scale(to, out, x, op->scale);
    case TW_OP_ADD:
        return tw_graph_add(to, out, x, y);
    case TW_OP_COPY:
        return tw_graph_copy(to, out, x);
    case TW_OP_TRANSPOSE:
        return tw_graph_transpose(to, out, x);
    case TW_OP_LAYER_NORM:
        return tw_graph_layer_norm(to, out, x, y, z, op->eps);
    case TW_OP_SOFTMAX:
        return tw_graph_softmax(to, out, x, op->scale, op->causal, op->past);
    case TW_OP_IM2COL:
        return tw_graph_im2col(to, out, x, op->window, op->stride);
    case TW_OP_GATHER:
        return tw_graph_gather(to, out, x, y);
    case TW_OP_ATTENTION: {
        int code = tw_graph_attention(to, out, x, y, z, op->heads, op->scale, op->causal, op->past);
        return code == TW_OK && op->keep_scores ? tw_graph_keep_scores(to) : code;
    }
    default:
        return TW_E_ARGUMENT;
    }
}

/* Memory that a launch uses is not used for anything else in it, so that it can run again. */
static void hold_launch(struct tw_graph *to, const struct lower *l, const struct tw_step *step)
{
    for (int32_t i = step->first; i < step->first + step->count; i++) {
        const struct tw_op *op = &l->ops[l->order[i]].op;
        const tw_id out = l->bases[l->windows[op->out].base].id;
        tw_graph_hold(to, out, step->first + step->count - 1);
        for (int j = 0; j < 4; j++)
            if (op->in[j] != TW_NONE && !l->bases[l->windows[op->in[j]].base].keeps)
                tw_graph_hold(to, l->bases[l->windows[op->in[j]].base].id, step->first + step->count - 1);
    }
}

struct tw_graph *lower_write(struct lower *l, struct tw_error *err)
{
    struct tw_graph *to = tw_graph_create();
    if (to == NULL) {
        tw_fail(err, TW_E_MEMORY, "no memory for a graph of %d operations", l->n_ops);
        return NULL;
    }
    for (int32_t i = 0; i < l->n_ops; i++)
        if (write_op(to, l, &l->ops[l->order[i]]) != TW_OK)
            break;
    for (int32_t i = 0; i < l->n_steps; i++)
        if (l->steps[i].kind == TW_STEP_LAUNCH)
            hold_launch(to, l, &l->steps[i]);
    if (tw_graph_finish(to, err) == TW_OK)
        return to;
    tw_graph_destroy(to);
    return NULL;
}
