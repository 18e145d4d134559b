/* Packing in plain C: the right answer. */
#include "host/pack_kernels.h"

#include "base/half.h"
#include "base/little_endian.h"

#include <string.h>

static uint16_t number(enum tw_type type, const unsigned char *p)
{
    if (type == TW_BF16)
        return tw_load_u16(p);
    if (type == TW_F16)
        return tw_f32_to_bf16(tw_f16_to_f32(tw_load_u16(p)));
    float x;
    memcpy(&x, p, sizeof x);
    return tw_f32_to_bf16(x);
}

static void columns(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], int64_t groups,
                    unsigned char *to, size_t stride)
{
    const size_t bytes = tw_type_info(type)->bytes;
    size_t at = 0;
    for (int64_t g = 0; g < groups; g++, to += stride)
        for (int k = 0; k < TW_PACK_DEPTH; k++, at += bytes)
            for (int j = 0; j < TW_PACK_WIDTH; j++)
                tw_store_u16(to + 2 * (k * TW_PACK_WIDTH + j), number(type, rows[j] + at));
}

static void rows(enum tw_type type, const unsigned char *const from[TW_PACK_DEPTH], int64_t tiles, unsigned char *to)
{
    const size_t bytes = tw_type_info(type)->bytes;
    size_t at = 0;
    for (int64_t t = 0; t < tiles; t++, to += TW_PACK_TILE_BYTES)
        for (int j = 0; j < TW_PACK_WIDTH; j++, at += bytes)
            for (int k = 0; k < TW_PACK_DEPTH; k++)
                tw_store_u16(to + 2 * (k * TW_PACK_WIDTH + j), number(type, from[k] + at));
}

static void settle(void)
{
}

const struct tw_pack_kernels tw_pack_kernels_c = {.name = "c", .columns = columns, .rows = rows, .settle = settle};
