/* tilewright as as a user runs it. */
#include "cli/program.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RUN(scratch, ...) program_run(scratch, caught, (const char *const[]){"as", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

static void put(const struct folder *f, const char *name, const char *text)
{
    folder_put(f, name, text, strlen(text));
}

/* The paths of what most cases read and write. */
struct paths {
    char in[2 * FOLDER_PATH], out[2 * FOLDER_PATH];
};

static struct paths paths_of(const struct folder *f)
{
    struct paths p;
    folder_path(f, "in.s", p.in);
    folder_path(f, "out", p.out);
    return p;
}

static void assert_finished(struct finished r, int code, const char *out, const char *err)
{
    if (r.code != code || (out != NULL && strcmp(r.out, out) != 0) || strstr(r.err, err) == NULL)
        fail_msg("code %d\nout: %s\nerr: %s\nnot: %s", r.code, r.out, r.err, err);
    program_release(&r);
}

static void writes_elf(void **state)
{
    struct paths p = paths_of(*state);
    put(*state, "in.s", ".global f\nf: mova r0, #5\nx: done\n.data\n.word 7\n.section .bss, 0x70100\n.space 32\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 0, "", "");
    size_t size;
    char *bytes = folder_get(*state, "out", &size);
    assert_non_null(bytes);
    assert_true(size > 52);
    assert_memory_equal(bytes,
                        "\x7f"
                        "ELF",
                        4);
    free(bytes);
    /* The disassembler reads it. */
    struct finished r = program_run(*state, caught, (const char *const[]){"dis", p.out, NULL});
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "mova r0, #0x5"));
    assert_non_null(strstr(r.out, "\nbundles: 2 undecoded: 0\n"));
    program_release(&r);
}

static void writes_raw(void **state)
{
    struct paths p = paths_of(*state);
    size_t size;
    /* programs of two cores: one behind the other */
    put(*state, "in.s", ".section .text.a\n nop\n.section .text.b\n nop\n nop\n");
    assert_finished(RUN(*state, "--raw", p.in, "-o", p.out), 0, "", "");
    char *bytes = folder_get(*state, "out", &size);
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, "\1\0\1\0\1\0", 6);
    free(bytes);
    /* parts of one program: each at its address, with zeros between; the first need not be at 0, nor first in the text
     */
    put(*state, "in.s", ".section .text.a, 0x46\n nop\n.section .text.b, 0x40\n nop\n nop\n");
    assert_finished(RUN(*state, "--raw", p.in, "-o", p.out), 0, "", "the file begins with address 0x40");
    bytes = folder_get(*state, "out", &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "\1\0\1\0\0\0\1\0", 8);
    free(bytes);
    put(*state, "in.s", "");
    assert_finished(RUN(*state, "--raw", p.in, "-o", p.out), 0, "", "");
    free(folder_get(*state, "out", &size));
    assert_int_equal(size, 0);
    put(*state, "in.s", " nop\n.data\n.byte 1\n");
    assert_finished(RUN(*state, "--raw", p.in, "-o", p.out), 1, "", "section .data is no program memory");
}

/* Sections on top of each other are no program; nothing is written, and what was there stays. */
static void writes_nothing_after_an_error(void **state)
{
    struct paths p = paths_of(*state);
    put(*state, "in.s", " nop\n bad\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "in.s:2:2: error: \"bad\" is no instruction\n");
    assert_null(folder_get(*state, "out", NULL));
    put(*state, "out", "old");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "tilewright: 1 error; nothing was written\n");
    put(*state, "in.s", ".section .text.a\n done\n.section .text.b\n done\n");
    assert_finished(
        RUN(*state, p.in, "-o", p.out), 1, "",
        "in.s:4:2: error: section .text.b overlaps section .text.a at 0x0: programs of several cores cannot "
        "go into one file\n");
    put(*state, "in.s", "lda r0, [p0, #0]\nadd r0, r0, r0\ndone\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "in.s:2:1: error: \"add r0, r0, r0\" reads r0");
    char *old = folder_get(*state, "out", NULL);
    assert_string_equal(old, "old");
    free(old);
}

