/*
 * The cycle model's constants, all of them: nothing else in the emulator knows a time. Units are cycles of the array's
 * clock (1.0 GHz unless told otherwise) and 32-bit words of stream. Sources: [AM020] AMD's manual of the AIE-ML
 * architecture; [EMU] measured on Phoenix by the author of xdna-emu and published there; [IGN] bandwidths published by
 * ignite-xdna; [INF] chosen here, no source gives it.
 */
#ifndef TW_EMU_CYCLES_H
#define TW_EMU_CYCLES_H

enum tw_core_cycles {
    TW_CYCLES_LOCK = 1,    /* arbitration of a request, also when the lock is free [EMU] */
    TW_CYCLES_RETRY = 1,   /* from a release to the request that waited for it [EMU] */
    TW_CYCLES_CASCADE = 1, /* through the cascade's registers [INF] */
    TW_CYCLES_TILE_BUS = 1 /* a core's access to its tile's registers [INF] */
};

/* Of so many conflicts with DMA about a bank the core loses one: 18 to 20 of about 1,100, and 2 % elsewhere [EMU]. */
enum { TW_BANK_CONFLICTS = 50 };

enum tw_dma_cycles {
    TW_CYCLES_BD = 4,     /* setting up a descriptor [EMU] */
    TW_CYCLES_START = 2,  /* from the write of a queue register [EMU] */
    TW_CYCLES_CHAIN = 2,  /* from one descriptor of a chain to the next [EMU] */
    TW_CYCLES_MEMORY = 5, /* memory latency of a tile's DMA [EMU] */
    /* More until a memory tile's MM2S that waited for a lock asks its memory: 256 words one by one took 258 cycles from
     * the lock to the end [EMU]. */
    TW_CYCLES_MEMORY_TILE = 2
};

/*
 * Shim DMA beside the above [EMU]. The first task of a channel costs more; of MM2S the excess is multiplied by 0.31
 * each task. That was measured with tasks of 64 words. Single tasks of 1,024 words and more paid less: each further
 * word hides a cycle of it, but MM2S has still paid 0.31 of it.
 */
enum tw_shim_cycles {
    TW_CYCLES_SHIM_MM2S_COLD = 1330,
    TW_CYCLES_SHIM_S2MM_COLD = 341,
    TW_CYCLES_SHIM_MM2S_TASK = 325,
    TW_CYCLES_SHIM_S2MM_TASK = 179,
    TW_SHIM_COLD_DECAY_PERCENT = 31,
    TW_SHIM_COLD_WORDS = 64,
    TW_SHIM_MM2S_WORD_PERCENT = 105 /* of a cycle that a word read from DDR takes at least; [IGN]: 104 */
};

/* What DDR gives the whole array, in bytes a cycle, shared equally by the channels that move data [EMU, IGN]. */
enum tw_ddr_rate { TW_DDR_READ_BYTES = 16, TW_DDR_WRITE_BYTES = 16, TW_DDR_BYTES = 21 };

/* Streams move one word a cycle. Latencies from a switch's slave to its master, and the depth of its buffers [AM020].
 */
enum tw_stream_cycles {
    TW_CYCLES_SWITCH_LOCAL = 3,    /* to a master inside the tile */
    TW_CYCLES_SWITCH_EXTERNAL = 4, /* to one that leads to another tile */
    TW_CYCLES_HOP = 2,             /* between two tiles [EMU] */
    TW_CYCLES_ARBITER = 1          /* more for a packet [EMU] */
};
enum tw_stream_words {
    TW_WORDS_SLAVE = 4,
    TW_WORDS_LOCAL = 2,
    TW_WORDS_EXTERNAL = 4,
    TW_WORDS_FIFO = 16, /* a switch's FIFO port */
    TW_WORDS_S2MM = 16, /* a DMA's ingress [EMU] */
    TW_WORDS_MM2S = 12, /* a DMA's egress [EMU] */
    TW_TOKENS = 128     /* tokens that wait at a tile's control port; more than 8 are proven [EMU] */
};

/*
 * What control code costs the array's firmware [EMU]. Each operation of whatever kind was measured as 112 more until
 * the first DMA, and writes one after another as below: two measurements of one cost, so that 112 is what operations
 * cost that have not been measured by themselves.
 */
enum tw_firmware_cycles {
    TW_CYCLES_LAUNCH = 30000, /* from the command to the first op */
    TW_CYCLES_NOOP = 112,
    TW_CYCLES_WRITE = 100,
    TW_CYCLES_MASK_WRITE = 210,
    TW_CYCLES_BLOCK_WRITE = 100, /* and for each word: */
    TW_CYCLES_BLOCK_WRITE_WORD = 13,
    TW_CYCLES_PATCH = 100,
    TW_CYCLES_WAIT = 1,
    TW_CYCLES_FIRST_WAIT = 8000,
    /* Between two writes to one channel's task queue: MM2S min(FIRST + STEP * i, MAX), S2MM always MAX. */
    TW_CYCLES_QUEUE_FIRST = 1086,
    TW_CYCLES_QUEUE_STEP = 1964,
    TW_CYCLES_QUEUE_MAX = 3050,
    TW_CYCLES_QUEUE_BUSY = 520 /* instead, while the channel still has tasks */
};

/* Host time, reported apart; nanoseconds, of published runs on Phoenix and Hawk Point. */
enum tw_host_time {
    TW_NS_COMMAND = 110000, /* a synchronous command */
    TW_NS_PDI_LOAD = 1400000
};

#endif
