#include "overlay/pack.h"

#include "base/half.h"
#include "base/little_endian.h"

#include <string.h>

/* Tiles of B are 8 deep and 4 wide, row-major. */
enum tile { TILE_DEPTH = 8, TILE_WIDTH = 4 };

static uint64_t blocks_wide(const struct tw_overlay_shape *s)
{
    return (uint64_t)s->column_panels * TW_OVERLAY_COLUMNS;
}

uint64_t tw_overlay_packed_bytes(const struct tw_overlay_shape *s)
{
    return blocks_wide(s) * s->steps * s->n * TW_OVERLAY_STEP_BYTES;
}

uint64_t tw_overlay_header_bytes(const struct tw_overlay_shape *s)
{
    return blocks_wide(s) * s->n * TW_OVERLAY_STEP_BYTES;
}

static void pack_tile(const struct tw_overlay_shape *s, const struct tw_overlay_matrix *b, uint64_t k0, uint64_t j0,
                      uint16_t *to)
{
    for (uint64_t k = k0; k < k0 + TILE_DEPTH; k++)
        for (uint64_t j = j0; j < j0 + TILE_WIDTH; j++) {
            const int is_inside = k < s->size.depth && j < s->size.columns;
            *to++ = is_inside ? b->numbers[k * b->row_step + j * b->column_step] : 0;
        }
}

void tw_overlay_pack_b(const struct tw_overlay_shape *s, const struct tw_overlay_matrix *b, uint16_t *to)
{
    for (uint64_t wide = 0; wide < blocks_wide(s); wide++)
        for (uint64_t k = 0; k < tw_overlay_depth(s); k += TILE_DEPTH)
            for (uint64_t j = wide * s->n; j < (wide + 1) * s->n; j += TILE_WIDTH) {
                pack_tile(s, b, k, j, to);
                to += TILE_DEPTH * TILE_WIDTH;
            }
}

/*
 * Where the header has word i so that it is word i after the memory tile has put it in order as it does with blocks of
 * B (path.c).
 */
static uint32_t header_place(const struct tw_overlay_shape *s, uint32_t i)
{
    const uint32_t step = i / (4 * s->n), rest = i % (4 * s->n); /* 8 of k */

    if (s->size.order == TW_OVERLAY_BY_ROWS)
        return (step * 8 + rest % 16 / 2) * (s->n / 2) + rest / 16 * 2 + rest % 2;
    if (s->size.order == TW_OVERLAY_BY_COLUMNS && s->kept == 0)
        return rest / 4 * 16 + step * 4 + rest % 4;
    return i;
}

static void put_word(const struct tw_overlay_shape *s, unsigned char *header, uint32_t i, uint32_t value)
{
    tw_store_u32(header + 4 * (size_t)header_place(s, i), value);
}

/* Blocks of the addend that a core of column c lets pass. */
static void put_passing(const struct tw_overlay_shape *s, unsigned char *header, uint32_t c)
{
    const uint32_t own = tw_overlay_addend_blocks(s) / TW_OVERLAY_COLUMNS;
    put_word(s, header, TW_JOB_BEFORE, c * own);
    put_word(s, header, TW_JOB_BEHIND, (TW_OVERLAY_COLUMNS - 1 - c) * own);
}

void tw_overlay_write_headers(const struct tw_overlay_shape *s, unsigned flags, const float *bias, unsigned char *to)
{
    const uint32_t block = s->n * TW_OVERLAY_STEP_BYTES;
    if (bias != NULL)
        flags |= TW_JOB_ADD_BIAS;
    if (s->size.bf16_out)
        flags |= TW_JOB_BF16;
    if (s->size.order == TW_OVERLAY_BY_COLUMNS)
        flags |= TW_JOB_TRANSPOSED;
    if (s->size.addend)
        flags |= TW_JOB_ADDEND;
    for (uint64_t wide = 0; wide < blocks_wide(s); wide++, to += block) {
        memset(to, 0, block);
        put_word(s, to, TW_JOB_STEPS, s->steps);
        put_word(s, to, TW_JOB_FLAGS, flags);
        put_word(s, to, TW_JOB_M, s->m / TW_JOB_UNIT);
        put_word(s, to, TW_JOB_N, s->n / TW_JOB_UNIT);
        put_word(s, to, TW_JOB_C, TW_JOB_DATA + tw_job_c_offset(s->m, s->n));
        if (s->size.addend)
            put_passing(s, to, (uint32_t)(wide % TW_OVERLAY_COLUMNS));
        for (uint32_t j = 0; bias != NULL && j < s->n && wide * s->n + j < s->size.columns; j++)
            put_word(s, to, TW_JOB_BIAS + j, tw_float_bits(bias[wide * s->n + j]));
    }
}
