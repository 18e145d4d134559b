/* The public engine: products of any kind on the processor and on the emulated NPU, graphs, and what is refused. */
#include "tilewright.h"

#include "base/half.h"
#include "base/random.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE_MAX = 70, GAP_MAX = 5, ROOM = SIDE_MAX * (SIDE_MAX + GAP_MAX) + 1, PRODUCTS = 12, THREADS = 4 };

/* ---- engines */

static struct tw_engine *engine_on_npu(const struct tw_engine_options *options)
{
    const struct tw_device_options alone = {.kind = TW_DEVICE_EMU, .alone = 1};
    struct tw_device *device = NULL;
    struct tw_engine *engine = NULL;
    struct tw_error err = {0};
    if (tw_device_open(&alone, &device, &err) != 0 || tw_engine_open(device, options, &engine, &err) != 0)
        fail_msg("%s", err.text);
    tw_device_close(device); /* the engine does not need it */
    return engine;
}

static struct tw_engine *engine_on_processor(void)
{
    struct tw_engine *engine = NULL;
    assert_int_equal(tw_engine_open(NULL, NULL, &engine, NULL), 0);
    return engine;
}

static struct tw_engine_counts counts_of(struct tw_engine *engine)
{
    struct tw_engine_counts counts;
    memset(&counts, 0xee, sizeof counts);
    tw_engine_counts(engine, &counts);
    return counts;
}

/* ---- products of random numbers that bf16 holds, in memory with gaps and odd addresses */

struct sample {
    struct tw_product p;
    unsigned char a[4 * ROOM], b[4 * ROOM], c[4 * ROOM], before[4 * ROOM], addend[4 * ROOM];
    float bias[SIDE_MAX];
};

static size_t size_of(enum tw_type type)
{
    return type == TW_F32 ? 4 : 2;
}

static double load(const void *data, enum tw_type type, int64_t i)
{
    const unsigned char *at = (const unsigned char *)data + size_of(type) * (size_t)i;
    uint16_t half;
    float single;
    if (type == TW_F32) {
        memcpy(&single, at, sizeof single);
        return (double)single;
    }
    memcpy(&half, at, sizeof half);
    return (double)(type == TW_BF16 ? tw_bf16_to_f32(half) : tw_f16_to_f32(half));
}

static void store(void *data, enum tw_type type, int64_t i, float x)
{
    unsigned char *at = (unsigned char *)data + size_of(type) * (size_t)i;
    const uint16_t half = type == TW_BF16 ? tw_f32_to_bf16(x) : tw_f32_to_f16(x);
    if (type == TW_F32)
        memcpy(at, &x, sizeof x);
    else
        memcpy(at, &half, sizeof half);
}

/* Eighths up to 4: each of the types holds them. */
static void fill(void *data, enum tw_type type, size_t numbers, struct tw_random *r)
{
    for (size_t i = 0; i < numbers; i++)
        store(data, type, (int64_t)i, (float)tw_random_range(r, -32, 32) / 8);
}

static int64_t random_stride(struct tw_random *r, int64_t cols)
{
    const int64_t gap = tw_random_range(r, -1, GAP_MAX);
    return gap < 0 ? 0 : cols + gap;
}

