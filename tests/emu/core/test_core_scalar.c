/* Scalar arithmetic, moves, addressing modes, accesses of all widths. */
#include "base/random.h"
#include "emu/core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Runs a text and what is still under way behind it. */
static struct machine *run(const char *text, const struct tw_unknown *unknown, void (*prepare)(struct machine *m))
{
    static char whole[8192];

    snprintf(whole, sizeof whole, ".text\n%s\n.rept 12\n nop\n.endr\n done\n", text);
    struct machine *m = machine_make(whole, MACHINE_STRICT, unknown);
    if (prepare != NULL)
        prepare(m);
    machine_finish(m);
    return m;
}

/* ---- arithmetic */

static void arithmetic(void **state)
{
    static const struct {
        const char *text;
        uint32_t a, b, result;
        int carry; /* -1: the instruction has none */
    } cases[] = {
        {"add r0, r1, r2", 0xffffffff, 1, 0, 1},
        {"add r0, r1, r2", 0x7fffffff, 1, 0x80000000, 0},
        {"add r0, r1, #-3", 2, 0, 0xffffffff, 0},
        {"sub r0, r1, r2", 5, 7, 0xfffffffe, 1},
        {"sub r0, r1, r2", 7, 5, 2, 0},
        {"abs r0, r1", 0x80000000, 0, 0x80000000, 1},
        {"abs r0, r1", 0xfffffffb, 0, 5, 1},
        {"abs r0, r1", 5, 0, 5, 0},
        {"and r0, r1, r2", 0xff00ff00, 0x0ff00ff0, 0x0f000f00, -1},
        {"or r0, r1, r2", 0xff00ff00, 0x0ff00ff0, 0xfff0fff0, -1},
        {"xor r0, r1, r2", 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0, -1},
        {"mul r0, r1, r2", 0x12345678, 0x9abcdef0, 0x242d2080, -1},
        {"eq r0, r1, r2", 3, 3, 1, -1},
        {"ne r0, r1, r2", 3, 3, 0, -1},
        {"lt r0, r1, r2", 0xffffffff, 0, 1, -1},
        {"ltu r0, r1, r2", 0xffffffff, 0, 0, -1},
        {"ge r0, r1, r2", 0xffffffff, 0, 0, -1},
        {"geu r0, r1, r2", 0xffffffff, 0, 1, -1},
        {"eqz r0, r1", 0, 0, 1, -1},
        {"nez r0, r1", 0, 0, 0, -1},
        {"lshl r0, r1, r2", 0x80000001, 4, 0x10, -1},
        {"lshl r0, r1, r2", 0x80000001, 0xfffffffc, 0x08000000, -1},
        {"ashl r0, r1, r2", 0x80000001, 0xfffffffc, 0xf8000000, -1},
        {"ashl r0, r1, r2", 0x40000001, 1, 0x80000002, -1},
        {"clz r0, r1", 0, 0, 32, -1},
        {"clz r0, r1", 0x00010000, 0, 15, -1},
        {"clb r0, r1", 0xffff0000, 0, 16, -1},
        {"clb r0, r1", 0, 0, 32, -1},
        {"extend.s8 r0, r1", 0x12345680, 0, 0xffffff80, -1},
        {"extend.u8 r0, r1", 0x12345680, 0, 0x80, -1},
        {"extend.s16 r0, r1", 0x12348000, 0, 0xffff8000, -1},
        {"extend.u16 r0, r1", 0x12348000, 0, 0x8000, -1},
        {"add.nc r0, r1, #-32", 31, 0, 0xffffffff, -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "movxm r1, #%d\n movxm r2, #%d\n %s", (int)cases[i].a, (int)cases[i].b,
                 cases[i].text);
        struct machine *m = run(text, NULL, NULL);
        if (machine_word(m, TW_R_r0) != cases[i].result ||
            (cases[i].carry >= 0 && machine_word(m, TW_R_srCarry) != (uint32_t)cases[i].carry))
            fail_msg("%s of %#x and %#x: %#x, carry %u", cases[i].text, (unsigned)cases[i].a, (unsigned)cases[i].b,
                     (unsigned)machine_word(m, TW_R_r0), (unsigned)machine_word(m, TW_R_srCarry));
        machine_free(m);
    }
}

