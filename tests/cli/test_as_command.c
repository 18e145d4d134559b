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

static int set_up(void **state)
{
    struct folder *f = malloc(sizeof *f);
    assert_non_null(f);
    folder_create(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

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
    put(*state, "in.s", ".section .text.a\n nop\n.section .text.b\n nop\n nop\n");
    assert_finished(RUN(*state, "--raw", p.in, "-o", p.out), 0, "", "");
    char *bytes = folder_get(*state, "out", &size);
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, "\1\0\1\0\1\0", 6);
    free(bytes);
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
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "the segments .text.a and .text.b overlap at 0x0");
    put(*state, "in.s", "lda r0, [p0, #0]\nadd r0, r0, r0\ndone\n");
    assert_finished(RUN(*state, p.in, "-o", p.out), 1, "", "in.s:2:1: error: \"add r0, r0, r0\" reads r0");
    char *old = folder_get(*state, "out", NULL);
    assert_string_equal(old, "old");
    free(old);
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
        cmocka_unit_test_setup_teardown(writes_elf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writes_raw, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writes_nothing_after_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(includes_and_traces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_code, set_up, tear_down),
        cmocka_unit_test_setup_teardown(standard_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(usage, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
