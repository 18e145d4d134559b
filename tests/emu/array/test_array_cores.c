/* Cores among the rest of the array: locks, neighbours, streams, cascade, registers, and what is said when they wait.
 */
#include "emu/array/board_fifo.h"
#include "emu/array/board_program.h"
#include "emu/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CORE_STATUS = 0x32004, CORE_PC = 0x31100, DONE = 1 << 20, OWN_LOCK = 48 };
enum { OWN = 0x80000 };

#define NOPS ".rept 12\n nop\n.endr\n"
#define START ".foreign\n.text\n"

static int done(struct board *b, unsigned column, unsigned row)
{
    return (get(b, column, row, CORE_STATUS) & DONE) != 0;
}

static void finish(struct board *b)
{
    if (drain(b) != 0)
        fail_msg("%s", b->err.text);
}

static void add_to_a_word(struct board *b, unsigned row)
{
    put_program(b, 0, row,
                START " movxm p0, #0x70100\n lda r0, [p0, #0]\n" NOPS " add r0, r0, #5\n st r0, [p0, #4]\n" NOPS
                      " done\n"
                      " nop\n nop\n");
}

/* Enable, reset, done, program counter, and a second run. */
static void control(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    add_to_a_word(b, 2);
    put(b, 0, 2, 0x100, 37);
    assert_int_equal(get(b, 0, 2, CORE_STATUS), 2);
    put(b, 0, 2, TW_CORE_CONTROL, 3); /* enabled, but still in reset */
    finish(b);
    assert_int_equal(get(b, 0, 2, 0x104), 0);
    put(b, 0, 2, TW_CORE_CONTROL, 1);
    finish(b);
    assert_int_equal(get(b, 0, 2, 0x104), 42);
    assert_true(done(b, 0, 2));
    assert_true(get(b, 0, 2, CORE_PC) > 0);
    struct tw_tile_counts counts;
    assert_int_equal(tw_array_counts(b->array, 0, 2, &counts), 0);
    assert_in_range(counts.bundles, 25, 60);
    assert_true(counts.done && counts.enabled);
    put(b, 0, 2, 0x100, 1);
    put(b, 0, 2, TW_CORE_CONTROL, 2);
    assert_false(done(b, 0, 2));
    assert_int_equal(get(b, 0, 2, CORE_PC), 0);
    put(b, 0, 2, TW_CORE_CONTROL, 1);
    finish(b);
    assert_int_equal(get(b, 0, 2, 0x104), 6);
    board_free(b);
}

/* A core that is disabled goes on where it was. */
static void disabled_in_between(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    put_program(b, 0, 3, START "begin:\n add r0, r0, #1\n j #begin\n nop\n nop\n nop\n nop\n nop\n");
    start_core(b, 0, 3);
    assert_int_equal(tw_array_advance(b->array, 1000, &b->err), 0);
    put(b, 0, 3, TW_CORE_CONTROL, 0);
    assert_int_equal(drain(b), 0);
    uint64_t bundles = tw_core_counts(tw_array_core(b->array, 0, 3)).bundles;
    assert_in_range(bundles, 990, 1010);
    assert_int_equal(tw_array_advance(b->array, 5000, &b->err), 0);
    put(b, 0, 3, TW_CORE_CONTROL, 1);
    assert_int_equal(tw_array_advance(b->array, 5100, &b->err), 0);
    assert_in_range(tw_core_counts(tw_array_core(b->array, 0, 3)).bundles, bundles + 90, bundles + 110);
    assert_null(tw_array_core(b->array, 0, 1));
    board_free(b);
}

/* Host, core, host by locks: the core waits for each buffer and gives it on. */
static void object_fifo(void **state)
{
    enum { ROUNDS = 10 };
    struct board *b = board_new(1);
    (void)state;
    start_fifo(b, ROUNDS);
    wait_token(b, 0, 0, TW_S2MM, 1);
    assert_fifo_done(b, ROUNDS);
    assert_int_equal(drain(b), TW_E_STATE);
    if (strstr(b->err.text, "core (0, 2) waits in bundle 0x") == NULL ||
        strstr(b->err.text, "for lock 1 of tile (0, 2), whose value is 0, to be at least 1") == NULL ||
        strstr(b->err.text, "DMA (0, 2) S2MM 0 waits in descriptor 0 for words from its stream") == NULL ||
        strstr(b->err.text, "DMA (0, 2) MM2S 0 waits in descriptor 1 for lock 3") == NULL)
        fail_msg("%s", b->err.text);
    enum { LOCK_STALL_OWN = 1 << 9 };
    assert_int_equal(get(b, 0, 2, CORE_STATUS), 1 | LOCK_STALL_OWN);
    char text[40];
    tw_array_describe_waits(b->array, text, sizeof text);
    assert_int_equal(strlen(text), sizeof text - 1); /* cut */
    board_free(b);
}

