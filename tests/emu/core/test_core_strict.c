/* Strict mode: what the exposed pipeline does not forgive is an error that says where; declared reads are none. Without
 * it the same programs run. */
#include "base/random.h"
#include "emu/core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define WAIT ".rept 12\n nop\n.endr\n"

/* Runs a text that the assembler takes as foreign. Returns the state. */
static enum tw_core_state run(const char *text, int flags, struct tw_error *err)
{
    static char whole[8192];

    snprintf(whole, sizeof whole,
             ".foreign\n.text\n movxm p0, #0x70000\n mova r0, #1\n mova r1, #2\n mova r3, #0\n%s\n" WAIT " done\n",
             text);
    struct machine *m = machine_make(whole, flags, NULL);
    enum tw_core_state state = machine_run(m, 2000);
    *err = m->err;
    machine_free(m);
    return state;
}

static void hazards_are_errors(void **state)
{
    static const struct {
        const char *text, *sentence;
        int plain; /* state without strict mode */
    } cases[] = {
        {" lda r0, [p0, #0]\n add r2, r0, r0", "'add r2, r0, r0': it reads r0 6 bundles before its value has landed",
         TW_CORE_DONE},
        {" lda r0, [p0, #0]\n nop\n nop\n nop\n nop\n nop\n add r2, r0, r0", "it reads r0 1 bundles before",
         TW_CORE_DONE},
        {" mul r4, r0, r1\n mov r5, r4", "it reads r4 1 bundles before", TW_CORE_DONE},
        {" mov r5, r9", "it reads r9, which nothing has written", TW_CORE_DONE},
        {" vst wl3, [p0, #0]", "it reads wl3, which nothing has written", TW_CORE_DONE},
        /* the slow result would replace the later one */
        {" lda r0, [p0, #0]\n mova r0, #3", "it writes r0 before an earlier operation's result lands", TW_CORE_DONE},
        {" mov.d3 r5, r0\n nop\n mov.d1 r5, r1", "it writes r5 in the cycle in which", TW_CORE_DONE},
        /* the data of a part-word store are read in cycle 7 */
        {" st.s8 r0, [p0, #0]\n nop\n mova r0, #3", "it writes r0 before an earlier operation has read it",
         TW_CORE_DONE},
        /* the write port of r in the lda slot, in cycle 7 and cycle 1 */
        {" lda r4, [p0, #0]\n nop\n nop\n nop\n nop\n nop\n mova r5, #3", "R_WA_PORT", TW_CORE_DONE},
        {" st.s8 r0, [p0, #0]\n nop\n lda r4, [p0, #0]", "PART_WORD_STORE", TW_CORE_DONE},
        {" movxm p1, #0x70002\n lda r4, [p1, #0]", "it accesses 4 bytes at 0x70002, which is not a multiple of 4",
         TW_CORE_DONE},
        {" movxm p1, #0x70010\n vlda wl4, [p1, #0]", "it accesses 32 bytes at 0x70010", TW_CORE_DONE},
        {" movxm p1, #0x80000\n lda r4, [p1, #0]", "it accesses 0x80000, where the core has no memory", TW_CORE_FAILED},
        {" movxm p1, #0x3fff0\n lda r4, [p1, #0]", "where the core has no memory", TW_CORE_FAILED},
        {" movxm p1, #0x28\n j p1\n nop\n nop\n nop\n nop\n nop", "target 0x00028 is not a multiple of 16",
         TW_CORE_DONE},
        {" movxm p1, #0x4000\n j p1\n nop\n nop\n nop\n nop\n nop", "no program memory at this address",
         TW_CORE_FAILED},
        {" j #0\n j #0\n nop\n nop\n nop\n nop\n nop", "a jump in the delay slots of another is not modelled",
         TW_CORE_FAILED},
        {" movxm LC, #2\n movxm LS, #here\n movxm LE, #here\n nop\n.align 16\nhere: nopb; nopa; nops; nopx; nopm; nopv",
         "behind the setting of LC, LS or LE", TW_CORE_DONE},
        {" mov.ph ms, r0, #1", "not modelled", TW_CORE_FAILED},
        {" vmov.hi cm0, SCD", "not modelled", TW_CORE_FAILED},
    };
    struct tw_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum tw_core_state strict = run(cases[i].text, MACHINE_STRICT, &err);
        if (strict != TW_CORE_FAILED || strstr(err.text, cases[i].sentence) == NULL ||
            strstr(err.text, "core (0, 2)") == NULL)
            fail_msg("%s: state %d, \"%s\"", cases[i].text, strict, strict == TW_CORE_FAILED ? err.text : "");
        enum tw_core_state plain = run(cases[i].text, 0, &err);
        if ((int)plain != cases[i].plain)
            fail_msg("%s: state %d without strict mode, \"%s\"", cases[i].text, plain,
                     plain == TW_CORE_FAILED ? err.text : "");
    }
}

