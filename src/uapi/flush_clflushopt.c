#include "uapi/flush.h"

#include <immintrin.h>
#include <stdint.h>

int tw_flush_clflushopt(void *context, const void *address, size_t size)
{
    (void)context;
    /* The intrinsic takes a plain pointer, although it changes nothing. */
    char *first = (char *)((uintptr_t)address & ~(uintptr_t)(TW_FLUSH_STEP - 1));
    char *end = (char *)((uintptr_t)address + size);
    _mm_mfence();
    if (size != 0)
        for (char *p = first; p < end; p += TW_FLUSH_STEP)
            _mm_clflushopt(p);
    _mm_mfence();
    return 0;
}