/* Sums and differences of two words each, with either meaning of the carry after a subtraction. */
static void carries_chain(void **state)
{
    (void)state;
    for (int borrow = 0; borrow < 2; borrow++) {
        struct tw_unknown unknown = tw_unknown_defaults;
        unknown.subtract_carry_is_borrow = borrow;
        struct machine *m = run("movxm r1, #-1\n mova r2, #1\n mova r3, #7\n mova r4, #2\n"
                                "add r5, r1, r2\n adc r6, r3, r4\n" /* 7:ffffffff + 2:1 = 10:0 */
                                "sub r7, r2, r1\n sbc r8, r3, r4\n" /* 7:1 - 2:ffffffff = 4:2 */
                                "sub r9, r1, r2\n sbc r10, r3, r4", /* 7:ffffffff - 2:1 = 5:fffffffe */
                                &unknown, NULL);
        assert_int_equal(machine_word(m, TW_R_r5), 0);
        assert_int_equal(machine_word(m, TW_R_r6), 10);
        assert_int_equal(machine_word(m, TW_R_r7), 2);
        assert_int_equal(machine_word(m, TW_R_r8), 4);
        assert_int_equal(machine_word(m, TW_R_r9), 0xfffffffe);
        assert_int_equal(machine_word(m, TW_R_r10), 5);
        assert_int_equal(machine_word(m, TW_R_srCarry), !borrow);
        machine_free(m);
    }
}

static void selections(void **state)
{
    (void)state;
    struct machine *m = run("mova r1, #11\n mova r2, #22\n mova r27, #0\n"
                            "sel.eqz r3, r1, r2, r27\n sel.nez r4, r1, r2, r27\n mova r27, #5\n"
                            "sel.eqz r5, r1, r2, r27\n sel.nez r6, r1, r2, r27",
                            NULL, NULL);
    assert_int_equal(machine_word(m, TW_R_r3), 11);
    assert_int_equal(machine_word(m, TW_R_r4), 22);
    assert_int_equal(machine_word(m, TW_R_r5), 22);
    assert_int_equal(machine_word(m, TW_R_r6), 11);
    machine_free(m);
}

static void division(void **state)
{
    struct tw_random random = {4};
    struct machine *m =
        machine_make(".text\n mova r0, #0\n.rept 32\n divs r0, r31, r0, r1\n.endr\n done\n", MACHINE_STRICT, NULL);

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        uint32_t dividend = (uint32_t)tw_random_u64(&random);
        uint32_t divisor = (uint32_t)(tw_random_u64(&random) >> (33 + tw_random_u64(&random) % 31));
        divisor += divisor == 0;
        tw_core_reset(m->core);
        machine_set(m, TW_R_r31, dividend);
        machine_set(m, TW_R_r1, divisor);
        machine_finish(m);
        assert_int_equal(machine_word(m, TW_R_r31), dividend / divisor);
        assert_int_equal(machine_word(m, TW_R_r0), dividend % divisor);
    }
    machine_free(m);
}

/* ---- moves */

static void moves_cut_to_size(void **state)
{
    (void)state;
    struct machine *m =
        run("movxm p0, #-4\n mov r0, p0\n movxm s0, #77\n mov r1, s0\n movxm crRnd, #28\n mov r2, crRnd\n"
            "mov m3, r0\n mov dc2, m3\n mov LC, r0\n mov r3, LC\n mov lr, p0\n mov r4, lr\n"
            "movx crSat, r1\n mov r5, crSat",
            NULL, NULL);
    assert_int_equal(machine_word(m, TW_R_r0), 0xffffc);
    assert_int_equal(machine_word(m, TW_R_r1), 77 & 63);
    assert_int_equal(machine_word(m, TW_R_r2), 28 & 15);
    assert_int_equal(machine_word(m, TW_R_dc2), 0xffffc);
    assert_int_equal(machine_word(m, TW_R_r3), 0xffffc);
    assert_int_equal(machine_word(m, TW_R_r4), 0xffffc);
    assert_int_equal(machine_word(m, TW_R_r5), 77 & 3);
    machine_free(m);
}

static void addresses_extend_their_sign_by_choice(void **state)
{
    struct tw_unknown unknown = tw_unknown_defaults;

    (void)state;
    unknown.address_sign_extends = 1;
    struct machine *m = run("movxm p0, #-4\n mov r0, p0\n movxm m0, #5\n mov r1, m0\n mov p1, p0", &unknown, NULL);
    assert_int_equal(machine_word(m, TW_R_r0), 0xfffffffc);
    assert_int_equal(machine_word(m, TW_R_r1), 5);
    assert_int_equal(machine_word(m, TW_R_p1), 0xffffc);
    machine_free(m);
}

