/*
 * B of a product in the order in which the array's overlay streams it: weights are put into this form once. It is bf16,
 * cut into blocks of `block_columns` columns; a block is a run of steps of 32 of the depth, a step four groups of 8 of
 * the depth, a group tiles of 8 (depth) x 4 (columns) numbers, each tile row by row.
 */
#ifndef TW_HOST_PACK_H
#define TW_HOST_PACK_H

#include "host/host.h"

struct tw_pack {
    enum tw_type type;
    const void *data;       /* any alignment */
    size_t row_stride;      /* bytes from row to row, any */
    int b_rows;             /* 0: n rows of k numbers, of any type but i32; 1: k rows of n, f32, f16 or bf16 */
    int64_t k, n;           /* depth and columns of B, at least 1 */
    uint32_t block_columns; /* a multiple of 4 */
    uint32_t steps;         /* 32 * steps >= k */
    uint32_t blocks;        /* blocks * block_columns >= n */
};

/* Bytes of the packed form: blocks * steps * block_columns * 64; 0 when that is more than memory can have. */
size_t tw_pack_bytes(const struct tw_pack *p);

/*
 * Packs B into `to`, tw_pack_bytes long and apart from data, on all threads of host, which does one thing at a time;
 * fastest when `to` is a multiple of 64. Numbers are rounded to the nearest even bf16 (NaN stays NaN), and what lies
 * beyond k and n is zero. Fails with TW_E_ARGUMENT or TW_E_SHAPE for a description that breaks the rules above, before
 * anything is written, and with TW_E_MEMORY.
 */
int tw_host_pack(struct tw_host *host, const struct tw_pack *p, void *to, struct tw_error *err);

#endif