static void programs_of_many_cores(void **state)
{
    static const char text[] = ".section .text.a\nx: nop\n nop\n.data\n.word 1\n"
                               ".section .text.b\n.old r0\ny: add r0, r0, r0\n nop\n nop\n done\n";
    struct paths p = paths_of(*state);
    put(*state, "in.s", text);
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "note: section .text.a begins here\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "--only SECTION writes the program of one core");
    /* what went wrong is in the JSON as well */
    struct finished r = RUN(*state, "--json", p.in, "-o", p.out);
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.out, "\"kind\": \"overlap\""));
    program_release(&r);

    assert_finished(RUN(*state, "--only", ".text.b", p.in, "-o", p.out), 0, "", "");
    r = program_run(*state, caught, (const char *const[]){"dis", p.out, NULL});
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "    .old r0\n    add r0, r0, r0"));
    assert_non_null(strstr(r.out, "\nbundles: 4 undecoded: 0\n"));
    program_release(&r);
    assert_finished(RUN(*state, "--only", ".text.a", p.in, "-o", p.out), 0, "", "");
    r = program_run(*state, caught, (const char *const[]){"dis", p.out, NULL});
    assert_null(strstr(r.out, ".old"));
    assert_non_null(strstr(r.out, "\nbundles: 2 undecoded: 0\n"));
    program_release(&r);
    assert_finished(RUN(*state, "--only", ".text.c", p.in, "-o", p.out), 1, "", "has no text section .text.c");
    assert_finished(RUN(*state, "--only", ".data", p.in, "-o", p.out), 1, "", "has no text section .data");
    assert_finished(RUN(*state, "--only", ".text.a", p.in, "--json"), 2, "", "--only needs -o");

    /* data must not overlap even then, and is told without -o as well */
    put(*state, "in.s", ".data\n.word 1, 2\n.section .more, 0x70004\n.word 3\n");
    r = RUN(*state, "--json", p.in);
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.out, "section .more overlaps section .data at 0x70004\""));
    program_release(&r);
    r = RUN(*state, p.in, "-o", p.out); /* here the options for programs do not help */
    assert_int_equal(r.code, 1);
    assert_null(strstr(r.err, "--only"));
    program_release(&r);
}

/* The list of uses out of time goes through text and back. */
static void reads_out_of_time(void **state)
{
    struct paths p = paths_of(*state);
    struct finished r[2];
    put(*state, "in.s",
        "vlda wl0, [p0, #0]\n.old x0\nvshuffle x1, x0, x0, r0\n.sched\n.reg p %a, %b\n.reg wl %v\n.in %a = p0, %b = "
        "p1\n"
        ".loop 40\nvld %v, [%a], #32 @a:0\nvst %v, [%b], #32 @b:1\n.endloop\n.endsched\n done\n");
    for (int i = 0; i < 2; i++) {
        assert_finished(RUN(*state, p.in, "-o", p.out), 0, "", "");
        r[i] = program_run(*state, caught, (const char *const[]){"dis", p.out, NULL});
        assert_int_equal(r[i].code, 0);
        put(*state, "in.s", r[i].out);
    }
    assert_non_null(strstr(r[0].out, "    .old wl0, wh0\n    vshuffle x1, x0, x0, r0"));
    assert_non_null(strstr(strstr(r[0].out, "vshuffle"), "    .old w"));
    assert_string_equal(r[0].out, r[1].out);
    program_release(&r[0]);
    program_release(&r[1]);
}

static void streams_and_devices(void **state)
{
    struct paths p = paths_of(*state);
    size_t size;
    put(*state, "in.s", " nop\n done\n");
    put(*state, "out", "");
    struct finished r =
        program_run(*state, (struct streams){NULL, p.out}, (const char *const[]){"as", "--raw", p.in, "-o", "-", NULL});
    assert_finished(r, 0, NULL, "");
    char *bytes = folder_get(*state, "out", &size);
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, "\1\0", 2);
    free(bytes);
    assert_finished(RUN(*state, p.in, "-o", "/dev/null"), 0, "", "");
    assert_finished(RUN(*state, "--listing", p.in, "-o", "-"), 2, "", "only one thing goes to standard output");
    assert_finished(RUN(*state, p.in, "-o", "/dev/full"), 1, "", "'/dev/full' cannot be written");
}

static void includes_and_traces(void **state)
{
    struct paths p = paths_of(*state);
    char inner[2 * FOLDER_PATH], expected[6 * FOLDER_PATH];
    folder_path(*state, "inner.s", inner);
    put(*state, "in.s", ".include \"inner.s\"\nm p3\n");
    put(*state, "inner.s", ".macro m a\n  add r0, \\a, r1\n.endm\n");
    snprintf(expected, sizeof expected,
             "%s:2:11: error: expected one of r0 .. r31, not \"p3\" (add $mRx, $mRx0, $mRy)\n%s:2:1: note: in macro m, "
             "called from here\n",
             inner, p.in);
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", expected);

    /* What does not lie beside the file is looked for in the folder of -I. */
    put(*state, "in.s", ".include \"deep.s\"\n done\n");
    char text[2 * FOLDER_PATH];
    folder_path(*state, "in.s", text);
    struct folder other;
    folder_create(&other);
    put(&other, "deep.s", " nop\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "in.s:1:10: error: cannot open '");
    assert_finished(RUN(*state, "-I", other.path, p.in, "-o", p.out), 0, "", "");
    folder_remove(&other);
}

static void foreign_code(void **state)
{
    struct paths p = paths_of(*state);
    put(*state, "in.s", "lda r0, [p0, #0]\nnop\nadd r0, r0, r0\nnop\nnop\nnop\ndone\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "error: ");
    assert_finished(RUN(*state, "--foreign", p.in, "-o", p.out), 0, "", "notes; --notes shows them\n");
    assert_finished(RUN(*state, "--foreign", "--notes", p.in, "-o", p.out), 0, "",
                    "in.s:3:1: note: \"add r0, r0, r0\" reads r0");
}

static void standard_input(void **state)
{
    struct paths p = paths_of(*state);
    put(*state, "in.s", " done\n");
    struct finished r =
        program_run(*state, (struct streams){p.in, NULL}, (const char *const[]){"as", "-", "-o", p.out, NULL});
    assert_finished(r, 0, "", "");
    put(*state, "in.s", " bad\n");
    r = program_run(*state, (struct streams){p.in, NULL}, (const char *const[]){"as", "-", "-o", p.out, NULL});
    assert_finished(r, 1, "", "<stdin>:1:2: error: ");
}

static void lists(void **state)
{
    struct paths p = paths_of(*state);
    put(*state, "in.s", "f: done // end\n");
    struct finished r = RUN(*state, "--listing", p.in);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "section .text at 0x00000, 4 bytes, 1 bundles\n00000  "));
    assert_non_null(strstr(r.out, "f: done  // "));
    program_release(&r);
}

