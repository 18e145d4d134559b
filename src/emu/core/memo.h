/*
 * Ticks that have been before. What a tick does is decided by the bundle that is issued in it and by those that are
 * still in flight: which operands are read, which results land, in which order, from where and to where; and so is the
 * verdict of strict mode, apart from reads of registers that nobody has written. Such a state of the pipeline has a
 * memo: the list of acts that the tick consists of, with all places worked out. When a bundle follows upon the same
 * bundles again, the core walks over that list, and keeps no lists of what is under way; where it comes into a state
 * that has no memo, it makes those lists again from the last bundles (after "Fast out-of-order processor simulation
 * using memoization", E. Schnarr and J. Larus, 1998).
 *
 * What a tick's values depend on stays in the registers and flights, which are the same in both ways.
 */
#ifndef TW_EMU_CORE_MEMO_H
#define TW_EMU_CORE_MEMO_H

#include "emu/core/plan.h"

enum {
    CORE_IN_FLIGHT_MAX = CORE_LATEST - 1, /* bundles that may still have something to do, beside the tick's own */
    CORE_BERTHS_OWN = 24,                 /* places of flights that bundles prefer by their number, */
    CORE_BERTHS = CORE_BERTHS_OWN + CORE_IN_FLIGHT_MAX + 2, /* and others, of which one is always free */
    CORE_MEMO_SLOTS = 4096,                                 /* of the table */
    CORE_MEMO_BYTES = 6 << 20,                              /* for memos, at most: who comes later goes without */
    CORE_HOT = 4                                            /* times that a bundle is issued before it gets memos */
};

/* A bundle that was issued, and where its flights lie. */
struct tw_core_issued {
    const struct tw_core_bundle *bundle;
    uint64_t berth;
};

/* One thing that a tick does; returns the next one, as some do several at once. */
struct tw_core_act;
typedef const struct tw_core_act *tw_core_act_function(struct tw_core *c, const struct tw_core_act *act);
struct tw_core_act {
    tw_core_act_function *run;
    uint32_t to, from; /* places: bytes from the core's beginning. A flight is at `to` */
    union {
        struct tw_core_op *op;
        const struct tw_core_step *step;
        const struct tw_core_call *call;
        struct {
            uint32_t mask, bytes;
        };
        uint32_t value;
    };
};

/* A call of an operation's function in one memo. */
struct tw_core_call {
    const struct tw_semantics *row;
    struct tw_core_op *op;
    const void *const *in;
    void *const *out;
};

/* What every tick needs comes first, in one line of the cache. */
struct tw_core_memo {
    alignas(64) uint32_t address; /* of the bundle */
    uint32_t life;                /* of the core in which all that it needs was seen to be written */
    uint32_t next_address;        /* of the bundle behind */
    uint8_t n_late, n_issue, n_land,
        n_own; /* acts, in this order; own: landings of its own bundle, if that is issued */
    const struct tw_core_act *acts;
    struct tw_core_memo *next[2]; /* that came after it, the last one first */
    const struct tw_core_bundle *bundle;
    uint8_t *flights;
    uint8_t n_questions, sets_loop;
    uint32_t far; /* of the bundle */
    const struct tw_core_question *questions;
    struct tw_core_memo *chain;                          /* in its slot of the table */
    struct tw_core_issued state[CORE_IN_FLIGHT_MAX + 1]; /* its own bundle, then those before it */
};

#endif
