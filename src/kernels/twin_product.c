#include "kernels/twin_product.h"

#include "kernels/twin_float.h"

enum {
    TILE_ROWS = 4,
    TILE_DEPTH = 8,
    GROUP_ROWS = 2,     /* tiles */
    GROUP_COLUMNS = 16, /* numbers: 4 tiles of 4, or 2 of 8 */
    ROW_GROUPS = TW_PRODUCT_SIZE / (GROUP_ROWS * TILE_ROWS),
    STEPS = TW_PRODUCT_SIZE / TILE_DEPTH
};

/* ---- layouts */

unsigned tw_product_place_a(unsigned row, unsigned k)
{
    unsigned group = row / (GROUP_ROWS * TILE_ROWS), tile = row / TILE_ROWS % GROUP_ROWS;
    unsigned tiles = (group * STEPS + k / TILE_DEPTH) * GROUP_ROWS + tile;

    return (tiles * TILE_ROWS + row % TILE_ROWS) * TILE_DEPTH + k % TILE_DEPTH;
}

unsigned tw_product_place_b(unsigned k, unsigned column, unsigned tile_columns, int *last)
{
    unsigned width = GROUP_COLUMNS / tile_columns, half = TILE_DEPTH / 2;
    unsigned group = column / GROUP_COLUMNS, tile = column % GROUP_COLUMNS / width;
    unsigned pieces = (group * STEPS + k / TILE_DEPTH) * tile_columns + tile;

    *last = k % TILE_DEPTH >= half;
    return (pieces * half + k % half) * width + column % width;
}

unsigned tw_product_place_c(unsigned row, unsigned column, unsigned tile_columns)
{
    unsigned width = GROUP_COLUMNS / tile_columns;
    unsigned group = column / GROUP_COLUMNS * ROW_GROUPS + row / (GROUP_ROWS * TILE_ROWS);
    unsigned tile = column % GROUP_COLUMNS / width * GROUP_ROWS + row / TILE_ROWS % GROUP_ROWS;

    return ((group * tile_columns * GROUP_ROWS + tile) * TILE_ROWS + row % TILE_ROWS) * width + column % width;
}

/* ---- bf16 */

void tw_twin_product_bf16(const uint16_t *a, const uint16_t *b_first, const uint16_t *b_last, uint32_t *c)
{
    for (unsigned row = 0; row < TW_PRODUCT_SIZE; row++)
        for (unsigned column = 0; column < TW_PRODUCT_SIZE; column++) {
            uint32_t *sum = &c[tw_product_place_c(row, column, 4)];
            for (unsigned step = 0; step < STEPS; step++) {
                uint16_t x[TW_TWIN_PAIRS], y[TW_TWIN_PAIRS];
                for (unsigned i = 0; i < TILE_DEPTH; i++) {
                    unsigned k = step * TILE_DEPTH + i;
                    int last;
                    unsigned place = tw_product_place_b(k, column, 4, &last);
                    x[i] = a[tw_product_place_a(row, k)];
                    y[i] = (last ? b_last : b_first)[place];
                }
                *sum = tw_twin_mac_bf16(*sum, x, y);
            }
        }
}

/* ---- int8 */

void tw_twin_product_int8(const int8_t *a, const int8_t *b_first, const int8_t *b_last, uint32_t *c)
{
    for (unsigned row = 0; row < TW_PRODUCT_SIZE; row++)
        for (unsigned column = 0; column < TW_PRODUCT_SIZE; column++) {
            uint32_t *sum = &c[tw_product_place_c(row, column, 2)];
            for (unsigned k = 0; k < TW_PRODUCT_SIZE; k++) {
                int last;
                unsigned place = tw_product_place_b(k, column, 2, &last);
                *sum += (uint32_t)(a[tw_product_place_a(row, k)] * (last ? b_last : b_first)[place]);
            }
        }
}
