/* exp, 2^x and GELU of a vector, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_EXP_H
#define TW_HOST_VECTOR_EXP_H

#include "host/vector.h"

#define LOG2_E 0x1.715476p+0f

/* p * 2^n where x is large enough, else 0: results under 2^-126 are slow to compute with, and nothing against a sum
 * that has a 1 in it. Ordinary for NaN. */
INLINE V v_exp_end(V x, V p, V n, V shifted)
{
    return v_zero_below(x, v_set(-87.33654f), v_scale2(p, n, shifted));
}

/*
 * exp(x + extra) for x <= 0 and tiny extra, within 1 unit in the last place; NaN for NaN. With n the nearest integer to
 * x / ln 2, exp(x) = 2^n * exp(r), and exp(r) = 1 + r + r^2 * polynomial (minimax, 3e-9 relative).
 */
INLINE V v_exp_sum(V x, V extra)
{
    V shifted = v_fma(x, v_set(LOG2_E), v_set(WHOLE)), n = v_sub(shifted, v_set(WHOLE));
    V r = v_fnma(n, v_set(0x1.62e4p-1f), x); /* ln 2 in two parts; n times the first is exact */
    r = v_add(v_fnma(n, v_set(0x1.7f7d1cp-20f), r), extra);
    V p = v_set(0.00138145968867f);
    p = v_fma(p, r, v_set(0.00836871692045f));
    p = v_fma(p, r, v_set(0.0416683880851f));
    p = v_fma(p, r, v_set(0.166665206313f));
    p = v_fma(p, r, v_set(0.499999934476f));
    p = v_add(v_fma(v_mul(r, r), p, r), v_set(1));
    return v_exp_end(x, p, n, shifted);
}

/*
 * exp(x) for x <= 0, within 2^-21 relative and exact for 0: what a softmax needs. The polynomial (minimax, 2^-23.3) has
 * a term less, and ln 2 as one float is off by 2^-29, at most 126 times.
 */
INLINE V v_exp(V x)
{
    V shifted = v_fma(x, v_set(LOG2_E), v_set(WHOLE)), n = v_sub(shifted, v_set(WHOLE));
    V r = v_fnma(n, v_set(0x1.62e43p-1f), x);
    V p = v_set(0.00829022565f);
    p = v_fma(p, r, v_set(0.0418983921f));
    p = v_fma(p, r, v_set(0.166676402f));
    p = v_fma(p, r, v_set(0.499991447f));
    p = v_fma(p, r, v_set(0.999999702f));
    p = v_fma(p, r, v_set(1));
    return v_exp_end(x, p, n, shifted);
}

/*
 * x * Phi(x), Phi the normal distribution. For u = |x|: Phi(-u) = exp(-u^2 / 2) * h(u), where h falls smoothly from 1/2
 * like 0.4 / u; h(u) * (u + 4) is a polynomial in (u - 4) / (u + 4) (minimax, 2^-26.8 relative). The square is kept in
 * two parts because exp turns its rounding error into a relative one. So small results of negative x are as exact as
 * others.
 */
INLINE V v_gelu(V x)
{
    V u = v_min(v_set(16), v_abs(x));
    V square = v_mul(u, u), rest = v_sub(v_zero(), v_fnma(u, u, square));
    V e = v_exp_sum(v_mul(v_set(-0.5f), square), v_mul(v_set(-0.5f), rest));
    V inverse = v_inverse(v_add(u, v_set(4)));
    V q = v_mul(v_sub(u, v_set(4)), inverse);
    V p = v_set(-0.000131971730592f);
    p = v_fma(p, q, v_set(0.000179354349772f));
    p = v_fma(p, q, v_set(0.00156992348952f));
    p = v_fma(p, q, v_set(-0.00351255403094f));
    p = v_fma(p, q, v_set(-0.00752527135573f));
    p = v_fma(p, q, v_set(0.0604038310984f));
    p = v_fma(p, q, v_set(-0.186523441462f));
    p = v_fma(p, q, v_set(0.387136901109f));
    p = v_fma(p, q, v_set(-0.60789658827f));
    p = v_fma(p, q, v_set(0.755285135384f));
    V below = v_mul(v_mul(e, inverse), p);
    return v_mul(x, v_if_negative(x, below, v_sub(v_set(1), below)));
}

/* 2^x for x <= 0, within 2^-22 relative and exact for 0; NaN for NaN. */
INLINE V v_exp2(V x)
{
    const float terms[] = {EXP2_TERMS, 1};
    V shifted, r = v_part(x, &shifted), p = v_set(terms[0]);
    EACH (i, 5)
        p = v_fma(p, r, v_set(terms[i + 1]));
    return v_zero_below(x, v_set(-126), v_scale2(p, x, shifted));
}

#endif
