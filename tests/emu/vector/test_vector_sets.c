/*
 * Every vector instruction gives the same with the functions of every instruction set of this processor as with the
 * definitions: all outputs, and the refusals. A few thousand operand sets each; with TILEWRIGHT_LONG in the environment
 * 100,000.
 */
#include "emu/vector/random_values.h"
#include "emu/vector_kernels.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SETS_SHORT 2000
#define SETS_LONG 100000

/* Rows that differ in how they address only share their function and what it is told. */
static int is_new(const struct tw_semantics *rows, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (rows[k].function == rows[i].function && rows[k].action == rows[i].action && rows[k].a == rows[i].a &&
            rows[k].b == rows[i].b && rows[k].c == rows[i].c && rows[k].d == rows[i].d)
            return 0;
    return 1;
}

static void fail_values(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, unsigned k,
                        const struct call *expected, const struct call *got)
{
    print_error("%s with %s, value %u:\n", tw_instructions[row->instruction].name, kernels->name, k);
    for (unsigned i = 0; i < expected->sizes[k]; i++)
        print_error("%02x%s", expected->bytes[k][i], i + 1 == expected->sizes[k] ? " expected\n" : "");
    for (unsigned i = 0; i < expected->sizes[k]; i++)
        print_error("%02x%s", got->bytes[k][i], i + 1 == expected->sizes[k] ? " got\n" : "");
    fail();
}

static void compare(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                    const struct call *expected, const char *refusal, struct call *got)
{
    const char *reason = row->function(row, kernels, got->in, got->out);
    if ((reason == NULL) != (refusal == NULL) || (reason != NULL && strcmp(reason, refusal) != 0))
        fail_msg("%s with %s: %s, expected %s", tw_instructions[row->instruction].name, kernels->name,
                 reason != NULL ? reason : "a result", refusal != NULL ? refusal : "a result");
    for (unsigned k = 0; k < TW_VALUES_MAX && refusal == NULL; k++)
        if (expected->sizes[k] > 0 && memcmp(expected->bytes[k], got->bytes[k], expected->sizes[k]) != 0)
            fail_values(row, kernels, k, expected, got);
}

/* A copy whose pointers are its own. */
static void copy_call(const struct call *from, struct call *to)
{
    *to = *from;
    for (unsigned k = 0; k < TW_VALUES_MAX; k++) {
        to->in[k] = from->in[k] != NULL ? to->bytes[k] : NULL;
        to->out[k] = from->out[k] != NULL ? to->bytes[k] : NULL;
    }
}

/* The tables to compare with the definitions; asking the processor is slow. */
static unsigned fast_tables(int denormals_are_zero, const struct tw_vector_kernels *tables[TW_KERNEL_SETS])
{
    unsigned n = 0;
    for (int set = TW_KERNELS_C + 1; set < TW_KERNEL_SETS; set++) {
        tables[n] = tw_vector_kernels_of((enum tw_kernel_set)set, denormals_are_zero);
        n += tables[n] != NULL;
    }
    return n;
}

static unsigned check_row(const struct tw_semantics *row, unsigned sets, int denormals_are_zero)
{
    const struct tw_vector_kernels *plain = tw_vector_kernels_of(TW_KERNELS_C, denormals_are_zero);
    const struct tw_vector_kernels *tables[TW_KERNEL_SETS];
    const unsigned n = fast_tables(denormals_are_zero, tables);
    struct tw_random random = {row->instruction + 1u};
    unsigned computed = 0;
    for (unsigned i = 0; i < sets; i++) {
        struct call expected, got, fresh;
        random_call(&random, row, &fresh);
        copy_call(&fresh, &expected);
        const char *refusal = row->function(row, plain, expected.in, expected.out);
        computed += refusal == NULL;
        for (unsigned k = 0; k < n; k++) {
            copy_call(&fresh, &got);
            compare(row, tables[k], &expected, refusal, &got);
        }
    }
    return computed;
}

static void test_all_sets_agree(void **state)
{
    (void)state;
    unsigned count, checked = 0, refusing = 0;
    const struct tw_semantics *rows = tw_vector_semantics(&count);
    unsigned sets = getenv("TILEWRIGHT_LONG") != NULL ? SETS_LONG : SETS_SHORT;
    for (unsigned i = 0; i < count; i++) {
        if (!is_new(rows, i))
            continue;
        unsigned computed = check_row(&rows[i], sets, 0);
        checked++;
        refusing += computed == 0;
    }
    /* Sparse and decompressing loads always refuse; all others compute. */
    assert_int_equal(refusing, 2);
    assert_true(checked > 140);
}

/* ---- sums of numbers of all sizes */

struct sum_call {
    alignas(64) uint16_t a[32];
    alignas(64) uint16_t b[32];
    alignas(64) uint32_t acc1[16];
    alignas(64) uint32_t acc2[16];
};

static unsigned exponent_between(struct tw_random *random, int low, int high)
{
    int e = (int)tw_random_range(random, low, high);
    return (unsigned)(e < 0 ? 0 : e > 254 ? 254 : e);
}

/* What makes a number another one in 1 of 8 cases: zero, a denormal, or NaN or infinity where these are asked for. */
static unsigned odd_exponent(unsigned kind, unsigned exponent, int specials)
{
    return kind == 0 ? 0 : kind == 1 && specials ? 255 : exponent;
}

