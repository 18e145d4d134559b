/* DMA between host, memory tiles and core tiles, without any core. */
#include "emu/array/board.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { IN = 0, OUT = HOST_BYTES / 2, OWN = 0x80000 /* own memory in a memory tile's window */ };

static void fill(struct board *b, uint32_t byte, uint32_t words, uint64_t seed)
{
    struct tw_random r = {seed};
    for (uint32_t i = 0; i < words; i++)
        host_words(b, byte)[i] = (uint32_t)tw_random_u64(&r);
}

static void expect_equal(struct board *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (host_words(b, IN)[i] != host_words(b, OUT)[i])
            fail_msg("word %u is 0x%x, not 0x%x", i, host_words(b, OUT)[i], host_words(b, IN)[i]);
}

/* The array's shim straight back to itself, as AMD's bandwidth test has it. */
static void shim_loopback(void **state)
{
    enum { WORDS = 5000 };
    struct board *b = board_new(4);
    (void)state;
    for (unsigned c = 0; c < 4; c++) {
        put(b, c, 0, TW_SHIM_MUX, 0x4400);
        put(b, c, 0, TW_SHIM_DEMUX, 0x50);
        token_circuit(b, c);
        for (unsigned k = 0; k < 2; k++) {
            uint32_t at = (c * 2 + k) * WORDS * 4;
            struct tw_bd in = plain_bd(HOST_ADDRESS + IN + at, WORDS), out = plain_bd(HOST_ADDRESS + OUT + at, WORDS);
            circuit(b, c, 0, PORT(SOUTH, tw_shim_mm2s_port(k)), PORT(SOUTH, tw_shim_s2mm_port(k)));
            put_bd(b, c, 0, k, &in);
            put_bd(b, c, 0, 2 + k, &out);
            fill(b, IN + at, WORDS, c * 2 + k);
            start(b, c, 0, TW_S2MM, k, 2 + k, 1, 6);
            start(b, c, 0, TW_MM2S, k, k, 1, 0);
        }
    }
    for (unsigned c = 0; c < 4; c++)
        for (unsigned k = 0; k < 2; k++)
            wait_token(b, c, 0, TW_S2MM, k);
    expect_equal(b, 8 * WORDS);
    /* 8 channels in, 8 out share 21 bytes a cycle. */
    uint64_t bytes = (uint64_t)8 * WORDS * 4 * 2;
    assert_in_range(tw_array_clock(b->array), bytes / 21, bytes / 21 + 3000);
    assert_int_equal(drain(b), 0);
    board_free(b);
}

