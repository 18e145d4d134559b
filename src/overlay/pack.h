/* What the host puts into device-visible buffers for a product: B in the order of its stream, and the jobs' headers. */
#ifndef TW_OVERLAY_PACK_H
#define TW_OVERLAY_PACK_H

#include "overlay/layout.h"
#include "overlay/shape.h"

/* Bytes of the packed B and of the headers. */
uint64_t tw_overlay_packed_bytes(const struct tw_overlay_shape *shape);
uint64_t tw_overlay_header_bytes(const struct tw_overlay_shape *shape);

/* bf16 numbers: number (k, j) of B is at numbers[k * row_step + j * column_step]. */
struct tw_overlay_matrix {
    const uint16_t *numbers;
    uint64_t row_step, column_step;
};

/* Packs B into `to`, tw_overlay_packed_bytes long; what lies beyond the product is zero. */
void tw_overlay_pack_b(const struct tw_overlay_shape *shape, const struct tw_overlay_matrix *b, uint16_t *to);

/*
 * Writes the headers, one for each core column of each column panel, into `to`, tw_overlay_header_bytes long. flags: of
 * TW_JOB_GELU; bias: fp32, as many as the product has columns, or NULL.
 */
void tw_overlay_write_headers(const struct tw_overlay_shape *shape, unsigned flags, const float *bias,
                              unsigned char *to);

#endif
