/* Circuits to several sinks, back-pressure, packets through arbiters, tokens, control packets. */
#include "emu/array/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { OWN = 0x80000 };

static void numbers(struct board *b, unsigned column, unsigned row, uint32_t offset, uint32_t n, uint32_t first)
{
    for (uint32_t i = 0; i < n; i++)
        put(b, column, row, offset + 4 * i, first + i);
}

static void expect_numbers(struct board *b, unsigned column, unsigned row, uint32_t offset, uint32_t n, uint32_t first)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = get(b, column, row, offset + 4 * i);
        if (value != first + i)
            fail_msg("word %u of tile (%u, %u) is 0x%x, not 0x%x", i, column, row, value, first + i);
    }
}

static void task(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel,
                 unsigned number, const struct tw_bd *bd)
{
    put_bd(b, column, row, number, bd);
    start(b, column, row, direction, channel, number, 1, 0);
}

/* One source, four cores of a column; the last sink begins only when a lock lets it. */
static void multicast(void **state)
{
    enum { WORDS = 400 };
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 3));
    for (unsigned row = 2; row < 6; row++) {
        circuit(b, 0, row, PORT(SOUTH, 3), PORT(DMA, 0));
        if (row < 5)
            circuit(b, 0, row, PORT(SOUTH, 3), PORT(NORTH, 3));
        struct tw_bd in = plain_bd(0x100 * row, WORDS);
        in.acquire_enable = row == 4;
        in.acquire_value = -1;
        task(b, 0, row, TW_S2MM, 0, 0, &in);
    }
    numbers(b, 0, 1, 0, WORDS, 9000);
    struct tw_bd out = plain_bd(OWN, WORDS);
    task(b, 0, 1, TW_MM2S, 0, 0, &out);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_non_null(strstr(b->err.text,
                           "DMA (0, 4) S2MM 0 waits in descriptor 0 for lock 0 of tile (0, 4), whose value "
                           "is 0, to be at least 1"));
    assert_non_null(strstr(b->err.text, "DMA (0, 1) MM2S 0 waits in descriptor 0 for room in its stream"));
    assert_true(status(b, 0, 1, TW_MM2S, 0) & TW_DMA_STALLED_STREAM);
    /* The others are ahead of the one that waits by no more than what its way holds. */
    struct tw_tile_counts counts;
    tw_array_counts(b->array, 0, 2, &counts);
    assert_in_range(counts.words_in, 20, 128);
    expect_numbers(b, 0, 5, 0x500, 20, 9000);
    put(b, 0, 4, tw_lock_offset(TW_TILE_CORE, 0), 1);
    assert_int_equal(drain(b), 0);
    for (unsigned row = 2; row < 6; row++)
        expect_numbers(b, 0, row, 0x100 * row, WORDS, 9000);
    board_free(b);
}

/* Words that find no sink fill the way, which holds about 48 (memory tile to core tile), and no more. */
static void back_pressure(void **state)
{
    struct board *b = board_new(1);
    struct tw_tile_counts counts;
    (void)state;
    circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(OWN, 500), in = plain_bd(0, 500);
    task(b, 0, 1, TW_MM2S, 0, 0, &out);
    assert_int_equal(drain(b), TW_E_STATE);
    tw_array_counts(b->array, 0, 1, &counts);
    assert_in_range(counts.words_out, 40, 56);
    uint64_t before = tw_array_clock(b->array);
    task(b, 0, 2, TW_S2MM, 0, 0, &in);
    assert_int_equal(drain(b), 0);
    assert_in_range(tw_array_clock(b->array) - before, 500, 530); /* one word a cycle from then on */
    board_free(b);
}

/* A stream that leads nowhere. */
static void no_route(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    struct tw_bd out = plain_bd(0, 500);
    task(b, 0, 2, TW_MM2S, 1, 0, &out);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_non_null(strstr(b->err.text, "DMA (0, 2) MM2S 1 waits in descriptor 0 for room in its stream, which leads "
                                        "nowhere"));
    /* The way is made later: the words that wait go on. */
    struct tw_bd in = plain_bd(0x1000, 500);
    numbers(b, 0, 2, 0, 500, 1);
    circuit(b, 0, 2, PORT(DMA, 1), PORT(EAST, 2));
    assert_int_equal(drain(b), TW_E_STATE);
    circuit(b, 0, 2, PORT(DMA, 1), PORT(DMA, 1));
    task(b, 0, 2, TW_S2MM, 1, 1, &in);
    assert_int_equal(drain(b), 0);
    expect_numbers(b, 0, 2, 0x1000 + 4 * 16, 500 - 16, 17); /* the first 16 had been read before they were written */
    board_free(b);
}

