/* The tool itself: words, transcripts of whisper.cpp, windows, gaps, noise. On a vocabulary of a hundred tokens. */
#include "clips.h"
#include "force.h"
#include "text.h"
#include "wer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 1501
#define TEXT 40
#define FIRST_TIME 51
#define SIZE (FIRST_TIME + STEPS)
#define TIME(step) (FIRST_TIME + (step))

struct fixture {
    struct tw_vocab vocab;
    struct tw_token_text words[TEXT];
    struct tw_rules rules;
};

static int set_up(void **state)
{
    static const char *const some[] = {"\"", "a", "b", "\xe2\x99", "\xaa", "\n", " c"};
    static const char others[] = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
    struct fixture *f = calloc(1, sizeof *f);
    struct tw_error err;
    assert_non_null(f);
    for (size_t i = 0; i < TEXT; i++) {
        f->words[i].bytes = i < 7 ? some[i] : others + i;
        f->words[i].size = (uint32_t)strlen(f->words[i].bytes);
    }
    f->vocab = (struct tw_vocab){
        .size = SIZE,
        .text_size = TEXT,
        .text = f->words,
        .multilingual = 1,
        .languages = 3,
        .end_of_text = TEXT,
        .start = 41,
        .translate = 45,
        .transcribe = 46,
        .language_first = 42,
        .start_lm = 47,
        .previous = 48,
        .no_speech = 49,
        .no_timestamps = 50,
        .timestamp_first = 51,
    };
    assert_int_equal(tw_vocab_index(&f->vocab, &err), TW_OK);
    assert_int_equal(tw_rules_create(&f->rules, &f->vocab, 1500, 0, 0, &err), TW_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tw_rules_release(&f->rules);
    tw_vocab_release(&f->vocab);
    free(f);
    return 0;
}

static void check_words(const char *said, const char *heard, size_t errors, size_t words)
{
    struct replay_wer wer;
    struct tw_error err;
    assert_int_equal(replay_word_errors(said, heard, &wer, &err), TW_OK);
    assert_int_equal(wer.errors, errors);
    assert_int_equal(wer.words, words);
}

static void word_errors_are_counted(void **state)
{
    (void)state;
    check_words("ten of clubs", " 10 of Clubs.", 0, 3);
    check_words("two nine three four zero", "29340", 0, 5);
    check_words("twelve", "12", 0, 1);
    check_words("zero seven", "07", 0, 2);
    check_words("don't", "dont", 0, 1);
    check_words("a b c d", "a x c", 2, 4);
    check_words("a b", "b", 1, 2);
    check_words("a", "a b c", 2, 1);
    check_words("", "[BLANK_AUDIO] (wind)", 0, 0);
    check_words("well known", "well-known", 0, 2);
    check_words("a b", "", 2, 2);
}

static int parse(const struct fixture *f, const char *json, struct replay_reference *r)
{
    struct tw_error err;
    return replay_reference_parse(json, strlen(json), "test", &f->vocab, r, &err);
}

/* What whisper.cpp writes, as far as it is read: times in milliseconds. */
#define SEGMENT(from, to, tokens) "{\"offsets\":{\"from\":" #from ",\"to\":" #to "},\"tokens\":[" tokens "]}"
#define FILE_OF(segments) "{\"transcription\":[" segments "]}"
#define TOKEN(text, id) "{\"text\":\"" text "\",\"id\":" #id ",\"p\":0.5}"
#define ONE(id) TOKEN("", id)
#define THREE(a, b, c) ONE(a) "," ONE(b) "," ONE(c)

#define NOTE TOKEN("\xe2\x99\xaa", 3)
#define PART TOKEN("\xe2\x99", 3)

static void transcripts_are_read(void **state)
{
    struct fixture *f = *state;
    struct replay_reference r;
    /* A raw line break, a part of a character, and two tokens in one entry. */
    static const char tokens[] = FILE_OF(SEGMENT(100, 2000, ONE(51) "," TOKEN("\n", 5) "," NOTE "," PART));
    assert_int_equal(parse(f, tokens, &r), TW_OK);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.segments[0].from, 10);
    assert_int_equal(r.segments[0].to, 200);
    const int32_t ids[] = {51, 5, 3, 4, 3};
    assert_int_equal(r.segments[0].n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(r.segments[0].tokens[i].id, ids[i]);
    assert_true(fabs(r.segments[0].tokens[2].logprob - log(0.5)) < 1e-12);
    assert_true(isnan(r.segments[0].tokens[3].logprob));
    char *text = replay_reference_text(&r, &f->vocab);
    assert_string_equal(text, "\n\xe2\x99\xaa\xe2\x99");
    free(text);
    replay_reference_release(&r);
}

static void other_files_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "{",
        "[]",
        "{\"transcription\":3}",
        FILE_OF("{}"),
        FILE_OF(SEGMENT(0, 10, "")),
        FILE_OF(SEGMENT(0, 10, "7")),
        FILE_OF(SEGMENT(0, 10, TOKEN("a", -1))),
        FILE_OF(SEGMENT(0, 10, TOKEN("a", 99999))),
        FILE_OF(SEGMENT(0, 10, "{\"text\":\"a\",\"id\":1}")),
        FILE_OF(SEGMENT(null, 10, TOKEN("a", 1))),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct replay_reference r;
        assert_int_equal(parse(*state, wrong[i], &r), TW_E_FORMAT);
        replay_reference_release(&r);
    }
}

