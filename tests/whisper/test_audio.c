/* Sound of many forms, from files, pipes and memory: what comes out, and the sentence when it cannot be read. */
#include "base/random.h"
#include "whisper/sound_tools.h"

#include <math.h>
#include <setjmp.h>
#include <sndfile.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PI 3.14159265358979323846
#define RATE 16000

static struct tw_audio *opened(const char *path, const struct tw_audio_options *options)
{
    struct tw_error err = {0};
    struct tw_audio *audio;
    if (tw_audio_open(path, options, &audio, &err) < 0)
        fail_msg("%s", err.text);
    return audio;
}

static struct tw_audio *opened_memory(struct bytes bytes, const struct tw_audio_options *options)
{
    struct tw_error err = {0};
    struct tw_audio *audio;
    if (tw_audio_open_memory(bytes.data, bytes.size, "memory", options, &audio, &err) < 0)
        fail_msg("%s", err.text);
    return audio;
}

static float pattern(size_t index)
{
    return (float)pattern_sample(index) / 32768.0f;
}

/* Reads audio to its end, closes it, and compares it with `count` pattern samples. */
static void assert_pattern(struct tw_audio *audio, size_t count)
{
    size_t n;
    float *samples = read_all(audio, &n);
    assert_int_equal(n, count);
    for (size_t i = 0; i < n; i++)
        if (samples[i] != pattern(i))
            fail_msg("sample %zu is %g", i, (double)samples[i]);
    free(samples);
    tw_audio_close(audio);
}

static float *tone(size_t count, int rate, double hz)
{
    float *samples = malloc((count + 1) * sizeof *samples);
    assert_non_null(samples);
    for (size_t i = 0; i < count; i++)
        samples[i] = (float)(0.5 * sin(2 * PI * hz * (double)i / rate));
    return samples;
}

/* Writes interleaved frames with libsndfile; returns 0 when it was built without the format. */
static int write_sound(const char *path, int format, int rate, int channels, const float *frames, size_t count)
{
    SF_INFO info = {.samplerate = rate, .channels = channels, .format = format};
    SNDFILE *f = sf_open(path, SFM_WRITE, &info);
    if (f == NULL)
        return 0;
    assert_int_equal(sf_writef_float(f, frames, (sf_count_t)count), count);
    assert_int_equal(sf_close(f), 0);
    return 1;
}

static void sixteen_kilohertz_pass_untouched(void **state)
{
    const char *path = path_in(*state, "plain.wav");
    struct bytes file = wav_file(RATE, 1, 40000, 36 + 80000, 80000);
    write_file(path, file.data, file.size);
    struct tw_audio *audio = opened(path, NULL);
    assert_string_equal(tw_audio_description(audio), "16000 Hz, 1 channel, WAV");
    assert_pattern(audio, 40000);
    assert_pattern(opened_memory(file, NULL), 40000);
    free(file.data);
}

static void samples_pass_untouched(void **state)
{
    (void)state;
    float *samples = tone(1000, RATE, 440);
    samples[10] = NAN;
    samples[11] = -INFINITY;
    samples[12] = 3.0f;
    struct tw_audio *audio;
    assert_int_equal(tw_audio_open_samples(samples, 1000, &audio, NULL), TW_OK);
    size_t count;
    float *got = read_all(audio, &count);
    assert_int_equal(count, 1000);
    samples[10] = samples[11] = 0.0f;
    assert_memory_equal(got, samples, 1000 * sizeof *samples);
    free(got);
    free(samples);
    tw_audio_close(audio);
}

static void no_samples_are_no_error(void **state)
{
    (void)state;
    struct tw_audio *audio;
    assert_int_equal(tw_audio_open_samples(NULL, 0, &audio, NULL), TW_OK);
    float sample;
    assert_int_equal(tw_audio_read(audio, &sample, 1, NULL), 0);
    tw_audio_close(audio);
    struct bytes file = wav_file(44100, 2, 0, 36, 0);
    assert_pattern(opened_memory(file, NULL), 0);
    free(file.data);
}

struct form {
    const char *name;
    int format;
    double least_snr;
};