/* Three neighbours' memories and locks; the fourth is a memory tile. */
static void neighbours(void **state)
{
    static const struct {
        unsigned column, row, lock;
        const char *window;
    } cases[] = {{1, 3, 0, "0x40000"}, {0, 4, 16, "0x50000"}, {1, 5, 32, "0x60000"}, {1, 4, 48, "0x70000"}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        struct board *b = board_new(2);
        snprintf(text, sizeof text,
                 START " mova r1, #-2\n mova r2, #3\n acq #%u, r1\n movxm p0, #%s\n" NOPS " lda r0, [p0, #0]\n" NOPS
                       " st r0, [p0, #8]\n" NOPS " rel #%u, r2\n nop\n done\n nop\n nop\n",
                 cases[i].lock + 5, cases[i].window, cases[i].lock + 6);
        put_program(b, 1, 4, text);
        put(b, cases[i].column, cases[i].row, 0, 1234 + i);
        start_core(b, 1, 4);
        assert_int_equal(drain(b), TW_E_STATE);
        assert_int_equal(get(b, cases[i].column, cases[i].row, 8), 0);
        put(b, cases[i].column, cases[i].row, tw_lock_offset(TW_TILE_CORE, 5), 3);
        finish(b);
        assert_int_equal(get(b, cases[i].column, cases[i].row, 8), 1234 + i);
        assert_int_equal(get(b, cases[i].column, cases[i].row, tw_lock_offset(TW_TILE_CORE, 5)), 1);
        assert_int_equal(get(b, cases[i].column, cases[i].row, tw_lock_offset(TW_TILE_CORE, 6)), 3);
        board_free(b);
    }
    struct board *b = board_new(1);
    put_program(b, 0, 2, START " mova r1, #-1\n acq #3, r1\n nop\n done\n nop\n nop\n");
    start_core(b, 0, 2);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "core (0, 2) uses lock 3 of a neighbour that is not there"));
    board_free(b);
}

/* One core sends twenty words to the core above, with TLAST at the end; the other stores them. */
static void core_streams(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(CORE, 0), PORT(NORTH, 4));
    circuit(b, 0, 3, PORT(SOUTH, 4), PORT(CORE, 0));
    put_program(b, 0, 2,
                START " mova r0, #100\n" NOPS
                      ".rept 19\n mov ms, r0\n nop\n add r0, r0, #1\n.endr\n mov.tlast ms, r0\n" NOPS
                      " done\n nop\n nop\n");
    put_program(b, 0, 3,
                START " movxm p0, #0x70200\n" NOPS ".rept 20\n mov r0, SS\n" NOPS " st r0, [p0], #4\n.endr\n" NOPS
                      " done\n nop\n nop\n");
    start_core(b, 0, 2);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_non_null(strstr(b->err.text, "core (0, 2) waits in bundle"));
    assert_non_null(strstr(b->err.text, "for room in its stream"));
    start_core(b, 0, 3);
    finish(b);
    assert_true(done(b, 0, 2) && done(b, 0, 3));
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(get(b, 0, 3, 0x200 + 4 * i), 100 + i);
    board_free(b);
}

/* A core as source and sink of DMA, by packets whose headers it makes and sees. */
static void core_and_dma(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(CORE, 0));
    circuit(b, 0, 2, PORT(CORE, 0), PORT(DMA, 1));
    struct tw_bd out = plain_bd(0, 16), in = plain_bd(0x1000, 16);
    put_bd(b, 0, 2, 0, &out);
    put_bd(b, 0, 2, 1, &in);
    for (uint32_t i = 0; i < 16; i++)
        put(b, 0, 2, 4 * i, 7 * i);
    put_program(b, 0, 2,
                START ".rept 16\n mov r0, SS\n" NOPS " add r0, r0, #2\n nop\n mov ms, r0\n nop\n.endr\n" NOPS
                      " done\n nop\n nop\n");
    start_core(b, 0, 2);
    start(b, 0, 2, TW_S2MM, 1, 1, 1, 0);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    finish(b);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(get(b, 0, 2, 0x1000 + 4 * i), 7 * i + 2);
    board_free(b);
}

