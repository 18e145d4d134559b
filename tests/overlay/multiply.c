#include "overlay/multiply.h"

#include "base/half.h"
#include "overlay/layout.h"
#include "overlay/pack.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { POISON = 0xff /* not a number in either type */ };

static uint16_t number(struct tw_random *random)
{
    return tw_f32_to_bf16((float)(2 * tw_random_unit(random) - 1));
}

static unsigned element(const struct multiply *x)
{
    return x->product.shape.size.bf16_out ? 2 : 4;
}

static void make_a(struct multiply *x, struct device *d, struct tw_random *random, uint32_t gap)
{
    struct tw_overlay_product *p = &x->product;
    const struct tw_overlay_size *size = &p->shape.size;

    p->lda = tw_overlay_depth(&p->shape) + gap + 2 * (uint32_t)tw_random_range(random, 0, 20);
    const uint64_t bytes = (uint64_t)tw_overlay_height(&p->shape) * p->lda * 2;
    p->a = (struct tw_overlay_place){device_buffer(d, bytes), 0};
    uint16_t *a = (uint16_t *)(void *)d->bytes[p->a.argument];
    memset(a, POISON, bytes);
    for (uint32_t i = 0; i < size->rows; i++) {
        memset(a + (size_t)i * p->lda, 0, 2 * (size_t)tw_overlay_depth(&p->shape));
        for (uint32_t k = 0; k < size->depth; k++)
            a[(size_t)i * p->lda + k] = number(random);
    }
}

static void make_d(struct multiply *x, struct device *d, struct tw_random *random, uint32_t gap)
{
    struct tw_overlay_product *p = &x->product;
    const struct tw_overlay_size *size = &p->shape.size;

    if (!size->addend)
        return;
    p->ldd = tw_overlay_width(&p->shape) + gap + (uint32_t)tw_random_range(random, 0, 20);
    const uint64_t bytes = (uint64_t)tw_overlay_height(&p->shape) * p->ldd * 4;
    p->d = (struct tw_overlay_place){device_buffer(d, bytes), 0};
    float *numbers = (float *)(void *)d->bytes[p->d.argument];
    memset(numbers, POISON, bytes);
    for (uint32_t i = 0; i < size->rows; i++)
        for (uint32_t j = 0; j < size->columns; j++)
            numbers[(size_t)i * p->ldd + j] = (float)(8 * tw_random_unit(random) - 4);
}

/* B as it is, by rows or by columns; what lies beyond the product's depth is some number, beyond its columns none. */
static void make_plain_b(struct multiply *x, struct device *d, struct tw_random *random)
{
    struct tw_overlay_product *p = &x->product;
    const struct tw_overlay_size *size = &p->shape.size;
    const uint32_t depth = tw_overlay_depth(&p->shape), width = tw_overlay_width(&p->shape);
    const int by_rows = size->order == TW_OVERLAY_BY_ROWS;

    p->ldb = (by_rows ? width : depth) + 2 * (uint32_t)tw_random_range(random, 0, 20);
    p->b = (struct tw_overlay_place){device_buffer(d, 2 * (uint64_t)p->ldb * (by_rows ? depth : width)), 0};
    uint16_t *b = (uint16_t *)(void *)d->bytes[p->b.argument];
    memset(b, POISON, 2 * (size_t)p->ldb * (by_rows ? depth : width));
    for (uint32_t k = 0; k < depth; k++)
        for (uint32_t j = 0; j < size->columns; j++)
            b[by_rows ? (size_t)k * p->ldb + j : (size_t)j * p->ldb + k] =
                k < size->depth ? x->b[(size_t)k * size->columns + j] : number(random);
}

static void make_b(struct multiply *x, struct device *d, struct tw_random *random)
{
    struct tw_overlay_product *p = &x->product;
    const struct tw_overlay_size *size = &p->shape.size;
    const size_t n = (size_t)size->depth * size->columns;

    x->b = malloc(2 * n);
    assert_non_null(x->b);
    for (size_t i = 0; i < n; i++)
        x->b[i] = number(random);
    if (size->order != TW_OVERLAY_PACKED) {
        make_plain_b(x, d, random);
        return;
    }
    p->b = (struct tw_overlay_place){device_buffer(d, tw_overlay_packed_bytes(&p->shape)), 0};
    const struct tw_overlay_matrix matrix = {x->b, size->columns, 1};
    tw_overlay_pack_b(&p->shape, &matrix, (uint16_t *)(void *)d->bytes[p->b.argument]);
}

static void make_headers(struct multiply *x, struct device *d, struct tw_random *random)
{
    struct tw_overlay_product *p = &x->product;
    if (x->flags & TW_JOB_ADD_BIAS) {
        x->bias = malloc(sizeof(float) * p->shape.size.columns);
        assert_non_null(x->bias);
        for (uint32_t j = 0; j < p->shape.size.columns; j++)
            x->bias[j] = (float)(4 * tw_random_unit(random) - 2);
    }
    p->headers = (struct tw_overlay_place){device_buffer(d, tw_overlay_header_bytes(&p->shape)), 0};
    tw_overlay_write_headers(&p->shape, x->flags & TW_JOB_GELU, x->bias, d->bytes[p->headers.argument]);
}