/* East, west, FIFO; isolation cuts a way. */
static void around(void **state)
{
    enum { ISOLATE_EAST = 8, ISOLATE_WEST = 2, TILE_CONTROL = 0x36030 };
    struct board *b = board_new(2);
    (void)state;
    circuit(b, 0, 3, PORT(DMA, 0), PORT(FIFO, 0));
    circuit(b, 0, 3, PORT(FIFO, 0), PORT(EAST, 1));
    circuit(b, 1, 3, PORT(WEST, 1), PORT(NORTH, 5));
    circuit(b, 1, 4, PORT(SOUTH, 5), PORT(WEST, 3));
    circuit(b, 0, 4, PORT(EAST, 3), PORT(DMA, 1));
    put(b, 0, 3, TILE_CONTROL, ISOLATE_EAST);
    struct tw_bd out = plain_bd(0, 100), in = plain_bd(0x800, 100);
    numbers(b, 0, 3, 0, 100, 50);
    task(b, 0, 3, TW_MM2S, 0, 0, &out);
    task(b, 0, 4, TW_S2MM, 1, 0, &in);
    assert_int_equal(drain(b), TW_E_STATE);
    put(b, 0, 3, TILE_CONTROL, 0);
    put(b, 1, 3, TILE_CONTROL, ISOLATE_WEST);
    assert_int_equal(drain(b), TW_E_STATE);
    put(b, 1, 3, TILE_CONTROL, 0);
    assert_int_equal(drain(b), 0);
    expect_numbers(b, 0, 4, 0x800, 100, 50);
    board_free(b);
}

static struct tw_bd packet_bd(uint64_t address, uint32_t words, unsigned id)
{
    struct tw_bd bd = plain_bd(address, words);
    bd.packet_enable = 1;
    bd.packet_id = (uint8_t)id;
    bd.packet_type = 2;
    return bd;
}

static unsigned source_of(const uint8_t *ids, unsigned n, unsigned id)
{
    unsigned i = 0;
    while (i < n && ids[i] != id)
        i++;
    assert_true(i < n);
    return i;
}

/* Three sources through one arbiter into one channel: packets stay whole, and each has its turn. */
static void merge(void **state)
{
    enum { SOURCES = 3, PACKETS = 40, WORDS = 10 };
    static const uint8_t ids[SOURCES] = {1, 6, 9};
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(NORTH, 0));
    rule(b, 0, 3, PORT(SOUTH, 0), 0, 1, 0x1f, 2, 1);
    rule(b, 0, 3, PORT(DMA, 0), 0, 4, 0x1c, 2, 1);
    rule(b, 0, 3, PORT(DMA, 1), 0, 9, 0x1f, 2, 1);
    packet_master(b, 0, 3, PORT(NORTH, 1), 2, 1 << 1, 0);
    circuit(b, 0, 4, PORT(SOUTH, 1), PORT(DMA, 0));
    for (unsigned k = 0; k < SOURCES; k++) {
        unsigned row = k == 0 ? 2 : 3, channel = k == 2;
        struct tw_bd out = packet_bd(0x2000 * k, WORDS, ids[k]);
        out.iteration.count = PACKETS;
        out.iteration.step = WORDS;
        numbers(b, 0, row, 0x2000 * k, PACKETS * WORDS, (k + 1) * 1000);
        put_bd(b, 0, row, k, &out);
        start(b, 0, row, TW_MM2S, channel, k, PACKETS, 0);
    }
    struct tw_bd in = plain_bd(0, SOURCES * PACKETS * (WORDS + 1));
    task(b, 0, 4, TW_S2MM, 0, 0, &in);
    assert_int_equal(drain(b), 0);
    unsigned count[SOURCES] = {0}, order[SOURCES];
    for (unsigned p = 0; p < SOURCES * PACKETS; p++) {
        uint32_t at = p * (WORDS + 1) * 4, header = get(b, 0, 4, at);
        struct tw_packet_header h = tw_packet_header_decode(header);
        unsigned from = source_of(ids, SOURCES, h.id);
        if (p < SOURCES)
            order[p] = from;
        assert_int_equal(from, order[p % SOURCES]);
        assert_int_equal(h.row, from == 0 ? 2 : 3);
        assert_int_equal(h.type, 2);
        assert_int_equal(h.column, 0);
        assert_int_equal(header, tw_packet_header_encode(&h));
        expect_numbers(b, 0, 4, at + 4, WORDS, (from + 1) * 1000 + count[from]++ * WORDS);
    }
    for (unsigned k = 0; k < SOURCES; k++)
        assert_int_equal(count[k], PACKETS);
    /* One comes right behind the other. */
    uint64_t words = SOURCES * PACKETS * (WORDS + 1);
    assert_in_range(tw_array_clock(b->array), words, words + 60);
    board_free(b);
}

