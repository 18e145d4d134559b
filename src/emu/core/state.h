/*
 * The core while it works:
 *
 *   registers.c       where registers lie in the register file
 *   rows.c            what each instruction is, with scalar.c for what it computes
 *   decode.c          bundles to what is done in which cycle; each once, when it is first reached
 *   prepare.c         the parts of one operation: captures, calls, landings; prepare_access.c: accesses to memory
 *   hazards.c         what strict mode has to know of a bundle, and its checks
 *   issue.c           what operations do at once, and calls of their functions
 *   address.c         pointers and their walks
 *   memory.c          data memory, banks
 *   branch.c          jumps, hardware loops, done
 *   request.c         what others must answer: locks, streams, the cascade, the tile's registers
 *   run.c             tick after tick
 *   memo.c            ticks that have been before, with act.c for what they consist of
 *   core.c            the outside
 *
 * Time. A tick is a cycle in which the pipeline moves: the bundle of tick t reads an operand of cycle r in tick t + r -
 * 1, and what it writes in cycle w can be read from tick t + w on. Stalls lie between ticks and are only counted. In
 * each tick, in this order: requests come up; what older bundles do late is done (captures, loads, functions with late
 * operands), then stores; the tick's bundle reads, and computes what needs no later operand; results land.
 *
 * An operation's values on their way lie in its flight: one buffer for each slot of each of the last bundles.
 */
#ifndef TW_EMU_CORE_STATE_H
#define TW_EMU_CORE_STATE_H

#include "emu/core.h"
#include "emu/core/memo.h"
#include "emu/core/plan.h"

/* ---- the core */

/* Where a register lies. */
struct tw_core_place {
    uint16_t offset, bytes;
    uint8_t leaf; /* its number, for those that have no parts */
};

struct tw_core_pool_block;
struct tw_core_pool {
    struct tw_core_pool_block *blocks; /* in use, the newest first */
    struct tw_core_pool_block *spare;
    size_t used; /* bytes of the blocks in use */
};

struct tw_core_old {
    uint32_t address;
    struct tw_core_leaves leaves;
};

struct tw_core {
    alignas(64) uint8_t file[CORE_FILE_BYTES];
    struct tw_core_bundle *at[CORE_PROGRAM_SLOTS];
    struct tw_core_tick ticks[CORE_RING];
    alignas(64) uint8_t flights[CORE_BERTHS][CORE_FLIGHTS_BYTES];

    enum tw_core_state state;
    uint64_t tick, clock;
    uint32_t pc, target;
    uint8_t delay_slots;                       /* that a taken branch still has, its own bundle included */
    uint8_t ending;                            /* done: ticks until all is over */
    uint8_t loop_end_set;                      /* LE has been written since the reset */
    uint8_t asked;                             /* of the tick's requests */
    uint32_t banks, banks_twice, banks_thrice; /* that this tick's accesses use */
    uint32_t far;         /* bits of the window: of an address of this tick that is not in the own memory */
    uint64_t far_tick;    /* the last tick that had one */
    uint8_t stays_near;   /* stops behind such a tick, before its access: */
    uint8_t halts;        /* it is to stop */
    struct tw_bank_note *bank_notes; /* tw_core_options.banks */
    uint32_t loop_set_at; /* address behind the last bundle that wrote LC, LS or LE; 0: none since the loop's end */
    uint32_t *loop_count, *loop_start, *loop_end;
    struct tw_core_counts counts;
    struct tw_core_request request;
    struct tw_core_question questions[CORE_QUESTIONS_MAX]; /* of this tick */
    uint8_t n_questions;

    /* strict mode */
    struct tw_core_leaves pending, late, written;
    uint64_t lands[CORE_LEAVES_MAX];   /* the last tick in which a write of the leaf lands */
    uint64_t read_in[CORE_LEAVES_MAX]; /* the last tick in which a late operand is read from it */
    uint8_t lands_bypass[CORE_LEAVES_MAX], read_bypass[CORE_LEAVES_MAX];
    uint64_t held[CORE_HELD_TICKS + 2 * CORE_RING]; /* units, from now on */
    uint32_t held_at;                               /* the place of the tick */