void multiply_make(struct multiply *x, struct device *d, struct tw_random *random, uint32_t rows, uint32_t depth,
                   uint32_t columns, const struct multiply_options *options)
{
    struct tw_overlay_product *p = &x->product;
    const struct tw_overlay_size size = {rows,           depth,
                                         columns,        (options->flags & TW_JOB_BF16) != 0,
                                         options->order, (options->flags & TW_JOB_ADDEND) != 0};

    memset(x, 0, sizeof *x);
    x->flags = options->flags;
    if (options->m == 0)
        assert_int_equal(tw_overlay_choose(&size, &p->shape, NULL), 0);
    else
        assert_int_equal(tw_overlay_cut(&size, options->m, options->n, &p->shape, NULL), 0);
    if (options->a_of == NULL)
        make_a(x, d, random, options->gap_a);
    else {
        p->a = options->a_of->product.c;
        p->lda = options->a_of->product.ldc;
    }
    if (options->d_of == NULL)
        make_d(x, d, random, options->gap_d);
    else {
        p->d = options->d_of->product.c;
        p->ldd = options->d_of->product.ldc;
    }
    make_b(x, d, random);
    make_headers(x, d, random);
    p->ldc = tw_overlay_width(&p->shape) + options->gap + 2 * (uint32_t)tw_random_range(random, 0, 20);
    p->c = (struct tw_overlay_place){
        device_buffer(d, (uint64_t)(tw_overlay_height(&p->shape) + 400) * p->ldc * element(x)), 0};
    multiply_poison(x, d);
}

void multiply_free(struct multiply *x)
{
    free(x->b);
    free(x->bias);
}

void multiply_poison(const struct multiply *x, struct device *d)
{
    const struct tw_overlay_product *p = &x->product;
    memset(d->bytes[p->c.argument], POISON, (size_t)tw_overlay_height(&p->shape) * p->ldc * element(x));
}

/* The true result, and the sum of magnitudes that bounds the error. */
static double truth(const struct multiply *x, const struct device *d, uint32_t i, uint32_t j, double *magnitude)
{
    const struct tw_overlay_product *p = &x->product;
    const uint16_t *a = (const uint16_t *)(const void *)d->bytes[p->a.argument] + (size_t)i * p->lda;
    double sum = x->bias == NULL ? 0 : (double)x->bias[j];

    *magnitude = fabs(sum);
    for (uint32_t k = 0; k < p->shape.size.depth; k++) {
        double term = (double)tw_bf16_to_f32(a[k]) * tw_bf16_to_f32(x->b[(size_t)k * p->shape.size.columns + j]);
        sum += term;
        *magnitude += fabs(term);
    }
    return sum;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

/* What one bf16 number differs from the next at a value. */
static double ulp(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, exponent - 8);
}

static void check_one(const struct multiply *x, const struct device *d, uint32_t i, uint32_t j)
{
    const struct tw_overlay_product *p = &x->product;
    const unsigned char *at = d->bytes[p->c.argument] + ((size_t)i * p->ldc + j) * element(x);
    float found;
    double magnitude, expected = truth(x, d, i, j, &magnitude), allowed = ldexp(magnitude, -20);

    if (p->shape.size.bf16_out) {
        uint16_t half;
        memcpy(&half, at, sizeof half);
        found = tw_bf16_to_f32(half);
    } else {
        memcpy(&found, at, sizeof found);
    }
    if (x->flags & TW_JOB_GELU) {
        /* Its slope is less than 1.13; where it is all but zero the core's differs by some of its argument. */
        allowed = 1.13 * allowed + ldexp(fabs(expected), -30);
        expected = gelu(expected);
        allowed += 1.25 * ulp(expected);
    }
    if (p->shape.size.addend) {
        const float *addend = (const float *)(const void *)d->bytes[p->d.argument] + (size_t)i * p->ldd + j;
        allowed += ldexp(fabs((double)*addend) + fabs(expected), -22);
        expected += (double)*addend;
    }
    if (p->shape.size.bf16_out)
        allowed += ulp(expected);
    if (!(fabs((double)found - expected) <= allowed))
        fail_msg("%u x %u x %u, order %d, flags %u, in blocks of %u x %u: C[%u][%u] is %.9g, not %.9g",
                 p->shape.size.rows, p->shape.size.depth, p->shape.size.columns, (int)p->shape.size.order, x->flags,
                 p->shape.m, p->shape.n, i, j, (double)found, expected);
}

/* All of a small product; of a large one every row and column, but not every pair of them. */
void multiply_check(const struct multiply *x, const struct device *d)
{
    const struct tw_overlay_size *size = &x->product.shape.size;
    const uint64_t work = (uint64_t)size->rows * size->columns * size->depth;
    const uint32_t step = (uint32_t)(1 + work / 20000000);
    for (uint32_t i = 0; i < size->rows; i++)
        for (uint32_t j = i % step; j < size->columns; j += step)
            check_one(x, d, i, j);
}
