#include "uapi/flush.h"

#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>

/* Bits and fields of CPUID, by Intel's and AMD's manuals. */
enum cpuid_field {
    LEAF_FEATURES = 1,
    FEATURES_EDX_CLFLUSH = 1 << 19,
    FEATURES_EBX_LINE_SHIFT = 8, /* 15:8, in units of 8 bytes */
    FEATURES_EBX_LINE_MASK = 0xff,
    LINE_UNIT = 8,
    LEAF_EXTENDED = 7,
    EXTENDED_EBX_CLFLUSHOPT = 1 << 23
};

struct tw_flush_features tw_flush_ask_processor(void)
{
    struct tw_flush_features has = {0};
    unsigned a, b, c, d;
    if (__get_cpuid(LEAF_FEATURES, &a, &b, &c, &d) && (d & FEATURES_EDX_CLFLUSH))
        has.line = (b >> FEATURES_EBX_LINE_SHIFT & FEATURES_EBX_LINE_MASK) * LINE_UNIT;
    if (__get_cpuid_count(LEAF_EXTENDED, 0, &a, &b, &c, &d))
        has.clflushopt = (b & EXTENDED_EBX_CLFLUSHOPT) != 0;
    return has;
}

int tw_flush_clflush(void *context, const void *address, size_t size)
{
    (void)context;
    const char *first = (const char *)address - ((uintptr_t)address & (TW_FLUSH_STEP - 1));
    const char *end = (const char *)address + size;
    /* Fences on both sides: nothing before is left out, nothing after begins early. */
    _mm_mfence();
    if (size != 0)
        for (const char *p = first; p < end; p += TW_FLUSH_STEP)
            _mm_clflush(p);
    _mm_mfence();
    return 0;
}
