/* Pointers, and how accesses move them. */
#include "emu/core/act.h"

enum { ADDRESS_MASK = (1 << TW_ADDRESS_BITS) - 1 };
enum walk { WALK_M, WALK_DN, WALK_DJ, WALK_DC, WALK_OUTER };

static void set(uint32_t *to, unsigned at, struct tw_core_flight *f, uint32_t value)
{
    value &= ADDRESS_MASK;
    if (to != NULL)
        *to = value;
    else
        memcpy(f->bytes + at, &value, sizeof value);
}

/* By AMD's compiler headers: dn counts one less than the walk is long; m is the step that begins it again. */
static void walk_2d(const struct tw_core_address *a, struct tw_core_flight *f, uint32_t pointer)
{
    const uint32_t *w = a->walk;
    int turn = w[WALK_DC] == w[WALK_DN];
    uint32_t step = turn ? w[WALK_M] : w[WALK_DJ], count = turn ? 0 : w[WALK_DC] + 1;

    set(a->to, a->at, f, pointer + step);
    set(a->count_to, a->count_at, f, count);
}

static void walk_3d(const struct tw_core_address *a, struct tw_core_flight *f, uint32_t pointer)
{
    const uint32_t *inner = a->walk, *outer = a->walk + WALK_OUTER;
    uint32_t step, count = 0, outer_count = outer[WALK_DC];

    if (inner[WALK_DC] != inner[WALK_DN]) {
        step = inner[WALK_DJ];
        count = inner[WALK_DC] + 1;
    } else if (outer[WALK_DC] != outer[WALK_DN]) {
        step = outer[WALK_DJ];
        outer_count++;
    } else {
        step = inner[WALK_M];
        outer_count = 0;
    }
    set(a->to, a->at, f, pointer + step);
    set(a->count_to, a->count_at, f, count);
    set(a->outer_to, a->outer_at, f, outer_count);
}

/* An address outside the own memory shows in the bits of the window. It is used in a later tick. */
static inline void note_far(struct tw_core *c, uint32_t address)
{
    c->far |= address ^ TW_DATA_OWN;
}

static void fixed(struct tw_core_op *op, struct tw_core_flight *f)
{
    const struct tw_core_address *a = &op->address;

    f->head = (struct tw_core_flight_head){.address = (*a->pointer + *a->step) & ADDRESS_MASK};
}

static void post(struct tw_core_op *op, struct tw_core_flight *f)
{
    const struct tw_core_address *a = &op->address;
    uint32_t pointer = *a->pointer;

    f->head = (struct tw_core_flight_head){.address = pointer};
    set(a->to, a->at, f, pointer + *a->step);
}

static void walk(struct tw_core_op *op, struct tw_core_flight *f)
{
    uint32_t pointer = *op->address.pointer;

    f->head = (struct tw_core_flight_head){.address = pointer};
    if (op->address_mode == CORE_ADDRESS_2D)
        walk_2d(&op->address, f, pointer);
    else
        walk_3d(&op->address, f, pointer);
}

static void move(struct tw_core_op *op, struct tw_core_flight *f)
{
    if (op->address_mode == CORE_ADDRESS_FIXED)
        fixed(op, f);
    else if (op->address_mode == CORE_ADDRESS_POST)
        post(op, f);
    else
        walk(op, f);
}

void tw_core_issue_address(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    /* The data first: it may be the pointer itself. */
    for (unsigned i = 0; i < op->n_captures; i++)
        tw_core_capture(c, &op->captures[i], f);
    move(op, f);
    note_far(c, f->head.address);
    if (op->calls)
        tw_core_call(c, op, f);
}

/* ---- the same as acts */

static const struct tw_core_act *act_fixed(struct tw_core *c, const struct tw_core_act *act)
{
    fixed(act->op, tw_core_flight_at(c, act->to));
    note_far(c, tw_core_flight_at(c, act->to)->head.address);
    return act + 1;
}

static const struct tw_core_act *act_post(struct tw_core *c, const struct tw_core_act *act)
{
    post(act->op, tw_core_flight_at(c, act->to));
    note_far(c, tw_core_flight_at(c, act->to)->head.address);
    return act + 1;
}

static const struct tw_core_act *act_walk(struct tw_core *c, const struct tw_core_act *act)
{
    walk(act->op, tw_core_flight_at(c, act->to));
    note_far(c, tw_core_flight_at(c, act->to)->head.address);
    return act + 1;
}

/* The pointer at act->from moves by a constant. */
static const struct tw_core_act *act_step(struct tw_core *c, const struct tw_core_act *act)
{
    uint32_t *pointer = (uint32_t *)(void *)tw_core_at(c, act->from);

    tw_core_flight_at(c, act->to)->head = (struct tw_core_flight_head){.address = *pointer};
    note_far(c, *pointer);
    *pointer = (*pointer + act->value) & ADDRESS_MASK;
    return act + 1;
}

static const struct tw_core_act *act_step_step(struct tw_core *c, const struct tw_core_act *act)
{
    return act_step(c, act_step(c, act));
}

tw_core_act_function *tw_core_act_join_addresses(tw_core_act_function *first, tw_core_act_function *second)
{
    return first == act_step && second == act_step ? act_step_step : NULL;
}

void tw_core_act_address(const struct tw_core *c, struct tw_core_act *act, struct tw_core_op *op)
{
    const struct tw_core_address *a = &op->address;
    int is_constant = a->step == &op->none;

    for (unsigned i = 0; i < op->n_immediates; i++)
        is_constant |= a->step == &op->immediates[i];

    act->op = op;
    act->run = op->address_mode == CORE_ADDRESS_FIXED  ? act_fixed
               : op->address_mode == CORE_ADDRESS_POST ? act_post
                                                       : act_walk;
    if (op->address_mode != CORE_ADDRESS_POST || !is_constant || a->to != a->pointer)
        return;
    act->run = act_step;
    act->from = tw_core_offset(c, a->pointer);
    act->value = *a->step;
}
