/*
 * How much a number may be off
 *
 * The sum of |a(i,k) b(k,j)| is at most |a_i| |b_j|, by Cauchy and Schwarz, and so is each sum so far, to whose last
 * place each of k terms is rounded (bounds.h): x, the number before GELU if there is any, is off by at most 2^-24 k of
 * that, whatever the numbers. What is left, our own sums in fp32 among it, is below ERRORS times E. GELU is nowhere
 * steeper than SLOPE. Beside that stand the array's own error in GELU, and the rounding of the last sum.
 */
#include "host/check_numbers.h"

#include "base/memory.h"
#include "host/bounds.h"
#include "host/executor.h"
#include "host/sum_pass.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS 2.0
#define SLOPE 1.25         /* 1.13, and some room */
#define ROOM_BYTES 8000000 /* for numbers before GELU: rows are taken in parts, */
enum { LEAST_ROWS = 96 };  /* but not in small ones, since each part packs B anew */

struct numbers {
    struct tw_host *host;
    const struct tw_checksum *c;
    double of_size, root_k;    /* what x may be off by, of its size; the root of k */
    double gelu_error;         /* 0 without GELU */
    float rounding;            /* of the last sum, of its size */
    uint16_t *a, *b;           /* as bf16, densely packed */
    double *a_norms, *b_norms; /* of rows of A, of columns of B: at first the squares */
    float *before;             /* x of the rows from `row` on */
    float *bias;               /* aligned; NULL: none */
    int64_t row;
    atomic_llong wrong; /* the first that is: rows from `row`, times n, and the column; -1: none */
};

/* ---- operands ---- */

struct conversion {
    const struct tw_host *host;
    enum tw_type type;
    const unsigned char *from;
    size_t stride;
    int64_t n;
    uint16_t *to;
};

static void convert_row(void *arg, size_t row, unsigned worker)
{
    const struct conversion *c = arg;
    tw_round_row(c->host->kernels, c->type, c->from + row * c->stride, c->n, c->to + (int64_t)row * c->n,
                 tw_own(c->host, worker));
}

static void convert(const struct numbers *w, enum tw_type type, const void *from, size_t stride, int64_t rows,
                    int64_t n, uint16_t *to)
{
    struct conversion c = {.host = w->host, .type = type, .from = from, .stride = stride, .n = n, .to = to};
    tw_pool_run(w->host->pool, (size_t)rows, convert_row, &c);
}

static int prepare(const struct numbers *w, struct tw_error *err)
{
    const struct tw_checksum *c = w->c;
    const int64_t rows = c->b_rows ? c->k : c->n, columns = c->b_rows ? c->n : c->k;
    int code = tw_sum_pass_reserve(w->host, c->k > c->n ? c->k : c->n, err); /* more than a line */
    if (code < 0)
        return code;
    convert(w, c->a_type, c->a, c->a_stride, c->m, c->k, w->a);
    convert(w, c->b_type, c->b, c->b_stride, rows, columns, w->b);
    tw_sum_pass(w->host, TW_BF16, 1, w->a, (size_t)c->k * sizeof *w->a, c->m, c->k,
                (struct tw_sums){.row_squares = w->a_norms});
    tw_sum_pass(w->host, TW_BF16, 1, w->b, (size_t)columns * sizeof *w->b, rows, columns,
                (struct tw_sums){.column_squares = c->b_rows ? w->b_norms : NULL,
                                 .row_squares = c->b_rows ? NULL : w->b_norms});
    return TW_OK;
}

/* ---- what it should be ---- */

