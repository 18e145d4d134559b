/* What one operation does in which tick: captures, calls, moves, landings. */
#include "emu/core/prepare.h"

/* ---- landings */

static void add_landing(struct tw_core_work *w, unsigned reg, unsigned bytes, unsigned from,
                        const struct tw_core_value *v)
{
    struct tw_core_landing l = {.from = (uint16_t)(w->op->flight_at + from),
                                .to = w->m->c->places[reg].offset,
                                .bytes = (uint16_t)bytes,
                                .kind = bytes != 4               ? CORE_LAND_BYTES
                                        : tw_core_is_sticky(reg) ? CORE_LAND_STICKY
                                                                 : CORE_LAND_WORD,
                                .bypass = v->bypass,
                                .mask = tw_core_mask(reg)};

    tw_core_push_landing(w->m, CORE_LANDINGS, v->cycle - 1u, l);
    if (v->bypass != TW_BYPASS_NONE)
        tw_core_push_landing(w->m, CORE_BYPASS, v->cycle - 1u, l);
}

/* Whether a register is one piece of the register file. */
static int is_one_piece(const struct tw_core *c, unsigned reg)
{
    unsigned end = c->places[reg].offset;

    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        const struct tw_core_place *leaf = &c->places[tw_registers[reg].leaves[i]];
        if (leaf->offset != end)
            return 0;
        end += leaf->bytes;
    }
    return 1;
}

void tw_core_land(struct tw_core_work *w, const struct tw_core_value *v, unsigned from)
{
    const struct tw_core *c = w->m->c;

    if (is_one_piece(c, v->reg)) {
        add_landing(w, v->reg, c->places[v->reg].bytes, from, v);
        return;
    }
    for (unsigned i = 0; i < tw_registers[v->reg].n_leaves; i++) {
        unsigned leaf = tw_registers[v->reg].leaves[i];
        add_landing(w, leaf, c->places[leaf].bytes, from, v);
        from += c->places[leaf].bytes;
    }
}

/* ---- captures */

void tw_core_step_capture(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    tw_core_capture(c, &step->piece, f);
}

void tw_core_add_capture(struct tw_core_work *w, const struct tw_core_value *v, unsigned at, unsigned bytes)
{
    struct tw_core_piece piece = {w->m->c->places[v->reg].offset, (uint16_t)at, (uint16_t)bytes, v->bypass};

    if (v->cycle == 1)
        w->captures[w->op->n_captures++] = piece;
    else
        tw_core_push_step(w->m, CORE_WORK, v->cycle - 1u, (struct tw_core_step){tw_core_step_capture, w->op, piece});
}

void tw_core_add_step(struct tw_core_work *w, enum tw_core_list list, unsigned cycle, tw_core_step_function *run)
{
    tw_core_push_step(w->m, list, cycle - 1u, (struct tw_core_step){.run = run, .op = w->op});
}

/* ---- functions */

void tw_core_add_place(struct tw_core_work *w, unsigned value, enum tw_core_space space, unsigned at)
{
    w->places[w->n_places++] = (struct tw_core_value_place){(uint8_t)value, (uint8_t)space, (uint16_t)at};
}

unsigned tw_core_add_immediate(struct tw_core_work *w, uint32_t value)
{
    struct tw_core_op *op = w->op;

    if (op->n_immediates == CORE_IMMEDIATES_MAX) {
        w->m->failed = 1;
        return 0;
    }
    op->immediates[op->n_immediates] = value;
    return op->n_immediates++;
}

static void prepare_input(struct tw_core_work *w, unsigned k)
{
    const struct tw_core_value *v = &w->values->value[k];
    struct tw_core_op *op = w->op;
    unsigned bytes = w->m->c->places[v->reg].bytes, offset = w->m->c->places[v->reg].offset;

    if (v->is_immediate) {
        tw_core_add_place(w, k, CORE_IN_IMMEDIATE, tw_core_add_immediate(w, v->immediate));
    } else if (v->cycle < w->call) {
        unsigned at = tw_core_take_flight(w->m, bytes);
        tw_core_add_capture(w, v, at, bytes);
        tw_core_add_place(w, k, CORE_IN_FLIGHT, at);
    } else {
        tw_core_add_place(w, k, CORE_IN_FILE, offset);
        if (v->bypass == TW_BYPASS_NONE)
            return;
        w->bypassed_values[op->n_bypassed] = (uint8_t)k;
        w->bypassed[op->n_bypassed++] =
            (struct tw_core_piece){(uint16_t)offset, tw_core_take_flight(w->m, bytes), (uint16_t)bytes, v->bypass};
    }
}

static void prepare_output(struct tw_core_work *w, unsigned k)
{
    const struct tw_core_value *v = &w->values->value[k];
    struct tw_core *c = w->m->c;
    int is_whole = tw_core_mask(v->reg) == UINT32_MAX && !tw_core_is_sticky(v->reg);

    if (w->direct && v->cycle == 1 && is_whole && is_one_piece(c, v->reg)) {
        tw_core_add_place(w, k, CORE_OUT_FILE, c->places[v->reg].offset);
        return;
    }
    unsigned at = tw_core_take_flight(w->m, c->places[v->reg].bytes);
    tw_core_add_place(w, k, CORE_OUT_FLIGHT, at);
    tw_core_land(w, v, at);
}