/* The accumulator is taken as zero: nobody has to have written it. */
static const char zero_accumulator[] = " vbcst.32 x0, r0\n nop\n movxm r5, #777\n"
                                       " vmac cm0, cm0, x0, x0, r5\n nop\n vmac cm0, cm0, x0, x0, r5";

static void in_time_is_no_error(void **state)
{
    static const char *const texts[] = {
        " lda r0, [p0, #0]\n nop\n nop\n nop\n nop\n nop\n nop\n add r2, r0, r0",
        " mul r4, r0, r1\n nop\n mov r5, r4",
        /* a bypass brings it one bundle sooner */
        " vbcst.32 x0, r0\n vadd.32 x1, x0, x0\n nop\n nop\n vst wl1, [p0, #0]",
        " st.s8 r0, [p0, #0]\n nop\n nop\n nop\n nop\n nop\n mova r2, #3\n mova r0, #3",
        zero_accumulator,
    };
    struct tw_error err;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (run(texts[i], MACHINE_STRICT, &err) != TW_CORE_DONE)
            fail_msg("%s: %s", texts[i], err.text);
    /* without the bypass it is too soon */
    assert_int_equal(run(" vbcst.32 x0, r0\n vst wl0, [p0, #0]", MACHINE_STRICT, &err), TW_CORE_FAILED);
}

/* The error names the core, the address, the cycle and the instruction. */
static void errors_say_where(void **state)
{
    struct tw_error err;

    (void)state;
    assert_int_equal(run(" nop\n movxm p1, #0\n lda r4, [p1, #8]", 0, &err), TW_CORE_FAILED);
    /* The load is bundle 6, at 0x1a, and accesses memory four cycles later. */
    assert_non_null(strstr(err.text, "core (0, 2), address 0x0001a, cycle 10, 'lda r4, [p1, #8]': "));
}

static void failures_stay_until_a_reset(void **state)
{
    struct machine *m = machine_make(".foreign\n.text\n mov r1, r0\n done\n", MACHINE_STRICT, NULL);

    (void)state;
    assert_int_equal(machine_run(m, 100), TW_CORE_FAILED);
    assert_int_equal(tw_core_pc(m->core), 0);
    m->err.text[0] = '\0';
    assert_int_equal(machine_run(m, 100), TW_CORE_FAILED);
    assert_non_null(strstr(m->err.text, "r0"));
    tw_core_reset(m->core);
    machine_set(m, TW_R_r0, 5);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r1), 5);
    machine_free(m);
}

/* The program counter tells the bundle at fault, whether it fails at its issue or later. */
static void failures_tell_their_bundle(void **state)
{
    static const char *const texts[] = {" nop\n mov r1, r0\n nop\n nop\n done\n",
                                        " nop\n lda r1, [p0, #0]\n nop\n nop\n nop\n nop\n nop\n done\n",
                                        " nop\n mov.ph ms, r2, #1\n nop\n nop\n done\n"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char whole[512];
        snprintf(whole, sizeof whole, ".foreign\n.text\n%s", texts[i]);
        struct machine *m = machine_make(whole, i == 0 ? MACHINE_STRICT : 0, NULL);
        assert_int_equal(machine_run(m, 100), TW_CORE_FAILED);
        assert_int_equal(tw_core_pc(m->core), 2);
        machine_free(m);
    }
}

