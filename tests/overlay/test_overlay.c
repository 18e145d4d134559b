/* Products on the overlay with the real core program, against float64. */
#include "overlay/layout.h"
#include "overlay/multiply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct bench {
    struct program program;
    struct device device;
    struct tw_random random;
};

static int set_up(void **state)
{
    static struct bench bench;
    program_job(&bench.program);
    device_open(&bench.device, &bench.program);
    bench.random.state = 18;
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    device_close(&b->device);
    program_free(&b->program);
    return 0;
}

/* A side: small ones as often as large ones. */
static uint32_t side(struct tw_random *random, uint32_t most)
{
    return (uint32_t)tw_random_range(random, 1, tw_random_range(random, 1, most));
}

/* n launches of one to three products each; flags are those that may be set. */
static void random_products(struct bench *b, unsigned launches, uint32_t most, unsigned flags)
{
    enum { MOST = 3 };
    struct multiply x[MOST];
    struct tw_overlay_launch *launch;

    for (unsigned i = 0; i < launches; i++) {
        const unsigned n = (unsigned)tw_random_range(&b->random, 1, MOST);
        assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
        for (unsigned k = 0; k < n; k++) {
            const struct multiply_options options = {.flags = (unsigned)tw_random_u64(&b->random) & flags,
                                                     .order = (enum tw_overlay_order)tw_random_range(&b->random, 0, 2)};
            multiply_make(&x[k], &b->device, &b->random, side(&b->random, most), side(&b->random, most),
                          side(&b->random, most), &options);
            assert_int_equal(tw_overlay_product(launch, &x[k].product, NULL), 0);
        }
        device_run(&b->device, launch);
        for (unsigned k = 0; k < n; k++) {
            multiply_check(&x[k], &b->device);
            multiply_free(&x[k]);
        }
        device_forget(&b->device);
    }
}

static void run_one(struct bench *b, uint32_t rows, uint32_t depth, uint32_t columns,
                    const struct multiply_options *options)
{
    struct tw_overlay_launch *launch;
    struct multiply x;

    multiply_make(&x, &b->device, &b->random, rows, depth, columns, options);
    assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
    assert_int_equal(tw_overlay_product(launch, &x.product, NULL), 0);
    device_run(&b->device, launch);
    multiply_check(&x, &b->device);
    multiply_free(&x);
    device_forget(&b->device);
}

/* Every block, with one panel and a little; depths of one, two and more steps. */
static void all_blocks(void **state)
{
    for (uint32_t m = TW_JOB_UNIT; m <= TW_JOB_MAX; m += TW_JOB_UNIT)
        for (uint32_t n = TW_JOB_UNIT; n <= TW_JOB_MAX; n += TW_JOB_UNIT) {
            const struct multiply_options options = {.m = m, .n = n};
            run_one(*state, 4 * m - 3, 5 + (m + n) % 80, 4 * n + 1, &options);
        }
}

static void fp32(void **state)
{
    random_products(*state, 6, 450, 0);
}

static void bf16(void **state)
{
    random_products(*state, 6, 450, TW_JOB_BF16);
}

static void bias(void **state)
{
    random_products(*state, 6, 450, TW_JOB_BF16 | TW_JOB_ADD_BIAS);
}

static void gelu(void **state)
{
    random_products(*state, 6, 350, TW_JOB_GELU | TW_JOB_BF16 | TW_JOB_ADD_BIAS);
}

static void addend(void **state)
{
    random_products(*state, 6, 300, TW_JOB_ADDEND | TW_JOB_GELU | TW_JOB_BF16 | TW_JOB_ADD_BIAS);
}

/* Every order of B, with everything that may be done to C; enough panels that descriptors are used again. */
static void addend_in_panels(void **state)
{
    for (unsigned order = TW_OVERLAY_PACKED; order <= TW_OVERLAY_BY_COLUMNS; order++)
        for (unsigned bf16 = 0; bf16 < 2; bf16++) {
            const struct multiply_options options = {.flags = TW_JOB_ADDEND | TW_JOB_GELU | TW_JOB_ADD_BIAS |
                                                              (bf16 ? TW_JOB_BF16 : 0u),
                                                     .order = (enum tw_overlay_order)order,
                                                     .m = 16,
                                                     .n = bf16 ? 32 : 48};
            run_one(*state, 130, 60, 600, &options);
        }
}

