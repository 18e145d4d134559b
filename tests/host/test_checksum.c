/* Proof of products by sums: right ones pass even with the worst rounding, and wrong ones of every kind do not. */
#include "base/half.h"
#include "base/random.h"
#include "host/checksum.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const tables[] = {"c", "avx2", "avx512"};
enum { TABLES = 3, THREADS = 2 };

static struct tw_host *hosts[TABLES][THREADS]; /* NULL: not on this processor */

static int open_hosts(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++)
        for (unsigned n = 0; n < THREADS; n++) {
            const struct tw_host_options options = {.threads = n + 1, .kernels = tables[t]};
            int code = tw_host_create(&options, &hosts[t][n], NULL);
            if (code != TW_OK && (code != TW_E_UNSUPPORTED || t == 0))
                return -1;
        }
    return 0;
}

static int close_hosts(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++)
        for (int n = 0; n < THREADS; n++)
            tw_host_destroy(hosts[t][n]);
    return 0;
}

/* A product whose operands lie anywhere, and what it should be. */
struct product {
    struct tw_checksum c;
    double *a, *b;             /* as they count: m x k, and n x k */
    double *exact, *magnitude; /* m x n: A * B + bias + addend, and the same of magnitudes */
    unsigned char *memory[5];
    struct tw_random random;
};

static int64_t draw(struct product *p, int64_t low, int64_t high)
{
    return tw_random_range(&p->random, low, high);
}

static double gauss(struct tw_random *r)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += tw_random_unit(r);
    return sum - 6;
}

/* Random rows of the type at a random place and stride; their numbers, rounded to bf16 when they count so, to values.
 */
static const void *matrix(struct product *p, int which, enum tw_type type, int as_bf16, int64_t rows, int64_t cols,
                          size_t *stride, double *values)
{
    size_t skew = (size_t)draw(p, 0, 7), row = tw_row_bytes(type, cols);
    float *line = malloc((size_t)cols * sizeof *line);
    *stride = row + (size_t)draw(p, 0, 9);
    p->memory[which] = malloc(skew + (size_t)(rows - 1) * *stride + row);
    assert_true(line != NULL && p->memory[which] != NULL);
    for (int64_t r = 0; r < rows; r++) {
        unsigned char *to = p->memory[which] + skew + (size_t)r * *stride;
        for (int64_t i = 0; i < cols; i++)
            line[i] = (float)gauss(&p->random);
        tw_row_from_f32(type, line, to, cols);
        tw_row_to_f32(type, to, line, cols);
        for (int64_t i = 0; i < cols; i++)
            values[r * cols + i] = (double)(as_bf16 ? tw_bf16_to_f32(tw_f32_to_bf16(line[i])) : line[i]);
    }
    free(line);
    return p->memory[which] + skew;
}

static double *doubles(int64_t n)
{
    double *p = calloc((size_t)n, sizeof *p);
    assert_non_null(p);
    return p;
}

/* b as n rows of k, whatever the order in memory. */
static void turn(double *b, int64_t k, int64_t n)
{
    double *copy = doubles(k * n);
    memcpy(copy, b, (size_t)(k * n) * sizeof *copy);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < n; j++)
            b[j * k + i] = copy[i * n + j];
    free(copy);
}

static void set_exact(struct product *p, const double *bias, const double *addend)
{
    const struct tw_checksum *c = &p->c;
    for (int64_t i = 0; i < c->m; i++)
        for (int64_t j = 0; j < c->n; j++) {
            double sum = bias[j] + addend[i * c->n + j], size = fabs(bias[j]) + fabs(addend[i * c->n + j]);
            for (int64_t k = 0; k < c->k; k++) {
                sum += p->a[i * c->k + k] * p->b[j * c->k + k];
                size += fabs(p->a[i * c->k + k] * p->b[j * c->k + k]);
            }
            p->exact[i * c->n + j] = sum;
            p->magnitude[i * c->n + j] = size;
        }
}

enum extras { BIAS = 1, ADDEND = 2 };

