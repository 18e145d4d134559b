/* Bundles as they are written, values that come later, scheduled code, the listing, and random bundles back again. */
#include "isa/assemble.h"
#include "isa/random_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_code(const char *text, const char *const *bundles)
{
    struct tw_assembly *a = assemble(text, NULL);
    uint8_t bytes[1024];
    size_t size = 0;

    assert_clean(a);
    for (; *bundles != NULL; bundles++)
        size += bundle_bytes(*bundles, bytes + size);
    assert_section(a, ".text", bytes, size);
    tw_assembly_free(a);
}

static void values_from_below(void **state)
{
    (void)state;
    assert_code("    j #end\n    nop\n    nop\n    nop\n    nop\n    nop\n.align 16\nend: done\n",
                (const char *const[]){"j #0x10", "nop", "nop", "nop", "nop", "nop", "done", NULL});
    assert_code("movxm r0, #table + 4; vlda wl0, [p0], #step * 32\n mova r1, #(-1)\nstep = 2\n.data\ntable:\n",
                (const char *const[]){"movxm r0, #0x70004; vlda wl0, [p0], #64", "mova r1, #-1", NULL});
    /* Commas in brackets do not end arguments. */
    assert_code(".macro ld a, n\nlda r\\n, \\a\n.endm\nld [p0, #4], 3\n",
                (const char *const[]){"lda r3, [p0, #4]", NULL});
    /* Its own range has no zero in it: something else must hold its place. */
    assert_code("vlda wl0, [sp, #x]\nx = -64\n", (const char *const[]){"vlda wl0, [sp, #-64]", NULL});
    assert_code("movxm r0, #x\nx = 0xffffffff\n", (const char *const[]){"movxm r0, #-1", NULL});
    assert_error("   mova r0, #x + 1\nx = 5000\n", "t.s:1:13", "\"#x + 1\" does not fit: numbers from -1024 to 1023");
    assert_error("   vlda wl0, [p0], #x\nx = 5\n", "t.s:1:20", "\"#x\" does not fit: multiples of 32");
    assert_error("   mova r0, #x + nowhere\nx = 5\n", "t.s:1:18", "nowhere is not defined");
    assert_error("   mova r0, #5 / x\nx = 0\n", "t.s:1:16", "division by zero");
    assert_error("   j #1f\n nop\n nop\n nop\n nop\n nop\n", "t.s:1:7", "1f is not defined");
}

static void bundle_faults(void **state)
{
    (void)state;
    assert_error("  mova r0, #1 +\n", "t.s:1:16", "expected a number or a symbol");
    assert_error("  mova r0, #1 $ 2; nopb\n", "t.s:1:15", "expected an operator");
    assert_error("a: b: nop;\n", "t.s:1:11", "expected an operation");
    assert_error("x:  mov r0, r1; mov r2, r3\n", "t.s:1:17", "needs slot mv");
}

/* All formats with random operations, printed and assembled: the same bytes. */
static void random_bundles(void **state)
{
    (void)state;
    enum { BUNDLES = 800 };
    struct tw_random random = {7};
    struct tw_bundle bundle;
    char *text = calloc(BUNDLES + 1, TW_BUNDLE_TEXT_MAX), *at = text;
    uint8_t *bytes = malloc((size_t)BUNDLES * TW_BUNDLE_MAX);
    size_t size = 0;

    assert_non_null(text);
    assert_non_null(bytes);
    at += sprintf(at, ".foreign\n");
    for (int i = 0; i < BUNDLES; i++) {
        random_bundle(&random, i % TW_FORMAT_COUNT, &bundle);
        int n = tw_bundle_print(&bundle, at, TW_BUNDLE_TEXT_MAX - 1);
        assert_true(n > 0);
        at += n;
        *at++ = '\n';
        size += (size_t)tw_bundle_encode(&bundle, bytes + size, NULL);
    }
    *at = '\0';
    struct tw_assembly *a = assemble(text, NULL);
    if (a->n_errors > 0)
        fail_msg("line %u: %s", a->messages[0].place.line, a->messages[0].text);
    assert_section(a, ".text", bytes, size);
    assert_int_equal(find_section(a, ".text")->n_bundles, BUNDLES);
    tw_assembly_free(a);
    free(bytes);
    free(text);
}

