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

static const struct tw_core_act *fixed(struct tw_core *c, const struct tw_core_act *act)
{
    const struct tw_core_address *a = &act->op->address;

    (void)c;
    act->flight->head = (struct tw_core_flight_head){.address = (*a->pointer + *a->step) & ADDRESS_MASK};
    return act + 1;
}

static const struct tw_core_act *post(struct tw_core *c, const struct tw_core_act *act)
{
    const struct tw_core_address *a = &act->op->address;
    uint32_t pointer = *a->pointer;

    (void)c;
    act->flight->head = (struct tw_core_flight_head){.address = pointer};
    set(a->to, a->at, act->flight, pointer + *a->step);
    return act + 1;
}

static const struct tw_core_act *move_2d(struct tw_core *c, const struct tw_core_act *act)
{
    uint32_t pointer = *act->op->address.pointer;

    (void)c;
    act->flight->head = (struct tw_core_flight_head){.address = pointer};
    walk_2d(&act->op->address, act->flight, pointer);
    return act + 1;
}

static const struct tw_core_act *move_3d(struct tw_core *c, const struct tw_core_act *act)
{
    uint32_t pointer = *act->op->address.pointer;

    (void)c;
    act->flight->head = (struct tw_core_flight_head){.address = pointer};
    walk_3d(&act->op->address, act->flight, pointer);
    return act + 1;
}

tw_core_act_function *tw_core_act_address(const struct tw_core_op *op)
{
    switch (op->address_mode) {
    case CORE_ADDRESS_FIXED:
        return fixed;
    case CORE_ADDRESS_POST:
        return post;
    case CORE_ADDRESS_2D:
        return move_2d;
    default:
        return move_3d;
    }
}

static const struct tw_core_act *post_post(struct tw_core *c, const struct tw_core_act *act)
{
    return post(c, post(c, act));
}

tw_core_act_function *tw_core_act_join_addresses(tw_core_act_function *first, tw_core_act_function *second)
{
    return first == post && second == post ? post_post : NULL;
}

void tw_core_issue_address(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    struct tw_core_act act = {.op = op, .flight = f};

    /* The data first: it may be the pointer itself. */
    for (unsigned i = 0; i < op->n_captures; i++)
        tw_core_capture(c, &op->captures[i], f);
    tw_core_act_address(op)(c, &act);
    if (op->calls)
        tw_core_call(c, op, f);
}
