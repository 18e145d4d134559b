/*
 * How much a sum may be off
 *
 * The array's number c(i,j) is off the exact one by at most
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
#include "host/executor.h"
#include "host/sum_kernels.h"

#include <math.h>
#include <string.h>

#define ERROR 0x1p-20
#define OF_EACH_TERM 0x1p-24
#define HALF_UNIT 0x1p-8
#define TINY 0x1p-126
#define DEVIATIONS 8.0
#define OWN_ROUNDING (1 + 1.0 / 16)
#define OVERFLOW 0x1p126 /* above this, sums in fp32 may be infinite rightly */

enum {
    SIDE_MAX = 1 << 20,
    PIECE = 1024,   /* columns of a pass at a time: what belongs to them stays in the first-level cache */
    TASK_ROWS = 32, /* rows of a task */
    SPARE_ROWS = 8, /* rows that are converted at a time */
    SEED = 20070917
};

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

/* ---- a pass over a matrix ---- */

struct pass {
    const struct tw_host *host;
    const struct tw_sum_kernels *kernels;
    enum tw_type type;
    int converted; /* its numbers count as rounded to bf16, which they are not yet */
    const unsigned char *x;
    size_t stride;
    int64_t rows, n;
    struct tw_sums sums; /* those of columns are collected by each worker */
};

static double *own_columns(const struct pass *p, unsigned worker)
{
    return (double *)(void *)tw_own(p->host, worker);
}

/* Numbers [from, from + n) of a row as the bf16 that they count as. line: spare memory for n floats. */
static void convert(const struct pass *p, int64_t row, int64_t from, int64_t n, uint16_t *to, float *line)
{
    const struct tw_kernels *k = p->host->kernels;
    const unsigned char *x = p->x + (size_t)row * p->stride + tw_row_bytes(p->type, from);
    if (p->type == TW_F32 && (uintptr_t)x % sizeof(float) == 0) {
        k->narrow(TW_BF16, (const float *)(const void *)x, to, n);
        return;
    }
    k->widen(p->type, x, line, n);
    k->narrow(TW_BF16, line, to, n);
}

static void add_piece(const struct pass *p, int64_t row, int64_t rows, int64_t from, int64_t n, float *spare,
                      struct tw_sums sums)
{
    if (!p->converted) {
        const unsigned char *x = p->x + (size_t)row * p->stride + tw_row_bytes(p->type, from);
        p->kernels->add(p->type, x, p->stride, rows, n, &sums);
        return;
    }
    uint16_t *halves = (uint16_t *)(void *)(spare + PIECE);
    for (int64_t r = 0; r < rows; r += SPARE_ROWS) {
        const int64_t here = tw_least(SPARE_ROWS, rows - r);
        struct tw_sums s = sums;
        s.left = s.left != NULL ? s.left + r : NULL;
        s.rows = s.rows != NULL ? s.rows + r : NULL;
        s.row_squares = s.row_squares != NULL ? s.row_squares + r : NULL;
        for (int64_t i = 0; i < here; i++)
            convert(p, row + r + i, from, n, halves + i * PIECE, spare);
        p->kernels->add(TW_BF16, (const unsigned char *)halves, PIECE * sizeof *halves, here, n, &s);
    }
}

static void pass_task(void *arg, size_t index, unsigned worker)
{
    const struct pass *p = arg;
    const int64_t row = (int64_t)index * TASK_ROWS, rows = tw_least(TASK_ROWS, p->rows - row);
    double *columns = own_columns(p, worker);
    float *spare = (float *)(void *)(columns + 2 * p->n);
    for (int64_t from = 0; from < p->n; from += PIECE) {
        const struct tw_sums *all = &p->sums;
        const struct tw_sums sums = {
            .left = all->left != NULL ? all->left + row : NULL,
            .columns = all->columns != NULL ? columns + from : NULL,
            .right = all->right != NULL ? all->right + from : NULL,
            .rows = all->rows != NULL ? all->rows + row : NULL,
            .row_squares = all->row_squares != NULL ? all->row_squares + row : NULL,
            .column_squares = all->column_squares != NULL ? columns + p->n + from : NULL,
        };
        add_piece(p, row, rows, from, tw_least(PIECE, p->n - from), spare, sums);
    }
}

static void clear(double *sums, int64_t n)
{
    if (sums != NULL)
        memset(sums, 0, (size_t)n * sizeof *sums);
}

