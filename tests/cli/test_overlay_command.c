/* tilewright overlay as a user runs it: the lines that it prints run the exported program to the expected result. */
#include "cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN(f, ...) program_run(f, caught, (const char *const[]){"overlay", __VA_ARGS__, NULL})
/* A name that a shell would take apart. */
#define FOLDER_NAME "it's; $HOME"

static const struct streams caught = {NULL, NULL};

static const char *const files[] = {"overlay.xclbin", "product.insts", "a.bin", "b.bin", "headers.bin", "expected.bin"};
enum { FILES = sizeof files / sizeof files[0] };

/* What "tilewright emu run" means in the lines: what it says, or the same through the emulated kernel driver. */
#define AS_PRINTED "\"$TILEWRIGHT_BIN\" \"$@\""
#define BY_THE_DRIVER "shift 2; \"$TILEWRIGHT_BIN\" run --device emu \"$@\""

/* Exports, and leaves the two lines in *script, with what "tilewright" does there. */
static void export(const struct folder *f, const char *meaning, char **script)
{
    char folder[2 * FOLDER_PATH];
    folder_path(f, FOLDER_NAME, folder);
    struct finished r = RUN(f, "--export", folder);
    if (r.code != 0)
        fail_msg("%s", r.err);
    assert_string_equal(r.err, "");
    const char *second = strchr(r.out, '\n');
    assert_non_null(second);
    assert_int_equal(strncmp(r.out, "tilewright emu run ", 19), 0);
    assert_int_equal(strncmp(second, "\ncmp ", 5), 0);
    size_t size = strlen(r.out) + strlen(meaning) + 100;
    *script = malloc(size);
    snprintf(*script, size, "exec >/dev/null 2>&1\ntilewright() { %s; }\nset -e\n%s", meaning, r.out);
    program_release(&r);
}

static void exported_files_run(void **state)
{
    const struct folder *f = *state;
    char *script = NULL, name[64];
    export(f, AS_PRINTED, &script);
    assert_int_equal(folder_count(f, FOLDER_NAME), FILES);
    for (int i = 0; i < FILES; i++) {
        char path[3 * FOLDER_PATH];
        snprintf(path, sizeof path, "%s/%s/%s", f->path, FOLDER_NAME, files[i]);
        assert_int_equal(access(path, R_OK), 0);
    }
    assert_int_equal(system(script), 0);
    size_t size;
    snprintf(name, sizeof name, "%s/c.bin", FOLDER_NAME);
    char *c = folder_get(f, name, &size);
    assert_non_null(c);
    float first;
    memcpy(&first, c, sizeof first); /* the bias is -720, and the sum of row 0 and column 0 by hand in plain integers */
    int sum = -720;
    for (int k = 0; k < 70; k++)
        sum += (k * 5 % 17 - 8) * (k * 3 % 17 - 8);
    assert_true(first == (float)sum);
    free(c);
    free(script);
}

static void the_driver_runs_them_too(void **state)
{
    char *script = NULL;
    export(*state, BY_THE_DRIVER, &script);
    assert_int_equal(system(script), 0);
    free(script);
}

/* The comparison is one: with another number in A it fails. */
static void other_input_differs(void **state)
{
    const struct folder *f = *state;
    char *script = NULL;
    size_t size;
    export(f, AS_PRINTED, &script);
    char *a = folder_get(f, FOLDER_NAME "/a.bin", &size);
    assert_non_null(a);
    a[1] ^= 0x40;
    folder_put(f, FOLDER_NAME "/a.bin", a, size);
    assert_int_not_equal(system(script), 0);
    free(a);
    free(script);
}

/* Files in a folder that looks like an option are none to the commands of the lines. */
static void folder_like_an_option(void **state)
{
    const struct folder *f = *state;
    char script[3 * FOLDER_PATH];
    snprintf(script, sizeof script,
             "exec >/dev/null 2>&1\nset -e\ncd '%s'\n\"$TILEWRIGHT_BIN\" overlay --export -x >lines\n"
             "tilewright() { " AS_PRINTED "; }\n. ./lines",
             f->path);
    assert_int_equal(system(script), 0);
}

/* A second export replaces the files; nothing else is touched. */
static void again(void **state)
{
    const struct folder *f = *state;
    char *first = NULL, *second = NULL;
    export(f, AS_PRINTED, &first);
    folder_put(f, FOLDER_NAME "/product.insts", "x", 1);
    folder_put(f, FOLDER_NAME "/mine", "x", 1);
    export(f, AS_PRINTED, &second);
    assert_string_equal(first, second);
    assert_int_equal(folder_count(f, FOLDER_NAME), FILES + 1);
    assert_int_equal(system(second), 0);
    free(first);
    free(second);
}

/* One sentence on stderr with `part` in it, nothing on stdout. */
static void assert_refused(struct finished r, int code, const char *part)
{
    assert_int_equal(r.code, code);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, part));
    assert_ptr_equal(strchr(r.err, '\n') + 1, r.err + strlen(r.err));
    program_release(&r);
}

static void refusals(void **state)
{
    const struct folder *f = *state;
    char path[2 * FOLDER_PATH];
    assert_refused(RUN(f, "--export"), 2, "--export needs a value");
    assert_refused(program_run(f, caught, (const char *const[]){"overlay", NULL}), 2, "--export");
    assert_refused(RUN(f, "--export", ""), 2, "--export");
    assert_refused(RUN(f, "--export", "x", "y"), 2, "no operands");
    assert_refused(RUN(f, "--exports", "x"), 2, "'--exports'");
    assert_refused(RUN(f, "--export", "/dev/null/x"), 1, "/dev/null/x");
    folder_put(f, "file", "x", 1);
    folder_path(f, "file", path);
    assert_refused(RUN(f, "--export", path), 1, "file");
    assert_refused(program_run(f, (struct streams){NULL, "/dev/full"},
                               (const char *const[]){"overlay", "--export", f->path, NULL}),
                   1, "standard output");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exported_files_run, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(the_driver_runs_them_too, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(other_input_differs, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(folder_like_an_option, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(again, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(refusals, folder_set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
