/* What the operations of the original graph read and write, and which temporaries may be in bf16. */
#include "job/lower.h"

/* ---- Forms */

/* A distance in a dense base as whole matrices, rows and columns. */
static struct lower_spot spot_of(const struct tw_tensor *base, size_t bytes)
{
    const size_t rest = bytes % base->batch_stride;
    return (struct lower_spot){(int64_t)(bytes / base->batch_stride), (int64_t)(rest / base->row_stride),
                               (int64_t)(rest % base->row_stride / tw_type_info(base->type)->bytes)};
}

/* The last place that a window reaches in one dimension, and whether it is still before the end of that dimension. */
static int stays(const struct tw_tensor *t, int64_t at, int64_t row_step, int64_t batch_step, int64_t cols, int64_t end)
{
    return at + (t->rows - 1) * row_step + (t->batch - 1) * batch_step + cols <= end;
}

static struct lower_form form_of(const struct tw_graph *g, tw_id id)
{
    const struct tw_tensor *t = &g->tensors[id], *base = &g->tensors[t->base];
    struct lower_form f = {.row_step = {0, 1, 0}, .batch_step = {1, 0, 0}};
    if (base->storage != TW_TEMP)
        return f;
    f.at = spot_of(base, t->offset);
    if (t->rows > 1)
        f.row_step = spot_of(base, t->row_stride);
    if (t->batch > 1)
        f.batch_step = spot_of(base, t->batch_stride);
    f.is_known = stays(t, f.at.col, f.row_step.col, f.batch_step.col, t->cols, base->cols) &&
                 stays(t, f.at.row, f.row_step.row, f.batch_step.row, 1, base->rows) &&
                 stays(t, f.at.matrix, f.row_step.matrix, f.batch_step.matrix, 1, base->batch);
    return f;
}

/* ---- Uses */

struct reader {
    struct lower *l;
    int32_t *current; /* the base that holds each tensor's numbers now, or -1 */
};

static int32_t add_base(struct lower *l, tw_id id)
{
    const struct tw_tensor *t = &l->g->tensors[id];
    l->bases[l->n_bases] = (struct lower_base){.original = id,
                                               .name = t->name,
                                               .type = t->type,
                                               .keeps = t->storage == TW_BOUND,
                                               .cols = t->cols,
                                               .rows = t->rows,
                                               .batch = t->batch,
                                               .pitch = t->cols,
                                               .height = t->rows,
                                               .copies = -1,
                                               .id = -1};
    return l->n_bases++;
}

/* The base that tensor id now lies in. */
static int32_t find_base(struct reader *r, tw_id id)
{
    struct lower *l = r->l;
    int32_t *current = &r->current[l->g->tensors[id].base];
    if (*current < 0)
        *current = add_base(l, l->g->tensors[id].base);
    if (!l->forms[id].is_known)
        l->bases[*current].keeps = 1;
    return *current;
}

/* Nonzero when the output is all of a temporary. Outputs have no two numbers in one place, so that counting is enough.
 */
static int is_whole(const struct tw_graph *g, tw_id out)
{
    const struct tw_tensor *t = &g->tensors[out], *base = &g->tensors[t->base];
    return base->storage == TW_TEMP && t->cols * t->rows * t->batch == base->cols * base->rows * base->batch;
}

/* Nonzero when the CPU runs the operation on its output's memory, which must be the same before and after then. */
static int is_in_place(const struct tw_graph *g, const struct tw_op *op)
{
    int found = op->accumulate;
    for (int i = 0; i < 4; i++)
        found |= op->in[i] != TW_NONE && g->tensors[op->in[i]].base == g->tensors[op->out].base;
    return found;
}

static void read_op(struct reader *r, int32_t index)
{
    const struct tw_graph *g = r->l->g;
    const struct tw_op *op = &g->ops[index];
    struct lower_use *use = &r->l->uses[index];
    use->on_array = lower_takes(g, op);
    for (int i = 0; i < 4; i++)
        use->in[i] = op->in[i] == TW_NONE ? -1 : find_base(r, op->in[i]);
    use->before = op->accumulate ? find_base(r, op->out) : -1;
    if (is_whole(g, op->out) && (use->on_array || !is_in_place(g, op)))
        r->current[g->tensors[op->out].base] = -1;
    use->out = find_base(r, op->out);
}

/* ---- Temporaries in bf16 */

/* What only moves numbers loses nothing by reading them rounded, if it rounds them anyway. */
static int only_moves(enum tw_op_kind kind)
{
    return kind == TW_OP_COPY || kind == TW_OP_TRANSPOSE || kind == TW_OP_IM2COL;
}

/* Nonzero when operand i of an operation may as well be in bf16. */
static int reads_bf16(const struct lower *l, int32_t index, int i)
{
    const struct lower_use *use = &l->uses[index];
    const enum tw_op_kind kind = l->g->ops[index].kind;
    if (use->on_array)
        return i < (kind == TW_OP_PRODUCT ? 2 : 3);
    return only_moves(kind) && l->bases[use->out].type == TW_BF16;
}

static int writes_bf16(const struct lower *l, int32_t index)
{
    const struct tw_op *op = &l->g->ops[index];
    return l->uses[index].on_array || (op->kind != TW_OP_GATHER && op->kind != TW_OP_ATTENTION && !op->accumulate);
}

/* Gives a base its original type again; returns 1 when that changes it. */
static int widen(struct lower *l, int32_t base)
{
    const enum tw_type type = l->g->tensors[l->bases[base].original].type;
    const int changes = l->bases[base].type != type;
    l->bases[base].type = type;
    return changes;
}

/* Undoes what an operation does not allow; returns how many bases changed. */
static int undo_bf16(struct lower *l, int32_t index)
{
    const struct lower_use *use = &l->uses[index];
    int changes = writes_bf16(l, index) ? 0 : widen(l, use->out);
    if (use->before >= 0)
        changes += widen(l, use->before);
    for (int i = 0; i < 4; i++)
        if (use->in[i] >= 0 && !reads_bf16(l, index, i))
            changes += widen(l, use->in[i]);
    return changes;
}

/* Supposes that all temporaries that are read may be in bf16, then undoes it until every operation agrees. */
static void narrow(struct lower *l)
{
    for (int32_t index = 0; index < l->g->n_ops; index++)
        for (int i = 0; i < 4; i++) {
            const int32_t in = l->uses[index].in[i];
            if (in >= 0 && !l->bases[in].keeps)
                l->bases[in].type = TW_BF16;
        }
    int changes;
    do {
        changes = 0;
        for (int32_t index = l->g->n_ops - 1; index >= 0; index--)
            changes += undo_bf16(l, index);
    } while (changes > 0);
}

void lower_read(struct lower *l)
{
    /* The list of the order is not needed yet, and long enough. */
    struct reader r = {l, l->order};
    for (tw_id id = 0; id < l->g->n_tensors; id++) {
        l->forms[id] = form_of(l->g, id);
        r.current[id] = -1;
    }
    for (int32_t index = 0; index < l->g->n_ops; index++)
        read_op(&r, index);
    narrow(l);
}
