/*
 * What happens in the emulated NPU, event by event, for whoever wants to watch: cores, DMA channels, locks, tokens and
 * control code, each on a track of its own with the cycle at which it happens. Nothing in the emulator depends on who
 * watches.
 */
#ifndef TW_EMU_TRACE_H
#define TW_EMU_TRACE_H

#include <stdint.h>

enum tw_trace_kind {
    TW_TRACE_BEGIN,   /* of something that lasts; what began inside it ends inside it */
    TW_TRACE_END,     /* of the last thing on the track that began and has not ended */
    TW_TRACE_END_ALL, /* of all things on the track, none being fine: a reset */
    TW_TRACE_VALUE,   /* something has a value from now on */
    TW_TRACE_MOMENT   /* something happens */
};

/* A track belongs to a unit: of a tile (channel counts the DMA's channels of one direction), or the firmware. */
enum tw_trace_unit {
    TW_TRACE_CORE,
    TW_TRACE_S2MM,
    TW_TRACE_MM2S,
    TW_TRACE_LOCKS,    /* VALUE only */
    TW_TRACE_FIRMWARE, /* control code */
    TW_TRACE_TOKENS,   /* MOMENT only: tokens that reach the firmware, by the tile that sent them */
    TW_TRACE_UNITS
};

/* A lock's owner as a number: its column above its row. */
enum tw_trace_owner { TW_TRACE_OWNER_COLUMN_SHIFT = 3, TW_TRACE_OWNER_ROW_MASK = 7 };

/* What the two numbers of an event are. */
enum tw_trace_what {
    TW_TRACE_RUN,           /* a core; bundles and stalls for banks so far, at BEGIN and at END */
    TW_TRACE_WAIT_LOCK,     /* a core or a channel; lock, owner */
    TW_TRACE_WAIT_STREAM,   /* a core; words, 0 read, 1 write */
    TW_TRACE_WAIT_CASCADE,  /* a core; words, 0 read, 1 write */
    TW_TRACE_WAIT_REGISTER, /* a core that accesses its tile's registers; offset, 0 */
    TW_TRACE_TASK,          /* a channel; first descriptor, repetitions */
    TW_TRACE_DESCRIPTOR,    /* a channel; descriptor, words */
    TW_TRACE_LOCK,          /* lock, value */
    TW_TRACE_TOKEN,         /* actor, 0 */
    TW_TRACE_COMMAND,       /* number of the command, from 1; program */
    TW_TRACE_LOAD,          /* a program into the array; program, 0 */
    TW_TRACE_LAUNCH,        /* from the command to its first operation; 0, 0 */
    TW_TRACE_OPERATION,     /* of control code; address, number of the operation */
    TW_TRACE_WHATS
};

struct tw_trace_event {
    uint64_t cycle; /* of the array's clock; does not go back on one track */
    int64_t first, second;
    const char *name; /* of an operation; lives as long as the emulator. NULL for all others */
    uint8_t kind, unit, what;
    uint8_t column, row, channel; /* 0 where the unit has none */
};

/* Called by one thread at a time. */
struct tw_trace_hook {
    void (*event)(void *arg, const struct tw_trace_event *event); /* NULL: nobody watches */
    void *arg;
};

#endif
