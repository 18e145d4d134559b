/*
 * How much a sum may be off
 *
 * bounds.h has how far a number may be off: b(i,j), in which E, H and T stand.
 *
 * The sum of column j with signs u(i) is then off by the sum of u(i) e(i), |e(i)| <= b(i,j). The signs know nothing of
 * the errors, so that Hoeffding's inequality holds: beyond t * sqrt(sum of b(i,j)^2) with a chance of at most
 * 2 exp(-t^2 / 2), and by Cauchy and Schwarz never beyond sqrt(m) times that root. t = 8 is 2.5e-14: once in 4000 times
 * 10^6 products of 10,000 sums each, were all errors as large as they can be. Cauchy and Schwarz, once more, and the
 * triangle inequality bound the root with what one pass over each matrix tells:
 *     E * (|A| |b_j| + sqrt(m) |bias(j)| + |d_j|) + H |c_j| + 2^-126 sqrt(k) (|A| + sqrt(m) |b_j| + sqrt(m k))
 * where |.| is the root of the sum of squares, of all of A and of column j of the others. Rows likewise.
 *
 * The sums here are rounded too, to doubles: by less than (m + k) 2^-53 sqrt(m) |A| |b_j|. For sides up to 2^20 that is
 * at most a sixteenth of the tolerance, which is counted on top.
 *
 * So any number that is off by more than twice the tolerance of its row or of its column is found for certain (the
 * other errors may add up to one tolerance against it), and as those errors hardly ever come near, one tolerance is
 * enough.
 */
#include "host/checksum.h"

#include "base/memory.h"
#include "base/random.h"
#include "host/bounds.h"
#include "host/check_numbers.h"
#include "host/executor.h"
#include "host/sum_pass.h"

#include <math.h>
#include <string.h>

#define DEVIATIONS 8.0
#define OWN_ROUNDING (1 + 1.0 / 16)

enum { SIDE_MAX = 1 << 20, SEED = 20070917 };

/* What is known of the rows of C, or of its columns. */
struct side {
    int64_t n;
    double *sign;
    double *norm;   /* of row i of A, or of column j of B: the square */
    double *want;   /* sums of A * B */
    double *got;    /* of C */
    double *square; /* of C's row or column */
    double *addend, *addend_square;
};

struct check {
    struct tw_host *host;
    const struct tw_checksum *c;
    struct side rows, columns;
    double *left;  /* signs of the rows times A: k numbers */
    double *right; /* B times the signs of the columns */
};

/* ---- all sums ---- */

static void sum_operands(const struct check *w)
{
    const struct tw_checksum *c = w->c;
    const struct side *r = &w->rows, *j = &w->columns;
    tw_sum_pass(w->host, c->a_type, 1, c->a, c->a_stride, c->m, c->k,
                (struct tw_sums){.left = r->sign, .columns = w->left, .row_squares = r->norm});
    if (c->b_rows)
        tw_sum_pass(
            w->host, c->b_type, 1, c->b, c->b_stride, c->k, c->n,
            (struct tw_sums){
                .left = w->left, .columns = j->want, .right = j->sign, .rows = w->right, .column_squares = j->norm});
    else
        tw_sum_pass(
            w->host, c->b_type, 1, c->b, c->b_stride, c->n, c->k,
            (struct tw_sums){
                .left = j->sign, .columns = w->right, .right = w->left, .rows = j->want, .row_squares = j->norm});
    tw_sum_pass(w->host, c->a_type, 1, c->a, c->a_stride, c->m, c->k,
                (struct tw_sums){.right = w->right, .rows = r->want});
}

static void sum_results(const struct check *w)
{
    const struct tw_checksum *c = w->c;
    const struct side *r = &w->rows, *j = &w->columns;
    tw_sum_pass(w->host, c->out_type, 0, c->out, c->out_stride, c->m, c->n,
                (struct tw_sums){.left = r->sign,
                                 .columns = j->got,
                                 .right = j->sign,
                                 .rows = r->got,
                                 .row_squares = r->square,
                                 .column_squares = j->square});
    if (c->addend != NULL)
        tw_sum_pass(w->host, TW_F32, 0, c->addend, c->addend_stride, c->m, c->n,
                    (struct tw_sums){.left = r->sign,
                                     .columns = j->addend,
                                     .right = j->sign,
                                     .rows = r->addend,
                                     .row_squares = r->addend_square,
                                     .column_squares = j->addend_square});
}

