/*
 * The same on any number of threads: chains of cores in all columns, fed by DMA, that hand blocks from memory to memory
 * by locks, with work of random length. Memories, registers, clocks and counts must be equal; the numbers at the end of
 * each chain come from plain C.
 */
#include "emu/array/board.h"
#include "emu/array/board_program.h"
#include "emu/core.h"
#include "isa/isa.h"
#include "isa/rules.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 6, COLUMNS = 4, FIRST = 2, CORES = 4, WORDS_MAX = 24, BUFFER = 0x100, RESULT = 0x2000 };
enum { LOCK_FREE, LOCK_FULL, NORTH_LOCK = 32, OWN_LOCK = 48, MEMORY_TILE_OWN = 0x80000 };

#define WAIT " nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"

/* The locks of the place where a core's results go; row 5's own memory needs none. */
#define TAKE " acq #32, r25\n" WAIT
#define GIVE " rel #33, r26\n" WAIT

static const char program[] = ".foreign\n.text\n"
                              " movxm r24, #%u\n movxm r25, #-1\n movxm r26, #1\n movxm r20, #%u\n"
                              "again:\n acq #49, r25\n" WAIT "%s"
                              " movxm p0, #0x70100\n movxm p1, #%u\n movxm r0, #%u\n movxm p6, #delay\n" WAIT
                              "delay:\n jnzd r0, r0, p6\n nop\n nop\n nop\n nop\n nop\n"
                              ".rept %u\n lda r1, [p0], #4\n" WAIT " mul r2, r1, r20\n nop\n nop\n nop\n"
                              " add r2, r2, r26\n st r2, [p1], #4\n.endr\n" WAIT " rel #48, r26\n" WAIT "%s"
                              " movxm p7, #again\n" WAIT " jnzd r24, r24, p7\n" WAIT " done\n nop\n nop\n";

/* What a column does. */
struct plan {
    uint32_t words, blocks, factors[CORES], delays[CORES], input[WORDS_MAX];
};

static void set_up(struct board *b, unsigned column, const struct plan *p)
{
    struct tw_bd in = plain_bd(BUFFER, p->words), out = plain_bd(MEMORY_TILE_OWN, p->words);
    char text[4096];
    for (unsigned i = 0; i < p->words; i++)
        put(b, column, 1, 4 * i, p->input[i]);
    in.acquire_enable = 1;
    in.acquire_id = LOCK_FREE;
    in.acquire_value = -1;
    in.release_id = LOCK_FULL;
    in.release_value = 1;
    put_bd(b, column, FIRST, 0, &in);
    put_bd(b, column, 1, 0, &out);
    circuit(b, column, 1, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(b, column, FIRST, PORT(SOUTH, 0), PORT(DMA, 0));
    start(b, column, FIRST, TW_S2MM, 0, 0, p->blocks, 0);
    start(b, column, 1, TW_MM2S, 0, 0, p->blocks, 0);
    for (unsigned i = 0; i < CORES; i++) {
        int is_last = i + 1 == CORES;
        put(b, column, FIRST + i, tw_lock_offset(TW_TILE_CORE, LOCK_FREE), 1);
        snprintf(text, sizeof text, program, (unsigned)p->blocks - 1, (unsigned)p->factors[i], is_last ? "" : TAKE,
                 is_last ? TW_DATA_OWN + RESULT : TW_DATA_NORTH + BUFFER, (unsigned)p->delays[i], (unsigned)p->words,
                 is_last ? "" : GIVE);
        put_program(b, column, FIRST + i, text);
        start_core(b, column, FIRST + i);
    }
}

static struct board *run(const struct plan *plans, unsigned threads, unsigned run_ahead)
{
    struct board *b =
        board_make(&(struct tw_array_options){.columns = COLUMNS, .threads = threads, .run_ahead = run_ahead});
    for (unsigned c = 0; c < COLUMNS; c++)
        set_up(b, c, &plans[c]);
    if (drain(b) != 0)
        fail_msg("%s", b->err.text);
    return b;
}

static void check_results(struct board *b, unsigned column, const struct plan *p)
{
    for (unsigned i = 0; i < p->words; i++) {
        uint32_t expected = p->input[i];
        for (unsigned k = 0; k < CORES; k++)
            expected = expected * p->factors[k] + 1;
        assert_int_equal(get(b, column, FIRST + CORES - 1, RESULT + 4 * i), expected);
    }
}

/* ---- comparing */

static void compare_core(struct board *a, struct board *b, unsigned column, unsigned row)
{
    const struct tw_core *one = tw_array_core(a->array, column, row), *other = tw_array_core(b->array, column, row);
    struct tw_core_counts counts = tw_core_counts(one), others = tw_core_counts(other);
    uint8_t value[64], other_value[64];
    assert_int_equal(tw_core_clock(one), tw_core_clock(other));
    assert_int_equal(tw_core_pc(one), tw_core_pc(other));
    assert_int_equal(counts.bundles, others.bundles);
    assert_int_equal(counts.bank_stalls, others.bank_stalls);
    assert_int_equal(counts.request_stalls, others.request_stalls);
    for (unsigned r = 0; r < TW_R_COUNT; r++) {
        size_t bytes = tw_registers[r].bits <= 32 ? 4 : tw_registers[r].bits / 8u;
        if (tw_registers[r].n_leaves != 1)
            continue;
        assert_int_equal(tw_core_register_read(one, (uint16_t)r, value, bytes), 0);
        assert_int_equal(tw_core_register_read(other, (uint16_t)r, other_value, bytes), 0);
        assert_memory_equal(value, other_value, bytes);
    }
}

static void compare(struct board *a, struct board *b)
{
    assert_int_equal(tw_array_clock(a->array), tw_array_clock(b->array));
    for (unsigned c = 0; c < COLUMNS; c++)
        for (unsigned row = FIRST; row < FIRST + CORES; row++) {
            compare_core(a, b, c, row);
            for (uint32_t at = 0; at < TW_CORE_DATA_BYTES; at += 4)
                assert_int_equal(get(a, c, row, at), get(b, c, row, at));
            for (unsigned lock = 0; lock < tw_lock_count(TW_TILE_CORE); lock++)
                assert_int_equal(get(a, c, row, tw_lock_offset(TW_TILE_CORE, lock)),
                                 get(b, c, row, tw_lock_offset(TW_TILE_CORE, lock)));
        }
}

static void make_plan(struct tw_random *random, struct plan *p)
{
    p->words = (uint32_t)tw_random_range(random, 1, WORDS_MAX);
    p->blocks = (uint32_t)tw_random_range(random, 1, 25);
    for (unsigned i = 0; i < CORES; i++) {
        p->factors[i] = (uint32_t)tw_random_range(random, 1, 100000);
        p->delays[i] = (uint32_t)tw_random_range(random, 0, 200);
    }
    for (unsigned i = 0; i < WORDS_MAX; i++)
        p->input[i] = (uint32_t)tw_random_u64(random);
}

static void any_number_of_threads(void **state)
{
    struct tw_random random = {5};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct plan plans[COLUMNS];
        unsigned run_ahead = (unsigned)tw_random_range(&random, 0, 900);
        for (unsigned c = 0; c < COLUMNS; c++)
            make_plan(&random, &plans[c]);
        struct board *one = run(plans, 1, run_ahead);
        for (unsigned threads = 2; threads <= 4; threads++) {
            struct board *several = run(plans, threads, run_ahead);
            for (unsigned c = 0; c < COLUMNS; c++)
                check_results(several, c, &plans[c]);
            compare(one, several);
            board_free(several);
        }
        board_free(one);
    }
}

