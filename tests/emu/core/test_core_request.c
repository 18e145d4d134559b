/* What the core asks others for, when, and that waiting freezes the pipeline. */
#include "emu/core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define WAIT ".rept 12\n nop\n.endr\n"

static struct machine *make(const char *text)
{
    static char whole[8192];

    snprintf(whole, sizeof whole, ".foreign\n.text\n%s\n" WAIT " done\n", text);
    return machine_make(whole, 0, NULL);
}

/* Runs up to the next request. */
static const struct tw_core_request *ask(struct machine *m, enum tw_core_request_kind kind)
{
    enum tw_core_state state = machine_run(m, 10000);

    if (state == TW_CORE_FAILED)
        fail_msg("%s", m->err.text);
    assert_int_equal(state, TW_CORE_REQUEST);
    /* It stays until it is answered. */
    assert_int_equal(machine_run(m, 10000), TW_CORE_REQUEST);
    const struct tw_core_request *r = tw_core_request(m->core);
    assert_int_equal(r->kind, kind);
    assert_int_equal(r->cycle, tw_core_clock(m->core));
    return r;
}

static void answer(struct machine *m, uint64_t after, int success, int last, uint32_t data)
{
    struct tw_core_answer a = {
        .cycle = tw_core_clock(m->core) + after, .success = (uint8_t)success, .last = (uint8_t)last};

    for (unsigned i = 0; i < 16; i++)
        a.data[i] = data + i;
    tw_core_answer(m->core, &a);
}

/* ---- locks */

static void locks(void **state)
{
    (void)state;
    struct machine *m =
        make(" mova r0, #-1\n mova r1, #1\n mova r2, #50\n acq #48, r0\n nop\n rel r2, r1\n rel #15, r0");
    const struct tw_core_request *r = ask(m, TW_REQUEST_ACQUIRE);
    assert_int_equal(r->lock, 48);
    assert_int_equal(r->value, -1);
    assert_int_equal(r->cycle, 4); /* cycle 2 of the bundle of cycle 3 */
    answer(m, 100, 1, 0, 0);
    r = ask(m, TW_REQUEST_RELEASE);
    assert_int_equal(r->lock, 50);
    assert_int_equal(r->value, 1);
    assert_int_equal(r->cycle, 106);
    answer(m, 0, 1, 0, 0);
    r = ask(m, TW_REQUEST_RELEASE);
    assert_int_equal(r->lock, 15);
    assert_int_equal(r->value, -1);
    answer(m, 0, 1, 0, 0);
    machine_finish(m);
    assert_int_equal(tw_core_counts(m->core).request_stalls, 100);
    machine_free(m);
}

static void conditions_of_locks_are_a_choice(void **state)
{
    (void)state;
    for (int when_zero = 0; when_zero < 2; when_zero++) {
        struct tw_unknown unknown = tw_unknown_defaults;
        unknown.cond_lock_when_zero = when_zero;
        struct machine *m = machine_make(".foreign\n.text\n mova r0, #1\n mova r26, #0\n rel.cond #5, r0, r26\n nop\n"
                                         " mova r26, #9\n rel.cond #6, r0, r26\n" WAIT " done\n",
                                         0, &unknown);
        assert_int_equal(ask(m, TW_REQUEST_RELEASE)->lock, when_zero ? 5 : 6);
        answer(m, 0, 1, 0, 0);
        machine_finish(m);
        machine_free(m);
    }
}

/* At the distances that AMD's compiler keeps, an access before a lock operation is over when the core asks, and one
 * behind it has not begun. */
static void accesses_keep_clear_of_locks(void **state)
{
    static const struct {
        const char *access;
        unsigned first, last;
    } cases[] = {{"st r1, [p0, #0]", 5, 5}, {"st.s8 r1, [p0, #0]", 5, 11}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 " movxm p0, #0x70000\n mova r0, #-1\n mova r1, #77\n %s\n.rept %d\n nop\n.endr\n acq #48, r0\n"
                 ".rept %d\n nop\n.endr\n padda [p0], #4\n %s",
                 cases[i].access, tw_distance_to_lock((int)cases[i].last) - 1,
                 tw_distance_from_lock((int)cases[i].first) - 2, cases[i].access);
        struct machine *m = make(text);
        ask(m, TW_REQUEST_ACQUIRE);
        assert_int_equal(machine_memory(m, 0), 77);
        assert_int_equal(machine_memory(m, 4), 0);
        m->memory[TW_WINDOW_OWN][5] = 1; /* what another does meanwhile counts */
        answer(m, 3, 1, 0, 0);
        machine_finish(m);
        assert_int_equal(machine_memory(m, 4), cases[i].last == 5 ? 77 : 77 + 256);
        machine_free(m);
    }
}

