/* Packing in plain C: the right answer. */
#include "host/pack_kernels.h"

#include "base/half.h"
#include "base/little_endian.h"

#include <string.h>

/* Without the branches of tw_f32_to_bf16, so that compilers can make vectors of it. */
static uint16_t rounded(uint32_t bits)
{
    const uint32_t sum = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : sum);
}

/* n numbers, at most TW_PACK_DEPTH, as bf16. */
static void convert(enum tw_type type, const unsigned char *from, int n, uint16_t *to)
{
    if (type == TW_BF16) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    uint32_t bits[TW_PACK_DEPTH];
    if (type == TW_F32)
        memcpy(bits, from, (size_t)n * sizeof *bits);
    else
        for (int i = 0; i < n; i++)
            bits[i] = tw_float_bits(tw_f16_to_f32(tw_load_u16(from + 2 * i)));
    for (int i = 0; i < n; i++)
        to[i] = rounded(bits[i]);
}

static void columns(enum tw_type type, const unsigned char *const rows[TW_PACK_WIDTH], int64_t groups,
                    unsigned char *to, size_t stride)
{
    const size_t bytes = TW_PACK_DEPTH * (size_t)tw_type_info(type)->bytes;
    for (int64_t g = 0; g < groups; g++, to += stride) {
        uint16_t column[TW_PACK_WIDTH][TW_PACK_DEPTH], tile[TW_PACK_DEPTH][TW_PACK_WIDTH];
        for (int j = 0; j < TW_PACK_WIDTH; j++)
            convert(type, rows[j] + (size_t)g * bytes, TW_PACK_DEPTH, column[j]);
        for (int k = 0; k < TW_PACK_DEPTH; k++)
            for (int j = 0; j < TW_PACK_WIDTH; j++)
                tile[k][j] = column[j][k];
        memcpy(to, tile, sizeof tile);
    }
}

static void rows(enum tw_type type, const unsigned char *const from[TW_PACK_DEPTH], int64_t tiles, unsigned char *to)
{
    const size_t bytes = TW_PACK_WIDTH * (size_t)tw_type_info(type)->bytes;
    for (int64_t t = 0; t < tiles; t++, to += TW_PACK_TILE_BYTES) {
        uint16_t tile[TW_PACK_DEPTH][TW_PACK_WIDTH];
        for (int k = 0; k < TW_PACK_DEPTH; k++)
            convert(type, from[k] + (size_t)t * bytes, TW_PACK_WIDTH, tile[k]);
        memcpy(to, tile, sizeof tile);
    }
}

static void settle(void)
{
}

const struct tw_pack_kernels tw_pack_kernels_c = {.columns = columns, .rows = rows, .settle = settle};