static void check_window(struct replay_script *s, int64_t seek, int64_t left, const int32_t *ids, size_t n, int open)
{
    struct tw_error err;
    assert_int_equal(replay_script_take(s, seek, left, &err), TW_OK);
    assert_int_equal(s->n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(s->tokens[i].id, ids[i]);
    assert_int_equal(s->open, open);
}

/* A window of two segments that ends in a pair, one at 12 s that ends in one timestamp, none at 42 s, one at 72 s. */
#define START SEGMENT(0, 4000, THREE(51, 1, 251))
#define MIDDLE SEGMENT(5000, 11000, ONE(2) "," ONE(601))
#define AT_12_S SEGMENT(12000, 20000, THREE(51, 1, 451))
#define AT_72_S SEGMENT(72500, 74000, ONE(76) "," ONE(2))

static void windows_are_found_again(void **state)
{
    struct fixture *f = *state;
    struct replay_reference r;
    struct replay_script s;
    static const char segments[] = FILE_OF(START "," MIDDLE "," AT_12_S "," AT_72_S);
    assert_int_equal(parse(f, segments, &r), TW_OK);
    replay_script_start(&s, &r, &f->vocab);
    const int32_t first[] = {TIME(0), 1, TIME(200), TIME(250), 2, TIME(550), TIME(600)};
    check_window(&s, 0, 9000, first, 7, 0);
    assert_true(isnan(s.tokens[3].logprob));
    const int32_t second[] = {TIME(0), 1, TIME(400)};
    check_window(&s, 1200, 7800, second, 3, 1);
    check_window(&s, 4200, 4800, NULL, 0, 0);
    const int32_t last[] = {TIME(25), 2};
    check_window(&s, 7200, 1800, last, 2, 0);
    assert_int_equal(s.first_start, 7250);
    check_window(&s, 8000, 1000, NULL, 0, 0);
    replay_script_release(&s);
    replay_reference_release(&r);
}

#define AT_30_S SEGMENT(30000, 31000, THREE(51, 2, 101))

static void single_timestamps_end_windows(void **state)
{
    struct fixture *f = *state;
    struct replay_reference r;
    struct replay_script s;
    static const char segments[] = FILE_OF(START "," AT_30_S);
    assert_int_equal(parse(f, segments, &r), TW_OK);
    replay_script_start(&s, &r, &f->vocab);
    const int32_t first[] = {TIME(0), 1, TIME(200)}, second[] = {TIME(0), 2, TIME(50)};
    check_window(&s, 0, 5000, first, 3, 0);
    check_window(&s, 3000, 2000, second, 3, 1);
    replay_script_release(&s);
    replay_reference_release(&r);
}

/* Logits that allow two text tokens and two timestamps. */
static void judge(const struct fixture *f, float text1, float text2, float time1, float time2, int32_t forced,
                  struct replay_choice *c)
{
    static float logits[SIZE], spare[SIZE];
    const int32_t before[] = {TIME(0), 1};
    struct tw_rules_state state = {before, 2, TIME(0)};
    for (size_t i = 0; i < SIZE; i++)
        logits[i] = -1000;
    logits[1] = text1;
    logits[2] = text2;
    logits[TIME(100)] = time1;
    logits[TIME(101)] = time2;
    replay_judge(&f->rules, &state, forced, logits, spare, c);
}

static int near(double a, double b)
{
    return fabs(a - b) < 1e-5;
}

static void gaps_are_judged(void **state)
{
    struct fixture *f = *state;
    struct replay_choice c;
    judge(f, 5, 4, -9, -9, 1, &c);
    assert_int_equal(c.ours, 1);
    assert_true(c.gap == 0 && !c.timestamp_rule);
    judge(f, 5, 4, -9, -9, 2, &c);
    assert_int_equal(c.ours, 1);
    assert_true(near(c.gap, 1) && !c.timestamp_rule);
    judge(f, 5, 4, 8, 7, TIME(101), &c);
    assert_true(near(c.gap, 1) && !c.timestamp_rule);
    /* A token that no rule of ours allows. */
    judge(f, 5, 4, -9, -9, f->vocab.no_speech, &c);
    assert_true(c.gap == INFINITY);
}

static void timestamp_rule_gaps_are_judged(void **state)
{
    struct fixture *f = *state;
    struct replay_choice c;
    double mass = 4.7 + log(2); /* of two timestamps of 4.7 */
    /* Ours a timestamp, theirs the best text or a worse one. */
    judge(f, 5, 4, 4.7f, 4.7f, 1, &c);
    assert_int_equal(c.ours, TIME(100));
    assert_true(c.timestamp_rule && near(c.gap, mass - 5));
    judge(f, 5, 4, 4.7f, 4.7f, 2, &c);
    assert_true(c.timestamp_rule && near(c.gap, 1));
    assert_true(near(c.forced_logprob, c.best_text - 1));
    /* Ours text, theirs a timestamp. */
    judge(f, 5.6f, 4, 4.7f, 4.7f, TIME(101), &c);
    assert_int_equal(c.ours, 1);
    assert_true(c.timestamp_rule && near(c.gap, 5.6 - mass));
    judge(f, 5.6f, 4, 4.7f, 3.7f, TIME(101), &c);
    assert_true(c.timestamp_rule && near(c.gap, 1));
    judge(f, 5, 4, 4.7f, 4.7f, f->vocab.no_speech, &c);
    assert_true(c.gap == INFINITY);
}

static void noise_has_its_power(void **state)
{
    (void)state;
    enum { N = 100000 };
    static int16_t a[N], b[N];
    double signal = 0, noise = 0;
    for (int i = 0; i < N; i++)
        a[i] = b[i] = (int16_t)(i % 200 < 100 ? 3000 : -3000);
    replay_add_noise(a, N, 10, 1);
    replay_add_noise(b, N, 10, 1);
    assert_memory_equal(a, b, sizeof a);
    for (int i = 0; i < N; i++) {
        double clean = i % 200 < 100 ? 3000 : -3000;
        signal += clean * clean;
        noise += (a[i] - clean) * (a[i] - clean);
    }
    assert_true(fabs(10 * log10(signal / noise) - 10) < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(word_errors_are_counted),
        cmocka_unit_test(noise_has_its_power),
        cmocka_unit_test_setup_teardown(transcripts_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_are_found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(single_timestamps_end_windows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gaps_are_judged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timestamp_rule_gaps_are_judged, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
