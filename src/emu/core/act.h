/* The acts of a memo, made from operations, steps and landings. */
#ifndef TW_EMU_CORE_ACT_H
#define TW_EMU_CORE_ACT_H

#include "emu/core/state.h"

enum { CORE_ACTS_MAX = 192 };

/* Places of a core as acts have them. */
static inline uint8_t *tw_core_at(struct tw_core *c, uint32_t place)
{
    return (uint8_t *)c + place;
}

static inline struct tw_core_flight *tw_core_flight_at(struct tw_core *c, uint32_t place)
{
    return (struct tw_core_flight *)(void *)tw_core_at(c, place);
}

static inline uint32_t tw_core_offset(const struct tw_core *c, const void *place)
{
    return (uint32_t)((const uint8_t *)place - (const uint8_t *)c);
}

/* A memo that is being made. */
struct tw_core_act_maker {
    struct tw_core *c;
    struct tw_core_pool *pool;
    const struct tw_core_tick *tick;
    unsigned accesses; /* to memory, in this tick */
    struct tw_core_act acts[CORE_ACTS_MAX];
    unsigned n;
    int failed; /* no memory, or too many acts */
};

void tw_core_act_step(struct tw_core_act_maker *m, const struct tw_core_step *step, uint8_t *flights);
void tw_core_act_issue(struct tw_core_act_maker *m, struct tw_core_op *op, uint8_t *flights);
void tw_core_act_land(struct tw_core_act_maker *m, const struct tw_core_landings *landings, uint8_t *flights);

/*
 * Joins acts from one of the list on: where an act and the next are a usual couple, one call does both, and others may
 * be joined to it in turn.
 */
void tw_core_act_join_all(struct tw_core_act_maker *m, unsigned from);
/* A couple's way; the second may be one already. */
struct tw_core_act_join {
    tw_core_act_function *first, *second, *both;
};
/* What does both, or NULL (memory.c, address.c). */
tw_core_act_function *tw_core_act_join_accesses(tw_core_act_function *first, tw_core_act_function *second);
tw_core_act_function *tw_core_act_join_addresses(tw_core_act_function *first, tw_core_act_function *second);
static inline tw_core_act_function *tw_core_act_find_join(const struct tw_core_act_join *joins, unsigned n,
                                                          tw_core_act_function *first, tw_core_act_function *second)
{
    for (unsigned i = 0; i < n; i++)
        if (joins[i].first == first && joins[i].second == second)
            return joins[i].both;
    return NULL;
}

tw_core_act_function tw_core_act_copy_64; /* for couples elsewhere */

/* Gives an act that takes a step a shorter way, where the step is an access that has one (memory.c). alone: no other
 * access can meet it in a bank. */
void tw_core_act_access(const struct tw_core *c, struct tw_core_act *act, struct tw_core_flight *f, int alone);
/* Makes an act at a flight one that moves the operation's pointer and notes its address, without captures and calls
 * (address.c). */
void tw_core_act_address(const struct tw_core *c, struct tw_core_act *act, struct tw_core_op *op);

/* Where a landing lies over a piece of the register file that is read: in the piece's copy and in the flights. Returns
 * 0 when it does not, or has another bypass (issue.c). */
struct tw_core_overlap {
    unsigned to, from, bytes;
};
int tw_core_overlaps(const struct tw_core_piece *piece, const struct tw_core_landing *l, struct tw_core_overlap *o);

#endif
