/*
 * Random transfers from a memory tile to two core tiles: chains of descriptors with random walks on all sides, repeats,
 * iterations and padding, by circuit or as packets. What must be where comes from plain loops.
 */
#include "emu/array/board.h"
#include "emu/array/naive_pattern.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 150, CHAIN_MAX = 3, WORDS_MAX = 8000, BD_WORDS_MAX = 500, OWN = 0x80000, SINKS = 2 };
enum { SOURCE_WORDS = TW_MEMORY_TILE_BYTES / 4, SINK_WORDS = TW_CORE_DATA_BYTES / 4 };

struct stream {
    uint32_t words[WORDS_MAX];
    uint32_t n;
};

static uint32_t below(struct tw_random *r, uint32_t top)
{
    return (uint32_t)tw_random_range(r, 0, top);
}

/* Stays inside 4000 words, and a writer never writes a word twice: the later write would be a matter of order only. */
static struct tw_bd random_walk(struct tw_random *r, int source, uint32_t length)
{
    struct tw_bd bd = plain_bd(4 * (uint64_t)below(r, 1000), length);
    if (below(r, 2) == 0)
        return bd;
    uint32_t w0 = 1 + below(r, 7), w1 = 1 + below(r, 4), step = 1 + below(r, 2);
    bd.dimensions[0] = (struct tw_bd_dimension){.step = step, .wrap = w0};
    bd.dimensions[1] = (struct tw_bd_dimension){.step = step * w0 + below(r, 3), .wrap = w1};
    bd.dimensions[2].step = bd.dimensions[1].step * w1 + below(r, 3);
    if (source)
        bd.dimensions[2].wrap = 1 + below(r, 3);
    if (source)
        bd.dimensions[3].step = 1 + below(r, 40);
    for (unsigned d = 0; source && d < 3 && below(r, 1); d++) {
        bd.dimensions[d].zeros_before = below(r, 2);
        bd.dimensions[d].zeros_after = below(r, 2);
    }
    return bd;
}

/* What one execution reads; its iteration moves on. */
static void read_naively(struct tw_bd *bd, const uint32_t *memory, struct stream *s)
{
    int64_t at[BD_WORDS_MAX];
    naive_addresses(bd, 4, at);
    for (uint32_t i = 0; i < bd->length; i++)
        s->words[s->n++] = at[i] == NAIVE_NOWHERE ? 0 : memory[at[i] - OWN / 4];
    bd->iteration.current = (bd->iteration.current + 1) % bd->iteration.count;
}

static void write_naively(struct tw_bd *bd, uint32_t *memory, const struct stream *s, uint32_t from)
{
    static int64_t at[WORDS_MAX];
    naive_addresses(bd, 3, at);
    for (uint32_t i = 0; i < bd->length; i++)
        memory[at[i]] = s->words[from + i];
}

/* A chain of descriptors from `first` on. */
static void chain(struct board *b, unsigned row, unsigned first, struct tw_bd *bds, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bds[i].use_next = i + 1 < n;
        bds[i].next = (uint8_t)(first + i + 1);
        put_bd(b, 0, row, first + i, &bds[i]);
    }
}

static void source(struct board *b, struct tw_random *r, const uint32_t *memory, int packets, struct stream *s)
{
    struct tw_bd bds[CHAIN_MAX];
    unsigned n = 1 + below(r, CHAIN_MAX - 1), repeat = 1 + below(r, 3);
    for (unsigned i = 0; i < n; i++) {
        bds[i] = random_walk(r, 1, 1 + below(r, BD_WORDS_MAX - 1));
        bds[i].address += OWN;
        bds[i].iteration.step = 1 + below(r, 30);
        bds[i].iteration.count = 1 + below(r, 3);
        bds[i].packet_enable = (uint8_t)packets;
        bds[i].packet_id = 3;
    }
    chain(b, 1, 0, bds, n);
    s->n = 0;
    for (unsigned k = 0; k < repeat; k++)
        for (unsigned i = 0; i < n; i++)
            read_naively(&bds[i], memory, s);
    start(b, 0, 1, TW_MM2S, 0, 0, repeat, 0);
}

/* Cuts the stream into as many descriptors as there are in a chain. */
static void sink(struct board *b, struct tw_random *r, unsigned row, const struct stream *s, uint32_t *memory)
{
    struct tw_bd bds[CHAIN_MAX];
    unsigned n = 0;
    for (uint32_t from = 0; from < s->n; n++) {
        uint32_t length = n + 1 == CHAIN_MAX ? s->n - from : 1 + below(r, s->n - from - 1);
        length = s->n - from - length < 2 ? s->n - from : length;
        bds[n] = random_walk(r, 0, length);
        bds[n].address = 4 * (uint64_t)(n * SINK_WORDS / 4);
        if (length > 300)
            bds[n] = plain_bd(bds[n].address, length);
        write_naively(&bds[n], memory, s, from);
        from += length;
    }
    chain(b, row, 0, bds, n);
    start(b, 0, row, TW_S2MM, 0, 0, 1, 0);
}

static void ways(struct board *b, int packets)
{
    if (packets) {
        rule(b, 0, 1, PORT(DMA, 0), 1, 3, 0x1f, 1, 2);
        packet_master(b, 0, 1, PORT(NORTH, 0), 1, 1 << 2, 1);
    } else {
        circuit(b, 0, 1, PORT(DMA, 0), PORT(NORTH, 0));
    }
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(NORTH, 3));
    circuit(b, 0, 3, PORT(SOUTH, 3), PORT(DMA, 0));
}

static void one_round(uint64_t seed)
{
    static uint32_t memory[SOURCE_WORDS], expected[SINKS][SINK_WORDS];
    static struct stream stream;
    struct tw_random r = {seed};
    int packets = seed % 3 == 0;
    struct board *b = board_make(&(struct tw_array_options){.columns = 1, .run_ahead = below(&r, 600)});
    for (uint32_t i = 0; i < 8000; i++)
        memory[i] = (uint32_t)tw_random_u64(&r) | 1;
    assert_int_equal(tw_array_write(b->array, tw_tile_address(0, 1, 0), memory, 8000, &b->err), 0);
    memset(expected, 0, sizeof expected);
    ways(b, packets);
    source(b, &r, memory, packets, &stream);
    for (unsigned k = 0; k < SINKS; k++)
        sink(b, &r, 2 + k, &stream, expected[k]);
    if (drain(b) != 0)
        fail_msg("round %llu: %s", (unsigned long long)seed, b->err.text);
    for (unsigned k = 0; k < SINKS; k++)
        for (uint32_t i = 0; i < SINK_WORDS; i++)
            if (get(b, 0, 2 + k, 4 * i) != expected[k][i])
                fail_msg("round %llu: word %u of row %u", (unsigned long long)seed, i, 2 + k);
    board_free(b);
}

static void random_transfers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        one_round(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_transfers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
