/* Checksums with AVX-512. */
#define LANES 8
#include "host/sum_vector.h"

const struct tw_sum_kernels tw_sum_kernels_avx512 = {.name = "avx512", .add = add};