/* Host, memory tile, core tile, memory tile, host. */
static void round_trip(void **state)
{
    enum { WORDS = 1024 };
    struct board *b = board_new(1);
    (void)state;
    shim_dma(b, 0);
    token_circuit(b, 0);
    circuit(b, 0, 1, PORT(SOUTH, 0), PORT(DMA, 0));
    circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 2));
    circuit(b, 0, 2, PORT(SOUTH, 2), PORT(DMA, 1));
    circuit(b, 0, 2, PORT(DMA, 0), PORT(SOUTH, 1));
    circuit(b, 0, 1, PORT(NORTH, 1), PORT(DMA, 4));
    circuit(b, 0, 1, PORT(DMA, 5), PORT(SOUTH, 0));
    struct tw_bd host_in = plain_bd(HOST_ADDRESS + IN, WORDS), host_out = plain_bd(HOST_ADDRESS + OUT, WORDS);
    struct tw_bd to_memory = plain_bd(OWN, WORDS), from_memory = to_memory;
    struct tw_bd to_core = plain_bd(0x1000, WORDS), from_core = to_core;
    struct tw_bd to_second = plain_bd(OWN + 0x10000, WORDS), from_second = to_second;
    to_memory.release_id = from_memory.acquire_id = 64 + 5;
    to_core.release_id = from_core.acquire_id = 3;
    to_second.release_id = from_second.acquire_id = 64 + 63;
    to_memory.release_value = to_core.release_value = to_second.release_value = 1;
    from_memory.acquire_enable = from_core.acquire_enable = from_second.acquire_enable = 1;
    from_memory.acquire_value = from_core.acquire_value = from_second.acquire_value = -1;
    put_bd(b, 0, 0, 0, &host_in);
    put_bd(b, 0, 0, 1, &host_out);
    put_bd(b, 0, 1, 0, &to_memory);
    put_bd(b, 0, 1, 1, &from_memory);
    put_bd(b, 0, 1, 2, &to_second);
    put_bd(b, 0, 1, 24, &from_second);
    put_bd(b, 0, 2, 0, &to_core);
    put_bd(b, 0, 2, 1, &from_core);
    fill(b, IN, WORDS, 3);
    start(b, 0, 1, TW_MM2S, 5, 24, 1, 0);
    start(b, 0, 1, TW_S2MM, 4, 2, 1, 0);
    start(b, 0, 2, TW_MM2S, 0, 1, 1, 0);
    start(b, 0, 2, TW_S2MM, 1, 0, 1, 0);
    start(b, 0, 1, TW_MM2S, 0, 1, 1, 0);
    start(b, 0, 1, TW_S2MM, 0, 0, 1, 0);
    start(b, 0, 0, TW_S2MM, 0, 1, 1, 1);
    start(b, 0, 0, TW_MM2S, 0, 0, 1, 0);
    wait_token(b, 0, 0, TW_S2MM, 0);
    expect_equal(b, WORDS);
    assert_int_equal(drain(b), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(get(b, 0, 2, 0x1000 + 4 * i), host_words(b, IN)[i]);
    struct tw_tile_counts counts;
    assert_int_equal(tw_array_counts(b->array, 0, 1, &counts), 0);
    assert_int_equal(counts.words_in, 2 * WORDS);
    assert_int_equal(counts.words_out, 2 * WORDS);
    /* Four times the words one after the other, and what the stations cost. */
    assert_in_range(tw_array_clock(b->array), 4 * WORDS, 4 * WORDS + 2500);
    board_free(b);
}

/* Core tile to itself: a chain of three descriptors, executed twice, the first with iteration. */
static void chain_repeat_iteration(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 3, PORT(DMA, 0), PORT(DMA, 0));
    struct tw_bd first = plain_bd(0, 4), second = plain_bd(0x100, 4), third = plain_bd(0x200, 4);
    struct tw_bd sink = plain_bd(0x4000, 12);
    first.iteration.count = 3;
    first.iteration.step = 8;
    first.use_next = second.use_next = sink.use_next = 1;
    first.next = 7;
    second.next = 9;
    sink.next = 2;
    third.dimensions[0] = (struct tw_bd_dimension){.step = 2, .wrap = 2};
    third.dimensions[1].step = 16;
    struct tw_bd rest = plain_bd(0x5000, 12);
    put_bd(b, 0, 3, 0, &first);
    put_bd(b, 0, 3, 7, &second);
    put_bd(b, 0, 3, 9, &third);
    put_bd(b, 0, 3, 1, &sink);
    put_bd(b, 0, 3, 2, &rest);
    for (uint32_t at = 0; at < 0x400; at += 4)
        put(b, 0, 3, at, at);
    start(b, 0, 3, TW_S2MM, 0, 1, 1, 0);
    start(b, 0, 3, TW_MM2S, 0, 0, 2, 0);
    assert_int_equal(drain(b), 0);
    static const uint32_t expected[24] = {0,     4,     8,     12,    0x100, 0x104, 0x108, 0x10c,
                                          0x200, 0x208, 0x240, 0x248, 0x20,  0x24,  0x28,  0x2c,
                                          0x100, 0x104, 0x108, 0x10c, 0x200, 0x208, 0x240, 0x248};
    for (uint32_t i = 0; i < 24; i++)
        assert_int_equal(get(b, 0, 3, (i < 12 ? 0x4000 : 0x5000 - 48) + 4 * i), expected[i]);
    /* Two executions: the iteration stands at 2, and begins again after the third. */
    enum { CURRENT_SHIFT = 19, CURRENT_TOP = 0x3f };
    uint32_t word = tw_bd_offset(TW_TILE_CORE, 0) + 16;
    assert_int_equal(get(b, 0, 3, word) >> CURRENT_SHIFT & CURRENT_TOP, 2);
    start(b, 0, 3, TW_S2MM, 0, 1, 1, 0);
    start(b, 0, 3, TW_MM2S, 0, 0, 2, 0);
    assert_int_equal(drain(b), 0);
    assert_int_equal(get(b, 0, 3, 0x4000), 0x40);
    assert_int_equal(get(b, 0, 3, 0x5000), 0);
    assert_int_equal(get(b, 0, 3, word) >> CURRENT_SHIFT & CURRENT_TOP, 1);
    board_free(b);
}

