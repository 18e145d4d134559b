/*
 * What decoding makes of a bundle: its operations with pointers to their registers, what each does at its issue, and
 * what the bundle does in later ticks. state.h explains ticks and flights.
 */
#ifndef TW_EMU_CORE_PLAN_H
#define TW_EMU_CORE_PLAN_H

#include "emu/semantics.h"

#include <stdalign.h>
#include <string.h>

enum {
    CORE_RING = 16, /* ticks that are kept; nothing takes longer than CORE_LATEST */
    CORE_LATEST = 11,
    CORE_PROGRAM_SLOTS = TW_PROGRAM_BYTES / 2, /* places where a bundle may begin */
    CORE_FLIGHT_BYTES = 1024,                  /* of one operation at most */
    CORE_FLIGHT_HEAD = 8,
    CORE_FLIGHTS_BYTES = 4160, /* of a bundle; no power of two: they must not share a few lines of the cache */
    CORE_LEAF_WORDS = 3,       /* sets of leaves: the smallest registers, of which all others consist */
    CORE_LEAVES_MAX = 64 * CORE_LEAF_WORDS,
    CORE_FILE_BYTES = 3072,
    CORE_QUESTIONS_MAX = 32, /* requests of one tick */
    CORE_HELD_TICKS = 1024,  /* of the reservation table, before it moves back to its beginning */
    CORE_WINDOW_SHIFT = 16   /* an address's window and its offset there */
};

struct tw_core;
struct tw_core_op;
struct tw_core_bundle;

struct tw_core_flight_head {
    uint32_t address;
    uint32_t is_lost; /* a store that does not happen */
};
struct tw_core_flight {
    alignas(64) union {
        struct tw_core_flight_head head;
        uint8_t bytes[CORE_FLIGHT_BYTES]; /* values from CORE_FLIGHT_HEAD on */
    };
};

/* A piece of the register file that is copied into a flight. */
struct tw_core_piece {
    uint16_t from, to, bytes;
    uint8_t bypass;
};

/* A result that lands in the register file. */
enum tw_core_landing_kind { CORE_LAND_WORD, CORE_LAND_STICKY, CORE_LAND_BYTES };
struct tw_core_landing {
    uint16_t from; /* bytes from the beginning of the bundle's flights */
    uint16_t to, bytes;
    uint8_t kind, bypass;
    uint32_t mask; /* of a word */
};

/* What an operation does late. */
struct tw_core_step;
typedef void tw_core_step_function(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f);
struct tw_core_step {
    tw_core_step_function *run;
    struct tw_core_op *op;
    struct tw_core_piece piece;
};

/* While an operation is prepared: where a value of its function lies in a call. */
enum tw_core_space { CORE_IN_FILE, CORE_IN_FLIGHT, CORE_IN_IMMEDIATE, CORE_OUT_FILE, CORE_OUT_FLIGHT };
struct tw_core_value_place {
    uint8_t value, space;
    uint16_t at;
};

/* An entry of in or out that lies in the flight, and is set before each call. */
struct tw_core_patch {
    uint16_t value, at;
};

enum tw_core_address_mode {
    CORE_ADDRESS_NONE,
    CORE_ADDRESS_FIXED, /* [ptr, step] */
    CORE_ADDRESS_POST,  /* [ptr], step */
    CORE_ADDRESS_2D,
    CORE_ADDRESS_3D
};
struct tw_core_address {
    const uint32_t *pointer;
    const uint32_t *step;               /* a register or the immediate */
    const uint32_t *walk;               /* m, dn, dj, dc; then the outer ones */
    uint32_t *to, *count_to, *outer_to; /* NULL: at these places of the flight */
    uint16_t at, count_at, outer_at;
};

/* A move straight from one place to another. */
struct tw_core_move {
    const uint8_t *from;
    uint8_t *to;
    uint32_t mask, bytes;
};

enum { CORE_IMMEDIATES_MAX = 3 };