static const struct form forms[] = {
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 40},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 80},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 120},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_32, 120},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 120},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 120},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_ULAW, 30},
    {"WAV", SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, 20},
    {"WAVEX", SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 120},
    {"FLAC", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 80},
    {"OGG", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 15},
    {"OGG", SF_FORMAT_OGG | SF_FORMAT_OPUS, 15},
    {"MPEG-1/2 Audio", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 15},
    {"AIFF", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 80},
    {"AU", SF_FORMAT_AU | SF_FORMAT_PCM_16, 80},
    {"CAF", SF_FORMAT_CAF | SF_FORMAT_PCM_16, 80},
    {"W64", SF_FORMAT_W64 | SF_FORMAT_PCM_16, 80},
    {"RF64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 80},
};

/* Two channels that average to one tone, in every form. */
static void forms_of_files(void **state)
{
    const size_t count = RATE;
    float *mono = tone(count, RATE, 700), *stereo = malloc(2 * count * sizeof *stereo);
    assert_non_null(stereo);
    for (size_t i = 0; i < count; i++) {
        stereo[2 * i] = 1.5f * mono[i];
        stereo[2 * i + 1] = 0.5f * mono[i];
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *path = path_in(*state, "sound");
        if (!write_sound(path, forms[i].format, RATE, 2, stereo, count)) {
            print_message("libsndfile here does not write %s: left out\n", forms[i].name);
            continue;
        }
        struct tw_audio *audio = opened(path, NULL);
        char description[64];
        snprintf(description, sizeof description, "16000 Hz, 2 channels, %s", forms[i].name);
        assert_string_equal(tw_audio_description(audio), description);
        size_t n;
        float *got = read_all(audio, &n);
        /* Block codes fill their last block. */
        if (n < count || n > count + 2048)
            fail_msg("%s: %zu samples", forms[i].name, n);
        if (snr(got, mono, count) < forms[i].least_snr)
            fail_msg("%s: %g dB", forms[i].name, snr(got, mono, count));
        free(got);
        tw_audio_close(audio);
    }
    free(mono);
    free(stereo);
}

static void many_channels_are_averaged(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 3, 6, 8, 255, 1024};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        int channels = counts[k];
        struct tw_audio_options options = {.raw = 1, .raw_channels = channels};
        struct bytes raw = {0};
        for (int frame = 0; frame < 50; frame++)
            for (int c = 0; c < channels; c++)
                append_number(&raw, (uint16_t)(c % 2 == 0 ? 1000 * (frame % 20) : -200), 2);
        struct tw_audio *audio = opened_memory(raw, &options);
        size_t n;
        float *got = read_all(audio, &n);
        assert_int_equal(n, 50);
        for (int frame = 0; frame < 50; frame++) {
            int first = (channels + 1) / 2, second = channels / 2;
            double wanted = (1000.0 * (frame % 20) * first - 200.0 * second) / channels / 32768.0;
            assert_true(fabs(got[frame] - wanted) < 1e-7);
        }
        free(got);
        tw_audio_close(audio);
        free(raw.data);
    }
}

/* Samples that are not numbers, or so large that sums overflow, in files that are averaged and resampled. */
static void wild_floats_come_out_finite(void **state)
{
    static const int rates[] = {16000, 44100};
    float frames[2000];
    for (size_t i = 0; i < 2000; i++)
        frames[i] = i % 7 == 0 ? NAN : i % 7 == 1 ? INFINITY : i % 7 == 2 ? 3e38f : i % 7 == 3 ? -INFINITY : 0.25f;
    for (size_t k = 0; k < 2; k++) {
        const char *path = path_in(*state, "wild.wav");
        assert_true(write_sound(path, SF_FORMAT_WAV | SF_FORMAT_FLOAT, rates[k], 2, frames, 1000));
        struct tw_audio *audio = opened(path, NULL);
        size_t n;
        float *got = read_all(audio, &n);
        assert_int_equal(n, k == 0 ? 1000 : 363);
        for (size_t i = 0; i < n; i++)
            assert_true(isfinite(got[i]));
        free(got);
        tw_audio_close(audio);
    }
}

