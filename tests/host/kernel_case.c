#include "host/kernel_case.h"

#include "base/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GUARD 24          /* floats before and after an output */
#define POISON 0x7fc0dead /* a NaN that no kernel makes */

const enum tw_type all_types[N_TYPES] = {TW_F32, TW_F16, TW_BF16, TW_Q5_0, TW_Q8_0};

struct output new_output(int64_t n)
{
    struct output o = {.block = malloc((size_t)(n + 2 * GUARD) * sizeof(float)), .n = n};
    assert_non_null(o.block);
    for (int64_t i = 0; i < n + 2 * GUARD; i++)
        o.block[i] = tw_bits_float(POISON);
    o.at = o.block + GUARD;
    return o;
}

int poisoned(const float *p)
{
    return tw_float_bits(*p) == POISON;
}

void end_output(struct output *o)
{
    for (int64_t i = 0; i < GUARD; i++) {
        assert_true(poisoned(o->block + i));
        assert_true(poisoned(o->at + o->n + i));
    }
    free(o->block);
}

float random_in(struct tw_random *r, float low, float high)
{
    return low + (float)tw_random_unit(r) * (high - low);
}

float *random_floats(struct tw_random *r, int64_t n, float low, float high)
{
    float *p = malloc((size_t)(n > 0 ? n : 1) * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = random_in(r, low, high);
    return p;
}

struct stored random_stored(struct tw_random *r, enum tw_type type, int64_t cols, int64_t rows)
{
    struct stored s;
    size_t bytes = tw_row_bytes(type, cols);
    s.stride = bytes + (size_t)tw_random_range(r, 0, 3);
    s.block = malloc(s.stride * (size_t)rows + 8);
    assert_non_null(s.block);
    s.at = s.block + tw_random_range(r, 0, 7);
    for (int64_t i = 0; i < rows; i++) {
        float *row = random_floats(r, cols, -2, 2);
        tw_row_from_f32(type, row, s.at + (size_t)i * s.stride, cols);
        free(row);
    }
    return s;
}

unsigned char *random_bytes(struct tw_random *r, size_t n)
{
    unsigned char *p = malloc(n > 0 ? n : 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)tw_random_u64(r);
    return p;
}

static const float edges[] = {0.0f,      -0.0f,     1.0f,       -1.0f,      0x1p-149f,      -0x1p-149f,
                              0x1p-126f, 1e-30f,    1e30f,      -1e30f,     3.4e38f,        -3.4e38f,
                              65504,     65519.99f, 65520,      -65520,     0x1p-14f,       0x1.ffcp-15f,
                              0x1p-24f,  0x1p-25f,  0x1.8p-25f, 1.0009765f, 1.00048828125f, 1.00390625f};
#define N_EDGES ((int64_t)(sizeof edges / sizeof *edges))

float wild(struct tw_random *r)
{
    switch (tw_random_range(r, 0, 9)) {
    case 0:
        return INFINITY;
    case 1:
        return -INFINITY;
    case 2:
        return NAN;
    case 3:
    case 4:
    case 5:
        return edges[tw_random_range(r, 0, N_EDGES - 1)];
    default:
        return random_in(r, -10, 10);
    }
}

int same(float a, float b)
{
    return tw_float_bits(a) == tw_float_bits(b) || (isnan(a) && isnan(b));
}

int near(float a, float b, double size)
{
    if (!isfinite(a) || !isfinite(b))
        return same(a, b);
    return fabs((double)a - (double)b) <= NEAR * size;
}

void for_each_table(void (*check)(const struct tw_kernels *k, struct tw_random *r))
{
    const struct tw_kernels *k;
    for (unsigned i = 0; (k = tw_kernels_at(i)) != NULL; i++) {
        struct tw_random r = {17};
        check(k, &r);
    }
}
