/* Transcripts: the repair of UTF-8, and every format to the letter. */
#include "whisper/format.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FFFD "\xEF\xBF\xBD"

static void add(struct tw_transcript *t, double start, double end, const char *text)
{
    static const int32_t tokens[] = {50364, 440, 50464};
    assert_int_equal(tw_transcript_add(t, start, end, text, strlen(text), tokens, 3, NULL), 0);
}

static char *written(const struct tw_transcript *t, enum tw_output_format f, const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    assert_int_equal(tw_transcript_write(t, f, name, to, NULL), 0);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void assert_written(const struct tw_transcript *t, enum tw_output_format f, const char *expected)
{
    char *text = written(t, f, NULL);
    assert_string_equal(text, expected);
    free(text);
}

/* What size bytes become as the text of a segment. */
static void assert_repaired(const char *bytes, size_t size, const char *expected)
{
    struct tw_transcript t = {0};
    assert_int_equal(tw_transcript_add(&t, 0, 1, bytes, size, NULL, 0, NULL), 0);
    assert_string_equal(t.segments[0].text, expected);
    tw_transcript_release(&t);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(tw_output_format_name(TW_FORMAT_TEXT), "text");
    assert_string_equal(tw_output_format_ending(TW_FORMAT_TEXT), "txt");
    for (int f = 0; f < TW_FORMAT_COUNT; f++)
        assert_int_equal(tw_output_format_find(tw_output_format_name(f), strlen(tw_output_format_name(f))), f);
    assert_int_equal(tw_output_format_find("srt,vtt", 3), TW_FORMAT_SRT);
    assert_int_equal(tw_output_format_find("srtx", 4), -1);
    assert_int_equal(tw_output_format_find("sr", 2), -1);
    assert_int_equal(tw_output_format_find("", 0), -1);
    assert_null(tw_output_format_name(TW_FORMAT_COUNT));
    assert_null(tw_output_format_ending((enum tw_output_format)(TW_FORMAT_COUNT + 1)));
}

/* A character cut off at either end: the start of one is one mark, each stray continuation byte is one. */
static void utf8_truncations(void **state)
{
    (void)state;
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"; /* a é € 😀 z */
    static const size_t starts[] = {0, 1, 3, 6, 10, 11};
    for (size_t cut = 0; cut <= 11; cut++) {
        char head[64] = "", tail[64] = "";
        size_t whole = 0, next = 0;
        for (size_t i = 0; i < 6; i++)
            whole = starts[i] <= cut ? starts[i] : whole;
        while (starts[next] < cut)
            next++;
        memcpy(head, text, whole);
        strcat(head, whole < cut ? FFFD : "");
        assert_repaired(text, cut, head);
        for (size_t i = cut; i < starts[next]; i++)
            strcat(tail, FFFD);
        strcat(tail, text + starts[next]);
        assert_repaired(text + cut, 11 - cut, tail);
    }
}

static void utf8_malformed(void **state)
{
    (void)state;
    assert_repaired("\xC0\xAF", 2, FFFD FFFD);                   /* overlong */
    assert_repaired("\xE0\x80\x80", 3, FFFD FFFD FFFD);          /* overlong */
    assert_repaired("\xED\xA0\x80", 3, FFFD FFFD FFFD);          /* a surrogate */
    assert_repaired("\xF4\x90\x80\x80", 4, FFFD FFFD FFFD FFFD); /* beyond U+10FFFF */
    assert_repaired("\xF0\x9F\x98"
                    "a",
                    4, FFFD "a");
    assert_repaired("\xE2\x82\xE2\x82\xAC", 5, FFFD "\xE2\x82\xAC");
    assert_repaired("a\0b", 3, "a" FFFD "b");
    assert_repaired("\xFF\xFE", 2, FFFD FFFD);
    assert_repaired("\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF");
}

/* jansson's own check is the judge: all that comes out is valid, and what was valid is unchanged. */
static void utf8_all_edges(void **state)
{
    (void)state;
    static const unsigned char edge[] = {0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2,
                                         0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    const size_t n = sizeof edge;
    for (size_t i = 0; i < n * n * n * n; i++) {
        char bytes[4] = {(char)edge[i % n], (char)edge[i / n % n], (char)edge[i / n / n % n],
                         (char)edge[i / n / n / n]};
        struct tw_transcript t = {0};
        assert_int_equal(tw_transcript_add(&t, 0, 1, bytes, 4, NULL, 0, NULL), 0);
        json_t *after = json_string(t.segments[0].text), *before = json_stringn(bytes, 4);
        assert_non_null(after);
        assert_true(before == NULL ? strstr(t.segments[0].text, FFFD) != NULL
                                   : memcmp(t.segments[0].text, bytes, 4) == 0);
        json_decref(after);
        json_decref(before);
        tw_transcript_release(&t);
    }
}

/* Halves of one character in two segments stay marks: a segment is never changed by the next one. */
static void utf8_across_segments(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    add(&t, 0, 1, " x\xE2\x82");
    add(&t, 1, 2, "\xAC y");
    assert_written(&t, TW_FORMAT_TEXT, "x" FFFD "\n" FFFD " y\n");
    tw_transcript_release(&t);
}

static void adding(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    for (int i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, " number %d", i);
        add(&t, i, i + 1, text);
        memset(text, 'x', sizeof text); /* the transcript has its own copy */
    }
    assert_int_equal(t.n_segments, 1000);
    assert_string_equal(t.segments[999].text, " number 999");
    assert_int_equal(t.segments[999].n_tokens, 3);
    assert_int_equal(t.segments[999].tokens[1], 440);
    assert_true(t.segments[500].start == 500 && t.segments[500].end == 501);
    tw_transcript_release(&t);
    assert_int_equal(t.n_segments, 0);
    assert_null(t.segments);
    tw_transcript_release(&t);
}

static void empty(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    assert_written(&t, TW_FORMAT_TEXT, "");
    assert_written(&t, TW_FORMAT_SRT, "");
    assert_written(&t, TW_FORMAT_VTT, "WEBVTT\n");
    char *text = written(&t, TW_FORMAT_JSON, NULL);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "text")), "");
    assert_int_equal(json_array_size(json_object_get(root, "segments")), 0);
    assert_true(json_is_array(json_object_get(root, "segments")));
    json_decref(root);
    free(text);
}