/* One packet to two masters of its arbiter, one of which drops the header; another packet to one only. */
static void packet_multicast(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    rule(b, 0, 1, PORT(DMA, 0), 0, 3, 0x1f, 0, 0);
    rule(b, 0, 1, PORT(DMA, 0), 1, 0, 0, 0, 1); /* everything else */
    packet_master(b, 0, 1, PORT(NORTH, 0), 0, 1 << 0, 1);
    packet_master(b, 0, 1, PORT(NORTH, 1), 0, 1 << 0 | 1 << 1, 0);
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    circuit(b, 0, 2, PORT(SOUTH, 1), PORT(DMA, 1));
    struct tw_bd first = packet_bd(OWN, 20, 3), second = packet_bd(OWN + 80, 5, 9);
    first.use_next = 1;
    first.next = 1;
    numbers(b, 0, 1, 0, 25, 100);
    put_bd(b, 0, 1, 1, &second);
    struct tw_bd without = plain_bd(0, 20), with = plain_bd(0x400, 27);
    task(b, 0, 2, TW_S2MM, 0, 0, &without);
    task(b, 0, 2, TW_S2MM, 1, 1, &with);
    task(b, 0, 1, TW_MM2S, 0, 0, &first);
    assert_int_equal(drain(b), 0);
    expect_numbers(b, 0, 2, 0, 20, 100);
    assert_int_equal(tw_packet_header_decode(get(b, 0, 2, 0x400)).id, 3);
    expect_numbers(b, 0, 2, 0x404, 20, 100);
    assert_int_equal(tw_packet_header_decode(get(b, 0, 2, 0x404 + 80)).id, 9);
    expect_numbers(b, 0, 2, 0x408 + 80, 5, 120);
    board_free(b);
}

/* A packet that nobody takes keeps its arbiter from another one; both are named. */
static void held_arbiter(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        rule(b, 0, 2, PORT(DMA, k), 0, k, 0x1f, 4, k);
        packet_master(b, 0, 2, PORT(DMA, k), 4, 1 << k, 1);
    }
    struct tw_bd first = packet_bd(0, 100, 0), second = packet_bd(0, 4, 1), in = plain_bd(0x1000, 4);
    numbers(b, 0, 2, 0, 4, 40);
    task(b, 0, 2, TW_MM2S, 0, 0, &first);
    assert_int_equal(drain(b), TW_E_STATE);
    task(b, 0, 2, TW_MM2S, 1, 1, &second);
    task(b, 0, 2, TW_S2MM, 1, 2, &in);
    assert_int_equal(drain(b), TW_E_STATE);
    assert_non_null(strstr(b->err.text, "a packet at slave dma 1 of tile (0, 2) waits for an arbiter that the one at "
                                        "slave dma 0 of tile (0, 2) holds"));
    struct tw_bd rest = plain_bd(0x2000, 100);
    task(b, 0, 2, TW_S2MM, 0, 3, &rest);
    assert_int_equal(drain(b), 0);
    expect_numbers(b, 0, 2, 0x1000, 4, 40);
    board_free(b);
}

