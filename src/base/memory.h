/* Aligned memory and sums of sizes that cannot wrap round. */
#ifndef TW_BASE_MEMORY_H
#define TW_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define TW_ALIGN 64 /* a cache line, and the widest vector register */

/* bytes of memory aligned to TW_ALIGN, contents undefined; NULL when there is none. Release with free(). */
void *tw_alloc(size_t bytes);

/* *product = a * b; returns 0, or nonzero when it does not fit. */
int tw_mul_size(size_t a, size_t b, size_t *product);

#endif
