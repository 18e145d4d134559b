/* Values: operators and their precedence, numbers, symbols, and what is wrong with expressions. */
#include "isa/assemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } right[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"100 / 7 % 4", 2},
        {"-7 / 2", -3},
        {"-7 % 2", -1},
        {"1 << 4 + 1", 32},
        {"-16 >> 2", -4},
        {"1 << 63 >> 63", -1},
        {"1 | 2 ^ 3 & 6", 1},
        {"6 & 3 == 3", 0},
        {"3 < 4 == 1", 1},
        {"2 <= 2 && 3 >= 4 || 1", 1},
        {"1 != 1", 0},
        {"5 > 4 > 0", 1},
        {"!0 + !5", 1},
        {"~0", -1},
        {"- -3", 3},
        {"+3", 3},
        {"!!7", 1},
        {"1 ? 2 : 3", 2},
        {"0 ? 2 : 1 ? 4 : 5", 4},
        {"0 ? 1 / 0 : 8", 8},
        {"1 || 1 / 0", 1},
        {"0 && 1 / 0", 0},
        {"0x7fffffffffffffff", INT64_MAX},
        {"-0x7fffffffffffffff - 1", INT64_MIN},
        {"0xAbC", 0xabc},
        {"0b1011", 11},
        {"'a'", 97},
        {"'\\n' + '\\\\' * 256", 10 + 92 * 256},
        {"'\\''", 39},
        {"0x7fffffffffffffff % -1", 0},
        {"-3037000500 * 3037000499", INT64_C(-9223372033963249500)},
        {"-9223372036854775807 * -1", INT64_MAX},
        {"(-0x7fffffffffffffff - 1) * 1", INT64_MIN},
        {"0 * -5", 0},
        {"K", 40},
        {"K+K.x - _$", 40 + 5 - 7},
    };
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "K = 40\n.set K.x, 5\n.equ _$, 7\n.set v, %s\n", right[i].text);
        struct tw_assembly *a = assemble(text, NULL);
        if (a->n_errors > 0)
            fail_msg("%s: %s", right[i].text, a->messages[0].text);
        assert_symbol(a, "v", right[i].value);
        tw_assembly_free(a);
    }
}

static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned column; /* in the expression */
        const char *sentence;
    } wrong[] = {
        {"", 1, "expected a number or a symbol at the end"},
        {"1 +", 4, "expected a number or a symbol at the end"},
        {"(1 + 2", 1, "this parenthesis has no other"},
        {"1 2", 3, "expected an operator or the end of the expression, not \"2\""},
        {"1 + ]", 5, "expected a number or a symbol, not \"]\""},
        {"010", 1, "numbers are decimal without a leading 0"},
        {"12x", 1, "\"12x\" is no number"},
        {"0x", 1, "numbers are decimal"},
        {"0xg", 1, "\"0xg\" is no number"},
        {"0b2", 1, "\"0b2\" is no number"},
        {"9223372036854775808", 1, "more than 64 bits hold"},
        {"0x10000000000000000", 1, "more than 64 bits hold"},
        {"0x7fffffffffffffff + 1", 20, "the result is more than 64 bits hold"},
        {"-0x7fffffffffffffff - 2", 21, "the result is more than 64 bits hold"},
        {"0x7fffffffffffffff * 2", 20, "the result is more than 64 bits hold"},
        {"(-0x7fffffffffffffff - 1) / -1", 27, "the result is more than 64 bits hold"},
        {"-(-0x7fffffffffffffff - 1)", 1, "the result is more than 64 bits hold"},
        {"1 / 0", 3, "division by zero"},
        {"1 % (2 - 2)", 3, "division by zero"},
        {"1 << 64", 3, "a shift by 64 is not between 0 and 63"},
        {"1 >> -1", 3, "a shift by -1 is not between 0 and 63"},
        {"1 ? 2", 3, "expected \":\" behind \"?\""},
        {"'a", 1, "this character has no '"},
        {"'\\q'", 1, "expected \\n"},
        {"nowhere", 1, "nowhere must have a value before this line"},
        {"1 + nowhere", 5, "nowhere must have a value before this line"},
        {"1f", 1, "1f must have a value before this line"},
        {"1b", 1, "there is no local label 1 before this"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256], place[64];
        snprintf(text, sizeof text, ".set v, %s\n", wrong[i].text);
        snprintf(place, sizeof place, "t.s:1:%u", 8 + wrong[i].column - (wrong[i].text[0] == '\0'));
        assert_error(text, place, wrong[i].sentence);
    }
}