/* Receivers out of order: each packet says which descriptor it is for. */
static void out_of_order(void **state)
{
    enum { OUT_OF_ORDER = 8 };
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(DMA, 0));
    put(b, 0, 2, tw_dma_control_offset(TW_TILE_CORE, (struct tw_dma_channel){TW_S2MM, 0}), OUT_OF_ORDER);
    static const uint8_t order[] = {5, 9, 4};
    for (unsigned k = 0; k < 3; k++) {
        struct tw_bd out = packet_bd(0x40 * k, 8, 0), in = plain_bd(0x1000 + 0x100 * order[k], 8);
        out.out_of_order_id = order[k];
        out.use_next = k < 2;
        out.next = (uint8_t)(k + 1);
        in.release_id = 1;
        in.release_value = 1;
        numbers(b, 0, 2, 0x40 * k, 8, 100 * order[k]);
        put_bd(b, 0, 2, k, &out);
        put_bd(b, 0, 2, order[k], &in);
    }
    start(b, 0, 2, TW_S2MM, 0, 0, 3, 0);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), 0);
    for (unsigned k = 0; k < 3; k++)
        expect_numbers(b, 0, 2, 0x1000 + 0x100 * order[k], 8, 100 * order[k]);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 1)), 3);
    board_free(b);
}