static struct bytes raw_pattern(size_t count)
{
    struct bytes raw = {0};
    for (size_t i = 0; i < count; i++)
        append_number(&raw, (uint16_t)pattern_sample(i), 2);
    return raw;
}

static void raw_samples(void **state)
{
    struct tw_audio_options options = {.raw = 1};
    struct bytes raw = raw_pattern(50000);
    append(&raw, "x", 1); /* half a sample */
    const char *path = path_in(*state, "raw");
    write_file(path, raw.data, raw.size);
    struct tw_audio *audio = opened(path, &options);
    assert_string_equal(tw_audio_description(audio), "16000 Hz, 1 channel, raw 16-bit");
    assert_pattern(audio, 50000);
    assert_pattern(opened_memory(raw, &options), 50000);
    raw.size = 1;
    assert_pattern(opened_memory(raw, &options), 0);
    free(raw.data);
}

static void raw_rates_and_channels(void **state)
{
    (void)state;
    struct bytes raw = raw_pattern(48000);
    struct tw_audio_options options = {.raw = 1, .raw_rate = 48000, .raw_channels = 2};
    struct tw_audio *audio = opened_memory(raw, &options);
    assert_string_equal(tw_audio_description(audio), "48000 Hz, 2 channels, raw 16-bit");
    size_t n;
    free(read_all(audio, &n));
    assert_int_equal(n, 8000);
    tw_audio_close(audio);
    static const int wrong[][2] = {{999, 1}, {768001, 1}, {-1, 1}, {16000, 1025}, {16000, -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.raw_rate = wrong[i][0];
        options.raw_channels = wrong[i][1];
        assert_int_equal(tw_audio_open_memory(raw.data, raw.size, "raw", &options, &audio, NULL), TW_E_ARGUMENT);
        assert_null(audio);
    }
    free(raw.data);
}

static void assert_refused(const char *path, int code, const char *word)
{
    struct tw_error err = {0};
    struct tw_audio *audio = NULL;
    int rc = tw_audio_open(path, NULL, &audio, &err);
    if (rc != code)
        fail_msg("%s: code %d, %s", path, rc, err.text);
    assert_null(audio);
    if (strstr(err.text, word) == NULL || strstr(err.text, path) == NULL || strchr(err.text, '\n') != NULL)
        fail_msg("sentence: %s", err.text);
}

static void what_is_no_sound_is_refused(void **state)
{
    const char *folder = *state;
    const char *text = path_in(folder, "text"), *model = path_in(folder, "model"), *empty = path_in(folder, "empty");
    write_file(text, "a text\nof two lines\n", 20);
    write_file(model, "lmgg\x99\xca\0\0\xdc\5\0\0\0\2\0\0\x08\0\0\0\6\0\0\0", 24);
    write_file(empty, "", 0);
    assert_refused(text, TW_E_FORMAT, "not a sound file of a known kind");
    assert_refused(model, TW_E_FORMAT, "not a sound file of a known kind");
    assert_refused(empty, TW_E_FORMAT, "empty");
    assert_refused(folder, TW_E_FORMAT, "directory");
    assert_refused("/dev/zero", TW_E_FORMAT, "device");
    assert_refused(path_in(folder, "missing"), TW_E_NOT_FOUND, "cannot open");
    assert_refused(path_in(text, "below"), TW_E_NOT_FOUND, "cannot open");
    struct tw_audio *audio;
    struct tw_audio_options raw = {.raw = 1};
    assert_int_equal(tw_audio_open(empty, &raw, &audio, NULL), TW_E_FORMAT);
    assert_int_equal(tw_audio_open(folder, &raw, &audio, NULL), TW_E_FORMAT);
    assert_int_equal(tw_audio_open_memory("", 0, "nothing", NULL, &audio, NULL), TW_E_FORMAT);
    assert_int_equal(tw_audio_open_memory("", 0, "nothing", &raw, &audio, NULL), TW_E_FORMAT);
}

static void rates_out_of_range_are_refused(void **state)
{
    static const int rates[] = {100, 999, 768001, 2000000};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const char *path = path_in(*state, "rate.wav");
        struct bytes file = wav_file(rates[i], 1, 100, 236, 200);
        write_file(path, file.data, file.size);
        assert_refused(path, TW_E_UNSUPPORTED, "samples a second");
        free(file.data);
    }
}

