/* Macros, repetitions, conditions and comments; their faults, with columns in the text as it was written. */
#include "isa/assemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void assert_data(const char *text, const char *bytes)
{
    struct tw_assembly *a = assemble(text, NULL);
    assert_clean(a);
    assert_section(a, ".data", bytes, strlen(bytes));
    tw_assembly_free(a);
}

static void macros(void **state)
{
    (void)state;
    static const char define[] = ".data\n"
                                 ".macro put a, b=2, c:req, rest:vararg\n"
                                 "  .byte \\a, \\b, \\c\n"
                                 "  .ifdef full\\()_ed\n"
                                 "  .byte \\rest\n"
                                 "  .endif\n"
                                 ".endm\n";
    static const struct {
        const char *call, *bytes;
    } right[] = {
        {"put 1, 3, 4", "\1\3\4"},
        {"put 1, c=4", "\1\2\4"},
        {"put c = 4, a = 9", "\x09\2\4"},
        {"put c=4, 1", "\1\2\4"},
        {"put (1 + 1), 'a', 3", "\2a\3"},
        {"put \"7\", 8, 9", "\7\x08\x09"},
        {"full_ed = 1\nput 1, 2, 3, 4, 5", "\1\2\3\4\5"},
        {"full_ed = 1\nput 1, 2, 3, rest=6, 7", "\1\2\3\6\7"},
        {"put \"1, 1\", 2, 3", "\1\1\2\3"},
    };
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char text[512];
        strcpy(text, define);
        strcat(text, right[i].call);
        assert_data(text, right[i].bytes);
    }
}

/* Macros that call and define macros, and labels of their own by \@. */
static void nested_macros(void **state)
{
    (void)state;
    assert_data(".data\n.macro inner x\n.byte \\x\n.endm\n.macro outer x, y\ninner \\y\ninner \\x\n.endm\nouter 1, 2\n",
                "\2\1");
    assert_data(".data\n.macro maker name, v\n.macro \\name x\n.byte \\v, \\x\n.endm\n.endm\nmaker five, 5\nfive 6\n",
                "\5\6");
    assert_data(".data\n.macro here\nl\\@: .byte l\\@ - 0x70000 + 1\n.endm\nhere\nhere\n", "\1\2");
    assert_data(".data\n.macro down n\n.byte \\n\n.if \\n - 1\ndown \\n-1\n.endif\n.endm\ndown 3\n", "\3\2\1");
}

static void macro_faults(void **state)
{
    (void)state;
    assert_error(".macro\n.endm\n", "t.s:1:7", "expected the name of the macro");
    assert_error(".macro m 5\n.endm\n", "t.s:1:10", "expected the name of a parameter");
    assert_error(".macro m a.b\n.endm\n", "t.s:1:10", "expected the name of a parameter");
    assert_error(".macro m a:x\n.endm\n", "t.s:1:12", "expected req or vararg");
    assert_error(".macro m a b\n.endm\n", "t.s:1:12", "expected \",\" behind the parameter");
    assert_error(".macro m a:vararg, b\n.endm\n", "t.s:1:20", "no parameter can follow");
    assert_error(".macro m\n.endm\n .macro m\n.endm\n", "t.s:3:9", "there is a macro m already");
    assert_error("nop\n .macro m\nnop\n", "t.s:2:9", ".macro has no .endm");
    assert_error(".macro m a\n.endm\n m 1, 2\n", "t.s:3:7", "macro m takes 1 arguments");
    assert_error(".macro m a\n.endm\n m 1, a=2\n", "t.s:3:7", "a is given twice");
    assert_error(".macro m a:req\n.endm\n  m\n", "t.s:3:3", "macro m needs the argument a");
    assert_error(".macro m\n m\n.endm\nm\n", "t.s:2:0", "more than 64 deep");
    assert_error(".macro m\n.if 1\n.endm\nm\n", "t.s:2:1", "this condition has no .endif");
    assert_error(".macro m\n.endif\n.endm\n.if 1\nm\n.endif\n", "t.s:2:1", ".endif without an .if");
}

