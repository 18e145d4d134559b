/* When a sequence of tokens is complete, failed, or goes on; and what text the next window is shown. */
#include "whisper/text_context.h"
#include "whisper/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define END 40
#define ZERO 51 /* <|0.00|> */
#define LENGTH 12

static const struct tw_vocab vocab = {
    .size = ZERO + 1501, .text_size = END, .end_of_text = END, .previous = 48, .timestamp_first = ZERO};

/* A sequence fed token by token, stopping where the search would. */
static struct tw_sequence feed(const int32_t *tokens, int32_t n, int32_t left, int no_timestamps)
{
    static int32_t stored[LENGTH];
    static float logprobs[LENGTH];
    struct tw_rules rules = {.vocab = &vocab, .no_timestamps = no_timestamps};
    struct tw_sequence q = {.tokens = stored, .logprobs = logprobs, .advance = TW_WINDOW_FRAMES};
    for (int32_t i = 0; i < n && !q.completed && !q.failed; i++) {
        q.tokens[q.n++] = tokens[i];
        tw_sequence_update(&q, &rules, left, LENGTH);
    }
    return q;
}

static void test_end_of_text_completes(void **unused)
{
    (void)unused;
    const int32_t tokens[] = {ZERO, 1, 2, ZERO + 100, END};
    struct tw_sequence q = feed(tokens, 5, 100000, 0);
    assert_true(q.completed);
    assert_false(q.failed);
    assert_int_equal(q.kept, 4);
    assert_int_equal(q.advance, 200);
}

static void test_text_after_the_last_timestamp_is_not_kept(void **unused)
{
    (void)unused;
    const int32_t tokens[] = {ZERO, 1, ZERO + 100, ZERO + 100, 2, END};
    struct tw_sequence q = feed(tokens, 6, 100000, 0);
    assert_true(q.completed);
    assert_int_equal(q.kept, 4);
}

static void test_zero_is_no_timestamp_seen(void **unused)
{
    (void)unused;
    const int32_t tokens[] = {ZERO, 1, END};
    struct tw_sequence q = feed(tokens, 2, 100000, 0);
    assert_false(q.has_timestamp);
    assert_int_equal(q.kept, 0);
    assert_int_equal(q.advance, TW_WINDOW_FRAMES);
    /* An end of text without any timestamp fails where more sound follows, and keeps all where none does. */
    q = feed(tokens, 3, 100000, 0);
    assert_true(q.failed);
    q = feed(tokens, 3, 2000, 0);
    assert_true(q.completed);
    assert_int_equal(q.kept, 3);
}

static void test_timestamp_near_the_end_completes(void **unused)
{
    (void)unused;
    const int32_t tokens[] = {ZERO, 1, ZERO + 100};
    assert_true(feed(tokens, 3, 210, 0).completed);
    assert_false(feed(tokens, 3, 211, 0).completed);
    assert_false(feed(tokens, 3, 211, 0).failed);
}

static void test_time_does_not_go_back(void **unused)
{
    (void)unused;
    const int32_t back[] = {ZERO, 1, ZERO + 100, ZERO + 90, 2, ZERO + 80};
    struct tw_sequence q = feed(back, 4, 100000, 0);
    /* Directly after a timestamp a lower one is tolerated (kept == index), later it is not. */
    assert_false(q.failed);
    q = feed(back, 6, 100000, 0);
    assert_true(q.failed);
}