/* A memory tile adds a frame of zeros to a 3 x 4 picture. */
static void zero_padding(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 1, PORT(DMA, 1), PORT(DMA, 1));
    struct tw_bd out = plain_bd(OWN, 7 * 6), in = plain_bd(OWN + 0x1000, 7 * 6);
    out.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = 4, .zeros_before = 1, .zeros_after = 2};
    out.dimensions[1] = (struct tw_bd_dimension){.step = 10, .wrap = 3, .zeros_before = 2, .zeros_after = 1};
    put_bd(b, 0, 1, 24, &out);
    put_bd(b, 0, 1, 25, &in);
    for (uint32_t i = 0; i < 100; i++) {
        put(b, 0, 1, 4 * i, 1000 + i);
        put(b, 0, 1, 0x1000 + 4 * i, 7);
    }
    start(b, 0, 1, TW_S2MM, 1, 25, 1, 0);
    start(b, 0, 1, TW_MM2S, 1, 24, 1, 0);
    assert_int_equal(drain(b), 0);
    for (uint32_t y = 0; y < 6; y++)
        for (uint32_t x = 0; x < 7; x++) {
            int inside = y >= 2 && y < 5 && x >= 1 && x < 5;
            assert_int_equal(get(b, 0, 1, 0x1000 + 4 * (y * 7 + x)), inside ? 1000 + (y - 2) * 10 + x - 1 : 0);
        }
    assert_int_equal(get(b, 0, 1, 0x1000 + 4 * 42), 7);
    board_free(b);
}

/* Memory tiles reach the memories and locks of both neighbours, by channels 0 to 3 only. */
static void neighbour_windows(void **state)
{
    struct board *b = board_new(3);
    (void)state;
    circuit(b, 1, 1, PORT(DMA, 3), PORT(DMA, 3));
    struct tw_bd out = plain_bd(0x100, 8), in = plain_bd(2 * OWN + 0x200, 8);
    out.acquire_enable = 1;
    out.acquire_id = 5; /* west */
    out.acquire_value = -2;
    in.release_id = 128 + 6; /* east */
    in.release_value = 3;
    put_bd(b, 1, 1, 24, &out);
    put_bd(b, 1, 1, 25, &in);
    for (uint32_t i = 0; i < 8; i++)
        put(b, 0, 1, 0x100 + 4 * i, 77 + i);
    start(b, 1, 1, TW_S2MM, 3, 25, 1, 0);
    start(b, 1, 1, TW_MM2S, 3, 24, 1, 0);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_int_equal(get(b, 2, 1, 0x200), 0);
    put(b, 0, 1, tw_lock_offset(TW_TILE_MEMORY, 5), 2);
    assert_int_equal(drain(b), 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(get(b, 2, 1, 0x200 + 4 * i), 77 + i);
    assert_int_equal(get(b, 0, 1, tw_lock_offset(TW_TILE_MEMORY, 5)), 0);
    assert_int_equal(get(b, 2, 1, tw_lock_offset(TW_TILE_MEMORY, 6)), 3);
    start(b, 1, 1, TW_MM2S, 5, 24, 1, 0);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "DMA (1, 1) MM2S 5"));
    assert_true(status(b, 1, 1, TW_MM2S, 5) & TW_DMA_LOCK_UNAVAILABLE);
    board_free(b);

    b = board_new(1); /* nothing is west of the partition */
    struct tw_bd west = plain_bd(0x100, 8);
    put_bd(b, 0, 1, 0, &west);
    start(b, 0, 1, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_true(status(b, 0, 1, TW_MM2S, 0) & TW_DMA_MEMORY_UNAVAILABLE);
    board_free(b);
}