static int multiply(const struct numbers *w, int64_t rows, struct tw_error *err)
{
    const struct tw_checksum *c = w->c;
    struct tw_graph *g = tw_graph_create();
    if (g == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the proof of a product");
    const tw_id a = tw_graph_constant(g, "a", TW_BF16, c->k, rows, 1, w->a + w->row * c->k);
    const tw_id b = tw_graph_constant(g, "b", TW_BF16, c->b_rows ? c->n : c->k, c->b_rows ? c->k : c->n, 1, w->b);
    const tw_id bias = w->bias != NULL ? tw_graph_constant(g, "bias", TW_F32, c->n, 1, 1, w->bias) : TW_NONE;
    const tw_id out = tw_graph_bind(g, "x", TW_F32, c->n, rows, 1, w->before);
    (void)tw_graph_product(g, out, a, b, bias, (struct tw_product_options){.b_rows = c->b_rows});
    int code = tw_graph_finish(g, err);
    if (code == TW_OK)
        code = tw_host_run(w->host, g, err);
    tw_graph_destroy(g);
    return code;
}

/* ---- comparison ---- */

enum { LINES = 3 };

/* A row: numbers of the result, before GELU, after it, and addends; bias for all rows. */
struct row {
    const float *out, *before, *gelu, *addend, *bias; /* addend, bias: NULL for none */
    double a_norm;
};

struct found {
    double is, should, allowed;
};

/* How far a number before GELU may be off. */
static double tolerance(const struct numbers *w, const struct row *r, int64_t column)
{
    const double b_norm = w->b_norms[column];
    const double size = r->a_norm * b_norm + (r->bias != NULL ? fabs((double)r->bias[column]) : 0);
    if (!(size < TW_BOUND_OVERFLOW))
        return INFINITY;
    return w->of_size * size + TW_BOUND_TINY * (w->root_k * (r->a_norm + b_norm) + w->root_k * w->root_k);
}

static struct found find(const struct numbers *w, const struct row *r, int64_t column)
{
    const double before = (double)r->before[column], gelu = (double)r->gelu[column];
    const double addend = r->addend != NULL ? (double)r->addend[column] : 0;
    const double of_gelu = w->gelu_error * ((before > 0 ? before : 0) - gelu);
    const double of_sum = ERRORS * TW_BOUND_ERROR * (fabs(gelu) + fabs(addend)) + TW_BOUND_TINY;
    struct found f = {.is = (double)r->out[column], .should = gelu + addend, .allowed = INFINITY};
    if (!(fabs(gelu) + fabs(addend) < TW_BOUND_OVERFLOW))
        return f;
    f.allowed = SLOPE * tolerance(w, r, column) + of_gelu + of_sum;
    if (w->c->out_type == TW_BF16)
        f.allowed += TW_BOUND_HALF_UNIT * (fabs(f.should) + f.allowed);
    return f;
}

/* What is explained by the last rounding alone, as most numbers are, needs no more thought. */
static int is_near(const struct numbers *w, const struct row *r, int64_t column)
{
    const float should = r->gelu[column] + (r->addend != NULL ? r->addend[column] : 0);
    return fabsf(r->out[column] - should) <= w->rounding * fabsf(should);
}

/* Nothing is proved by what is not finite, or so large that sums in fp32 may rightly be infinite. */
static int is_wrong(const struct found *f)
{
    return isfinite(f->should) && isfinite(f->allowed) && !(fabs(f->is - f->should) <= f->allowed);
}

/* Row number i of the part that begins at w->row, whose numbers are brought to `lines`. */
static struct row read_row(const struct numbers *w, int64_t i, float *lines)
{
    const struct tw_checksum *c = w->c;
    const struct tw_kernels *k = w->host->kernels;
    const size_t at = (size_t)(w->row + i);
    struct row r = {.out = lines, .before = w->before + i * c->n, .gelu = lines + c->n, .bias = w->bias};
    k->widen(c->out_type, (const unsigned char *)c->out + at * c->out_stride, lines, c->n);
    if (c->gelu)
        k->gelu(r.before, lines + c->n, c->n);
    else
        r.gelu = r.before;
    if (c->addend != NULL) {
        k->widen(TW_F32, (const unsigned char *)c->addend + at * c->addend_stride, lines + 2 * c->n, c->n);
        r.addend = lines + 2 * c->n;
    }
    r.a_norm = w->a_norms[at];
    return r;
}

/* The same with any number of threads. */
static void keep_first(atomic_llong *first, long long at)
{
    long long before = atomic_load(first);
    while ((before < 0 || at < before) && !atomic_compare_exchange_weak(first, &before, at))
        ;
}

static void compare_row(void *arg, size_t index, unsigned worker)
{
    struct numbers *w = arg;
    const struct row r = read_row(w, (int64_t)index, tw_own(w->host, worker));
    for (int64_t j = 0; j < w->c->n; j++) {
        if (is_near(w, &r, j))
            continue;
        const struct found f = find(w, &r, j);
        if (is_wrong(&f))
            keep_first(&w->wrong, (int64_t)index * w->c->n + j);
    }
}

static int compare(struct numbers *w, int64_t rows, struct tw_error *err)
{
    int code = tw_own_reserve(w->host, (size_t)(LINES * w->c->n), err);
    if (code < 0)
        return code;
    atomic_init(&w->wrong, -1);
    tw_pool_run(w->host->pool, (size_t)rows, compare_row, w);
    const long long wrong = atomic_load(&w->wrong);
    if (wrong < 0)
        return TW_OK;
    const int64_t row = wrong / w->c->n, column = wrong % w->c->n;
    const struct row r = read_row(w, row, tw_own(w->host, 0));
    const struct found f = find(w, &r, column);
    return tw_fail(err, TW_E_CHECKSUM,
                   "a product of %lld x %lld x %lld is wrong in row %lld and column %lld: it is off by %.3g, "
                   "and rounding explains %.3g",
                   (long long)w->c->m, (long long)w->c->k, (long long)w->c->n, (long long)(w->row + row),
                   (long long)column, isfinite(f.is) ? fabs(f.is - f.should) : (double)INFINITY, f.allowed);
}

/* ---- the whole ---- */

static void roots(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = sqrt(x[i]);
}

static int check_parts(struct numbers *w, int64_t rows_a_part, struct tw_error *err)
{
    int code = prepare(w, err);
    if (code < 0)
        return code;
    roots(w->a_norms, w->c->m);
    roots(w->b_norms, w->c->n);
    if (w->bias != NULL)
        memcpy(w->bias, w->c->bias, (size_t)w->c->n * sizeof *w->bias);
    for (w->row = 0; code == TW_OK && w->row < w->c->m; w->row += rows_a_part) {
        const int64_t rows = tw_least(rows_a_part, w->c->m - w->row);
        code = multiply(w, rows, err);
        if (code == TW_OK)
            code = compare(w, rows, err);
    }
    return code;
}

int tw_check_numbers(struct tw_host *h, const struct tw_checksum *c, struct tw_error *err)
{
    const size_t m = (size_t)c->m, k = (size_t)c->k, n = (size_t)c->n; /* at most 2^20 each */
    const int64_t fit = ROOM_BYTES / (int64_t)(n * sizeof(float));
    const int64_t rows = tw_least(c->m, fit > LEAST_ROWS ? fit : LEAST_ROWS);
    struct numbers w = {.host = h,
                        .c = c,
                        .of_size = ERRORS * TW_BOUND_ERROR + TW_BOUND_OF_EACH_TERM * (double)k,
                        .root_k = sqrt((double)k),
                        .gelu_error = c->gelu ? (double)c->gelu_error : 0,
                        .rounding = c->out_type == TW_BF16 ? TW_BOUND_HALF_UNIT : TW_BOUND_ERROR,
                        .a = tw_alloc(m * k * sizeof *w.a),
                        .b = tw_alloc(n * k * sizeof *w.b),
                        .a_norms = tw_alloc(m * sizeof *w.a_norms),
                        .b_norms = tw_alloc(n * sizeof *w.b_norms),
                        .before = tw_alloc((size_t)rows * n * sizeof *w.before),
                        .bias = c->bias != NULL ? tw_alloc(n * sizeof *w.bias) : NULL};
    int code = w.a != NULL && w.b != NULL && w.a_norms != NULL && w.b_norms != NULL && w.before != NULL &&
                       (w.bias != NULL || c->bias == NULL)
                   ? check_parts(&w, rows, err)
                   : tw_fail(err, TW_E_MEMORY, "no memory to compute a product of %zu x %zu x %zu again", m, k, n);
    free(w.a);
    free(w.b);
    free(w.a_norms);
    free(w.b_norms);
    free(w.before);
    free(w.bias);
    return code;
}
