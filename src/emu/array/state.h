/* All that the array consists of. Internal to src/emu/array. */
#ifndef TW_EMU_ARRAY_STATE_H
#define TW_EMU_ARRAY_STATE_H

#include "emu/array.h"
#include "emu/array/bank_share.h"
#include "emu/array/control_port.h"
#include "emu/array/core_seat.h"
#include "emu/array/dma_channel.h"
#include "emu/array/event_queue.h"
#include "emu/array/late_words.h"
#include "emu/array/lock_bank.h"
#include "emu/array/packet.h"
#include "emu/array/route.h"
#include "npu1/lock.h"

/* Numbers of the actors of one tile; the whole number is that of the tile times TW_ACTORS plus these. */
enum tw_actor {
    TW_ACTOR_CORE,
    TW_ACTOR_CONTROL,
    TW_ACTOR_TOKENS,
    TW_ACTOR_S2MM,
    TW_ACTOR_MM2S = TW_ACTOR_S2MM + TW_DMA_CHANNELS_MAX,
    TW_ACTOR_PACKETS = TW_ACTOR_MM2S + TW_DMA_CHANNELS_MAX,
    TW_ACTORS = TW_ACTOR_PACKETS + TW_SWITCH_PORTS_MAX
};
_Static_assert(TW_NPU1_COLUMNS *TW_NPU1_ROWS *TW_ACTORS <= TW_EVENT_ACTORS, "all actors fit into the queue");

/* Cycles; without other options, and at most: what was simulated is then not forgotten before all have seen it. */
struct tw_crew; /* base/crew.h */

enum { TW_RUN_AHEAD = 512, TW_RUN_AHEAD_MOST = TW_BANK_CYCLES / 4 };

struct tw_tile {
    uint8_t column, row;
    uint16_t number; /* column * TW_NPU1_ROWS + row */
    enum tw_tile_kind kind;
    uint8_t *memory; /* NULL in shims */
    uint32_t memory_bytes;
    uint32_t *registers; /* a word for each offset of the tile / 4 */
    struct tw_lock_bank locks;
    unsigned n_channels; /* DMA channels of each direction */
    struct tw_dma_engine channels[2][TW_DMA_CHANNELS_MAX];
    struct tw_core_seat seat;    /* core tiles */
    struct tw_bank_share *banks; /* core tiles */
    struct tw_late_words *late;  /* core tiles */
    struct tw_control_port control;
    struct tw_token_port tokens; /* shims */
    struct tw_arbiter arbiters[TW_SWITCH_ARBITERS];
    struct tw_packets packets[TW_SWITCH_PORTS_MAX]; /* by slave port */
};

enum { TW_TOKEN_ACTORS = 32, TW_SHIM_CHANNELS = 2 /* of each direction */ };
enum { TW_ALL_SHIM_CHANNELS = TW_NPU1_COLUMNS * TW_SHIM_CHANNELS };

struct tw_array {
    struct tw_array_options options;
    unsigned n_tiles;
    struct tw_tile *tiles; /* column by column */
    unsigned n_streams;
    struct tw_stream *streams; /* of all sources */
    uint64_t now, until;       /* the present; how far the run that is going on may go */
    int stale;                 /* switch registers were written: the routes have to be traced again */
    struct tw_error fault;     /* code 0: none; what has failed stays so */
    /* By direction and shim channel: until when it counts as one that shares the DDR, for the burst that it began last.
     */
    uint64_t bursts[2][TW_ALL_SHIM_CHANNELS];
    uint32_t intervals[2][TW_ALL_SHIM_CHANNELS + 1][TW_ALL_SHIM_CHANNELS + 1]; /* by direction, readers, writers */
    struct tw_event_queue queue;
    struct tw_crew *crew; /* of threads that simulate cores; NULL: only the caller's, or not needed yet */
    struct tw_tile *kept; /* whose core the caller will simulate itself */
    uint32_t tokens[TW_NPU1_COLUMNS][TW_NPU1_ROWS][TW_TOKEN_ACTORS]; /* that have come out and nobody has waited for */
};

/* The tile, or NULL when there is none. */
static inline struct tw_tile *tw_array_tile(const struct tw_array *array, int column, int row)
{
    if (column < 0 || column >= (int)array->options.columns || row < 0 || row >= TW_NPU1_ROWS)
        return NULL;
    return &array->tiles[column * TW_NPU1_ROWS + row];
}

static inline uint32_t tw_tile_word(const struct tw_tile *tile, uint32_t offset)
{
    return tile->registers[offset / 4];
}

static inline void tw_array_wake(struct tw_array *array, unsigned actor, uint64_t cycle)
{
    tw_event_wake(&array->queue, actor, cycle < array->now ? array->now : cycle);
}

/* Notes what has gone wrong; the first one stays. */
void tw_array_fault(struct tw_array *array, int code, const char *format, ...) TW_PRINTF(3, 4);
/* Whoever waits for a lock that has just changed and can have it now gets it. */
void tw_array_lock_changed(struct tw_array *array, struct tw_tile *tile, unsigned lock);
/* Adds to a lock and wakes whoever waited; raises a fault when it leaves its range. */
void tw_array_lock_release(struct tw_array *array, struct tw_tile *tile, unsigned lock, int value);

/* As tw_array_describe_waits, and returns how many wait (deadlock.c). */
int tw_array_waits(const struct tw_array *array, char *text, size_t size);

/* Registers and memories of a tile (tile_registers.c). Return 0 or what tw_array_write and tw_array_read return. */
int tw_tile_write(struct tw_array *array, struct tw_tile *tile, uint32_t offset, uint32_t value, struct tw_error *err);
/* Writes as many words as one memory takes from an offset on; returns how many, 0 when it is none. */
uint32_t tw_tile_write_memory(struct tw_tile *tile, uint32_t offset, const uint32_t *words, size_t count);
/* As tw_tile_read, for a write of some of the bits: no side effects, and any register has its bits as written. */
int tw_tile_present(struct tw_array *array, struct tw_tile *tile, uint32_t offset, uint32_t *value,
                    struct tw_error *err);
int tw_tile_read(struct tw_array *array, struct tw_tile *tile, uint32_t offset, uint32_t *value, struct tw_error *err);

#endif
