/* The times of emu/cycles.h, seen from outside. Ranges where a few cycles of latency come in; exact where they do not.
 */
#include "emu/array/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { OWN = 0x80000 };

/* One task of each channel at a time, the receiver always ready; how long until the token of one of them. */
static uint64_t shim_task(struct board *b, uint32_t words, enum tw_dma_direction direction)
{
    struct tw_bd out = plain_bd(HOST_ADDRESS, words), in = plain_bd(HOST_ADDRESS + 0x10000, words);
    put_bd(b, 0, 0, 0, &out);
    put_bd(b, 0, 0, 1, &in);
    if (direction == TW_MM2S)
        start(b, 0, 0, TW_S2MM, 0, 1, 1, 0);
    uint64_t begin = tw_array_clock(b->array);
    start(b, 0, 0, direction, 0, direction == TW_MM2S ? 0 : 1, 1, 1);
    wait_token(b, 0, 0, direction, 0);
    uint64_t end = tw_array_clock(b->array);
    if (direction == TW_MM2S)
        assert_int_equal(drain(b), 0);
    else
        drain(b); /* the sender may have more, for the next task */
    return end - begin;
}

/* Chained tasks of 64 words took 1739, 804, 497, 422, 398, 399 cycles on silicon; the model fits them within 8 %. */
static void shim_reads(void **state)
{
    static const uint64_t measured[] = {1739, 804, 497, 422, 398, 399};
    struct board *b = board_new(1);
    (void)state;
    token_circuit(b, 0);
    put(b, 0, 0, TW_SHIM_MUX, 0x4400);
    put(b, 0, 0, TW_SHIM_DEMUX, 0x50);
    circuit(b, 0, 0, PORT(SOUTH, 3), PORT(SOUTH, 2));
    for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++)
        assert_in_range(shim_task(b, 64, TW_MM2S), measured[i] * 92 / 100, measured[i] * 108 / 100);
    for (unsigned i = 0; i < 4; i++)
        shim_task(b, 64, TW_MM2S); /* until nothing is cold any more */
    uint64_t one = shim_task(b, 64, TW_MM2S), more = shim_task(b, 2064, TW_MM2S);
    assert_in_range(more - one, 2090, 2102); /* 1.05 cycles a word */
    board_free(b);
}

/* The words are there already: what is left is the shim's own time. */
static void shim_writes(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    token_circuit(b, 0);
    put(b, 0, 0, TW_SHIM_DEMUX, 0x50);
    circuit(b, 0, 0, PORT(NORTH, 0), PORT(SOUTH, 2));
    circuit(b, 0, 1, PORT(DMA, 0), PORT(SOUTH, 0));
    struct tw_bd out = plain_bd(OWN, 64);
    put_bd(b, 0, 1, 0, &out);
    start(b, 0, 1, TW_MM2S, 0, 0, 4, 0);
    static const uint64_t model[] = {595, 254, 254, 254};
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(shim_task(b, 64, TW_S2MM), model[i], model[i] + 22);
    board_free(b);
}

