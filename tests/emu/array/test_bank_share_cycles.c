/*
 * A core that stores a word in each cycle beside DMA that reads the same logical bank, as measured on a Phoenix: DMA
 * takes as long as without the core, it meets the core about once in 16 bytes, and the core loses 2 % of these
 * meetings.
 */
#include "emu/array/board_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MEETS = 54, MISSES = 50, TASKS = 16, WORDS = 256, GRANULES = TASKS * WORDS / 4, STORES = 3 * 1500 };

struct outcome {
    uint64_t sent; /* when DMA had sent all */
    struct tw_tile_counts counts;
};

static void see(void *arg, const struct tw_trace_event *e)
{
    uint64_t *sent = arg;
    if (e->unit == TW_TRACE_MM2S && e->what == TW_TRACE_TASK && e->kind == TW_TRACE_END)
        *sent = e->cycle;
}

/* Three times 1,500 stores from an address on, each so many bytes behind the last; then the core takes a lock twice. */
static void put_march(struct board *b, unsigned row, uint32_t address, unsigned step)
{
    char text[4000];
    int n = snprintf(text, sizeof text, ".foreign\n.text\n mova r0, #7\n mova r1, #-1\n");
    for (int i = 0; i < 3; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      " movxm p0, #0x%x\n movxm LC, #1500\n movxm LS, #begin%d\n movxm LE, #begin%d\n"
                      ".rept 30\n nopxm\n.endr\n.align 16\nbegin%d:\n"
                      " nopb; nopa; st r0, [p0], #%u; nopx; nopm; nopv\n",
                      (unsigned)address, i, i, i, step);
    snprintf(text + n, sizeof text - (size_t)n,
             ".rept 10\n nop\n.endr\n .rept 2\n acq #48, r1\n.rept 10\n nop\n.endr\n.endr\n done\n nop\n nop\n");
    put_program(b, 0, row, text);
}

/*
 * The core of a row stores from there on, DMA of tile (0, 2) reads from 0x2400 of its memory, from the cycle `begin`
 * on. Both change between the two physical banks in every fourth cycle, so that they meet always or never.
 */
static struct outcome meet(unsigned row, uint32_t address, unsigned begin, unsigned run_ahead)
{
    struct outcome o = {0};
    struct board *b = board_make(
        &(struct tw_array_options){.columns = 1, .run_ahead = run_ahead, .trace = {.event = see, .arg = &o.sent}});
    struct tw_bd out = plain_bd(0x2400, WORDS), in = plain_bd(0, WORDS);
    circuit(b, 0, 2, PORT(DMA, 0), PORT(SOUTH, 0));
    circuit(b, 0, 1, PORT(NORTH, 0), PORT(DMA, 0));
    in.address = 0x80000;
    put_bd(b, 0, 2, 0, &out);
    put_bd(b, 0, 1, 0, &in);
    put_march(b, row, address, 4);
    put(b, 0, row, tw_lock_offset(TW_TILE_CORE, 0), 2);
    start(b, 0, 1, TW_S2MM, 0, 0, TASKS, 0);
    start_core(b, 0, row);
    assert_int_equal(tw_array_advance(b->array, begin, &b->err), 0);
    start(b, 0, 2, TW_MM2S, 0, 0, TASKS, 0);
    assert_int_equal(drain(b), 0);
    assert_int_equal(tw_array_counts(b->array, 0, row, &o.counts), 0);
    assert_true(o.counts.done);
    board_free(b);
    return o;
}

static void apart_and_together(void **state)
{
    (void)state;
    struct outcome apart = meet(2, 0x78000, MEETS, 0), together = meet(2, 0x70400, MEETS, 0);
    print_message("%u conflicts for %d accesses, %u lost\n", (unsigned)together.counts.dma_conflicts, GRANULES,
                  (unsigned)together.counts.bank_stalls);
    assert_int_equal(apart.counts.dma_conflicts, 0);
    assert_int_equal(apart.counts.bank_stalls, 0);
    assert_int_equal(together.sent, apart.sent);
    assert_int_equal(together.counts.bundles, apart.counts.bundles);
    assert_in_range(together.counts.dma_conflicts, GRANULES * 9 / 10, GRANULES);
    assert_in_range(together.counts.bank_stalls, 18, 20);
    assert_int_equal(together.counts.bank_stalls, together.counts.dma_conflicts / 50);
    assert_int_equal(together.counts.request_stalls, apart.counts.request_stalls);
    assert_in_range(meet(2, 0x70400, MISSES, 0).counts.dma_conflicts, 0, GRANULES / 10);
}