static void text_lines(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    add(&t, 0, 1, " And so,  my fellow\tAmericans ");
    add(&t, 1, 2, "  \n");
    add(&t, 2, 3, " two\nlines \x1b[31m & <b> --> ");
    assert_written(&t, TW_FORMAT_TEXT, "And so,  my fellow Americans\ntwo lines  [31m & <b> -->\n");
    tw_transcript_release(&t);
}

static void one_segment_as_in_the_whole(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    add(&t, 0, 1, " one");
    add(&t, 1, 2, " ");
    add(&t, 2, 3, " three\r\n");
    char *text = NULL, *whole = written(&t, TW_FORMAT_TEXT, NULL);
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; i < t.n_segments; i++)
        assert_int_equal(tw_segment_write_text(&t.segments[i], to, NULL), 0);
    fclose(to);
    assert_string_equal(text, whole);
    free(text);
    free(whole);
    tw_transcript_release(&t);
}

static void srt(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    add(&t, 0, 2.5, " one");
    add(&t, 2.5, 3, " "); /* is no cue and takes no number */
    add(&t, 59.9996, 3599.9994, " a --> b ----> c\n\nd");
    add(&t, 3600, 360000.01, " & <i>");
    assert_written(&t, TW_FORMAT_SRT,
                   "1\n00:00:00,000 --> 00:00:02,500\none\n"
                   "\n2\n00:01:00,000 --> 00:59:59,999\na -- > b ---- > c  d\n"
                   "\n3\n01:00:00,000 --> 100:00:00,010\n& <i>\n");
    tw_transcript_release(&t);
}

static void vtt(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    add(&t, 0.02, 2.5, " one");
    add(&t, 59.9996, 3599.9994, " a --> b & <c>\n\nd");
    add(&t, 3600, 360000.01, " \xE2\x82\xAC");
    assert_written(&t, TW_FORMAT_VTT,
                   "WEBVTT\n"
                   "\n00:00:00.020 --> 00:00:02.500\none\n"
                   "\n00:01:00.000 --> 00:59:59.999\na --&gt; b &amp; &lt;c&gt;  d\n"
                   "\n01:00:00.000 --> 100:00:00.010\n\xE2\x82\xAC\n");
    tw_transcript_release(&t);
}

static void senseless_times(void **state)
{
    (void)state;
    struct tw_transcript t = {0};
    add(&t, -1, NAN, " x");
    add(&t, -INFINITY, 1e300, " y");
    assert_written(&t, TW_FORMAT_SRT,
                   "1\n00:00:00,000 --> 00:00:00,000\nx\n"
                   "\n2\n00:00:00,000 --> 277777777:46:40,000\ny\n");
    tw_transcript_release(&t);
}

static struct tw_transcript sample(void)
{
    struct tw_transcript t = {.language = "en", .language_probability = 0.123456789, .duration = 11.0049};
    t.encoder_device = "cpu";
    t.decoder_device = "cpu";
    t.counts = (struct tw_encoder_counts){3, 40, 50, 2, 1, 32000000};
    t.timings_ms = (struct tw_timings){1.234, 2.345, 100.006, 50, 1e6 / 3};
    add(&t, 0.1, 2.3000000001, " \"One\" \\ \x01");
    add(&t, 2.3, 11, " two\n\xF0\x9F\x98\x80");
    t.segments[0].avg_logprob = -0.123456789;
    t.segments[0].no_speech_prob = 1.23456789e-12;
    t.segments[1].avg_logprob = -INFINITY;
    t.segments[1].no_speech_prob = NAN;
    return t;
}