/* The fifth task that is not done yet is lost, and the status says so. */
static void queue_overflow(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 1), PORT(DMA, 1));
    struct tw_bd in = plain_bd(0, 4), out = plain_bd(0x100, 4);
    in.iteration.count = 8;
    in.iteration.step = 4;
    put_bd(b, 0, 2, 0, &in);
    put_bd(b, 0, 2, 1, &out);
    for (unsigned i = 0; i < 4; i++)
        start(b, 0, 2, TW_S2MM, 1, 0, 1, 0);
    assert_false(status(b, 0, 2, TW_S2MM, 1) & TW_DMA_QUEUE_OVERFLOW);
    start(b, 0, 2, TW_S2MM, 1, 0, 1, 0);
    assert_true(status(b, 0, 2, TW_S2MM, 1) & TW_DMA_QUEUE_OVERFLOW);
    assert_true(status(b, 0, 2, TW_S2MM, 1) & TW_DMA_RUNNING);
    start(b, 0, 2, TW_MM2S, 1, 1, 4, 0);
    if (drain(b) != 0)
        fail_msg("%s", b->err.text);
    assert_int_equal(status(b, 0, 2, TW_S2MM, 1), TW_DMA_QUEUE_OVERFLOW);
    struct tw_tile_counts counts;
    tw_array_counts(b->array, 0, 2, &counts);
    assert_int_equal(counts.words_in, 16);
    put(b, 0, 2, tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_S2MM, 1}), 2);
    put(b, 0, 2, tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_S2MM, 1}), 0);
    assert_int_equal(status(b, 0, 2, TW_S2MM, 1), 0);
    board_free(b);
}

/* The other reading of the sources: four besides the one that runs. */
static void longer_queue(void **state)
{
    struct tw_unknown unknown = tw_unknown_defaults;
    unknown.queue_holds_running = 0;
    struct board *b = board_make(&(struct tw_array_options){.columns = 1, .unknown = &unknown});
    (void)state;
    struct tw_bd in = plain_bd(0, 4);
    put_bd(b, 0, 2, 0, &in);
    for (unsigned i = 0; i < 5; i++)
        start(b, 0, 2, TW_S2MM, 1, 0, 1, 0);
    enum { FOUR_WAIT = 4 << TW_DMA_QUEUE_SHIFT, QUEUE_MASK = 7 << TW_DMA_QUEUE_SHIFT };
    assert_int_equal(status(b, 0, 2, TW_S2MM, 1) & (QUEUE_MASK | TW_DMA_QUEUE_OVERFLOW), FOUR_WAIT);
    start(b, 0, 2, TW_S2MM, 1, 0, 1, 0);
    assert_true(status(b, 0, 2, TW_S2MM, 1) & TW_DMA_QUEUE_OVERFLOW);
    board_free(b);
}

/* A transfer may go from one of the host's buffers into the next, but not into one that must not be written. */
static void host_buffers(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    shim_dma(b, 0);
    circuit(b, 0, 0, PORT(SOUTH, 3), PORT(SOUTH, 2));
    struct tw_bd in = plain_bd(HOST_ADDRESS + HOST_SECOND - 40, 30),
                 out = plain_bd(HOST_ADDRESS + HOST_SECOND - 400, 30);
    for (uint32_t i = 0; i < 30; i++)
        host_words(b, HOST_SECOND - 40)[i] = 70 + i;
    put_bd(b, 0, 0, 0, &in);
    put_bd(b, 0, 0, 1, &out);
    start(b, 0, 0, TW_S2MM, 0, 1, 1, 0);
    start(b, 0, 0, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), 0);
    for (uint32_t i = 0; i < 30; i++)
        assert_int_equal(host_words(b, HOST_SECOND - 400)[i], 70 + i);
    b->second_is_constant = 1;
    start(b, 0, 0, TW_S2MM, 0, 0, 1, 0);
    start(b, 0, 0, TW_MM2S, 0, 1, 1, 0);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "DMA (0, 0) S2MM 0, descriptor 0, there is no memory at the device address"));
    assert_true(status(b, 0, 0, TW_S2MM, 0) & TW_DMA_AXI_DECODE_ERROR);
    board_free(b);
}