/* ---- comparison ---- */

/* The row or column whose sum is off by most of what it may be; index -1 when none is off by more. */
struct worst {
    int64_t index;
    double off, allowed;
};

/* What is summed in one direction: so many numbers, and the norm of the operand that all those sums have in common. */
struct across {
    int64_t n;
    double common;
};

static double sum_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static double bias_at(const struct tw_checksum *c, int64_t j)
{
    float bias = 0;
    if (c->bias != NULL)
        memcpy(&bias, (const unsigned char *)c->bias + (size_t)j * sizeof bias, sizeof bias);
    return (double)bias;
}

/* Looks at sum i of a side. bias, bias_norm: what the bias adds to the sum, and the norm of what it adds to numbers. */
static void compare(const struct check *w, const struct across *across, const struct side *s, int64_t i, double bias,
                    double bias_norm, struct worst *worst)
{
    const double k = (double)w->c->k, root = sqrt((double)across->n), norm = sqrt(s->norm[i]);
    const double size = across->common * norm + bias_norm + sqrt(s->addend_square[i]);
    const double vanished = TW_BOUND_TINY * sqrt(k) * (across->common + root * norm + root * sqrt(k));
    const double of_c = TW_BOUND_OF_EACH_TERM * k + (w->c->out_type == TW_BF16 ? TW_BOUND_HALF_UNIT : 0);
    const double deviation = TW_BOUND_ERROR * size + of_c * sqrt(s->square[i]) + vanished;
    const double allowed = OWN_ROUNDING * fmin(DEVIATIONS, root) * deviation;
    const double want = s->want[i] + bias + s->addend[i], off = fabs(s->got[i] - want);
    /* Nothing is proved by what is not finite, or so large that sums in fp32 may rightly be infinite. */
    if (!isfinite(want) || !(size < TW_BOUND_OVERFLOW) || (isfinite(s->got[i]) && off <= allowed))
        return;
    if (!isfinite(s->got[i]))
        *worst = (struct worst){i, INFINITY, TW_BOUND_ERROR * size};
    else if (worst->index < 0 || off * worst->allowed > worst->off * allowed)
        *worst = (struct worst){i, off, allowed};
}

static struct worst compare_columns(const struct check *w)
{
    const struct across across = {w->c->m, sqrt(sum_of(w->rows.norm, w->c->m))};
    const double signs = sum_of(w->rows.sign, w->c->m), root = sqrt((double)w->c->m);
    struct worst worst = {.index = -1};
    for (int64_t j = 0; j < w->c->n; j++) {
        const double bias = bias_at(w->c, j);
        compare(w, &across, &w->columns, j, signs * bias, root * fabs(bias), &worst);
    }
    return worst;
}

static struct worst compare_rows(const struct check *w)
{
    const struct across across = {w->c->n, sqrt(sum_of(w->columns.norm, w->c->n))};
    double bias = 0, bias_square = 0;
    struct worst worst = {.index = -1};
    for (int64_t j = 0; j < w->c->n; j++) {
        bias += w->columns.sign[j] * bias_at(w->c, j);
        bias_square += bias_at(w->c, j) * bias_at(w->c, j);
    }
    for (int64_t i = 0; i < w->c->m; i++)
        compare(w, &across, &w->rows, i, bias, sqrt(bias_square), &worst);
    return worst;
}

static int verdict(const struct check *w, struct tw_error *err)
{
    const struct worst row = compare_rows(w), column = compare_columns(w);
    const struct worst *one = row.index >= 0 ? &row : &column;
    char where[64];
    if (row.index < 0 && column.index < 0)
        return TW_OK;
    if (row.index >= 0 && column.index >= 0)
        snprintf(where, sizeof where, "row %lld and column %lld", (long long)row.index, (long long)column.index);
    else
        snprintf(where, sizeof where, "%s %lld", one == &row ? "row" : "column", (long long)one->index);
    return tw_fail(err, TW_E_CHECKSUM,
                   "a product of %lld x %lld x %lld is wrong in %s: a sum is off by %.3g, and rounding explains %.3g",
                   (long long)w->c->m, (long long)w->c->k, (long long)w->c->n, where, one->off, one->allowed);
}