static void json(void **state)
{
    struct paths p = paths_of(*state);
    json_error_t e;
    put(*state, "in.s",
        "f:\n.sched\n.reg r %a, %b\n.reg p %p, %q\n.in %p = p0, %q = p1\n.loop 64 independent=A\nlda %a, [%p], #4 @A\n"
        "add %a, %a, #1\nst %a, [%q], #4 @A\n.endloop\n.endsched\n nop\n done\n.data\n.word 1\n");
    struct finished r = RUN(*state, "--json", p.in);
    if (r.code != 0)
        fail_msg("%s", r.err);
    json_t *all = json_loads(r.out, 0, &e);
    assert_non_null(all);
    assert_int_equal(json_integer_value(json_object_get(all, "errors")), 0);
    json_t *sections = json_object_get(all, "sections");
    assert_int_equal(json_array_size(sections), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(sections, 1), "name")), ".data");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(sections, 1), "address")), 0x70000);
    json_t *symbol = json_array_get(json_object_get(all, "symbols"), 0);
    assert_string_equal(json_string_value(json_object_get(symbol, "name")), "f");
    json_t *scheduled = json_array_get(json_object_get(all, "scheduled"), 0);
    json_t *loop = json_array_get(json_object_get(scheduled, "loops"), 0);
    assert_int_equal(json_integer_value(json_object_get(loop, "line")), 6);
    assert_int_equal(json_integer_value(json_object_get(loop, "trips")), 64);
    assert_true(json_integer_value(json_object_get(loop, "bytes")) > 0);
    assert_true(json_integer_value(json_object_get(loop, "interval")) >=
                json_integer_value(json_object_get(loop, "bound")));
    json_decref(all);
    program_release(&r);

    put(*state, "in.s", " bad\n \xff\n");
    r = RUN(*state, "--json", p.in, "-o", p.out);
    assert_int_equal(r.code, 1);
    all = json_loads(r.out, 0, &e);
    assert_non_null(all);
    assert_int_equal(json_integer_value(json_object_get(all, "errors")), 2);
    json_t *message = json_array_get(json_object_get(all, "messages"), 0);
    assert_string_equal(json_string_value(json_object_get(message, "severity")), "error");
    assert_string_equal(json_string_value(json_object_get(message, "kind")), "syntax");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(message, "place"), "column")), 2);
    json_decref(all);
    program_release(&r);
}

static void usage(void **state)
{
    struct paths p = paths_of(*state);
    put(*state, "in.s", " done\n");
    assert_finished(RUN(*state, "-o", p.out), 2, "", "as takes one file");
    assert_finished(RUN(*state, p.in, p.in, "-o", p.out), 2, "", "as takes one file");
    assert_finished(RUN(*state, p.in), 2, "", "say where to write");
    assert_finished(RUN(*state, p.in, "--raw", "--listing"), 2, "", "--raw needs -o");
    assert_finished(RUN(*state, p.in, "--json", "--listing"), 2, "", "do not go together");
    assert_finished(RUN(*state, p.in, "-o", p.in), 2, "", "the file to write is the one to read");
    assert_finished(RUN(*state, "none.s", "-o", p.out), 1, "", "cannot open 'none.s'");
    assert_finished(RUN(*state, p.in, "-o", "/nowhere/out"), 1, "", "'/nowhere/out'");
    struct finished r = RUN(*state, "--help");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "Usage: tilewright as"));
    program_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_elf, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(writes_raw, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(writes_nothing_after_an_error, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(programs_of_many_cores, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(reads_out_of_time, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(streams_and_devices, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(includes_and_traces, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(foreign_code, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(standard_input, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(lists, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(json, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(usage, folder_set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