/* 256 words between two core tiles: as many cycles and the way's latency. */
static void tile_dma(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 3, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(b, 0, 4, PORT(SOUTH, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(0, 256), strided = out, in = plain_bd(0, 256);
    strided.dimensions[0] = (struct tw_bd_dimension){.step = 8, .wrap = 16};
    put_bd(b, 0, 3, 0, &out);
    put_bd(b, 0, 3, 1, &strided);
    put_bd(b, 0, 4, 0, &in);
    uint64_t times[2];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t begin = tw_array_clock(b->array);
        start(b, 0, 4, TW_S2MM, 0, 0, 1, 0);
        start(b, 0, 3, TW_MM2S, 0, i, 1, 0);
        assert_int_equal(drain(b), 0);
        times[i] = tw_array_clock(b->array) - begin;
    }
    /* 2 + 4 + 5 to begin, 4 + 2 + 3 on the way, 5 until all is written. */
    assert_int_equal(times[0], 11 + 256 + 9 + 5);
    assert_int_equal(times[1], times[0]); /* strides cost nothing */
    board_free(b);
}

/*
 * A chain goes from one descriptor to the next in 2 cycles. Nobody sees them when the words of each lie side by side,
 * since those are read ahead.
 */
static uint64_t time_of_chain(unsigned row, uint32_t step, unsigned parts)
{
    struct board *b = board_new(1);
    uint32_t from = row == 1 ? OWN : 0;
    circuit(b, 0, row, PORT(DMA, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(from, 60 / parts), in = plain_bd(from + 0x400, 60);
    out.dimensions[0].step = step;
    put_bd(b, 0, row, 0, &out);
    put_bd(b, 0, row, 1, &in);
    start(b, 0, row, TW_S2MM, 0, 1, 1, 0);
    start(b, 0, row, TW_MM2S, 0, 0, parts, 0);
    assert_int_equal(drain(b), 0);
    uint64_t time = tw_array_clock(b->array);
    board_free(b);
    return time;
}

static void chains(void **state)
{
    (void)state;
    for (unsigned row = 1; row <= 2; row++) {
        assert_int_equal(time_of_chain(row, 4, 3) - time_of_chain(row, 4, 1), 2 * 2);
        assert_int_equal(time_of_chain(row, 1, 3), time_of_chain(row, 1, 1));
    }
}

/* From one DMA to another by a lock: what was written counts when it is in memory, and nothing was read ahead. */
static void handover(void **state)
{
    enum { WORDS = 100, BEGIN = 11, WAY = 9, MEMORY = 5, RETRY = 1, FETCH = MEMORY + 2 };
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(SOUTH, 0));
    circuit(b, 0, 1, PORT(NORTH, 0), PORT(DMA, 0));
    circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(0, WORDS), back = plain_bd(0x1000, WORDS), fill = plain_bd(OWN, WORDS), empty = fill;
    fill.release_id = empty.acquire_id = 64;
    fill.release_value = 1;
    empty.acquire_enable = 1;
    empty.acquire_value = -1;
    put_bd(b, 0, 2, 0, &out);
    put_bd(b, 0, 2, 1, &back);
    put_bd(b, 0, 1, 0, &fill);
    put_bd(b, 0, 1, 1, &empty);
    start(b, 0, 2, TW_S2MM, 0, 1, 1, 0);
    start(b, 0, 1, TW_MM2S, 0, 1, 1, 0);
    start(b, 0, 1, TW_S2MM, 0, 0, 1, 0);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), 0);
    enum { THERE = BEGIN + WORDS + WAY + MEMORY, BACK_AGAIN = RETRY + FETCH + WORDS + WAY + MEMORY };
    assert_int_equal(tw_array_clock(b->array), THERE + BACK_AGAIN);
    board_free(b);
}

/* Two channels of each column read words from the host, write them, or both at once; how many cycles it takes. */
enum { TRAFFIC = 20000 };
static uint64_t traffic(unsigned columns, int reads, int writes)
{
    struct board *b = board_new(columns);
    for (unsigned c = 0; c < columns; c++) {
        shim_dma(b, c);
        for (unsigned k = 0; k < 2; k++) {
            struct tw_bd host = plain_bd(HOST_ADDRESS, TRAFFIC), tile = plain_bd(OWN + 0x20000 * k, TRAFFIC);
            circuit(b, c, 1, PORT(SOUTH, k), PORT(DMA, k));
            circuit(b, c, 1, PORT(DMA, k), PORT(SOUTH, k));
            put_bd(b, c, 0, k, &host);
            put_bd(b, c, 1, k * 24, &tile);
            if (reads) {
                start(b, c, 1, TW_S2MM, k, k * 24, 1, 0);
                start(b, c, 0, TW_MM2S, k, k, 1, 0);
            }
            if (writes) {
                start(b, c, 0, TW_S2MM, k, k, 1, 0);
                start(b, c, 1, TW_MM2S, k, k * 24, 1, 0);
            }
        }
    }
    assert_int_equal(drain(b), 0);
    uint64_t time = tw_array_clock(b->array);
    board_free(b);
    return time;
}

/* Reads have 16 bytes a cycle, writes too, all together 21, and one channel 4. */
static void ddr_share(void **state)
{
    enum { ALL = 4 * 2 * TRAFFIC * 4 };
    (void)state;
    assert_in_range(traffic(1, 1, 0), TRAFFIC * 104 / 100 + 600, TRAFFIC * 105 / 100 + 1000);
    assert_in_range(traffic(1, 0, 1), TRAFFIC + 150, TRAFFIC + 300);
    assert_in_range(traffic(4, 1, 0), ALL / 16 + 600, ALL / 16 + 1000);
    assert_in_range(traffic(4, 0, 1), ALL / 16 + 100, ALL / 16 + 400);
    assert_in_range(traffic(4, 1, 1), 2 * ALL / 21, 2 * ALL / 21 + 1500);
}

