/*
 * Packed operands of the blocked product. A panel holds `width` rows (or columns) of a matrix side by side for a run of
 * the summed dimension: panel[p * width + i]. The register tile reads two panels from front to back and nothing else.
 */
#ifndef TW_HOST_PANEL_H
#define TW_HOST_PANEL_H

#include "host/executor.h"

/* Floats that packing a panel needs as spare memory. */
#define TW_PANEL_SPARE (TW_TRANSPOSE_ROWS * TW_CHUNK)

/*
 * The summed dimension of length k in runs of nearly equal length, at most TW_CHUNK and a multiple of every stored
 * type's block but for the last. The same for all who multiply, so that results do not depend on who does.
 */
int64_t tw_chunk_length(int64_t k);

/* Numbers [from, from + n) of `count` rows from row `first`, n <= TW_CHUNK, as a panel; missing rows become zeros. */
void tw_pack_rows(const struct tw_kernels *k, const struct tw_operand *x, int64_t first, int64_t count, int64_t from,
                  int64_t n, int width, float *panel, float *spare);

/*
 * The same of a matrix whose rows run along the summed dimension: columns [first, first + count) of n rows, as one
 * panel after the other. Not for quantised types.
 */
void tw_pack_cols(const struct tw_kernels *k, const struct tw_operand *x, int64_t first, int64_t count, int64_t from,
                  int64_t n, int width, float *panels, float *spare);

#endif
