/* What operations do in the tick of their issue, and calls of their functions. */
#include "emu/core/act.h"

/* ---- reading with a bypass */

int tw_core_overlaps(const struct tw_core_piece *piece, const struct tw_core_landing *l, struct tw_core_overlap *o)
{
    unsigned begin = piece->from > l->to ? piece->from : l->to;
    unsigned piece_end = (unsigned)piece->from + piece->bytes, landing_end = (unsigned)l->to + l->bytes;
    unsigned end = piece_end < landing_end ? piece_end : landing_end;

    if (begin >= end || l->bypass != piece->bypass)
        return 0;
    *o = (struct tw_core_overlap){begin - piece->from, l->from + (begin - l->to), end - begin};
    return 1;
}

int tw_core_take_bypassed(const struct tw_core *c, const struct tw_core_piece *piece, uint8_t *copy)
{
    const struct tw_core_tick *t = &c->ticks[c->tick % CORE_RING];
    struct tw_core_overlap o;
    int found = 0;

    for (unsigned i = 0; i < t->n[CORE_BYPASS]; i++) {
        const struct tw_core_event *e = &t->list[CORE_BYPASS][i];
        const struct tw_core_landings *landings = e->items;
        for (unsigned k = 0; k < landings->n; k++) {
            if (!tw_core_overlaps(piece, &landings->landing[k], &o))
                continue;
            found = 1;
            if (copy != NULL)
                memcpy(copy + o.to, e->flights + o.from, o.bytes);
        }
    }
    return found;
}

/* ---- calls */

static void set_bypassed(const struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    for (unsigned i = 0; i < op->n_bypassed; i++) {
        const struct tw_core_piece *piece = &op->captures[op->n_captures + i];
        op->in[op->bypassed_values[i]] = c->file + piece->from;
        if (tw_core_take_bypassed(c, piece, NULL)) {
            tw_core_capture(c, piece, f);
            op->in[op->bypassed_values[i]] = f->bytes + piece->to;
        }
    }
}

void tw_core_call(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    tw_core_set_places(op, f);
    if (op->n_bypassed > 0)
        set_bypassed(c, op, f);
    const char *reason = op->row->function(op->row, c->kernels, op->in, op->out);
    if (reason != NULL)
        tw_core_fail(c, TW_E_UNSUPPORTED, op, "%s", reason);
}

/* ---- at issue */

void tw_core_issue_unknown(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    (void)f;
    tw_core_fail(c, TW_E_UNSUPPORTED, op, "this instruction is not modelled");
}

void tw_core_issue_call(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    tw_core_call(c, op, f);
}

void tw_core_issue_captures(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    for (unsigned i = 0; i < op->n_captures; i++)
        tw_core_capture(c, &op->captures[i], f);
    if (op->calls)
        tw_core_call(c, op, f);
}

void tw_core_issue_word_move(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    uint32_t value;

    (void)c;
    (void)f;
    memcpy(&value, op->move.from, sizeof value);
    value &= op->move.mask;
    memcpy(op->move.to, &value, sizeof value);
}

void tw_core_issue_move(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    (void)c;
    (void)f;
    memmove(op->move.to, op->move.from, op->move.bytes);
}

/* An immediate whose register is written later, or that must not be written before others have read it. */
void tw_core_issue_constant(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    (void)c;
    memcpy(f->bytes + op->data_at, op->immediates, sizeof op->immediates[0]);
}

void tw_core_issue_special_move(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    uint32_t sign = (uint32_t)1 << (TW_ADDRESS_BITS - 1), value;

    if (op->reads_clock)
        memcpy(c->file + c->places[TW_R_tile_cntr].offset, &c->clock, sizeof c->clock);
    tw_core_issue_captures(c, op, f);
    if (!op->extends_sign)
        return;
    memcpy(&value, f->bytes + op->data_at, sizeof value);
    value = (value ^ sign) - sign;
    memcpy(f->bytes + op->data_at, &value, sizeof value);
}