/* All memory of the sample holds numbers; in gaps of A and B they are large, so that reading them is seen. */
static void make_sample(struct sample *s, struct tw_random *r)
{
    static const enum tw_type types[] = {TW_F32, TW_BF16, TW_F16};
    const int odd = (int)tw_random_range(r, 0, 1);
    struct tw_product *p = &s->p;
    *p = (struct tw_product){.m = tw_random_range(r, 1, SIDE_MAX),
                             .k = tw_random_range(r, 1, SIDE_MAX),
                             .n = tw_random_range(r, 1, SIDE_MAX),
                             .a = s->a + odd,
                             .b = s->b + odd,
                             .c = s->c + odd,
                             .a_type = types[tw_random_range(r, 0, 2)],
                             .b_type = types[tw_random_range(r, 0, 2)],
                             .c_type = types[tw_random_range(r, 0, 1)],
                             .b_columns = (int)tw_random_range(r, 0, 1),
                             .b_constant = (int)tw_random_range(r, 0, 1),
                             .gelu = (int)tw_random_range(r, 0, 1)};
    p->a_stride = random_stride(r, p->k);
    p->b_stride = random_stride(r, p->b_columns ? p->k : p->n);
    p->c_stride = random_stride(r, p->n);
    p->addend_stride = random_stride(r, p->n);
    p->bias = tw_random_range(r, 0, 1) ? s->bias : NULL;
    p->addend = tw_random_range(r, 0, 1) ? (const float *)(const void *)s->addend : NULL;
    fill(s->a + odd, p->a_type, ROOM - 1, r);
    fill(s->b + odd, p->b_type, ROOM - 1, r);
    fill(s->addend, TW_F32, ROOM, r);
    fill(s->bias, TW_F32, SIDE_MAX, r);
    memset(s->c, 0xff, sizeof s->c);
    if (p->addend != NULL && p->c_type == TW_F32 && tw_random_range(r, 0, 1)) {
        fill(s->c + odd, TW_F32, ROOM - 1, r);
        p->addend = p->c;
        p->addend_stride = p->c_stride;
    }
    memcpy(s->before, s->c, sizeof s->c);
}

static int64_t dense(int64_t stride, int64_t cols)
{
    return stride == 0 ? cols : stride;
}

static double ulp_bf16(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 8);
}

/* What C[i][j] is to be, and how far it may be from that on the NPU. */
static double expected(const struct sample *s, int64_t i, int64_t j, double *allowed)
{
    const struct tw_product *p = &s->p;
    const int64_t b_stride = dense(p->b_stride, p->b_columns ? p->k : p->n);
    double sum = p->bias != NULL ? (double)p->bias[j] : 0, all = fabs(sum);
    for (int64_t k = 0; k < p->k; k++) {
        const double x = load(p->a, p->a_type, i * dense(p->a_stride, p->k) + k) *
                         load(p->b, p->b_type, p->b_columns ? j * b_stride + k : k * b_stride + j);
        sum += x;
        all += fabs(x);
    }
    *allowed = ldexp(all, -20);
    if (p->gelu) {
        *allowed = 1.13 * *allowed + ldexp(fabs(sum), -30);
        sum = 0.5 * sum * (1 + erf(sum / sqrt(2)));
        *allowed += 1.25 * ulp_bf16(sum);
    }
    if (p->addend != NULL) {
        const int is_c = p->addend == p->c;
        const unsigned char *from = is_c ? s->before + ((const unsigned char *)p->c - s->c) : s->addend;
        const double d = load(from, TW_F32, i * dense(p->addend_stride, p->n) + j);
        *allowed += ldexp(fabs(sum) + fabs(d), -22);
        sum += d;
    }
    return sum;
}

/* Every number of C is right, and nothing else has changed. */
static void check_sample(const struct sample *s, const char *where)
{
    const struct tw_product *p = &s->p;
    const size_t size = size_of(p->c_type), odd = (size_t)((const unsigned char *)p->c - s->c);
    static unsigned char rest[4 * ROOM];
    memcpy(rest, s->c, sizeof rest);
    for (int64_t i = 0; i < p->m; i++) {
        const int64_t row = i * dense(p->c_stride, p->n);
        memcpy(rest + odd + size * (size_t)row, s->before + odd + size * (size_t)row, size * (size_t)p->n);
        for (int64_t j = 0; j < p->n; j++) {
            double allowed, right = expected(s, i, j, &allowed), found = load(p->c, p->c_type, row + j);
            if (p->c_type == TW_BF16)
                allowed += ulp_bf16(right);
            if (!(fabs(found - right) <= allowed))
                fail_msg("%s, %d x %d x %d: C[%d][%d] is %.9g, not %.9g", where, (int)p->m, (int)p->k, (int)p->n,
                         (int)i, (int)j, found, right);
        }
    }
    assert_memory_equal(rest, s->before, sizeof rest);
}

static void run_samples(struct tw_engine *engine, int count, uint64_t seed, const char *where)
{
    static struct sample s;
    struct tw_error err = {0};
    struct tw_random r = {seed};
    for (int i = 0; i < count; i++) {
        make_sample(&s, &r);
        if (tw_product_run(engine, &s.p, &err) != 0)
            fail_msg("%s, product %d: %s", where, i, err.text);
        check_sample(&s, where);
        tw_engine_forget(engine, &s, sizeof s); /* other numbers come into the same memory */
    }
    assert_int_equal(counts_of(engine).runs, count);
}

