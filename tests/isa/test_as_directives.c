/* Each directive: what it does, and each of its faults with its place. */
#include "isa/assemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Assembles a text that is right and compares its .data section. */
static void assert_data(const char *text, const void *bytes, size_t size)
{
    struct tw_assembly *a = assemble(text, NULL);
    assert_clean(a);
    assert_section(a, ".data", bytes, size);
    tw_assembly_free(a);
}

static void numbers(void **state)
{
    (void)state;
    assert_data(".data\n.byte 1, -1, 255, -128\n", "\x01\xff\xff\x80", 4);
    assert_data(".data\n.half 0x1234, -2, 65535\n", "\x34\x12\xfe\xff\xff\xff", 6);
    assert_data(".data\n.word 0x12345678, -2, 0xffffffff\n", "\x78\x56\x34\x12\xfe\xff\xff\xff\xff\xff\xff\xff", 12);
    assert_data(".data\n.byte ',', '/', '\"' // ','\n.byte 1 /* , 2 */, 3\n", ",/\"\x01\x03", 5);
    assert_error(".data\n .byte 1, 256\n", "t.s:2:11", "256 does not fit into 1 bytes");
    assert_error(".data\n .half -32769\n", "t.s:2:8", "-32769 does not fit into 2 bytes");
    assert_error(".data\n .word 0x100000000\n", "t.s:2:8", "does not fit into 4 bytes");
    assert_error(".data\n .byte a\n a = 300\n", "t.s:2:8", "300 does not fit into 1 bytes");
    assert_error(".data\n .byte 1,\n", "t.s:2:10", "expected a number or a symbol");
    assert_error(".data\n .byte\n", "t.s:2:7", "expected a number or a symbol");
    assert_error(".bss\n .byte 1\n", "t.s:2:8", "section .bss holds zeros only");
}

static void space_and_alignment(void **state)
{
    (void)state;
    assert_data(".data\n.byte 1\n.align 4\n.byte 2\n.space 2\n.space 2, 0xee\n.align 1\n",
                "\x01\x00\x00\x00\x02\x00\x00\xee\xee", 9);
    assert_error(".data\n.space -1\n", "t.s:2:8", "-1 bytes are not possible");
    assert_error(".data\n.space 3,\n", "t.s:2:10", "expected a number or a symbol");
    assert_error(".data\n.space 3, 256\n", "t.s:2:11", "256 does not fit into 1 bytes");
    assert_error(".data\n.space 0x10001\n", "t.s:2:8", "section .data is full");
    assert_error(".bss\n.space 3, 1\n", "t.s:2:8", "section .bss holds zeros only");
    assert_error(".data\n.align 3\n", "t.s:2:8", "3 is no power of two");
    assert_error(".data\n.align 0\n", "t.s:2:8", "0 is no power of two");
    assert_error(".data\n.align 32768\n", "t.s:2:8", "32768 is no power of two");

    struct tw_assembly *a = assemble(".bss\n.space 5\n.align 8\nb:\n", NULL);
    assert_clean(a);
    assert_symbol(a, "b", 0x70008);
    assert_null(find_section(a, ".bss")->bytes);
    assert_int_equal(find_section(a, ".bss")->kind, TW_SECTION_BSS);
    tw_assembly_free(a);
}

/* In code the gap is filled with as few bundles of nops as can be: each costs a cycle. */
static void alignment_of_code(void **state)
{
    (void)state;
    for (unsigned before = 1; before <= 8; before++) {
        char text[256] = "";
        for (unsigned i = 0; i < before; i++)
            strcat(text, "nop\n");
        strcat(text, ".align 16\nx: nop\n");
        struct tw_assembly *a = assemble(text, NULL);
        assert_clean(a);
        assert_symbol(a, "x", 16);
        assert_int_equal(find_section(a, ".text")->n_bundles, before + (before < 8) + 1);
        tw_assembly_free(a);
    }
    struct tw_assembly *a = assemble("nop\n.align 64\nx: nop\n", NULL);
    assert_clean(a);
    assert_symbol(a, "x", 64);
    assert_int_equal(find_section(a, ".text")->n_bundles, 6);
    tw_assembly_free(a);
}