static void make(struct product *p, int64_t m, int64_t k, int64_t n, enum tw_type a, enum tw_type b, int b_rows,
                 enum tw_type out, unsigned extras)
{
    struct tw_checksum *c = &p->c;
    double *bias = doubles(n), *addend = doubles(m * n);
    size_t bias_stride;
    *c = (struct tw_checksum){.a_type = a, .b_type = b, .b_rows = b_rows, .out_type = out, .m = m, .k = k, .n = n};
    p->a = doubles(m * k);
    p->b = doubles(n * k);
    p->exact = doubles(m * n);
    p->magnitude = doubles(m * n);
    memset(p->memory, 0, sizeof p->memory);
    c->a = matrix(p, 0, a, 1, m, k, &c->a_stride, p->a);
    c->b = matrix(p, 1, b, 1, b_rows ? k : n, b_rows ? n : k, &c->b_stride, p->b);
    if (b_rows)
        turn(p->b, k, n);
    if (extras & BIAS)
        c->bias = matrix(p, 2, TW_F32, 0, 1, n, &bias_stride, bias);
    if (extras & ADDEND)
        c->addend = matrix(p, 3, TW_F32, 0, m, n, &c->addend_stride, addend);
    c->out = matrix(p, 4, out, 0, m, n, &c->out_stride, p->exact);
    set_exact(p, bias, addend);
    free(bias);
    free(addend);
}

static void unmake(struct product *p)
{
    for (int i = 0; i < 5; i++)
        free(p->memory[i]);
    free(p->a);
    free(p->b);
    free(p->exact);
    free(p->magnitude);
}

static unsigned char *at(const struct product *p, int64_t row, int64_t column)
{
    const unsigned char *out = p->c.out;
    return (unsigned char *)(uintptr_t)out + (size_t)row * p->c.out_stride + tw_row_bytes(p->c.out_type, column);
}

static float get(const struct product *p, int64_t row, int64_t column)
{
    float x;
    tw_row_to_f32(p->c.out_type, at(p, row, column), &x, 1);
    return x;
}

static void put(const struct product *p, int64_t row, int64_t column, double value)
{
    float x = (float)value;
    tw_row_from_f32(p->c.out_type, &x, at(p, row, column), 1);
}

/* C with errors of so much of the bound, of random sign (spread) or of one. */
static void fill(struct product *p, double part, int spread)
{
    for (int64_t i = 0; i < p->c.m; i++)
        for (int64_t j = 0; j < p->c.n; j++) {
            double error = part * 0x1p-20 * p->magnitude[i * p->c.n + j];
            put(p, i, j, p->exact[i * p->c.n + j] + (spread && draw(p, 0, 1) ? -error : error));
        }
}

static double true_gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

static double addend_at(const struct product *p, int64_t i, int64_t j)
{
    float x = 0;
    if (p->c.addend != NULL)
        memcpy(&x, (const unsigned char *)p->c.addend + (size_t)i * p->c.addend_stride + 4 * (size_t)j, 4);
    return (double)x;
}

/* Makes it a product with GELU, which comes before the addend; C has errors of so much of what is allowed. */
static void fill_gelu(struct product *p, double part)
{
    p->c.gelu = 1;
    p->c.gelu_error = 0x1p-7F;
    for (int64_t i = 0; i < p->c.m; i++)
        for (int64_t j = 0; j < p->c.n; j++) {
            double x = p->exact[i * p->c.n + j] - addend_at(p, i, j), tail = fabs(x) / 2 * erfc(fabs(x) / sqrt(2));
            double sign = draw(p, 0, 1) ? part : -part;
            x = true_gelu(x + sign * 0x1p-20 * p->magnitude[i * p->c.n + j]) + sign * 0x1p-7 * tail;
            put(p, i, j, x + addend_at(p, i, j));
        }
}

/* The verdict, the same with every table and number of threads. */
static int verdict(const struct product *p, struct tw_error *err)
{
    int first = 1;
    for (int t = 0; t < TABLES; t++)
        for (int n = 0; n < THREADS; n++) {
            /* Small products with one thread, for waking another takes longer. */
            if (hosts[t][n] == NULL || (n > 0 && p->c.m * p->c.n < 64 * 64))
                continue;
            int code = tw_host_check_product(hosts[t][n], &p->c, err);
            assert_true(first == 1 || code == first);
            first = code;
        }
    return first;
}

static int is_right(const struct product *p)
{
    struct tw_error err = {0};
    int code = verdict(p, &err);
    if (code != TW_OK && code != TW_E_CHECKSUM)
        fail_msg("%s", err.text);
    return code == TW_OK;
}

static void must_be_right(const struct product *p)
{
    struct tw_error err = {0};
    if (verdict(p, &err) != TW_OK)
        fail_msg("%s", err.text);
}