void tw_core_step_call(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    tw_core_call(c, step->op, f);
}

unsigned tw_core_call_cycle(const struct tw_core_work *w, unsigned least)
{
    unsigned last = least, first = CORE_LATEST;

    for (unsigned i = 0; i < w->values->n; i++) {
        const struct tw_core_value *v = &w->values->value[i];
        if (v->is_address)
            continue;
        if (v->is_out && v->cycle < first)
            first = v->cycle;
        if (!v->is_out && !v->is_immediate && v->cycle > last)
            last = v->cycle;
    }
    return last < first ? last : first;
}

/* Inputs and outputs of the function, called in the cycle w->call. */
static void prepare_values(struct tw_core_work *w)
{
    for (unsigned k = 0; k < w->values->n && !w->m->failed; k++) {
        const struct tw_core_value *v = &w->values->value[k];
        if (v->is_address)
            continue;
        if (v->is_out)
            prepare_output(w, k);
        else
            prepare_input(w, k);
    }
}

void tw_core_add_call(struct tw_core_work *w)
{
    prepare_values(w);
    if (w->call == 1)
        w->op->calls = 1;
    else
        tw_core_add_step(w, CORE_WORK, w->call, tw_core_step_call);
}

/* ---- moves */

const struct tw_core_value *tw_core_find_value(const struct tw_core_values *values, int is_out)
{
    for (unsigned i = 0; i < values->n; i++)
        if (values->value[i].is_out == is_out && !values->value[i].is_address)
            return &values->value[i];
    return NULL;
}

/* Straight from a register or an immediate to a register. */
static void prepare_direct_move(struct tw_core_work *w, const struct tw_core_value *from,
                                const struct tw_core_value *to)
{
    struct tw_core *c = w->m->c;
    struct tw_core_op *op = w->op;

    op->immediates[0] = from->immediate;
    op->move.from = from->is_immediate ? (const uint8_t *)op->immediates : c->file + c->places[from->reg].offset;
    op->move.to = c->file + c->places[to->reg].offset;
    op->move.bytes = c->places[to->reg].bytes;
    op->move.mask = tw_core_mask(to->reg);
    op->issue = op->move.bytes == 4 ? tw_core_issue_word_move : tw_core_issue_move;
}

static int extends_sign(const struct tw_core_work *w, const struct tw_core_value *from, const struct tw_core_value *to)
{
    return w->m->c->unknown.address_sign_extends && !from->is_immediate &&
           tw_registers[from->reg].bits == TW_ADDRESS_BITS && tw_registers[to->reg].bits == 32;
}

/* A move: no function, one input, one output. */
static void prepare_move(struct tw_core_work *w)
{
    const struct tw_core_value *from = tw_core_find_value(w->values, 0), *to = tw_core_find_value(w->values, 1);
    struct tw_core_op *op = w->op;

    if (from == NULL || to == NULL || to->reg == TW_R_CORE_ID)
        return; /* the core's number cannot be written */
    op->reads_clock = !from->is_immediate && from->reg == TW_R_tile_cntr;
    op->extends_sign = (uint8_t)extends_sign(w, from, to);
    int is_special = op->reads_clock || op->extends_sign;
    if (w->direct && from->cycle == 1 && to->cycle == 1 && from->bypass == TW_BYPASS_NONE && !is_special) {
        prepare_direct_move(w, from, to);
        return;
    }
    unsigned bytes = w->m->c->places[to->reg].bytes;
    unsigned at = tw_core_take_flight(w->m, bytes);
    op->data_at = (uint16_t)at;
    op->immediates[0] = from->immediate;
    op->issue = from->is_immediate ? tw_core_issue_constant
                : is_special       ? tw_core_issue_special_move
                                   : tw_core_issue_captures;
    if (!from->is_immediate)
        tw_core_add_capture(w, from, at, bytes);
    tw_core_land(w, to, at);
}

/* ---- what stops the core, and branches */

/* All inputs are taken at issue; outputs get their values from the answer, and land. */
static void prepare_request(struct tw_core_work *w)
{
    unsigned cycle = tw_core_request_cycle(w->op->row, w->class);

    w->call = 2; /* after the first cycle: so all inputs are captured */
    for (unsigned k = 0; k < w->values->n && !w->m->failed; k++) {
        struct tw_core_value v = w->values->value[k];
        unsigned at = tw_core_take_flight(w->m, v.is_immediate ? 4 : w->m->c->places[v.reg].bytes);
        v.cycle = v.is_out ? v.cycle : 1;
        if (v.is_immediate) {
            tw_core_add_place(w, k, CORE_IN_IMMEDIATE, tw_core_add_immediate(w, v.immediate));
        } else if (v.is_out) {
            tw_core_add_place(w, k, CORE_OUT_FLIGHT, at);
            tw_core_land(w, &v, at);
        } else {
            tw_core_add_place(w, k, CORE_IN_FLIGHT, at);
            tw_core_add_capture(w, &v, at, w->m->c->places[v.reg].bytes);
        }
    }
    w->op->issue = tw_core_issue_captures;
    tw_core_add_step(w, CORE_REQUESTS, cycle, NULL);
}

