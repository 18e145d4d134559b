/* Seeded random numbers (SplitMix64, Steele, Lea and Flood 2014): the same sequence everywhere. Not for secrets. */
#ifndef TW_BASE_RANDOM_H
#define TW_BASE_RANDOM_H

#include <stdint.h>

struct tw_random {
    uint64_t state; /* any value is a valid seed */
};

static inline uint64_t tw_random_u64(struct tw_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double tw_random_unit(struct tw_random *r)
{
    return (double)(tw_random_u64(r) >> 11) * 0x1p-53;
}

/* Uniform in [low, high], both included; low <= high. */
static inline int64_t tw_random_range(struct tw_random *r, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t v = tw_random_u64(r);
    return (int64_t)((uint64_t)low + (span == 0 ? v : v % span));
}

#endif
