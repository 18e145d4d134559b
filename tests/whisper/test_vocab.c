/* Token numbers, languages, and text to tokens. */
#include "whisper/synthetic.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void numbers_of_special_tokens(void **state)
{
    /* size, end of text, first language, languages, translate, no timestamps, <|0.00|> */
    static const int32_t expected[][7] = {
        {51864, 50256, 50258, 0, 50357, 50362, 50363},
        {51865, 50257, 50259, 99, 50358, 50363, 50364},
        {51866, 50257, 50259, 100, 50359, 50364, 50365},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const int32_t *e = expected[i];
        struct tw_vocab v = {0};
        assert_int_equal(tw_vocab_layout(&v, e[0], NULL), 0);
        assert_int_equal(v.size, e[0]);
        assert_int_equal(v.text_size, e[1]);
        assert_int_equal(v.end_of_text, e[1]);
        assert_int_equal(v.start, e[1] + 1);
        assert_int_equal(v.language_first, e[2]);
        assert_int_equal(v.languages, e[3]);
        assert_int_equal(v.multilingual, e[3] != 0);
        assert_int_equal(v.translate, e[4]);
        assert_int_equal(v.transcribe, e[4] + 1);
        assert_int_equal(v.start_lm, e[4] + 2);
        assert_int_equal(v.previous, e[4] + 3);
        assert_int_equal(v.no_speech, e[4] + 4);
        assert_int_equal(v.no_timestamps, e[5]);
        assert_int_equal(v.timestamp_first, e[6]);
        assert_int_equal(v.timestamp_first + 1501, v.size);
    }
}

static void other_sizes_are_refused(void **state)
{
    struct tw_vocab v = {0};
    struct tw_error err;
    (void)state;
    for (int32_t size = 51862; size <= 51868; size++)
        if (size < 51864 || size > 51866)
            assert_int_equal(tw_vocab_layout(&v, size, &err), TW_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "51868"));
}

static void languages_in_order(void **state)
{
    (void)state;
    assert_string_equal(tw_language_code(0), "en");
    assert_string_equal(tw_language_name(0), "english");
    assert_string_equal(tw_language_code(2), "de");
    assert_string_equal(tw_language_code(20), "he");
    assert_string_equal(tw_language_code(93), "haw");
    assert_string_equal(tw_language_code(99), "yue");
    assert_null(tw_language_code(-1));
    assert_null(tw_language_code(100));
    assert_null(tw_language_name(100));
    for (int32_t i = 0; i < TW_LANGUAGES_MAX; i++) {
        assert_int_equal(tw_language_find(tw_language_code(i)), i);
        assert_int_equal(tw_language_find(tw_language_name(i)), i);
    }
    assert_int_equal(tw_language_find("German"), 2);
    assert_int_equal(tw_language_find("HAITIAN CREOLE"), 80);
    assert_int_equal(tw_language_find("klingon"), -1);
    assert_int_equal(tw_language_find(""), -1);
    assert_int_equal(tw_language_find("englis"), -1);
}

/* A vocabulary of the given words; word i is token i. */
static void make(struct tw_vocab *v, struct tw_token_text *text, const char *const *words, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        text[i] = (struct tw_token_text){words[i], (uint32_t)strlen(words[i])};
    *v = (struct tw_vocab){.text = text, .text_size = count};
    assert_int_equal(tw_vocab_index(v, NULL), 0);
}

/* Checks that text becomes the given tokens, written one after the other with | between. */
static void assert_split(const struct tw_vocab *v, const char *text, const char *expected)
{
    int32_t tokens[64];
    char spelled[512] = "";
    int64_t n = tw_vocab_encode(v, text, strlen(text), tokens, 64, NULL);
    assert_in_range(n, 0, 64);
    for (int64_t i = 0; i < n; i++) {
        strncat(spelled, v->text[tokens[i]].bytes, v->text[tokens[i]].size);
        strcat(spelled, "|");
    }
    assert_string_equal(spelled, expected);
}

static void words_are_cut_as_gpt2_does(void **state)
{
    /* Tokens that reach across words are there to be missed. */
    static const char *const words[] = {
        "a",  "b",   "d",  "o",  "n",  "t",    "s",    "'",        " ",          "\n", "1",   "2",  "!",   "don",
        "'t", "'s",  " a", " b", "ab", "1a",   "a!",   "a b",      " 12",        "12", " !!", "  ", "\n ", " \n",
        "!'", "'re", "r",  "e",  "\t", "\xc3", "\xa9", "\xc3\xa9", "a\303\251b", "b'", "st",  "ta", " '",  "!\xc3\xa9",
    };
    struct tw_token_text text[sizeof words / sizeof words[0]];
    struct tw_vocab v;
    (void)state;
    make(&v, text, words, sizeof words / sizeof words[0]);
    assert_split(&v, "", "");
    assert_split(&v, "don't", "don|'t|");
    assert_split(&v, "'st", "'s|t|");
    assert_split(&v, "'ta", "'t|a|");
    assert_split(&v, "a b", "a| b|");
    assert_split(&v, "ab", "ab|");
    assert_split(&v, "1a", "1|a|");
    assert_split(&v, "a 12!!", "a| 12|!|!|");
    assert_split(&v, "a!", "a|!|");
    assert_split(&v, "a !!'s", "a| !!|'|s|");
    assert_split(&v, "b's", "b|'s|");
    assert_split(&v, " 's", " '|s|");
    assert_split(&v, "a  b", "a| | b|");
    assert_split(&v, "a   b", "a|  | b|");
    assert_split(&v, "a\n b", "a|\n| b|");
    assert_split(&v, "a\nb", "a|\n|b|");
    assert_split(&v, "a \nb", "a| |\n|b|");
    assert_split(&v, "a\n ", "a|\n |");
    assert_split(&v, "\tab", "\t|ab|");
    assert_split(&v, "  ", "  |");
    assert_split(&v, " ", " |");
    assert_split(&v, "a're", "a|'re|");
    tw_vocab_release(&v);
}