static void must_be_wrong(const struct product *p, const char *part)
{
    struct tw_error err = {0};
    assert_int_equal(verdict(p, &err), TW_E_CHECKSUM);
    assert_int_equal(err.code, TW_E_CHECKSUM);
    if (strstr(err.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, part);
}

static void make_random(struct product *p, int64_t most)
{
    enum tw_type b = (enum tw_type)draw(p, TW_F32, TW_Q8_0);
    int b_rows = b <= TW_BF16 && draw(p, 0, 1);
    int64_t k = draw(p, 1, most);
    make(p, draw(p, 1, most), b > TW_BF16 ? (k + 31) / 32 * 32 : k, draw(p, 1, most),
         (enum tw_type)draw(p, TW_F32, TW_BF16), b, b_rows, draw(p, 0, 1) ? TW_F32 : TW_BF16,
         (unsigned)draw(p, 0, BIAS | ADDEND));
}

/* 10,000 products, all numbers off by as much as the array may be: no alarm. One table each, in turns. */
static void right_products_pass(void **state)
{
    (void)state;
    struct product p = {.random = {61}};
    for (int i = 0; i < 10000; i++) {
        struct tw_error err = {0};
        struct tw_host *host = hosts[i % TABLES][i % 50 == 0];
        make_random(&p, 20);
        fill(&p, (double)draw(&p, -1, 1), i & 1);
        if (tw_host_check_product(host != NULL ? host : hosts[0][0], &p.c, &err) != TW_OK)
            fail_msg("product %d: %s", i, err.text);
        unmake(&p);
    }
}

/* Sizes around the pieces that rows and columns are taken in, with many threads' worth of tasks. */
static void large_right_products_pass(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{33, 512, 40}, {100, 544, 31}, {31, 1056, 65}, {1, 1024, 600},
                                       {600, 32, 1},  {64, 64, 1030}, {257, 96, 129}};
    struct product p = {.random = {62}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int type = TW_F32; type <= TW_Q8_0; type++) {
            int b_rows = type <= TW_BF16 && (i & 1);
            make(&p, sizes[i][0], sizes[i][1], sizes[i][2], (enum tw_type)(type % 3), (enum tw_type)type, b_rows,
                 type & 1 ? TW_BF16 : TW_F32, BIAS | ADDEND);
            fill(&p, 1, type & 2);
            must_be_right(&p);
            int64_t row = draw(&p, 0, p.c.m - 1), column = draw(&p, 0, p.c.n - 1);
            put(&p, row, column, (double)get(&p, row, column) + 0.5 * sqrt((double)p.c.k));
            assert_false(is_right(&p));
            unmake(&p);
        }
}

/* What the sums of a row (or column) may be off by, worked out from the comment in checksum.c. */
static double tolerance(const struct product *p, int64_t row, int64_t column, int of_row)
{
    const struct tw_checksum *c = &p->c;
    double all = 0, own = 0, rest = 0, bias = 0, out = 0, across = (double)(of_row ? c->n : c->m);
    const double *common = of_row ? p->b : p->a, *one = of_row ? p->a + row * c->k : p->b + column * c->k;
    for (int64_t i = 0; i < (of_row ? c->n : c->m) * c->k; i++)
        all += common[i] * common[i];
    for (int64_t i = 0; i < c->k; i++)
        own += one[i] * one[i];
    for (int64_t i = 0; i < (of_row ? c->n : c->m); i++) {
        int64_t r = of_row ? row : i, j = of_row ? i : column;
        float number = 0;
        if (c->bias != NULL)
            memcpy(&number, (const unsigned char *)c->bias + 4 * j, 4);
        bias += (double)number * (double)number;
        number = 0;
        if (c->addend != NULL)
            memcpy(&number, (const unsigned char *)c->addend + (size_t)r * c->addend_stride + 4 * (size_t)j, 4);
        rest += (double)number * (double)number;
        out += (double)get(p, r, j) * (double)get(p, r, j);
    }
    double t = across < 64 ? sqrt(across) : 8, of_c = 0x1p-24 * (double)c->k + (c->out_type == TW_BF16 ? 0x1p-8 : 0);
    return t * (0x1p-20 * (sqrt(all * own) + sqrt(bias) + sqrt(rest)) + of_c * sqrt(out)) * (1 + 1.0 / 16);
}

/* What a number may be off by, worked out from the comment in check_numbers.c. */
static double number_tolerance(const struct product *p, int64_t i, int64_t j)
{
    double a = 0, b = 0, all = p->magnitude[i * p->c.n + j], should = fabs((double)get(p, i, j));
    for (int64_t k = 0; k < p->c.k; k++) {
        a += p->a[i * p->c.k + k] * p->a[i * p->c.k + k];
        b += p->b[j * p->c.k + k] * p->b[j * p->c.k + k];
    }
    double allowed = 2 * 0x1p-20 * (1.25 * sqrt(a * b) + 3 * all) + (p->c.gelu ? 0.17 * 0x1p-7 : 0) +
                     0x1p-24 * (double)p->c.k * 1.25 * sqrt(a * b);
    return allowed + (p->c.out_type == TW_BF16 ? 0x1p-8 * (should + allowed) : 0);
}