/* A file cut in the middle still gives what is before the cut. */
static void files_cut_off_give_what_is_there(void **state)
{
    static const int formats[] = {SF_FORMAT_FLAC | SF_FORMAT_PCM_16,         SF_FORMAT_OGG | SF_FORMAT_VORBIS,
                                  SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, SF_FORMAT_AIFF | SF_FORMAT_PCM_16,
                                  SF_FORMAT_AU | SF_FORMAT_PCM_16,           SF_FORMAT_W64 | SF_FORMAT_PCM_16};
    const size_t count = 10 * RATE;
    float *mono = tone(count, RATE, 700);
    /* Noise, for a codec would put ten seconds of a pure tone into its first page. */
    struct tw_random random = {1};
    for (size_t i = 0; i < count; i++)
        mono[i] += 0.1f * (float)(tw_random_unit(&random) - 0.5);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const char *path = path_in(*state, "cut");
        if (!write_sound(path, formats[i], RATE, 1, mono, count))
            continue;
        struct bytes file = whole_file(path);
        file.size /= 2;
        struct tw_audio *audio = opened_memory(file, NULL);
        size_t n;
        assert_string_equal(tw_audio_warning(audio), "");
        float *got = read_all(audio, &n);
        if ((formats[i] & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC)
            assert_non_null(strstr(tw_audio_warning(audio), "is damaged or cut off"));
        if (n < 3 * RATE || n > count || snr(got, mono, 2 * RATE) < 10)
            fail_msg("format %#x: %zu samples, %g dB", (unsigned)formats[i], n, snr(got, mono, 2 * RATE));
        free(got);
        tw_audio_close(audio);
        free(file.data);
    }
    free(mono);
}

static void send_bytes(int fd, const void *arg)
{
    const struct bytes *bytes = arg;
    write_to(fd, bytes->data, bytes->size);
}

/* Small enough for memory, and too large for it. */
static void standard_input_is_a_pipe(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 100, 130000, 131050, 5000000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct bytes file = wav_file(RATE, 1, counts[i], UINT32_MAX, i % 2 == 0 ? UINT32_MAX : 0);
        struct feed feed = feed_stdin(send_bytes, &file);
        struct tw_audio *audio = opened("-", NULL);
        assert_pattern(audio, counts[i]);
        stop_feeding(feed);
        free(file.data);
    }
}

static void raw_standard_input(void **state)
{
    (void)state;
    struct bytes raw = raw_pattern(300000);
    struct feed feed = feed_stdin(send_bytes, &raw);
    struct tw_audio_options options = {.raw = 1};
    assert_pattern(opened("-", &options), 300000);
    stop_feeding(feed);
    free(raw.data);
}

static void empty_standard_input_is_refused(void **state)
{
    (void)state;
    for (int raw = 0; raw < 2; raw++) {
        struct bytes nothing = {0};
        struct feed feed = feed_stdin(send_bytes, &nothing);
        struct tw_audio_options options = {.raw = raw};
        struct tw_error err = {0};
        struct tw_audio *audio;
        assert_int_equal(tw_audio_open("-", &options, &audio, &err), TW_E_FORMAT);
        assert_string_equal(err.text, "standard input is empty: there is no sound in it");
        stop_feeding(feed);
    }
}

/* A file as standard input is read from where it stands. */
static void standard_input_is_a_file(void **state)
{
    const char *path = path_in(*state, "file");
    struct bytes file = wav_file(RATE, 1, 1000, 36 + 2000, 2000), both = {0};
    append(&both, "0123456789", 10);
    append(&both, file.data, file.size);
    write_file(path, both.data, both.size);
    int saved = dup(STDIN_FILENO);
    assert_non_null(freopen(path, "rb", stdin));
    assert_int_equal(lseek(STDIN_FILENO, 10, SEEK_SET), 10);
    assert_pattern(opened("-", NULL), 1000);
    if (saved >= 0)
        dup2(saved, STDIN_FILENO);
    close(saved);
    free(file.data);
    free(both.data);
}