/* The sum of several products: what one has written is added to the next, whose blocks are others. */
static void sum_of_products(void **state)
{
    enum { TERMS = 4 };
    static const struct {
        uint32_t depth, m, n;
        unsigned flags;
    } terms[TERMS] = {{100, 96, 48, 0},
                      {70, 48, 80, TW_JOB_ADDEND},
                      {70, 48, 80, TW_JOB_ADDEND | TW_JOB_ADD_BIAS},
                      {300, 16, 32, TW_JOB_ADDEND | TW_JOB_GELU | TW_JOB_BF16}};
    struct bench *b = *state;
    struct multiply x[TERMS];
    struct tw_overlay_launch *launch;

    assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
    for (unsigned i = 0; i < TERMS; i++) {
        const struct multiply_options options = {
            .flags = terms[i].flags, .m = terms[i].m, .n = terms[i].n, .gap = 400, .d_of = i == 0 ? NULL : &x[i - 1]};
        multiply_make(&x[i], &b->device, &b->random, 390, terms[i].depth, 200, &options);
        assert_int_equal(tw_overlay_product(launch, &x[i].product, NULL), 0);
    }
    device_run(&b->device, launch);
    for (unsigned i = 0; i < TERMS; i++)
        multiply_check(&x[i], &b->device);
    for (unsigned i = 0; i < TERMS; i++)
        multiply_free(&x[i]);
    device_forget(&b->device);
}

/* Each product reads what the one before has written, padding included, and nothing goes through the host. */
static void chains(void **state)
{
    enum { LINKS = 4 };
    struct bench *b = *state;
    struct multiply x[LINKS];
    struct tw_overlay_launch *launch;

    for (unsigned i = 0; i < 4; i++) {
        const uint32_t rows = side(&b->random, 500);
        uint32_t depth = side(&b->random, 300);
        assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
        for (unsigned k = 0; k < LINKS; k++) {
            const uint32_t columns = side(&b->random, 300);
            const struct multiply_options options = {.flags = TW_JOB_BF16 | (k & (TW_JOB_ADD_BIAS | TW_JOB_GELU)),
                                                     .a_of = k == 0 ? NULL : &x[k - 1]};
            multiply_make(&x[k], &b->device, &b->random, rows, depth, columns, &options);
            assert_int_equal(tw_overlay_product(launch, &x[k].product, NULL), 0);
            depth = columns;
        }
        device_run(&b->device, launch);
        for (unsigned k = 0; k < LINKS; k++)
            multiply_check(&x[k], &b->device);
        for (unsigned k = 0; k < LINKS; k++)
            multiply_free(&x[k]);
        device_forget(&b->device);
    }
}

/*
 * Products of one shape, which would begin while the ones before them end: the second and fourth read what was just
 * written, the last two do not, and the third adds what the first has written.
 */
static void same_shape(void **state)
{
    enum { LINKS = 6 };
    static const int a_of[LINKS] = {-1, 0, -1, 2, -1, -1}, d_of[LINKS] = {-1, -1, 0, 1, -1, 3};
    struct bench *b = *state;
    struct multiply x[LINKS];
    struct tw_overlay_launch *launch;

    for (unsigned addend = 0; addend < 2; addend++) {
        assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
        for (unsigned i = 0; i < LINKS; i++) {
            const struct multiply_options options = {.flags = addend ? TW_JOB_ADDEND : TW_JOB_BF16,
                                                     .m = 16,
                                                     .n = 16,
                                                     .a_of = addend || a_of[i] < 0 ? NULL : &x[a_of[i]],
                                                     .d_of = !addend || d_of[i] < 0 ? NULL : &x[d_of[i]]};
            multiply_make(&x[i], &b->device, &b->random, 128, 64, 64, &options);
            assert_int_equal(tw_overlay_product(launch, &x[i].product, NULL), 0);
        }
        device_run(&b->device, launch);
        for (unsigned i = 0; i < LINKS; i++)
            multiply_check(&x[i], &b->device);
        for (unsigned i = 0; i < LINKS; i++)
            multiply_free(&x[i]);
        device_forget(&b->device);
    }
}

