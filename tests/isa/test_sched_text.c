/* What the text of scheduled code may say, and what each wrong text is told, with its place. */
#include "isa/sched_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct faults {
    unsigned line, n;
    size_t column;
    char text[512];
};

static void note(void *arg, const struct tw_source_line *line, size_t column, const char *sentence)
{
    struct faults *f = arg;

    if (f->n++ == 0) {
        f->line = line->line;
        f->column = column;
        snprintf(f->text, sizeof f->text, "%s", sentence);
    }
}

static int schedule(const char *text, struct faults *f, struct tw_error *err)
{
    const struct tw_sched_options options = {NULL, note, f};
    struct sched_source source;
    struct tw_sched_code *code = NULL;

    memset(f, 0, sizeof *f);
    assert_int_equal(sched_source_split(text, &source), 0);
    int result = tw_schedule(source.lines, source.n, &options, &code, err);
    tw_sched_free(code);
    sched_source_free(&source);
    return result;
}

static void right(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "// nothing but this\n\n",
        ".reg r %a, %b\n movi %a, #1; movi %b, #0x10 // two on a line\n add %a, %a, %b\n",
        ".reg x %v = x3\n.reg p %p\n.in %p = p7\n vld %v.l, [%p], #32 @in:0\n vld %v.h, [%p], #32 @ in : 1\n",
        ".reg d3 %walk\n.reg p %p\n.reg wl %w\n.in %walk = d1, %p = p0\n vlda.3d %w, [%p], %walk\n",
        ".reg cm %c\n.in %c = cm2\n.reg bm %b\n vmov %b, %c.l\n vmov %c.h, %b\n",
        "start: .reg r %a\n.in %a = r3\n add %a, %a, #-1\n jnz %a, #start\n",
        ".keep r0, x3, p6\n.reg r %a\n movi %a, #2\n.out %a = r1\n",
        ".reg r %n, %a\n.in %n = r0\n.loop %n least=3 multiple=2 independent=x,y\n movi %a, #1\n.endloop\n",
        ".reg r %c\n movi %c, #1\n mov r27, %c\n sel.eqz %c, %c, %c, r27\n",
        ".reg p %p\n.reg r %a, %b\n movi %a, #1\n movxm %p, #end\n jnzd %b, %a, %p\nend:\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct faults f;
        struct tw_error err = {0, ""};
        int code = schedule(texts[i], &f, &err);
        if (code != 0)
            fail_msg("\"%s\": code %d, %s", texts[i], code, err.text);
    }
}