    int strict;
    struct tw_unknown unknown;
    const struct tw_vector_kernels *kernels;
    uint8_t *windows[TW_WINDOWS];
    char name[64];
    struct tw_core_place places[TW_R_COUNT];
    uint16_t leaf_registers[CORE_LEAVES_MAX];
    const struct tw_semantics *rows[TW_I_COUNT];
    uint8_t program[TW_PROGRAM_BYTES];
    int decoded; /* something stands in `at` */
    uint32_t n_decoded;
    uint64_t emptied;             /* the tick in which program memory was last written */
    struct tw_core_pool pools[2]; /* of bundles: in use, and those that may still be in flight */

    /* memo.h */
    struct tw_core_issued issued[CORE_RING]; /* in the last ticks, by tick; not kept while memos are followed */
    unsigned n_issued;                       /* how many of them are bundles of this program and life */
    uint32_t life;                           /* counts resets */
    int without_memos;
    struct tw_core_memo *memo; /* of this tick; NULL: it has none, or none is known yet */
    struct tw_core_memo *memos[CORE_MEMO_SLOTS];
    struct tw_core_pool memo_pool;
    struct tw_core_old *old;
    size_t n_old;
    int failed; /* in this tick */
    struct tw_error error;
};

#define CORE_NO_LINK UINT32_MAX

/* ---- errors (core.c) */

/* Stops the core with an error; op may be NULL. The sentence gets the core's name, the address, the instruction and the
 * cycle in front. */
void tw_core_fail(struct tw_core *c, int code, const struct tw_core_op *op, const char *fmt, ...) TW_PRINTF(4, 5);

/* ---- memory for bundles (pool.c) */

void *tw_core_pool_get(struct tw_core_pool *pool, size_t size); /* zeroed; NULL when there is none */
void tw_core_pool_empty(struct tw_core_pool *pool);
void tw_core_pool_free(struct tw_core_pool *pool);

/* ---- registers (registers.c) */

/* Fails with TW_E_LIMIT when the register file is too small for the tables. */
int tw_core_place_registers(struct tw_core *c);
/* All registers zero and unwritten, but those that have a value after a reset. */
void tw_core_reset_registers(struct tw_core *c);

static inline uint32_t *tw_core_word(struct tw_core *c, unsigned reg)
{
    return (uint32_t *)(void *)(c->file + c->places[reg].offset);
}

/* What may be in the bits of a register of up to 32 bits. */
static inline uint32_t tw_core_mask(unsigned reg)
{
    return tw_registers[reg].bits >= 32 ? UINT32_MAX : ((uint32_t)1 << tw_registers[reg].bits) - 1;
}

/* Whether the core adds new bits to those that are set. */
int tw_core_is_sticky(unsigned reg);

static inline void tw_core_leaf_add(struct tw_core_leaves *set, unsigned leaf)
{
    set->words[leaf / 64] |= (uint64_t)1 << leaf % 64;
}

static inline int tw_core_leaf_has(const struct tw_core_leaves *set, unsigned leaf)
{
    return (int)(set->words[leaf / 64] >> leaf % 64 & 1);
}

/* ---- decoding (decode.c, prepare.c, hazards.c) */

/* The bundle at an even address below TW_PROGRAM_BYTES; NULL: the core has failed. */
struct tw_core_bundle *tw_core_decode(struct tw_core *c, uint32_t address);
/* The bundle at the program counter, which has not been decoded yet; NULL: the core has failed. */
struct tw_core_bundle *tw_core_fetch(struct tw_core *c);
/* Forgets all bundles: program memory, or what is expected of it, has changed. */
void tw_core_forget(struct tw_core *c);

/* What an operation's values are. */
struct tw_core_value {
    uint16_t reg;                             /* TW_R_*, unless immediate */
    uint8_t is_immediate, is_out, is_address; /* address: belongs to the access's address, not to its function */
    uint8_t cycle, bypass;
    uint32_t immediate;
};
struct tw_core_values {
    unsigned n;
    struct tw_core_value value[TW_VALUES_MAX];
};
void tw_core_list_values(const struct tw_core *c, const struct tw_operation *operation, struct tw_core_values *values);

