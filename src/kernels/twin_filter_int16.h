/* What filter_int16.s computes, in plain C. */
#ifndef TW_KERNELS_TWIN_FILTER_INT16_H
#define TW_KERNELS_TWIN_FILTER_INT16_H

#include <stdint.h>

#define TW_FILTER_TAPS 4
#define TW_FILTER_BLOCK 16 /* results of one step */

/*
 * out[i] = (taps[0] * in[i] + ... + taps[3] * in[i + 3]) / 2^shift, rounded to nearest (what lies half-way: up) and
 * kept within 16 bits. blocks * 16 results; three numbers more are read. shift: 0 to 31.
 */
void tw_twin_filter_int16(const int16_t *in, const int16_t taps[TW_FILTER_TAPS], int16_t *out, uint32_t blocks,
                          unsigned shift);

#endif
