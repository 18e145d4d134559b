/*
 * Proof of a product without GELU by sums. For signs u and v drawn from a seed, u^T C must be (u^T A) B and C v must be
 * A (B v): as many sums as C has columns and rows, in double precision, at the cost of reading A, B and C once or
 * twice.
 *
 * GELU is not linear: of a product with it, each number is computed again and compared.
 */
#ifndef TW_HOST_CHECKSUM_H
#define TW_HOST_CHECKSUM_H

#include "host/host.h"

/* C[m x n] = gelu?(A[m x k] * B[k x n] (+ bias)) (+ addend), one matrix of each. Strides in bytes; any alignment. */
struct tw_checksum {
    enum tw_type a_type; /* f32, f16 or bf16 */
    const void *a;       /* m rows of k */
    size_t a_stride;
    enum tw_type b_type; /* any but i32, with b_rows f32, f16 or bf16 */
    int b_rows;          /* 0: n rows of k, 1: k rows of n */
    const void *b;
    size_t b_stride;
    const void *bias;   /* n numbers, f32, or NULL */
    const void *addend; /* m rows of n, f32, or NULL; not c */
    size_t addend_stride;
    /* GELU comes before the addend. What is made of x may be off by gelu_error times |x| Q(|x|), Q(u) the part of the
     * normal distribution above u, which is max(x, 0) - gelu(x). */
    int gelu;
    float gelu_error;
    enum tw_type out_type; /* f32 or bf16 */
    const void *out;       /* C: m rows of n */
    size_t out_stride;
    int64_t m, k, n;
};

/*
 * TW_OK when C is right as far as its sums tell: what rounds as the array does always is,
 * and any one number that is off by more than the tolerance of its row or column never is (checksum.c says how large
 * that is; with GELU check_numbers.c, for each number apart). A and B count as rounded to bf16, as the array takes
 * them. TW_E_CHECKSUM says in which row or column C is off and by how much; a number of C that is not finite is wrong
 * too, unless the operands of its row or column are not finite themselves, in which case that row or column proves
 * nothing. TW_E_ARGUMENT, TW_E_SHAPE: such a product cannot be checked; TW_E_MEMORY. Like all else that an executor
 * does, one at a time.
 */
int tw_host_check_product(struct tw_host *host, const struct tw_checksum *c, struct tw_error *err);

#endif