static double real_at(const json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    assert_true(json_is_real(v));
    return json_real_value(v);
}

static void json_values(void **state)
{
    (void)state;
    struct tw_transcript t = sample();
    char *text = written(&t, TW_FORMAT_JSON, NULL);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_int_equal(json_object_size(root), 13);
    assert_string_equal(json_string_value(json_object_get(root, "text")), "\"One\" \\ \x01 two\n\xF0\x9F\x98\x80");
    assert_string_equal(json_string_value(json_object_get(root, "language")), "en");
    assert_true(real_at(root, "language_probability") == 0.123457);
    assert_true(real_at(root, "duration") == 11.0);
    assert_int_equal(json_integer_value(json_object_get(root, "launches")), 3);
    assert_int_equal(json_integer_value(json_object_get(root, "products_on_array")), 40);
    assert_int_equal(json_integer_value(json_object_get(root, "operations_on_host")), 50);
    assert_int_equal(json_integer_value(json_object_get(root, "fallbacks")), 2);
    assert_int_equal(json_integer_value(json_object_get(root, "mismatches")), 1);
    const json_t *modelled = json_object_get(root, "modelled_ms");
    assert_true(json_real_value(json_object_get(modelled, "at_1000_mhz")) == 32);
    assert_true(json_real_value(json_object_get(modelled, "at_1600_mhz")) == 20);
    const json_t *list = json_object_get(root, "segments"), *first = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 2);
    assert_int_equal(json_object_size(first), 6);
    assert_true(real_at(first, "start") == 0.1 && real_at(first, "end") == 2.3);
    assert_string_equal(json_string_value(json_object_get(first, "text")), " \"One\" \\ \x01");
    assert_int_equal(json_array_size(json_object_get(first, "tokens")), 3);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "tokens"), 2)), 50464);
    assert_true(real_at(first, "avg_logprob") == -0.123457);
    assert_true(real_at(first, "no_speech_prob") == 1.23457e-12);
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "avg_logprob")));
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "no_speech_prob")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "devices"), "encoder")), "cpu");
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "devices"), "decoder")), "cpu");
    const json_t *ms = json_object_get(root, "timings_ms");
    assert_int_equal(json_object_size(ms), 5);
    assert_true(real_at(ms, "load") == 1.23 && real_at(ms, "encode") == 100.01 && real_at(ms, "decode") == 50);
    assert_true(real_at(ms, "total") == 333333.33);
    json_decref(root);
    free(text);
    tw_transcript_release(&t);
}

/* The numbers as text: rounded ones must not come out with tails such as 0.10000000000000001. */
static void json_digits(void **state)
{
    (void)state;
    struct tw_transcript t = sample();
    char *text = written(&t, TW_FORMAT_JSON, NULL);
    assert_non_null(strstr(text, "\"start\": 0.1,"));
    assert_non_null(strstr(text, "\"language_probability\": 0.123457,"));
    assert_non_null(strstr(text, "\"total\": 333333.33}"));
    assert_true(strncmp(text, "{\"text\": ", 9) == 0);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    tw_transcript_release(&t);
}

static void json_line_with_file(void **state)
{
    (void)state;
    struct tw_transcript t = sample();
    char *text = written(&t, TW_FORMAT_JSON, "a\xFF\"b.wav");
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_true(strncmp(text, "{\"file\": ", 9) == 0);
    json_t *root = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(root, "file")), "a" FFFD "\"b.wav");
    assert_int_equal(json_object_size(root), 14);
    json_decref(root);
    free(text);
    tw_transcript_release(&t);
}

static void write_failures(void **state)
{
    (void)state;
    struct tw_transcript t = sample();
    for (int f = 0; f < TW_FORMAT_COUNT; f++) {
        FILE *to = fopen("/dev/full", "w");
        if (to == NULL)
            skip();
        struct tw_error err = {0};
        setvbuf(to, NULL, _IONBF, 0);
        assert_int_equal(tw_transcript_write(&t, f, NULL, to, &err), TW_E_IO);
        assert_non_null(strstr(err.text, "No space left"));
        fclose(to);
    }
    struct tw_error err = {0};
    assert_int_equal(tw_transcript_write(&t, TW_FORMAT_COUNT, NULL, stdout, &err), TW_E_ARGUMENT);
    tw_transcript_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(utf8_truncations),
        cmocka_unit_test(utf8_malformed),
        cmocka_unit_test(utf8_all_edges),
        cmocka_unit_test(utf8_across_segments),
        cmocka_unit_test(adding),
        cmocka_unit_test(empty),
        cmocka_unit_test(text_lines),
        cmocka_unit_test(one_segment_as_in_the_whole),
        cmocka_unit_test(srt),
        cmocka_unit_test(vtt),
        cmocka_unit_test(senseless_times),
        cmocka_unit_test(json_values),
        cmocka_unit_test(json_digits),
        cmocka_unit_test(json_line_with_file),
        cmocka_unit_test(write_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
