/*
 * The inner loops of packing, one table of them for each instruction set. All write the same bits: floats are rounded
 * to the nearest even bf16, and a bf16 is copied. Addresses of numbers may be any.
 */
#ifndef TW_HOST_PACK_KERNELS_H
#define TW_HOST_PACK_KERNELS_H

#include "graph/type.h"

/* A tile: 8 of the depth x 4 columns of bf16. A step has four groups of 8 of the depth. */
enum tw_pack_tile { TW_PACK_DEPTH = 8, TW_PACK_WIDTH = 4, TW_PACK_TILE_BYTES = 64, TW_PACK_GROUPS = 4 };

struct tw_pack_kernels {
    /*
     * Four columns of B that lie as rows of f32, f16 or bf16: 8 * groups numbers of each become the tiles at to,
     * to + stride, ...; groups is a multiple of TW_PACK_GROUPS.
     */
    void (*columns)(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], int64_t groups,
                    unsigned char *to, size_t stride);

    /* Eight rows of B: 4 * tiles numbers of each become tiles that lie side by side. */
    void (*rows)(enum tw_type type, const unsigned char *const rows[TW_PACK_DEPTH], int64_t tiles, unsigned char *to);

    /* To be called by each thread after the last of its calls, before others read what they wrote. */
    void (*settle)(void);
};

extern const struct tw_pack_kernels tw_pack_kernels_c;
extern const struct tw_pack_kernels tw_pack_kernels_avx2;
extern const struct tw_pack_kernels tw_pack_kernels_avx512;

#endif
