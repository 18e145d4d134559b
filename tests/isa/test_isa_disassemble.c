/* Disassembling whole programs: the text gives the same bytes, and the counts are right. */
#include "isa/disassemble.h"

#include "isa/random_operation.h"
#include "isa/reassemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TEXT_MAX (1 << 21)

static const struct tw_disassemble_options labels = {"at", NULL, 0};

/* The text of some runs, to be freed. */
static char *disassemble(const struct tw_code_run *runs, size_t n_runs, struct tw_disassembly *d)
{
    char *text = calloc(1, TEXT_MAX);
    assert_non_null(text);
    FILE *out = fmemopen(text, TEXT_MAX - 1, "w");
    assert_non_null(out);
    fputs(".text\n", out);
    assert_int_equal(tw_disassemble(runs, n_runs, &labels, out, d, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* As disassemble; the text must give the same bytes again, and counting alone the same numbers. */
static char *check(const struct tw_code_run *runs, size_t n_runs, struct tw_disassembly *d)
{
    struct tw_disassembly counted;
    struct reassembled r;
    size_t total = 0;
    char *text = disassemble(runs, n_runs, d);
    assert_int_equal(tw_disassemble(runs, n_runs, &labels, NULL, &counted, NULL), 0);
    assert_memory_equal(&counted, d, sizeof counted);
    reassemble(text, &r);
    for (size_t i = 0; i < n_runs; i++) {
        assert_memory_equal(r.sections[0].bytes + runs[i].address, runs[i].bytes, runs[i].size);
        total += runs[i].size;
    }
    assert_int_equal(r.sections[0].size, total);
    reassembled_free(&r);
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *p = strstr(text, what); p != NULL; p = strstr(p + 1, what))
        n++;
    return n;
}

static void assert_contains(const char *text, const char *what)
{
    if (strstr(text, what) == NULL)
        fail_msg("no '%s' in:\n%s", what, text);
}

/* Appends the bundle that a text means. */
static size_t put_text(uint8_t *at, const char *text)
{
    struct reassembled r;
    reassemble(text, &r);
    size_t size = r.sections[0].size;
    memcpy(at, r.sections[0].bytes, size);
    reassembled_free(&r);
    return size;
}

static void bundles_of_all_formats(void **state)
{
    struct tw_random random = {11};
    static uint8_t program[TW_PROGRAM_BYTES];
    struct tw_disassembly d;
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        size_t size = 0, bundles = 0;
        while (size + TW_BUNDLE_MAX <= sizeof program) {
            struct tw_bundle bundle;
            random_bundle(&random, (int)tw_random_range(&random, 0, TW_FORMAT_COUNT - 1), &bundle);
            size += (size_t)tw_bundle_encode(&bundle, program + size, NULL);
            bundles++;
        }
        free(check(&(struct tw_code_run){0, program, size}, 1, &d));
        assert_int_equal(d.bundles, bundles);
        assert_int_equal(d.undecoded, 0);
        assert_int_equal(d.filler, 0);
    }
}

static void random_bytes(void **state)
{
    struct tw_random random = {12};
    struct tw_disassembly d;
    size_t undecoded = 0;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint8_t bytes[400];
        size_t size = (size_t)tw_random_range(&random, 1, sizeof bytes);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)tw_random_u64(&random);
        uint32_t address = 2 * (uint32_t)tw_random_range(&random, 0, 1000);
        free(check(&(struct tw_code_run){address, bytes, size}, 1, &d));
        undecoded += d.undecoded;
    }
    assert_true(undecoded > 1000);
}

static void jumps_get_labels(void **state)
{
    uint8_t program[64];
    struct tw_disassembly d;
    size_t size = put_text(program, ".text\n"
                                    "mova r0, #0x10; movxm r1, #0x10\n" /* a number like the target's */
                                    "nop; movxm r0, #0x4\n"
                                    "mova r0, #18; jl #0x12\n" /* and here */
                                    "j #0x0\n"
                                    "jz r16, #0x3ffe\n" /* nothing is there */
                                    "jnz r16, #0x2\n"); /* inside a bundle */
    (void)state;
    char *text = check(&(struct tw_code_run){0, program, size}, 1, &d);
    assert_int_equal(d.bundles, 6);
    assert_int_equal(count(text, "at_0:\n"), 1);
    assert_contains(text, "at_12:\n    mova r0, #0x12; jl #at_12 ");
    assert_contains(text, "    j #at_0 ");
    assert_contains(text, "#0x3ffe ");
    assert_contains(text, "#0x2 ");
    assert_int_equal(count(text, ":\n"), 2);
    assert_int_equal(count(text, "#at_"), 2);
    free(text);
}

