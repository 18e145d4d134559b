/* GELU as the job program has it (job_gelu.s), one lane, bit for bit. */
#ifndef TW_KERNELS_TWIN_GELU_H
#define TW_KERNELS_TWIN_GELU_H

#include <stdint.h>

/* fp32 pattern to fp32 pattern: x (1 + erf(x / sqrt 2)) / 2. What is infinite comes out as not a number. */
uint32_t tw_twin_gelu(uint32_t x);

/* It is off the true one by at most this times |x| Q(|x|), Q(u) the part of the normal distribution above u, and 2^-32
 * |x|. */
#define TW_GELU_ERROR 0x1p-7F

#endif