static void bad_packets(void **state)
{
    static const struct {
        unsigned slot_id, msel;
        const char *text;
    } cases[] = {
        {7, 0, "a packet with id 5 matches no slot of slave dma 0 in the switch of tile (0, 2)"},
        {5, 3, "a packet with id 5 finds no master for its arbiter and msel in the switch of tile (0, 2)"},
        {5, 1, "a packet with id 5 leads nowhere in the switch of tile (0, 2)"},
        {5, 2, "a packet with id 5 takes a connection that the hardware does not have in the switch of tile (0, 2)"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct board *b = board_new(1);
        rule(b, 0, 2, PORT(DMA, 0), 2, cases[i].slot_id, 0x1f, 1, cases[i].msel);
        packet_master(b, 0, 2, PORT(DMA, 0), 1, 1 << 0, 0);
        packet_master(b, 0, 2, PORT(EAST, 0), 1, 1 << 1, 0);
        packet_master(b, 0, 2, PORT(DMA, 1), 1, 1 << 2, 0);
        struct tw_bd out = packet_bd(0, 8, 5);
        task(b, 0, 2, TW_MM2S, 0, 0, &out);
        assert_int_equal(drain(b), TW_E_ARGUMENT);
        if (strstr(b->err.text, cases[i].text) == NULL)
            fail_msg("'%s' is not '%s'", b->err.text, cases[i].text);
        board_free(b);
    }
    struct board *b = board_new(1); /* round and round between two tiles */
    rule(b, 0, 2, PORT(DMA, 0), 0, 0, 0, 0, 0);
    packet_master(b, 0, 2, PORT(NORTH, 0), 0, 1, 0);
    rule(b, 0, 3, PORT(SOUTH, 0), 0, 0, 0, 0, 0);
    packet_master(b, 0, 3, PORT(SOUTH, 0), 0, 1, 0);
    rule(b, 0, 2, PORT(NORTH, 0), 0, 0, 0, 0, 0);
    struct tw_bd out = packet_bd(0, 8, 5);
    task(b, 0, 2, TW_MM2S, 0, 0, &out);
    assert_int_equal(drain(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "comes to the same arbiter twice"));
    board_free(b);
}

/* Tokens: of a core tile by packets through memory tile and shim, of the shim by circuit; each is waited for once. */
static void tokens(void **state)
{
    enum { ID = 15 };
    struct board *b = board_new(2);
    (void)state;
    rule(b, 1, 2, PORT(CONTROL, 0), 0, ID, 0x1f, 5, 3);
    packet_master(b, 1, 2, PORT(SOUTH, 3), 5, 1 << 3, 0);
    rule(b, 1, 1, PORT(NORTH, 3), 0, ID, 0x1f, 5, 3);
    packet_master(b, 1, 1, PORT(SOUTH, 3), 5, 1 << 3, 0);
    rule(b, 1, 1, PORT(CONTROL, 0), 0, ID, 0x1f, 5, 3);
    rule(b, 1, 0, PORT(NORTH, 3), 0, ID, 0x1f, 5, 3);
    packet_master(b, 1, 0, PORT(SOUTH, 0), 5, 1 << 3, 0);
    circuit(b, 1, 2, PORT(DMA, 0), PORT(DMA, 0));
    circuit(b, 1, 1, PORT(DMA, 2), PORT(DMA, 2));
    struct tw_bd core_out = plain_bd(0, 16), core_in = plain_bd(0x400, 16), out = plain_bd(OWN, 8),
                 in = plain_bd(OWN + 0x400, 8);
    put_bd(b, 1, 2, 0, &core_out);
    put_bd(b, 1, 2, 1, &core_in);
    put_bd(b, 1, 1, 0, &out);
    put_bd(b, 1, 1, 1, &in);
    start(b, 1, 2, TW_S2MM, 0, 1, 1, ID + 1);
    start(b, 1, 2, TW_MM2S, 0, 0, 1, ID + 1);
    start(b, 1, 1, TW_S2MM, 2, 1, 3, ID + 1);
    start(b, 1, 1, TW_MM2S, 2, 0, 3, ID + 1);
    wait_token(b, 1, 1, TW_MM2S, 2);
    wait_token(b, 1, 2, TW_S2MM, 0);
    wait_token(b, 1, 1, TW_S2MM, 2);
    wait_token(b, 1, 2, TW_MM2S, 0);
    assert_int_equal(drain(b), 0);
    struct tw_token again = {.column = 1, .row = 1, .actor = 3};
    assert_int_equal(tw_array_wait_token(b->array, &again, 1000000, &b->err), TW_E_STATE);

    shim_dma(b, 0);
    token_circuit(b, 0);
    circuit(b, 0, 0, PORT(SOUTH, 7), PORT(SOUTH, 3));
    struct tw_bd host_out = plain_bd(HOST_ADDRESS, 1), host_in = plain_bd(HOST_ADDRESS + 64, 1);
    put_bd(b, 0, 0, 2, &host_out);
    put_bd(b, 0, 0, 5, &host_in);
    *host_words(b, 0) = 0x12345678;
    for (unsigned i = 0; i < 20; i++) {
        start(b, 0, 0, TW_S2MM, 1, 5, 1, 6);
        start(b, 0, 0, TW_MM2S, 1, 2, 1, 3);
        wait_token(b, 0, 0, TW_S2MM, 1);
    }
    assert_int_equal(*host_words(b, 64), 0x12345678);
    for (unsigned i = 0; i < 20; i++)
        wait_token(b, 0, 0, TW_MM2S, 1);
    assert_int_equal(drain(b), 0);
    board_free(b);
}

/* Of a longer packet that comes to the firmware only the first word can be a token; other words are none. */
static void token_like_words(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    shim_dma(b, 0);
    circuit(b, 0, 0, PORT(SOUTH, 7), PORT(SOUTH, 0));
    for (uint32_t i = 0; i < 3; i++)
        *host_words(b, 4 * i) = tw_dma_token_word(0, 1, 5, 15);
    *host_words(b, 12) = 0x00200005; /* no token */
    struct tw_bd three = plain_bd(HOST_ADDRESS, 3), other = plain_bd(HOST_ADDRESS + 12, 1);
    task(b, 0, 0, TW_MM2S, 1, 0, &three);
    task(b, 0, 0, TW_MM2S, 1, 1, &other);
    struct tw_token token = {.column = 0, .row = 1, .actor = 5};
    assert_int_equal(tw_array_wait_token(b->array, &token, 100000, &b->err), 0);
    assert_int_equal(tw_array_wait_token(b->array, &token, 100000, &b->err), TW_E_STATE);
    token = (struct tw_token){.column = 1};
    assert_int_equal(tw_array_wait_token(b->array, &token, 100000, &b->err), TW_E_STATE);
    board_free(b);
}

/* Tokens without a way out: after 128 of them the channel stalls, and goes on when there is a way. */
static void token_stall(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    shim_dma(b, 0);
    circuit(b, 0, 0, PORT(SOUTH, 3), PORT(SOUTH, 2));
    struct tw_bd out = plain_bd(HOST_ADDRESS, 1), in = plain_bd(HOST_ADDRESS + 64, 1);
    put_bd(b, 0, 0, 0, &out);
    put_bd(b, 0, 0, 1, &in);
    unsigned sent = 0;
    while (!(status(b, 0, 0, TW_S2MM, 0) & TW_DMA_STALLED_TOKEN)) {
        start(b, 0, 0, TW_S2MM, 0, 1, 1, 1);
        start(b, 0, 0, TW_MM2S, 0, 0, 1, 0);
        sent++;
        assert_in_range(sent, 1, 200);
        int result = drain(b);
        assert_int_equal(result, TW_E_STATE); /* the tokens wait */
    }
    assert_in_range(sent, 128, 140);
    token_circuit(b, 0);
    assert_int_equal(drain(b), 0);
    for (unsigned i = 0; i < sent; i++)
        wait_token(b, 0, 0, TW_S2MM, 0);
    board_free(b);
}

static uint32_t odd(uint32_t word)
{
    unsigned ones = 0;
    for (uint32_t w = word; w != 0; w &= w - 1)
        ones++;
    return word | (ones % 2 == 0 ? UINT32_C(1) << 31 : 0);
}

enum { WRITE = 0, READ = 1, BLOCK = 3 };

static uint32_t command(unsigned reply, unsigned operation, unsigned beats, uint32_t offset)
{
    return odd(reply << 24 | operation << 22 | (beats - 1) << 20 | offset);
}

/* From the memory tile's DMA to the control port of the core tile above, replies back. */
static struct board *control_board(void)
{
    struct board *b = board_new(1);
    circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(CONTROL, 0));
    circuit(b, 0, 2, PORT(CONTROL, 0), PORT(SOUTH, 2));
    circuit(b, 0, 1, PORT(NORTH, 2), PORT(DMA, 1));
    return b;
}