static void runs_have_addresses(void **state)
{
    static const uint8_t nop[2] = {1, 0};
    uint8_t jump[16];
    struct tw_disassembly d;
    size_t size = put_text(jump, ".text\nj #0x3ffe\n");
    const struct tw_code_run runs[] = {{0x100, jump, size}, {0x100 + (uint32_t)size, nop, 2}, {0x3ffe, nop, 2}};
    (void)state;
    char *text = check(runs, 3, &d);
    assert_int_equal(d.bundles, 3);
    assert_contains(text, ".text\n    .org 0x100\n    j #at_3ffe ");
    assert_contains(text, "    .org 0x3ffe\nat_3ffe:\n    nop ");
    assert_int_equal(count(text, ".org"), 2);
    free(text);
    free(check(NULL, 0, &d));
    assert_int_equal(d.bundles, 0);
}

/* Undefined bits do not change what a bundle does, but text cannot tell them. */
static void unused_bits_stay(void **state)
{
    uint8_t program[] = {0x11, 0, 0x01, 0x00};
    struct tw_disassembly d;
    (void)state;
    char *text = check(&(struct tw_code_run){0, program, 4}, 1, &d);
    assert_int_equal(d.bundles, 2);
    assert_int_equal(d.undecoded, 0);
    assert_contains(text, "    .half 0x0011 ");
    assert_contains(text, "// 0000: unused bits set: nop\n");
    assert_contains(text, "// 0002: 01 00\n");
    free(text);
}

static void no_bundle_is_counted(void **state)
{
    uint8_t program[] = {0x09, 0, 0, 0, 0x01, 0, 0x19, 0xff, 0xff, 0xff};
    struct tw_disassembly d;
    struct tw_bundle bundle;
    (void)state;
    assert_true(tw_bundle_decode(program + 6, 4, &bundle, NULL) < 0);
    char *text = check(&(struct tw_code_run){0, program, sizeof program}, 1, &d);
    assert_int_equal(d.bundles, 2);
    assert_int_equal(d.undecoded, 1);
    assert_contains(text, "    .half 0xff19, 0xffff ");
    assert_contains(text, "// 0006: no bundle\n");
    free(text);
}

static void filler_is_told_from_code(void **state)
{
    static const struct {
        uint32_t address;
        size_t size;
        uint8_t bytes[18];
        size_t bundles, undecoded, filler;
    } cases[] = {
        {0, 4, {1, 0, 0x3f, 0xff}, 1, 0, 2},             /* announces 14 bytes; second half of a word */
        {0, 6, {1, 0, 1, 0, 0x3f, 0xff}, 2, 1, 0},       /* first half of a word */
        {2, 6, {1, 0, 1, 0, 0x3f, 0xff}, 2, 0, 2},       /* second half, by the address */
        {0, 8, {1, 0, 1, 0, 0x3f, 0xff, 0, 0}, 2, 1, 0}, /* a whole word */
        {0, 6, {1, 0, 0, 0, 0, 0}, 1, 0, 4},             /* zeros, of any number */
        {0, 16, {1, 0}, 1, 0, 14},
        {0, 3, {1, 0, 0}, 1, 0, 1}, /* a file of an odd size */
        {0, 3, {1, 0, 1}, 1, 1, 0},
        {0, 2, {0x3f, 0xff}, 0, 1, 0},
        {0, 4, {1, 0, 1, 0}, 2, 0, 0}, /* two bytes that are code */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tw_disassembly d;
        char *text = check(&(struct tw_code_run){cases[i].address, cases[i].bytes, cases[i].size}, 1, &d);
        if (d.bundles != cases[i].bundles || d.undecoded != cases[i].undecoded || d.filler != cases[i].filler)
            fail_msg("case %zu: %zu bundles, %zu undecoded, %zu filler", i, d.bundles, d.undecoded, d.filler);
        assert_int_equal(count(text, "// "), d.bundles + d.undecoded + (d.filler > 0));
        assert_int_equal(count(text, " filler"), d.filler > 0);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundles_of_all_formats),   cmocka_unit_test(random_bytes),
        cmocka_unit_test(jumps_get_labels),         cmocka_unit_test(runs_have_addresses),
        cmocka_unit_test(unused_bits_stay),         cmocka_unit_test(no_bundle_is_counted),
        cmocka_unit_test(filler_is_told_from_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