/* A reset gives up what waits, also for a lock. */
static void reset_while_waiting(void **state)
{
    struct board *b = board_new(1);
    uint32_t control = tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_MM2S, 0});
    (void)state;
    struct tw_bd bd = plain_bd(0, 4);
    bd.acquire_enable = 1;
    bd.acquire_id = 2;
    bd.acquire_value = -1;
    put_bd(b, 0, 2, 0, &bd);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_true(status(b, 0, 2, TW_MM2S, 0) & TW_DMA_STALLED_ACQUIRE);
    put(b, 0, 2, control, 2);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0); /* falls on deaf ears */
    put(b, 0, 2, control, 0);
    assert_int_equal(drain(b), 0);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 2), 1);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 2)), 1); /* nobody took it */
    board_free(b);
}

/* Two buffers by turns: the order is that of the locks. */
static void lock_order(void **state)
{
    enum { ROUNDS = 20, WORDS = 16 };
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 4, PORT(DMA, 0), PORT(DMA, 0)); /* producer: source list into two buffers */
    circuit(b, 0, 4, PORT(DMA, 1), PORT(DMA, 1)); /* consumer: buffers into the result list */
    struct tw_bd source = plain_bd(0, WORDS), result = plain_bd(0x8000, WORDS);
    source.iteration.count = result.iteration.count = ROUNDS;
    source.iteration.step = result.iteration.step = WORDS;
    put_bd(b, 0, 4, 0, &source);
    put_bd(b, 0, 4, 1, &result);
    for (unsigned k = 0; k < 2; k++) {
        struct tw_bd in = plain_bd(0x4000 + 0x100 * k, WORDS), out = in;
        in.acquire_enable = out.acquire_enable = in.use_next = out.use_next = 1;
        in.acquire_id = out.release_id = 0; /* free buffers */
        in.release_id = out.acquire_id = 1; /* full ones */
        in.acquire_value = out.acquire_value = -1;
        in.release_value = out.release_value = 1;
        in.next = (uint8_t)(2 + (k ^ 1));
        out.next = (uint8_t)(4 + (k ^ 1));
        put_bd(b, 0, 4, 2 + k, &in);
        put_bd(b, 0, 4, 4 + k, &out);
    }
    put(b, 0, 4, tw_lock_offset(TW_TILE_CORE, 0), 2);
    for (uint32_t i = 0; i < ROUNDS * WORDS; i++)
        put(b, 0, 4, 4 * i, 5000 + i);
    start(b, 0, 4, TW_S2MM, 0, 2, 1, 0);
    start(b, 0, 4, TW_MM2S, 1, 4, 1, 0);
    start(b, 0, 4, TW_S2MM, 1, 1, ROUNDS, 0);
    start(b, 0, 4, TW_MM2S, 0, 0, ROUNDS, 0);
    assert_int_equal(drain(b), TW_E_STATE); /* the chains go on for ever */
    for (uint32_t i = 0; i < ROUNDS * WORDS; i++)
        assert_int_equal(get(b, 0, 4, 0x8000 + 4 * i), 5000 + i);
    assert_int_equal(get(b, 0, 4, tw_lock_offset(TW_TILE_CORE, 0)), 1); /* one is being waited into */
    assert_int_equal(get(b, 0, 4, tw_lock_offset(TW_TILE_CORE, 1)), 0);
    board_free(b);
}

/* Both kinds of acquire. */
static void acquire_kinds(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    struct tw_bd bd = plain_bd(0, 4);
    bd.acquire_enable = 1;
    bd.acquire_value = 3; /* exactly */
    struct tw_bd in = plain_bd(0x1000, 4);
    circuit(b, 0, 2, PORT(DMA, 0), PORT(DMA, 0));
    put_bd(b, 0, 2, 0, &bd);
    put_bd(b, 0, 2, 1, &in);
    start(b, 0, 2, TW_S2MM, 0, 1, 2, 0);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0), 4);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), TW_E_STATE);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0), 3);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0)), 0);
    assert_int_equal(status(b, 0, 2, TW_MM2S, 0), 0);
    bd.acquire_value = -3; /* at least */
    put_bd(b, 0, 2, 0, &bd);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0), 5);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), 0);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0)), 2);
    board_free(b);
}

