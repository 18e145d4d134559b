#include "base/memory.h"

#include <stdlib.h>

void *tw_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX - TW_ALIGN)
        return NULL;
    size_t rounded = (bytes + TW_ALIGN - 1) / TW_ALIGN * TW_ALIGN;
    return aligned_alloc(TW_ALIGN, rounded == 0 ? TW_ALIGN : rounded);
}

int tw_mul_size(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return 1;
    *product = a * b;
    return 0;
}