/* What is needed most comes first: programs are longer than the cache's first level. */
struct tw_core_op {
    void (*issue)(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f);
    const struct tw_semantics *row;
    const struct tw_core_piece *captures; /* at issue; behind them those that a bypass may bring to a call */
    const struct tw_core_patch *patches;  /* of in, then of out */
    const void **in;
    void **out;
    uint8_t n_captures, n_bypassed, n_in, n_out, slot; /* n_in, n_out: patches */
    uint16_t flight_at;                                /* its flight among those of the bundle */
    uint8_t calls;                                     /* the function is called at issue */
    uint8_t address_mode;
    uint8_t reads_clock;  /* a move from the tile's timer */
    uint8_t extends_sign; /* a move of an address, by unknown.h */
    uint16_t memory_at;   /* place in the flight of the bytes of memory, and how many at least */
    uint16_t memory_bytes;
    uint16_t data_at; /* of the data of a part-word store, a link, a table's addresses */
    uint8_t row_bytes;
    uint8_t n_immediates, n_values; /* n_values: entries of in and out */
    uint32_t immediates[CORE_IMMEDIATES_MAX];
    uint32_t none; /* 0 */
    union {
        struct tw_core_address address;
        struct tw_core_move move;
    };
    const uint8_t *bypassed_values;
    const struct tw_core_bundle *bundle;
    const struct tw_operation *operation;
};

enum tw_core_list { CORE_REQUESTS, CORE_WORK, CORE_STORES, CORE_LANDINGS, CORE_BYPASS, CORE_LISTS };

/* While a bundle is made: something that it does `delay` ticks after its issue. */
struct tw_core_push {
    uint8_t list, delay;
    struct tw_core_step step;
    struct tw_core_landing landing;
};

/* What a bundle does in one list of one later tick. */
struct tw_core_steps {
    uint32_t n;
    struct tw_core_step step[];
};
struct tw_core_landings {
    uint32_t n;
    struct tw_core_landing landing[];
};
struct tw_core_mark {
    uint8_t list, delay;
    const void *items; /* struct tw_core_steps or struct tw_core_landings */
};

/* That, when its tick comes, with the flights of its bundle. */
struct tw_core_event {
    const void *items;
    uint8_t *flights;
};
struct tw_core_tick {
    alignas(64) uint8_t n[64];                              /* of each list; the first 8 bytes are cleared at once */
    struct tw_core_event list[CORE_LISTS][CORE_LATEST + 1]; /* each bundle in flight has one at most */
};

/* An operation that may ask for something. */
struct tw_core_question {
    struct tw_core_op *op;
    struct tw_core_flight *flight;
};

/* ---- strict mode */

struct tw_core_leaves {
    uint64_t words[CORE_LEAF_WORDS];
};

/* A leaf that a bundle reads or writes, `delay` ticks after its issue. */
struct tw_core_access {
    uint8_t leaf, delay, bypass, slot;
    uint8_t is_needed; /* a read that asks for a value: the upper parts of a multiplier's operand may stay unwritten */
    uint8_t operand;
};

/* Units as bits: who holds TW_U_x has bit x, who avoids it has bit x + 32. */
struct tw_core_unit_use {
    uint64_t uses, conflicts; /* conflicts: what others must not have then */
    uint8_t delay;
};

struct tw_core_hazards {
    struct tw_core_leaves watched;      /* reads and writes that must be in time */
    struct tw_core_leaves needs;        /* reads that ask for a value */
    struct tw_core_leaves writes, slow; /* slow: written after the first cycle */
    struct tw_core_unit_use *units;
    struct tw_core_access *read, *write;
    uint8_t n_read, n_write, n_slow, n_units, n_late_reads; /* the slow ones come first in write */
    uint8_t broken_unit;              /* 1 + unit that its own operations need twice in one cycle */
    struct tw_core_leaves reads, old; /* old: out of their time on purpose */
};

struct tw_core_bundle {
    uint32_t address, next; /* next: of the bundle behind it */
    uint32_t link;          /* behind the delay slots, for jl; or CORE_NO_LINK */
    uint32_t number;        /* of all bundles in the order in which they were decoded */
    uint8_t n_ops, n_marks;
    uint32_t far;                                 /* for tw_core.far: reads tables, whose addresses nobody knows yet */
    uint8_t sets_loop, part_word, branches, ends; /* ends: with done */
    uint8_t heat;                                 /* how often it was issued without a memo; memo.h */
    struct tw_core_op **ops;
    struct tw_core_mark *marks;
    struct tw_core_hazards hazards;
};

static inline struct tw_core_flight *tw_core_flight_of(uint8_t *flights, const struct tw_core_op *op)
{
    return (struct tw_core_flight *)(void *)(flights + op->flight_at);
}

/* Copies bytes of one of the usual sizes. */
static inline void tw_core_copy(void *to, const void *from, unsigned bytes)
{
    switch (bytes) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 32:
        memcpy(to, from, 32);
        break;
    case 64:
        memcpy(to, from, 64);
        break;
    case 128:
        memcpy(to, from, 128);
        break;
    default:
        memcpy(to, from, bytes);
    }
}

#endif