/* 512 bits by cascade to the south, then to the east. */
static void cascade(void **state)
{
    enum { ACCUMULATOR_CONTROL = 0x36060, WEST_IN = 1, EAST_OUT = 2, CASCADE_READ_STALL = 1 << 14 };
    static const char sender[] = START " movxm p0, #0x70000\n" NOPS " vlda wl0, [p0, #0]\n vlda wh0, [p0, #32]\n" NOPS
                                       ".rept 6\n vmov MCD, x0\n nop\n nop\n.endr\n" NOPS " done\n nop\n nop\n";
    static const char receiver[] = START " movxm p0, #0x70400\n" NOPS ".rept 6\n vmov x1, SCD\n" NOPS
                                         " vst wl1, [p0, #0]\n vst wh1, [p0, #32]\n" NOPS ".endr\n done\n nop\n nop\n";
    (void)state;
    for (unsigned east = 0; east < 2; east++) {
        struct board *b = board_new(2);
        unsigned column = east, row = 3 - !east;
        put(b, 0, 3, ACCUMULATOR_CONTROL, east ? EAST_OUT : 0);
        put_program(b, 0, 3, sender);
        put_program(b, column, row, receiver);
        for (uint32_t i = 0; i < 16; i++)
            put(b, 0, 3, 4 * i, 500 + i);
        start_core(b, 0, 3);
        start_core(b, column, row);
        if (east) { /* the receiver still listens to the north, where nobody sends to the south */
            put(b, 1, 4, ACCUMULATOR_CONTROL, EAST_OUT);
            assert_int_equal(drain(b), TW_E_STATE);
            assert_non_null(strstr(b->err.text, "core (0, 3) waits"));
            assert_non_null(strstr(b->err.text, "for room in its cascade output, which no neighbour takes"));
            assert_non_null(strstr(b->err.text, "for its cascade input, which no neighbour's output leads to"));
            assert_true(get(b, 1, 3, CORE_STATUS) & CASCADE_READ_STALL);
            put(b, 1, 3, ACCUMULATOR_CONTROL, WEST_IN);
        }
        finish(b);
        for (uint32_t i = 0; i < 16; i++)
            assert_int_equal(get(b, column, row, 0x400 + 4 * i), 500 + i);
        board_free(b);
    }
}

/* A core changes a lock by its tile's registers, when the bus is open. */
static void tile_registers(void **state)
{
    enum { PROCESSOR_BUS = 0x32038 };
    struct board *b = board_new(1);
    (void)state;
    put_program(b, 0, 2,
                START " movxm p0, #0x9f010\n mova r0, #9\n" NOPS " st.tm r0, [p0]\n" NOPS " lda.tm r1, [p0]\n" NOPS
                      " movxm p1, #0x70000\n st r1, [p1, #0]\n" NOPS " done\n nop\n nop\n");
    start_core(b, 0, 2);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "Core_Processor_Bus does not enable that"));
    tw_array_reset(b->array);
    put(b, 0, 2, PROCESSOR_BUS, 1);
    start_core(b, 0, 2);
    finish(b);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 1)), 9);
    assert_int_equal(get(b, 0, 2, 0), 9);
    board_free(b);
}

/* A core that resets itself stands still and can be started again. */
static void resets_itself(void **state)
{
    enum { PROCESSOR_BUS = 0x32038 };
    struct board *b = board_new(1);
    (void)state;
    put_program(b, 0, 2,
                START " movxm p0, #0xb2000\n mova r0, #2\n" NOPS " st.tm r0, [p0]\n" NOPS " done\n nop\n nop\n");
    put(b, 0, 2, PROCESSOR_BUS, 1);
    for (unsigned i = 0; i < 2; i++) {
        start_core(b, 0, 2);
        finish(b);
        assert_int_equal(get(b, 0, 2, CORE_STATUS), 2);
        assert_int_equal(get(b, 0, 2, CORE_PC), 0);
    }
    board_free(b);
}

/* Each request for a lock costs a cycle, also when it is free, and so does an access to the tile's registers. */
static uint64_t time_of(const char *ten_times)
{
    enum { PROCESSOR_BUS = 0x32038 };
    char text[1000];
    struct board *b = board_new(1);
    snprintf(text, sizeof text,
             START " mova r1, #-1\n mova r2, #1\n movxm p0, #0x9f010\n" NOPS
                   ".rept 10\n %s\n nop\n.endr\n done\n nop\n nop\n",
             ten_times);
    put_program(b, 0, 2, text);
    put(b, 0, 2, PROCESSOR_BUS, 1);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 4), 20);
    start_core(b, 0, 2);
    finish(b);
    uint64_t clock = tw_array_clock(b->array);
    board_free(b);
    return clock;
}

static void request_times(void **state)
{
    (void)state;
    uint64_t none = time_of("nop");
    assert_int_equal(time_of("acq #52, r1"), none + 10);
    assert_int_equal(time_of("rel #52, r2"), none + 10);
    assert_int_equal(time_of("st.tm r2, [p0]"), none + 10);
    assert_int_equal(time_of("lda.tm r3, [p0]"), none + 10);
}

