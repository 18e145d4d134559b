/* What softmax_row.s computes, in plain C, bit for bit. */
#ifndef TW_KERNELS_TWIN_SOFTMAX_ROW_H
#define TW_KERNELS_TWIN_SOFTMAX_ROW_H

#include <stdint.h>

#define TW_SOFTMAX_BLOCK 32 /* numbers of one step */

/*
 * out[i] = exp(in[i] - greatest) / sum, for blocks * 32 bf16 patterns; out does not overlap in. Of numbers from -1,024
 * to 1,024 (and minus infinity, but not all of them) each result is within 2^-6 of the true one, relative to it, or
 * both are less than 2^-86.
 */
void tw_twin_softmax_row(const uint16_t *in, uint16_t *out, uint32_t blocks);

#endif
