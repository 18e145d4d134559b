/* Single bits of words. */
#ifndef TW_BASE_BIT_H
#define TW_BASE_BIT_H

#include <stdint.h>

/* The number of the lowest bit that is set; word is not 0. */
static inline unsigned tw_lowest_bit(uint64_t word)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word);
#else
    unsigned n = 0;
    while ((word >> n & 1) == 0)
        n++;
    return n;
#endif
}

#endif
