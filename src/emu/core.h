/*
 * One core: program memory, registers and the exposed pipeline. It runs ahead on its own until something outside
 * decides how it goes on; then it stops with a request, and the array (array.h) answers when it is time.
 *
 * Results are those of silicon bit for bit: each operand is read and each result lands at the cycle that the tables
 * say, bypasses included, so that a program that reads a register too early gets the old value. A stall freezes the
 * whole pipeline: distances count issued bundles.
 */
#ifndef TW_EMU_CORE_H
#define TW_EMU_CORE_H

#include "base/error.h"
#include "emu/unknown.h"

#include <stddef.h>
#include <stdint.h>

struct tw_core;
struct tw_vector_kernels;

enum tw_core_window { TW_WINDOW_SOUTH, TW_WINDOW_WEST, TW_WINDOW_NORTH, TW_WINDOW_OWN, TW_WINDOWS };

enum { TW_BANK_CYCLES = 4096 };
/* Banks that a cycle used, a bit for each, and the low half of the cycle. */
struct tw_bank_note {
    uint32_t banks, cycle;
};

struct tw_core_options {
    const struct tw_vector_kernels *kernels; /* NULL: the fastest that this processor runs */
    const struct tw_unknown *unknown;        /* NULL: tw_unknown_defaults */
    /*
     * Our own kernels: what the exposed pipeline does not forgive is an error: a value read before it has landed, two
     * uses of one port or unit, a misaligned access, a register that nobody has written. Reads that the program
     * declares (tw_core_expect_old) are no errors.
     */
    int strict;
    int slow; /* works out each tick anew instead of remembering ticks that have been before: the same, slower */
    const char *name; /* for messages: "core (1, 2)" */
    /* 64 KiB each, as the core sees them; NULL: there is no memory. They may be written by others between calls. */
    uint8_t *windows[TW_WINDOWS];
    /*
     * TW_BANK_CYCLES places, or NULL: what banks of memory each cycle used, in the place of the cycle modulo their
     * number, eight banks for each window. Cycles that used none leave what is there.
     */
    struct tw_bank_note *banks;
};

/* Why tw_core_run returned. */
enum tw_core_state {
    TW_CORE_RUNNING, /* reached the cycle that it was to run to */
    TW_CORE_REQUEST, /* waits for tw_core_answer */
    TW_CORE_DONE,    /* executed done; further runs do nothing */
    TW_CORE_FAILED   /* err says why; further runs do nothing until a reset */
};

enum tw_core_request_kind {
    TW_REQUEST_ACQUIRE, /* may wait; lock and value as the instruction has them: value < 0: at least -value */
    TW_REQUEST_RELEASE, /* never waits */
    TW_REQUEST_STREAM_READ,
    TW_REQUEST_STREAM_WRITE,
    TW_REQUEST_CASCADE_READ,
    TW_REQUEST_CASCADE_WRITE,
    TW_REQUEST_TILE_READ, /* a register of the own tile */
    TW_REQUEST_TILE_WRITE,
    TW_REQUEST_EVENT /* tells of event number `lock`; never waits */
};

struct tw_core_request {
    enum tw_core_request_kind kind;
    uint64_t cycle;   /* when the core asks; everything that it did to memory before counts as done */
    uint8_t lock;     /* 0..63: 0..15 of the south neighbour, 16 west, 32 north, 48 own */
    int8_t value;     /* of a lock request */
    uint8_t blocking; /* stream requests: 0: answer at once, with success or without */
    uint8_t last;     /* stream write: TLAST */
    uint32_t address; /* tile requests: offset in the tile */
    uint32_t words;   /* stream: 1 or 4; cascade: 16 */
    uint32_t data[16];
};

struct tw_core_answer {
    uint64_t cycle; /* when the core goes on; not before the request's cycle */
    uint8_t success, last;
    uint32_t data[16];
};

/* Fails with TW_E_MEMORY. The core is in reset, its registers are zero (and unwritten) and its program is empty. */
int tw_core_create(const struct tw_core_options *options, struct tw_core **core, struct tw_error *err);
void tw_core_free(struct tw_core *core);

/* Writes program memory; offset and size multiples of 4, inside 16 KiB (else TW_E_ARGUMENT). */
int tw_core_write_program(struct tw_core *core, uint32_t offset, const void *bytes, size_t size);
void tw_core_read_program(const struct tw_core *core, uint32_t offset, void *bytes, size_t size);

/* Strict mode: the bundle at an address reads leaf registers (TW_R_*) before or after their time on purpose. */
int tw_core_expect_old(struct tw_core *core, uint32_t address, const uint16_t *registers, size_t count);

/* Registers, program counter (0) and pipeline as after a reset; program memory and what it expects stay. */
void tw_core_reset(struct tw_core *core);

/*
 * Runs until the core's clock reaches `until`, a request comes up, or the program is done. The clock counts array
 * cycles and begins where tw_core_set_clock put it.
 */
enum tw_core_state tw_core_run(struct tw_core *core, uint64_t until, struct tw_error *err);
/*
 * As tw_core_run, but stops (TW_CORE_RUNNING, before `until`) where an access to memory of another window may come: so
 * cores can be simulated at the same time whatever their programs do.
 */
enum tw_core_state tw_core_run_near(struct tw_core *core, uint64_t until, struct tw_error *err);
const struct tw_core_request *tw_core_request(const struct tw_core *core);
/* Only while the core waits (state TW_CORE_REQUEST). */
void tw_core_answer(struct tw_core *core, const struct tw_core_answer *answer);

uint64_t tw_core_clock(const struct tw_core *core);
void tw_core_set_clock(struct tw_core *core, uint64_t cycle);
/* Of the next bundle; after a failure, of the bundle at fault. */
uint32_t tw_core_pc(const struct tw_core *core);

/* A register's value by TW_R_* as of now (landed), in the form of semantics.h; writing clears nothing in flight. */
int tw_core_register_read(const struct tw_core *core, uint16_t reg, void *value, size_t size);
int tw_core_register_write(struct tw_core *core, uint16_t reg, const void *value, size_t size);

struct tw_core_counts {
    uint64_t bundles, bank_stalls, request_stalls;
};
struct tw_core_counts tw_core_counts(const struct tw_core *core);

#endif