/* The core above sees the tile's memory in its south window. */
static void neighbour(void **state)
{
    (void)state;
    struct outcome own = meet(3, 0x70400, MEETS, 0), south = meet(3, 0x40400, MEETS, 0);
    assert_int_equal(own.counts.dma_conflicts, 0);
    assert_in_range(south.counts.dma_conflicts, GRANULES / 2, GRANULES);
    assert_int_equal(south.counts.bank_stalls, south.counts.dma_conflicts / 50);
}

static void order_of_simulation(void **state)
{
    static const unsigned ahead[] = {1, 2, 7, 64, 333, 1000, 100000};
    struct outcome usual = meet(2, 0x70400, MEETS, 0);
    (void)state;
    for (unsigned i = 0; i < sizeof ahead / sizeof ahead[0]; i++) {
        struct outcome other = meet(2, 0x70400, MEETS, ahead[i]);
        assert_int_equal(other.sent, usual.sent);
        assert_memory_equal(&other.counts, &usual.counts, sizeof usual.counts);
    }
}

/*
 * The core stores into one word in each cycle, and so meets each access of DMA to that bank. Between two channels of
 * its tile and two of the memory tile, each task moves `words` from `out` to the memory tile, and as many from there to
 * `in`; 0: none. Returns the conflicts.
 */
static uint64_t conflicts(uint32_t word, uint32_t out, uint32_t in, uint32_t words, unsigned tasks)
{
    struct board *b = board_new(1);
    struct tw_bd from = plain_bd(out, words), to = plain_bd(in, words), other = plain_bd(0x80000, words);
    struct tw_tile_counts counts;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(SOUTH, 0));
    circuit(b, 0, 1, PORT(NORTH, 0), PORT(DMA, 0));
    circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    put_bd(b, 0, 2, 0, &from);
    put_bd(b, 0, 2, 1, &to);
    put_bd(b, 0, 1, 0, &other);
    put_march(b, 2, 0x70000 + word, 0);
    start_core(b, 0, 2);
    assert_int_equal(tw_array_advance(b->array, 60, &b->err), 0);
    if (out != 0) {
        start(b, 0, 1, TW_S2MM, 0, 0, tasks, 0);
        start(b, 0, 2, TW_MM2S, 0, 0, tasks, 0);
    }
    if (in != 0) {
        start(b, 0, 2, TW_S2MM, 0, 1, tasks, 0);
        start(b, 0, 1, TW_MM2S, 0, 0, tasks, 0);
    }
    assert_int_equal(drain(b), TW_E_STATE); /* the core waits for its lock, and what it has lost is forgotten */
    assert_int_equal(tw_array_advance(b->array, tw_array_clock(b->array) + 100, &b->err), 0);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0), 2);
    assert_int_equal(drain(b), 0);
    assert_int_equal(tw_array_counts(b->array, 0, 2, &counts), 0);
    assert_int_equal(counts.bank_stalls, 0);
    board_free(b);
    return counts.dma_conflicts;
}

static void one_access_for_128_bits(void **state)
{
    (void)state;
    assert_int_equal(conflicts(0x100, 0x2000, 0, 256, 4), 4 * 256 / 8); /* half of them in the other physical bank */
    assert_int_equal(conflicts(0x100, 0, 0x2000, 256, 4), 4 * 256 / 8);
    assert_int_equal(conflicts(0x110, 0x2000, 0, 4, 10), 0);
    assert_int_equal(conflicts(0x100, 0x2000, 0, 4, 10), 10); /* each descriptor begins anew */
    assert_int_equal(conflicts(0x100, 0x2008, 0, 4, 10), 10); /* it lies across both banks */
    assert_int_equal(conflicts(0xc100, 0x2000, 0, 256, 1), 0);
    assert_int_equal(conflicts(0xc100, 0xe000, 0, 256, 1), 256 / 8);
    for (uint32_t i = 0; i < 4; i++) { /* channels that access two banks in one cycle do not hide each other */
        assert_in_range(conflicts(0x4100, 0xe000, 0x6000 + 4 * i, 256, 4), 4 * 256 / 8, 4 * 256 / 8 + 4);
        assert_int_equal(conflicts(0xc100, 0xe000, 0x6000 + 4 * i, 256, 4), 4 * 256 / 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(apart_and_together), cmocka_unit_test(neighbour),
                                       cmocka_unit_test(order_of_simulation),
                                       cmocka_unit_test(one_access_for_128_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