static void send(struct board *b, const uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        put(b, 0, 1, 4 * i, words[i]);
    struct tw_bd out = plain_bd(OWN, n);
    task(b, 0, 1, TW_MM2S, 0, 0, &out);
}

static void control_packets(void **state)
{
    struct board *b = control_board();
    struct tw_packet_header to = {.id = 1};
    uint32_t header = tw_packet_header_encode(&to);
    (void)state;
    const uint32_t write[] = {header, command(0, WRITE, 3, 0x404), 11, 22, 33};
    send(b, write, 5);
    assert_int_equal(drain(b), 0);
    assert_int_equal(get(b, 0, 2, 0x404), 11);
    assert_int_equal(get(b, 0, 2, 0x40c), 33);
    const uint32_t lock[] = {header, command(0, WRITE, 1, tw_lock_offset(TW_TILE_CORE, 7)), 5};
    send(b, lock, 3);
    assert_int_equal(drain(b), 0);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 7)), 5);
    const uint32_t read[] = {header, command(9, READ, 2, 0x408)};
    struct tw_bd in = plain_bd(OWN + 0x1000, 3);
    task(b, 0, 1, TW_S2MM, 1, 24, &in);
    send(b, read, 2);
    assert_int_equal(drain(b), 0);
    struct tw_packet_header from = tw_packet_header_decode(get(b, 0, 1, 0x1000));
    assert_int_equal(from.id, 9);
    assert_int_equal(from.row, 2);
    assert_int_equal(get(b, 0, 1, 0x1004), 22);
    assert_int_equal(get(b, 0, 1, 0x1008), 33);
    board_free(b);
}

static void bad_control_packets(void **state)
{
    enum { STATUS = 0x3ff30 };
    struct tw_packet_header to = {.id = 1};
    uint32_t header = tw_packet_header_encode(&to);
    const struct {
        uint32_t words[4];
        uint32_t n, bits;
        const char *text;
    } cases[] = {
        {{header ^ 1, command(0, WRITE, 1, 0), 1}, 3, 1, "wrong parity bit in its first word"},
        {{header, command(0, WRITE, 1, 0) ^ 0x80000000u, 1}, 3, 2, "wrong parity bit in its second word"},
        {{header, command(0, WRITE, 1, 0x12344), 1}, 3, 4, "has no register or memory at 0x12344"},
        {{header, command(0, WRITE, 2, 0), 1}, 3, 8, "has not the length that it says"},
        {{header, command(0, WRITE, 1, 0), 1, 2}, 4, 8, "has not the length that it says"},
        {{header, command(0, BLOCK, 1, 0), 1}, 3, 0, "not modelled"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct board *b = control_board();
        send(b, cases[i].words, cases[i].n);
        assert_true(drain(b) < 0);
        if (strstr(b->err.text, cases[i].text) == NULL)
            fail_msg("case %u: '%s'", i, b->err.text);
        assert_int_equal(get(b, 0, 2, STATUS), cases[i].bits);
        board_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multicast),       cmocka_unit_test(back_pressure),
        cmocka_unit_test(no_route),        cmocka_unit_test(around),
        cmocka_unit_test(merge),           cmocka_unit_test(packet_multicast),
        cmocka_unit_test(held_arbiter),    cmocka_unit_test(out_of_order),
        cmocka_unit_test(bad_packets),     cmocka_unit_test(tokens),
        cmocka_unit_test(token_stall),     cmocka_unit_test(token_like_words),
        cmocka_unit_test(control_packets), cmocka_unit_test(bad_control_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
