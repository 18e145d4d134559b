/* How data flows through the overlay, with a core program that is as simple as can be. */
#include "overlay/multiply.h"
#include "overlay/stand_in.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

struct bench {
    struct program program;
    struct device device;
    struct tw_random random;
};

static int set_up(void **state)
{
    static struct bench bench;
    program_assemble(&bench.program, stand_in);
    device_open(&bench.device, &bench.program);
    bench.random.state = 8;
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

static void run_one(struct bench *b, uint32_t rows, uint32_t depth, uint32_t columns, uint32_t m, uint32_t n)
{
    const struct multiply_options options = {.m = m, .n = n};
    struct multiply x;
    struct tw_overlay_launch *launch;

    multiply_make(&x, &b->device, &b->random, rows, depth, columns, &options);
    assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
    assert_int_equal(tw_overlay_product(launch, &x.product, NULL), 0);
    device_run(&b->device, launch);
    multiply_check(&x, &b->device);
    multiply_free(&x);
}

static void smallest(void **state)
{
    run_one(*state, 1, 1, 1, 0, 0);
}

static void all_cores(void **state)
{
    run_one(*state, 64, 64, 64, 16, 16);
}

static void several_panels(void **state)
{
    run_one(*state, 150, 100, 140, 16, 32);
    run_one(*state, 70, 300, 400, 32, 16);
}

/*
 * Products of several shapes: which parts of the tiles change from one to the next differs, and which of a core's two
 * buffers is next when they do.
 */
enum { PRODUCTS = 8 };
static const struct {
    uint32_t rows, depth, columns, m, n;
} products[PRODUCTS] = {
    {64, 96, 64, 16, 16},    {100, 64, 100, 32, 16}, {100, 64, 100, 32, 16}, {100, 64, 200, 16, 48},
    {300, 2000, 20, 32, 48}, {65, 96, 1, 32, 16},    {65, 160, 1, 48, 16},   {80, 2700, 64, 16, 96},
};

static void many_in_one_launch(void **state)
{
    struct bench *b = *state;
    struct multiply x[PRODUCTS];
    struct tw_overlay_launch *launch;

    assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
    for (unsigned i = 0; i < PRODUCTS; i++) {
        const struct multiply_options options = {.m = products[i].m, .n = products[i].n};
        multiply_make(&x[i], &b->device, &b->random, products[i].rows, products[i].depth, products[i].columns,
                      &options);
        assert_int_equal(tw_overlay_product(launch, &x[i].product, NULL), 0);
    }
    device_run(&b->device, launch);
    for (unsigned i = 0; i < PRODUCTS; i++) {
        multiply_check(&x[i], &b->device);
        multiply_free(&x[i]);
    }
}

/* The same product, alone and behind another launch, gives the same bytes; rows of C keep what lies between them. */
static void what_ran_before_does_not_matter(void **state)
{
    struct bench *b = *state;
    const struct multiply_options options = {.m = 16, .n = 32};
    struct multiply x;
    struct tw_overlay_launch *launch;
    static unsigned char first[1 << 18];

    multiply_make(&x, &b->device, &b->random, 70, 50, 130, &options);
    const unsigned char *c = b->device.bytes[x.product.c.argument];
    const size_t size = (size_t)tw_overlay_height(&x.product.shape) * x.product.ldc * 4;
    assert_true(size <= sizeof first);
    for (unsigned time = 0; time < 2; time++) {
        multiply_poison(&x, &b->device);
        assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
        assert_int_equal(tw_overlay_product(launch, &x.product, NULL), 0);
        device_run(&b->device, launch);
        multiply_check(&x, &b->device);
        if (time == 1)
            assert_memory_equal(c, first, size);
        memcpy(first, c, size);
        run_one(b, 40, 500, 65, 48, 16);
    }
    multiply_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest),
        cmocka_unit_test(all_cores),
        cmocka_unit_test(several_panels),
        cmocka_unit_test(many_in_one_launch),
        cmocka_unit_test(what_ran_before_does_not_matter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
