/* tilewright info: the emulated NPU, and what is said where there is none. */
#include "cli/folder.h"
#include "cli/program.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN(...) program_run(&folder, (struct streams){0}, (const char *[]){"info", __VA_ARGS__, NULL})

static struct folder open_folder(void)
{
    struct folder folder;
    folder_create(&folder);
    return folder;
}

static void test_emulated(void **state)
{
    struct folder folder = open_folder();
    (void)state;
    struct finished f = RUN("--device", "emu");
    assert_int_equal(f.code, 0);
    assert_string_equal(f.err, "");
    assert_non_null(strstr(f.out, "/dev/accel/accel0 (emulated)"));
    assert_non_null(strstr(f.out, "interface 0."));
    assert_non_null(strstr(f.out, "firmware   1.5.5.391"));
    assert_non_null(strstr(f.out, "5 columns of 4 core rows"));
    assert_non_null(strstr(f.out, "0 of 6 in use"));
    program_release(&f);
    folder_remove(&folder);
}

static void test_json(void **state)
{
    struct folder folder = open_folder();
    (void)state;
    struct finished f = RUN("--device=emu", "--json");
    assert_int_equal(f.code, 0);
    json_t *all = json_loads(f.out, 0, NULL);
    assert_non_null(all);
    assert_string_equal(json_string_value(json_object_get(all, "device")), "/dev/accel/accel0");
    assert_true(json_is_true(json_object_get(all, "emulated")));
    assert_string_equal(json_string_value(json_object_get(all, "firmware")), "1.5.5.391");
    json_t *contexts = json_object_get(all, "contexts");
    assert_int_equal(json_integer_value(json_object_get(contexts, "used")), 0);
    assert_int_equal(json_integer_value(json_object_get(contexts, "limit")), 6);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(all, "array"), "columns")), 5);
    json_decref(all);
    program_release(&f);
    folder_remove(&folder);
}

/* The environment chooses too, but only where nothing else was said. */
static void test_choice(void **state)
{
    struct folder folder = open_folder();
    (void)state;
    assert_int_equal(setenv("TILEWRIGHT_DEVICE", "emu", 1), 0);
    struct finished f = RUN("--json");
    assert_int_equal(f.code, 0);
    program_release(&f);
    assert_int_equal(setenv("TILEWRIGHT_DEVICE", "abacus", 1), 0);
    f = RUN("--json");
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "'abacus'"));
    program_release(&f);
    f = RUN("--device=emu");
    assert_int_equal(f.code, 0);
    program_release(&f);
    assert_int_equal(unsetenv("TILEWRIGHT_DEVICE"), 0);
    f = RUN("--device=abacus");
    assert_int_equal(f.code, 2);
    program_release(&f);
    f = RUN("--help");
    assert_int_equal(f.code, 0);
    assert_non_null(strstr(f.out, "Usage: tilewright info"));
    program_release(&f);
    folder_remove(&folder);
}

/* Without an NPU: what is missing, and nothing is emulated in silence. */
static void test_missing(void **state)
{
    struct folder folder = open_folder();
    (void)state;
    if (access("/sys/class/accel", F_OK) == 0) {
        folder_remove(&folder);
        print_message("SKIPPED: this machine has an accelerator\n");
        skip();
    }
    struct finished f = RUN("--device=npu");
    assert_int_equal(f.code, 1);
    assert_int_equal(strncmp(f.out, "no NPU: ", 8), 0);
    assert_non_null(strstr(f.out, "mend:   "));
    program_release(&f);
    f = program_run(&folder, (struct streams){.out = "/dev/full"}, (const char *[]){"info", "--device=npu", NULL});
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "standard output"));
    program_release(&f);
    f = RUN("--json");
    assert_int_equal(f.code, 1);
    json_t *all = json_loads(f.out, 0, NULL);
    assert_non_null(all);
    assert_true(json_is_null(json_object_get(all, "device")));
    assert_true(json_is_string(json_object_get(json_object_get(all, "missing"), "text")));
    json_decref(all);
    program_release(&f);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emulated),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
