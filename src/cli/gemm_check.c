#include "cli/gemm.h"

#include "base/half.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* About a second of one core, and numbers for 256 MiB. */
#define MACS_MAX 2e9
#define NUMBERS_MAX 32e6

enum { LANES = 8, COLUMNS_AT_ONCE = 8 };

/* Rows of the chain under way. */
struct state {
    const struct tw_gemm *gemm;
    const struct tw_gemm_data *data;
    int32_t rows, product;
    double *x, *y;   /* rows of what the next product reads, and of what it makes */
    double *columns; /* of B, one for each worker */
};

static int64_t longest_row(const struct tw_gemm *g)
{
    return g->depth > g->columns ? g->depth : g->columns;
}

static int32_t affordable_rows(const struct tw_gemm *g)
{
    const double by_macs = MACS_MAX / (tw_gemm_macs(g) / g->rows), by_memory = NUMBERS_MAX / (double)longest_row(g);
    const double most = by_macs < by_memory ? by_macs : by_memory;
    return most >= g->rows ? g->rows : most < 1 ? 1 : (int32_t)most;
}

static int64_t row_at(const struct state *s, int32_t i)
{
    return s->rows == 1 ? 0 : (int64_t)i * (s->gemm->rows - 1) / (s->rows - 1);
}

static double round_to_bf16(double x)
{
    return (double)tw_bf16_to_f32(tw_f32_to_bf16((float)x));
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}

/* Several sums at once, which a compiler can put side by side. */
static double dot(const double *a, const double *b, int64_t n)
{
    double sums[LANES] = {0}, sum = 0;
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int i = 0; i < LANES; i++)
            sums[i] += a[k + i] * b[k + i];
    for (; k < n; k++)
        sum += a[k] * b[k];
    for (int i = 0; i < LANES; i++)
        sum += sums[i];
    return sum;
}

static double finish(const struct state *s, double sum, int32_t row, int64_t column)
{
    const int odd = s->product % 2;
    const float *bias = s->data->bias[odd], *addend = s->data->addend[odd];
    const int64_t columns = tw_gemm_columns(s->gemm, s->product);
    sum += bias != NULL ? (double)bias[column] : 0;
    sum = s->gemm->gelu ? gelu(sum) : sum;
    sum += addend != NULL ? (double)addend[row_at(s, row) * columns + column] : 0;
    return s->product + 1 < s->gemm->chain ? round_to_bf16(sum) : sum;
}

/* A task: some columns of all rows. */
static void some_columns(void *arg, size_t index, unsigned worker)
{
    const struct state *s = arg;
    const int64_t depth = tw_gemm_depth(s->gemm, s->product), columns = tw_gemm_columns(s->gemm, s->product);
    double *b = s->columns + (int64_t)worker * longest_row(s->gemm);
    for (int64_t j = (int64_t)index * COLUMNS_AT_ONCE; j < columns && j < ((int64_t)index + 1) * COLUMNS_AT_ONCE; j++) {
        const uint16_t *stored = s->data->b[s->product % 2] + j * depth;
        for (int64_t k = 0; k < depth; k++)
            b[k] = (double)tw_bf16_to_f32(stored[k]);
        for (int32_t i = 0; i < s->rows; i++)
            s->y[i * columns + j] = finish(s, dot(s->x + i * depth, b, depth), i, j);
    }
}

/* A as the array sees it. */
static void read_a(struct state *s)
{
    const int64_t depth = s->gemm->depth;
    for (int32_t i = 0; i < s->rows; i++)
        for (int64_t k = 0; k < depth; k++) {
            const int64_t at = row_at(s, i) * depth + k;
            s->x[i * depth + k] = s->gemm->a_f32 ? round_to_bf16((double)((const float *)s->data->a)[at])
                                                 : (double)tw_bf16_to_f32(((const uint16_t *)s->data->a)[at]);
        }
}

static double nmse(const struct state *s)
{
    const int64_t columns = tw_gemm_columns(s->gemm, s->gemm->chain - 1);
    double errors = 0, squares = 0;
    for (int32_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const int64_t at = row_at(s, i) * columns + j;
            const double right = s->y[i * columns + j];
            const double c = s->gemm->out_bf16 ? (double)tw_bf16_to_f32(((const uint16_t *)s->data->c)[at])
                                               : (double)((const float *)s->data->c)[at];
            errors += (c - right) * (c - right);
            squares += right * right;
        }
    const double ratio = squares > 0 ? errors / squares : errors;
    return isfinite(ratio) ? ratio : INFINITY;
}

static void multiply(struct state *s, struct tw_pool *pool)
{
    read_a(s);
    for (s->product = 0; s->product < s->gemm->chain; s->product++) {
        if (s->product > 0) {
            double *made = s->y;
            s->y = s->x;
            s->x = made;
        }
        const int64_t columns = tw_gemm_columns(s->gemm, s->product);
        tw_pool_run(pool, (size_t)((columns + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE), some_columns, s);
    }
}

static double *take(size_t count, int64_t length)
{
    size_t numbers, bytes;
    return tw_mul_size(count, (size_t)length, &numbers) || tw_mul_size(numbers, sizeof(double), &bytes) ? NULL
                                                                                                        : malloc(bytes);
}

int tw_gemm_check(const struct tw_gemm *g, const struct tw_gemm_data *data, struct tw_gemm_proof *proof,
                  struct tw_error *err)
{
    struct state s = {.gemm = g, .data = data, .rows = affordable_rows(g)};
    const int64_t longest = longest_row(g);
    struct tw_pool *pool = NULL;
    *proof = (struct tw_gemm_proof){.rows_checked = s.rows};
    int code = tw_pool_create((unsigned)g->threads, &pool, err);
    if (code < 0)
        return code;
    s.x = take((size_t)s.rows, longest);
    s.y = take((size_t)s.rows, longest);
    s.columns = take(tw_pool_size(pool), longest);
    if (s.x == NULL || s.y == NULL || s.columns == NULL) {
        code = tw_fail(err, TW_E_MEMORY, "no memory to compare %d rows of the result with float64", s.rows);
    } else {
        multiply(&s, pool);
        proof->nmse = nmse(&s);
    }
    free(s.x);
    free(s.y);
    free(s.columns);
    tw_pool_destroy(pool);
    return code;
}
