/* Faults in an array at work: each ends in bounded time and says itself what it was. */
#include "emu/array/board_fifo.h"
#include "emu/array/board_program.h"
#include "emu/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 5 };

struct bench {
    struct tw_faults *faults;
    struct board *board;
};

static struct bench with_faults(const char *text)
{
    struct bench b = {0};
    assert_int_equal(tw_faults_create(text, &b.faults, NULL), 0);
    b.board = board_make(&(struct tw_array_options){.columns = 1, .faults = b.faults});
    start_fifo(b.board, ROUNDS);
    return b;
}

static void drop(struct bench *b)
{
    board_free(b->board);
    tw_faults_free(b->faults);
}

static int wait_for_end(struct bench *b)
{
    int actor = tw_dma_actor(TW_TILE_SHIM, (struct tw_dma_channel){TW_S2MM, 1});
    const struct tw_token token = {.actor = (uint8_t)actor};
    return tw_array_wait_token(b->board->array, &token, 1000000, &b->board->err);
}

static void assert_says(const struct bench *b, const char *sentence)
{
    if (strstr(b->board->err.text, sentence) == NULL)
        fail_msg("'%s' is not in: %s", sentence, b->board->err.text);
}

/* The data is there, the token is not. */
static void a_token(void **state)
{
    struct bench b = with_faults("token:1");
    (void)state;
    assert_int_equal(wait_for_end(&b), TW_E_STATE);
    assert_says(&b, "nothing can move any more");
    assert_fifo_done(b.board, ROUNDS);
    assert_int_equal(tw_fault_count(b.faults, TW_FAULT_TOKEN), 1);
    drop(&b);
    b = with_faults("token:2");
    assert_int_equal(wait_for_end(&b), 0);
    assert_int_equal(tw_fault_count(b.faults, TW_FAULT_TOKEN), 0);
    drop(&b);
}

static unsigned wrong_bits(struct bench *b, uint32_t *where)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < ROUNDS * FIFO_WORDS; i++)
        for (uint32_t wrong = host_words(b->board, FIFO_OUT)[i] ^ (3 * i + 1); wrong != 0; wrong &= wrong - 1) {
            *where = i;
            n++;
        }
    return n;
}

static void a_bit(void **state)
{
    struct bench b = with_faults("bit:7:seed=2");
    uint32_t where = 0;
    (void)state;
    assert_int_equal(wait_for_end(&b), 0);
    assert_int_equal(wrong_bits(&b, &where), 1);
    assert_int_equal(where, 6);
    drop(&b);
    b = with_faults("bit:1.0");
    assert_int_equal(wait_for_end(&b), 0);
    assert_int_equal(wrong_bits(&b, &where), ROUNDS * FIFO_WORDS);
    drop(&b);
}

/* At its first request, and in the middle; a reset ends it. */
static void a_core(void **state)
{
    struct bench b = with_faults("core:1");
    (void)state;
    assert_int_equal(wait_for_end(&b), TW_E_STATE);
    assert_says(&b, "core (0, 2) hangs in bundle 0x");
    assert_says(&b, "a fault on purpose");
    assert_int_equal(host_words(b.board, FIFO_OUT)[0], 0);
    put(b.board, 0, 2, TW_CORE_CONTROL, 2);
    start_core(b.board, 0, 2);
    assert_int_equal(wait_for_end(&b), 0);
    assert_fifo_done(b.board, ROUNDS);
    drop(&b);

    enum { REQUESTS = 4 /* of a round */ };
    b = with_faults("core:9");
    assert_int_equal(wait_for_end(&b), TW_E_STATE);
    assert_says(&b, "core (0, 2) hangs");
    assert_int_equal(host_words(b.board, FIFO_OUT)[8 / REQUESTS * FIFO_WORDS - 1],
                     3 * (8 / REQUESTS * FIFO_WORDS - 1) + 1);
    assert_int_equal(host_words(b.board, FIFO_OUT)[8 / REQUESTS * FIFO_WORDS], 0);
    tw_array_reset(b.board->array);
    assert_int_equal(drain(b.board), 0);
    drop(&b);
}

/* The core is named also when so many wait that the sentence is cut: here each channel that does nothing else. */
static void a_core_among_many(void **state)
{
    struct bench b = with_faults("core:1");
    struct tw_bd in = plain_bd(0x80000, 8);
    (void)state;
    for (unsigned channel = 0; channel < tw_dma_channels(TW_TILE_MEMORY); channel++) {
        put_bd(b.board, 0, 1, 24 * (channel % 2), &in);
        start(b.board, 0, 1, TW_S2MM, channel, 24 * (channel % 2), 1, 0);
        start(b.board, 0, 1, TW_MM2S, channel, 24 * (channel % 2), 100, 0);
    }
    assert_int_equal(wait_for_end(&b), TW_E_STATE);
    assert_null(strstr(b.board->err.text, "DMA (0, 2)")); /* cut */
    assert_says(&b, "none leads there now; and others");
    assert_says(&b, "nothing can move any more: core (0, 2) hangs in bundle 0x");
    drop(&b);
}

/* The same seed, the same outcome, however far the simulation runs ahead. */
static void reproducible(void **state)
{
    static const unsigned run_ahead[] = {1, 100, 100000};
    uint32_t results[3][ROUNDS * FIFO_WORDS];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench b = {0};
        assert_int_equal(tw_faults_create("bit:0.2:seed=11", &b.faults, NULL), 0);
        b.board = board_make(&(struct tw_array_options){.columns = 1, .faults = b.faults, .run_ahead = run_ahead[i]});
        start_fifo(b.board, ROUNDS);
        assert_int_equal(wait_for_end(&b), 0);
        memcpy(results[i], host_words(b.board, FIFO_OUT), sizeof results[i]);
        assert_in_range(tw_fault_count(b.faults, TW_FAULT_BIT), 2, 20);
        drop(&b);
        assert_memory_equal(results[i], results[0], sizeof results[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token),           cmocka_unit_test(a_bit),        cmocka_unit_test(a_core),
        cmocka_unit_test(a_core_among_many), cmocka_unit_test(reproducible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
