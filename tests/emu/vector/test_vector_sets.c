/*
 * Every vector instruction gives the same with the functions of every instruction set of this processor as with the
 * definitions: all outputs, and the refusals. A few thousand operand sets each; with TILEWRIGHT_LONG in the environment
 * 100,000.
 */
#include "emu/vector/random_values.h"
#include "emu/vector_kernels.h"

#include <setjmp.h>
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
        cmocka_unit_test(test_flushed_denormals_agree),
        cmocka_unit_test(test_the_best_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
