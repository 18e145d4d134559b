/* Which tables of kernels this processor can run. */
#include "host/kernels.h"

#include "base/processor.h"

#include <string.h>

const struct tw_kernels *tw_kernels_at(unsigned i)
{
    const struct tw_kernels *here[4];
    unsigned n = 0;
#if defined(TW_X86)
    unsigned found = tw_processor_features();
    if (found & TW_PROCESSOR_AVX512)
        here[n++] = &tw_kernels_avx512;
    if (found & TW_PROCESSOR_AVX2)
        here[n++] = &tw_kernels_avx2;
#endif
    here[n++] = &tw_kernels_c;
    return i < n ? here[i] : NULL;
}

const struct tw_kernels *tw_kernels_find(const char *name)
{
    const struct tw_kernels *k;
    for (unsigned i = 0; (k = tw_kernels_at(i)) != NULL; i++)
        if (name == NULL || strcmp(k->name, name) == 0)
            return k;
    return NULL;
}
