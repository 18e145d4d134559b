/* Branches with their delay slots, hardware loops, calls, done. */
#include "emu/core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Adds one to r0 in each of five bundles. */
#define SLOTS ".rept 5\n add r0, r0, #1\n.endr\n"
#define WAIT ".rept 12\n nop\n.endr\n"

static struct machine *run(const char *text, int flags)
{
    static char whole[16384];

    snprintf(whole, sizeof whole, "%s.text\n mova r0, #0\n mova r1, #0\n mova r2, #0\n%s",
             (flags & MACHINE_STRICT) != 0 ? "" : ".foreign\n", text);
    struct machine *m = machine_make(whole, flags, NULL);
    machine_finish(m);
    return m;
}

/* ---- branches */

static void each_branch_has_five_delay_slots(void **state)
{
    static const struct {
        const char *branch;
        unsigned taken;
    } cases[] = {{"j #there", 1},        {"j p0", 1},          {"ret lr", 1},         {"jz r1, #there", 1},
                 {"jnz r1, #there", 0},  {"jz r4, #there", 0}, {"jnz r4, #there", 1}, {"jnzd r5, r1, p0", 0},
                 {"jnzd r5, r4, p0", 1}, {"jl #there", 1},     {"jl p0", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 " movxm p0, #there\n movxm lr, #there\n mova r4, #3\n %s\n" SLOTS ".align 16\n add r2, r2, #1\n" WAIT
                 " done\n.align 16\nthere:\n" WAIT " add r1, r1, #1\n done\n",
                 cases[i].branch);
        /* The assembler asks for aligned returns, which strict mode sees only when they happen. */
        struct machine *m = run(text, cases[i].branch[1] == 'l' ? 0 : MACHINE_STRICT);
        if (machine_word(m, TW_R_r0) != 5 || machine_word(m, TW_R_r1) != cases[i].taken ||
            machine_word(m, TW_R_r2) != !cases[i].taken)
            fail_msg("%s: %u delay slots, %u there, %u behind", cases[i].branch, (unsigned)machine_word(m, TW_R_r0),
                     (unsigned)machine_word(m, TW_R_r1), (unsigned)machine_word(m, TW_R_r2));
        machine_free(m);
    }
}

static void counting_down(void **state)
{
    (void)state;
    struct machine *m =
        run(" movxm p0, #again\n mova r4, #6\n.align 16\nagain:\n jnzd r4, r4, p0\n" SLOTS " done\n", MACHINE_STRICT);
    assert_int_equal(machine_word(m, TW_R_r0), 7 * 5);
    assert_int_equal(machine_word(m, TW_R_r4), 0xffffffff);
    machine_free(m);
}

/* A call within a call; lr is written with the address behind the delay slots, in cycle 4. */
static void calls_return(void **state)
{
    (void)state;
    struct machine *m = run(" jl #outer\n" SLOTS ".align 16\n add r2, r2, #1\n" WAIT " done\n"
                            ".align 16\nouter:\n mov r10, lr\n jl #inner\n" SLOTS
                            ".align 16\n mov lr, r10\n ret lr\n" SLOTS ".align 16\ninner:\n ret lr\n" SLOTS,
                            0);
    assert_int_equal(machine_word(m, TW_R_r0), 20);
    assert_int_equal(machine_word(m, TW_R_r2), 1);
    machine_free(m);
}

static void the_link_lands_in_cycle_4(void **state)
{
    (void)state;
    struct machine *m = run(" movxm lr, #0x1230\n jl #there\n mov r4, lr\n mov r5, lr\n mov r6, lr\n mov r7, lr\n nop\n"
                            "back:\n nop\n.align 16\nthere:\n movxm r8, #back\n nop\n done\n",
                            0);
    assert_int_equal(machine_word(m, TW_R_r4), 0x1230);
    assert_int_equal(machine_word(m, TW_R_r5), 0x1230);
    assert_int_equal(machine_word(m, TW_R_r6), 0x1230);
    assert_int_equal(machine_word(m, TW_R_r7), machine_word(m, TW_R_r8));
    machine_free(m);
}

/* ---- hardware loops */

