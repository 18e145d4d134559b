/* Products compared with float64: how far a result of the array may be from the exact product of its operands. */
#ifndef TW_TESTS_JOB_REFERENCE_H
#define TW_TESTS_JOB_REFERENCE_H

#include "base/thread_pool.h"

#include <stdint.h>

/* found = gelu?(a b + bias) + addend, all matrices row after row. */
struct reference {
    int64_t m, k, n;
    float *a, *b; /* m rows of k and k rows of n, rounded to bf16 as the array does */
    const float *bias;
    float *addend; /* this and bias: NULL for none */
    float *found;
    int gelu, bf16_out;
    int is_rough; /* terms are of one sign, or a few of them larger than all others together */
};

void reference_round(float *numbers, int64_t n);

/*
 * Expects each number of `found` to be off by at most
 *
 *     2^-20 (sum of |a b| + |bias|); sqrt(K) / 4 times that for rough operands
 *     with GELU 1.13 times that, for its slope, and 2^-30 |x| where it is all but zero, and 1.25 units in the last
 * place of bf16, which is how near the array's GELU comes with an addend 2^-22 (|sum| + |addend|), for the rounding of
 * one addition in fp32 one unit in the last place of bf16 for bf16 results
 *
 * The array adds 8 terms to a sum in fp32 at a time, each of the 9 rounded to a unit of the largest: after K terms that
 * is off by about 0.3 sqrt(K) units of 2^-23 if the sum is near its final value for long, as with rough operands.
 * sqrt(K) / 4 is more than six times that; sums of both signs stay far below the first bound.
 *
 * All numbers of small products are compared. Of large ones (beyond 400 million multiplications) some rows and columns
 * are, and if they are without GELU the sums of all rows, with random signs. Returns the largest error, where 1 is what
 * is allowed.
 */
double reference_check(const struct reference *x, struct tw_pool *pool, const char *where);

/*
 * For small products with a flipped bit that the checksums let pass: expects each number to be off by less than twice
 * the tolerance of its column, which is what they find for certain.
 */
void reference_check_passed(const struct reference *x, const char *where);

#endif