static void products_on_the_processor(void **state)
{
    struct tw_engine *engine = engine_on_processor();
    (void)state;
    run_samples(engine, 200, 1, "processor");
    const struct tw_engine_counts c = counts_of(engine);
    assert_int_equal(c.products_on_host, 200);
    assert_true(c.launches == 0 && c.products_on_npu == 0 && c.fallbacks == 0 && c.cycles == 0);
    tw_engine_close(engine);
}

static void products_on_the_npu(void **state)
{
    const struct tw_engine_options options = {.threads = 2, .verify = TW_VERIFY_NONE};
    struct tw_engine *engine = engine_on_npu(&options);
    (void)state;
    run_samples(engine, PRODUCTS, 2, "NPU");
    const struct tw_engine_counts c = counts_of(engine);
    assert_int_equal(c.products_on_npu, PRODUCTS);
    assert_int_equal(c.launches, PRODUCTS);
    assert_true(c.products_on_host == 0 && c.fallbacks == 0 && c.mismatches == 0);
    assert_true(c.cycles > 0 && c.read_bytes > 0 && c.write_bytes > 0);
    tw_engine_close(engine);
}

/* ---- constants */

enum { SMALL = 8 };

/* A is the unit matrix, so that C is B plus the bias. */
struct unit {
    float a[SMALL * SMALL], b[SMALL * SMALL], bias[SMALL], c[SMALL * SMALL];
    struct tw_product p;
};

static void make_unit(struct unit *u, int is_constant)
{
    for (int i = 0; i < SMALL * SMALL; i++) {
        u->a[i] = i / SMALL == i % SMALL;
        u->b[i] = (float)i;
    }
    for (int i = 0; i < SMALL; i++)
        u->bias[i] = (float)(100 * i);
    u->p = (struct tw_product){.m = SMALL,
                               .k = SMALL,
                               .n = SMALL,
                               .a = u->a,
                               .b = u->b,
                               .c = u->c,
                               .bias = u->bias,
                               .b_constant = is_constant};
}

static void run_unit(struct tw_engine *engine, struct unit *u)
{
    memset(u->c, 0xff, sizeof u->c);
    assert_int_equal(tw_product_run(engine, &u->p, NULL), 0);
    for (int i = 0; i < SMALL * SMALL; i++)
        if (u->c[i] != u->b[i] + u->bias[i % SMALL])
            fail_msg("C[%d] is %.9g, not %.9g", i, (double)u->c[i], (double)(u->b[i] + u->bias[i % SMALL]));
}

static void changes_of_b_are_seen(void **state)
{
    const struct tw_engine_options options = {.verify = TW_VERIFY_NONE};
    struct tw_engine *engine = engine_on_npu(&options);
    struct unit variable, constant;
    (void)state;
    make_unit(&variable, 0);
    make_unit(&constant, 1);
    for (int i = 0; i < 3; i++) {
        variable.b[i] = (float)(200 + i);
        variable.bias[SMALL - 1 - i] = (float)(3 * i);
        run_unit(engine, &variable);
        run_unit(engine, &constant);
    }
    constant.b[5] = 99;
    constant.bias[5] = 55;
    tw_engine_forget(engine, constant.b, sizeof constant.b);
    tw_engine_forget(engine, constant.bias, sizeof constant.bias);
    run_unit(engine, &constant);
    assert_int_equal(counts_of(engine).products_on_npu, 7);
    tw_engine_close(engine);
}

/* ---- refusals: one sentence, the right code, and C as it was */

enum { M = 3, K = 4, N = 5 };

struct refusal {
    const char *part; /* of the sentence */
    int code;
    struct tw_product p;
};

static float memory[200];
#define SIDES(m_, k_, n_) .m = (m_), .k = (k_), .n = (n_)
#define AT(a_, b_, c_) .a = (a_), .b = (b_), .c = (c_)
#define USUAL_SIDES SIDES(M, K, N)
#define USUAL_PLACES AT(memory, memory + 40, memory + 100)
#define PRODUCT USUAL_SIDES, USUAL_PLACES

