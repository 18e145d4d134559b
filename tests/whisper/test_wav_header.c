/* WAV files whose headers are wrong: all samples that are there are read, and nothing else. */
#include "whisper/sound_tools.h"
#include "whisper/wav_header.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RATE 16000
#define HEAD 44 /* bytes before the samples */
#define FULL UINT32_MAX

static void assert_pattern(const struct bytes *file, const char *name, size_t frames)
{
    struct tw_error err = {0};
    struct tw_audio *audio;
    if (tw_audio_open_memory(file->data, file->size, name, NULL, &audio, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    size_t count;
    float *samples = read_all(audio, &count);
    if (count != frames)
        fail_msg("%s: %zu samples, not %zu", name, count, frames);
    for (size_t i = 0; i < frames; i++)
        if (samples[i] != (float)pattern_sample(i) / 32768.0f)
            fail_msg("%s: sample %zu is %g", name, i, (double)samples[i]);
    free(samples);
    tw_audio_close(audio);
}

struct sizes {
    const char *name;
    uint32_t riff, data;
    size_t frames; /* that are in the file */
    size_t extra;  /* zero bytes after them */
    const char *trailer;
    size_t trailer_size;
    size_t expected;
};

static void any_sizes_give_all_samples(void **state)
{
    (void)state;
    static const char list[] = "LIST\4\0\0\0INFO";
    static char tag[128] = "TAGa title";
    memset(tag + 10, 'x', sizeof tag - 10);
    const struct sizes cases[] = {
        {"true sizes", 36 + 2000, 2000, 1000, 0, NULL, 0, 1000},
        {"zeros", 0, 0, 1000, 0, NULL, 0, 1000},
        {"size of an empty file", 36, 0, 1000, 0, NULL, 0, 1000},
        {"zero data, true file size", 36 + 2000, 0, 1000, 0, NULL, 0, 1000},
        {"zero data, full file size", FULL, 0, 1000, 0, NULL, 0, 1000},
        {"full", FULL, FULL, 1000, 0, NULL, 0, 1000},
        {"full data, zero file size", 0, FULL, 1000, 0, NULL, 0, 1000},
        {"full data, true file size", 36 + 2000, FULL, 1000, 0, NULL, 0, 1000},
        {"half of the range", 0x80000024u, 0x80000000u, 1000, 0, NULL, 0, 1000},
        {"largest signed", 0x7fffffffu, 0x7fffffffu - 36, 1000, 0, NULL, 0, 1000},
        {"cut off", 36 + 4000, 4000, 1000, 0, NULL, 0, 1000},
        {"cut off in a sample", 36 + 4000, 4000, 1000, 1, NULL, 0, 1000},
        {"full and cut off in a sample", FULL, FULL, 1000, 1, NULL, 0, 1000},
        {"stale: half of the samples", 36 + 1000, 1000, 1000, 0, NULL, 0, 1000},
        {"stale: half, file size true", 36 + 2000, 1000, 1000, 0, NULL, 0, 1000},
        {"odd, one byte short", 36 + 1999, 1999, 1000, 0, NULL, 0, 999},
        {"odd, one byte more, padded", 36 + 2002, 2001, 1000, 2, NULL, 0, 1000},
        {"odd, beyond the end", 36 + 2001, 2001, 1000, 0, NULL, 0, 1000},
        {"file size zero", 0, 2000, 1000, 0, NULL, 0, 1000},
        {"file size too small", 100, 2000, 1000, 0, NULL, 0, 1000},
        {"a chunk follows", 36 + 2012, 2000, 1000, 0, list, 12, 1000},
        {"a chunk follows, file size zero", 0, 2000, 1000, 0, list, 12, 1000},
        {"a title follows", 36 + 2000, 2000, 1000, 0, tag, 128, 1000},
        {"five bytes follow", 36 + 2000, 2000, 1000, 5, NULL, 0, 1000},
        {"no samples", 36, 0, 0, 0, NULL, 0, 0},
        {"no samples, full", FULL, FULL, 0, 0, NULL, 0, 0},
        {"no samples, a chunk follows", 48, 0, 0, 0, list, 12, 0},
        {"one sample", 38, 2, 1, 0, NULL, 0, 1},
        {"one sample, zeros", 0, 0, 1, 0, NULL, 0, 1},
        {"one sample, full", FULL, FULL, 1, 0, NULL, 0, 1},
        {"two samples", 40, 4, 2, 0, NULL, 0, 2},
        {"two samples, full", FULL, FULL, 2, 0, NULL, 0, 2},
        {"a tenth of a second, zeros", 0, 0, 1600, 0, NULL, 0, 1600},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sizes *c = &cases[i];
        struct bytes file = wav_file(RATE, 1, c->frames, c->riff, c->data);
        for (size_t k = 0; k < c->extra; k++)
            append(&file, "", 1);
        if (c->trailer != NULL)
            append(&file, c->trailer, c->trailer_size);
        assert_pattern(&file, c->name, c->expected);
        free(file.data);
    }
}

/* The same file with other chunks around its format, and the format in its long form. */
static struct bytes long_format_file(uint32_t data_size, size_t frames)
{
    struct bytes plain = wav_file(RATE, 1, frames, 0, data_size), b = {0};
    static const unsigned char pcm[14] = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    append(&b, plain.data, 12);
    append(&b, "LIST", 4);
    append_number(&b, 7, 4);
    append(&b, "INFOabc\0", 8);
    append(&b, "fmt ", 4);
    append_number(&b, 40, 4);
    append_number(&b, 0xfffe, 2);
    append(&b, plain.data + 22, 14);
    append_number(&b, 22, 2);
    append_number(&b, 16, 2);
    append_number(&b, 4, 4);
    append_number(&b, 1, 2);
    append(&b, pcm, sizeof pcm);
    append(&b, plain.data + 36, plain.size - 36);
    free(plain.data);
    return b;
}

static void long_formats_and_other_chunks_are_kept(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2000, 0, FULL, 600};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bytes file = long_format_file(sizes[i], 1000);
        assert_pattern(&file, "long format", 1000);
        free(file.data);
    }
}

