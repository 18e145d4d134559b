/*
 * The checker while it works:
 *
 *   summary.c  what each bundle reads, writes and occupies
 *   flow.c     which bundles follow which
 *   hazard.c   pairs of bundles near each other
 *   place.c    loops, jumps and what lies in delay slots
 *   check.c    the findings, sorted and in words
 */
#ifndef TW_ISA_CHECK_STATE_H
#define TW_ISA_CHECK_STATE_H

#include "isa/check.h"
#include "isa/grow.h"

enum {
    CHECK_LEAF_WORDS = (TW_R_COUNT + 63) / 64,
    CHECK_FLIGHT = 12,         /* nothing is in flight longer, in bundles */
    CHECK_HITS_MAX = 20000,    /* findings, repeated ones too */
    CHECK_STEPS_MAX = 8000000, /* back from bundles */
    CHECK_WAYS_MAX = 2000000,  /* forward */
    CHECK_TRACKED = 11,        /* LS, LE, lr and p0 .. p7 */
    CHECK_VALUES_MAX = 254     /* different code addresses that they are followed for */
};

enum tw_check_tracked { CHECK_LS, CHECK_LE, CHECK_LR, CHECK_P0 };

/* Values a tracked register may have: two special ones, then numbers of the program's list. */
enum { CHECK_OUTSIDE, CHECK_ANY, CHECK_FIRST_VALUE, CHECK_SET_WORDS = 4 };
struct tw_check_set {
    uint64_t bits[CHECK_SET_WORDS];
};

/* One leaf of a register that an operation reads or writes. */
struct tw_check_access {
    uint16_t leaf, reg;
    uint8_t cycle, bypass, slot, write;
};

struct tw_check_use {
    uint16_t unit;
    uint8_t first, last, avoid, slot;
};

struct tw_check_memory {
    uint8_t slot, first, last, stores;
};

/* A tracked register gets a value. */
struct tw_check_move {
    uint8_t tracked;
    uint8_t value; /* CHECK_ANY or a number of the list */
};

enum tw_check_branch { CHECK_NO_BRANCH, CHECK_JUMP, CHECK_CALL, CHECK_CONDITION };

struct tw_check_summary {
    uint32_t accesses, uses, memory, moves; /* first in the lists of the state */
    uint16_t n_accesses, n_uses;
    uint8_t n_memory, n_moves;
    uint8_t reach;   /* the distance from which on it does not matter to others */
    uint8_t follows; /* it is right behind the bundle before */
    uint8_t lock, done, part_word, sets_loop;
    int8_t tracked_target; /* branches: the register that holds the target, or -1 */
    uint8_t branch;        /* enum tw_check_branch */
    uint8_t branches;      /* operations that branch */
    uint8_t value;         /* the number of its own address in the list of values, or CHECK_ANY */
    uint32_t target;       /* tracked_target < 0 */
    uint64_t written[CHECK_LEAF_WORDS], touched[CHECK_LEAF_WORDS];
};

/* A bundle as reached: `slot` bundles behind a branch, 0: behind none that counts. */
struct tw_check_node {
    uint32_t bundle;
    uint8_t slot, queued;
    struct tw_check_set sets[CHECK_TRACKED]; /* on entry */
};

/* Something wrong, not yet in words. */
struct tw_check_hit {
    uint8_t kind;
    uint8_t slot, other_slot;
    uint16_t what; /* register, unit, or what place.c says */
    uint32_t bundle, other;
    int32_t distance, needed;
};

struct tw_check {
    const struct tw_check_bundle *bundles;
    uint32_t n;
    const struct tw_check_options *options;
    struct tw_error *err;

    struct tw_check_summary *summaries;
    struct tw_check_access *accesses;
    struct tw_check_use *uses;
    struct tw_check_memory *memory;
    struct tw_check_move *moves;
    size_t n_accesses, n_uses, n_memory, n_moves;
    size_t room_accesses, room_uses, room_memory, room_moves;
    uint32_t values[CHECK_VALUES_MAX];
    uint32_t n_values;

    struct tw_check_node *nodes;
    uint32_t n_nodes;
    size_t room_nodes;
    int32_t *node_of; /* bundle * (delay slots + 1) + slot -> node or -1 */
    uint32_t *queue;  /* nodes to look at, a ring */
    uint32_t n_queued, queue_at;
    /* Predecessors of node i: before[first_before[i]] .. before[first_before[i + 1] - 1]. */
    uint32_t *first_before, *before;

    struct tw_check_hit *hits;
    size_t n_hits, room_hits;
    uint64_t *on_purpose; /* n times CHECK_LEAF_WORDS: what is read out of its time; NULL: nobody asks */
    uint32_t *returns;    /* bundles behind calls */
    uint32_t n_returns;
    uint32_t n_ways;
    int gave_up;   /* some ways have not been looked at */
    int no_memory; /* while following them */
};

/* What place.c finds, as tw_check_hit.what. */
enum tw_check_place {
    PLACE_BRANCH_IN_SLOT,
    PLACE_LOCK_IN_SLOT,
    PLACE_END_IN_SLOT,
    PLACE_TWO_BRANCHES,
    PLACE_LOOP_END_IN_SLOT,
    PLACE_LOOP_END_MISSING,
    PLACE_LOOP_END_SIZE,
    PLACE_LOOP_END_ALIGN,
    PLACE_LOOP_START_MISSING,
    PLACE_LOOP_START_ALIGN,
    PLACE_LOOP_ORDER,
    PLACE_LOOP_SETUP,
    PLACE_LOOP_PART_WORD,
    PLACE_LOOP_UNKNOWN,
    PLACE_TARGET_ALIGN,
    PLACE_TARGET_INSIDE,
    PLACE_TARGET_OUTSIDE,
    PLACE_TARGET_UNKNOWN,
    PLACE_RETURN_ALIGN,
    PLACE_END,
    PLACE_PATHS,
    PLACE_SIZE
};

/* Number of the bundle at an address, or -1. */
int32_t tw_check_find(const struct tw_check *c, uint32_t address);
void tw_check_add(struct tw_check *c, struct tw_check_hit hit);

static inline int tw_check_has(const struct tw_check_set *s, unsigned value)
{
    return (int)(s->bits[value / 64] >> value % 64 & 1);
}

/* Whether a node is the last bundle of a loop that may be set up. */
static inline int tw_check_ends_loop(const struct tw_check *c, const struct tw_check_node *n)
{
    unsigned value = c->summaries[n->bundle].value;
    return value != CHECK_ANY && tw_check_has(&n->sets[CHECK_LE], value);
}

int tw_check_summarise(struct tw_check *c);

/* What may follow a node: other nodes, or a problem (enum tw_check_place, with a number: an address or a slot). */
struct tw_check_visitor {
    void (*to)(struct tw_check *c, uint32_t from, uint32_t bundle, unsigned slot, const struct tw_check_set *sets);
    void (*problem)(struct tw_check *c, uint32_t from, enum tw_check_place what, uint32_t bundle, uint32_t number);
};
void tw_check_next(struct tw_check *c, uint32_t node, const struct tw_check_visitor *visitor);
int tw_check_follow(struct tw_check *c, const uint32_t *entries, size_t n_entries);

int tw_check_hazards(struct tw_check *c);
void tw_check_places(struct tw_check *c);

#endif