/* ---- streams */

static void stream_reads(void **state)
{
    (void)state;
    struct machine *m =
        make(" mov r0, SS\n nop\n nop\n nop\n nop\n nop\n nop\n mov r1, srSS0\n mov r4, r0\n mov r5, srSS0\n"
             " mov.nb r2, SS\n" WAIT " mov r6, srSS0");
    const struct tw_core_request *r = ask(m, TW_REQUEST_STREAM_READ);
    assert_int_equal(r->blocking, 1);
    assert_int_equal(r->words, 1);
    answer(m, 20, 1, 1, 0x12345678);
    r = ask(m, TW_REQUEST_STREAM_READ);
    assert_int_equal(r->blocking, 0);
    answer(m, 0, 0, 0, 0);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r0), 0x12345678);
    assert_int_equal(machine_word(m, TW_R_r1), 0); /* lands in cycle 8: one bundle later */
    assert_int_equal(machine_word(m, TW_R_r4), 0x12345678);
    assert_int_equal(machine_word(m, TW_R_r5), 3); /* success, tlast */
    assert_int_equal(machine_word(m, TW_R_r6), 0);
    machine_free(m);
}

static void stream_writes(void **state)
{
    static const struct {
        const char *text;
        uint32_t word;
        int blocking, last;
    } cases[] = {{"mov ms, r0", 0x123, 1, 0},
                 {"mov.tlast ms, r0", 0x123, 1, 1},
                 {"mov ms, r0, r28", 0x123, 1, 1},
                 {"mov.nb ms, p0", 0x70000, 0, 0},
                 {"mov.nb.tlast ms, r0", 0x123, 0, 1},
                 {"mov.nb ms, r0, r28", 0x123, 0, 1},
                 /* address 0x5a4, 3 beats, operation 1, id 9; 11 bits and parity make an odd number of ones */
                 {"mov.cph ms, m1, #2, #1, r1", 0x096005a4, 1, 0},
                 {"mov.cph.tlast ms, m1, #2, #1, r2", 0x886005a4, 1, 1},
                 {"mov.cph.nb ms, m1, #2, #1, r1, r28", 0x096005a4, 0, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 " movxm r0, #0x123\n movxm p0, #0x70000\n mova r28, #1\n movxm m1, #0x5a4\n mova r1, #9\n mova r2, "
                 "#8\n %s\n"
                 " nop\n nop\n mov r3, srMS0",
                 cases[i].text);
        struct machine *m = make(text);
        const struct tw_core_request *r = ask(m, TW_REQUEST_STREAM_WRITE);
        if (r->data[0] != cases[i].word || r->blocking != cases[i].blocking || r->last != cases[i].last ||
            r->words != 1)
            fail_msg("%s: word %#x, blocking %d, last %d", cases[i].text, (unsigned)r->data[0], r->blocking, r->last);
        answer(m, 1, 1, 0, 0);
        machine_finish(m);
        assert_int_equal(machine_word(m, TW_R_r3), !cases[i].blocking);
        machine_free(m);
    }
}

/* Several of one bundle come up one after the other, and those of earlier bundles before. */
static void requests_keep_their_order(void **state)
{
    (void)state;
    struct machine *m = make(" mova r0, #5\n mov ms, r0\n mov r1, SS; mov ms, r0");
    assert_int_equal(ask(m, TW_REQUEST_STREAM_WRITE)->data[0], 5);
    answer(m, 2, 1, 0, 0);
    unsigned seen = 0;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(machine_run(m, 10000), TW_CORE_REQUEST);
        seen |= 1u << tw_core_request(m->core)->kind;
        answer(m, 0, 1, 0, 9);
    }
    assert_int_equal(seen, 1u << TW_REQUEST_STREAM_READ | 1u << TW_REQUEST_STREAM_WRITE);
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r1), 9);
    machine_free(m);
}

static void the_cascade(void **state)
{
    (void)state;
    struct machine *m = make(" vmov x1, SCD\n" WAIT " vmov MCD, x1\n nop\n movxm crMCDEn, #0\n nop\n vmov MCD, x1");
    assert_int_equal(ask(m, TW_REQUEST_CASCADE_READ)->words, 16);
    answer(m, 7, 1, 0, 1000);
    const struct tw_core_request *r = ask(m, TW_REQUEST_CASCADE_WRITE);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(r->data[i], 1000 + i);
    answer(m, 0, 1, 0, 0);
    assert_int_equal(machine_run(m, 1000), TW_CORE_FAILED);
    assert_non_null(strstr(m->err.text, "crMCDEn"));
    machine_free(m);
}

