/* Which table of vector functions this processor runs. */
#include "tables.h"

#include <stddef.h>

const struct tw_vector_kernels *tw_vector_kernels_of(enum tw_kernel_set set, int denormals_are_zero)
{
    return set == TW_KERNELS_C ? &tw_vector_kernels_c[denormals_are_zero != 0] : NULL;
}

const struct tw_vector_kernels *tw_vector_kernels_best(int denormals_are_zero)
{
    for (int set = TW_KERNEL_SETS - 1; set > TW_KERNELS_C; set--) {
        const struct tw_vector_kernels *kernels = tw_vector_kernels_of((enum tw_kernel_set)set, denormals_are_zero);
        if (kernels != NULL)
            return kernels;
    }
    return tw_vector_kernels_of(TW_KERNELS_C, denormals_are_zero);
}