static void expect_failure(struct board *b, unsigned row, enum tw_dma_direction direction, uint32_t bit,
                           const char *sentence)
{
    int result = drain(b);
    assert_true(result == TW_E_ARGUMENT || result == TW_E_UNSUPPORTED);
    if (strstr(b->err.text, sentence) == NULL)
        fail_msg("'%s' is not in '%s'", sentence, b->err.text);
    assert_int_equal(status(b, 0, row, direction, 0) & bit, bit);
    /* It stays so until a reset. */
    assert_int_equal(drain(b), result);
    tw_array_reset(b->array);
    assert_int_equal(drain(b), 0);
    assert_int_equal(status(b, 0, row, direction, 0), 0);
}

static void errors(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    start(b, 0, 2, TW_MM2S, 0, 3, 1, 0);
    expect_failure(b, 2, TW_MM2S, TW_DMA_BD_INVALID, "DMA (0, 2) MM2S 0, descriptor 3: its valid bit is not set");

    struct tw_bd bd = plain_bd(OWN, 4);
    put_bd(b, 0, 1, 24, &bd);
    start(b, 0, 1, TW_MM2S, 0, 24, 1, 0);
    expect_failure(b, 1, TW_MM2S, TW_DMA_BD_UNAVAILABLE, "cannot use it");

    bd = plain_bd(0xfff0, 8);
    put_bd(b, 0, 2, 0, &bd);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    expect_failure(b, 2, TW_MM2S, TW_DMA_MEMORY_UNAVAILABLE, "outside the tile's memory");

    bd = plain_bd(0, 0);
    put_bd(b, 0, 2, 0, &bd);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    expect_failure(b, 2, TW_MM2S, 0, "not modelled");

    enum { COMPRESSION = 1 << 4, COUNTS = 2 << 16 };
    bd = plain_bd(0, 4);
    bd.compression = 1;
    put_bd(b, 0, 2, 0, &bd);
    put(b, 0, 2, tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_MM2S, 0}), COMPRESSION);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    expect_failure(b, 2, TW_MM2S, 0, "compression is not modelled");

    bd = plain_bd(0, 4);
    put_bd(b, 0, 2, 0, &bd);
    put(b, 0, 2, tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_S2MM, 0}), COUNTS);
    start(b, 0, 2, TW_S2MM, 0, 0, 1, 0);
    expect_failure(b, 2, TW_S2MM, 0, "finish on TLAST with counts is not modelled");

    shim_dma(b, 0);
    bd = plain_bd(HOST_ADDRESS + HOST_BYTES - 8, 4);
    put_bd(b, 0, 0, 0, &bd);
    start(b, 0, 0, TW_MM2S, 0, 0, 1, 0);
    expect_failure(b, 0, TW_MM2S, TW_DMA_AXI_DECODE_ERROR,
                   "no memory at the device address (AXI decode error): 0x40100000");

    bd = plain_bd(0, 4);
    bd.release_value = -1;
    put_bd(b, 0, 2, 0, &bd);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "lock 0 of tile (0, 2), whose value is 0, cannot take -1 more"));
    enum { UNDERFLOW_REGISTER = 0x1f128 };
    assert_int_equal(get(b, 0, 2, UNDERFLOW_REGISTER), 1);
    put(b, 0, 2, UNDERFLOW_REGISTER, 1);
    assert_int_equal(get(b, 0, 2, UNDERFLOW_REGISTER), 0);
    board_free(b);
}

/* Finish on TLAST: the sender's descriptors are shorter than the receiver's. */
static void finish_on_tlast(void **state)
{
    enum { FINISH_ON_TLAST = 1 << 16 };
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(0, 5), in = plain_bd(0x1000, 100);
    in.iteration.count = 4;
    in.iteration.step = 64;
    put_bd(b, 0, 2, 0, &out);
    put_bd(b, 0, 2, 1, &in);
    put(b, 0, 2, tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_S2MM, 0}), FINISH_ON_TLAST);
    for (uint32_t i = 0; i < 5; i++)
        put(b, 0, 2, 4 * i, 1 + i);
    start(b, 0, 2, TW_S2MM, 0, 1, 3, 0);
    start(b, 0, 2, TW_MM2S, 0, 0, 3, 0);
    assert_int_equal(drain(b), 0);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(get(b, 0, 2, 0x1000 + k * 256 + 4 * i), i < 5 ? 1 + i : 0);
    board_free(b);
}