/* A loop of `bundles` bundles, each adding one to r0, run `count` times; the last is 16 bytes long. */
static struct machine *loop(unsigned bundles, int count, const struct tw_unknown *unknown)
{
    static char text[4096];
    char body[1024] = "";

    for (unsigned i = 0; i + 1 < bundles; i++)
        strcat(body, " add r0, r0, #1\n");
    snprintf(text, sizeof text,
             ".text\n mova r0, #0\n mova r1, #0\n movxm LC, #%d\n movxm LS, #begin\n movxm LE, #end\n"
             ".rept 30\n nopxm\n.endr\n.align 16\nbegin:\n%s.align 16\n"
             "end:\n nopb; nopa; nops; add r0, r0, #1; nopm; nopv\n"
             " add r1, r1, #1\n nop\n done\n",
             count, body);
    return machine_make(text, MACHINE_STRICT, unknown);
}

static void loops_run_their_count(void **state)
{
    static const struct {
        unsigned bundles;
        int count;
    } cases[] = {{1, 1}, {1, 2}, {1, 1000}, {5, 1}, {5, 7}, {9, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine *m = loop(cases[i].bundles, cases[i].count, NULL);
        machine_finish(m);
        assert_int_equal(machine_word(m, TW_R_r0), cases[i].bundles * (unsigned)cases[i].count);
        assert_int_equal(machine_word(m, TW_R_r1), 1);
        assert_int_equal(machine_word(m, TW_R_LC), 0);
        machine_free(m);
    }
}

static void a_count_of_zero_is_a_choice(void **state)
{
    struct tw_unknown unknown = tw_unknown_defaults;

    (void)state;
    struct machine *m = loop(1, 0, &unknown);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r0), 1);
    machine_free(m);
    unknown.loop_count_zero_skips = 1;
    m = loop(1, 0, &unknown);
    assert_int_equal(machine_run(m, 5000), TW_CORE_RUNNING);
    assert_true(machine_word(m, TW_R_r0) > 4000);
    assert_true(machine_word(m, TW_R_LC) > 0xffff0000);
    machine_free(m);
}

/* What is in flight at the end of the body stays so: nothing is flushed. */
static void loads_cross_the_back_edge(void **state)
{
    (void)state;
    struct machine *m =
        machine_make(".foreign\n.text\n movxm p0, #0x70000\n mova r0, #0\n mova r1, #0\n movxm LC, #10\n"
                     " movxm LS, #begin\n movxm LE, #begin\n.rept 30\n nopxm\n.endr\n.align 16\n"
                     "begin:\n nopb; lda r1, [p0], #4; nops; add r0, r0, r1; nopm; nopv\n" WAIT " done\n",
                     0, NULL);
    for (uint32_t i = 0; i < 10; i++)
        machine_store(m, 4 * i, 1u << i);
    machine_finish(m);
    /* The load of iteration i is seen from iteration i + 7 on. */
    assert_int_equal(machine_word(m, TW_R_r0), 1 + 2 + 4);
    assert_int_equal(machine_word(m, TW_R_r1), 512);
    machine_free(m);
}

/* A store of 8 bits in the last bundle of a short loop is lost on the way back, but for the last time. */
static void a_part_word_at_the_end_is_lost(void **state)
{
    static const char text[] = ".foreign\n.text\n movxm p0, #0x70000\n mova r0, #85\n movxm LC, #3\n movxm LS, #begin\n"
                               " movxm LE, #end\n.rept 30\n nopxm\n.endr\n.align 16\nbegin:\n"
                               ".rept 4\n nopb; nopa; nops; nopx; nopm; nopv\n.endr\n"
                               "end:\n nopb; st.s8 r0, [p0], #4; nops; nopx; nopm; nopv\n"
                               ".rept 20\n st.s8 r0, [p0], #4\n.endr\n" WAIT " done\n";
    struct tw_unknown unknown = tw_unknown_defaults;

    (void)state;
    struct machine *m = machine_make(text, 0, &unknown);
    machine_finish(m);
    for (uint32_t i = 0; i < 23; i++) /* those behind the loop are not lost */
        assert_int_equal(machine_memory(m, 4 * i), i >= 2 ? 85 : 0);
    machine_free(m);
    unknown.loop_end_loses_part_words = 0;
    m = machine_make(text, 0, &unknown);
    machine_finish(m);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(machine_memory(m, 4 * i), 85);
    machine_free(m);
    m = machine_make(text, MACHINE_STRICT, NULL);
    assert_int_equal(machine_run(m, 1000), TW_CORE_FAILED);
    assert_non_null(strstr(m->err.text, "lost"));
    machine_free(m);
}