static void sections(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble(".section .text.far, 0x100\nf: nop\n"
                                     ".section .rodata, 0x70400\nr: .byte 1\n"
                                     ".text\nt: nop\n"
                                     ".data\nd: .byte 2\n"
                                     ".section .rodata\n.byte 3\n"
                                     ".section .south, 0x40000\ns: .byte 4\n",
                                     NULL);
    assert_clean(a);
    assert_symbol(a, "f", 0x100);
    assert_symbol(a, "r", 0x70400);
    assert_symbol(a, "t", 0);
    assert_symbol(a, "d", 0x70000);
    assert_symbol(a, "s", 0x40000);
    assert_section(a, ".rodata", "\1\3", 2);
    assert_int_equal(find_section(a, ".text.far")->kind, TW_SECTION_TEXT);
    assert_int_equal(find_section(a, ".rodata")->kind, TW_SECTION_DATA);
    tw_assembly_free(a);

    assert_error(".section\n", "t.s:1:9", "expected the name of a section");
    assert_error(".section .x 5\n", "t.s:1:13", "expected \",\" and the section's address");
    assert_error(".section .x, 0x1000\n", "t.s:1:10", "section .x cannot lie at 0x1000");
    assert_error(".section .text.x, 0x4000\n", "t.s:1:10", "section .text.x cannot lie at 0x4000");
    assert_error(".section .x, 0x70000\n.byte 1\n.section .x, 0x70010\n", "t.s:3:10",
                 "section .x lies at 0x70000 already");
    assert_error(".section .x\n.byte 1\n.section .x, 0x70010\n", "t.s:3:10", "section .x lies at 0x70000 already");
    assert_error(".data 5\n", "t.s:1:7", "expected nothing more, not \"5\"");
    assert_error(".data\n nop\n", "t.s:2:2", "section .data is no place for code");
    assert_error(".byte 1\n nop\n", "t.s:2:2", "a bundle begins at an even address");
    assert_error("a=1\n.section .text.a,a-1\n.space 0x4000\n nop\n", "t.s:4:2", "section .text.a is full");
}

static void origins(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble(".org 0x20\na: nop\n.org 0x30\nb: nop\n", NULL);
    assert_clean(a);
    assert_symbol(a, "a", 0x20);
    assert_symbol(a, "b", 0x30);
    assert_int_equal(find_section(a, ".text")->address, 0x20);
    assert_int_equal(find_section(a, ".text")->size, 0x12);
    tw_assembly_free(a);
    assert_error("nop\n.org 0\n", "t.s:2:6", "0x0 lies behind: the section has come to 0x2");
    assert_error(".org 0x4000\n", "t.s:1:6", "cannot lie at 0x4000");
    assert_error("nop\n.org 0x4002\n", "t.s:2:6", "section .text is full");
}

static void symbols(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble(".global f, n\n.globl g\nf: nop\nn = 5\ng: nop\nl: nop\n", NULL);
    assert_clean(a);
    assert_int_equal(a->n_symbols, 4);
    static const struct {
        const char *name;
        int section, global;
    } expected[] = {{"f", 0, 1}, {"n", -1, 1}, {"g", 0, 1}, {"l", 0, 0}};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(a->symbols[i].name, expected[i].name);
        assert_int_equal(a->symbols[i].section, expected[i].section);
        assert_int_equal(a->symbols[i].global, expected[i].global);
    }
    tw_assembly_free(a);
    assert_error("nop\n .global x\n", "t.s:2:10", "x is global but has no value");
    assert_error(".global\n", "t.s:1:8", "expected the name of a symbol");
    assert_error("x: nop\n.global x,\n", "t.s:2:11", "expected the name of a symbol");
    assert_error(".set 5, 1\n", "t.s:1:6", "expected the name of a symbol");
    assert_error(".set x 1\n", "t.s:1:8", "expected \",\" and a value");
    assert_error(".set ., 1\n", "t.s:1:6", "expected the name of a symbol");
    assert_error(". = 1\n", "t.s:1:1", "use .org");
    assert_error("a: nop\na: nop\n", "t.s:2:1", "a has a value already, from t.s:1:1");
    assert_error("a: b: a: nop\n", "t.s:1:7", "a has a value already, from t.s:1:1");
}