/* A fault in a macro is told at its place in the macro; columns do not count what arguments take. */
static void places(void **state)
{
    (void)state;
    assert_error(".macro m n\n .byte \\n\n.endm\n.data\n m 1 + nowhere +\n", "t.s:2:8", "at the end of the expression");
    assert_error(".macro m n\n add \\n\n.endm\n m \"r0, r1, r99\"\n", "t.s:2:6", "not \"r99\"");
    struct tw_assembly *a = assemble(".macro m reg, n\n"
                                     "   add r0, \\reg, r1; bad \\n\n"
                                     ".endm\n"
                                     ".macro outer r\n"
                                     "   m \\r, 12345\n"
                                     ".endm\n"
                                     "nop\n"
                                     "  outer r22\n"
                                     "  m p1, 1\n",
                                     NULL);
    assert_int_equal(a->n_errors, 2);
    assert_message(a, 0, TW_SEVERITY_ERROR, "t.s:2:22", "\"bad\" is no instruction");
    assert_trace(a, 0, 0, "t.s:5:4", "in macro m, called from here");
    assert_trace(a, 0, 1, "t.s:8:3", "in macro outer, called from here");
    assert_message(a, 1, TW_SEVERITY_ERROR, "t.s:2:12", "not \"p1\"");
    assert_trace(a, 1, 0, "t.s:9:3", "in macro m");
    tw_assembly_free(a);
}

static void repetitions(void **state)
{
    (void)state;
    assert_data(".data\n.rept 3\n.byte \\+ + 1\n.endr\n", "\1\2\3");
    assert_data(".data\n.rept 0\n.byte 1\n.endr\n.byte 9\n", "\x09");
    assert_data(".data\n.rept 2\n.byte 7\n.rept 2\n.byte 8\n.endr\n.endr\n", "\7\x08\x08\7\x08\x08");
    assert_data(".data\ni = 1\n.rept 3\n.byte i\ni = i * 2\n.endr\n", "\1\2\4");
    assert_data(".data\n.macro m n\n.rept \\n\n.byte \\n\n.endr\n.endm\nm 2\nm 3\n", "\2\2\3\3\3");
    assert_error(".rept x\n.endr\n", "t.s:1:7", "x must have a value before this line");
    assert_error(".rept -1\nnop\n.endr\n", "t.s:1:7", "-1 repetitions are not possible");
    assert_error("nop\n.rept 2\nnop\n", "t.s:2:7", ".rept has no .endr");
    assert_error(".rept 2000000\n \n.endr\n", "t.s:2:0", "the text has more than");
    assert_error(".rept 2000000000000\n.endr\nbad\n", "t.s:3:1", "\"bad\" is no instruction");

    struct tw_assembly *a = assemble(".rept 2\n   bad\n.endr\n", NULL);
    assert_int_equal(a->n_errors, 2);
    assert_message(a, 1, TW_SEVERITY_ERROR, "t.s:2:4", "no instruction");
    assert_trace(a, 1, 0, "t.s:1:7", "in this repetition");
    tw_assembly_free(a);
}

