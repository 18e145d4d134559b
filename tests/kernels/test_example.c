/* The kernels that pages in docs/ show are assembled as they stand, called as the pages say, and right. */
#include "base/random.h"
#include "kernels/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PAGE = 1 << 17, BANK = 16384 };

/* The first indented block behind a page's heading, without its indentation; it ends at the first line of prose. */
static void read_example(const char *name, const char *heading, char *example)
{
    static char page[PAGE];
    char path[1024];
    const char *root = getenv("TILEWRIGHT_SOURCE");

    snprintf(path, sizeof path, "%s/docs/%s", root == NULL ? "." : root, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s cannot be read", path);
    page[fread(page, 1, PAGE - 1, f)] = '\0';
    fclose(f);
    const char *at = strstr(page, heading);
    assert_non_null(at);
    at = strstr(at, "\n    ");
    assert_non_null(at);
    for (at++; strncmp(at, "    ", 4) == 0 || *at == '\n';) {
        size_t n = strcspn(at, "\n") + 1;
        size_t skip = n > 4 ? 4 : 0;
        memcpy(example, at + skip, n - skip);
        example += n - skip;
        at += n;
    }
    *example = '\0';
}

static void the_example_adds(void **state)
{
    static char example[PAGE];
    static uint8_t memory[TW_DATA_BYTES], expected[TW_DATA_BYTES];
    struct tw_random random = {1};

    (void)state;
    read_example("isa.md", "## How to write a kernel\n", example);
    struct machine *m = call_make_text("add_int16", example);
    for (uint32_t blocks = 8; blocks <= 256; blocks += 62) {
        const struct call_register registers[] = {{TW_R_p0, TW_DATA_OWN},
                                                  {TW_R_p1, TW_DATA_OWN + BANK},
                                                  {TW_R_p2, TW_DATA_OWN + 2 * BANK},
                                                  {TW_R_r0, blocks}};
        for (unsigned i = 0; i < TW_DATA_BYTES; i++)
            memory[i] = (uint8_t)tw_random_u64(&random);
        memcpy(expected, memory, sizeof memory);
        for (uint32_t i = 0; i < blocks * 32; i++) {
            uint16_t a, b;
            memcpy(&a, memory + 2 * i, 2);
            memcpy(&b, memory + BANK + 2 * i, 2);
            a = (uint16_t)(a + b);
            memcpy(expected + 2 * BANK + 2 * i, &a, 2);
        }
        uint64_t bundles = call_kernel(m, registers, 4, memory);
        assert_memory_equal(memory, expected, sizeof memory);
        assert_true(bundles < 2 * blocks + 60); /* two bundles for 32 numbers, as the page says */
    }
    machine_free(m);
}

/* out: 32 numbers a row. */
static void greatest_of_rows(const uint8_t *in, uint8_t *out, uint32_t rows, uint32_t numbers)
{
    for (uint32_t i = 0; i < rows * 32; i++) {
        int16_t greatest = INT16_MIN, n;
        for (uint32_t k = i % 32; k < numbers; k += 32) {
            memcpy(&n, in + 2 * (i / 32 * numbers + k), 2);
            greatest = n > greatest ? n : greatest;
        }
        memcpy(out + 2 * i, &greatest, 2);
    }
}

static void the_outer_loop_runs_over_rows(void **state)
{
    enum { OUT = 2 * BANK };
    static char example[PAGE];
    static uint8_t memory[TW_DATA_BYTES], expected[TW_DATA_BYTES];
    struct tw_random random = {2};

    (void)state;
    read_example("scheduler.md", "## An outer loop\n", example);
    struct machine *m = call_make_text("row_max", example);
    for (uint32_t rows = 1; rows <= 16; rows += 5)
        for (uint32_t blocks = 8; blocks <= 32; blocks += 7) {
            const struct call_register registers[] = {
                {TW_R_p0, TW_DATA_OWN}, {TW_R_p1, TW_DATA_OWN + OUT}, {TW_R_r0, blocks}, {TW_R_r1, rows}};
            for (unsigned i = 0; i < TW_DATA_BYTES; i++)
                memory[i] = (uint8_t)tw_random_u64(&random);
            memcpy(expected, memory, sizeof memory);
            greatest_of_rows(memory, expected + OUT, rows, blocks * 32);
            call_kernel(m, registers, 4, memory);
            assert_memory_equal(memory, expected, sizeof memory);
        }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_example_adds),
                                       cmocka_unit_test(the_outer_loop_runs_over_rows)};
    return cmocka_run_group_tests_name("example", tests, NULL, NULL);
}
