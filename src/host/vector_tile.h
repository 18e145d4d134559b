/* The register tile of products with many rows, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_TILE_H
#define TW_HOST_VECTOR_TILE_H

#include "host/vector_numbers.h"

/* Panels of a come from the second-level cache, each used once in a while, and are asked for so many terms ahead: this
 * is worth 5 to 9 in a hundred. Panels of b stay near from tile to tile. */
#define TERMS_AHEAD 16

/* A run of at most TERMS terms; defined by who includes this file, with TILE. */
static void tile_run(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add_to);

static void tile(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add_to)
{
    for (int64_t from = 0; from < k; from += TERMS) {
        int64_t n = k - from < TERMS ? k - from : TERMS;
        tile_run(rows, n, a + from * MR, b + from * NR, c, c_stride, add_to || from > 0);
    }
}

/*
 * TILE(name, rows) makes a tile of NR = 2 * LANES columns; rows(X) is X(0) X(1) and so on. Each row has two
 * accumulators with names of their own, and the function stays by itself: both keep compilers from moving accumulators
 * to memory.
 */
#define START(i) V s##i = v_zero(), t##i = v_zero();
#define STEP(i)                                                                                                        \
    x = v_set(a[i]);                                                                                                   \
    s##i = v_fma(x, left, s##i);                                                                                       \
    t##i = v_fma(x, right, t##i);
#define ADD(i)                                                                                                         \
    s##i = v_add(s##i, v_load(c + i * c_stride));                                                                      \
    t##i = v_add(t##i, v_load(c + i * c_stride + LANES));
#define STORE(i)                                                                                                       \
    v_store(c + i * c_stride, s##i);                                                                                   \
    v_store(c + i * c_stride + LANES, t##i);

#define TILE(name, rows)                                                                                               \
    static __attribute__((noinline)) void name(int64_t k, const float *a, const float *b, float *c, int64_t c_stride,  \
                                               int add_to)                                                             \
    {                                                                                                                  \
        rows(START) for (int64_t p = 0; p < k; p++, a += MR, b += NR)                                                  \
        {                                                                                                              \
            v_prefetch((uintptr_t)a + TERMS_AHEAD * MR * sizeof *a);                                                   \
            V left = v_load(b), right = v_load(b + LANES), x;                                                          \
            rows(STEP)                                                                                                 \
        }                                                                                                              \
        if (add_to) {                                                                                                  \
            rows(ADD)                                                                                                  \
        }                                                                                                              \
        rows(STORE)                                                                                                    \
    }

#endif