/* Single bits of random numbers: whatever changes a number by more than the tolerance is found. */
static void flipped_bits_are_found(void **state)
{
    (void)state;
    struct product p = {.random = {63}};
    int found = 0, above = 0;
    for (int i = 0; i < 400; i++) {
        make_random(&p, 40);
        fill(&p, 0.05, 1);
        for (int flip = 0; flip < 8; flip++) {
            int64_t row = draw(&p, 0, p.c.m - 1), column = draw(&p, 0, p.c.n - 1);
            int bit = (int)draw(&p, 0, p.c.out_type == TW_F32 ? 31 : 15);
            unsigned char *byte = at(&p, row, column) + bit / 8;
            float before = get(&p, row, column);
            *byte ^= (unsigned char)(1 << bit % 8);
            double change = fabs((double)get(&p, row, column) - (double)before);
            double allowed = fmin(tolerance(&p, row, column, 0), tolerance(&p, row, column, 1));
            allowed = fmax(allowed, number_tolerance(&p, row, column)); /* which decides in the end */
            /* Rounding to bf16 is as large as it may be, so that there it may hide once as much. */
            int must = !(change <= (p.c.out_type == TW_F32 ? 1.1 : 2) * allowed);
            int is_found = !is_right(&p);
            if (must && !is_found)
                fail_msg("product %d: a change by %g is not found, tolerance %g", i, change, allowed);
            above += must;
            found += is_found;
            *byte ^= (unsigned char)(1 << bit % 8);
        }
        unmake(&p);
    }
    /* More than half of all bits are worth it, and no more are found than could be. */
    assert_true(above > 400 * 8 / 2);
    assert_true(found >= above && found < above + 400);
}

/* The sum of k products as a core makes it: 8 at once, each rounded to the last place of the largest. */
static float core_sum(const float *a, const float *b, int64_t k)
{
    double sum = 0;
    for (int64_t from = 0; from < k; from += 8) {
        double largest = fabs(sum), next = 0;
        for (int64_t i = from; i < from + 8 && i < k; i++)
            largest = fmax(largest, fabs((double)a[i] * (double)b[i]));
        const double unit = largest > 0 ? ldexp(1, ilogb(largest) - 23) : 1;
        for (int64_t i = from; i < from + 8 && i < k; i++)
            next += rint((double)a[i] * (double)b[i] / unit) * unit;
        sum = (double)(float)(rint(sum / unit) * unit + next);
    }
    return (float)sum;
}

enum { ONE_SIGN_ROWS = 20, ONE_SIGN_COLUMNS = 24, ONE_SIGN_DEPTH = 20000 };

/* Numbers of [low, high], as they come in bf16. */
static float *positive(struct tw_random *r, int64_t n, double low, double high)
{
    float *to = malloc((size_t)n * sizeof *to);
    assert_non_null(to);
    for (int64_t i = 0; i < n; i++)
        to[i] = tw_bf16_to_f32(tw_f32_to_bf16((float)(low + (high - low) * tw_random_unit(r))));
    return to;
}

/* The product of such operands as the cores make it, in f32. */
struct one_sign {
    float *a, *b; /* rows of k, and columns of k */
    float out[ONE_SIGN_ROWS * ONE_SIGN_COLUMNS];
    struct product p;
};

static void one_sign_make(struct one_sign *o, struct tw_random *r, int64_t k, const double a[2], const double b[2])
{
    *o = (struct one_sign){0};
    o->a = positive(r, ONE_SIGN_ROWS * k, a[0], a[1]);
    o->b = positive(r, ONE_SIGN_COLUMNS * k, b[0], b[1]);
    o->p.c = (struct tw_checksum){.a = o->a,
                                  .a_stride = (size_t)k * sizeof *o->a,
                                  .b = o->b,
                                  .b_stride = (size_t)k * sizeof *o->b,
                                  .gelu_error = 0x1p-7F,
                                  .out = o->out,
                                  .out_stride = ONE_SIGN_COLUMNS * sizeof *o->out,
                                  .m = ONE_SIGN_ROWS,
                                  .k = k,
                                  .n = ONE_SIGN_COLUMNS};
}