static void prepare_branch(struct tw_core_work *w)
{
    struct tw_core_op *op = w->op;

    w->call = 1;
    prepare_values(w);
    op->issue = tw_core_issue_branch;
    if (op->row->a == CORE_BRANCH_CALL)
        op->data_at = w->places[w->n_places - 1].at; /* lr lands from there */
}

static void prepare_action(struct tw_core_work *w)
{
    struct tw_core_op *op = w->op;

    switch (op->row->action) {
    case TW_ACTION_COMPUTE:
        if (op->row->function == NULL) {
            prepare_move(w);
            return;
        }
        w->call = tw_core_call_cycle(w, 1);
        tw_core_add_call(w);
        op->issue = op->calls ? tw_core_issue_call : tw_core_issue_captures;
        return;
    case TW_ACTION_LOAD:
        tw_core_prepare_load(w);
        return;
    case TW_ACTION_STORE:
        tw_core_prepare_store(w);
        return;
    case TW_ACTION_ADDRESS:
        tw_core_prepare_address(w);
        return;
    case TW_ACTION_BRANCH:
        prepare_branch(w);
        return;
    default:
        prepare_request(w);
    }
}

static const void *keep(struct tw_core_maker *m, const void *list, size_t count, size_t size)
{
    void *kept = tw_core_make(m, count + 1, size);

    if (kept != NULL && count > 0)
        memcpy(kept, list, count * size);
    return kept;
}

/* Makes in, out and their patches. */
static void settle_places(struct tw_core_work *w)
{
    struct tw_core_op *op = w->op;
    struct tw_core_patch in[TW_VALUES_MAX], out[TW_VALUES_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < w->n_places; i++)
        n = w->places[i].value >= n ? w->places[i].value + 1u : n;
    op->n_values = (uint8_t)n;
    op->in = tw_core_make(w->m, n + 1, sizeof *op->in);
    op->out = tw_core_make(w->m, n + 1, sizeof *op->out);
    for (unsigned i = 0; i < w->n_places && !w->m->failed; i++) {
        const struct tw_core_value_place *p = &w->places[i];
        struct tw_core_patch patch = {p->value, p->at};
        if (p->space == CORE_IN_FLIGHT)
            in[op->n_in++] = patch;
        else if (p->space == CORE_OUT_FLIGHT)
            out[op->n_out++] = patch;
        else if (p->space == CORE_OUT_FILE)
            op->out[p->value] = w->m->c->file + p->at;
        else
            op->in[p->value] =
                p->space == CORE_IN_FILE ? (const void *)(w->m->c->file + p->at) : (const void *)&op->immediates[p->at];
    }
    struct tw_core_patch *patches = tw_core_make(w->m, (size_t)op->n_in + op->n_out + 1, sizeof *patches);
    if (patches == NULL)
        return;
    memcpy(patches, in, op->n_in * sizeof *patches);
    memcpy(patches + op->n_in, out, op->n_out * sizeof *patches);
    op->patches = patches;
}

/* Brings the lists into exactly as much memory as they take. */
static void settle(struct tw_core_work *w)
{
    struct tw_core_op *op = w->op;

    memcpy(w->captures + op->n_captures, w->bypassed, op->n_bypassed * sizeof *w->bypassed);
    op->captures = keep(w->m, w->captures, (size_t)op->n_captures + op->n_bypassed, sizeof *w->captures);
    op->bypassed_values = keep(w->m, w->bypassed_values, op->n_bypassed, sizeof *w->bypassed_values);
    settle_places(w);
}

struct tw_core_op *tw_core_prepare(struct tw_core_maker *m, const struct tw_operation *operation, unsigned slot,
                                   const struct tw_core_values *values, int direct)
{
    struct tw_core_op *op = tw_core_make(m, 1, sizeof *op);
    struct tw_core_work w = {
        .m = m, .op = op, .class = tw_operation_schedule(operation), .values = values, .direct = direct};

    if (op == NULL)
        return NULL;
    op->row = m->c->rows[operation->instruction];
    op->slot = (uint8_t)slot;
    op->flight_at = (uint16_t)m->flights;
    m->flight = CORE_FLIGHT_HEAD;
    op->bundle = m->bundle;
    op->operation = keep(m, operation, 1, sizeof *operation);
    op->issue = tw_core_issue_unknown;
    if (op->row == NULL)
        return op;
    op->row_bytes = op->row->bytes;
    op->issue = tw_core_issue_captures;
    prepare_action(&w);
    m->flights += (m->flight + 63) / 64 * 64;
    m->failed |= m->flights > CORE_FLIGHTS_BYTES;
    if (!m->failed)
        settle(&w);
    return op;
}
