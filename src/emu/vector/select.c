/* Which table of vector functions this processor runs. */
#include "tables.h"

#include "base/processor.h"

#include <stddef.h>

const struct tw_vector_kernels *tw_vector_kernels_of(enum tw_kernel_set set, int denormals_are_zero)
{
    const unsigned flushes = denormals_are_zero != 0;
#if defined(TW_X86)
    const unsigned features = tw_processor_features();
    if (set == TW_KERNELS_AVX512)
        return features & TW_PROCESSOR_AVX512 ? &tw_vector_kernels_avx512[flushes] : NULL;
    if (set == TW_KERNELS_AVX2)
        return features & TW_PROCESSOR_AVX2 ? &tw_vector_kernels_avx2[flushes] : NULL;
#endif
    return set == TW_KERNELS_C ? &tw_vector_kernels_c[flushes] : NULL;
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
