#include "host/operation_case.h"

#include "base/half.h"
#include "host/host.h"
#include "host/operation_bounds.h"
#include "host/reference.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define POISON 0xff /* all formats read NaN from such bytes */

static const char *const tables[] = {"c", "avx2", "avx512"};
enum { TABLES = 3, THREADS = 2 };

struct executors {
    struct operation_case c;                /* first: cases see only this */
    struct tw_host *hosts[TABLES][THREADS]; /* NULL: not on this processor */
};

int operation_case_open(void **state)
{
    struct executors *e = calloc(1, sizeof *e);
    if (e == NULL)
        return -1;
    *state = e;
    e->c.g = tw_graph_create();
    e->c.random.state = 41;
    for (int t = 0; t < TABLES; t++)
        for (unsigned n = 0; n < THREADS; n++) {
            const struct tw_host_options options = {.threads = n + 1, .kernels = tables[t]};
            int code = tw_host_create(&options, &e->hosts[t][n], NULL);
            if (code != TW_OK && (code != TW_E_UNSUPPORTED || t == 0))
                return -1;
            if (code != TW_OK && n == 0)
                print_message("%s: not on this processor, not tested\n", tables[t]);
        }
    return e->c.g == NULL;
}

static void free_blocks(struct operation_case *c)
{
    while (c->n_blocks > 0)
        free(c->blocks[--c->n_blocks]);
}

int operation_case_close(void **state)
{
    struct executors *e = *state;
    for (int t = 0; t < TABLES; t++)
        for (int n = 0; n < THREADS; n++)
            tw_host_destroy(e->hosts[t][n]);
    free_blocks(&e->c);
    tw_graph_destroy(e->c.g);
    free(e);
    return 0;
}

void case_begin(struct operation_case *c, double size)
{
    free_blocks(c);
    tw_graph_reset(c->g);
    c->size = size;
    c->edges = 0;
    c->out = TW_NONE;
    c->out_memory = NULL;
}

static int64_t draw(struct operation_case *c, int64_t low, int64_t high)
{
    return tw_random_range(&c->random, low, high);
}

/* Poisoned memory that ends where the allocation ends, so that reading past it is found, and begins anywhere. */
static unsigned char *block(struct operation_case *c, size_t bytes)
{
    size_t skew = (size_t)draw(c, 0, 7);
    unsigned char *p = malloc(skew + bytes);
    assert_non_null(p);
    assert_true(c->n_blocks < CASE_BLOCKS);
    c->blocks[c->n_blocks++] = p;
    memset(p, POISON, skew + bytes);
    return p + skew;
}

static float number(struct operation_case *c)
{
    static const float edges[] = {INFINITY, -INFINITY, NAN, 0, -0.0f, FLT_TRUE_MIN, -FLT_MIN / 3, FLT_MIN};
    if (c->edges && draw(c, 0, 40) == 0)
        return edges[draw(c, 0, (int64_t)(sizeof edges / sizeof edges[0]) - 1)];
    if (draw(c, 0, 15) == 0)
        return 0;
    return (float)((2 * tw_random_unit(&c->random) - 1) * c->size);
}

static void fill(struct operation_case *c, tw_id id)
{
    const struct tw_tensor *t = &c->g->tensors[id];
    unsigned char *data = tw_tensor_data(c->g, id, NULL);
    float *line = malloc((size_t)t->cols * sizeof *line);
    assert_non_null(line);
    for (int64_t i = 0; i < t->rows * t->batch; i++) {
        for (int64_t j = 0; j < t->cols; j++)
            line[j] = number(c);
        tw_row_from_f32(t->type, line,
                        data + (size_t)(i / t->rows) * t->batch_stride + (size_t)(i % t->rows) * t->row_stride,
                        t->cols);
    }
    free(line);
}

/* The memory of a tensor and a random way to see cols x rows x batch of it. */
struct layout {
    int64_t cols, rows, batch; /* of the memory */
    size_t offset, row_stride, batch_stride;
};

/* Columns and rows to spare around each matrix; quantised rows are taken whole. */
static struct layout spaced(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows, int64_t batch)
{
    const struct tw_type_info *info = tw_type_info(type);
    int64_t left = info->block == 1 ? draw(c, 0, 5) : 0, right = info->block == 1 ? draw(c, 0, 5) : 0;
    int64_t step = draw(c, 1, 3), above = draw(c, 0, 2);
    struct layout l = {.cols = left + cols + right, .rows = above + (rows - 1) * step + 1, .batch = batch};
    size_t row = tw_row_bytes(type, l.cols);
    l.offset = (size_t)above * row + tw_row_bytes(type, left);
    l.row_stride = (size_t)step * row;
    l.batch_stride = (size_t)l.rows * row;
    return l;
}