static void one_sign_run(struct one_sign *o)
{
    const int64_t k = o->p.c.k;
    for (int64_t i = 0; i < ONE_SIGN_ROWS; i++)
        for (int64_t j = 0; j < ONE_SIGN_COLUMNS; j++) {
            const float sum = core_sum(o->a + i * k, o->b + j * k, k);
            o->out[i * ONE_SIGN_COLUMNS + j] = o->p.c.gelu ? (float)true_gelu((double)sum) : sum;
        }
}

/* It is right, and wrong when one number is another. */
static void one_sign_check(struct one_sign *o, float change)
{
    must_be_right(&o->p);
    o->out[7 * ONE_SIGN_COLUMNS + 5] += change;
    must_be_wrong(&o->p, "row 7 and column 5");
    free(o->a);
    free(o->b);
}

static void check_one_sign(struct tw_random *r, int64_t k, const double range[2])
{
    struct one_sign o;
    one_sign_make(&o, r, k, range, range);
    one_sign_run(&o);
    one_sign_check(&o, o.out[7 * ONE_SIGN_COLUMNS + 5] * 0.06F);
}

/* Terms of one sign, and even more so equal ones, are rounded the same way: the more of them, the more they are off. */
static void sums_of_one_sign(void **state)
{
    static const int64_t depths[] = {1, 100, 500, 1000, 2000, 4200, ONE_SIGN_DEPTH};
    static const double numbers[][2] = {{0.1, 0.1}, {0.3, 0.3}, {0.7, 0.7}, {1.0078125, 1.0078125}, {0.5, 1}};
    struct tw_random r = {67};
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++)
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            check_one_sign(&r, depths[i], numbers[j]);
}

/* An error of a thousandth of what numbers usually are is found. */
static void tolerance_is_sharp(void **state)
{
    (void)state;
    struct product p = {.random = {64}};
    make(&p, 64, 64, 64, TW_BF16, TW_BF16, 0, TW_F32, 0);
    fill(&p, 0.05, 1);
    must_be_right(&p);
    put(&p, 13, 57, p.exact[13 * 64 + 57] + 0.008);
    must_be_wrong(&p, "row 13 and column 57");
    unmake(&p);
}

static void what_is_not_finite_is_found(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    struct product p = {.random = {65}};
    for (int i = 0; i < 60; i++) {
        make_random(&p, 40);
        fill(&p, 1, 1);
        put(&p, draw(&p, 0, p.c.m - 1), draw(&p, 0, p.c.n - 1), (double)bad[i % 3]);
        must_be_wrong(&p, "off by inf");
        unmake(&p);
    }
}

static void exchange(struct product *p, int64_t row, int64_t column, int64_t row2, int64_t column2)
{
    float x = get(p, row, column), y = get(p, row2, column2);
    put(p, row, column, (double)y);
    put(p, row2, column2, (double)x);
}

enum way { ROWS, COLUMNS, BLOCKS, NOT_WRITTEN, STEP_MISSING, NO_BIAS, NO_ADDEND, WAYS };

/* Spoils C, of 64 x 64 numbers of depth 96. */
static void spoil(struct product *p, enum way way)
{
    int64_t x = draw(p, 0, 31), y = draw(p, 32, 63);
    for (int64_t i = 0; i < 64; i++) {
        if (way == ROWS)
            exchange(p, x, i, y, i);
        if (way == COLUMNS)
            exchange(p, i, x, i, y);
        if (way == BLOCKS && i < 16)
            exchange(p, x / 4 * 4 + i / 4, x / 4 * 4 + i % 4, y / 4 * 4 + i / 4, x / 4 * 4 + i % 4);
        if (way == NOT_WRITTEN)
            put(p, x, i, 0);
        for (int64_t k = 32; way == STEP_MISSING && k < 64; k++)
            put(p, x, i, (double)get(p, x, i) - p->a[x * 96 + k] * p->b[i * 96 + k]);
    }
    if (way == NO_BIAS)
        p->c.bias = NULL;
    if (way == NO_ADDEND)
        p->c.addend = NULL;
}

/* Rows, columns and blocks in the wrong place, a row that was never written, sums without a part of the depth. */
static void wrong_in_every_way(void **state)
{
    (void)state;
    struct product p = {.random = {66}};
    for (int round = 0; round < 10 * WAYS; round++) {
        make(&p, 64, 96, 64, TW_BF16, TW_F32, round & 1, round & 2 ? TW_F32 : TW_BF16, BIAS | ADDEND);
        fill(&p, 1, 1);
        must_be_right(&p);
        spoil(&p, (enum way)(round % WAYS));
        assert_false(is_right(&p));
        unmake(&p);
    }
}

