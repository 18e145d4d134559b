/* What a tick does, one by one, and how it is made from operations, steps and landings. */
#include "emu/core/act.h"

/* ---- acts */

static const struct tw_core_act *copy_4(struct tw_core *c, const struct tw_core_act *a)
{
    memcpy(tw_core_at(c, a->to), tw_core_at(c, a->from), 4);
    return a + 1;
}

static const struct tw_core_act *copy_32(struct tw_core *c, const struct tw_core_act *a)
{
    memcpy(tw_core_at(c, a->to), tw_core_at(c, a->from), 32);
    return a + 1;
}

const struct tw_core_act *tw_core_act_copy_64(struct tw_core *c, const struct tw_core_act *a)
{
    memcpy(tw_core_at(c, a->to), tw_core_at(c, a->from), 64);
    return a + 1;
}

static const struct tw_core_act *copy_any(struct tw_core *c, const struct tw_core_act *a)
{
    memcpy(tw_core_at(c, a->to), tw_core_at(c, a->from), a->bytes);
    return a + 1;
}

static const struct tw_core_act *set_word(struct tw_core *c, const struct tw_core_act *a)
{
    uint32_t value;

    memcpy(&value, tw_core_at(c, a->from), sizeof value);
    value &= a->mask;
    memcpy(tw_core_at(c, a->to), &value, sizeof value);
    return a + 1;
}

static const struct tw_core_act *set_value(struct tw_core *c, const struct tw_core_act *a)
{
    memcpy(tw_core_at(c, a->to), &a->value, sizeof a->value);
    return a + 1;
}

static const struct tw_core_act *add_bits(struct tw_core *c, const struct tw_core_act *a)
{
    uint32_t value, old;

    memcpy(&value, tw_core_at(c, a->from), sizeof value);
    memcpy(&old, tw_core_at(c, a->to), sizeof old);
    old |= value & a->mask;
    memcpy(tw_core_at(c, a->to), &old, sizeof old);
    return a + 1;
}

static const struct tw_core_act *call(struct tw_core *c, const struct tw_core_act *a)
{
    const struct tw_core_call *of = a->call;
    const char *reason = of->row->function(of->row, c->kernels, of->in, of->out);

    if (reason != NULL)
        tw_core_fail(c, TW_E_UNSUPPORTED, of->op, "%s", reason);
    return a + 1;
}

static const struct tw_core_act *take_step(struct tw_core *c, const struct tw_core_act *a)
{
    a->step->run(c, a->step, tw_core_flight_at(c, a->to));
    return a + 1;
}

static const struct tw_core_act *issue(struct tw_core *c, const struct tw_core_act *a)
{
    a->op->issue(c, a->op, tw_core_flight_at(c, a->to));
    return a + 1;
}

/* ---- couples: what reads a multiplication's operands, and what lands after one */

static const struct tw_core_act *copy_32_32(struct tw_core *c, const struct tw_core_act *a)
{
    return copy_32(c, copy_32(c, a));
}

static const struct tw_core_act *copy_64_4(struct tw_core *c, const struct tw_core_act *a)
{
    return copy_4(c, tw_core_act_copy_64(c, a));
}

static const struct tw_core_act *copy_64_64_4(struct tw_core *c, const struct tw_core_act *a)
{
    return copy_64_4(c, tw_core_act_copy_64(c, a));
}

static const struct tw_core_act *bits_64(struct tw_core *c, const struct tw_core_act *a)
{
    return tw_core_act_copy_64(c, add_bits(c, a));
}

static const struct tw_core_act *copy_32_bits_64(struct tw_core *c, const struct tw_core_act *a)
{
    return bits_64(c, copy_32(c, a));
}

static const struct tw_core_act *copy_32_32_bits_64(struct tw_core *c, const struct tw_core_act *a)
{
    return copy_32_bits_64(c, copy_32(c, a));
}