static void bytes_beyond_ascii_are_letters(void **state)
{
    static const char *const words[] = {"a", "b", "!", "\xc3\xa9", "a\303\251b", " \xc3\xa9", "!\xc3\xa9", "b!", " "};
    struct tw_token_text text[sizeof words / sizeof words[0]];
    struct tw_vocab v;
    (void)state;
    make(&v, text, words, sizeof words / sizeof words[0]);
    assert_split(&v, "a\303\251b",
                 "a\xc3\xa9"
                 "b|");
    assert_split(&v, "a \xc3\xa9", "a| \xc3\xa9|");
    assert_split(&v, "!\xc3\xa9", "!|\xc3\xa9|");
    assert_split(&v, "b!", "b|!|");
    tw_vocab_release(&v);
}

static void the_longest_token_wins_and_unknown_bytes_go(void **state)
{
    static const char *const words[] = {"a", "aa", "aaaa", "ab", ""};
    struct tw_token_text text[5];
    struct tw_vocab v;
    (void)state;
    make(&v, text, words, 5);
    assert_split(&v, "aaa", "aa|a|");
    assert_split(&v, "aaaaab", "aaaa|ab|");
    assert_split(&v, "axaa", "a|aa|");
    assert_split(&v, "xyz", "");
    tw_vocab_release(&v);
}

static void of_equal_tokens_the_last_counts(void **state)
{
    static const char *const words[] = {"\xef\xbf\xbd", "a", "\xef\xbf\xbd", "a"};
    struct tw_token_text text[4];
    struct tw_vocab v;
    int32_t tokens[2];
    (void)state;
    make(&v, text, words, 4);
    assert_int_equal(tw_vocab_encode(&v, "a", 1, tokens, 2, NULL), 1);
    assert_int_equal(tokens[0], 3);
    tw_vocab_release(&v);
}

static void more_tokens_than_room_are_counted(void **state)
{
    static const char *const words[] = {"a"};
    struct tw_token_text text[1];
    struct tw_vocab v;
    int32_t tokens[3] = {-1, -1, -1};
    (void)state;
    make(&v, text, words, 1);
    assert_int_equal(tw_vocab_encode(&v, "aaaa", 4, tokens, 2, NULL), 4);
    assert_int_equal(tokens[1], 0);
    assert_int_equal(tokens[2], -1);
    assert_int_equal(tw_vocab_encode(&v, "aaaa", 4, NULL, 0, NULL), 4);
    tw_vocab_release(&v);
    assert_int_equal(tw_vocab_encode(&v, "a", 1, tokens, 2, NULL), TW_E_STATE);
}

/* With all single bytes in the vocabulary, the tokens of any text spell it. */
static void tokens_spell_any_text(void **state)
{
    struct synthetic_options o = synthetic_smallest();
    struct bytes file = {0};
    struct tw_whisper_model *m = synthetic_model(&o, &file);
    struct tw_random random = {42};
    (void)state;
    assert_non_null(m);
    for (int round = 0; round < 500; round++) {
        unsigned char text[64];
        int32_t tokens[64];
        size_t size = (size_t)tw_random_range(&random, 0, 64), at = 0;
        for (size_t i = 0; i < size; i++)
            text[i] = (unsigned char)(round % 2 ? tw_random_range(&random, 0, 255)
                                                : " ab'st1\n"[tw_random_range(&random, 0, 7)]);
        int64_t n = tw_vocab_encode(&m->vocab, (const char *)text, size, tokens, 64, NULL);
        assert_in_range(n, 0, 64);
        for (int64_t i = 0; i < n; i++) {
            const struct tw_token_text *t = &m->vocab.text[tokens[i]];
            assert_true(t->size > 0 && at + t->size <= size);
            assert_memory_equal(text + at, t->bytes, t->size);
            at += t->size;
        }
        assert_int_equal(at, size);
    }
    tw_model_close(m);
    bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_special_tokens),
        cmocka_unit_test(other_sizes_are_refused),
        cmocka_unit_test(languages_in_order),
        cmocka_unit_test(words_are_cut_as_gpt2_does),
        cmocka_unit_test(bytes_beyond_ascii_are_letters),
        cmocka_unit_test(the_longest_token_wins_and_unknown_bytes_go),
        cmocka_unit_test(of_equal_tokens_the_last_counts),
        cmocka_unit_test(more_tokens_than_room_are_counted),
        cmocka_unit_test(tokens_spell_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