static void test_too_long_for_so_little_sound_fails(void **unused)
{
    (void)unused;
    int32_t tokens[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        tokens[i] = 1;
    assert_true(feed(tokens, LENGTH, 100000, 0).failed);
    assert_false(feed(tokens, LENGTH - 1, 100000, 0).failed);
    tokens[3] = ZERO + 700; /* 14 s of 30 */
    assert_true(feed(tokens, LENGTH, 100000, 0).failed);
    tokens[3] = ZERO + 800;
    assert_false(feed(tokens, LENGTH, 100000, 0).failed);
}

static void test_without_timestamps_all_is_kept(void **unused)
{
    (void)unused;
    const int32_t tokens[] = {1, 2, 3, END};
    struct tw_sequence q = feed(tokens, 4, 100000, 1);
    assert_true(q.completed);
    assert_int_equal(q.kept, 4);
    assert_int_equal(q.advance, TW_WINDOW_FRAMES);
}

static void test_lowest_timestamp(void **unused)
{
    (void)unused;
    struct tw_rules rules = {.vocab = &vocab};
    const int32_t tokens[] = {ZERO, 1, ZERO + 100};
    struct tw_sequence q = feed(tokens, 2, 100000, 0);
    assert_int_equal(tw_sequence_rules(&q, &rules).lowest_timestamp, ZERO);
    q = feed(tokens, 3, 100000, 0);
    assert_int_equal(tw_sequence_rules(&q, &rules).lowest_timestamp, ZERO + 100);
    assert_int_equal(tw_sequence_rules(&q, &rules).n_tokens, 3);
}

static const int32_t task[] = {41, 42, 46};

static void test_context_is_shown_behind_its_marker(void **unused)
{
    (void)unused;
    struct tw_text_context c;
    struct tw_error err;
    const int32_t *prompt;
    const int32_t result[] = {7, 8, 9};
    assert_int_equal(tw_text_context_create(&c, &vocab, 20, NULL, &err), TW_OK);
    assert_int_equal(tw_text_context_prompt(&c, 1, task, 3, &prompt), 3);
    assert_int_equal(prompt[0], 41);

    tw_text_context_update(&c, result, 3, 1);
    assert_int_equal(tw_text_context_prompt(&c, 1, task, 3, &prompt), 7);
    assert_int_equal(prompt[0], vocab.previous);
    assert_memory_equal(prompt + 1, result, sizeof result);
    assert_memory_equal(prompt + 4, task, sizeof task);

    /* Not shown at a high temperature, and then lost. */
    assert_int_equal(tw_text_context_prompt(&c, 0, task, 3, &prompt), 3);
    tw_text_context_update(&c, result, 1, 0);
    assert_int_equal(tw_text_context_prompt(&c, 1, task, 3, &prompt), 5);
    assert_int_equal(prompt[1], 7);
    tw_text_context_clear(&c);
    assert_int_equal(tw_text_context_prompt(&c, 1, task, 3, &prompt), 3);
    tw_text_context_release(&c);
}

static void test_context_keeps_the_last_tokens(void **unused)
{
    (void)unused;
    struct tw_text_context c;
    struct tw_error err;
    const int32_t *prompt;
    assert_int_equal(tw_text_context_create(&c, &vocab, 20, NULL, &err), TW_OK);
    for (int32_t i = 0; i < 30; i++) {
        tw_text_context_prompt(&c, 1, task, 3, &prompt);
        tw_text_context_update(&c, &i, 1, 1);
    }
    /* Half of the decoder's context: 10 tokens, one of them the marker. */
    assert_int_equal(tw_text_context_prompt(&c, 1, task, 3, &prompt), 13);
    for (int32_t i = 0; i < 9; i++)
        assert_int_equal(prompt[1 + i], 21 + i);
    tw_text_context_release(&c);
}

static void test_context_takes_long_results(void **unused)
{
    (void)unused;
    struct tw_text_context c;
    struct tw_error err;
    const int32_t *prompt;
    int32_t many[16];
    for (int32_t i = 0; i < 16; i++)
        many[i] = i;
    assert_int_equal(tw_text_context_create(&c, &vocab, 20, NULL, &err), TW_OK);
    for (int round = 0; round < 5; round++) {
        tw_text_context_prompt(&c, 1, task, 3, &prompt);
        tw_text_context_update(&c, many, 16, 1);
    }
    assert_int_equal(tw_text_context_prompt(&c, 1, task, 3, &prompt), 13);
    for (int32_t i = 0; i < 9; i++)
        assert_int_equal(prompt[1 + i], 7 + i);
    tw_text_context_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_text_completes),
        cmocka_unit_test(test_text_after_the_last_timestamp_is_not_kept),
        cmocka_unit_test(test_zero_is_no_timestamp_seen),
        cmocka_unit_test(test_timestamp_near_the_end_completes),
        cmocka_unit_test(test_time_does_not_go_back),
        cmocka_unit_test(test_too_long_for_so_little_sound_fails),
        cmocka_unit_test(test_without_timestamps_all_is_kept),
        cmocka_unit_test(test_lowest_timestamp),
        cmocka_unit_test(test_context_is_shown_behind_its_marker),
        cmocka_unit_test(test_context_keeps_the_last_tokens),
        cmocka_unit_test(test_context_takes_long_results),
    };
    return cmocka_run_group_tests_name("sequence", tests, NULL, NULL);
}
