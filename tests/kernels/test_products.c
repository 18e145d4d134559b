/*
 * The product kernels: assembled, run on a model of what they use of a core, and compared with their twins bit for bit;
 * and how good their schedules, and those of three unlike loops, are.
 */
#include "base/half.h"
#include "base/random.h"
#include "isa/assembler.h"
#include "kernels/core.h"
#include "kernels/twin_product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BLOCK = TW_PRODUCT_SIZE * TW_PRODUCT_SIZE, A = 0, B_FIRST = 16384, B_LAST = 32768, C = 49152, SOURCE = 1 << 16 };

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
    assert_int_equal(assembly->n_scheduled, 1);
    return assembly;
}

static const struct tw_sched_code *code_of(const struct tw_assembly *assembly)
{
    return assembly->scheduled[0].code;
}

/* ---- running */

/* Runs a kernel over memory; returns the bundles issued. */
static long run(const struct tw_assembly *assembly, uint8_t *memory)
{
    struct core *c = core_make();
    char text[256];

    assert_non_null(c);
    memcpy(core_memory(c), memory, CORE_MEMORY);
    core_set_pointer(c, TW_R_p0, A);
    core_set_pointer(c, TW_R_p1, B_FIRST);
    core_set_pointer(c, TW_R_p2, B_LAST);
    core_set_pointer(c, TW_R_p3, C);
    long bundles = core_run(c, assembly->sections[0].bytes, assembly->sections[0].size, text);
    if (bundles < 0)
        fail_msg("%s", text);
    memcpy(memory, core_memory(c), CORE_MEMORY);
    core_free(c);
    return bundles;
}

static uint16_t random_bf16(struct tw_random *random)
{
    return tw_f32_to_bf16((float)(tw_random_unit(random) * 4 - 2));
}

static void bf16_is_its_twin(void **state)
{
    struct tw_assembly *assembly = assemble("product_bf16");
    struct tw_random random = {1};
    static uint8_t memory[CORE_MEMORY], before[CORE_MEMORY];
    static uint16_t a[BLOCK], b[2][BLOCK / 2];
    static uint32_t c[BLOCK];

    (void)state;
    for (unsigned i = 0; i < BLOCK; i++) {
        a[i] = random_bf16(&random);
        b[i % 2][i / 2] = random_bf16(&random);
        c[i] = tw_float_bits((float)(tw_random_unit(&random) - 0.5));
    }
    for (unsigned i = 0; i < CORE_MEMORY; i++)
        memory[i] = (uint8_t)tw_random_u64(&random);
    memcpy(memory + A, a, sizeof a);
    memcpy(memory + B_FIRST, b[0], sizeof b[0]);
    memcpy(memory + B_LAST, b[1], sizeof b[1]);
    memcpy(memory + C, c, sizeof c);
    memcpy(before, memory, sizeof before);

    long bundles = run(assembly, memory);
    tw_twin_product_bf16(a, b[0], b[1], c);
    assert_memory_equal(memory + C, c, sizeof c);
    assert_memory_equal(memory, before, C); /* nothing else is written */
    print_message("bf16: %ld bundles, %.3f vmac.f in each\n", bundles, 2048.0 / (double)bundles);
    assert_true(2048 >= 0.93 * (double)bundles);
    tw_assembly_free(assembly);
}

static void int8_is_its_twin(void **state)
{
    struct tw_assembly *assembly = assemble("product_int8");
    struct tw_random random = {2};
    static uint8_t memory[CORE_MEMORY], before[CORE_MEMORY];
    static int8_t a[BLOCK], b[2][BLOCK / 2];
    static uint32_t c[BLOCK];

    (void)state;
    for (unsigned i = 0; i < CORE_MEMORY; i++)
        memory[i] = (uint8_t)tw_random_u64(&random);
    memcpy(a, memory + A, sizeof a);
    memcpy(b[0], memory + B_FIRST, sizeof b[0]);
    memcpy(b[1], memory + B_LAST, sizeof b[1]);
    memcpy(c, memory + C, sizeof c);
    memcpy(before, memory, sizeof before);

    long bundles = run(assembly, memory);
    tw_twin_product_int8(a, b[0], b[1], c);
    assert_memory_equal(memory + C, c, sizeof c);
    assert_memory_equal(memory, before, C);
    print_message("int8: %ld bundles, %.3f vmac in each\n", bundles, 1024.0 / (double)bundles);
    assert_true(1024 >= 0.70 * (double)bundles);
    tw_assembly_free(assembly);
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

static void unlike_loops_reach_their_bounds(void **state)
{
    static const char *const names[] = {"strided_copy", "softmax_row", "filter_int16"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct tw_assembly *assembly = assemble(names[i]);
        const struct tw_sched_code *code = code_of(assembly);
        assert_true(code->n_loops > 0);
        for (size_t l = 0; l < code->n_loops; l++) {
            print_message("%s, line %u: %u bundles, bound %u (%s)\n", names[i], code->loops[l].line,
                          code->loops[l].interval, code->loops[l].bound, code->loops[l].bound_by);
            assert_true(code->loops[l].interval <= code->loops[l].bound + 1);
        }
        tw_assembly_free(assembly);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bf16_is_its_twin), cmocka_unit_test(int8_is_its_twin),
                                       cmocka_unit_test(inner_loops),
                                       cmocka_unit_test(unlike_loops_reach_their_bounds)};
    return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