/* Symbols of the text reach scheduled code and its labels reach the text; macros and repetitions work inside. */
static void scheduled(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble("    movxm p0, #table\n"
                                     "    .sched\n"
                                     "    .reg p %p\n"
                                     "    .in %p = p0\n"
                                     "    .reg r %a, %b, %i\n"
                                     ".macro add3 to\n"
                                     "    add \\to, \\to, #three\n"
                                     ".endm\n"
                                     "    .set three, 3\n"
                                     "    mova %i, #5\n"
                                     "    lda %a, [%p], #4\n"
                                     "again:\n"
                                     "    lda %b, [%p, #later]\n"
                                     "    .rept 2\n"
                                     "    add3 %a\n"
                                     "    .endr\n"
                                     "    add %a, %a, %b\n"
                                     "    st %a, [%p, #0]\n"
                                     "    add %i, %i, #-1\n"
                                     "    jnz %i, #again\n"
                                     "    .endsched\n"
                                     "    done\n"
                                     "    .data\n"
                                     "later = 8\n"
                                     "table: .word 1, again\n",
                                     NULL);
    for (size_t i = 0; i < a->n_messages; i++)
        if (a->messages[i].severity == TW_SEVERITY_ERROR)
            fail_msg("line %u: %s", a->messages[i].place.line, a->messages[i].text);
    assert_int_equal(a->n_scheduled, 1);
    assert_int_equal(a->scheduled[0].place.line, 2);
    assert_int_equal(a->scheduled[0].offset % 16, 0);
    assert_true(a->scheduled[0].size > 0);
    assert_non_null(find_section(a, ".data"));
    const struct tw_as_section *text = find_section(a, ".text");
    unsigned found = 0;
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct tw_as_row *r = &a->rows[i];
        struct tw_bundle bundle;
        if (!r->scheduled)
            continue;
        assert_true(tw_bundle_decode(text->bytes + r->offset, r->size, &bundle, NULL) > 0);
        for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
            char line[TW_OPERATION_TEXT_MAX];
            if ((bundle.slots >> s & 1) == 0)
                continue;
            tw_operation_print(&bundle.op[s], line, sizeof line);
            found |= strstr(line, "#8]") != NULL ? 1 : 0;
            found |= strncmp(line, "jnz", 3) == 0 ? 2 : 0;
            found |= strstr(line, ", #0x3") != NULL ? 4 : 0;
        }
    }
    assert_int_equal(found, 7);
    tw_assembly_free(a);
}

/* What the scheduler says comes with the line; its labels are not missed as well. */
static void scheduled_faults(void **state)
{
    (void)state;
    assert_error(".sched\n.reg r %a\n   mova %a, #zz +\n.endsched\n", "t.s:3:13", "expected a number or a symbol");
    assert_error(".sched\nl:\n   bad %a\nj #l\n.endsched\n j #l\n nop\n nop\n nop\n nop\n nop\n", "t.s:3:8",
                 "%a is no symbolic register");
    assert_error(".macro m\n   mova %zz, #1\n.endm\n.sched\nm\n.endsched\n", "t.s:2:9", "%zz is no symbolic register");
    assert_error(".sched\n.reg r %a\nmova %a, #undefined_here\n.endsched\n", "t.s:3:11",
                 "undefined_here is not defined");
    assert_error("x: nop\n.sched\n.reg r %a\n x: mova %a, #1\nj #x\n.endsched\n", "t.s:4:2", "x has a value already");
    assert_error(".sched\n.align 16\n.endsched\n", "t.s:2:1", ".align is no directive of scheduled code");
}

static void listing(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble("a:  mova r0, #1 // one\n    .data\n    .word 1, 2\n    .space 100\n", NULL);
    char text[4096] = {0};
    FILE *f = tmpfile();

    assert_non_null(f);
    tw_assembly_list(a, f);
    rewind(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "section .text at 0x00000, 4 bytes, 1 bundles\n00000  "));
    assert_non_null(strstr(text, "  a:  mova r0, #1  // t.s:1\n"));
    assert_non_null(strstr(text, "70000  01 00 00 00 02 00 00 00 "));
    assert_non_null(strstr(text, "100 bytes in all\n"));
    tw_assembly_free(a);
}

