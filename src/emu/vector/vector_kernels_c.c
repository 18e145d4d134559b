/* The table of the definitions. */
#include "plain.h"
#include "tables.h"

#define TABLE(zero)                                                                                                    \
    {                                                                                                                  \
        .name = "C", .denormals_are_zero = zero, .bf16_matrix = tw_plain_bf16_matrix,                                  \
        .bf16_elements = tw_plain_bf16_elements, .fp32_add = tw_plain_fp32_add, .products = tw_plain_products,         \
        .accumulate = tw_plain_accumulate, .srs = tw_plain_srs, .ups = tw_plain_ups, .pack = tw_plain_pack,            \
        .unpack = tw_plain_unpack, .shuffle = tw_plain_shuffle, .bf16_to_fp32 = tw_plain_bf16_to_fp32,                 \
        .fp32_to_bf16 = tw_plain_fp32_to_bf16, .lanes = tw_plain_lanes, .less = tw_plain_less,                         \
        .select = tw_plain_select,                                                                                     \
    }

const struct tw_vector_kernels tw_vector_kernels_c[2] = {TABLE(0), TABLE(1)};
