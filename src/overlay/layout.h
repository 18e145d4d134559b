/*
 * What the overlay's core program and the rest of the overlay agree on: how a core's memory and locks are divided, what
 * a block is, and what a job's header says. docs/overlay.md draws the whole.
 */
#ifndef TW_OVERLAY_LAYOUT_H
#define TW_OVERLAY_LAYOUT_H

#include <stdint.h>

enum tw_overlay_array {
    TW_OVERLAY_COLUMNS = 4,
    TW_OVERLAY_ROWS = 4, /* of cores */
    TW_OVERLAY_CORES = TW_OVERLAY_COLUMNS * TW_OVERLAY_ROWS
};

/* Blocks of a product: m rows and n columns of C in each core, multiples of UNIT up to MAX; a step is DEPTH deep. */
enum tw_overlay_block { TW_OVERLAY_UNIT = 16, TW_OVERLAY_MAX = 96, TW_OVERLAY_DEPTH = 32 };

/* Bytes of one number of a block over a whole step: a block of A has m times as many, one of B n times. */
enum tw_overlay_bytes { TW_OVERLAY_STEP_BYTES = 2 * TW_OVERLAY_DEPTH };

/* A core's own memory: first C, then the buffers. TW_OVERLAY_CORE_OWN is where the core itself sees it. */
enum tw_overlay_core_memory {
    TW_OVERLAY_CORE_OWN = 0x70000,
    TW_OVERLAY_CORE_BANK = 0x4000,
    TW_OVERLAY_CORE_A0 = 0x9000,
    TW_OVERLAY_CORE_A1 = 0xa800,
    TW_OVERLAY_CORE_B0 = 0xc000,
    TW_OVERLAY_CORE_B1 = 0xd800
};

enum tw_overlay_core_lock {
    TW_OVERLAY_A_EMPTY,
    TW_OVERLAY_A_FULL,
    TW_OVERLAY_B_EMPTY,
    TW_OVERLAY_B_FULL,
    TW_OVERLAY_C_EMPTY,
    TW_OVERLAY_C_FULL
};

/*
 * Where a block of C begins: its halves lie in two banks, so that the core can read one while it writes the other. They
 * meet where the first bank ends, but for blocks that need more than two.
 */
static inline uint32_t tw_overlay_core_c(uint32_t m, uint32_t n)
{
    const uint32_t half = 2 * m * n;
    return half < TW_OVERLAY_CORE_BANK ? TW_OVERLAY_CORE_BANK - half : 0;
}

/* The header, in words: it comes in place of the first block of B. */
enum tw_overlay_header {
    TW_OVERLAY_HEADER_STEPS,
    TW_OVERLAY_HEADER_FLAGS,
    TW_OVERLAY_HEADER_M,         /* in units */
    TW_OVERLAY_HEADER_N,         /* in units */
    TW_OVERLAY_HEADER_C,         /* the address of C as the core sees it */
    TW_OVERLAY_HEADER_BIAS = 16, /* fp32, n of them */
};

enum tw_overlay_flag {
    TW_OVERLAY_ADD_BIAS = 1,
    TW_OVERLAY_GELU = 2,
    TW_OVERLAY_BF16 = 4, /* C is rounded to bf16 */
    TW_OVERLAY_TRANSPOSED = 8
};

#endif