/* Two operations of a bundle that read what the other writes. */
static void bundles_exchange_registers(void **state)
{
    (void)state;
    struct machine *m = run("movxm r1, #111\n movxm r2, #222\n add r1, r2, #0; mov r2, r1\n"
                            "movxm p0, #0x70040\n movxm m0, #0x20\n padda [p0], m0; mov m0, p0",
                            NULL, NULL);
    assert_int_equal(machine_word(m, TW_R_r1), 222);
    assert_int_equal(machine_word(m, TW_R_r2), 111);
    assert_int_equal(machine_word(m, TW_R_p0), 0x70060);
    assert_int_equal(machine_word(m, TW_R_m0), 0x70040);
    machine_free(m);
}

static void the_counter_is_the_clock(void **state)
{
    (void)state;
    struct machine *m = run("nop\n nop\n mov l0, cntr\n nop\n mov l1, cntr", NULL, NULL);
    assert_int_equal(machine_word(m, TW_R_r16), 2);
    assert_int_equal(machine_word(m, TW_R_r17), 0);
    assert_int_equal(machine_word(m, TW_R_r18), 4);
    machine_free(m);
}

/* ---- addressing */

static void number_memory(struct machine *m)
{
    for (uint32_t at = 0; at < 0x1000; at += 4)
        machine_store(m, at, 0x80000000u + at);
}

static void addressing_modes(void **state)
{
    (void)state;
    struct machine *m =
        run("movxm p0, #0x70100\n movxm p1, #0x70200\n movxm dj0, #0x24\n movxm m0, #-8\n movxm SP, #0x70400\n"
            "lda r0, [p0, #-4]\n lda r1, [p0, dj0]\n lda r2, [p1], #12\n lda r3, [p1], m0\n lda r4, [p1, #0]\n"
            "lda r5, [sp, #-32]\n padda [sp], #64\n lda r6, [sp, #8]\n"
            "paddb [p1], #-4\n padds [p1], m0\n mov p2, p1\n nop\n nop\n nop\n",
            NULL, number_memory);
    assert_int_equal(machine_word(m, TW_R_r0), 0x800000fc);
    assert_int_equal(machine_word(m, TW_R_r1), 0x80000124);
    assert_int_equal(machine_word(m, TW_R_r2), 0x80000200);
    assert_int_equal(machine_word(m, TW_R_r3), 0x8000020c);
    assert_int_equal(machine_word(m, TW_R_r4), 0x80000204);
    assert_int_equal(machine_word(m, TW_R_r5), 0x800003e0);
    assert_int_equal(machine_word(m, TW_R_r6), 0x80000448);
    assert_int_equal(machine_word(m, TW_R_SP), 0x70440);
    assert_int_equal(machine_word(m, TW_R_p2), 0x701f8);
    machine_free(m);
}

/* The addresses of a 2D walk of 3 by 2 and a 3D walk of 2 by 2 by 2, one after the other into memory. */
static void walks(void **state)
{
    static const uint32_t flat[] = {0, 16, 32, 132, 148, 164, 264}, deep[] = {0, 4, 104, 108, 1000, 1004, 1104, 1108};
    (void)state;
    struct machine *m = run("movxm p0, #0x70000\n movxm m1, #100\n movxm dn1, #2\n movxm dj1, #16\n movxm dc1, #0\n"
                            "movxm p1, #0x70000\n movxm m2, #892\n movxm dn2, #1\n movxm dj2, #4\n movxm dc2, #0\n"
                            "movxm dn6, #1\n movxm dj6, #100\n movxm dc6, #0\n"
                            "movxm p2, #0x70800\n movxm p3, #0x70900\n"
                            ".rept 7\n st p0, [p2], #4\n padda.2d [p0], d1\n.endr\n"
                            ".rept 8\n st p1, [p3], #4\n paddb.3d [p1], d2\n.endr\n",
                            NULL, NULL);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(machine_memory(m, 0x800 + 4 * i), 0x70000 + flat[i]);
    /* The inner walk turns with dj of the outer, and at the end with its own m. */
    assert_int_equal(machine_memory(m, 0x900), 0x70000);
    assert_int_equal(machine_memory(m, 0x904), 0x70000 + 4);
    assert_int_equal(machine_memory(m, 0x908), 0x70000 + 104);
    assert_int_equal(machine_memory(m, 0x90c), 0x70000 + 108);
    for (unsigned i = 4; i < 8; i++)
        assert_int_equal(machine_memory(m, 0x900 + 4 * i), 0x70000 + deep[i]);
    machine_free(m);
}

