/* The option table: forms, operands, strict numbers, sentences. */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct values {
    int flag;
    const char *text;
    int32_t count;
    double real;
    uint64_t seed;
    const char *texts[2];
    struct tw_option_list list;
    struct tw_error err;
    char *argv[12];
    char copy[12][64];
};

/* Reads a NULL-terminated list of arguments; the operands are then argv[1] and up. */
static int read_list(struct values *v, const char *const *arguments)
{
    const struct tw_option options[] = {
        {"list", 'l', TW_OPTION_LIST, {.list = &v->list}, 0, 0},
        {"flag", 'f', TW_OPTION_FLAG, {.flag = &v->flag}, 0, 0},
        {"text", 't', TW_OPTION_TEXT, {.text = &v->text}, 0, 0},
        {"count", 0, TW_OPTION_COUNT, {.count = &v->count}, -5, 10},
        {"real", 0, TW_OPTION_REAL, {.real = &v->real}, -1, 1000},
        {"seed", 0, TW_OPTION_SEED, {.seed = &v->seed}, 0, 0},
    };
    int argc = 1;
    memset(v, 0, sizeof *v);
    v->list = (struct tw_option_list){v->texts, 0, 2};
    for (; arguments[argc - 1] != NULL; argc++) {
        snprintf(v->copy[argc], sizeof v->copy[argc], "%s", arguments[argc - 1]);
        v->argv[argc] = v->copy[argc];
    }
    return tw_options_read(options, sizeof options / sizeof options[0], argc, v->argv, &v->err);
}

#define READ(v, ...) read_list(v, (const char *const[]){__VA_ARGS__, NULL})

static void forms(void **state)
{
    (void)state;
    struct values v;
    assert_int_equal(READ(&v, "--text", "x", "--count=7", "-f"), 0);
    assert_string_equal(v.text, "x");
    assert_int_equal(v.count, 7);
    assert_int_equal(v.flag, 1);
    assert_int_equal(READ(&v, "-t", "y", "--real", "-0.5e0", "--flag"), 0);
    assert_string_equal(v.text, "y");
    assert_true(v.real == -0.5);
    assert_int_equal(v.flag, 1);
    assert_int_equal(READ(&v, "--text=a=b", "--text=", "--count", "1", "--count", "2"), 0);
    assert_string_equal(v.text, "");
    assert_int_equal(v.count, 2);
    assert_int_equal(READ(&v, "--text=a=b"), 0);
    assert_string_equal(v.text, "a=b");
    assert_int_equal(READ(&v, "--text", "--flag"), 0);
    assert_string_equal(v.text, "--flag");
    assert_int_equal(v.flag, 0);
}

static void lists(void **state)
{
    (void)state;
    struct values v;
    assert_int_equal(READ(&v, "--list", "a", "x", "-l", "b"), 1);
    assert_int_equal(v.list.n, 2);
    assert_string_equal(v.texts[0], "a");
    assert_string_equal(v.texts[1], "b");
    assert_int_equal(READ(&v, "--list=a", "--list=b", "--list=c"), TW_E_ARGUMENT);
    assert_non_null(strstr(v.err.text, "--list is given more than 2 times"));
    assert_int_equal(READ(&v, "--text", "a"), 0);
    assert_int_equal(v.list.n, 0);
}

static void operands(void **state)
{
    (void)state;
    struct values v;
    assert_int_equal(READ(&v, "one", "--flag", "-", "--text", "x", "two", "--", "--flag", "--"), 5);
    assert_string_equal(v.argv[1], "one");
    assert_string_equal(v.argv[2], "-");
    assert_string_equal(v.argv[3], "two");
    assert_string_equal(v.argv[4], "--flag");
    assert_string_equal(v.argv[5], "--");
    assert_int_equal(READ(&v, ""), 1);
    assert_string_equal(v.argv[1], "");
    assert_int_equal(read_list(&v, (const char *const[]){NULL}), 0);
}

static void bounds(void **state)
{
    (void)state;
    struct values v;
    assert_int_equal(READ(&v, "--count", "-5", "--real", "1000", "--seed", "18446744073709551615"), 0);
    assert_int_equal(v.count, -5);
    assert_true(v.real == 1000);
    assert_true(v.seed == UINT64_MAX);
    assert_int_equal(READ(&v, "--count", "10", "--real", ".25"), 0);
    assert_int_equal(v.count, 10);
    assert_true(v.real == 0.25);
}

static void bad_numbers(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"--count", ""},
        {"--count", "x"},
        {"--count", "1x"},
        {"--count", " 1"},
        {"--count", "1.5"},
        {"--count", "11"},
        {"--count", "-6"},
        {"--count", "0x1"},
        {"--count", "1e0"},
        {"--count", "--1"},
        {"--count", "-"},
        {"--count", "+1"},
        {"--count", "99999999999999999999"},
        {"--count", "4294967297"},
        {"--real", ""},
        {"--real", "nan"},
        {"--real", "inf"},
        {"--real", "1e999"},
        {"--real", "0x1p0"},
        {"--real", "1000.1"},
        {"--real", "-1.01"},
        {"--real", "1,5"},
        {"--real", " 1"},
        {"--real", "1 "},
        {"--real", "."},
        {"--real", "1e"},
        {"--seed", "-1"},
        {"--seed", ""},
        {"--seed", "1.0"},
        {"--seed", "18446744073709551616"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct values v;
        assert_int_equal(READ(&v, bad[i][0], bad[i][1]), TW_E_ARGUMENT);
        assert_non_null(strstr(v.err.text, bad[i][0]));
        char quoted[64];
        snprintf(quoted, sizeof quoted, "'%s'", bad[i][1]);
        assert_non_null(strstr(v.err.text, quoted));
        assert_true(v.count == 0 && v.real == 0 && v.seed == 0);
    }
}

static void unknown(void **state)
{
    (void)state;
    static const char *const bad[] = {"--fla",   "--flagg", "-x", "-tx",    "-ff", "--flag=1",
                                      "---flag", "--=1",    "-=", "--text", "-t"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct values v;
        assert_int_equal(READ(&v, "operand", bad[i]), TW_E_ARGUMENT);
        size_t name = strcspn(bad[i] + 1, "=") + 1;
        char shown[64];
        snprintf(shown, sizeof shown, "%.*s", (int)name, bad[i]);
        assert_non_null(strstr(v.err.text, shown));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(lists),       cmocka_unit_test(operands), cmocka_unit_test(bounds),
        cmocka_unit_test(bad_numbers), cmocka_unit_test(unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
