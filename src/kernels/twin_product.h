/*
 * What the product kernels compute, in plain C: the same numbers bit for bit, over the same memory layouts. The
 * kernels' sources (product_bf16.s, product_int8.s) describe the layouts.
 */
#ifndef TW_KERNELS_TWIN_PRODUCT_H
#define TW_KERNELS_TWIN_PRODUCT_H

#include <stdint.h>

#define TW_PRODUCT_SIZE 64 /* rows, columns and depth of a block */

/*
 * C += A * B. a: 4,096 numbers; b_first, b_last: 2,048 each; c: 4,096, fp32 patterns (bf16) or numbers modulo 2^32
 * (int8).
 */
void tw_twin_product_bf16(const uint16_t *a, const uint16_t *b_first, const uint16_t *b_last, uint32_t *c);
void tw_twin_product_int8(const int8_t *a, const int8_t *b_first, const int8_t *b_last, uint32_t *c);

/*
 * Where a number of a block lies in those layouts. tile_columns is the width of a group of C in tiles: 4 in the bf16
 * kernel, whose tiles have 4 columns, 2 in the int8 kernel, whose tiles have 8. For B: the place in b_first, or in
 * b_last with *last = 1.
 */
unsigned tw_product_place_a(unsigned row, unsigned k);
unsigned tw_product_place_b(unsigned k, unsigned column, unsigned tile_columns, int *last);
unsigned tw_product_place_c(unsigned row, unsigned column, unsigned tile_columns);

#endif
