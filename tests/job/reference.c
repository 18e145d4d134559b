#include "job/reference.h"

#include "base/half.h"
#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ALL_OF_IT 400e6 /* multiplications of products that are compared as a whole */
enum { SOME = 12 };     /* rows and columns of others */

void reference_round(float *numbers, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        numbers[i] = tw_bf16_to_f32(tw_f32_to_bf16(numbers[i]));
}

/* ---- one number */

static double ulp(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, exponent - 8);
}

/* The error of number (i, j) in units of what is allowed; sum and magnitude of its terms, bias included. */
static double units(const struct reference *x, int64_t i, int64_t j, double sum, double magnitude)
{
    double allowed = ldexp(magnitude, -20) * (x->is_rough ? fmax(1, sqrt((double)x->k) / 4) : 1), right = sum;
    if (x->gelu) {
        allowed = 1.13 * allowed + ldexp(fabs(sum), -30);
        right = sum / 2 * erfc(-sum / sqrt(2));
        allowed += 1.25 * ulp(right);
    }
    if (x->addend != NULL) {
        const double d = (double)x->addend[i * x->n + j];
        allowed += ldexp(fabs(right) + fabs(d), -22);
        right += d;
    }
    if (x->bf16_out)
        allowed += ulp(right);
    const double error = fabs((double)x->found[i * x->n + j] - right);
    if (error == 0)
        return 0;
    return error / allowed <= 1e9 ? error / allowed : INFINITY; /* also what is not a number */
}

/* ---- rows and columns */

struct comparison {
    const struct reference *x;
    const int64_t *which; /* NULL: all */
    int columns;          /* of C, else rows */
    double *worst;        /* of each */
    int64_t *where;
};

static double *numbers(int64_t n)
{
    double *p = calloc((size_t)n, sizeof *p);
    assert_non_null(p);
    return p;
}

static void note(struct comparison *c, size_t index, double units, int64_t at)
{
    if (units > c->worst[index]) {
        c->worst[index] = units;
        c->where[index] = at;
    }
}

static void compare_row(struct comparison *c, size_t index, int64_t i)
{
    const struct reference *x = c->x;
    double *sum = calloc(2 * (size_t)x->n, sizeof *sum), *magnitude = sum + x->n;
    if (sum == NULL) {
        c->worst[index] = INFINITY;
        return;
    }
    for (int64_t j = 0; x->bias != NULL && j < x->n; j++) {
        sum[j] = (double)x->bias[j];
        magnitude[j] = fabs(sum[j]);
    }
    for (int64_t k = 0; k < x->k; k++) {
        const double a = (double)x->a[i * x->k + k];
        const float *b = x->b + k * x->n;
        for (int64_t j = 0; j < x->n; j++) {
            const double term = a * (double)b[j];
            sum[j] += term;
            magnitude[j] += fabs(term);
        }
    }
    for (int64_t j = 0; j < x->n; j++)
        note(c, index, units(x, i, j, sum[j], magnitude[j]), j);
    free(sum);
}

static void compare_column(struct comparison *c, size_t index, int64_t j)
{
    const struct reference *x = c->x;
    const double bias = x->bias != NULL ? (double)x->bias[j] : 0;
    for (int64_t i = 0; i < x->m; i++) {
        double sum = bias, magnitude = fabs(bias);
        for (int64_t k = 0; k < x->k; k++) {
            const double term = (double)x->a[i * x->k + k] * (double)x->b[k * x->n + j];
            sum += term;
            magnitude += fabs(term);
        }
        note(c, index, units(x, i, j, sum, magnitude), i);
    }
}

static void compare_one(void *arg, size_t index, unsigned worker)
{
    struct comparison *c = arg;
    const int64_t at = c->which != NULL ? c->which[index] : (int64_t)index;
    (void)worker;
    if (c->columns)
        compare_column(c, index, at);
    else
        compare_row(c, index, at);
}

/* which: count rows or columns; NULL: the first ones. */
static double compare(const struct reference *x, struct tw_pool *pool, const int64_t *which, int64_t count, int columns,
                      const char *where)
{
    struct comparison c = {.x = x, .which = which, .columns = columns, .worst = numbers(count)};
    double worst = 0;
    c.where = calloc((size_t)count, sizeof c.where[0]);
    assert_non_null(c.where);
    tw_pool_run(pool, (size_t)count, compare_one, &c);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = which != NULL ? which[i] : i, row = columns ? c.where[i] : at,
                      col = columns ? at : c.where[i];
        if (!(c.worst[i] <= 1))
            fail_msg("%s, %lld x %lld x %lld: C[%lld][%lld] is %.9g, %g times as far off as it may be", where,
                     (long long)x->m, (long long)x->k, (long long)x->n, (long long)row, (long long)col,
                     (double)x->found[row * x->n + col], c.worst[i]);
        worst = fmax(worst, c.worst[i]);
    }
    free(c.worst);
    free(c.where);
    return worst;
}

/* The first, the last and others. */
static double compare_some(const struct reference *x, struct tw_pool *pool, int columns, const char *where)
{
    const int64_t n = columns ? x->n : x->m;
    struct tw_random r = {(uint64_t)(x->m + x->k + x->n)};
    int64_t which[SOME] = {0, n - 1};
    for (int i = 2; i < SOME; i++)
        which[i] = tw_random_range(&r, 0, n - 1);
    return compare(x, pool, which, SOME, columns, where);
}

/* ---- sums of rows, with a sign for each column */