/* A row of A with NaN proves nothing of that row and of columns; other rows are still checked, and likewise for B. */
static void operands_that_are_not_finite(void **state)
{
    (void)state;
    static const uint16_t nan = 0x7fc0, infinite = 0xff80;
    struct product p = {.random = {67}};
    for (int of_b = 0; of_b < 2; of_b++) {
        make(&p, 40, 50, 60, TW_BF16, TW_BF16, 0, TW_F32, BIAS);
        fill(&p, 1, 1);
        size_t operand = of_b ? 1 : 0, stride = of_b ? p.c.b_stride : p.c.a_stride;
        const unsigned char *data = of_b ? p.c.b : p.c.a;
        memcpy(p.memory[operand] + (data - p.memory[operand]) + 7 * stride + 20, of_b ? &infinite : &nan, 2);
        int64_t others = of_b ? 40 : 60;
        for (int64_t i = 0; i < others; i++)
            put(&p, of_b ? i : 7, of_b ? 7 : i, NAN);
        must_be_right(&p);
        put(&p, 8, 8, p.exact[8 * 60 + 8] + 1);
        must_be_wrong(&p, of_b ? "column 8" : "row 8");
        unmake(&p);
    }
}

/* Sums that fp32 cannot hold may be infinite, and what is below 2^-126 may be taken for zero. */
static void the_largest_and_smallest_numbers(void **state)
{
    (void)state;
    struct product p = {.random = {68}};
    for (int tiny = 0; tiny < 2; tiny++) {
        make(&p, 20, 30, 25, TW_F32, TW_F32, 0, TW_F32, 0);
        for (int operand = 0; operand < 2; operand++) {
            unsigned char *data = (unsigned char *)(uintptr_t)(operand ? p.c.b : p.c.a);
            size_t stride = operand ? p.c.b_stride : p.c.a_stride;
            for (int64_t i = 0; i < (operand ? 25 : 20) * 30; i++) {
                float x = tiny ? (operand ? 1 : 0x1p-130f) : 0x1p100f;
                memcpy(data + (size_t)(i / 30) * stride + 4 * (size_t)(i % 30), &x, sizeof x);
            }
        }
        for (int64_t i = 0; i < 20 * 25; i++)
            put(&p, i / 25, i % 25, tiny ? 0 : INFINITY);
        must_be_right(&p);
        unmake(&p);
    }
}

/* ---- GELU */

static void right_gelu_passes(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{33, 512, 40}, {1, 1024, 600}, {600, 32, 1}, {3, 8, 4500}, {257, 96, 129}};
    struct product p = {.random = {70}};
    for (int i = 0; i < 2000; i++) {
        struct tw_error err = {0};
        struct tw_host *host = hosts[i % TABLES][i % 50 == 0];
        make_random(&p, 20);
        fill_gelu(&p, (double)draw(&p, -1, 1));
        if (tw_host_check_product(host != NULL ? host : hosts[0][0], &p.c, &err) != TW_OK)
            fail_msg("product %d: %s", i, err.text);
        unmake(&p);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        make(&p, sizes[i][0], sizes[i][1], sizes[i][2], TW_BF16, TW_F16, 0, i & 1 ? TW_BF16 : TW_F32, BIAS);
        fill_gelu(&p, 1);
        must_be_right(&p);
        int64_t row = p.c.m - 1, column = p.c.n - 1;
        char where[64];
        put(&p, row, column, (double)get(&p, row, column) + 0.5 * sqrt((double)p.c.k));
        snprintf(where, sizeof where, "row %lld and column %lld", (long long)row, (long long)column);
        must_be_wrong(&p, where);
        unmake(&p);
    }
}

/* Terms that are all rounded the same way, and that cancel each other in the end or not. */
static void check_cancelling(struct tw_random *r, int64_t k, int cancel, int gelu)
{
    static const double a[2] = {0.3, 0.3}, b[2] = {0.7, 0.7};
    struct one_sign o;
    one_sign_make(&o, r, k, a, b);
    o.p.c.gelu = gelu;
    for (int64_t i = 0; i < ONE_SIGN_COLUMNS * k; i++)
        o.b[i] *= cancel && i % k >= k / 2 ? -1.0F : 1.0F;
    one_sign_run(&o);
    one_sign_check(&o, (gelu ? 1.0F : 6.0F) * (0.01F + 0.0005F * (float)k));
}

static void cancelling_sums(void **state)
{
    static const int64_t depths[] = {2, 100, 500, 1000, 2000, 4200};
    struct tw_random r = {74};
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++)
        for (int way = 0; way < 4; way++)
            check_cancelling(&r, depths[i], way & 1, way & 2);
}