static void wrong(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        size_t column;
        const char *sentence; /* a part of it */
    } texts[] = {
        {" add %a, %a, %a", 1, 5, "%a is no symbolic register"},
        {".reg z %a", 1, 5, "\"z\" is no kind of register"},
        {".reg r a", 1, 7, "expected the name of a symbolic register"},
        {".reg r %a, %a", 1, 11, "%a is declared already"},
        {".reg r %a %b", 1, 10, "expected \",\""},
        {".reg r %a = x0", 1, 10, "x0 is no register of kind r"},
        {".reg r %a = q99", 1, 12, "\"q99\" is no register"},
        {".in %a = r0", 1, 4, "%a is no symbolic register"},
        {".reg r %a\n.in %a", 2, 6, "expected \"=\""},
        {".reg r %a = r3\n.in %a = r3", 2, 4, "needs no place"},
        {".keep 7", 1, 6, "\"7\" is no register"},
        {".reg x %x\n vmov %x.q, %x", 2, 6, "a register of kind x has no part \"q\""},
        {".reg r %a\n add %a, %a, r0", 2, 1, "%a, or a part of it, is read before it is written"},
        {".reg x %x\n.reg r %a\n movi %a, #1\n vbcst.32 %x, %a\n vmov %x.l, %a", 5, 12, "expected one of"},
        {".reg r %a\n movi %a, #1 @t", 2, 14, "only operations that access memory have tags"},
        {".reg p %p\n.reg r %a\n.in %p = p0\n lda %a, [%p], #4 @", 4, 19, "expected the name of an alias tag"},
        {".reg p %p\n.reg r %a\n.in %p = p0\n lda %a, [%p], #4 @t:", 4, 21, "expected the name of a bank"},
        {".reg d %d\n.reg p %p\n.reg wl %w\n.in %d = d0, %p = p0\n vlda.3d %w, [%p], %d", 5, 1,
         "%d is of kind d; this"},
        {".reg d3 %d\n.reg p %p\n.reg wl %w\n.in %d = d0, %p = p0\n vld.2d %w, [%p], %d", 5, 1,
         "%d is of kind d3; this"},
        {" nopa", 1, 1, "nops are the scheduler's business"},
        {" jl #0x100", 1, 1, "cannot call"},
        {" movxm LC, #3", 1, 1, "LC, LS and LE are the scheduler's"},
        {" movxm LS, #0x20", 1, 1, "LC, LS and LE are the scheduler's"},
        {" movxm LE, #0x90", 1, 1, "LC, LS and LE are the scheduler's"},
        /* what they hold is the schedule's, too */
        {".loop 40\n mov r0, LC\n movi r1, #1\n.endloop", 2, 1, "LC, LS and LE are the scheduler's"},
        {" mov r1, LS", 1, 1, "LC, LS and LE are the scheduler's"},
        {".reg r %a\n mov %a, LE", 2, 1, "LC, LS and LE are the scheduler's"},
        {".loop 3\n.loop 4\n.endloop\n movi r0, #1\n.endloop", 2, 6, "a loop inside the loop of line 1"},
        {".loop 3\nhere:\n movi r0, #1\n.endloop", 2, 0, "cannot hold a label"},
        {".loop 3\n ret lr\n movi r0, #1\n.endloop", 2, 1, "cannot hold a branch"},
        {".loop 3\n.endloop", 2, 8, "the loop is empty"},
        {".endloop", 1, 8, "no loop is open"},
        {".loop 3", 1, 0, "has no .endloop"},
        {".loop 0\n", 1, 6, "0 is not between 1 and"},
        {".loop\n", 1, 5, "expected a number"},
        {".loop %n\n", 1, 6, "%n is no symbolic register of kind r"},
        {".loop 3 most=4", 1, 8, "expected least=, multiple= or independent="},
        {".loop 3 least=x", 1, 14, "is no number"},
        {"a:\na:", 2, 0, "the label a is there already"},
        {"0: ret lr", 1, 0, "0: a label begins with a letter or _"},
        {".data", 1, 0, ".data is no directive of scheduled code"},
        {"add", 1, 3, "expected one of r0 .. r31, not nothing"},
        {" vld %x, [p0], #32", 1, 5, "%x is no symbolic register"},
        {".reg r %a\n movi %a, #zero", 2, 10, "is no number"},
        {".reg r %a\n movi %a, #1 ; ; ", 2, 15, "expected an operation"},
        {".reg r %a\n.out %a = r0\n", 2, 5, "not written on every way"},
        {".reg r %i\n.reg x %x\n.in %i = r3, %x = x0\n vextract.s32 %i, %x, %i", 4, 1,
         "%i is in r3, by .in, which does not fit all its uses"},
        /* one value in two registers, and two values in one */
        {".reg r %a\n.in %a = r1\n.out %a = r2\n add %a, %a, #1", 3, 5,
         "%a comes in r1 and must be in r2 at the end, but its value stays in one register"},
        {".reg r %a, %b\n.in %a = r1\n.out %a = r2\n add %b, %a, #1", 3, 5, "%a comes in r1 and must be in r2"},
        {".reg p %a\n.reg r %n, %v\n.in %a = p1, %n = r0\n.out %a = p2\n.loop %n\n lda %v, [%a], #4\n.endloop", 4, 5,
         "%a comes in p1 and must be in p2"},
        {".reg r %a, %b\n.in %a = r1, %b = r1\n add %a, %a, %b", 2, 13,
         "%b cannot be in r1: %a is there already, by .in"},
        {".reg wl %a\n.reg x %b\n.in %b = x3\n.in %a = wl3", 4, 4, "%a cannot be in wl3: %b is there already, by .in"},
        {".reg r %a, %b\n.out %a = r1\n.out %b = r1", 3, 5, "%b cannot be in r1: %a is there already, by .out"},
        {".reg r %a\n.in %a = r1\n.in %a = r2", 3, 4, "%a is in r1 already, by .in"},
        /* what must not be touched */
        {".reg r %a\n.in %a = r1\n.keep r1\n add %a, %a, #1", 4, 1,
         "%a is written here; it is in r1, by .in, which must not be touched by .keep"},
        {".reg r %a\n.out %a = r1\n.keep r1\n movi %a, #1", 4, 1, "it is in r1, by .out"},
        {".keep r1\n movi r1, #1", 2, 1, "r1 is written here, and must not be touched by .keep"},
        {".reg r %c = r27\n.keep r27\n movi %c, #1", 3, 1, "r27 is written here"},
        {".keep x3\n vlda wl3, [p0, #0]", 2, 1, "wl3 is written here"},
        {".keep wl3\n vbcst.32 x3, r0", 2, 1, "x3 is written here"},
        {".keep LC\n.reg r %a\n.loop 40\n movi %a, #1\n.endloop", 3, 0, "LC is written here"},
        /* no faults that only follow */
        {".reg r %a\n.loop\n movi %a, #1\n.endloop", 2, 5, "expected a number"},
        {".reg r %a\n.loop 3\n.loop 4\n movi %a, #1\n.endloop\n.endloop", 3, 6, "a loop inside the loop of line 2"},
        {".reg r %a\n ret lr\n add r0, %a, r0", 3, 1, "no way leads to this operation"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct faults f;
        struct tw_error err = {0, ""};
        int code = schedule(texts[i].text, &f, &err);
        int told = strstr(f.text, texts[i].sentence) != NULL && strstr(err.text, texts[i].sentence) != NULL;
        if (code != TW_E_FORMAT || !told || f.n != 1 || f.line != texts[i].line || f.column != texts[i].column)
            fail_msg("\"%s\": code %d, line %u column %zu, \"%s\" (%s), %u faults", texts[i].text, code, f.line,
                     f.column, f.text, err.text, f.n);
    }
}