struct sums {
    double *sign;             /* of columns of C */
    double *signed_, *plain_; /* of rows of B: with signs, and of magnitudes */
};

static void sum_b(const struct reference *x, const struct sums *s)
{
    struct tw_random r = {(uint64_t)x->n};
    for (int64_t j = 0; j < x->n; j++)
        s->sign[j] = (double)(2 * tw_random_range(&r, 0, 1) - 1);
    for (int64_t k = 0; k < x->k; k++)
        for (int64_t j = 0; j < x->n; j++) {
            s->signed_[k] += s->sign[j] * (double)x->b[k * x->n + j];
            s->plain_[k] += fabs((double)x->b[k * x->n + j]);
        }
}

static void check_row_sum(const struct reference *x, const struct sums *s, int64_t i, const char *where)
{
    double want = 0, magnitude = 0, got = 0, allowed = 0;
    for (int64_t k = 0; k < x->k; k++) {
        want += (double)x->a[i * x->k + k] * s->signed_[k];
        magnitude += fabs((double)x->a[i * x->k + k]) * s->plain_[k];
    }
    for (int64_t j = 0; j < x->n; j++) {
        const double c = (double)x->found[i * x->n + j], d = x->addend != NULL ? (double)x->addend[i * x->n + j] : 0;
        const double bias = x->bias != NULL ? (double)x->bias[j] : 0;
        want += s->sign[j] * (bias + d);
        got += s->sign[j] * c;
        magnitude += fabs(bias);
        allowed += ldexp(fabs(c) + 2 * fabs(d), -22) + (x->bf16_out ? ldexp(fabs(c), -7) : 0);
    }
    allowed += ldexp(magnitude, -20) * (x->is_rough ? fmax(1.01, sqrt((double)x->k) / 4) : 1.01);
    if (!(fabs(got - want) <= allowed))
        fail_msg("%s, %lld x %lld x %lld: the sum of row %lld is %.9g off, %.9g are allowed", where, (long long)x->m,
                 (long long)x->k, (long long)x->n, (long long)i, fabs(got - want), allowed);
}

static void check_sums(const struct reference *x, const char *where)
{
    const struct sums s = {numbers(x->n), numbers(x->k), numbers(x->k)};
    sum_b(x, &s);
    for (int64_t i = 0; i < x->m; i++)
        check_row_sum(x, &s, i, where);
    free(s.sign);
    free(s.signed_);
    free(s.plain_);
}

double reference_check(const struct reference *x, struct tw_pool *pool, const char *where)
{
    if ((double)x->m * (double)x->k * (double)x->n <= ALL_OF_IT)
        return compare(x, pool, NULL, x->m, 0, where);
    for (int64_t i = 0; i < x->m * x->n; i++)
        if (!isfinite(x->found[i]))
            fail_msg("%s: C[%lld][%lld] is not finite", where, (long long)(i / x->n), (long long)(i % x->n));
    if (!x->gelu)
        check_sums(x, where);
    return fmax(compare_some(x, pool, 0, where), compare_some(x, pool, 1, where));
}

/* ---- what checksums let pass */

/* The root of the sum of squares of every step-th number. */
static double size(const float *numbers, int64_t n, int64_t step)
{
    double squares = 0;
    for (int64_t i = 0; numbers != NULL && i < n; i++)
        squares += (double)numbers[i * step] * (double)numbers[i * step];
    return sqrt(squares);
}

/* Twice the tolerance of column j, its own rounding included (host/checksum.c); C is no larger than its terms. */
static double passes(const struct reference *x, int64_t j)
{
    const double bias = x->bias != NULL ? sqrt((double)x->m) * fabs((double)x->bias[j]) : 0;
    const double unit = ldexp(1, -20) + ldexp((double)x->k, -24);
    double terms = size(x->a, x->m * x->k, 1) * size(x->b + j, x->k, x->n) + bias;
    if (x->gelu) /* whose argument is what sums prove */
        return 17 * unit * terms * 1.13;
    terms += x->addend != NULL ? size(x->addend + j, x->m, x->n) : 0;
    return 17 * (unit * terms + (x->bf16_out ? ldexp(size(x->found + j, x->m, x->n), -8) : 0));
}

static void check_passed(const struct reference *x, int64_t i, int64_t j, double allowed, const char *where)
{
    double right = x->bias != NULL ? (double)x->bias[j] : 0;
    for (int64_t k = 0; k < x->k; k++)
        right += (double)x->a[i * x->k + k] * (double)x->b[k * x->n + j];
    if (x->gelu) {
        right = right / 2 * erfc(-right / sqrt(2));
        allowed += 1.25 * ulp(right) + ldexp(fabs(right), -19) + ldexp(1, -30);
    }
    if (x->addend != NULL) {
        right += (double)x->addend[i * x->n + j];
        allowed += ldexp(fabs((double)x->addend[i * x->n + j]), -19);
    }
    allowed += x->gelu && x->bf16_out ? 2 * ulp(right) : 0;
    if (!(fabs((double)x->found[i * x->n + j] - right) <= allowed))
        fail_msg("%s: C[%lld][%lld] is %.9g, not %.9g, and %.3g are allowed", where, (long long)i, (long long)j,
                 (double)x->found[i * x->n + j], right, allowed);
}

void reference_check_passed(const struct reference *x, const char *where)
{
    for (int64_t j = 0; j < x->n; j++) {
        const double allowed = passes(x, j);
        for (int64_t i = 0; i < x->m; i++)
            check_passed(x, i, j, allowed, where);
    }
}