static void flipped_bits_of_gelu_are_found(void **state)
{
    (void)state;
    struct product p = {.random = {71}};
    int above = 0;
    for (int i = 0; i < 100; i++) {
        make_random(&p, 40);
        fill_gelu(&p, 0);
        for (int flip = 0; flip < 8; flip++) {
            int64_t row = draw(&p, 0, p.c.m - 1), column = draw(&p, 0, p.c.n - 1);
            int bit = (int)draw(&p, 0, p.c.out_type == TW_F32 ? 31 : 15);
            unsigned char *byte = at(&p, row, column) + bit / 8;
            double before = (double)get(&p, row, column), allowed = number_tolerance(&p, row, column);
            *byte ^= (unsigned char)(1 << bit % 8);
            double change = fabs((double)get(&p, row, column) - before);
            if (!(change <= 2 * allowed) && is_right(&p))
                fail_msg("product %d: a change by %g is not found, tolerance %g", i, change, allowed);
            above += !(change <= 2 * allowed);
            *byte ^= (unsigned char)(1 << bit % 8);
        }
        unmake(&p);
    }
    assert_true(above > 100 * 8 / 4);
}

static void gelu_wrong_in_every_way(void **state)
{
    (void)state;
    struct product p = {.random = {72}};
    for (int round = 0; round < 4 * WAYS; round++) {
        make(&p, 64, 96, 64, TW_BF16, TW_F32, round & 1, round & 2 ? TW_F32 : TW_BF16, BIAS | ADDEND);
        fill_gelu(&p, 1);
        must_be_right(&p);
        spoil(&p, (enum way)(round % WAYS));
        assert_false(is_right(&p));
        unmake(&p);
    }
    make(&p, 20, 32, 20, TW_F32, TW_F32, 0, TW_F32, 0);
    fill(&p, 0, 0); /* without GELU */
    must_be_right(&p);
    p.c.gelu = 1;
    assert_false(is_right(&p));
    unmake(&p);
}

/* One product of 1 x 1 with GELU: a and b, bias, addend, and what came out. */
static int one_number(float a, float b, float bias, float addend, float out)
{
    struct product p = {.c = {.a = &a,
                              .a_stride = sizeof a,
                              .b = &b,
                              .b_stride = sizeof b,
                              .bias = &bias,
                              .addend = &addend,
                              .addend_stride = sizeof addend,
                              .gelu = 1,
                              .gelu_error = 0x1p-7F,
                              .out = &out,
                              .out_stride = sizeof out,
                              .m = 1,
                              .k = 1,
                              .n = 1}};
    return is_right(&p);
}

/* The largest and the smallest numbers, a bias that is larger than the product, and how sharp all that is. */
static void single_numbers_with_gelu(void **state)
{
    (void)state;
    assert_true(one_number(2, 3, 0, 1, 7));
    assert_false(one_number(2, 3, 0, 1, 7.0005F));
    assert_true(one_number(1, 1, 1000, 0, 1001.004F)); /* 2^-18 of the bias */
    assert_false(one_number(1, 1, 1000, 0, 1001.04F));
    assert_false(one_number(1, 1, 0, 0, 0.80F)); /* 0.8413 */
    assert_true(one_number(1, 1, 0, 0, 0.8405F));
    assert_true(one_number(0x1p-70F, 0x1p-70F, 0, 0, 0));
    assert_false(one_number(0x1p-50F, 0x1p-50F, 0, 0, 0x1p-50F));
    assert_true(one_number(0x1p100F, 0x1p100F, 0, 0, INFINITY));
    assert_true(one_number(0x1p100F, 0x1p100F, 0, 0, NAN));
    assert_true(one_number(1, 1, 0, FLT_MAX, INFINITY)); /* as bf16 rounds it, too */
    assert_true(one_number(0x1p63F, 0x1p63F, 0, 0, INFINITY));
    assert_true(one_number(0x1p62F, 0x1p62F, 0, 0, 0x1p124F));
    assert_false(one_number(0x1p62F, 0x1p62F, 0, 0, 0x1p123F));
    assert_false(one_number(0x1p62F, 0x1p62F, 0, 0, INFINITY));
    assert_true(one_number(1, 1, INFINITY, 0, 5));
    assert_true(one_number(1, 1, 0, INFINITY, 5));
    assert_true(one_number(1, 1, NAN, 0, 5));
}