static void includes(void **state)
{
    (void)state;
    const struct included files[] = {{"a.s", ".include \"b.s\"\n.byte 2\n"}, {"b.s", ".byte 1"},
                                     {"bad.s", ".byte 1\n bad\n"},           {"via.s", "\n  .include \"bad.s\""},
                                     {"self.s", ".include \"self.s\""},      {NULL, NULL}};
    struct tw_assembly *a = assemble(".data\n.include \"a.s\"\n.byte 3\n", files);
    assert_clean(a);
    assert_section(a, ".data", "\1\2\3", 3);
    tw_assembly_free(a);

    a = assemble(".data\n.include \"via.s\"\n", files);
    assert_int_equal(a->n_errors, 1);
    assert_message(a, 0, TW_SEVERITY_ERROR, "bad.s:2:2", "section .data is no place for code");
    assert_trace(a, 0, 0, "via.s:2:12", "included from here");
    assert_trace(a, 0, 1, "t.s:2:10", "included from here");
    tw_assembly_free(a);

    a = assemble(".include \"self.s\"\n", files);
    assert_int_equal(a->n_errors, 1);
    assert_message(a, 0, TW_SEVERITY_ERROR, "self.s:1:0", "more than 64 deep");
    tw_assembly_free(a);

    assert_error(".include \"none.s\"\n", "t.s:1:10", "there is no 'none.s'");
    assert_error(".include none.s\n", "t.s:1:10", "expected the name of a file in quotes");
    assert_error(".include \"\"\n", "t.s:1:10", "expected the name of a file in quotes");
    assert_error(".include \"x\" 5\n", "t.s:1:14", "expected nothing more");
}

static void names_and_modes(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble(".file \"kernel.c\"\n.bundle\nnop\n", NULL);
    assert_clean(a);
    assert_string_equal(a->source_name, "kernel.c");
    tw_assembly_free(a);

    a = assemble(".file \"a//b/*c\"\nnop\n", NULL); /* no comments in quotes */
    assert_clean(a);
    assert_string_equal(a->source_name, "a//b/*c");
    assert_int_equal(find_section(a, ".text")->size, 2);
    tw_assembly_free(a);

    a = assemble("nop\n.end\nthis is no assembly\n", NULL);
    assert_clean(a);
    assert_int_equal(find_section(a, ".text")->size, 2);
    tw_assembly_free(a);

    assert_error(".file kernel\n", "t.s:1:7", "expected a name in quotes");
    assert_error(".bundle x\n", "t.s:1:9", "expected nothing more");
    assert_error(".foreign x\n", "t.s:1:10", "expected nothing more");
    assert_error(".endm\n", "t.s:1:1", ".endm ends nothing here");
    assert_error(" .endr\n", "t.s:1:2", ".endr ends nothing here");
    assert_error(".endsched\n", "t.s:1:1", ".endsched without .sched");
    assert_error(".sched\n", "t.s:1:1", ".sched has no .endsched");
    assert_error(".data\n.sched\n.endsched\n", "t.s:2:1", "section .data is no place for code");
    assert_error(" .unheard 5\n", "t.s:1:2", ".unheard is no directive");
    assert_error(".old r99\nnop\n", "t.s:1:6", "\"r99\" is no register");
    assert_error(".old\nnop\n", "t.s:1:5", "\"\" is no register");
    assert_error(".old r1\n.align 4\nnop\n", "t.s:1:0", ".old stands before the bundle that it is for");
    assert_error("nop\n.old r1\n", "t.s:2:0", ".old stands before the bundle that it is for");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),           cmocka_unit_test(space_and_alignment),
        cmocka_unit_test(alignment_of_code), cmocka_unit_test(sections),
        cmocka_unit_test(origins),           cmocka_unit_test(symbols),
        cmocka_unit_test(includes),          cmocka_unit_test(names_and_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