/* How long the receiver of a value waits that is sent so many bundles behind its request. */
static uint64_t cascade_wait(unsigned bundles)
{
    char text[1000];
    struct tw_tile_counts counts;
    struct board *b = board_new(1);
    snprintf(text, sizeof text, START ".rept %u\n nop\n.endr\n vmov MCD, x0\n" NOPS " done\n nop\n nop\n", bundles);
    put_program(b, 0, 3, text);
    put_program(b, 0, 2, START " vmov x1, SCD\n" NOPS " done\n nop\n nop\n");
    start_core(b, 0, 3);
    start_core(b, 0, 2);
    finish(b);
    assert_int_equal(tw_array_counts(b->array, 0, 2, &counts), 0);
    board_free(b);
    return counts.stalls[TW_STALL_CASCADE];
}

/* A value is there a cycle after it was sent. */
static void cascade_times(void **state)
{
    (void)state;
    assert_int_equal(cascade_wait(40), 40 + 1);
    assert_int_equal(cascade_wait(3), 3 + 1);
}

/* Four values fit into a cascade that nobody reads. */
static void cascade_depth(void **state)
{
    (void)state;
    for (unsigned n = 4; n < 6; n++) {
        char text[1000];
        struct board *b = board_new(1);
        snprintf(text, sizeof text, START NOPS ".rept %u\n vmov MCD, x0\n nop\n nop\n.endr\n done\n nop\n nop\n", n);
        put_program(b, 0, 3, text);
        start_core(b, 0, 3);
        assert_int_equal(drain(b), n == 4 ? 0 : TW_E_STATE);
        board_free(b);
    }
}

/* A core's failure comes out of the run with its own sentence. */
static void failing_core(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    put_program(b, 0, 2, START " movxm p0, #0x45000\n" NOPS " lda r0, [p0, #0]\n" NOPS " done\n nop\n nop\n");
    start_core(b, 0, 2);
    assert_true(drain(b) < 0);
    assert_non_null(strstr(b->err.text, "core (0, 2)"));
    enum { ERROR_HALT = 1 << 19 };
    assert_true(get(b, 0, 2, CORE_STATUS) & ERROR_HALT);
    board_free(b);
}

/* A core that looks at a word of memory again and again sees what another one writes there. */
static void polling(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    put_program(b, 0, 3,
                START " movxm p0, #0x70000\n mova r1, #0\n" NOPS "again:\n lda r0, [p0, #0]\n" NOPS
                      " jz r0, #again\n nop\n nop\n nop\n nop\n nop\n st r0, [p0, #4]\n" NOPS " done\n nop\n nop\n");
    put_program(b, 0, 2,
                START " movxm p0, #0x60000\n mova r0, #77\n.rept 2000\n nop\n.endr\n st r0, [p0, #0]\n" NOPS
                      " done\n nop\n nop\n");
    start_core(b, 0, 3);
    start_core(b, 0, 2);
    finish(b);
    assert_int_equal(get(b, 0, 3, 4), 77);
    assert_in_range(tw_array_clock(b->array), 2000, 3200);
    board_free(b);
}

/* A run takes the same time again, and however far cores are simulated ahead of each other. */
static uint64_t race(unsigned run_ahead)
{
    struct board *b = board_make(&(struct tw_array_options){.columns = 1, .run_ahead = run_ahead});
    for (unsigned row = 2; row < 6; row++)
        put_program(b, 0, row,
                    START
                    " mova r1, #-1\n mova r2, #1\n" NOPS
                    ".rept 20\n acq #49, r1\n nop\n nop\n rel #33, r2\n nop\n nop\n nop\n.endr\n done\n nop\n nop\n");
    /* Each takes its own lock 1 and gives its northern neighbour's. */
    for (unsigned row = 2; row < 5; row++)
        put(b, 0, row, tw_lock_offset(TW_TILE_CORE, 1), row == 2 ? 20 : row);
    for (unsigned row = 2; row < 5; row++)
        start_core(b, 0, row);
    assert_int_equal(drain(b), 0);
    uint64_t clock = tw_array_clock(b->array);
    assert_int_equal(get(b, 0, 5, tw_lock_offset(TW_TILE_CORE, 1)), 20);
    board_free(b);
    return clock;
}

static void determinism(void **state)
{
    (void)state;
    static const unsigned ahead[] = {0, 1, 3, 50, 100000};
    uint64_t first = race(0);
    assert_in_range(first, 100, 2000);
    for (unsigned i = 0; i < sizeof ahead / sizeof ahead[0]; i++)
        assert_int_equal(race(ahead[i]), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control),       cmocka_unit_test(disabled_in_between), cmocka_unit_test(object_fifo),
        cmocka_unit_test(neighbours),    cmocka_unit_test(core_streams),        cmocka_unit_test(core_and_dma),
        cmocka_unit_test(cascade),       cmocka_unit_test(tile_registers),      cmocka_unit_test(failing_core),
        cmocka_unit_test(polling),       cmocka_unit_test(resets_itself),       cmocka_unit_test(request_times),
        cmocka_unit_test(cascade_times), cmocka_unit_test(cascade_depth),       cmocka_unit_test(determinism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