/* ---- the whole ---- */

static int check_types(const struct tw_checksum *c, struct tw_error *err)
{
    const struct tw_type_info *b = tw_type_info(c->b_type);
    const int a_fits = c->a_type == TW_F32 || c->a_type == TW_F16 || c->a_type == TW_BF16;
    const int b_fits = b != NULL && c->b_type != TW_I32 && (!c->b_rows || b->block == 1);
    if (!a_fits || !b_fits || (c->out_type != TW_F32 && c->out_type != TW_BF16))
        return tw_fail(err, TW_E_ARGUMENT, "a product of numbers in formats %d and %d to %d cannot be checked",
                       (int)c->a_type, (int)c->b_type, (int)c->out_type);
    if (c->a == NULL || c->b == NULL || c->out == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "a product was to be checked without one of its matrices");
    if (c->m < 1 || c->k < 1 || c->n < 1 || c->m > SIDE_MAX || c->k > SIDE_MAX || c->n > SIDE_MAX ||
        (!c->b_rows && c->k % b->block != 0))
        return tw_fail(err, TW_E_SHAPE, "a product of %lld x %lld x %lld cannot be checked: sides are 1 to %d",
                       (long long)c->m, (long long)c->k, (long long)c->n, SIDE_MAX);
    return TW_OK;
}

/* Gives the side its arrays, from `memory` on; returns the end of them. */
static double *lay_out(struct side *s, int64_t n, double *memory)
{
    double **const arrays[] = {&s->sign, &s->norm, &s->want, &s->got, &s->square, &s->addend, &s->addend_square};
    s->n = n;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++, memory += n)
        *arrays[i] = memory;
    memset(s->addend, 0, 2 * (size_t)n * sizeof *s->addend); /* with its squares; when there is none */
    return memory;
}

static void draw_signs(struct side *s, struct tw_random *random)
{
    uint64_t bits = 0;
    for (int64_t i = 0; i < s->n; i++, bits >>= 1) {
        if (i % 64 == 0)
            bits = tw_random_u64(random);
        s->sign[i] = bits & 1 ? 1 : -1;
    }
}

/*
 * What sums find wrong is computed again: terms of one sign and then as many that cancel them may be off by more than
 * sums are held to (bounds.h). Numbers that are all right make the product right; without memory for them the sums
 * decide. Uses the executor's memory, in which the sums are.
 */
static int confirm(const struct check *w, struct tw_error *err)
{
    struct tw_error why = {0}, numbers = {0};
    int code = verdict(w, &why);
    if (code == TW_E_CHECKSUM && tw_check_numbers(w->host, w->c, &numbers) == TW_OK)
        return TW_OK;
    return code == TW_OK ? code : tw_fail(err, code, "%s", numbers.code == code ? numbers.text : why.text);
}

int tw_host_check_product(struct tw_host *h, const struct tw_checksum *c, struct tw_error *err)
{
    struct check w = {.host = h, .c = c};
    struct tw_random random = {SEED};
    int rc = check_types(c, err);
    if (rc != TW_OK || c->gelu)
        return rc != TW_OK ? rc : tw_check_numbers(h, c, err);
    const size_t a_double = sizeof(double) / sizeof(float);
    rc = tw_shared_reserve(h, (size_t)(7 * (c->m + c->n) + 2 * c->k) * a_double, err);
    if (rc >= 0)
        rc = tw_sum_pass_reserve(h, c->k > c->n ? c->k : c->n, err);
    if (rc < 0)
        return rc;
    double *memory = (double *)(void *)tw_shared(h);
    memory = lay_out(&w.columns, c->n, lay_out(&w.rows, c->m, memory));
    w.left = memory;
    w.right = memory + c->k;
    draw_signs(&w.rows, &random);
    draw_signs(&w.columns, &random);
    sum_operands(&w);
    sum_results(&w);
    return confirm(&w, err);
}