/* A bundle that is being made; entries go to the pool when all is known. */
enum { CORE_PUSHES_MAX = 128 };
struct tw_core_maker {
    struct tw_core *c;
    struct tw_core_bundle *bundle;
    struct tw_core_push pushes[CORE_PUSHES_MAX];
    unsigned n_pushes;
    unsigned flight;  /* bytes of the flight that are given away */
    unsigned flights; /* and of those of the bundle's other operations */
    int failed;       /* no memory, or more than the tables' sizes allow for */
};
void *tw_core_make(struct tw_core_maker *m, size_t count, size_t size);
/* Adds a step of an operation, or a landing, `delay` ticks after the issue. */
void tw_core_push_step(struct tw_core_maker *m, enum tw_core_list list, unsigned delay, struct tw_core_step step);
void tw_core_push_landing(struct tw_core_maker *m, enum tw_core_list list, unsigned delay,
                          struct tw_core_landing landing);
/* direct: what it writes in the first cycle may go straight to the registers. */
struct tw_core_op *tw_core_prepare(struct tw_core_maker *m, const struct tw_operation *operation, unsigned slot,
                                   const struct tw_core_values *values, int direct);
int tw_core_prepare_hazards(struct tw_core_maker *m, const struct tw_bundle *bundle, unsigned slots,
                            const struct tw_core_values values[TW_SLOT_COUNT]);
uint16_t tw_core_take_flight(struct tw_core_maker *m, unsigned bytes);

/* ---- running: what happens at issue (issue.c, address.c, branch.c), and late (memory.c) */

/* Lays over a copy (NULL: only asks) what the bypasses bring in this tick. Returns whether there is any. */
int tw_core_take_bypassed(const struct tw_core *c, const struct tw_core_piece *piece, uint8_t *copy);

/* Copies a piece of the register file to its place in the flight, as a reader of this tick sees it. */
static inline void tw_core_capture(const struct tw_core *c, const struct tw_core_piece *piece, struct tw_core_flight *f)
{
    tw_core_copy(f->bytes + piece->to, c->file + piece->from, piece->bytes);
    if (piece->bypass != TW_BYPASS_NONE)
        tw_core_take_bypassed(c, piece, f->bytes + piece->to);
}

/* Sets the entries of in and out that lie in the flight. */
static inline void tw_core_set_places(struct tw_core_op *op, struct tw_core_flight *f)
{
    const struct tw_core_patch *p = op->patches;

    for (unsigned i = 0; i < op->n_in; i++, p++)
        op->in[p->value] = f->bytes + p->at;
    for (unsigned i = 0; i < op->n_out; i++, p++)
        op->out[p->value] = f->bytes + p->at;
}

/* Calls the operation's function. */
void tw_core_call(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f);

typedef void tw_core_issue_function(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f);
tw_core_issue_function tw_core_issue_unknown;
tw_core_issue_function tw_core_issue_call;
tw_core_issue_function tw_core_issue_captures; /* and calls, when the operation does */
tw_core_issue_function tw_core_issue_word_move, tw_core_issue_move, tw_core_issue_constant;
tw_core_issue_function tw_core_issue_special_move;
tw_core_issue_function tw_core_issue_address;
tw_core_issue_function tw_core_issue_branch;

tw_core_step_function tw_core_step_capture, tw_core_step_call;
void tw_core_step_load(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f);
void tw_core_step_table(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f);
void tw_core_step_store(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f);
void tw_core_step_part_load(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f);
void tw_core_step_part_store(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f);
/* Makes the request of an operation whose time has come. Returns 0 when it is none after all. */
int tw_core_ask(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f);
/* Stores an answer in the flight of the request. */
void tw_core_take_answer(struct tw_core_op *op, struct tw_core_flight *f, const struct tw_core_answer *answer);
/* The cycle of an operation in which it asks. */
unsigned tw_core_request_cycle(const struct tw_semantics *row, const struct tw_schedule_class *class);