static void conditions(void **state)
{
    (void)state;
    static const char choose[] = ".data\n.if n == 1\n.byte 1\n.elseif n == 2\n.byte 2\n.elseif n == 2 || n == 3\n"
                                 ".byte 3\n.else\n.byte 4\n.endif\n";
    for (int n = 1; n <= 5; n++) {
        char text[512] = "n = 0\n", bytes[2] = {(char)(n < 4 ? n : 4), 0};
        text[4] = (char)('0' + n);
        strcat(text, choose);
        assert_data(text, bytes);
    }
    assert_data(".data\n.ifdef x\n.byte 1\n.else\n.byte 2\n.endif\nx = 1\n.ifdef x\n.byte 3\n.endif\n", "\2\3");
    assert_data(".data\n.ifndef x\n.byte 1\n.endif\nx = 1\n.ifndef x\n.byte 3\n.endif\n", "\1");
    assert_data(".data\n.if 0\n bad!\n.if 1\n.byte 1\n.else\n.byte 2\n.endif\n.else\n.byte 3\n.endif\n", "\3");
    assert_data(".data\n.if 0\n.elseif 1 + 1\n.byte 4\n.elseif nonsense(\n.byte 5\n.endif\n", "\4");

    assert_error(".if\n.endif\n", "t.s:1:4", "expected a number or a symbol");
    assert_error(".if x\nbad\n.else\nbad\n.endif\n", "t.s:1:5", "x must have a value before this line");
    assert_error("nop\n  .if 1\nnop\n", "t.s:2:3", "this condition has no .endif");
    assert_error(" .endif\n", "t.s:1:2", ".endif without an .if");
    assert_error(" .else\n", "t.s:1:2", ".else without an .if");
    assert_error(".if 1\n.else\n.else\n.endif\n", "t.s:3:1", ".else behind .else");
    assert_error(".if 1\n.else\n .elseif 1\n.endif\n", "t.s:3:2", ".elseif behind .else");
    assert_error(".ifdef 5\n.endif\n", "t.s:1:8", "expected the name of a symbol");
}

static void comments(void **state)
{
    (void)state;
    assert_data(".data // .byte 9\n.byte 1 /* 2 */ , 3 // 4\n/* .byte 5\n.byte 6 */ .byte 7 /**/\n"
                "/* a */ /* b */ .byte 8 /* c\n*/\n.byte '/' // '\n",
                "\1\3\7\x08/");
    assert_error("nop\nnop /* never\nends\n", "t.s:2:0", "this comment has no */");
    assert_error("/* a comment */   bad\n", "t.s:1:19", "\"bad\" is no instruction");
    assert_error("/*\n*/bad\n", "t.s:2:3", "\"bad\" is no instruction");
}

/* One error in each line, up to a hundred; then a last word. */
static void many_errors(void **state)
{
    (void)state;
    char text[2000] = "";

    for (int i = 0; i < 150; i++)
        strcat(text, "bad\n");
    struct tw_assembly *a = assemble(text, NULL);
    assert_int_equal(a->n_errors, TW_AS_ERRORS_MAX);
    assert_int_equal(a->n_messages, TW_AS_ERRORS_MAX + 1);
    assert_message(a, 57, TW_SEVERITY_ERROR, "t.s:58:1", "\"bad\" is no instruction");
    assert_message(a, TW_AS_ERRORS_MAX, TW_SEVERITY_NOTE, "t.s:100:1", "no more errors are listed");
    tw_assembly_free(a);
}

static void long_lines(void **state)
{
    (void)state;
    char text[6000];

    memset(text, 'x', 5000);
    strcpy(text + 5000, "\nbad\n");
    struct tw_assembly *a = assemble(text, NULL);
    assert_int_equal(a->n_errors, 2);
    assert_message(a, 0, TW_SEVERITY_ERROR, "t.s:1:0", "a line of 5000 characters is too long");
    assert_message(a, 1, TW_SEVERITY_ERROR, "t.s:2:1", "\"bad\" is no instruction");
    tw_assembly_free(a);

    strcpy(text, ".macro m a\n .byte \\a\\a\\a\\a\\a\\a\\a\\a\n.endm\n m ");
    size_t n = strlen(text);
    memset(text + n, '1', 1000);
    text[n + 1000] = '\0';
    assert_error(text, "t.s:2:0", "with its arguments this line has more than 4096 characters");

    /* As many arguments as a line can hold, and text between them. */
    strcpy(text, ".macro m a\n ");
    for (int i = 0; i < 1360; i++)
        strcat(text, "\\a,");
    strcat(text, "\n.endm\n m \n");
    assert_error(text, "t.s:2:4", "too many words");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(macros),   cmocka_unit_test(nested_macros), cmocka_unit_test(macro_faults),
        cmocka_unit_test(places),   cmocka_unit_test(repetitions),   cmocka_unit_test(conditions),
        cmocka_unit_test(comments), cmocka_unit_test(many_errors),   cmocka_unit_test(long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