static void send_to_named_pipe(int fd, const void *arg)
{
    close(fd);
    FILE *f = fopen(arg, "wb");
    struct bytes file = wav_file(RATE, 1, 1000, 0, 0);
    if (f != NULL)
        write_to(fileno(f), file.data, file.size);
}

static void named_pipes_are_read(void **state)
{
    const char *path = path_in(*state, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    struct feed feed = feed_stdin(send_to_named_pipe, path);
    assert_pattern(opened(path, NULL), 1000);
    stop_feeding(feed);
}

static void no_room_for_a_large_pipe(void **state)
{
    (void)state;
    struct bytes file = wav_file(RATE, 1, 5000000, 0, 0);
    char *saved = getenv("TMPDIR") != NULL ? strdup(getenv("TMPDIR")) : NULL;
    assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
    struct feed feed = feed_stdin(send_bytes, &file);
    struct tw_error err = {0};
    struct tw_audio *audio;
    int rc = tw_audio_open("-", NULL, &audio, &err);
    stop_feeding(feed);
    if (saved != NULL)
        setenv("TMPDIR", saved, 1);
    else
        unsetenv("TMPDIR");
    free(saved);
    assert_int_equal(rc, TW_E_IO);
    assert_non_null(strstr(err.text, "/no/such/folder"));
    free(file.data);
}

/* 30 minutes of 16 kHz; the header makes it a file, without it the samples are raw. */
#define LONG_SAMPLES (INT64_C(30) * 60 * RATE)

static void send_long(int fd, const void *arg)
{
    const int *raw = arg;
    struct bytes head = wav_file(RATE, 1, 0, 0, 0);
    if (!*raw)
        write_to(fd, head.data, head.size);
    int16_t block[8000];
    for (size_t i = 0; i < 8000; i++)
        block[i] = pattern_sample(i);
    for (int64_t sent = 0; sent < LONG_SAMPLES; sent += 8000)
        write_to(fd, block, sizeof block);
}

static void long_pipes_need_little_memory(void **state)
{
    (void)state;
    for (int raw = 0; raw < 2; raw++) {
        long before = peak_memory();
        struct feed feed = feed_stdin(send_long, &raw);
        struct tw_audio_options options = {.raw = raw};
        struct tw_audio *audio = opened("-", &options);
        static float block[4000];
        int64_t total = 0, n;
        while ((n = tw_audio_read(audio, block, 4000, NULL)) > 0) {
            assert_true(block[0] == pattern((size_t)total % 8000));
            total += n;
        }
        tw_audio_close(audio);
        stop_feeding(feed);
        assert_int_equal(total, LONG_SAMPLES);
        if (before >= 0)
            assert_in_range(peak_memory() - before, 0, 16 * 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_pipes_need_little_memory),
        cmocka_unit_test_setup_teardown(sixteen_kilohertz_pass_untouched, new_folder, left_folder),
        cmocka_unit_test(samples_pass_untouched),
        cmocka_unit_test(no_samples_are_no_error),
        cmocka_unit_test_setup_teardown(forms_of_files, new_folder, left_folder),
        cmocka_unit_test(many_channels_are_averaged),
        cmocka_unit_test_setup_teardown(wild_floats_come_out_finite, new_folder, left_folder),
        cmocka_unit_test_setup_teardown(raw_samples, new_folder, left_folder),
        cmocka_unit_test(raw_rates_and_channels),
        cmocka_unit_test_setup_teardown(what_is_no_sound_is_refused, new_folder, left_folder),
        cmocka_unit_test_setup_teardown(rates_out_of_range_are_refused, new_folder, left_folder),
        cmocka_unit_test_setup_teardown(files_cut_off_give_what_is_there, new_folder, left_folder),
        cmocka_unit_test(standard_input_is_a_pipe),
        cmocka_unit_test(raw_standard_input),
        cmocka_unit_test(empty_standard_input_is_refused),
        cmocka_unit_test_setup_teardown(standard_input_is_a_file, new_folder, left_folder),
        cmocka_unit_test_setup_teardown(named_pipes_are_read, new_folder, left_folder),
        cmocka_unit_test(no_room_for_a_large_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
