/*
 * The product kernels on a core of the array: as many cycles as the scheduler's report says that they take, and one
 * more for each access that waits for a bank, counted apart.
 */
#include "emu/array/board_program.h"
#include "isa/assembler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SOURCE = 1 << 17, OWN = 0x70000, BANK = 0x4000 };

/* A program that calls the kernel with A, the two halves of B and C at these places of its memory. */
static const char *call(const char *name, const uint32_t places[4])
{
    static char text[SOURCE];
    const char *root = getenv("TILEWRIGHT_SOURCE");
    char path[1024];
    int n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += snprintf(text + n, (size_t)(SOURCE - n), " movxm p%u, #0x%x\n", i, (unsigned)(OWN + places[i]));
    n += snprintf(text + n, (size_t)(SOURCE - n),
                  ".align 16\n jl #%s\n nop\n nop\n nop\n nop\n nop\n.align 16\n done\n nop\n nop\n", name);
    snprintf(path, sizeof path, "%s/src/kernels/%s.s", root == NULL ? "." : root, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s cannot be read", path);
    size_t size = fread(text + n, 1, (size_t)(SOURCE - n - 1), f);
    fclose(f);
    text[(size_t)n + size] = '\0';
    return text;
}

/* Bundles that the kernel issues, by the scheduler's report. */
static uint64_t reported(const char *text)
{
    struct tw_assembly *assembly = NULL;
    struct tw_error err = {0};
    if (tw_assemble("kernel.s", text, strlen(text), NULL, &assembly, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(assembly->n_scheduled, 1);
    const struct tw_sched_code *code = assembly->scheduled[0].code;
    uint64_t bundles = code->n_bundles;
    for (size_t i = 0; i < code->n_loops; i++) {
        assert_true(code->loops[i].passes > 0);
        bundles += (uint64_t)(code->loops[i].passes - 1) * code->loops[i].bundles;
    }
    tw_assembly_free(assembly);
    return bundles;
}

struct times {
    uint64_t cycles, bundles, stalls;
};

static struct times run(const char *text)
{
    struct board *b = board_new(1);
    struct tw_tile_counts c;
    put_program(b, 0, 2, text);
    start_core(b, 0, 2);
    assert_int_equal(drain(b), 0);
    assert_int_equal(tw_array_counts(b->array, 0, 2, &c), 0);
    assert_true(c.done);
    struct times times = {tw_array_clock(b->array), c.bundles, c.bank_stalls};
    board_free(b);
    return times;
}

static void check(const char *name)
{
    static const uint32_t apart[4] = {0, BANK, 2 * BANK, 3 * BANK}, together[4] = {0, BANK, BANK + BANK / 2, 3 * BANK};
    const char *text = call(name, apart);
    uint64_t report = reported(text);
    struct times free = run(text), stalled = run(call(name, together));
    print_message("%s: report %u bundles, %u cycles; with both halves of B in one bank %u, of which stalls %u\n", name,
                  (unsigned)report, (unsigned)free.cycles, (unsigned)stalled.cycles, (unsigned)stalled.stalls);
    assert_in_range(free.cycles, report, report * 103 / 100);
    assert_int_equal(free.stalls, 0);
    assert_true(stalled.stalls > 0);
    assert_int_equal(stalled.bundles, free.bundles);
    assert_int_equal(stalled.cycles, free.cycles + stalled.stalls);
}

static void bf16(void **state)
{
    (void)state;
    check("product_bf16");
}

static void int8(void **state)
{
    (void)state;
    check("product_int8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bf16), cmocka_unit_test(int8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
