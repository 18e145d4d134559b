/*
 * The inner loops of the CPU executor, one table of them for each instruction set. The table "c" is plain C and defines
 * the right answer; the others agree with it within 2^-20 of the sum of the magnitudes that go in, and exactly where
 * only stored bits are converted.
 *
 * Floats are aligned to 4 bytes; stored numbers ("const void *") may lie at any byte. n, k and rows are never negative.
 */
#ifndef TW_HOST_KERNELS_H
#define TW_HOST_KERNELS_H

#include "graph/type.h"

#include <stddef.h>
#include <stdint.h>

/* Longest run of the summed dimension that `tile` and `weigh` are given; a multiple of every stored type's block. */
#define TW_CHUNK 256

#define TW_DOT_ROWS 8        /* most rows of `dots` and `weigh` */
#define TW_TRANSPOSE_ROWS 16 /* most rows of `transpose` */
#define TW_TILE_MAX 64       /* no table has a longer side of its register tile */

/* A softmax whose inputs come piece by piece: the largest so far, and the sum of exp(input - largest). */
struct tw_softmax {
    float max;    /* -INFINITY at first */
    double sum;   /* 0 at first */
    float factor; /* set by each piece: what results of earlier pieces must be multiplied with */
};

/* What becomes of the sums of a product. */
struct tw_finish {
    float scale;
    int gelu, accumulate;
};

struct tw_kernels {
    const char *name;
    const struct tw_pack_kernels *packing; /* pack_kernels.h */
    const struct tw_sum_kernels *sums;     /* sum_kernels.h */
    int tile_rows, tile_cols;              /* the register tile; tile_rows divides 48 and 240, tile_cols divides 64 */

    /* n stored numbers as floats, exact; n a multiple of the type's block. f32, f16, bf16, q5_0, q8_0. */
    void (*widen)(enum tw_type type, const void *src, float *dst, int64_t n);
    /* n floats rounded to f32, f16 or bf16, to nearest even. */
    void (*narrow)(enum tw_type type, const float *src, void *dst, int64_t n);

    /* dst[c * width + r] = rows[r][c] for r < n_rows <= TW_TRANSPOSE_ROWS, c < n; n_rows <= width. Writes nothing else.
     */
    void (*transpose)(const float *const *rows, int n_rows, int64_t n, float *dst, int64_t width);

    /*
     * c[i * c_stride + j] (+)= sum over p < k of a[p * tile_rows + i] * b[p * tile_cols + j], for i < rows <= tile_rows
     * and j < tile_cols; added to c when `add`. Rows of c up to tile_rows may be written too, with anything.
     */
    void (*tile)(int rows, int64_t k, const float *a, const float *b, float *c, int64_t c_stride, int add);

    /*
     * out[r * out_stride + j] = sum over p < k of a[r * a_stride + p] * w(j)[p], for r < rows <= TW_DOT_ROWS and j < n,
     * where w(j) is the row of k stored numbers at w + j * w_stride. An element does not depend on rows and n.
     */
    void (*dots)(enum tw_type type, int rows, int64_t k, const float *a, int64_t a_stride, const unsigned char *w,
                 size_t w_stride, int64_t n, float *out, int64_t out_stride);

    /* o[r * o_stride + c] += sum over j < n <= TW_CHUNK of p[r * p_stride + j] * v(j)[c], for r < rows <= TW_DOT_ROWS,
     * c < d; v(j): d numbers of type f32, f16 or bf16 at v + j * v_stride. */
    void (*weigh)(enum tw_type type, int rows, int64_t n, const float *p, int64_t p_stride, const unsigned char *v,
                  size_t v_stride, int64_t d, float *o, int64_t o_stride);

    /*
     * y = softmax(scale * x) for a row of n >= 1 stored numbers, both f32, f16 or bf16; y may be x when types agree.
     * next: the row that will follow, brought near meanwhile, or any other address. spare has room for n numbers, to a
     * multiple of 32.
     */
    void (*softmax)(enum tw_type from, const void *x, int64_t n, const void *next, float scale, enum tw_type to,
                    void *y, float *spare);

    /* y = exp(scale * x - max) for the next n numbers of a row, and the state brought forward; y may be x. */
    void (*exp_row)(const float *x, int64_t n, float scale, struct tw_softmax *state, float *y);

    /*
     * The same, with scale 1, for tile_cols rows at once, held as columns: s[j * tile_cols + c], j < n <= TW_CHUNK, in
     * place. max, sum and factor have tile_cols entries each.
     */
    void (*exp_columns)(float *s, int64_t n, float *max, float *sum, float *factor);
    /* s[j * tile_cols + c] *= factor[c] for j < n. */
    void (*scale_columns)(float *s, int64_t n, const float *factor);

    void (*gelu)(const float *x, float *y, int64_t n); /* y may be x, here and below */
    void (*scale)(const float *x, float factor, float *y, int64_t n);
    void (*add)(const float *x, const float *y, float *sum, int64_t n);
    /* y: stored numbers, f32, f16 or bf16; may be x when f32. */
    void (*layer_norm)(const float *x, const float *gain, const float *shift, float eps, enum tw_type to, void *y,
                       int64_t n);

    /*
     * The end of a product: y = gelu?(scale * c + bias) (+ y) for rows x n numbers. bias has n numbers, or is NULL.
     * Strides in floats; y may be c.
     */
    void (*finish)(int rows, int64_t n, const float *c, int64_t c_stride, const struct tw_finish *how,
                   const float *bias, float *y, int64_t y_stride);
};

/*
 * The table of that name, or the best one for NULL; NULL when this program or this processor does not have it.
 * tw_kernels_at(0), (1), ... lists all that run here, the best first, and ends with NULL.
 */
const struct tw_kernels *tw_kernels_find(const char *name);
const struct tw_kernels *tw_kernels_at(unsigned i);

extern const struct tw_kernels tw_kernels_c;
extern const struct tw_kernels tw_kernels_avx2;   /* needs AVX2, FMA and F16C */
extern const struct tw_kernels tw_kernels_avx512; /* needs these and AVX-512 F, BW, VL, DQ */

#endif
