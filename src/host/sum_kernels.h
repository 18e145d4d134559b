/* The inner loop of checksums, one for each instruction set: weighted sums of a matrix's rows and columns in one pass.
 */
#ifndef TW_HOST_SUM_KERNELS_H
#define TW_HOST_SUM_KERNELS_H

#include "graph/type.h"

/* What is wanted of a matrix x of `rows` x `n` numbers; pointers that are NULL are not. All results are added to. */
struct tw_sums {
    const double *left;     /* a weight for each row, and */
    double *columns;        /* the sum of each column's numbers times left */
    const double *right;    /* a weight for each column, and */
    double *rows;           /* the sum of each row's numbers times right */
    double *row_squares;    /* sum of squares of each row */
    double *column_squares; /* and of each column */
};

struct tw_sum_kernels {
    /* x: f32 or bf16, any alignment, rows `stride` bytes apart. */
    void (*add)(enum tw_type type, const unsigned char *x, size_t stride, int64_t rows, int64_t n,
                const struct tw_sums *sums);
};

extern const struct tw_sum_kernels tw_sum_kernels_c;
extern const struct tw_sum_kernels tw_sum_kernels_avx2;
extern const struct tw_sum_kernels tw_sum_kernels_avx512;

#endif
