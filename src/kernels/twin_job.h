/* What the job program (job.h, job_loop.s) computes, in plain C: the same numbers bit for bit, over the same layouts.
 */
#ifndef TW_KERNELS_TWIN_JOB_H
#define TW_KERNELS_TWIN_JOB_H

#include "kernels/job.h"

/*
 * One job. header: its words, as many as it needs; a: steps blocks of A one after another (32 m numbers each), b: of B
 * (32 n). With TW_JOB_ADDEND all blocks of D follow those of A, 16 m numbers of fp32 each. c: m n numbers of fp32, or
 * of bf16 in the first half of that, in the layout of a block.
 */
void tw_twin_job(const uint32_t *header, const uint16_t *a, const uint16_t *b, void *c);

/* Where numbers of a block lie, counted in numbers; n for B and C in columns. */
static inline uint32_t tw_job_place_a(uint32_t row, uint32_t k, uint32_t m)
{
    return ((k / TW_JOB_TILE_DEPTH * (m / TW_JOB_TILE) + row / TW_JOB_TILE) * TW_JOB_TILE + row % TW_JOB_TILE) *
               TW_JOB_TILE_DEPTH +
           k % TW_JOB_TILE_DEPTH;
}

static inline uint32_t tw_job_place_b(uint32_t k, uint32_t column, uint32_t n, int transposed)
{
    uint32_t tile =
        (k / TW_JOB_TILE_DEPTH * (n / TW_JOB_TILE) + column / TW_JOB_TILE) * TW_JOB_TILE * TW_JOB_TILE_DEPTH;

    k %= TW_JOB_TILE_DEPTH;
    column %= TW_JOB_TILE;
    return tile + (transposed ? column * TW_JOB_TILE_DEPTH + k : k * TW_JOB_TILE + column);
}

/* In the core's own blocks of D, one after another. */
static inline uint32_t tw_job_place_d(uint32_t row, uint32_t column, uint32_t m)
{
    return ((column / TW_JOB_TILE * (m / TW_JOB_TILE) + row / TW_JOB_TILE) * TW_JOB_TILE + row % TW_JOB_TILE) *
               TW_JOB_TILE +
           column % TW_JOB_TILE;
}

static inline uint32_t tw_job_place_c(uint32_t row, uint32_t column, uint32_t n)
{
    return ((row / TW_JOB_TILE * (n / TW_JOB_TILE) + column / TW_JOB_TILE) * TW_JOB_TILE + row % TW_JOB_TILE) *
               TW_JOB_TILE +
           column % TW_JOB_TILE;
}

#endif