/* Texts with characters changed or cut out: whatever happens, it ends. */
static void mangled(void **state)
{
    (void)state;
    static const char whole[] =
        ".macro m a, b=2, c:req\n add r\\a, r\\b, #\\c\n.endm\n.global f\nf: m 1, c=3\n.rept 3\n"
        "1: vlda wl0, [p0], #x*32; vmac.f bmh0, bmh0, x0, x2, r3\n.endr\n.if x == 1 /* y */\n"
        ".data\n.word 1b, f, 'a', (1 << 4) | 0x10\n.else\n.text\n.endif\n.sched\n.reg r %a\n"
        "mova %a, #x\n.loop 4\nadd %a, %a, #1\n.endloop\n.endsched\nx = 1\n.align 16\n.org 0x60\n";
    struct tw_random random = {3};

    for (int i = 0; i < 3000; i++) {
        char text[sizeof whole];
        struct tw_assembly *a = NULL;
        struct tw_error err;
        size_t size = sizeof whole - 1;
        memcpy(text, whole, sizeof whole);
        for (int64_t k = tw_random_range(&random, 1, 4); k > 0; k--) {
            size_t at = (size_t)tw_random_range(&random, 0, (int64_t)size - 2);
            if (tw_random_range(&random, 0, 2) == 0) {
                memmove(text + at, text + at + 1, size - at - 1);
                size--;
            } else {
                text[at] = (char)tw_random_range(&random, 0, 127);
            }
        }
        int code = tw_assemble("t.s", text, size, NULL, &a, &err);
        assert_true(code == 0 || code == TW_E_FORMAT);
        assert_int_equal(code == 0, a->n_errors == 0);
        tw_assembly_free(a);
    }
}

/* What the scheduler finds at last is told at the line that it is about, as what it finds in the text. */
static void scheduling_fails_at_a_line(void **state)
{
    (void)state;
    assert_error(" nop\n.sched\n.reg r %a, %b\n.in %a = r1\n.out %a = r2\n add %b, %a, #1\n.endsched\n", "t.s:5:6",
                 "%a comes in r1 and must be in r2 at the end");
    assert_error(" nop\n.sched\n.reg r %a\n.out %a = r2\n movi r1, #1\n.endsched\n", "t.s:4:6",
                 "not written on every way");
    assert_error(" nop\n.sched\n.reg p %a\n.reg r %n, %m, %s\n.in %n = r0, %a = p0, %s = r1\n.out %m = r1\n"
                 ".loop %n least=4\n lda %m, [%a], #4 @x\n st %s, [%a, #32] @y\n.endloop\n.endsched\n",
                 "t.s:6:6", "%m must be in r1 (by .out) while %s is in it (by .in)");
    /* names that .in and .out say nothing of: where they are declared */
    assert_error(" nop\n.sched\n.keep x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11\n.reg x %v\n.reg x %w\n.in %v = x0\n"
                 " vbcst.32 %w, r0\n vadd.32 %w, %w, %v\n vst %w.l, [p0, #0]\n vst %v.l, [p0, #32]\n.endsched\n",
                 "t.s:5:1", "%w must be in x0 (no other is left to it) while %v is in it (by .in)");
    assert_error(" nop\n.sched\n.keep x2, x3, x4, x5, x6, x7, x8, x9, x10, x11\n.reg x %u, %v, %w\n vbcst.32 %u, r0\n"
                 " vbcst.32 %v, r1\n vbcst.32 %w, r2\n vadd.32 %u, %u, %v\n vadd.32 %v, %v, %w\n vadd.32 %w, %w, %u\n"
                 " vst %u.l, [p0, #0]\n vst %v.l, [p0, #32]\n vst %w.l, [p0, #64]\n.endsched\n",
                 "t.s:4:1", "too many values are alive at once: no register of kind x is left for %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_from_below),
        cmocka_unit_test(bundle_faults),
        cmocka_unit_test(random_bundles),
        cmocka_unit_test(scheduled),
        cmocka_unit_test(scheduled_faults),
        cmocka_unit_test(listing),
        cmocka_unit_test(scheduling_fails_at_a_line),
        cmocka_unit_test(mangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