/* Neither brackets nor signs may use up the stack. */
static void depth(void **state)
{
    (void)state;
    char text[3000];

    memcpy(text, ".set v, ", 8);
    memset(text + 8, '(', 2000);
    text[2008] = '\0';
    assert_error(text, "t.s:1:73", "nested more than 64 deep");
    memset(text + 8, '-', 2000);
    assert_error(text, "t.s:1:72", "nested more than 64 deep");
    memset(text + 8, '1', 60);
    for (int i = 0; i < 1000; i++)
        memcpy(text + 8 + 2 * i, "1+", 2);
    memcpy(text + 2008, "1", 2);
    struct tw_assembly *a = assemble(text, NULL);
    assert_clean(a);
    assert_symbol(a, "v", 1001);
    tw_assembly_free(a);
}

static void dot_and_labels(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble("    nop\n"
                                     "here: nop\n"
                                     "    .set at, .\n"
                                     "    .set far, . - here\n"
                                     "    .data\n"
                                     "    .word . - 0x70000, ., here, there - here, .\n"
                                     "there:\n",
                                     NULL);
    assert_clean(a);
    assert_symbol(a, "here", 2);
    assert_symbol(a, "at", 4);
    assert_symbol(a, "far", 2);
    assert_symbol(a, "there", 0x70014);
    static const uint8_t data[] = {0, 0, 0, 0, 4, 0, 7, 0, 2, 0, 0, 0, 0x12, 0, 7, 0, 0x10, 0, 7, 0};
    assert_section(a, ".data", data, sizeof data);
    tw_assembly_free(a);
}

/* Each reference finds the nearest label of its number, also when it is worked out at the end. */
static void local_labels(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble("    .data\n"
                                     "1:  .word 1b, 1f, 2f\n"
                                     "1:  .word 1b, 1f, 2f\n"
                                     "2:\n"
                                     "1:  .word 1b, 2b, 2f + 1\n"
                                     "2:\n",
                                     NULL);
    assert_clean(a);
    static const uint32_t data[] = {0x70000, 0x7000c, 0x70018, 0x7000c, 0x70018, 0x70018, 0x70018, 0x70018, 0x70025};
    assert_section(a, ".data", data, sizeof data);
    tw_assembly_free(a);
    assert_error(".data\n.word 1f\n", "t.s:2:7", "1f is not defined");
    assert_error("100: nop\n", "t.s:1:1", "local labels are numbers from 0 to 99");
}

/* A number may change; what is worked out at the end sees what was valid where it stands. */
static void changing_numbers(void **state)
{
    (void)state;
    struct tw_assembly *a = assemble(".data\n"
                                     "i = 1\n"
                                     ".byte i, i + end - end\n"
                                     "i = i + 1\n"
                                     ".byte i, i + end - end, once\n"
                                     "once = 7\n"
                                     "end:\n",
                                     NULL);
    assert_clean(a);
    assert_section(a, ".data", "\1\1\2\2\7", 5);
    tw_assembly_free(a);
    assert_error(".data\n.byte i\ni = 1\ni = 2\n", "t.s:2:7", "i is set more than once below");
    assert_error("x: nop\nx = 1\n", "t.s:2:1", "x has a value already, from t.s:1:1");
    assert_error("x = 1\nx: nop\n", "t.s:2:1", "x has a value already, from t.s:1:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),         cmocka_unit_test(faults),       cmocka_unit_test(depth),
        cmocka_unit_test(dot_and_labels), cmocka_unit_test(local_labels), cmocka_unit_test(changing_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
