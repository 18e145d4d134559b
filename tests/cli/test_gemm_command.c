/* tilewright gemm as a user runs it: its figures, in words and as JSON, and what it refuses. */
#include "cli/program.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN(f, ...) program_run(f, caught, (const char *const[]){"gemm", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

static json_t *figures(struct finished r)
{
    if (r.code != 0)
        fail_msg("%s", r.err);
    assert_string_equal(r.err, "");
    json_t *all = json_loads(r.out, 0, NULL);
    assert_non_null(all);
    program_release(&r);
    return all;
}

static double real(const json_t *all, const char *key)
{
    assert_true(json_is_number(json_object_get(all, key)));
    return json_number_value(json_object_get(all, key));
}

static long long integer(const json_t *all, const char *key)
{
    assert_true(json_is_integer(json_object_get(all, key)));
    return json_integer_value(json_object_get(all, key));
}

static const char *text(const json_t *all, const char *key)
{
    const char *word = json_string_value(json_object_get(all, key));
    assert_non_null(word);
    return word;
}

/* A product of one small block: useful multiplications are counted, not those of the padding. */
static void json(void **state)
{
    static const char *const bounds[] = {"launch", "control code", "DDR", "stream", "core", "locks"};
    json_t *all = figures(RUN(*state, "60", "50", "40", "--device", "emu", "--json", "--check"));
    const double cycles = real(all, "cycles");
    assert_true(cycles > 38000 && cycles < 1e6);
    assert_true(fabs(real(all, "mac_per_cycle") - 60 * 50 * 40 / cycles) < 1e-9);
    assert_true(fabs(real(all, "percent_of_peak") - 100 * 60 * 50 * 40 / 2048.0 / cycles) < 1e-9);
    assert_true(real(all, "nmse") > 0 && real(all, "nmse") < 1e-12);
    assert_int_equal(integer(all, "rows_checked"), 60);
    assert_int_equal(integer(all, "launches"), 1);
    assert_int_equal(integer(all, "contexts"), 1);
    assert_true(real(all, "image_ms") > 0 && real(all, "control_us") > 0);
    assert_true(integer(all, "ddr_read_bytes") >= 2 * (60 * 50 + 50 * 40));
    assert_true(integer(all, "ddr_write_bytes") >= 4 * 60 * 40);
    assert_string_equal(text(all, "device"), "emu");
    int known = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        known += strcmp(text(all, "bound"), bounds[i]) == 0;
    assert_int_equal(known, 1);
    json_decref(all);
}

/* All options together, on sides that fill no block; the seed makes the numbers. */
static void chain(void **state)
{
    double nmse[3];
    static const char *const seeds[] = {"7", "7", "8"};
    for (int i = 0; i < 3; i++) {
        json_t *all = figures(RUN(*state, "33", "65", "17", "--device=emu", "--json", "--check", "--chain", "4", "--a",
                                  "f32", "--out", "bf16", "--bias", "--gelu", "--add", "--type", "bf16", "--threads",
                                  i == 0 ? "1" : "3", "--seed", seeds[i]));
        nmse[i] = real(all, "nmse");
        assert_true(nmse[i] > 1e-9 && nmse[i] < 1e-5); /* as near as bf16 is */
        assert_int_equal(integer(all, "contexts"), 1);
        assert_int_equal(integer(all, "chain"), 4);
        assert_true(fabs(real(all, "mac_per_cycle") - 4 * 33 * 65 * 17 / real(all, "cycles")) < 1e-9);
        json_decref(all);
    }
    assert_true(nmse[0] == nmse[1] && nmse[0] != nmse[2]);
}

static void not_checked(void **state)
{
    json_t *all = figures(RUN(*state, "1", "1", "1", "--device", "emu", "--json"));
    assert_true(json_is_null(json_object_get(all, "nmse")));
    assert_true(json_is_null(json_object_get(all, "rows_checked")));
    assert_true(integer(all, "cycles") > 0);
    json_decref(all);
}

static void words(void **state)
{
    struct finished r = RUN(*state, "40", "30", "20", "--device", "emu", "--check", "--clock", "2", "--bias");
    if (r.code != 0)
        fail_msg("%s", r.err);
    assert_string_equal(r.err, "");
    assert_non_null(strstr(r.out, "40 x 30 x 20, bf16, A bf16, C f32, bias; emu: cycles are modelled\n"));
    assert_non_null(strstr(r.out, " cycles modelled, "));
    assert_non_null(strstr(r.out, " us modelled at 2 GHz; bounded by: "));
    assert_non_null(strstr(r.out, "% of the peak of 16 cores\n"));
    assert_non_null(strstr(r.out, "launches 1, contexts 1; image made in "));
    assert_non_null(strstr(r.out, " against float64, all 40 rows\n"));
    long long cycles;
    double time;
    assert_int_equal(sscanf(strchr(r.out, '\n'), " %lld cycles modelled, %lf us", &cycles, &time), 2);
    assert_true(fabs(time - (double)cycles / 2000) < 0.06);
    program_release(&r);
}