static tw_core_act_function *join(tw_core_act_function *first, tw_core_act_function *second)
{
    static const struct tw_core_act_join joins[] = {{copy_32, copy_32, copy_32_32},
                                                    {tw_core_act_copy_64, copy_4, copy_64_4},
                                                    {tw_core_act_copy_64, copy_64_4, copy_64_64_4},
                                                    {add_bits, tw_core_act_copy_64, bits_64},
                                                    {copy_32, bits_64, copy_32_bits_64},
                                                    {copy_32, copy_32_bits_64, copy_32_32_bits_64}};

    return tw_core_act_find_join(joins, sizeof joins / sizeof joins[0], first, second);
}

void tw_core_act_join_all(struct tw_core_act_maker *m, unsigned from)
{
    for (unsigned i = m->n; i-- > from + 1;) {
        struct tw_core_act *a = &m->acts[i - 1];
        tw_core_act_function *both = join(a->run, a[1].run);
        if (both == NULL)
            both = tw_core_act_join_accesses(a->run, a[1].run);
        if (both == NULL)
            both = tw_core_act_join_addresses(a->run, a[1].run);
        if (both != NULL)
            a->run = both;
    }
}

/* ---- making */

static struct tw_core_act *add(struct tw_core_act_maker *m, tw_core_act_function *run, const void *to, const void *from)
{
    if (m->n == CORE_ACTS_MAX) {
        m->failed = 1;
        m->n = 0;
    }
    struct tw_core_act *a = &m->acts[m->n++];
    *a = (struct tw_core_act){.run = run, .to = tw_core_offset(m->c, to)};
    if (from != NULL)
        a->from = tw_core_offset(m->c, from);
    return a;
}

static void add_copy(struct tw_core_act_maker *m, uint8_t *to, const uint8_t *from, unsigned bytes)
{
    tw_core_act_function *run = bytes == 4 ? copy_4 : bytes == 32 ? copy_32 : copy_any;

    if (to != from) /* no register moved to itself */
        add(m, bytes == 64 ? tw_core_act_copy_64 : run, to, from)->bytes = bytes;
}

/* Adds what the bypasses of the tick bring for a piece (asks: only tells whether there is any). */
static int add_bypasses(struct tw_core_act_maker *m, const struct tw_core_piece *piece, struct tw_core_flight *f,
                        int asks)
{
    int found = 0;

    for (unsigned i = 0; i < m->tick->n[CORE_BYPASS]; i++) {
        const struct tw_core_event *e = &m->tick->list[CORE_BYPASS][i];
        const struct tw_core_landings *l = e->items;
        for (unsigned k = 0; k < l->n; k++) {
            struct tw_core_overlap o;
            if (!tw_core_overlaps(piece, &l->landing[k], &o))
                continue;
            found = 1;
            if (!asks)
                add_copy(m, f->bytes + piece->to + o.to, e->flights + o.from, o.bytes);
        }
    }
    return found;
}

static void add_capture(struct tw_core_act_maker *m, const struct tw_core_piece *piece, struct tw_core_flight *f)
{
    add_copy(m, f->bytes + piece->to, m->c->file + piece->from, piece->bytes);
    if (piece->bypass != TW_BYPASS_NONE)
        add_bypasses(m, piece, f, 0);
}

/* Inputs of a call; those that a bypass brings now are copied first. */
static const void *const *make_inputs(struct tw_core_act_maker *m, struct tw_core_op *op, struct tw_core_flight *f)
{
    if (op->n_in == 0 && op->n_bypassed == 0)
        return op->in;
    const void **in = tw_core_pool_get(m->pool, (op->n_values + 1u) * sizeof *in);
    if (in == NULL) {
        m->failed = 1;
        return NULL;
    }
    memcpy(in, op->in, op->n_values * sizeof *in);
    for (unsigned i = 0; i < op->n_in; i++)
        in[op->patches[i].value] = f->bytes + op->patches[i].at;
    for (unsigned i = 0; i < op->n_bypassed; i++) {
        const struct tw_core_piece *piece = &op->captures[op->n_captures + i];
        in[op->bypassed_values[i]] = m->c->file + piece->from;
        if (add_bypasses(m, piece, f, 1)) {
            add_capture(m, piece, f);
            in[op->bypassed_values[i]] = f->bytes + piece->to;
        }
    }
    return in;
}

