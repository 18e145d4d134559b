/* Which tables of kernels this processor can run. */
#include "host/kernels.h"

#include <string.h>

#if defined(TW_X86)
#include <cpuid.h>

enum { AVX2 = 1, AVX512 = 2 };

/* The register sets that the operating system saves; without its consent the instructions must not be used. */
static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int features(void)
{
    unsigned a, b, c, d, leaf7;
    const unsigned osxsave = 1u << 27, avx = 1u << 28, fma = 1u << 12, f16c = 1u << 29;
    const unsigned need1 = osxsave | avx | fma | f16c;
    const unsigned avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F, DQ, BW, VL */
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & need1) != need1)
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &leaf7, &c, &d) || (leaf7 & avx2) == 0)
        return 0;
    unsigned saved = saved_registers();
    if ((saved & 0x06) != 0x06) /* XMM and YMM */
        return 0;
    int found = AVX2;
    if ((leaf7 & avx512) == avx512 && (saved & 0xe0) == 0xe0) /* mask registers and ZMM */
        found |= AVX512;
    return found;
}
#endif

const struct tw_kernels *tw_kernels_at(unsigned i)
{
    const struct tw_kernels *here[4];
    unsigned n = 0;
#if defined(TW_X86)
    int found = features();
    if (found & AVX512)
        here[n++] = &tw_kernels_avx512;
    if (found & AVX2)
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