/* Two values that need one register at the same time, whatever the schedule: said with the place and both names. */
static void wants_that_meet(void **state)
{
#define LOOP "\n.loop %n least=4\n lda %m, [%a], #4 @x\n"
    static const struct {
        const char *text;
        unsigned line;
        size_t column;
        const char *sentence;
    } texts[] = {
        {".reg p %a\n.reg r %n, %m, %s\n.in %n = r0, %a = p0, %s = r1\n.out %m = r1" LOOP " add %s, %s, %m\n.endloop\n"
         " st %s, [%a, #0]",
         4, 5, "%m must be in r1 (by .out) while %s is in it (by .in): give one of them another"},
        {".reg p %a\n.reg r %n, %m, %s\n.in %n = r0, %a = p0, %s = r1\n.out %m = r1" LOOP
         " st %s, [%a, #32] @y\n.endloop",
         4, 5, "%m must be in r1 (by .out) while %s is in it (by .in)"},
        {".reg p %a\n.reg r %n, %m\n.in %n = r0, %a = p0\n.out %m = r1\n movi r1, #1" LOOP " st r1, [%a, #32] @y\n"
         ".endloop",
         4, 5, "%m must be in r1 (by .out), which the text itself uses at the same time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct faults f;
        struct tw_error err = {0, ""};
        int code = schedule(texts[i].text, &f, &err);
        if (code != TW_E_LIMIT || strstr(f.text, texts[i].sentence) == NULL || f.n != 1 || f.line != texts[i].line ||
            f.column != texts[i].column || err.code != TW_E_LIMIT || strstr(err.text, texts[i].sentence) == NULL)
            fail_msg("\"%s\": code %d, line %u column %zu, \"%s\" (%s)", texts[i].text, code, f.line, f.column, f.text,
                     err.text);
    }
}

static void goes_on_behind_a_fault(void **state)
{
    struct faults f;
    struct tw_error err = {0, ""};

    (void)state;
    assert_int_equal(schedule(".reg r %a\n bad\n movi %a, #1\n worse %a\n.loop 2\n movi %b, #2\n.endloop\n", &f, &err),
                     TW_E_FORMAT);
    assert_true(f.n >= 3);
    assert_int_equal(f.line, 2);
    assert_non_null(strstr(err.text, "source:2:2: "));
}

/* Cut at any place, and with any character changed, a text is taken or told about. */
static void mangled(void **state)
{
    static const char text[] =
        ".reg r %n, %t\n.reg p %p\n.reg x %v\n.in %n = r0, %p = p0\n.keep r5\nagain: movi %t, #-3\n"
        ".loop %n least=4 multiple=2 independent=a\n vld %v.l, [%p], #32 @a:0\n"
        " vst %v.l, [%p, #0] @a:1\n.endloop\n jnz %t, #again\n ret lr\n";
    static const char marks[] = "%.@:,;=#[] \n0r";

    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i++)
        for (size_t m = 0; m <= sizeof marks; m++) {
            char copy[sizeof text];
            struct faults f;
            struct tw_error err = {0, ""};
            memcpy(copy, text, sizeof text);
            copy[i] = m < sizeof marks ? marks[m] : (char)0xff;
            int code = schedule(copy, &f, &err);
            assert_true(code == 0 || code == TW_E_FORMAT || code == TW_E_LIMIT);
            if (code != 0)
                assert_true(err.text[0] != '\0');
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right), cmocka_unit_test(wrong),
                                       cmocka_unit_test(wants_that_meet), cmocka_unit_test(goes_on_behind_a_fault),
                                       cmocka_unit_test(mangled)};
    return cmocka_run_group_tests_name("sched_text", tests, NULL, NULL);
}