static uint16_t random_factor(struct tw_random *random, int exponent, int spread, int specials)
{
    uint64_t u = tw_random_u64(random);
    unsigned e = odd_exponent(u >> 16 & 15, exponent_between(random, exponent - spread, exponent + spread), specials);
    unsigned mantissa = (u >> 20 & 3) == 0 ? 0 : u & 0x7f;
    return (uint16_t)((u & 0x8000) | e << 7 | mantissa);
}

static uint32_t random_accumulator(struct tw_random *random, int exponent, int spread, int specials)
{
    uint64_t u = tw_random_u64(random);
    unsigned e = odd_exponent(u >> 32 & 15, exponent_between(random, exponent - spread, exponent + spread), specials);
    uint32_t mantissa = (u >> 36 & 3) == 0 ? 0 : u & 0x7fffff;
    return (uint32_t)(u & 0x80000000u) | e << 23 | mantissa;
}

/*
 * Factors and accumulators whose sums have exponents (mac_bf16.c) about `size`, each lane within 8 of it or, in every
 * other call, within 80. In one of 8 calls no sum has been begun.
 */
static void random_sum(struct tw_random *random, int size, int specials, struct sum_call *c)
{
    uint64_t u = tw_random_u64(random);
    int spread = u & 1 ? 4 : 40, a = (int)tw_random_range(random, 1, 254), from_zero = (u >> 1 & 7) == 0;
    for (unsigned i = 0; i < 32; i++) {
        c->a[i] = random_factor(random, a, spread, specials);
        c->b[i] = random_factor(random, size - a, spread, specials);
    }
    for (unsigned i = 0; i < 16; i++) {
        c->acc1[i] = from_zero ? 0 : random_accumulator(random, size - 128, 2 * spread, specials);
        c->acc2[i] = random_accumulator(random, size - 128, 2 * spread, specials);
        if (tw_random_range(random, 0, 7) == 0)
            c->acc2[i] = c->acc1[i] ^ 0x80000000u; /* what cancels */
    }
}

static unsigned do_sum(const struct tw_vector_kernels *k, unsigned which, const struct sum_call *c, uint32_t out[16])
{
    const void *acc2 = which & 1 ? c->acc2 : NULL;
    memset(out, 0xa5, 64);
    if (which / 2 == 0)
        return k->bf16_matrix(c->acc1, acc2, c->a, c->b, out);
    if (which / 2 == 1)
        return k->bf16_elements(c->acc1, acc2, c->a, c->b, out);
    return k->fp32_add(c->acc1, acc2, out);
}

static void test_sums_of_all_sizes_agree(void **state)
{
    (void)state;
    enum { WAYS = 6, SIZES = 520 };
    const struct tw_vector_kernels *plain = tw_vector_kernels_of(TW_KERNELS_C, 0), *tables[TW_KERNEL_SETS];
    const unsigned n = fast_tables(0, tables), sets = getenv("TILEWRIGHT_LONG") != NULL ? SETS_LONG : 20 * SIZES;
    struct tw_random random = {96};
    unsigned tiny = 0;
    for (unsigned i = 0; i < sets; i++) {
        struct sum_call c;
        random_sum(&random, (int)(i % SIZES), i / SIZES % 3 == 0, &c);
        for (unsigned which = 0; which < WAYS; which++) {
            alignas(64) uint32_t expected[16];
            alignas(64) uint32_t got[16];
            unsigned flags = do_sum(plain, which, &c, expected);
            tiny += (flags & 8u) != 0;
            for (unsigned k = 0; k < n; k++) {
                unsigned other = do_sum(tables[k], which, &c, got);
                if (other != flags || memcmp(expected, got, sizeof got) != 0)
                    fail_msg("%s, way %u, set %u differs: flags %x, expected %x", tables[k]->name, which, i, other,
                             flags);
            }
        }
    }
    assert_true(tiny > sets / 20);
}

static void test_flushed_denormals_agree(void **state)
{
    (void)state;
    unsigned count;
    const struct tw_semantics *rows = tw_vector_semantics(&count);
    for (unsigned i = 0; i < count; i++)
        if (rows[i].instruction == TW_I_VMAC_F_vmac_bm_core_dense)
            assert_true(check_row(&rows[i], SETS_SHORT, 1) > 0);
}

static void test_the_best_set(void **state)
{
    (void)state;
    assert_non_null(tw_vector_kernels_of(TW_KERNELS_C, 0));
    assert_int_equal(tw_vector_kernels_of(TW_KERNELS_C, 0)->denormals_are_zero, 0);
    assert_int_equal(tw_vector_kernels_best(1)->denormals_are_zero, 1);
    for (int set = 0; set < TW_KERNEL_SETS; set++)
        if (tw_vector_kernels_of((enum tw_kernel_set)set, 0) != NULL)
            assert_string_not_equal("", tw_vector_kernels_of((enum tw_kernel_set)set, 0)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sets_agree),
        cmocka_unit_test(test_sums_of_all_sizes_agree),
        cmocka_unit_test(test_flushed_denormals_agree),
        cmocka_unit_test(test_the_best_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