/* Matrices side by side in the same rows, as the heads of attention are. */
static struct layout side_by_side(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows,
                                  int64_t batch)
{
    struct layout l = {.cols = cols * batch + draw(c, 0, 3), .rows = rows, .batch = 1};
    l.row_stride = tw_row_bytes(type, l.cols);
    l.batch_stride = tw_row_bytes(type, cols);
    return l;
}

static tw_id place(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows, int64_t batch, int is_out)
{
    int kind = (int)draw(c, 0, 3);
    struct layout l = {cols, rows, batch, 0, 0, 0};
    if (kind == 1)
        l = spaced(c, type, cols, rows, batch);
    if (kind == 2 && tw_type_info(type)->block == 1)
        l = side_by_side(c, type, cols, rows, batch);
    unsigned char *data = block(c, tw_row_bytes(type, l.cols) * (size_t)(l.rows * l.batch));
    tw_id id = is_out ? tw_graph_bind(c->g, "out", type, l.cols, l.rows, l.batch, data)
                      : tw_graph_constant(c->g, "in", type, l.cols, l.rows, l.batch, data);
    if (is_out)
        c->out_memory = data;
    if (l.row_stride != 0)
        id = tw_graph_view(c->g, id, cols, rows, batch, l.offset, l.row_stride, l.batch_stride);
    assert_true(id >= 0);
    return id;
}

tw_id case_in(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows, int64_t batch)
{
    tw_id id = place(c, type, cols, rows, batch, 0);
    fill(c, id);
    return id;
}

tw_id case_out(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows, int64_t batch, int is_read)
{
    c->out = place(c, type, cols, rows, batch, 1);
    if (is_read)
        fill(c, c->out);
    return c->out;
}

tw_id case_indices(struct operation_case *c, int64_t n, int64_t limit)
{
    unsigned char *data = block(c, (size_t)n * sizeof(int32_t));
    for (int64_t i = 0; i < n; i++) {
        int32_t index = (int32_t)draw(c, 0, limit - 1);
        memcpy(data + (size_t)i * sizeof index, &index, sizeof index);
    }
    return tw_graph_constant(c->g, "indices", TW_I32, n, 1, 1, data);
}

static void finish(const struct operation_case *c)
{
    struct tw_error err = {0};
    if (tw_graph_finish(c->g, &err) != TW_OK)
        fail_msg("%s", err.text);
}

static double *float64_results(const struct operation_case *c, int64_t n)
{
    struct tw_reference *r;
    struct tw_error err = {0};
    double *want = malloc((size_t)n * sizeof *want);
    assert_non_null(want);
    if (tw_reference_run(c->g, NULL, &r, &err) != TW_OK || tw_reference_get(r, c->out, want, &err) != TW_OK)
        fail_msg("%s", err.text);
    tw_reference_destroy(r);
    return want;
}

/* Half a unit in the last place, relative, and absolute for the smallest numbers of a type. */
static double rounding_of(enum tw_type type, double want)
{
    if (type == TW_F16)
        return fmax(fabs(want) * 0x1p-11, 0x1p-25);
    if (type == TW_BF16)
        return fmax(fabs(want) * 0x1p-8, 0x1p-134);
    return 0x1p-147;
}

/* A negative bound asks for the very bits that rounding gives, NaN for nothing. */
static int is_near(enum tw_type type, double got, double want, double bound)
{
    if (isnan(bound))
        return 1;
    if (isnan(want))
        return isnan(got);
    if (bound < 0) {
        unsigned char bits[4];
        float exact = (float)want;
        tw_row_from_f32(type, &exact, bits, 1);
        tw_row_to_f32(type, bits, &exact, 1);
        return tw_float_bits(exact) == tw_float_bits((float)got);
    }
    if (isinf(want) || (type == TW_F16 && isinf(got) && fabs(want) + bound >= 65504))
        return isinf(got) && (got > 0) == (want > 0);
    return fabs(got - want) <= bound * 1.01 + rounding_of(type, want) * (1 + 0x1p-8);
}

/* GELU of minus infinity is 0 times infinity in the definition, and 0 in the limit. */
static int is_free(const struct tw_op *op, double want)
{
    return isnan(want) && (op->kind == TW_OP_GELU || op->gelu);
}

