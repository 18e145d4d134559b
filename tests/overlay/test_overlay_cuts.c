/*
 * Results do not depend on how a product is cut into blocks: whatever m and n are, each number of C is the same bit for
 * bit, for sums follow the depth alone. With TILEWRIGHT_LONG in the environment larger products and all cuts.
 */
#include "overlay/layout.h"
#include "overlay/multiply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { DEEP = 1000 };

struct bench {
    struct program program;
    struct device device;
    unsigned cuts;
};

static int set_up(void **state)
{
    static struct bench bench;
    program_job(&bench.program);
    device_open(&bench.device, &bench.program);
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    print_message("%u cuts\n", b->cuts);
    device_close(&b->device);
    program_free(&b->program);
    return 0;
}

static int is_long(void)
{
    return getenv("TILEWRIGHT_LONG") != NULL;
}

struct size {
    uint32_t rows, depth, columns;
};

static size_t row_bytes(const struct multiply *x)
{
    return (x->product.shape.size.bf16_out ? 2 : 4) * (size_t)x->product.shape.size.columns;
}

/* C without what is around it, to be freed. The same seed makes the same operands, whatever the cut. */
static unsigned char *run(struct bench *b, uint64_t seed, const struct size *size,
                          const struct multiply_options *options)
{
    struct tw_random random = {seed};
    struct tw_overlay_launch *launch;
    struct multiply x;
    multiply_make(&x, &b->device, &random, size->rows, size->depth, size->columns, options);
    assert_int_equal(tw_overlay_launch_begin(&launch, NULL), 0);
    assert_int_equal(tw_overlay_product(launch, &x.product, NULL), 0);
    device_run(&b->device, launch);
    const struct tw_overlay_product *p = &x.product;
    const size_t bytes = row_bytes(&x), step = bytes / size->columns * p->ldc;
    unsigned char *c = malloc(bytes * size->rows);
    assert_non_null(c);
    for (uint32_t i = 0; i < size->rows; i++)
        memcpy(c + i * bytes, b->device.bytes[p->c.argument] + p->c.offset + i * step, bytes);
    multiply_check(&x, &b->device);
    multiply_free(&x);
    device_forget(&b->device);
    b->cuts++;
    return c;
}

static size_t bytes_of(const struct size *size, const struct multiply_options *options)
{
    return (options->flags & TW_JOB_BF16 ? 2 : 4) * (size_t)size->rows * size->columns;
}

/* In short runs the corners and what lies on one line between them, but for large blocks of deep products. */
static int is_taken(const struct size *size, uint32_t m, uint32_t n)
{
    const int m_ends = m == TW_JOB_UNIT || m == TW_JOB_MAX, n_ends = n == TW_JOB_UNIT || n == TW_JOB_MAX;
    if (is_long())
        return 1;
    if (size->depth > DEEP && m * n > TW_JOB_UNIT * TW_JOB_MAX)
        return 0;
    return (m_ends && n_ends) || m + n == TW_JOB_MAX + TW_JOB_UNIT;
}

/* Blocks of m x n need not fit a core for each kind of product. */
static int can_be_cut(const struct size *size, const struct multiply_options *options, uint32_t m, uint32_t n)
{
    const struct tw_overlay_size s = {size->rows,     size->depth,
                                      size->columns,  (options->flags & TW_JOB_BF16) != 0,
                                      options->order, (options->flags & TW_JOB_ADDEND) != 0};
    struct tw_overlay_shape shape;
    return tw_overlay_cut(&s, m, n, &shape, NULL) == 0;
}

static void compare_cuts(struct bench *b, uint64_t seed, const struct size *size, struct multiply_options options)
{
    unsigned char *right = run(b, seed, size, &options);
    for (uint32_t m = TW_JOB_UNIT; m <= TW_JOB_MAX; m += TW_JOB_UNIT)
        for (uint32_t n = TW_JOB_UNIT; n <= TW_JOB_MAX; n += TW_JOB_UNIT) {
            options.m = m;
            options.n = n;
            if (!is_taken(size, m, n) || !can_be_cut(size, &options, m, n))
                continue;
            unsigned char *c = run(b, seed, size, &options);
            if (memcmp(c, right, bytes_of(size, &options)) != 0)
                fail_msg("%u x %u x %u, order %d, flags %u: in blocks of %u x %u the result is another", size->rows,
                         size->depth, size->columns, (int)options.order, options.flags, m, n);
            free(c);
        }
    free(right);
}

/* How the emulator's threads work together does not depend on flags and orders: under their sanitizer each comes once.
 */
static int is_tried(unsigned flags, unsigned order)
{
#if defined(__SANITIZE_THREAD__)
    return flags == order;
#else
    (void)flags;
    (void)order;
    return 1;
#endif
}

/* All flags with all orders of B. */
static void any_cut(void **state)
{
    static const struct size small = {70, 90, 101}, large = {203, 390, 210};
    const unsigned flags[] = {0, TW_JOB_ADD_BIAS | TW_JOB_GELU | TW_JOB_BF16, TW_JOB_ADDEND | TW_JOB_ADD_BIAS};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned order = TW_OVERLAY_PACKED; order <= TW_OVERLAY_BY_COLUMNS; order++)
            if (is_tried(i, order))
                compare_cuts(*state, 100 + i, is_long() ? &large : &small,
                             (struct multiply_options){.flags = flags[i], .order = (enum tw_overlay_order)order});
}

/* B stays in the memory tiles, stays in part, or passes. */
static void deep(void **state)
{
    const struct size size = {100, 3000, 120};
    compare_cuts(*state, 7, &size, (struct multiply_options){.flags = TW_JOB_ADD_BIAS});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_cut), cmocka_unit_test(deep)};
    return cmocka_run_group_tests_name("overlay_cuts", tests, set_up, tear_down);
}
