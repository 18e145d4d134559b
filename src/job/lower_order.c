/*
 * The order of operations: a launch takes the next product and all that follow, as long as they need nothing that the
 * CPU has still to do. What lies between them and does not depend on the launch is done before it, the rest after it.
 */
#include "job/lower.h"

#include <stdlib.h>

/* Memory that the operands of a launch may take together, for all of it is held from the launch's begin to its end. */
#define LAUNCH_BYTES (UINT64_C(1) << 30)

/* What happens to a base in the launch that is being put together: numbers of launches, of which the latest counts. */
struct mark {
    int32_t read, written;         /* by its products */
    int32_t read_late, write_late; /* by operations that were put off */
    int is_clean;                  /* padding of what is written is zero from the last column on */
};

enum place { UNPLACED, BEFORE, INSIDE, PLACED };

struct scheduler {
    struct lower *l;
    struct mark *marks;    /* of each base */
    unsigned char *places; /* of each operation, enum place */
    int32_t n_placed;
    int32_t launch; /* number of the present one, from 1 */
    uint64_t cycles, bytes;
    int64_t products, matrices;
};

static const struct lower_window *window(const struct scheduler *s, int32_t w)
{
    return &s->l->windows[w];
}

static struct mark *mark(const struct scheduler *s, int32_t w)
{
    return &s->marks[window(s, w)->base];
}

/* ---- What may join a launch */

/* Nonzero when an operation has nothing to do with those that were put off. */
static int is_early(const struct scheduler *s, const struct tw_op *op)
{
    const struct mark *out = mark(s, op->out);
    if (out->read_late == s->launch || out->write_late == s->launch)
        return 0;
    for (int i = 0; i < 4; i++)
        if (op->in[i] != TW_NONE && mark(s, op->in[i])->write_late == s->launch)
            return 0;
    return 1;
}

/* Nonzero when an operation that the launch stands before may as well be done first. */
static int is_apart(const struct scheduler *s, const struct tw_op *op)
{
    const struct mark *out = mark(s, op->out);
    if (out->read == s->launch || out->written == s->launch)
        return 0;
    for (int i = 0; i < 4; i++)
        if (op->in[i] != TW_NONE && mark(s, op->in[i])->written == s->launch)
            return 0;
    return 1;
}

/*
 * Nonzero unless operand w of a product is written by the same launch and has padding that matters: columns must be
 * zero; rows too, if they are the depth of the product.
 */
static int has_good_padding(const struct scheduler *s, int32_t w, int by_rows)
{
    const struct lower_window *t = window(s, w);
    const struct mark *m = mark(s, w);
    if (m->written != s->launch)
        return 1;
    if (by_rows && t->rows % LOWER_ZEROED != 0)
        return 0;
    return t->cols % LOWER_ZEROED == 0 || (m->is_clean && t->form.at.col == 0);
}

static uint64_t new_bytes(const struct scheduler *s, int32_t w)
{
    const struct lower_base *b = &s->l->bases[window(s, w)->base];
    const struct mark *m = mark(s, w);
    if (b->keeps || m->read == s->launch || m->written == s->launch)
        return 0;
    return (uint64_t)b->pitch * (uint64_t)b->height * (uint64_t)b->batch * tw_type_info(b->type)->bytes;
}

static uint64_t bytes_of(const struct scheduler *s, const struct tw_op *op)
{
    uint64_t bytes = new_bytes(s, op->out);
    for (int i = 0; i < 4; i++)
        bytes += op->in[i] == TW_NONE ? 0 : new_bytes(s, op->in[i]);
    return bytes;
}

static int has_room(const struct scheduler *s, const struct lower_op *op)
{
    if (s->products == 0)
        return 1;
    return !s->l->apart && s->products < LOWER_PRODUCTS && s->cycles + op->cycles <= TW_PLAN_LAUNCH_CYCLES &&
           s->matrices + window(s, op->op.out)->batch <= LOWER_MATRICES &&
           s->bytes + bytes_of(s, &op->op) <= LAUNCH_BYTES;
}

