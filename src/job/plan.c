#include "job/plan.h"

#include "base/memory.h"
#include "job/lower.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of what is made of an operation must stay far within int32_t. */
enum { OPERATIONS_MAX = 1 << 24 };

/* ---- Work memory */

static void free_lower(struct lower *l)
{
    free(l->forms);
    free(l->uses);
    free(l->bases);
    free(l->windows);
    free(l->copies);
    free(l->ops);
    free(l->order);
    free(l->steps);
}

/* count things for each operation and some more, or NULL. */
static void *room(int32_t count, int each, int32_t more, size_t size)
{
    return calloc((size_t)count * (size_t)each + (size_t)more + 1, size);
}

static int make_lower(struct lower *l, const struct tw_graph *g, const struct tw_plan_options *options,
                      struct tw_error *err)
{
    const int32_t n = g->n_ops, tensors = g->n_tensors;
    *l = (struct lower){.g = g, .apart = options != NULL && options->apart};
    if (n > OPERATIONS_MAX)
        return tw_fail(err, TW_E_LIMIT, "a graph of %d operations cannot be planned; %d are the most", n,
                       OPERATIONS_MAX);
    l->forms = room(0, 0, tensors, sizeof *l->forms);
    l->uses = room(n, 1, 0, sizeof *l->uses);
    l->bases = room(n, LOWER_BASES, tensors, sizeof *l->bases);
    l->windows = room(n, LOWER_WINDOWS, 0, sizeof *l->windows);
    l->copies = room(n, LOWER_COPIES, 0, sizeof *l->copies);
    l->ops = room(n, LOWER_OPS, 0, sizeof *l->ops);
    l->order = room(n, LOWER_OPS, tensors, sizeof *l->order);
    l->steps = room(n, LOWER_OPS, 0, sizeof *l->steps);
    const void *const all[] = {l->forms, l->uses, l->bases, l->windows, l->copies, l->ops, l->order, l->steps};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory to plan a graph of %d operations", n);
    return TW_OK;
}

/* ---- The plan */

static int make_plan(struct lower *l, struct tw_plan *plan, struct tw_error *err)
{
    plan->from = room(l->n_ops, 1, 0, sizeof *plan->from);
    plan->steps = room(l->n_steps, 1, 0, sizeof *plan->steps);
    if (plan->from == NULL || plan->steps == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a plan of %d operations", l->n_ops);
    struct tw_error failure = {.code = TW_E_MEMORY};
    plan->graph = lower_write(l, &failure);
    if (plan->graph == NULL)
        return tw_fail(err, failure.code, "%s", failure.text);
    for (int32_t i = 0; i < l->n_ops; i++)
        plan->from[i] = l->ops[l->order[i]].from;
    memcpy(plan->steps, l->steps, (size_t)l->n_steps * sizeof *plan->steps);
    plan->n_steps = l->n_steps;
    return TW_OK;
}

static int lower_all(struct lower *l, struct tw_error *err)
{
    lower_read(l);
    int code = lower_emit(l, err);
    return code == TW_OK ? lower_order(l, err) : code;
}

int tw_plan_make(const struct tw_graph *g, const struct tw_plan_options *options, struct tw_plan **plan,
                 struct tw_error *err)
{
    struct lower l;
    *plan = NULL;
    if (!g->finished)
        return tw_fail(err, TW_E_STATE, "the graph has not been finished; call tw_graph_finish before it is planned");
    struct tw_plan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a plan");
    int code = make_lower(&l, g, options, err);
    if (code == TW_OK)
        code = lower_all(&l, err);
    if (code == TW_OK)
        code = make_plan(&l, made, err);
    free_lower(&l);
    if (code == TW_OK)
        *plan = made;
    else
        tw_plan_free(made);
    return code;
}

void tw_plan_free(struct tw_plan *plan)
{
    if (plan == NULL)
        return;
    tw_graph_destroy(plan->graph);
    free(plan->steps);
    free(plan->from);
    free(plan);
}

/* ---- Products */

void tw_plan_size(const struct tw_graph *g, const struct tw_op *op, struct tw_overlay_size *size)
{
    const struct tw_tensor *out = &g->tensors[op->out], *b = &g->tensors[op->in[1]];
    *size = (struct tw_overlay_size){
        .rows = (uint32_t)out->rows,
        .depth = (uint32_t)g->tensors[op->in[0]].cols,
        .columns = (uint32_t)out->cols,
        .bf16_out = out->type == TW_BF16,
        .order = g->tensors[b->base].storage == TW_BOUND ? TW_OVERLAY_PACKED
                 : op->b_rows                            ? TW_OVERLAY_BY_ROWS
                                                         : TW_OVERLAY_BY_COLUMNS,
        .addend = op->in[3] != TW_NONE,
    };
}

size_t tw_plan_pitch(const struct tw_graph *g, tw_id id)
{
    return g->tensors[g->tensors[id].base].row_stride;
}