static const struct refusal refusals[] = {
    {"side", TW_E_SHAPE, {SIDES(0, K, N), USUAL_PLACES}},
    {"side", TW_E_SHAPE, {SIDES(M, -1, N), USUAL_PLACES}},
    {"side", TW_E_SHAPE, {SIDES(M, K, INT64_MIN), USUAL_PLACES}},
    {"A of a product is nowhere", TW_E_ARGUMENT, {USUAL_SIDES, AT(NULL, memory + 40, memory + 100)}},
    {"B of a product is nowhere", TW_E_ARGUMENT, {USUAL_SIDES, AT(memory, NULL, memory + 100)}},
    {"C of a product is nowhere", TW_E_ARGUMENT, {USUAL_SIDES, AT(memory, memory + 40, NULL)}},
    {"A of a product is of type q8_0", TW_E_ARGUMENT, {PRODUCT, .a_type = TW_Q8_0}},
    {"B of a product is of type i32", TW_E_ARGUMENT, {PRODUCT, .b_type = TW_I32}},
    {"C of a product is of type f16", TW_E_ARGUMENT, {PRODUCT, .c_type = TW_F16}},
    {"C of a product is of type ?", TW_E_ARGUMENT, {PRODUCT, .c_type = TW_TYPE_COUNT}},
    {"rows of A are 4 numbers long, but only 3 apart", TW_E_SHAPE, {PRODUCT, .a_stride = K - 1}},
    {"rows of B are 5", TW_E_SHAPE, {PRODUCT, .b_stride = N - 1}},
    {"rows of B are 4", TW_E_SHAPE, {PRODUCT, .b_columns = 1, .b_stride = K - 1}},
    {"rows of C", TW_E_SHAPE, {PRODUCT, .c_stride = -5}},
    {"rows of addend", TW_E_SHAPE, {PRODUCT, .addend = memory + 150, .addend_stride = 1}},
    {"too large", TW_E_LIMIT, {PRODUCT, .a_stride = INT64_MAX}},
    {"too large", TW_E_LIMIT, {PRODUCT, .b_stride = INT64_MAX / 8}},
    {"too large", TW_E_LIMIT, {SIDES(INT64_MAX, K, N), USUAL_PLACES}},
    {"too large", TW_E_LIMIT, {SIDES(1, 1, INT64_MAX), USUAL_PLACES}},
    {"C of a product lies over its A", TW_E_ARGUMENT, {USUAL_SIDES, AT(memory, memory + 40, memory)}},
    {"C of a product lies over its A", TW_E_ARGUMENT, {USUAL_SIDES, AT(memory, memory + 40, memory + M * K - 1)}},
    {"C of a product lies over its B", TW_E_ARGUMENT, {USUAL_SIDES, AT(memory, memory + 40, memory + 40 + K * N - 1)}},
    {"C of a product lies over its bias", TW_E_ARGUMENT, {PRODUCT, .bias = memory + 100 + M * N - 1}},
    {"C of a product lies over its addend", TW_E_ARGUMENT, {PRODUCT, .addend = memory + 101}},
    {"C of a product lies over its addend", TW_E_ARGUMENT, {PRODUCT, .addend = memory + 100, .addend_stride = N + 1}},
    {"C of a product lies over its addend", TW_E_ARGUMENT, {PRODUCT, .addend = memory + 100, .c_type = TW_BF16}},
};

static void assert_refused(struct tw_engine *engine, const struct refusal *r)
{
    struct tw_error err = {0};
    assert_int_equal(tw_product_run(engine, &r->p, &err), r->code);
    assert_int_equal(err.code, r->code);
    if (strstr(err.text, r->part) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, r->part);
    assert_int_equal(tw_product_run(engine, &r->p, NULL), r->code);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        assert_true(memory[i] == (float)i);
}

