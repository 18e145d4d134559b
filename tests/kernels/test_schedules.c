/* How good the kernels' schedules are. That they compute what their twins do is shown where they run on the emulator.
 */
#include "isa/assembler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SOURCE = 1 << 16 };

static struct tw_assembly *assemble(const char *name)
{
    static char text[SOURCE];
    char path[1024];
    const char *root = getenv("TILEWRIGHT_SOURCE");
    struct tw_assembly *assembly = NULL;
    struct tw_error err = {0, ""};

    snprintf(path, sizeof path, "%s/src/kernels/%s.s", root == NULL ? "." : root, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s cannot be read", path);
    size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    if (tw_assemble(path, text, size, NULL, &assembly, &err) != 0)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(assembly->n_messages, 0);
    assert_true(assembly->n_scheduled > 0);
    return assembly;
}

static const struct tw_sched_code *code_of(const struct tw_assembly *assembly)
{
    return assembly->scheduled[0].code;
}

/* ---- schedules */

static void inner_loops(void **state)
{
    static const struct {
        const char *name;
        unsigned products;
        double least;
    } kernels[] = {{"product_bf16", 64, 0.98}, {"product_int8", 32, 0.95}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tw_assembly *assembly = assemble(kernels[i].name);
        const struct tw_loop_report *r = &code_of(assembly)->loops[0];
        assert_int_equal(code_of(assembly)->n_loops, 1);
        assert_true(kernels[i].products >= kernels[i].least * r->interval);
        assert_true(assembly->sections[0].size < TW_PROGRAM_BYTES / 4);
        tw_assembly_free(assembly);
    }
}

static void check_loops(const char *name, const struct tw_sched_code *code)
{
    assert_true(code->n_loops > 0);
    for (size_t l = 0; l < code->n_loops; l++) {
        const struct tw_loop_report *r = &code->loops[l];
        print_message("%s, line %u: %u bundles, bound %u (%s)\n", name, r->line, r->interval, r->bound, r->bound_by);
        assert_true(r->interval <= r->bound + 1);
    }
}

static void unlike_loops_reach_their_bounds(void **state)
{
    static const char *const names[] = {"strided_copy", "softmax_row", "filter_int16"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct tw_assembly *assembly = assemble(names[i]);
        for (size_t k = 0; k < assembly->n_scheduled; k++)
            check_loops(names[i], assembly->scheduled[k].code);
        tw_assembly_free(assembly);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inner_loops),
                                       cmocka_unit_test(unlike_loops_reach_their_bounds)};
    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
