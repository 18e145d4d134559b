/* Number formats of tensors. Quantised ones are stored in blocks along a row, in ggml's layouts. */
#ifndef TW_GRAPH_TYPE_H
#define TW_GRAPH_TYPE_H

#include "tilewright.h"

#include <stddef.h>
#include <stdint.h>

struct tw_type_info {
    const char *name;
    unsigned block; /* numbers per block */
    unsigned bytes; /* bytes per block */
};

/* NULL for a type outside the table. */
const struct tw_type_info *tw_type_info(enum tw_type type);

/* Bytes of a row of n numbers; 0 when n is no multiple of the block. */
size_t tw_row_bytes(enum tw_type type, int64_t n);

/*
 * n numbers of a row in format `type` at src (any alignment) to doubles or floats; n is a multiple of the block. The
 * float form is exact up to one rounding. These define what a stored weight is worth; not for TW_I32.
 */
void tw_row_to_f32(enum tw_type type, const void *src, float *dst, int64_t n);

/* Rounds n floats to F32, F16 or BF16 (nearest even), or quantises to Q5_0 / Q8_0 as ggml's reference does. */
void tw_row_from_f32(enum tw_type type, const float *src, void *dst, int64_t n);

#endif