static void the_tile_and_events(void **state)
{
    (void)state;
    struct machine *m = make(" movxm p0, #0xb1f00\n mova r0, #17\n lda.tm r1, [p0]\n st.tm r0, [p0]\n event #2\n" WAIT
                             " movxm p0, #0x70000\n lda.tm r2, [p0]");
    const struct tw_core_request *r = ask(m, TW_REQUEST_EVENT);
    assert_int_equal(r->lock, 2);
    answer(m, 0, 1, 0, 0);
    r = ask(m, TW_REQUEST_TILE_READ);
    assert_int_equal(r->address, 0x31f00);
    answer(m, 30, 1, 0, 4321);
    r = ask(m, TW_REQUEST_TILE_WRITE);
    assert_int_equal(r->address, 0x31f00);
    assert_int_equal(r->data[0], 17);
    answer(m, 0, 1, 0, 0);
    assert_int_equal(machine_run(m, 1000), TW_CORE_FAILED);
    assert_int_equal(machine_word(m, TW_R_r1), 4321);
    machine_free(m);
}

/* ---- stalls */

/* While the core waits nothing moves: distances count bundles, not cycles. */
static void waiting_freezes_the_pipeline(void **state)
{
    (void)state;
    for (unsigned wait = 0; wait < 30; wait += 29) {
        struct machine *m =
            make(" movxm p0, #0x70000\n mova r0, #1\n mova r1, #-1\n lda r0, [p0, #0]\n acq #48, r1\n nop\n nop\n"
                 " nop\n nop\n mov r2, r0\n mov r3, r0");
        machine_store(m, 0, 99);
        ask(m, TW_REQUEST_ACQUIRE);
        answer(m, wait, 1, 0, 0);
        machine_finish(m);
        assert_int_equal(machine_word(m, TW_R_r2), 1);
        assert_int_equal(machine_word(m, TW_R_r3), 99);
        machine_free(m);
    }
}

/* Two accesses of one cycle to one bank, by their distance in bytes; and what it costs. */
static void banks_take_turns(void **state)
{
    static const struct {
        const char *text;
        unsigned stalls;
    } cases[] = {{"vlda wl0, [p0, #0]; vldb wl1, [p1, #0]", 1},   /* the same 16 KiB */
                 {"vlda wl0, [p0, #0]; vldb wl1, [p2, #0]", 0},   /* another 16 KiB */
                 {"vlda wl0, [p0, #0]; vldb wl1, [p4, #0]", 0},   /* another tile's memory */
                 {"lda r0, [p0, #0]; vldb.128 wl1, [p1], m0", 1}, /* the same 16 bytes of 32 */
                 {"lda r0, [p0, #0]; vldb.128 wl1, [p3], m0", 0}, /* the other 16 bytes */
                 {"vlda wl0, [p0, #0]; vldb wl1, [p1, #0]; vst wl2, [p0, #0]", 2},
                 {"vlda wl0, [p0, #0]; vldb wl1, [p2, #0]; vst wl2, [p0, #0]", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            " movxm p0, #0x70000\n movxm p1, #0x70040\n movxm p2, #0x74000\n movxm p3, #0x70010\n movxm p4, #0x60000\n"
            " movxm m0, #32\n %s",
            cases[i].text);
        struct machine *m = make(text);
        machine_finish(m);
        struct tw_core_counts counts = tw_core_counts(m->core);
        if (counts.bank_stalls != cases[i].stalls)
            fail_msg("%s: %u stalls", cases[i].text, (unsigned)counts.bank_stalls);
        machine_free(m);
    }
}

static void stalls_count_in_the_clock(void **state)
{
    (void)state;
    struct machine *m =
        make(" movxm p0, #0x70000\n vlda wl0, [p0, #0]; vldb wl1, [p0, #0]\n nop\n nop\n nop\n nop\n mov l0, cntr\n"
             " mov l1, cntr");
    machine_finish(m);
    assert_int_equal(machine_word(m, TW_R_r16), 7); /* bundle 6, one stall before it */
    assert_int_equal(machine_word(m, TW_R_r18), 8);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(locks),
                                       cmocka_unit_test(conditions_of_locks_are_a_choice),
                                       cmocka_unit_test(accesses_keep_clear_of_locks),
                                       cmocka_unit_test(stream_reads),
                                       cmocka_unit_test(stream_writes),
                                       cmocka_unit_test(requests_keep_their_order),
                                       cmocka_unit_test(the_cascade),
                                       cmocka_unit_test(the_tile_and_events),
                                       cmocka_unit_test(waiting_freezes_the_pipeline),
                                       cmocka_unit_test(banks_take_turns),
                                       cmocka_unit_test(stalls_count_in_the_clock)};
    return cmocka_run_group_tests_name("core requests", tests, NULL, NULL);
}