static void collect(const struct pass *p, double *sums, int64_t at)
{
    clear(sums, p->n);
    for (unsigned worker = 0; sums != NULL && worker < p->host->threads; worker++)
        for (int64_t c = 0; c < p->n; c++)
            sums[c] += own_columns(p, worker)[at + c];
}

/* Sums, overwritten, of the matrix at x. */
static void run_pass(const struct check *w, enum tw_type type, int as_bf16, const void *x, size_t stride, int64_t rows,
                     int64_t n, struct tw_sums sums)
{
    struct pass p = {.host = w->host,
                     .kernels = tw_sum_kernels_find(w->host->kernels->name),
                     .type = type,
                     .converted = as_bf16 && type != TW_BF16,
                     .x = x,
                     .stride = stride,
                     .rows = rows,
                     .n = n,
                     .sums = sums};
    clear(sums.rows, rows);
    clear(sums.row_squares, rows);
    for (unsigned worker = 0; worker < w->host->threads; worker++)
        clear(own_columns(&p, worker), 2 * n);
    tw_pool_run(w->host->pool, (size_t)tw_ceil_div(rows, TASK_ROWS), pass_task, &p);
    collect(&p, sums.columns, 0);
    collect(&p, sums.column_squares, n);
}

/* ---- all sums ---- */

static void sum_operands(const struct check *w)
{
    const struct tw_checksum *c = w->c;
    const struct side *r = &w->rows, *j = &w->columns;
    run_pass(w, c->a_type, 1, c->a, c->a_stride, c->m, c->k,
             (struct tw_sums){.left = r->sign, .columns = w->left, .row_squares = r->norm});
    if (c->b_rows)
        run_pass(
            w, c->b_type, 1, c->b, c->b_stride, c->k, c->n,
            (struct tw_sums){
                .left = w->left, .columns = j->want, .right = j->sign, .rows = w->right, .column_squares = j->norm});
    else
        run_pass(w, c->b_type, 1, c->b, c->b_stride, c->n, c->k,
                 (struct tw_sums){
                     .left = j->sign, .columns = w->right, .right = w->left, .rows = j->want, .row_squares = j->norm});
    run_pass(w, c->a_type, 1, c->a, c->a_stride, c->m, c->k, (struct tw_sums){.right = w->right, .rows = r->want});
}

static void sum_results(const struct check *w)
{
    const struct tw_checksum *c = w->c;
    const struct side *r = &w->rows, *j = &w->columns;
    run_pass(w, c->out_type, 0, c->out, c->out_stride, c->m, c->n,
             (struct tw_sums){.left = r->sign,
                              .columns = j->got,
                              .right = j->sign,
                              .rows = r->got,
                              .row_squares = r->square,
                              .column_squares = j->square});
    if (c->addend != NULL)
        run_pass(w, TW_F32, 0, c->addend, c->addend_stride, c->m, c->n,
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
    const double vanished = TINY * sqrt(k) * (across->common + root * norm + root * sqrt(k));
    const double of_c = OF_EACH_TERM * k + (w->c->out_type == TW_BF16 ? HALF_UNIT : 0);
    const double deviation = ERROR * size + of_c * sqrt(s->square[i]) + vanished;
    const double allowed = OWN_ROUNDING * fmin(DEVIATIONS, root) * deviation;
    const double want = s->want[i] + bias + s->addend[i], off = fabs(s->got[i] - want);
    /* Nothing is proved by what is not finite, or so large that sums in fp32 may rightly be infinite. */
    if (!isfinite(want) || !(size < OVERFLOW) || (isfinite(s->got[i]) && off <= allowed))
        return;
    if (!isfinite(s->got[i]))
        *worst = (struct worst){i, INFINITY, ERROR * size};
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
    clear(s->addend, 2 * n); /* with its squares; when there is none */
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

int tw_host_check_product(struct tw_host *h, const struct tw_checksum *c, struct tw_error *err)
{
    struct check w = {.host = h, .c = c};
    struct tw_random random = {SEED};
    int rc = check_types(c, err);
    if (rc != TW_OK)
        return rc;
    const size_t longest = (size_t)(c->k > c->n ? c->k : c->n), a_double = sizeof(double) / sizeof(float);
    rc = tw_shared_reserve(h, (size_t)(7 * (c->m + c->n) + 2 * c->k) * a_double, err);
    if (rc >= 0)
        rc = tw_own_reserve(h, 2 * longest * a_double + (SPARE_ROWS / 2 + 1) * PIECE, err);
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
    return verdict(&w, err);
}