/* Adds up when each descriptor of each channel came to its end, in no order. */
static void add_end(void *arg, const struct tw_trace_event *e)
{
    enum { CHANNEL = 1, UNIT = 4, ROW = 7, COLUMN = 10 };
    uint64_t *sum = arg, track = ((uint64_t)e->channel << CHANNEL | (uint64_t)e->unit << UNIT |
                                  (uint64_t)e->row << ROW | (uint64_t)e->column << COLUMN | 1);
    if (e->kind == TW_TRACE_END && e->what != TW_TRACE_WAIT_STREAM)
        *sum += e->cycle * e->cycle * track;
}

/*
 * Eight channels between host and memory tiles, both ways at once, through rings of unequal size: the DDR is shared,
 * some wait for locks, some for room. The end must be the same however far each is simulated ahead of the others.
 */
static uint64_t crowd(unsigned run_ahead)
{
    enum { WORDS = 3000, COLUMNS = 3 };
    uint64_t ends = 0;
    struct board *b = board_make(&(struct tw_array_options){
        .columns = COLUMNS, .run_ahead = run_ahead, .trace = {.event = add_end, .arg = &ends}});
    for (unsigned c = 0; c < COLUMNS; c++)
        for (unsigned k = 0; k < 2; k++) {
            uint32_t at = (c * 2 + k) * WORDS * 4, ring = 50 << (c + k);
            unsigned lock = 2 * k;
            if (k == 0)
                shim_dma(b, c);
            circuit(b, c, 1, PORT(SOUTH, k), PORT(DMA, k));
            circuit(b, c, 1, PORT(DMA, k), PORT(SOUTH, k));
            struct tw_bd in = plain_bd(HOST_ADDRESS + at, WORDS), out = plain_bd(HOST_ADDRESS + 0x80000 + at, WORDS);
            struct tw_bd fill = plain_bd(OWN + 0x20000 * k, ring), drain_it = fill;
            fill.acquire_enable = drain_it.acquire_enable = fill.use_next = drain_it.use_next = 1;
            fill.acquire_id = drain_it.release_id = (uint8_t)(64 + lock);
            fill.release_id = drain_it.acquire_id = (uint8_t)(65 + lock);
            fill.acquire_value = drain_it.acquire_value = -1;
            fill.release_value = drain_it.release_value = 1;
            fill.next = (uint8_t)(24 * k);
            drain_it.next = (uint8_t)(24 * k + 1);
            put(b, c, 1, tw_lock_offset(TW_TILE_MEMORY, lock), 1);
            put_bd(b, c, 1, 24 * k, &fill);
            put_bd(b, c, 1, 24 * k + 1, &drain_it);
            put_bd(b, c, 0, k, &in);
            put_bd(b, c, 0, 2 + k, &out);
            for (uint32_t i = 0; i < WORDS; i++)
                host_words(b, at)[i] = at + i;
            start(b, c, 1, TW_S2MM, k, 24 * k, 1, 0);
            start(b, c, 1, TW_MM2S, k, 24 * k + 1, 1, 0);
            start(b, c, 0, TW_S2MM, k, 2 + k, 1, 0);
            start(b, c, 0, TW_MM2S, k, k, 1, 0);
        }
    assert_int_equal(drain(b), TW_E_STATE); /* the rings go on for ever */
    for (uint32_t at = 0; at < 2 * COLUMNS * WORDS * 4; at += 4)
        if (at / 4 % WORDS < WORDS / 800 * 800) /* what whole rings make up */
            assert_int_equal(*host_words(b, 0x80000 + at), *host_words(b, at));
    assert_in_range(tw_array_clock(b->array), 3000, 20000);
    board_free(b);
    return ends;
}

static void order_of_simulation(void **state)
{
    static const unsigned ahead[] = {1, 2, 7, 64, 333, 5000, 1000000};
    (void)state;
    uint64_t end = crowd(0);
    for (unsigned i = 0; i < sizeof ahead / sizeof ahead[0]; i++)
        assert_int_equal(crowd(ahead[i]), end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shim_reads),
        cmocka_unit_test(shim_writes),
        cmocka_unit_test(tile_dma),
        cmocka_unit_test(chains),
        cmocka_unit_test(ddr_share),
        cmocka_unit_test(handover),
        cmocka_unit_test(order_of_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
