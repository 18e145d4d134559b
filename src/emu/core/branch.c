/* Jumps with their delay slots, the hardware loop, and done. */
#include "emu/core/state.h"

/* done acts in cycles 4 to 6; what is still under way then comes to its end. Nothing behind it is issued. */
enum { DONE_TICKS = CORE_LATEST };

static void jump(struct tw_core *c, const struct tw_core_op *op, uint32_t target)
{
    if (c->delay_slots != 0) {
        tw_core_fail(c, TW_E_UNSUPPORTED, op, "a jump in the delay slots of another is not modelled");
        return;
    }
    if (c->strict && target % TW_TARGET_ALIGN != 0) {
        tw_core_fail(c, TW_E_FORMAT, op, "the jump's target 0x%05x is not a multiple of %d", (unsigned)target,
                     TW_TARGET_ALIGN);
        return;
    }
    c->target = target;
    c->delay_slots = TW_DELAY_SLOTS + 1;
}

static uint32_t word(const void *value)
{
    uint32_t v;
    memcpy(&v, value, sizeof v);
    return v;
}

static void call(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    if (op->bundle->link == CORE_NO_LINK) {
        tw_core_fail(c, TW_E_FORMAT, op, "there is no instruction behind its delay slots to return to");
        return;
    }
    memcpy(f->bytes + op->data_at, &op->bundle->link, sizeof op->bundle->link);
    jump(c, op, word(op->in[0]));
}

/* jnzd d, s, p */
static void count_down(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    uint32_t count = word(op->in[1]), target = word(op->in[2]);

    tw_core_call(c, op, f);
    if (count != 0)
        jump(c, op, target);
}

void tw_core_issue_branch(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    tw_core_set_places(op, f);
    switch (op->row->a) {
    case CORE_BRANCH_CALL:
        call(c, op, f);
        return;
    case CORE_BRANCH_IF_ZERO:
    case CORE_BRANCH_UNLESS_ZERO:
        if ((word(op->in[0]) == 0) == (op->row->a == CORE_BRANCH_IF_ZERO))
            jump(c, op, word(op->in[1]));
        return;
    case CORE_BRANCH_COUNT_DOWN:
        count_down(c, op, f);
        return;
    case CORE_BRANCH_DONE:
        c->ending = DONE_TICKS;
        return;
    default:
        jump(c, op, word(op->in[0]));
    }
}

/* ---- where it goes on */

/* Strict: the registers of the loop must have been set early enough. */
static void check_loop(struct tw_core *c, const struct tw_core_bundle *b)
{
    uint32_t from = c->loop_set_at;

    c->loop_set_at = 0;
    if (from != 0 && from <= b->address && b->address - from < TW_LOOP_SETUP_BYTES)
        tw_core_fail(c, TW_E_FORMAT, NULL,
                     "a loop ends %u bytes of program behind the setting of LC, LS or LE; at least %d",
                     (unsigned)(b->address - from), TW_LOOP_SETUP_BYTES);
    else if (b->address % TW_TARGET_ALIGN != 0 || *c->loop_start % TW_TARGET_ALIGN != 0)
        tw_core_fail(c, TW_E_FORMAT, NULL, "the hardware loop 0x%05x .. 0x%05x does not lie on multiples of %d",
                     (unsigned)*c->loop_start, (unsigned)b->address, TW_TARGET_ALIGN);
}

/* A store of 8 or 16 bits in the last bundle of a short loop is lost on the way back. */
static void lose_part_word(struct tw_core *c, const struct tw_core_bundle *b, uint8_t *flights)
{
    uint32_t begin = *c->loop_start;

    if (!b->part_word || begin > b->address || b->address + TW_LOOP_END_BYTES - begin > TW_LOOP_PART_WORD_BYTES)
        return;
    if (c->strict) {
        tw_core_fail(c, TW_E_FORMAT, NULL,
                     "a store of 8 or 16 bits in the last bundle of a loop of %d bytes or less is lost",
                     TW_LOOP_PART_WORD_BYTES);
        return;
    }
    for (unsigned i = 0; i < b->n_ops && c->unknown.loop_end_loses_part_words; i++)
        tw_core_flight_of(flights, b->ops[i])->head.is_lost = 1;
}

/* The bundle at LE has been issued. */
static uint32_t end_loop(struct tw_core *c, const struct tw_core_bundle *b, uint8_t *flights)
{
    if (*c->loop_count == 0 && !(c->unknown.loop_count_zero_skips && c->loop_end_set))
        return b->next;
    if (c->strict)
        check_loop(c, b);
    if (--*c->loop_count == 0)
        return b->next;
    if (c->delay_slots != 0)
        tw_core_fail(c, TW_E_UNSUPPORTED, NULL,
                     "the end of a hardware loop in the delay slots of a jump is not modelled");
    lose_part_word(c, b, flights);
    return *c->loop_start;
}

void tw_core_go_on(struct tw_core *c, const struct tw_core_bundle *b, uint8_t *flights)
{
    uint32_t next = b->next;

    if (b->address == *c->loop_end)
        next = end_loop(c, b, flights);
    if (b->sets_loop) {
        c->loop_end_set = 1;
        c->loop_set_at = b->next;
    }
    if (c->delay_slots != 0 && --c->delay_slots == 0)
        next = c->target;
    c->pc = next;
}