/* Only a count that equals its end turns; one beyond it goes on through all of its 20 bits. Steps may be negative. */
static void walks_beyond_their_end(void **state)
{
    (void)state;
    struct machine *m = run("movxm p0, #0x70100\n movxm m1, #100\n movxm dn1, #2\n movxm dj1, #-16\n movxm dc1, #5\n"
                            "padda.2d [p0], d1; mov r0, p0\n mov r1, p0\n mov r2, dc1\n"
                            "movxm dc1, #0xfffff\n padda.2d [p0], d1\n mov r3, p0\n mov r4, dc1\n"
                            "movxm p1, #0x70100\n movxm m2, #892\n movxm dn2, #1\n movxm dj2, #4\n movxm dc2, #1\n"
                            "movxm dn6, #1\n movxm dj6, #-100\n movxm dc6, #2\n paddb.3d [p1], d2\n"
                            "mov r5, p1\n mov r6, dc2\n mov r7, dc6\n"
                            "movxm dc2, #2\n paddb.3d [p1], d2\n mov r8, p1\n mov r9, dc2\n mov r10, dc6",
                            NULL, NULL);
    assert_int_equal(machine_word(m, TW_R_r0), 0x70100);
    assert_int_equal(machine_word(m, TW_R_r1), 0x700f0);
    assert_int_equal(machine_word(m, TW_R_r2), 6);
    assert_int_equal(machine_word(m, TW_R_r3), 0x700e0);
    assert_int_equal(machine_word(m, TW_R_r4), 0);
    assert_int_equal(machine_word(m, TW_R_r5), 0x70100 - 100);
    assert_int_equal(machine_word(m, TW_R_r6), 0);
    assert_int_equal(machine_word(m, TW_R_r7), 3);
    assert_int_equal(machine_word(m, TW_R_r8), 0x70104 - 100);
    assert_int_equal(machine_word(m, TW_R_r9), 3);
    assert_int_equal(machine_word(m, TW_R_r10), 3);
    machine_free(m);
}

/* The same walks through loads and stores: the access uses the pointer before its walk. */
static void walks_with_accesses(void **state)
{
    (void)state;
    struct machine *m = run("movxm p0, #0x70000\n movxm m1, #100\n movxm dn1, #1\n movxm dj1, #16\n movxm dc1, #1\n"
                            "lda.2d r0, [p0], d1\n lda.2d r1, [p0], d1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
                            "st.2d r0, [p0], d1\n mov r2, p0\n mov r3, dc1",
                            NULL, number_memory);
    assert_int_equal(machine_word(m, TW_R_r0), 0x80000000);
    assert_int_equal(machine_word(m, TW_R_r1), 0x80000064);
    assert_int_equal(machine_memory(m, 116), 0x80000000);
    assert_int_equal(machine_word(m, TW_R_r2), 0x70000 + 216);
    assert_int_equal(machine_word(m, TW_R_r3), 0);
    machine_free(m);
}

/* ---- widths */

static void narrow_accesses(void **state)
{
    (void)state;
    struct machine *m =
        run("movxm p0, #0x70000\n movxm r0, #0x12348586\n st r0, [p0, #0]\n nop\n nop\n nop\n nop\n"
            "lda.s8 r1, [p0, #1]\n lda.u8 r2, [p0, #1]\n lda.s16 r3, [p0, #0]\n lda.u16 r4, [p0, #2]\n"
            "movxm p1, #0x70010\n movxm r5, #-1\n st r5, [p1, #0]\n st.s8 r0, [p1, #1]\n"
            "movxm p2, #0x70020\n nop\n nop\n nop\n nop\n nop\n nop\n st r5, [p2, #0]\n st.s16 r0, [p2, #2]",
            NULL, NULL);
    assert_int_equal(machine_word(m, TW_R_r1), 0xffffff85);
    assert_int_equal(machine_word(m, TW_R_r2), 0x85);
    assert_int_equal(machine_word(m, TW_R_r3), 0xffff8586);
    assert_int_equal(machine_word(m, TW_R_r4), 0x1234);
    assert_int_equal(machine_memory(m, 0x10), 0xffff86ff);
    assert_int_equal(machine_memory(m, 0x20), 0x8586ffff);
    machine_free(m);
}