/* ---- without locks */

enum { PASSES = 150, PASS_WORDS = 24, WATCHED = 5 };

/* Adds up what it finds in a word that DMA writes again and again meanwhile. */
static const char watcher[] =
    ".foreign\n.text\n movxm r24, #%u\n movxm p0, #%u\n movxm p1, #%u\n movxm p6, #again\n"
    " mova r5, #0\n" WAIT "again:\n lda r1, [p0, #0]\n" WAIT " add r5, r5, r1\n nop\n nop\n"
    " jnzd r24, r24, p6\n nop\n nop\n nop\n nop\n nop\n st r5, [p1, #0]\n" WAIT " done\n nop\n nop\n";

static uint32_t passing_word(unsigned column, unsigned i)
{
    return (i + 1) * 2654435761u ^ column;
}

static struct board *watch(unsigned threads)
{
    struct board *b = board_make(&(struct tw_array_options){.columns = COLUMNS, .threads = threads});
    struct tw_bd in = plain_bd(BUFFER, PASS_WORDS), out = plain_bd(MEMORY_TILE_OWN, PASSES * PASS_WORDS);
    char text[1000];
    snprintf(text, sizeof text, watcher, 100u, TW_DATA_OWN + BUFFER + 4 * WATCHED, TW_DATA_OWN + RESULT);
    for (unsigned c = 0; c < COLUMNS; c++) {
        for (unsigned i = 0; i < PASSES * PASS_WORDS; i++)
            put(b, c, 1, 4 * i, passing_word(c, i));
        put_bd(b, c, FIRST, 0, &in);
        put_bd(b, c, 1, 0, &out);
        circuit(b, c, 1, PORT(DMA, 0), PORT(NORTH, 0));
        circuit(b, c, FIRST, PORT(SOUTH, 0), PORT(DMA, 0));
        start(b, c, FIRST, TW_S2MM, 0, 0, PASSES, 0);
        start(b, c, 1, TW_MM2S, 0, 0, 1, 0);
        put_program(b, c, FIRST, text);
        start_core(b, c, FIRST);
    }
    if (drain(b) != 0)
        fail_msg("%s", b->err.text);
    return b;
}

/* DMA writes into the memory of a core that is simulated at the same time: what the core sees of it is the same, and
 * all of it arrives. */
static void dma_meanwhile(void **state)
{
    struct board *one = watch(1);
    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        struct board *several = watch(2 + round % 3);
        compare(one, several);
        for (unsigned c = 0; c < COLUMNS; c++)
            for (unsigned i = 0; i < PASS_WORDS; i++)
                assert_int_equal(get(several, c, FIRST, BUFFER + 4 * i),
                                 passing_word(c, (PASSES - 1) * PASS_WORDS + i));
        board_free(several);
    }
    board_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(dma_meanwhile),
    };
    return cmocka_run_group_tests_name("array threads", tests, NULL, NULL);
}
