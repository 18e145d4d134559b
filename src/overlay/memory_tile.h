/* How a memory tile's 512 KiB are divided: the ring of A, B, and the finished blocks of C. */
#ifndef TW_OVERLAY_MEMORY_TILE_H
#define TW_OVERLAY_MEMORY_TILE_H

#include "npu1/tile.h"
#include "overlay/layout.h"
#include "overlay/shape.h"

/* Bytes. */
static inline uint32_t memory_chunk_bytes(const struct tw_overlay_shape *s)
{
    return 2 * s->m * s->chunk;
}
static inline uint32_t memory_block_c_bytes(const struct tw_overlay_shape *s)
{
    return (s->size.bf16_out ? 2 : 4) * s->m * s->n;
}
static inline uint32_t memory_block_b_bytes(const struct tw_overlay_shape *s)
{
    return TW_OVERLAY_STEP_BYTES * s->n;
}

/* Where they begin: A is a ring of two chunks, C one block of each core, B the rest. */
static inline uint32_t memory_c_at(const struct tw_overlay_shape *s)
{
    return 2 * memory_chunk_bytes(s);
}
static inline uint32_t memory_b_at(const struct tw_overlay_shape *s)
{
    return memory_c_at(s) + TW_OVERLAY_ROWS * memory_block_c_bytes(s);
}
static inline uint32_t memory_b_room(const struct tw_overlay_shape *s)
{
    return TW_MEMORY_TILE_BYTES - memory_b_at(s);
}

#endif