static void wide_accesses(void **state)
{
    (void)state;
    struct machine *m = machine_make(
        ".text\n movxm p0, #0x70100\n movxm p1, #0x70800\n movxm m0, #16\n"
        "vlda wl0, [p0], #32\n vldb wh0, [p0], #32\n vlda amll3, [p0], #32\n lda q1, [p0], #16\n"
        "vldb.128 wl2, [p0], m0\n nop\n nop\n nop\n nop\n nop\n nop\n"
        "vst wh0, [p1], #32\n vst amll3, [p1], #32\n st q1, [p1], #16\n padda [p1], #16\n vst.128 wl2, [p1, #0]\n"
        ".rept 12\n nop\n.endr\n done\n",
        MACHINE_STRICT, NULL);
    number_memory(m);
    machine_finish(m);
    for (uint32_t i = 0; i < 64; i += 4)
        assert_int_equal(machine_memory(m, 0x800 + i), 0x80000120 + i);
    for (uint32_t i = 0; i < 16; i += 4) {
        assert_int_equal(machine_memory(m, 0x840 + i), 0x80000160 + i);
        assert_int_equal(machine_memory(m, 0x860 + i), 0x80000170 + i);
    }
    machine_free(m);
}

/*
 * Four addresses at once, counted over both copies of the table, which take turns every 16 bytes: half of the place in
 * a row of 32, cut to the size of an entry; the odd ones in the second copy; nothing behind the end of the 16 bytes.
 */
static void table_loads(void **state)
{
    (void)state;
    struct machine *m = machine_make(".text\n movxm p0, #0x70800\n movxm p1, #0x70900\n vlda wl1, [p0, #0]\n"
                                     ".rept 6\n nop\n.endr\n vldb.4x32.hi wl2, wl1\n"
                                     ".rept 6\n nop\n.endr\n vst wl2, [p1, #0]\n.rept 12\n nop\n.endr\n done\n",
                                     MACHINE_STRICT, NULL);
    static const uint32_t addresses[] = {0x70043, 0x70089, 0x700d8, 0x70107};
    static const uint32_t expected[][2] = {
        {0x80000040, 0x80000044}, {0x80000094, 0x80000098}, {0x800000cc, 0}, {0x80000110, 0x80000114}};

    (void)state;
    number_memory(m);
    for (unsigned i = 0; i < 4; i++)
        machine_store(m, 0x810 + 4 * i, addresses[i]);
    machine_finish(m);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(machine_memory(m, 0x900 + 8 * i), expected[i][0]);
        assert_int_equal(machine_memory(m, 0x904 + 8 * i), expected[i][1]);
    }
    machine_free(m);
}

/* The other tiles' memories. */
static void windows(void **state)
{
    (void)state;
    struct machine *m = run("movxm p0, #0x40010\n movxm p1, #0x50010\n movxm p2, #0x60010\n mova r0, #1\n mova r1, #2\n"
                            "mova r2, #3\n st r0, [p0, #0]\n st r1, [p1, #0]\n st r2, [p2, #0]",
                            NULL, NULL);
    for (unsigned w = TW_WINDOW_SOUTH; w <= TW_WINDOW_NORTH; w++)
        assert_int_equal(m->memory[w][0x10], w + 1);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic),
                                       cmocka_unit_test(carries_chain),
                                       cmocka_unit_test(selections),
                                       cmocka_unit_test(division),
                                       cmocka_unit_test(moves_cut_to_size),
                                       cmocka_unit_test(addresses_extend_their_sign_by_choice),
                                       cmocka_unit_test(bundles_exchange_registers),
                                       cmocka_unit_test(the_counter_is_the_clock),
                                       cmocka_unit_test(addressing_modes),
                                       cmocka_unit_test(walks),
                                       cmocka_unit_test(walks_beyond_their_end),
                                       cmocka_unit_test(walks_with_accesses),
                                       cmocka_unit_test(narrow_accesses),
                                       cmocka_unit_test(wide_accesses),
                                       cmocka_unit_test(table_loads),
                                       cmocka_unit_test(windows)};
    return cmocka_run_group_tests_name("core scalar", tests, NULL, NULL);
}