/* Rows of the second part have norms of their own: the first part's rows are zeros. */
static void parts_of_gelu(void **state)
{
    enum { M = 98, K = 2, N = 21000, FIRST_PART = 96 };
    (void)state;
    struct product p = {.random = {75}};
    make(&p, M, K, N, TW_BF16, TW_BF16, 0, TW_F32, 0);
    unsigned char *a = p.memory[0] + ((const unsigned char *)p.c.a - p.memory[0]);
    for (int64_t i = 0; i < FIRST_PART; i++)
        memset(a + (size_t)i * p.c.a_stride, 0, 2 * K);
    memset(p.exact, 0, sizeof *p.exact * FIRST_PART * N);
    memset(p.magnitude, 0, sizeof *p.magnitude * FIRST_PART * N);
    fill_gelu(&p, 1);
    struct tw_error err = {0};
    assert_int_equal(tw_host_check_product(hosts[0][1], &p.c, &err), TW_OK);
    put(&p, M - 1, N - 1, (double)get(&p, M - 1, N - 1) + 1);
    assert_int_equal(tw_host_check_product(hosts[0][1], &p.c, &err), TW_E_CHECKSUM);
    assert_non_null(strstr(err.text, "row 97 and column 20999"));
    unmake(&p);
}

/* Numbers that come of NaN or of infinities prove nothing; others that are not finite are wrong. */
static void gelu_of_what_is_not_finite(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    struct product p = {.random = {73}};
    for (int i = 0; i < 6; i++) {
        static const uint16_t nan = 0x7fc0;
        make(&p, 20, 30, 25, TW_BF16, TW_BF16, 0, i & 1 ? TW_F32 : TW_BF16, BIAS);
        fill_gelu(&p, 1);
        memcpy(p.memory[0] + ((const unsigned char *)p.c.a - p.memory[0]) + 7 * p.c.a_stride + 20, &nan, sizeof nan);
        for (int64_t j = 0; j < p.c.n; j++)
            put(&p, 7, j, (double)bad[i % 3]);
        must_be_right(&p);
        put(&p, 8, 9, (double)bad[i % 3]);
        must_be_wrong(&p, "row 8 and column 9");
        unmake(&p);
    }
}

static void refused(void **state)
{
    (void)state;
    struct product p = {.random = {69}};
    make(&p, 4, 32, 4, TW_BF16, TW_F32, 0, TW_F32, 0);
    fill(&p, 1, 1);
    const struct tw_checksum good = p.c;
    for (int wrong = 0; wrong < 14; wrong++) {
        p.c = good;
        struct tw_checksum *c = &p.c;
        if (wrong < 3)
            *(wrong == 0 ? &c->a : wrong == 1 ? &c->b : &c->out) = NULL;
        if (wrong == 3)
            c->a_type = TW_Q8_0;
        if (wrong == 4)
            c->b_type = TW_I32;
        if (wrong == 5)
            c->b_type = TW_Q8_0, c->b_rows = 1;
        if (wrong == 6)
            c->out_type = TW_F16;
        if (wrong == 7)
            c->b_type = TW_TYPE_COUNT;
        if (wrong >= 8 && wrong < 11)
            *(wrong == 8 ? &c->m : wrong == 9 ? &c->k : &c->n) = 0;
        if (wrong == 11)
            c->b_type = TW_Q5_0, c->k = 31;
        if (wrong >= 12)
            *(wrong == 12 ? &c->m : &c->n) = (1 << 20) + 1;
        assert_int_equal(verdict(&p, NULL), wrong < 8 ? TW_E_ARGUMENT : TW_E_SHAPE);
    }
    p.c = good;
    must_be_right(&p);
    unmake(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_products_pass),
        cmocka_unit_test(large_right_products_pass),
        cmocka_unit_test(flipped_bits_are_found),
        cmocka_unit_test(tolerance_is_sharp),
        cmocka_unit_test(sums_of_one_sign),
        cmocka_unit_test(what_is_not_finite_is_found),
        cmocka_unit_test(wrong_in_every_way),
        cmocka_unit_test(operands_that_are_not_finite),
        cmocka_unit_test(the_largest_and_smallest_numbers),
        cmocka_unit_test(right_gelu_passes),
        cmocka_unit_test(single_numbers_with_gelu),
        cmocka_unit_test(parts_of_gelu),
        cmocka_unit_test(cancelling_sums),
        cmocka_unit_test(flipped_bits_of_gelu_are_found),
        cmocka_unit_test(gelu_wrong_in_every_way),
        cmocka_unit_test(gelu_of_what_is_not_finite),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, open_hosts, close_hosts);
}