static void compare(const struct operation_case *c, const char *who, const double *want, const double *bound, int64_t n)
{
    const struct tw_tensor *t = &c->g->tensors[c->out];
    double *got = read_tensor(c->g, c->out);
    for (int64_t i = 0; i < n; i++) {
        if (is_near(t->type, got[i], want[i], bound[i]) || (got[i] == 0 && is_free(&c->g->ops[0], want[i])))
            continue;
        tw_graph_print(c->g, stderr);
        fail_msg("%s: column %d row %d batch %d is %.9g, should be %.9g within %.3g", who, (int)(i % t->cols),
                 (int)(i / t->cols % t->rows), (int)(i / t->cols / t->rows), got[i], want[i], bound[i]);
    }
    free(got);
}

/* Every byte of the output's base that does not belong to the output is as before. */
static void check_surroundings(const struct operation_case *c, const char *who, const unsigned char *before)
{
    const struct tw_tensor *t = &c->g->tensors[c->out];
    size_t size = c->g->tensors[t->base].bytes, row_bytes = tw_row_bytes(t->type, t->cols);
    unsigned char *after = malloc(size);
    assert_non_null(after);
    memcpy(after, c->out_memory, size);
    for (int64_t i = 0; i < t->rows * t->batch; i++) {
        size_t at = t->offset + (size_t)(i / t->rows) * t->batch_stride + (size_t)(i % t->rows) * t->row_stride;
        memcpy(after + at, before + at, row_bytes);
    }
    if (memcmp(after, before, size) != 0) {
        tw_graph_print(c->g, stderr);
        fail_msg("%s wrote beside its output", who);
    }
    free(after);
}

static unsigned char *copy_of(const void *data, size_t size)
{
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    return copy;
}

static void run_table(struct executors *e, int table, const unsigned char *before, const double *want,
                      const double *bound)
{
    struct operation_case *c = &e->c;
    size_t size = c->g->tensors[c->g->tensors[c->out].base].bytes;
    unsigned char *first = NULL;
    for (int n = 0; n < THREADS; n++) {
        struct tw_error err = {0};
        memcpy(c->out_memory, before, size);
        if (tw_host_run(e->hosts[table][n], c->g, &err) != TW_OK)
            fail_msg("%s: %s", tables[table], err.text);
        compare(c, tables[table], want, bound, tensor_numbers(&c->g->tensors[c->out]));
        check_surroundings(c, tables[table], before);
        if (first != NULL && memcmp(first, c->out_memory, size) != 0) {
            tw_graph_print(c->g, stderr);
            fail_msg("%s: 1 and 2 threads do not give the same bits", tables[table]);
        }
        free(first);
        first = copy_of(c->out_memory, size);
    }
    free(first);
    memcpy(c->out_memory, before, size);
}

static void set_bounds(const struct operation_case *c, double tolerance, const double *want, int64_t n, double *bound)
{
    if (tolerance == 0) {
        assert_int_equal(c->g->n_ops, 1);
        operation_bounds(c->g, want, bound);
        return;
    }
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(want[i]));
    for (int64_t i = 0; i < n; i++)
        bound[i] = tolerance * largest;
}

void case_run(struct operation_case *c, double tolerance)
{
    struct executors *e = (struct executors *)c;
    finish(c);
    int64_t n = tensor_numbers(&c->g->tensors[c->out]);
    double *want = float64_results(c, n), *bound = malloc((size_t)n * sizeof *bound);
    unsigned char *before = copy_of(c->out_memory, c->g->tensors[c->g->tensors[c->out].base].bytes);
    assert_non_null(bound);
    set_bounds(c, tolerance, want, n, bound);
    for (int t = 0; t < TABLES; t++)
        if (e->hosts[t][0] != NULL)
            run_table(e, t, before, want, bound);
    free(before);
    free(bound);
    free(want);
}

void case_refused(struct operation_case *c, int code)
{
    struct executors *e = (struct executors *)c;
    struct tw_reference *r;
    finish(c);
    assert_int_equal(tw_reference_run(c->g, NULL, &r, NULL), code);
    assert_null(r);
    for (int t = 0; t < TABLES; t++)
        for (int n = 0; n < THREADS; n++)
            if (e->hosts[t][n] != NULL)
                assert_int_equal(tw_host_run(e->hosts[t][n], c->g, NULL), code);
}