static void wrong_products(void **state)
{
    struct tw_engine *engine = engine_on_processor();
    const struct tw_product right = {PRODUCT};
    struct tw_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        memory[i] = (float)i;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        assert_refused(engine, &refusals[i]);
    assert_int_equal(tw_product_run(NULL, &right, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_product_run(engine, NULL, &err), TW_E_ARGUMENT);
    assert_int_equal(counts_of(engine).runs, 0);
    assert_int_equal(tw_product_run(engine, &right, &err), 0);
    assert_true(memory[100] == 0 * 40 + 1 * 45 + 2 * 50 + 3 * 55);
    tw_engine_close(engine);
}

/*
 * C, 8 columns wide, and A, 4 columns wide, in one matrix of 16 columns, with the unit matrix as B: C becomes A and
 * then zeros, and all other columns stay.
 */
static void check_columns(struct tw_engine *engine, int a_column, int c_column)
{
    enum { HEIGHT = 8, WIDE = 16, DEPTH = 4, COLUMNS = 8 };
    float all[HEIGHT * WIDE], b[DEPTH * COLUMNS];
    for (int i = 0; i < HEIGHT * WIDE; i++)
        all[i] = (float)(1 + i % 100);
    for (int i = 0; i < DEPTH * COLUMNS; i++)
        b[i] = (float)(i / COLUMNS == i % COLUMNS);
    const struct tw_product p = {SIDES(HEIGHT, DEPTH, COLUMNS), AT(all + a_column, b, all + c_column), .a_stride = WIDE,
                                 .c_stride = WIDE};
    assert_int_equal(tw_product_run(engine, &p, NULL), 0);
    for (int i = 0; i < HEIGHT * WIDE; i++) {
        const int column = i % WIDE - c_column;
        const int from = column < 0 || column >= COLUMNS ? i : i - c_column + a_column;
        assert_true(all[i] == (float)(column >= DEPTH && column < COLUMNS ? 0 : 1 + from % 100));
    }
}

static void columns_of_one_matrix(void **state)
{
    struct tw_engine *engine = engine_on_npu(NULL);
    float all[8 * 16];
    const struct tw_product over = {SIDES(8, 4, 8), AT(all, memory, all + 3), .a_stride = 16, .c_stride = 16};
    const struct tw_product other_type = {SIDES(8, 4, 8), AT(all, memory, all + 4), .a_type = TW_BF16, .a_stride = 32,
                                          .c_stride = 16};
    (void)state;
    assert_int_equal(tw_product_run(engine, &over, NULL), TW_E_ARGUMENT);
    assert_int_equal(tw_product_run(engine, &other_type, NULL), TW_E_ARGUMENT);
    check_columns(engine, 0, 4);
    check_columns(engine, 0, 8);
    check_columns(engine, 9, 0);
    check_columns(engine, 12, 4);
    tw_engine_close(engine);
}

static void wrong_engines(void **state)
{
    struct tw_engine *engine = (struct tw_engine *)&engine;
    struct tw_error err = {0};
    (void)state;
    assert_int_equal(tw_engine_open(NULL, &(struct tw_engine_options){.threads = 100000}, &engine, &err),
                     TW_E_ARGUMENT);
    assert_null(engine);
    assert_non_null(strstr(err.text, "100000"));
    assert_int_equal(tw_engine_open(NULL, &(struct tw_engine_options){.verify = (enum tw_verify)7}, &engine, &err),
                     TW_E_ARGUMENT);
    assert_null(engine);
    tw_engine_close(NULL);
    setenv("TILEWRIGHT_EMU_FAULT", "context:1", 1);
    const struct tw_device_options alone = {.kind = TW_DEVICE_EMU, .alone = 1};
    struct tw_device *device = NULL;
    assert_int_equal(tw_device_open(&alone, &device, &err), 0);
    unsetenv("TILEWRIGHT_EMU_FAULT");
    assert_true(tw_engine_open(device, NULL, &engine, &err) < 0);
    assert_null(engine);
    assert_int_equal(tw_engine_open(device, NULL, &engine, &err), 0);
    tw_engine_close(engine);
    tw_device_close(device);
}

/* Where there is no engine, what can fail says so, and the rest does nothing. */
static void no_engine(void **state)
{
    struct tw_engine *engine = engine_on_npu(NULL);
    struct tw_graph *g = tw_graph_create();
    const struct tw_engine_counts none = {0};
    struct tw_error err = {0};
    (void)state;
    assert_int_equal(tw_engine_run(NULL, g, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no engine"));
    assert_int_equal(tw_engine_run(engine, NULL, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no graph"));
    tw_engine_forget(NULL, &err, sizeof err);
    tw_engine_forget(engine, NULL, 0);
    const struct tw_engine_counts counts = counts_of(NULL);
    assert_memory_equal(&counts, &none, sizeof none);
    tw_engine_counts(NULL, NULL);
    tw_engine_counts(engine, NULL);
    assert_int_equal(counts_of(engine).runs, 0);
    tw_graph_destroy(g);
    tw_engine_close(engine);
}

enum { EQUAL_ROWS = 20, EQUAL_COLUMNS = 24, EQUAL_DEPTH = 2000 };

/* Equal terms are rounded the same way: a core's sum of many is further off than other sums, but not wrong. */
static void equal_numbers_are_proved(void **state)
{
    static const float numbers[] = {0.1F, 0.7F, 1.0078125F};
    static float a[EQUAL_ROWS * EQUAL_DEPTH], b[EQUAL_DEPTH * EQUAL_COLUMNS], c[EQUAL_ROWS * EQUAL_COLUMNS];
    const struct tw_product p = {.m = EQUAL_ROWS, .k = EQUAL_DEPTH, .n = EQUAL_COLUMNS, .a = a, .b = b, .c = c};
    struct tw_engine *engine = engine_on_npu(&(struct tw_engine_options){.verify = TW_VERIFY_ALL});
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const double x = (double)tw_bf16_to_f32(tw_f32_to_bf16(numbers[i])), sum = x * x * EQUAL_DEPTH;
        for (int j = 0; j < EQUAL_ROWS * EQUAL_DEPTH; j++)
            a[j] = numbers[i];
        for (int j = 0; j < EQUAL_DEPTH * EQUAL_COLUMNS; j++)
            b[j] = numbers[i];
        assert_int_equal(tw_product_run(engine, &p, NULL), 0);
        for (int j = 0; j < EQUAL_ROWS * EQUAL_COLUMNS; j++)
            assert_true(fabs((double)c[j] - sum) < EQUAL_DEPTH * 0x1p-24 * sum);
        assert_int_equal(counts_of(engine).products_on_npu, i + 1);
    }
    assert_int_equal(counts_of(engine).mismatches, 0);
    tw_engine_close(engine);
}

/* ---- failures of the NPU */

static void count_warning(void *arg, const char *sentence)
{
    atomic_int *warnings = arg;
    assert_non_null(sentence);
    atomic_fetch_add(warnings, 1);
}

static void the_processor_takes_over(void **state)
{
    static const char *const faults[] = {"token:1", "core:40", "bit:1:seed=1"};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        atomic_int warnings = 0;
        const struct tw_engine_options options = {.verify = TW_VERIFY_ALL, .warn = count_warning, .arg = &warnings};
        setenv("TILEWRIGHT_EMU_FAULT", faults[i], 1);
        struct tw_engine *engine = engine_on_npu(&options);
        unsetenv("TILEWRIGHT_EMU_FAULT");
        struct unit u;
        make_unit(&u, 0);
        run_unit(engine, &u);
        run_unit(engine, &u);
        const struct tw_engine_counts c = counts_of(engine);
        assert_int_equal(c.fallbacks, 1);
        assert_int_equal(c.mismatches, strncmp(faults[i], "bit", 3) == 0);
        assert_int_equal(c.products_on_npu, 1);
        assert_int_equal(warnings, 1);
        tw_engine_close(engine);
    }
}

/* ---- graphs */

enum { ROWS = 40, WIDTH = 24, INNER = 48 };

struct network {
    float in[ROWS * WIDTH], first[INNER * WIDTH], second[WIDTH * INNER], bias[INNER], gain[WIDTH], shift[WIDTH];
    float out[ROWS * WIDTH];
    struct tw_graph *g;
};

/* out = softmax(norm(in + second gelu(first in + bias))) */
static void make_network(struct network *n, uint64_t seed)
{
    struct tw_random r = {seed};
    fill(n->in, TW_F32, ROWS * WIDTH, &r);
    fill(n->first, TW_F32, INNER * WIDTH, &r);
    fill(n->second, TW_F32, WIDTH * INNER, &r);
    fill(n->bias, TW_F32, INNER, &r);
    fill(n->gain, TW_F32, WIDTH, &r);
    fill(n->shift, TW_F32, WIDTH, &r);
    n->g = tw_graph_create();
    assert_non_null(n->g);
    tw_id in = tw_graph_bind(n->g, "in", TW_F32, WIDTH, ROWS, 1, n->in);
    tw_id out = tw_graph_bind(n->g, "out", TW_F32, WIDTH, ROWS, 1, n->out);
    tw_id first = tw_graph_constant(n->g, "first", TW_F32, WIDTH, INNER, 1, n->first);
    tw_id second = tw_graph_constant(n->g, "second", TW_F32, INNER, WIDTH, 1, n->second);
    tw_id bias = tw_graph_constant(n->g, "bias", TW_F32, INNER, 1, 1, n->bias);
    tw_id gain = tw_graph_constant(n->g, "gain", TW_F32, WIDTH, 1, 1, n->gain);
    tw_id shift = tw_graph_constant(n->g, "shift", TW_F32, WIDTH, 1, 1, n->shift);
    tw_id hidden = tw_graph_temp(n->g, "hidden", TW_F32, INNER, ROWS, 1);
    tw_id sum = tw_graph_temp(n->g, "sum", TW_F32, WIDTH, ROWS, 1);
    tw_graph_product(n->g, hidden, in, first, bias, (struct tw_product_options){.gelu = 1, .scale = 0});
    tw_graph_product_onto(n->g, sum, hidden, second, TW_NONE, in, (struct tw_product_options){0});
    tw_graph_layer_norm(n->g, sum, sum, gain, shift, 1e-5f);
    tw_graph_softmax(n->g, out, sum, 1, 0, 0);
}

static void a_network(void **state)
{
    struct tw_engine *npu = engine_on_npu(NULL), *processor = engine_on_processor();
    static struct network n;
    static float right[ROWS * WIDTH];
    struct tw_error err = {0};
    (void)state;
    make_network(&n, 3);
    assert_int_equal(tw_engine_run(npu, n.g, &err), TW_E_STATE);
    assert_int_equal(tw_graph_finish(n.g, &err), 0);
    assert_int_equal(tw_engine_run(processor, n.g, &err), 0);
    memcpy(right, n.out, sizeof right);
    for (int i = 0; i < 2; i++) {
        memset(n.out, 0xff, sizeof n.out);
        assert_int_equal(tw_engine_run(npu, n.g, &err), 0);
        for (int j = 0; j < ROWS * WIDTH; j++)
            if (!(fabs((double)(n.out[j] - right[j])) < 0.02))
                fail_msg("number %d is %g, not %g", j, (double)n.out[j], (double)right[j]);
    }
    const struct tw_engine_counts c = counts_of(npu);
    assert_int_equal(c.runs, 2);
    assert_int_equal(c.products_on_npu, 4);
    assert_int_equal(c.fallbacks, 0);
    assert_int_equal(tw_engine_run(NULL, n.g, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_engine_run(npu, NULL, &err), TW_E_ARGUMENT);
    tw_graph_destroy(n.g);
    tw_engine_close(npu);
    tw_engine_close(processor);
}

/* ---- threads */

static void *run_units(void *arg)
{
    struct unit u;
    make_unit(&u, 0);
    for (int i = 0; i < 3; i++)
        run_unit(arg, &u);
    return NULL;
}

static void threads_share_an_engine(void **state)
{
    struct tw_engine *engine = engine_on_npu(&(struct tw_engine_options){.threads = 2, .verify = TW_VERIFY_NONE});
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_units, engine), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counts_of(engine).products_on_npu, 3 * THREADS);
    tw_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_on_the_processor),
        cmocka_unit_test(products_on_the_npu),
        cmocka_unit_test(changes_of_b_are_seen),
        cmocka_unit_test(wrong_products),
        cmocka_unit_test(columns_of_one_matrix),
        cmocka_unit_test(wrong_engines),
        cmocka_unit_test(no_engine),
        cmocka_unit_test(equal_numbers_are_proved),
        cmocka_unit_test(the_processor_takes_over),
        cmocka_unit_test(a_network),
        cmocka_unit_test(threads_share_an_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
