/* Checksums with AVX2 and FMA. */
#define LANES 4
#include "host/sum_vector.h"

const struct tw_sum_kernels tw_sum_kernels_avx2 = {.name = "avx2", .add = add};
