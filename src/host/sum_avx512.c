/* Checksums with AVX-512. */
#include "host/vector.h"

#include <immintrin.h>

#define LANES 8

typedef __m512d D;

INLINE D floats(const unsigned char *p)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)p));
}

INLINE D halves(const unsigned char *p)
{
    const __m128i half = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16)));
}

#include "host/sum_vector.h"

const struct tw_sum_kernels tw_sum_kernels_avx512 = {.add = add};