/* B goes on while A and C change: cores have their next job before the rest of their tile is set. */
static void one_path_goes_on(void **state)
{
    struct bench *b = *state;
    const struct multiply_options options[2] = {{.m = 80, .n = 48}, {.m = 16, .n = 48}};
    struct multiply x[2];
    struct tw_overlay_launch *launch;

    assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        multiply_make(&x[i], &b->device, &b->random, 190, 24, 160, &options[i]);
        assert_int_equal(tw_overlay_product(launch, &x[i].product, NULL), 0);
    }
    device_run(&b->device, launch);
    for (unsigned i = 0; i < 2; i++) {
        multiply_check(&x[i], &b->device);
        multiply_free(&x[i]);
    }
}

/* The emulator's threads do the same for all orders of B: under their sanitizer, which takes long, one is enough. */
#if defined(__SANITIZE_THREAD__)
enum { LAST_ORDER = TW_OVERLAY_PACKED };
#else
enum { LAST_ORDER = TW_OVERLAY_BY_COLUMNS };
#endif

/* A column panel of B for which the memory tiles have not all the room: its beginning stays, the rest passes. */
static void part_of_b_passes(void **state)
{
    static const uint32_t depths[][2] = {
        [TW_OVERLAY_PACKED] = {3000, 40}, [TW_OVERLAY_BY_ROWS] = {2700, 60}, [TW_OVERLAY_BY_COLUMNS] = {2800, 20}};
    struct bench *b = *state;
    struct multiply x[2];
    struct tw_overlay_launch *launch;

    for (unsigned order = TW_OVERLAY_PACKED; order <= LAST_ORDER; order++) {
        assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
        for (unsigned i = 0; i < 2; i++) {
            const struct multiply_options options = {
                .flags = TW_JOB_ADD_BIAS, .order = (enum tw_overlay_order)order, .m = 16, .n = 96};
            const uint32_t columns = order == TW_OVERLAY_PACKED ? 400 : 380; /* two column panels, one */
            multiply_make(&x[i], &b->device, &b->random, 70, depths[order][i], columns, &options);
            assert_int_equal(x[i].product.shape.passing > 0, i == 0);
            assert_int_equal(tw_overlay_product(launch, &x[i].product, NULL), 0);
        }
        device_run(&b->device, launch);
        for (unsigned i = 0; i < 2; i++) {
            multiply_check(&x[i], &b->device);
            multiply_free(&x[i]);
        }
        device_forget(&b->device);
    }
}

/* More row panels than a lock counts to, and than a descriptor repeats. */
static void tall(void **state)
{
    run_one(*state, 4200, 40, 20, &(struct multiply_options){.m = 16, .n = 16});
}

/* Row panels are further apart than a descriptor can step: each is a task of its own, and more than fit a queue. */
static void far_apart(void **state)
{
    run_one(*state, 700, 40, 100, &(struct multiply_options){.m = 16, .n = 16, .gap_a = 32768});
    run_one(*state, 500, 40, 100, &(struct multiply_options){.flags = TW_JOB_ADDEND, .m = 16, .n = 16, .gap_d = 16384});
}

/* Row panels of C are one walk, however far they are apart. */
static void wide_rows_of_c(void **state)
{
    run_one(*state, 700, 40, 100, &(struct multiply_options){.m = 16, .n = 16, .gap = 16384});
}

/* For longer runs by hand: TILEWRIGHT_PRODUCTS launches of sides up to 4,200. */
static void many(void **state)
{
    const char *n = getenv("TILEWRIGHT_PRODUCTS");
    if (n == NULL)
        skip();
    random_products(*state, (unsigned)strtoul(n, NULL, 10), 4200,
                    TW_JOB_ADDEND | TW_JOB_GELU | TW_JOB_BF16 | TW_JOB_ADD_BIAS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_blocks),
        cmocka_unit_test(fp32),
        cmocka_unit_test(bf16),
        cmocka_unit_test(bias),
        cmocka_unit_test(gelu),
        cmocka_unit_test(addend),
        cmocka_unit_test(addend_in_panels),
        cmocka_unit_test(sum_of_products),
        cmocka_unit_test(chains),
        cmocka_unit_test(same_shape),
        cmocka_unit_test(one_path_goes_on),
        cmocka_unit_test(part_of_b_passes),
        cmocka_unit_test(tall),
        cmocka_unit_test(far_apart),
        cmocka_unit_test(wide_rows_of_c),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
