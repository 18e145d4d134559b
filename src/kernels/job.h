/*
 * What the program in each core of the overlay (job_*.s) and those who feed it agree on: how a core's memory and locks
 * are divided, what blocks look like, and what a job's header says.
 *
 * A job makes one block of C, m x n numbers, from `steps` pairs of blocks of A and B, each 32 deep. In core memory:
 *
 *     A  bf16  [k / 8: 4][row / 4][row % 4][k % 8]
 *     B  bf16  [k / 8: 4][column / 4][k % 8][column % 4]
 *              with TW_JOB_TRANSPOSED [k / 8: 4][column / 4][column % 4][k % 8]
 *     C  fp32 or bf16  [row / 4][column / 4][row % 4][column % 4]
 *
 * The first block that comes in place of one of B is the job's header; as long as a block of B, rest unused. If the job
 * adds a matrix D to C, blocks of D follow those of A, in their buffers: fp32, 16 columns each,
 *
 *     D  [column / 4: 4][row / 4][row % 4][column % 4]
 *
 * first those of cores before, then n / 16 of this core, then those of cores behind.
 */
#ifndef TW_KERNELS_JOB_H
#define TW_KERNELS_JOB_H

#include <stdint.h>

/* m and n are multiples of UNIT up to MAX. */
enum tw_job_shape { TW_JOB_UNIT = 16, TW_JOB_MAX = 96, TW_JOB_DEPTH = 32, TW_JOB_TILE = 4, TW_JOB_TILE_DEPTH = 8 };

/*
 * A core's own memory, 64 KiB. The buffers of A and of B take turns for ever, headers included; the first after a reset
 * of the core are A0 and B0. C's place depends on the job: tw_job_c_offset.
 */
enum tw_job_memory {
    TW_JOB_DATA = 0x70000, /* where the core sees it */
    TW_JOB_C_END = 0x9000,
    TW_JOB_A0 = 0x9000,
    TW_JOB_A1 = 0xa800,
    TW_JOB_B0 = 0xc000,
    TW_JOB_B1 = 0xd800,
    TW_JOB_SCRATCH = 0xf000 /* the program's own, to the end */
};

/* Locks of the core's tile, with their values before the first job: two buffers of A and B, one of C are free. */
enum tw_job_lock {
    TW_JOB_A_EMPTY, /* 2 */
    TW_JOB_A_FULL,  /* 0 */
    TW_JOB_B_EMPTY, /* 2 */
    TW_JOB_B_FULL,  /* 0 */
    TW_JOB_C_EMPTY, /* 1 */
    TW_JOB_C_FULL   /* 0 */
};

/* The header, in words of 32 bits. */
enum tw_job_header {
    TW_JOB_STEPS, /* blocks of A and of B that follow, at least 1 */
    TW_JOB_FLAGS,
    TW_JOB_M,        /* m / UNIT */
    TW_JOB_N,        /* n / UNIT */
    TW_JOB_C,        /* TW_JOB_DATA + tw_job_c_offset(m, n) */
    TW_JOB_BEFORE,   /* blocks of D that the core lets pass before its own; 0 without TW_JOB_ADDEND */
    TW_JOB_BEHIND,   /* ... and behind them */
    TW_JOB_BIAS = 16 /* n numbers, fp32; only with TW_JOB_ADD_BIAS */
};

enum tw_job_flag {
    TW_JOB_ADD_BIAS = 1,
    TW_JOB_GELU = 2,
    TW_JOB_BF16 = 4,       /* C is rounded to bf16, to nearest even, and packed from its beginning */
    TW_JOB_TRANSPOSED = 8, /* tiles of B hold columns */
    TW_JOB_ADDEND = 16     /* D is added after bias and GELU */
};

/*
 * Where C begins. Its upper and lower half of the rows lie in different banks (16 KiB each), the first in bank 0, so
 * that the product never asks a bank for two accesses at once; where the second half reaches into the bank of A, the
 * program keeps them apart.
 */
static inline uint32_t tw_job_c_offset(uint32_t m, uint32_t n)
{
    const uint32_t bank = 0x4000, half = 2 * m * n;
    return half < bank ? bank - half : 0;
}

#endif
