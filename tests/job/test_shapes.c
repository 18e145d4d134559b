/*
 * Products of random shapes and types on the emulated NPU, compared with float64. With TILEWRIGHT_LONG in the
 * environment hundreds, with sides up to 4200; then figures are printed.
 */
#include "job/emulated_engine.h"
#include "job/reference.h"
#include "job/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SHORT_RUN = 40, SHORT_SIDE = 160, LONG_RUN = 400, LONG_SIDE = 4200 };

static int is_long(void)
{
    return getenv("TILEWRIGHT_LONG") != NULL;
}

/* The largest errors of f32 and bf16 results, without GELU and with it, and the shapes they came from. */
struct worst {
    double units;
    struct tw_product p;
};

struct bench {
    struct tw_engine *engine;
    struct tw_pool *pool;
    struct worst worst[4];
    uint64_t products;
    double multiplications;
};

static int set_up(void **state)
{
    static struct bench b;
    b.engine = emulated_engine(0, TW_VERIFY_NONE);
    assert_int_equal(tw_pool_create(0, &b.pool, NULL), 0);
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const kinds[] = {"f32", "f32 after GELU", "bf16", "bf16 after GELU"};
    struct bench *b = *state;
    for (int i = 0; i < 4; i++)
        print_message("largest error of %s: %.3f of what is allowed, %lld x %lld x %lld\n", kinds[i], b->worst[i].units,
                      (long long)b->worst[i].p.m, (long long)b->worst[i].p.k, (long long)b->worst[i].p.n);
    print_message("%llu products of %.3g million multiplications each\n", (unsigned long long)b->products,
                  b->multiplications / 1e6 / (double)b->products);
    assert_int_equal(engine_expect_clean(b->engine).products_on_npu, b->products);
    tw_pool_destroy(b->pool);
    tw_engine_close(b->engine);
    return 0;
}

static void count(struct bench *b, const struct tw_product *p, double units)
{
    struct worst *w = &b->worst[2 * (p->c_type == TW_BF16) + (p->gelu != 0)];
    if (units >= w->units)
        *w = (struct worst){units, *p};
    b->products++;
    b->multiplications += (double)p->m * (double)p->k * (double)p->n;
}

static void run_one(struct bench *b, uint64_t seed, int64_t m, int64_t k, int64_t n)
{
    struct tw_random r = {seed};
    struct sample s;
    sample_make(&s, &r, m, k, n);
    sample_run(&s, b->engine, "alone");
    count(b, &s.p, sample_check(&s, b->pool, "alone"));
    sample_forget(&s, b->engine);
    sample_free(&s);
}

static void random_shapes(void **state)
{
    const int runs = is_long() ? LONG_RUN : SHORT_RUN, side = is_long() ? LONG_SIDE : SHORT_SIDE;
    struct tw_random r = {8};
    for (int i = 0; i < runs; i++) {
        const int64_t m = sample_side(&r, 1, side), k = sample_side(&r, 1, side), n = sample_side(&r, 1, side);
        run_one(*state, tw_random_u64(&r), m, k, n);
    }
}

/* Sides of one, and one more or less than what blocks and steps come to; those from `large` on in long runs only. */
static void chosen_shapes(void **state)
{
    enum { LARGE = 10 };
    static const int64_t sides[][3] = {
        {1, 1, 1},        {1, 33, 1},       {2, 31, 3},       {1, 700, 1},        {700, 1, 1},        {1, 1, 700},
        {63, 32, 65},     {65, 64, 63},     {129, 33, 257},   {31, 1, 33},        {1, 4200, 4200},    {4200, 1, 4200},
        {4200, 4200, 1},  {4193, 37, 4099}, {1536, 64, 1536}, {1536, 1536, 64},   {1500, 384, 1536},  {1500, 1536, 384},
        {3000, 240, 384}, {4199, 4200, 61}, {61, 4199, 4200}, {2049, 2047, 2051}, {4199, 4033, 4197},
    };
    const size_t all = sizeof sides / sizeof sides[0];
    for (size_t i = 0; i < (is_long() ? all : LARGE); i++)
        run_one(*state, i, sides[i][0], sides[i][1], sides[i][2]);
}

/* ---- operands of one sign, whose sums grow all the time: checksums must not take that rounding for a failure */

static float *numbers(struct tw_random *r, int64_t n, float least)
{
    float *p = malloc((size_t)n * sizeof *p);
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = least + (1 - least) * (float)tw_random_unit(r);
    return p;
}

static void of_one_sign(struct bench *b, struct tw_engine *engine, int64_t k, float least)
{
    enum { SIDE = 64 };
    struct tw_random r = {(uint64_t)k};
    struct reference x = {.m = SIDE,
                          .k = k,
                          .n = SIDE,
                          .a = numbers(&r, SIDE * k, least),
                          .b = numbers(&r, SIDE * k, least),
                          .found = numbers(&r, SIDE * SIDE, 0),
                          .is_rough = 1};
    const struct tw_product p = {.m = SIDE, .k = k, .n = SIDE, .a = x.a, .b = x.b, .c = x.found};
    assert_int_equal(tw_product_run(engine, &p, NULL), 0);
    reference_round(x.a, SIDE * k);
    reference_round(x.b, SIDE * k);
    print_message("depth %d, terms of one sign: %.3f of what is allowed\n", (int)k,
                  reference_check(&x, b->pool, "one sign"));
    free(x.a);
    free(x.b);
    free(x.found);
}

static void one_sign(void **state)
{
    struct tw_engine *engine = emulated_engine(0, TW_VERIFY_ALL);
    of_one_sign(*state, engine, 4200, 0);
    of_one_sign(*state, engine, 4200, 0.5f);
    of_one_sign(*state, engine, is_long() ? 30000 : 900, 0);
    engine_expect_clean(engine);
    tw_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_shapes), cmocka_unit_test(chosen_shapes),
                                       cmocka_unit_test(one_sign)};
    return cmocka_run_group_tests_name("shapes", tests, set_up, tear_down);
}