static int can_join(const struct scheduler *s, const struct lower_op *op)
{
    const struct tw_op *p = &op->op;
    return has_room(s, op) && is_early(s, p) && has_good_padding(s, p->in[0], 0) &&
           has_good_padding(s, p->in[1], p->b_rows);
}

/*
 * Padding of the result is zero when that of B is, as packed B's is, and that of the addend; but of matrices side by
 * side the last one's may not reach far enough.
 */
static int writes_clean(const struct scheduler *s, const struct tw_op *op)
{
    const struct lower_window *out = window(s, op->out);
    return s->l->bases[window(s, op->in[1])->base].keeps &&
           (op->in[3] == TW_NONE || has_good_padding(s, op->in[3], 0)) &&
           (out->batch == 1 || out->form.batch_step.col == 0);
}

static void join(struct scheduler *s, const struct lower_op *op)
{
    s->cycles += op->cycles;
    s->bytes += bytes_of(s, &op->op);
    s->products++;
    s->matrices += window(s, op->op.out)->batch;
    for (int i = 0; i < 4; i++)
        if (op->op.in[i] != TW_NONE)
            mark(s, op->op.in[i])->read = s->launch;
    mark(s, op->op.out)->is_clean = writes_clean(s, &op->op);
    mark(s, op->op.out)->written = s->launch;
}

static void put_off(const struct scheduler *s, const struct tw_op *op)
{
    for (int i = 0; i < 4; i++)
        if (op->in[i] != TW_NONE)
            mark(s, op->in[i])->read_late = s->launch;
    mark(s, op->out)->write_late = s->launch;
}

/* ---- The list */

static void append(struct scheduler *s, int32_t index)
{
    s->places[index] = PLACED;
    s->l->order[s->n_placed++] = index;
    s->l->steps[s->l->n_steps - 1].count++;
}

static void begin_step(struct scheduler *s, enum tw_step_kind kind)
{
    s->l->steps[s->l->n_steps++] = (struct tw_step){kind, s->n_placed, 0};
}

static void append_host(struct scheduler *s, int32_t index)
{
    const int32_t n = s->l->n_steps;
    if (n == 0 || s->l->steps[n - 1].kind != TW_STEP_HOST)
        begin_step(s, TW_STEP_HOST);
    append(s, index);
}

/* Chooses what goes into a launch that begins with operation `first`, and before it; returns where the last one is. */
static int32_t choose(struct scheduler *s, int32_t first)
{
    int32_t last = first;
    s->launch++;
    s->cycles = s->bytes = 0;
    s->products = s->matrices = 0;
    for (int32_t i = first; i < s->l->n_ops; i++) {
        const struct lower_op *op = &s->l->ops[i];
        if (s->places[i] == PLACED)
            continue;
        if (op->is_launched && !can_join(s, op))
            break;
        if (op->is_launched) {
            join(s, op);
            s->places[i] = INSIDE;
            last = i;
        } else if (is_early(s, &op->op) && is_apart(s, &op->op)) {
            s->places[i] = BEFORE;
        } else {
            put_off(s, &op->op);
        }
    }
    return last;
}

static void place_launch(struct scheduler *s, int32_t first)
{
    const int32_t last = choose(s, first);
    for (int32_t i = first; i <= last; i++)
        if (s->places[i] == BEFORE)
            append_host(s, i);
    begin_step(s, TW_STEP_LAUNCH);
    for (int32_t i = first; i <= last; i++)
        if (s->places[i] == INSIDE)
            append(s, i);
}

int lower_order(struct lower *l, struct tw_error *err)
{
    struct scheduler s = {.l = l};
    s.marks = calloc((size_t)l->n_bases + 1, sizeof *s.marks);
    s.places = calloc((size_t)l->n_ops + 1, 1);
    for (int32_t i = 0; i < l->n_ops && s.marks != NULL && s.places != NULL; i++) {
        if (s.places[i] == PLACED)
            continue;
        if (l->ops[i].is_launched)
            place_launch(&s, i);
        else
            append_host(&s, i);
    }
    const int is_made = s.marks != NULL && s.places != NULL;
    free(s.marks);
    free(s.places);
    return is_made ? TW_OK : tw_fail(err, TW_E_MEMORY, "no memory to order %d operations", l->n_ops);
}
