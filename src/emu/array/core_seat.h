/* The core's place in its tile: its control registers, its streams and cascade, and the answers to its requests. */
#ifndef TW_EMU_ARRAY_CORE_SEAT_H
#define TW_EMU_ARRAY_CORE_SEAT_H

#include "emu/array.h"
#include "emu/array/stream.h"
#include "emu/core.h"

enum tw_core_control_bits { TW_CORE_ENABLE = 1, TW_CORE_RESET = 2 };

enum { TW_CASCADE_DEPTH = 4 /* two registers on each side */, TW_CASCADE_WORDS = 16 };

/* What a core has sent into its cascade and its neighbour has not yet taken. */
struct tw_cascade {
    unsigned n;
    uint32_t words[TW_CASCADE_DEPTH][TW_CASCADE_WORDS];
    uint64_t sent[TW_CASCADE_DEPTH];
};

struct tw_core_seat {
    struct tw_core *core;
    char name[24];
    uint16_t actor;
    uint8_t enabled, in_reset, done, failed;
    uint8_t asks;               /* its request has not been answered */
    uint8_t waits;              /* and could not be answered when it came up */
    uint8_t hangs;              /* and never will be: a fault on purpose */
    uint8_t granted;            /* the lock that it waited for */
    uint8_t ran;                /* it is simulated ahead of its next act (run_ahead.c), up to `limit`, */
    uint8_t flies;              /* and that may still be going on; */
    uint8_t leaves;             /* outside its own memory, too; */
    enum tw_core_state outcome; /* with this outcome */
    uint64_t limit;
    unsigned stride;            /* how far ahead that was of its act; 0: nothing since its last request */
    struct tw_error reason;     /* of a failure */
    unsigned life;              /* counts resets */
    uint64_t stalls[TW_STALLS]; /* cycles that answered requests took */
    uint64_t bank_stalls;       /* and what they took longer for banks that DMA had before */
    struct tw_stream *out;
    struct tw_sink in;
    struct tw_cascade cascade;
};

void tw_core_seat_act(struct tw_array *array, struct tw_tile *tile);
/* The tile whose memory and locks a core sees in a window, or NULL. */
struct tw_tile *tw_core_window_tile(const struct tw_array *array, const struct tw_tile *tile,
                                    enum tw_core_window window);
/*
 * Begins to simulate a core that can go on and will act next at a cycle: up to its next request, or as far ahead as it
 * may; not when that act is too far away (run_ahead.c).
 */
void tw_core_seat_begin(struct tw_array *array, struct tw_tile *tile, uint64_t act);
/* Returns when the simulation that has been begun is over. Of all tiles: nobody else's memory is in use then. */
void tw_core_seat_join(struct tw_array *array, struct tw_tile *tile);
void tw_core_seats_join(struct tw_array *array);
/*
 * Words for the tile's memory, at an address in words. Returns 1 when they will be written once the core's simulation
 * is over; 0 when it is: the caller writes them.
 */
int tw_core_seat_takes_late(struct tw_array *array, struct tw_tile *tile, uint32_t address, const uint32_t *words,
                            uint32_t n);
/* Whether the core's simulation, which is over, has stopped where the core is about to leave its own memory. */
int tw_core_seat_has_stopped(const struct tw_core_seat *seat);
/* Simulates on all that have stopped so. */
void tw_core_seats_leave(struct tw_array *array);
/* A core has begun to run: calls more threads when they are of use. */
void tw_core_seats_call(struct tw_array *array);
/* A write of Core_Control. */
void tw_core_seat_control(struct tw_array *array, struct tw_tile *tile, uint32_t value);
int tw_core_seat_is_running(const struct tw_core_seat *seat);
/* Cycles that its requests have taken, with what the present one has waited so far. */
void tw_core_seat_stalls(const struct tw_array *array, const struct tw_tile *tile, uint64_t stalls[TW_STALLS]);
uint32_t tw_core_seat_status(const struct tw_core_seat *seat);

/*
 * A register of the core itself by its offset in the tile (core_registers.c). Returns 1, or 0 when there is none. As of
 * now; the core may be under way to other values, so they are written only while it stands still.
 */
int tw_core_seat_read(const struct tw_core_seat *seat, uint32_t offset, uint32_t *value);
int tw_core_seat_write(struct tw_core_seat *seat, uint32_t offset, uint32_t value);

/* The tile whose cascade output leads to this one, or that this one's leads to; NULL: none (cascade.c). */
struct tw_tile *tw_cascade_source(const struct tw_array *array, const struct tw_tile *tile);
struct tw_tile *tw_cascade_target(const struct tw_array *array, const struct tw_tile *tile);
/* The tile's Accumulator_Control was written: whoever waits looks again. */
void tw_cascade_changed(struct tw_array *array, struct tw_tile *tile);
/* Returns 1 and the cycle when it is done, or 0: has to wait. Wakes the neighbour. */
int tw_cascade_read(struct tw_array *array, struct tw_tile *tile, uint32_t words[TW_CASCADE_WORDS], uint64_t *cycle);
int tw_cascade_write(struct tw_array *array, struct tw_tile *tile, const uint32_t words[TW_CASCADE_WORDS],
                     uint64_t *cycle);

#endif
