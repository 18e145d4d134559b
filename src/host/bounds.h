/*
 * How far a number of a product that the array has made may be off
 *
 * It is off the exact c(i,j) by at most
 *     b(i,j) = E * (sum over k of |a(i,k) b(k,j)| + |bias(j)| + |d(i,j)|) + H * |c(i,j)| + T(i,j)
 * with E = 2^-20 (what sums of numbers of either sign are held to, and more than two roundings for bias and addend), H
 * below, and T for what vanishes among numbers below 2^-126, which may count as zero: 2^-126 * sum over k of (|a(i,k)|
 * + |b(k,j)| + 1).
 *
 * A core rounds each term to the last place of the sum that it is added to. Terms of one sign and equal terms are all
 * rounded the same way, each by up to 2^-24 of the sum so far, which is at most c(i,j) then, or half of that over all
 * terms: H = 2^-24 * k (the other half for the sums of 8 terms, which are rounded too), and 2^-8 more when C is bf16
 * (half a unit in its last place).
 *
 * Terms that are rounded the same way and then cancel each other can be off by more: by 2^-24 k of the sums so far,
 * which c(i,j) says nothing of.
 */
#ifndef TW_HOST_BOUNDS_H
#define TW_HOST_BOUNDS_H

#define TW_BOUND_ERROR 0x1p-20        /* E */
#define TW_BOUND_OF_EACH_TERM 0x1p-24 /* H, a term */
#define TW_BOUND_HALF_UNIT 0x1p-8     /* H, of bf16 */
#define TW_BOUND_TINY 0x1p-126        /* T */
#define TW_BOUND_OVERFLOW 0x1p126     /* above this, sums in fp32 may be infinite rightly */

#endif
