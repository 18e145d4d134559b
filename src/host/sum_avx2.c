/* Checksums with AVX2 and FMA. */
#include "host/vector.h"

#include <immintrin.h>

#define LANES 4

typedef __m256d D;

INLINE D floats(const unsigned char *p)
{
    return _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)p));
}

INLINE D halves(const unsigned char *p)
{
    const __m128i half = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(half), 16)));
}

#include "host/sum_vector.h"

const struct tw_sum_kernels tw_sum_kernels_avx2 = {.add = add};