static void *const *make_outputs(struct tw_core_act_maker *m, struct tw_core_op *op, struct tw_core_flight *f)
{
    if (op->n_out == 0)
        return op->out;
    void **out = tw_core_pool_get(m->pool, (op->n_values + 1u) * sizeof *out);
    if (out == NULL) {
        m->failed = 1;
        return NULL;
    }
    memcpy(out, op->out, op->n_values * sizeof *out);
    for (unsigned i = 0; i < op->n_out; i++)
        out[op->patches[op->n_in + i].value] = f->bytes + op->patches[op->n_in + i].at;
    return out;
}

static void add_call(struct tw_core_act_maker *m, struct tw_core_op *op, struct tw_core_flight *f)
{
    struct tw_core_call *of = tw_core_pool_get(m->pool, sizeof *of);

    if (of == NULL) {
        m->failed = 1;
        return;
    }
    *of = (struct tw_core_call){op->row, op, make_inputs(m, op, f), make_outputs(m, op, f)};
    add(m, call, f, NULL)->call = of;
}

void tw_core_act_step(struct tw_core_act_maker *m, const struct tw_core_step *step, uint8_t *flights)
{
    struct tw_core_flight *f = tw_core_flight_of(flights, step->op);

    if (step->run == tw_core_step_capture) {
        add_capture(m, &step->piece, f);
    } else if (step->run == tw_core_step_call) {
        add_call(m, step->op, f);
    } else {
        struct tw_core_act *a = add(m, take_step, f, NULL);
        a->step = step;
        tw_core_act_access(m->c, a, f, m->accesses == 1);
    }
}

static void add_word_move(struct tw_core_act_maker *m, const struct tw_core_op *op)
{
    const struct tw_core_move *move = &op->move;

    if (move->from != (const uint8_t *)op->immediates)
        add(m, set_word, move->to, move->from)->mask = move->mask;
    else
        add(m, set_value, move->to, NULL)->value = op->immediates[0] & move->mask;
}

void tw_core_act_issue(struct tw_core_act_maker *m, struct tw_core_op *op, uint8_t *flights)
{
    struct tw_core_flight *f = tw_core_flight_of(flights, op);
    int is_address = op->issue == tw_core_issue_address;

    if (op->issue == tw_core_issue_word_move) {
        add_word_move(m, op);
    } else if (op->issue == tw_core_issue_move && op->move.from != (const uint8_t *)op->immediates) {
        add_copy(m, op->move.to, op->move.from, op->move.bytes);
    } else if (is_address || op->issue == tw_core_issue_captures || op->issue == tw_core_issue_call) {
        for (unsigned i = 0; i < op->n_captures && op->issue != tw_core_issue_call; i++)
            add_capture(m, &op->captures[i], f);
        if (is_address)
            tw_core_act_address(m->c, add(m, NULL, f, NULL), op);
        if (op->calls)
            add_call(m, op, f);
    } else {
        add(m, issue, f, NULL)->op = op;
    }
}

void tw_core_act_land(struct tw_core_act_maker *m, const struct tw_core_landings *landings, uint8_t *flights)
{
    for (unsigned i = 0; i < landings->n; i++) {
        const struct tw_core_landing *l = &landings->landing[i];
        uint8_t *to = m->c->file + l->to, *from = flights + l->from;
        if (l->kind == CORE_LAND_BYTES || (l->kind == CORE_LAND_WORD && l->mask == UINT32_MAX))
            add_copy(m, to, from, l->bytes);
        else
            add(m, l->kind == CORE_LAND_WORD ? set_word : add_bits, to, from)->mask = l->mask;
    }
}
