#include "base/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Bits of cpuid's answers, by AMD's and Intel's programmer's manuals. */
enum { LEAF_FEATURES = 1, LEAF_EXTENDED = 7 };
#define EDX_CLFLUSH (1u << 19)
#define ECX_FMA (1u << 12)
#define ECX_OSXSAVE (1u << 27)
#define ECX_AVX (1u << 28)
#define ECX_F16C (1u << 29)
#define EBX_AVX2 (1u << 5)
#define EBX_AVX512_F (1u << 16)
#define EBX_AVX512_DQ (1u << 17)
#define EBX_CLFLUSHOPT (1u << 23)
#define EBX_AVX512_BW (1u << 30)
#define EBX_AVX512_VL (1u << 31)

/* What the operating system saves of a thread, by the register XCR0. */
#define SAVED_YMM 0x06u /* XMM and YMM */
#define SAVED_ZMM 0xe0u /* mask registers and both parts of ZMM */

static int all(unsigned word, unsigned bits)
{
    return (word & bits) == bits;
}

/* Without the operating system's consent the instructions must not be used. */
static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned vector_features(unsigned features_ecx, unsigned extended_ebx)
{
    if (!all(features_ecx, ECX_OSXSAVE | ECX_AVX | ECX_FMA | ECX_F16C) || !all(extended_ebx, EBX_AVX2))
        return 0;
    unsigned saved = saved_registers();
    if (!all(saved, SAVED_YMM))
        return 0;
    if (all(extended_ebx, EBX_AVX512_F | EBX_AVX512_DQ | EBX_AVX512_BW | EBX_AVX512_VL) && all(saved, SAVED_ZMM))
        return TW_PROCESSOR_AVX2 | TW_PROCESSOR_AVX512;
    return TW_PROCESSOR_AVX2;
}

unsigned tw_processor_features(void)
{
    unsigned a, b, c, d, extended = 0;
    if (!__get_cpuid(LEAF_FEATURES, &a, &b, &c, &d))
        return 0;
    unsigned found = d & EDX_CLFLUSH ? TW_PROCESSOR_CLFLUSH : 0, unused;
    if (__get_cpuid_count(LEAF_EXTENDED, 0, &a, &extended, &unused, &d) && extended & EBX_CLFLUSHOPT)
        found |= TW_PROCESSOR_CLFLUSHOPT;
    return found | vector_features(c, extended);
}
#else
unsigned tw_processor_features(void)
{
    return 0;
}
#endif