/* ---- the end */

/* Nothing behind done is issued; what is under way before it comes to its end. */
static void done_ends_what_is_under_way(void **state)
{
    (void)state;
    struct machine *m = machine_make(".foreign\n.text\n movxm p0, #0x70000\n mova r0, #7\n mova r1, #0\n"
                                     " st.s8 r0, [p0, #0]\n done\n mova r1, #1\n nop\n nop\n",
                                     0, NULL);
    machine_finish(m);
    assert_int_equal(machine_memory(m, 0), 7);
    assert_int_equal(machine_word(m, TW_R_r1), 0);
    uint64_t clock = tw_core_clock(m->core);
    assert_int_equal(machine_run(m, 100), TW_CORE_DONE);
    assert_int_equal(tw_core_clock(m->core), clock);
    machine_free(m);
}

static void runs_stop_at_their_cycle(void **state)
{
    (void)state;
    struct machine *m =
        machine_make(".text\n.align 16\nbegin:\n j #begin\n nop\n nop\n nop\n nop\n nop\n", MACHINE_STRICT, NULL);
    assert_int_equal(machine_run(m, 1000), TW_CORE_RUNNING);
    assert_int_equal(tw_core_clock(m->core), 1000);
    assert_int_equal(tw_core_counts(m->core).bundles, 1000);
    tw_core_set_clock(m->core, 5000);
    assert_int_equal(tw_core_run(m->core, 4000, NULL), TW_CORE_RUNNING);
    assert_int_equal(tw_core_clock(m->core), 5000);
    machine_free(m);
}

/* New program memory counts at once, also for what was decoded; old parts stay. */
static void programs_can_be_written_again(void **state)
{
    uint8_t bytes[TW_BUNDLE_MAX] = {0};
    struct tw_bundle b = {.slots = 1 << TW_SLOT_LNG, .format = -1};

    (void)state;
    struct machine *m = machine_make(".text\n movxm r0, #1\n nop\n done\n", MACHINE_STRICT, NULL);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r0), 1);
    tw_core_read_program(m->core, 0, bytes, 8);
    struct tw_bundle old;
    int size = tw_bundle_decode(bytes, sizeof bytes, &old, NULL);
    b.op[TW_SLOT_LNG] = (struct tw_operation){TW_I_MOVXM_lng_cg, {TW_R_r0, 2}};
    b.format = old.format;
    assert_int_equal(tw_bundle_encode(&b, bytes, NULL), size);
    assert_int_equal(tw_core_write_program(m->core, 0, bytes, 8), 0);
    tw_core_reset(m->core);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r0), 2);
    assert_int_equal(tw_core_write_program(m->core, 2, bytes, 4), TW_E_ARGUMENT);
    assert_int_equal(tw_core_write_program(m->core, TW_PROGRAM_BYTES, bytes, 4), TW_E_ARGUMENT);
    assert_int_equal(tw_core_write_program(m->core, TW_PROGRAM_BYTES, bytes, 0), 0);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_branch_has_five_delay_slots),
                                       cmocka_unit_test(counting_down),
                                       cmocka_unit_test(calls_return),
                                       cmocka_unit_test(the_link_lands_in_cycle_4),
                                       cmocka_unit_test(loops_run_their_count),
                                       cmocka_unit_test(a_count_of_zero_is_a_choice),
                                       cmocka_unit_test(loads_cross_the_back_edge),
                                       cmocka_unit_test(a_part_word_at_the_end_is_lost),
                                       cmocka_unit_test(done_ends_what_is_under_way),
                                       cmocka_unit_test(runs_stop_at_their_cycle),
                                       cmocka_unit_test(programs_can_be_written_again)};
    return cmocka_run_group_tests_name("core flow", tests, NULL, NULL);
}