/* RF64 with true sizes, with none, and with too large ones. */
static void long_files_are_read_to_their_end(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {2000, 0, UINT64_MAX, 1u << 31, 600};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bytes plain = wav_file(RATE, 1, 1000, FULL, FULL), b = {0};
        append(&b, "RF64", 4);
        append(&b, plain.data + 4, 8);
        append(&b, "ds64", 4);
        append_number(&b, 28, 4);
        append_number(&b, sizes[i] + 72, 8);
        append_number(&b, sizes[i], 8);
        append_number(&b, sizes[i] / 2, 8);
        append_number(&b, 0, 4);
        append(&b, plain.data + 12, plain.size - 12);
        assert_pattern(&b, "RF64", 1000);
        free(plain.data);
        free(b.data);
    }
}

static void open_view(const char *path, struct tw_wav_view *view)
{
    struct tw_error err = {0};
    struct tw_input *input;
    assert_int_equal(tw_input_open(path, TW_INPUT_ANY_ORDER, &input, &err), TW_OK);
    assert_int_equal(tw_wav_view_open(input, view, &err), TW_OK);
    tw_input_close(input);
}

/* The size wrapped round at 4 GiB: most of the file would be lost. The file is a hole and takes no space. */
static void wrapped_sizes_give_a_long_header(void **state)
{
    const char *path = path_in(*state, "long.wav");
    const int64_t samples_bytes = (INT64_C(1) << 32) + 2000;
    struct bytes head = wav_file(RATE, 1, 0, 2036, 2000);
    write_file(path, head.data, head.size);
    assert_int_equal(truncate(path, HEAD + samples_bytes), 0);
    struct tw_wav_view view;
    open_view(path, &view);
    assert_int_equal(view.body_offset, HEAD);
    assert_int_equal(view.body_size, samples_bytes);
    assert_int_equal(view.head_size, HEAD + 36);
    assert_memory_equal(view.head, "RF64\xff\xff\xff\xffWAVEds64", 16);
    struct bytes expected = {0};
    append_number(&expected, (uint64_t)samples_bytes + HEAD + 36 - 8, 8);
    append_number(&expected, (uint64_t)samples_bytes, 8);
    assert_memory_equal(view.head + 20, expected.data, expected.size);
    assert_memory_equal(view.head + view.head_size - 8, "data\xff\xff\xff\xff", 8);
    free(expected.data);
    free(head.data);
}

static void true_headers_are_left_alone(void **state)
{
    struct bytes file = wav_file(RATE, 2, 100, 36 + 400, 400);
    const char *path = path_in(*state, "true.wav");
    write_file(path, file.data, file.size);
    struct tw_wav_view view;
    open_view(path, &view);
    assert_int_equal(view.head_size, 0);
    assert_int_equal(view.body_offset, 0);
    assert_int_equal(view.body_size, file.size);
    free(file.data);
}

/* Every cut in the header is either refused or gives no samples. */
static void headers_cut_off_are_refused(void **state)
{
    (void)state;
    struct bytes file = wav_file(RATE, 1, 10, 56, 20);
    for (size_t size = 1; size <= HEAD; size++) {
        struct tw_error err = {0};
        struct tw_audio *audio = NULL;
        int rc = tw_audio_open_memory(file.data, size, "cut", NULL, &audio, &err);
        if (rc == TW_OK) {
            size_t count;
            free(read_all(audio, &count));
            assert_int_equal(count, 0);
        } else {
            assert_int_equal(rc, TW_E_FORMAT);
            assert_non_null(strstr(err.text, "cut"));
        }
        assert_true(size == HEAD ? rc == TW_OK : size < 36 ? rc < 0 : 1);
        tw_audio_close(audio);
    }
    free(file.data);
}

static void hostile_chunks_are_survived(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 15, 17, 255, 256, 257, 0x7fffffff, 0x80000000, FULL};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bytes file = wav_file(RATE, 1, 200, 0, 0);
        for (int b = 0; b < 4; b++)
            file.data[16 + b] = (unsigned char)(sizes[i] >> 8 * b);
        struct tw_error err = {0};
        struct tw_audio *audio = NULL;
        int rc = tw_audio_open_memory(file.data, file.size, "hostile", NULL, &audio, &err);
        assert_true(rc == TW_OK || rc == TW_E_FORMAT || rc == TW_E_UNSUPPORTED);
        tw_audio_close(audio);
        free(file.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sizes_give_all_samples),
        cmocka_unit_test(long_formats_and_other_chunks_are_kept),
        cmocka_unit_test(long_files_are_read_to_their_end),
        cmocka_unit_test_setup_teardown(wrapped_sizes_give_a_long_header, new_folder, left_folder),
        cmocka_unit_test_setup_teardown(true_headers_are_left_alone, new_folder, left_folder),
        cmocka_unit_test(headers_cut_off_are_refused),
        cmocka_unit_test(hostile_chunks_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