/* A paused shim channel goes on where it was. */
static void pause_and_go_on(void **state)
{
    enum { PAUSE = 2 };
    struct board *b = board_new(1);
    uint32_t control = tw_dma_control_offset(TW_TILE_SHIM, (struct tw_dma_channel){TW_S2MM, 0});
    (void)state;
    shim_dma(b, 0);
    circuit(b, 0, 0, PORT(SOUTH, tw_shim_mm2s_port(0)), PORT(SOUTH, tw_shim_s2mm_port(0)));
    struct tw_bd in = plain_bd(HOST_ADDRESS + IN, 2000), out = plain_bd(HOST_ADDRESS + OUT, 2000);
    put_bd(b, 0, 0, 0, &in);
    put_bd(b, 0, 0, 1, &out);
    fill(b, IN, 2000, 9);
    start(b, 0, 0, TW_S2MM, 0, 1, 1, 0);
    start(b, 0, 0, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(tw_array_advance(b->array, 2500, &b->err), 0);
    put(b, 0, 0, control, PAUSE);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_non_null(strstr(b->err.text, "because it is paused"));
    put(b, 0, 0, control, 0);
    assert_int_equal(drain(b), 0);
    expect_equal(b, 2000);
    board_free(b);
}

/* The same set-up takes the same time, to the cycle, and words may be looked at in between. */
static uint64_t timed_run(uint64_t step)
{
    struct board *b = board_new(2);
    for (unsigned c = 0; c < 2; c++) {
        shim_dma(b, c);
        circuit(b, c, 1, PORT(SOUTH, 0), PORT(DMA, 0));
        circuit(b, c, 1, PORT(DMA, 0), PORT(SOUTH, 0));
        struct tw_bd in = plain_bd(HOST_ADDRESS, 700 + c * 50), out = in, ring = plain_bd(OWN, 50), back = ring;
        out.address += OUT + c * 0x1000;
        ring.acquire_enable = back.acquire_enable = 1;
        ring.acquire_id = back.release_id = 64;
        ring.release_id = back.acquire_id = 65;
        ring.acquire_value = back.acquire_value = -1;
        ring.release_value = back.release_value = 1;
        put(b, c, 1, tw_lock_offset(TW_TILE_MEMORY, 0), 1);
        put_bd(b, c, 0, 0, &in);
        put_bd(b, c, 0, 1, &out);
        put_bd(b, c, 1, 0, &ring);
        put_bd(b, c, 1, 1, &back);
        start(b, c, 1, TW_S2MM, 0, 0, 14 + c, 0);
        start(b, c, 1, TW_MM2S, 0, 1, 14 + c, 0);
        start(b, c, 0, TW_S2MM, 0, 1, 1, 0);
        start(b, c, 0, TW_MM2S, 0, 0, 1, 0);
    }
    for (uint64_t until = step; step > 0 && until < 6000; until += step)
        assert_int_equal(tw_array_advance(b->array, until, &b->err), 0);
    uint64_t clock = 0;
    if (step == 0) {
        assert_int_equal(drain(b), 0);
        clock = tw_array_clock(b->array);
    } else {
        assert_int_equal(drain(b), 0);
    }
    board_free(b);
    return clock;
}

static void determinism(void **state)
{
    (void)state;
    uint64_t first = timed_run(0);
    assert_in_range(first, 1500, 6000);
    assert_int_equal(timed_run(0), first);
    timed_run(7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shim_loopback),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(chain_repeat_iteration),
        cmocka_unit_test(zero_padding),
        cmocka_unit_test(neighbour_windows),
        cmocka_unit_test(queue_overflow),
        cmocka_unit_test(longer_queue),
        cmocka_unit_test(host_buffers),
        cmocka_unit_test(reset_while_waiting),
        cmocka_unit_test(lock_order),
        cmocka_unit_test(acquire_kinds),
        cmocka_unit_test(errors),
        cmocka_unit_test(finish_on_tlast),
        cmocka_unit_test(pause_and_go_on),
        cmocka_unit_test(determinism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