/* The next bundle's address after this one, with its flights; handles delay slots and the hardware loop. */
void tw_core_go_on(struct tw_core *c, const struct tw_core_bundle *b, uint8_t *flights);

/* ---- memos (memo.c) */

/* The berth for the flights of the bundle that is issued now. */
unsigned tw_core_choose_berth(const struct tw_core *c, const struct tw_core_bundle *b);
/* Puts what a bundle that was issued `age` ticks ago still has to do into the lists of the ticks to come (run.c). */
void tw_core_push(struct tw_core *c, const struct tw_core_bundle *b, uint8_t *flights, unsigned age);
/* This tick has a memo: sets it, empties the lists, and returns 1. */
int tw_core_memo_enter(struct tw_core *c);
/* Makes a memo of the tick that is about to run, or NULL when it gets none; it must be kept when all went well. */
struct tw_core_memo *tw_core_memo_make(struct tw_core *c, const struct tw_core_tick *t);
void tw_core_memo_keep(struct tw_core *c, struct tw_core_memo *memo);
/* The memo of the tick after this one's, by the program counter as it is now; NULL when there is none: then the lists
 * are made again. */
struct tw_core_memo *tw_core_memo_next(struct tw_core *c, struct tw_core_memo *memo);
/* Strict mode: whether what the memo's bundle needs is written since the reset. */
int tw_core_memo_holds(struct tw_core *c, struct tw_core_memo *memo);
/* Makes the lists again, so that the core can go on without memos. */
void tw_core_memo_leave(struct tw_core *c);
/* Forgets all memos, after tw_core_memo_leave. */
void tw_core_memo_forget(struct tw_core *c);

/* Strict mode: checks a bundle before it is issued, and notes what it does. Returns 0, or the core has failed. */
int tw_core_check(struct tw_core *c, const struct tw_core_bundle *b);
void tw_core_next_tick(struct tw_core *c);
/* Whether all registers that a bundle needs have been written; if so, its own count as written too. */
int tw_core_has_needs(struct tw_core *c, const struct tw_core_bundle *b);
/* What is in flight: nothing; and what a bundle, known to be in order, has brought there `age` ticks ago. */
void tw_core_note_nothing(struct tw_core *c);
void tw_core_note_again(struct tw_core *c, const struct tw_core_bundle *b, unsigned age);

/* What a row of ours holds in `a`. */
enum tw_core_branch {
    CORE_BRANCH_JUMP,
    CORE_BRANCH_CALL,
    CORE_BRANCH_RETURN,
    CORE_BRANCH_IF_ZERO,
    CORE_BRANCH_UNLESS_ZERO,
    CORE_BRANCH_COUNT_DOWN, /* jnzd */
    CORE_BRANCH_DONE
};
enum tw_core_ask {
    CORE_ASK_ACQUIRE,
    CORE_ASK_RELEASE,
    CORE_ASK_EVENT,
    CORE_ASK_STREAM_READ,
    CORE_ASK_STREAM_WRITE,
    CORE_ASK_CONTROL_HEADER,
    CORE_ASK_CASCADE_READ,
    CORE_ASK_CASCADE_WRITE,
    CORE_ASK_TILE_READ,
    CORE_ASK_TILE_WRITE,
    CORE_ASK_UNKNOWN /* packet headers, halves of the cascade: not modelled */
};
/* In `b` of a row: how it asks. */
enum tw_core_ask_flag {
    CORE_ASK_NOT_BLOCKING = 1,
    CORE_ASK_LAST = 2,
    CORE_ASK_LAST_BY_REGISTER = 4,
    CORE_ASK_CONDITION = 8
};
/* In `a` of a load: */
enum tw_core_load { CORE_LOAD_PLAIN, CORE_LOAD_TABLE };

/* Rows that take the place of others where a switch of unknown.h is not at its default. */
const struct tw_semantics *tw_core_other_semantics(const struct tw_unknown *unknown, unsigned *count);

#endif