/* One sentence on stderr with `part` in it, nothing on stdout. */
static void assert_refused(struct finished r, int code, const char *part)
{
    assert_int_equal(r.code, code);
    assert_string_equal(r.out, "");
    if (strstr(r.err, part) == NULL)
        fail_msg("'%s' does not say '%s'", r.err, part);
    assert_ptr_equal(strchr(r.err, '\n') + 1, r.err + strlen(r.err));
    program_release(&r);
}

static void usage_errors(void **state)
{
    static const char *const wrong[][7] = {
        {"three sides", "1", "2"},
        {"three sides", "1", "2", "3", "4"},
        {"M is a whole number from 1 to 1048576, not '0'", "0", "2", "3"},
        {"K is a whole number from 1 to 1048576, not '1048577'", "1", "1048577", "3"},
        {"N is a whole number from 1 to 1048576, not '99999999999999999999'", "1", "1", "99999999999999999999"},
        {"M is a whole number from 1 to 1048576, not '0x10'", "0x10", "2", "3"},
        {"K is a whole number from 1 to 1048576, not ''", "1", "", "3"},
        {"N is a whole number from 1 to 1048576, not '+1'", "1", "1", "+1"},
        {"'-1'", "--", "-1", "1", "1"},
        {"--type takes bf16, not 'int8'", "1", "1", "1", "--type", "int8"},
        {"--a takes f32 or bf16, not 'f16'", "1", "1", "1", "--a", "f16"},
        {"--out takes f32 or bf16, not ''", "1", "1", "1", "--out="},
        {"--chain takes a whole number from 1 to 200, not '0'", "1", "1", "1", "--chain", "0"},
        {"--clock takes a number from 0.1 to 10, not 'inf'", "1", "1", "1", "--clock", "inf"},
        {"--threads takes", "1", "1", "1", "--threads", "257"},
        {"--seed takes", "1", "1", "1", "--seed", "-1"},
        {"'--chek'", "1", "1", "1", "--chek"},
        {"--bias takes no value", "1", "1", "1", "--bias=1"},
        {"no device 'gpu'", "1", "1", "1", "--device", "gpu"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *arguments[8] = {"gemm"};
        for (size_t k = 1; k < 7 && wrong[i][k] != NULL; k++)
            arguments[k] = wrong[i][k];
        assert_refused(program_run(*state, caught, arguments), 2, wrong[i][0]);
    }
}

static void failures(void **state)
{
    assert_refused(RUN(*state, "1000000", "1000000", "1000000", "--device", "emu"), 1, "more memory than this machine");
    assert_refused(RUN(*state, "1", "1", "1048576", "--device", "emu"), 1, "too large for one product on the NPU");
    if (access("/sys/class/accel", F_OK) != 0)
        assert_refused(RUN(*state, "1", "1", "1", "--device", "npu"), 1, "no NPU");
    setenv("TILEWRIGHT_EMU_FAULT", "context:1", 1);
    assert_refused(RUN(*state, "1", "1", "1", "--device", "emu"), 1, "context");
    unsetenv("TILEWRIGHT_EMU_FAULT");
    struct finished r = program_run(*state, (struct streams){NULL, "/dev/full"},
                                    (const char *const[]){"gemm", "1", "1", "1", "--device", "emu", "--json", NULL});
    assert_refused(r, 1, "standard output");
}

/* A result that is wrong is an error, and so are figures of a product that the NPU did not compute. */
static void faults(void **state)
{
    setenv("TILEWRIGHT_EMU_FAULT", "bit:1:seed=1", 1);
    struct finished r = RUN(*state, "20", "20", "20", "--device", "emu", "--check");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.out, "nmse"));
    assert_non_null(strstr(r.err, "the result is wrong: its nmse against float64 is "));
    program_release(&r);
    setenv("TILEWRIGHT_EMU_FAULT", "token:1", 1);
    r = RUN(*state, "20", "20", "20", "--device", "emu", "--check");
    unsetenv("TILEWRIGHT_EMU_FAULT");
    assert_int_equal(r.code, 1);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, "the NPU computed 0 of 1 products"));
    program_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),   cmocka_unit_test(chain),        cmocka_unit_test(not_checked),
        cmocka_unit_test(words),  cmocka_unit_test(usage_errors), cmocka_unit_test(failures),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