/* An operation that is not modelled fails at its issue. */
static void unknown_operations_tell_their_bundle(void **state)
{
    struct machine *m =
        machine_make(".foreign\n.text\n movxm r0, #0x104\n vmul cm0, x0, x0, r0\n nop\n done\n", 0, NULL);

    (void)state;
    assert_int_equal(machine_run(m, 100), TW_CORE_FAILED);
    assert_non_null(strstr(m->err.text, "not modelled"));
    assert_non_null(strstr(m->err.text, "vmul"));
    uint32_t pc = tw_core_pc(m->core);
    assert_true(pc > 0 && pc <= 10);
    char expected[64];
    snprintf(expected, sizeof expected, "address 0x%05x", (unsigned)pc);
    assert_non_null(strstr(m->err.text, expected));
    machine_free(m);
}

/* What a program declares is no error, in this bundle and for this register only. */
static void declared_reads_are_no_errors(void **state)
{
    static const char text[] = ".text\n movxm p0, #0x70000\n mova r0, #1\n mova r1, #1\n lda r0, [p0, #0]\n"
                               ".old r0\n mov r2, r0\n nop\n nop\n nop\n nop\n nop\n mov r3, r0\n done\n";

    (void)state;
    struct machine *m = machine_make(text, MACHINE_STRICT, NULL);
    machine_store(m, 0, 55);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r2), 1);
    assert_int_equal(machine_word(m, TW_R_r3), 55);
    machine_free(m);
    uint16_t wrong = TW_R_COUNT;
    m = machine_make(text, MACHINE_STRICT, NULL);
    assert_int_equal(tw_core_expect_old(m->core, 0, &wrong, 1), TW_E_ARGUMENT);
    machine_free(m);
}

static void misaligned_accesses_are_a_choice(void **state)
{
    static const char text[] = ".foreign\n.text\n movxm p0, #0x70006\n lda r0, [p0, #0]\n" WAIT " done\n";
    struct tw_unknown unknown = tw_unknown_defaults;

    (void)state;
    struct machine *m = machine_make(text, 0, &unknown);
    machine_store(m, 4, 1234);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r0), 1234);
    machine_free(m);
    unknown.misaligned_is_an_error = 1;
    m = machine_make(text, 0, &unknown);
    assert_int_equal(machine_run(m, 100), TW_CORE_FAILED);
    machine_free(m);
}

/* Random bytes as a program end in an error, a request that is answered, or at the limit. */
static void wild_programs_do_no_harm(void **state)
{
    struct tw_random random = {9};
    struct machine *m = machine_make(".text\n done\n", 0, NULL),
                   *strict = machine_make(".text\n done\n", MACHINE_STRICT, NULL);

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        struct machine *each = i % 2 == 0 ? m : strict;
        uint8_t program[512];
        for (unsigned k = 0; k < sizeof program; k++)
            program[k] = (uint8_t)tw_random_u64(&random);
        tw_core_write_program(each->core, 0, program, sizeof program);
        tw_core_reset(each->core);
        for (unsigned p = TW_R_p0; p <= TW_R_p7; p++)
            machine_set(each, p, 0x70000 + (uint32_t)tw_random_range(&random, 0, 0xffff));
        for (unsigned asked = 0; machine_run(each, 3000) == TW_CORE_REQUEST && asked < 100; asked++) {
            struct tw_core_answer answer = {.cycle = tw_core_clock(each->core) + 1, .success = 1};
            tw_core_answer(each->core, &answer);
        }
    }
    machine_free(m);
    machine_free(strict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hazards_are_errors),
                                       cmocka_unit_test(in_time_is_no_error),
                                       cmocka_unit_test(errors_say_where),
                                       cmocka_unit_test(failures_stay_until_a_reset),
                                       cmocka_unit_test(failures_tell_their_bundle),
                                       cmocka_unit_test(unknown_operations_tell_their_bundle),
                                       cmocka_unit_test(declared_reads_are_no_errors),
                                       cmocka_unit_test(misaligned_accesses_are_a_choice),
                                       cmocka_unit_test(wild_programs_do_no_harm)};
    return cmocka_run_group_tests_name("core strict", tests, NULL, NULL);
}
