/* The log-mel spectrogram against its definition, evaluated directly in double. */
#include "whisper/mel.h"

#include "base/random.h"
#include "base/thread_pool.h"
#include "whisper/frame_store.h"
#include "whisper/model.h"
#include "whisper/sound_tools.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PI 3.14159265358979323846
#define PAD 200
#define SILENCE 480000
/* What the interface promises is 1e-5; the arithmetic in double gives far less. */
#define NEAR 1e-6

static float *filters_of(int bands)
{
    float *filters = malloc((size_t)bands * TW_MEL_BINS * sizeof *filters);
    assert_non_null(filters);
    tw_mel_filters(bands, filters);
    return filters;
}

static struct tw_mel *mel_of(const float *samples, size_t count, int bands, const float *filters, struct tw_pool *pool)
{
    struct tw_error err = {0};
    struct tw_audio *audio;
    struct tw_mel *mel;
    assert_int_equal(tw_audio_open_samples(samples, count, &audio, &err), TW_OK);
    if (tw_mel_create(audio, bands, filters, pool, &mel, &err) < 0)
        fail_msg("%s", err.text);
    tw_audio_close(audio);
    assert_int_equal(tw_mel_samples(mel), count);
    assert_int_equal(tw_mel_bands(mel), bands);
    return mel;
}

static float *frames_of(struct tw_mel *mel, int64_t first, int64_t count)
{
    float *frames = malloc((size_t)(count * tw_mel_bands(mel)) * sizeof *frames);
    assert_non_null(frames);
    struct tw_error err = {0};
    if (tw_mel_read(mel, first, count, frames, &err) < 0)
        fail_msg("%s", err.text);
    return frames;
}

/* Power of bin k of the 400 padded samples that begin at x. */
static double power_at(const double *windowed, int k)
{
    static double cosine[TW_MEL_WINDOW], sine[TW_MEL_WINDOW];
    if (cosine[0] == 0.0)
        for (int i = 0; i < TW_MEL_WINDOW; i++) {
            cosine[i] = cos(2 * PI * i / TW_MEL_WINDOW);
            sine[i] = sin(2 * PI * i / TW_MEL_WINDOW);
        }
    double re = 0, im = 0;
    for (int i = 0; i < TW_MEL_WINDOW; i++) {
        re += windowed[i] * cosine[i * k % TW_MEL_WINDOW];
        im += windowed[i] * sine[i * k % TW_MEL_WINDOW];
    }
    return re * re + im * im;
}

/* log10 values of one frame, before the clamp. */
static void define_frame(const float *padded, int bands, const float *filters, double *logs)
{
    double windowed[TW_MEL_WINDOW], power[TW_MEL_BINS];
    for (int i = 0; i < TW_MEL_WINDOW; i++)
        windowed[i] = padded[i] * 0.5 * (1 - cos(2 * PI * i / TW_MEL_WINDOW));
    for (int k = 0; k < TW_MEL_BINS; k++)
        power[k] = power_at(windowed, k);
    for (int b = 0; b < bands; b++) {
        double sum = 0;
        for (int k = 0; k < TW_MEL_BINS; k++)
            sum += filters[b * TW_MEL_BINS + k] * power[k];
        logs[b] = log10(sum > 1e-10 ? sum : 1e-10);
    }
}

/* Every frame of samples and padding as the definition has it; *frames of them. */
static double *definition(const float *samples, size_t count, int bands, const float *filters, int64_t *frames)
{
    *frames = ((int64_t)count + SILENCE) / TW_MEL_HOP;
    float *padded = calloc(PAD + count + SILENCE + PAD, sizeof *padded);
    double *values = malloc((size_t)(*frames * bands) * sizeof *values);
    assert_true(padded != NULL && values != NULL);
    memcpy(padded + PAD, samples, count * sizeof *padded);
    for (size_t i = 1; i <= PAD && i < count; i++)
        padded[PAD - i] = samples[i];
    double largest = -10;
    for (int64_t f = 0; f < *frames; f++) {
        double *logs = values + f * bands;
        if (f * TW_MEL_HOP > (int64_t)count + PAD) { /* nothing but zeros: the direct sum would give the same */
            for (int b = 0; b < bands; b++)
                logs[b] = -10;
            continue;
        }
        define_frame(padded + f * TW_MEL_HOP, bands, filters, logs);
        for (int b = 0; b < bands; b++)
            largest = logs[b] > largest ? logs[b] : largest;
    }
    for (int64_t i = 0; i < *frames * bands; i++)
        values[i] = ((values[i] > largest - 8 ? values[i] : largest - 8) + 4) / 4;
    free(padded);
    return values;
}

static void assert_defined(const float *samples, size_t count, int bands, const char *what)
{
    float *filters = filters_of(bands);
    int64_t frames;
    double *wanted = definition(samples, count, bands, filters, &frames);
    struct tw_mel *mel = mel_of(samples, count, bands, filters, NULL);
    float *got = frames_of(mel, 0, frames);
    for (int64_t i = 0; i < frames * bands; i++)
        if (!(fabs(got[i] - wanted[i]) <= NEAR))
            fail_msg("%s, %zu samples: frame %lld band %lld is %.9g, not %.9g", what, count, (long long)(i / bands),
                     (long long)(i % bands), (double)got[i], wanted[i]);
    free(got);
    free(wanted);
    free(filters);
    tw_mel_destroy(mel);
}

static float *noise(size_t count, double level, uint64_t seed)
{
    struct tw_random random = {seed};
    float *samples = malloc((count + 1) * sizeof *samples);
    assert_non_null(samples);
    for (size_t i = 0; i < count; i++)
        samples[i] = (float)(level * (2 * tw_random_unit(&random) - 1));
    return samples;
}

static void short_inputs(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 39, 40, 159, 160, 161, 199, 200, 201, 202, 359, 360, 361, 400, 1600, 5000};
    float *samples = noise(5000, 0.5, 1);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_defined(samples, counts[i], i % 2 == 0 ? 80 : 128, "noise");
    free(samples);
}

/* A band may lie 80 dB below a loud one in the same frame: tones, clicks, steps and faint noise. */
static void inputs_of_wide_range(void **state)
{
    (void)state;
    const size_t count = 8000;
    float *samples = noise(count, 1e-4, 2);
    assert_defined(samples, count, 80, "faint noise");
    for (size_t i = 0; i < count; i++)
        samples[i] = (float)(0.9 * sin(2 * PI * 3173.3 * (double)i / TW_SAMPLE_RATE));
    assert_defined(samples, count, 128, "tone");
    for (size_t i = 0; i < count; i++)
        samples[i] = i == 4321 ? 1.0f : 0.0f;
    assert_defined(samples, count, 80, "click");
    for (size_t i = 0; i < count; i++)
        samples[i] = i < 3000 ? 1.0f : -1.0f;
    assert_defined(samples, count, 80, "step");
    memset(samples, 0, count * sizeof *samples);
    assert_defined(samples, count, 80, "zeros");
    free(samples);
}

static void no_samples(void **state)
{
    (void)state;
    float *filters = filters_of(80);
    struct tw_mel *mel = mel_of(NULL, 0, 80, filters, NULL);
    assert_int_equal(tw_mel_frames(mel), 0);
    float *got = frames_of(mel, 0, 10);
    for (int i = 0; i < 800; i++)
        assert_true(got[i] == -1.5f);
    free(got);
    free(filters);
    tw_mel_destroy(mel);
}

static void frames_that_count(void **state)
{
    (void)state;
    static const int expected[][2] = {{1, 0}, {199, 0}, {200, 1}, {359, 1}, {360, 2}, {16000, 99}, {16040, 100}};
    float *samples = noise(16040, 0.1, 3), *filters = filters_of(80);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct tw_mel *mel = mel_of(samples, (size_t)expected[i][0], 80, filters, NULL);
        assert_int_equal(tw_mel_frames(mel), expected[i][1]);
        tw_mel_destroy(mel);
    }
    free(samples);
    free(filters);
}

/* The frames after the end, the padding and beyond, hold the clamped value of silence. */
static void silence_follows(void **state)
{
    (void)state;
    float *samples = noise(1600, 0.5, 4), *filters = filters_of(80);
    struct tw_mel *mel = mel_of(samples, 1600, 80, filters, NULL);
    float *all = frames_of(mel, 0, 10000);
    float smallest = all[0];
    for (int i = 0; i < 12 * 80; i++)
        smallest = all[i] < smallest ? all[i] : smallest;
    for (int i = 12 * 80; i < 10000 * 80; i++)
        assert_true(all[i] == all[9999 * 80]);
    assert_true(smallest >= all[9999 * 80]);
    float *late = frames_of(mel, INT64_C(1) << 40, 1), *across = frames_of(mel, 5, 20);
    assert_true(late[0] == all[9999 * 80]);
    assert_memory_equal(across, all + 5 * 80, 20 * 80 * sizeof *all);
    assert_int_equal(tw_mel_read(mel, -1, 1, all, NULL), TW_E_ARGUMENT);
    assert_int_equal(tw_mel_read(mel, 3, 0, all, NULL), TW_OK);
    free(across);
    free(late);
    free(all);
    free(samples);
    free(filters);
    tw_mel_destroy(mel);
}

/* Frames are computed in blocks of 2048 (327720 samples and the start's reflection): none may be lost between two. */
static void blocks_join(void **state)
{
    (void)state;
    static const size_t counts[] = {327719, 327720, 327721, 327880, 328000, 655400, 655401};
    float *samples = noise(655401, 0.5, 5), *filters = filters_of(80);
    double wanted[80];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t count = counts[i];
        float *padded = calloc(count + 800, sizeof *padded);
        assert_non_null(padded);
        memcpy(padded + PAD, samples, count * sizeof *padded);
        struct tw_mel *mel = mel_of(samples, count, 80, filters, NULL);
        for (int64_t first = 2046; (size_t)first * TW_MEL_HOP <= count + PAD; first += 2048) {
            float *got = frames_of(mel, first, 5);
            for (int64_t f = first; f < first + 5 && (size_t)f * TW_MEL_HOP <= count + PAD; f++) {
                define_frame(padded + f * TW_MEL_HOP, 80, filters, wanted);
                for (int b = 0; b < 80; b++) /* noise everywhere: no value reaches the clamp but at the very end */
                    if (wanted[b] > -5 && fabs(got[(f - first) * 80 + b] - (wanted[b] + 4) / 4) > NEAR)
                        fail_msg("%zu samples, frame %lld", count, (long long)f);
            }
            free(got);
        }
        tw_mel_destroy(mel);
        free(padded);
    }
    free(samples);
    free(filters);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const size_t count = 400000;
    float *samples = noise(count, 0.5, 6), *filters = filters_of(80);
    struct tw_mel *mel = mel_of(samples, count, 80, filters, NULL);
    float *alone = frames_of(mel, 0, 2600);
    tw_mel_destroy(mel);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct tw_pool *pool;
        assert_int_equal(tw_pool_create(threads, &pool, NULL), TW_OK);
        mel = mel_of(samples, count, 80, filters, pool);
        float *got = frames_of(mel, 0, 2600);
        assert_memory_equal(got, alone, 2600 * 80 * sizeof *got);
        free(got);
        tw_mel_destroy(mel);
        tw_pool_destroy(pool);
    }
    free(alone);
    free(samples);
    free(filters);
}

static void frames_go_on_in_a_file(void **state)
{
    (void)state;
    const int width = 1000;
    const int64_t limit = (int64_t)(TW_FRAME_STORE_MEMORY / (1000 * sizeof(float)));
    struct tw_frame_store *store;
    assert_int_equal(tw_frame_store_create(width, &store, NULL), TW_OK);
    float *frames = malloc(1700 * 1000 * sizeof *frames);
    assert_non_null(frames);
    int64_t next = 0;
    while (next < limit + 4000) {
        int64_t n = 1 + next % 1700;
        for (int64_t i = 0; i < n * width; i++)
            frames[i] = (float)(next + i / width) + (float)(i % width) / 1024;
        assert_int_equal(tw_frame_store_append(store, frames, n, NULL), TW_OK);
        next += n;
        assert_int_equal(tw_frame_store_count(store), next);
    }
    const int64_t firsts[] = {0, 1, limit - 1700, limit - 3, limit - 1, limit, limit + 1, next - 3};
    for (size_t k = 0; k < sizeof firsts / sizeof firsts[0]; k++)
        for (int64_t n = 0; n <= 3; n++) {
            assert_int_equal(tw_frame_store_read(store, firsts[k], n, frames, NULL), TW_OK);
            for (int64_t i = 0; i < n * width; i++)
                assert_true(frames[i] == (float)(firsts[k] + i / width) + (float)(i % width) / 1024);
        }
    tw_frame_store_destroy(store);
    free(frames);
}

/* More frames than memory may hold are the same as those that fit: 1000 bands are the first 8 repeated. */
static void long_spectrograms_are_the_same(void **state)
{
    (void)state;
    const size_t count = 1500000;
    float *samples = noise(count, 0.5, 7), *few = filters_of(8), *many = malloc(1000 * TW_MEL_BINS * sizeof *many);
    assert_non_null(many);
    for (int b = 0; b < 1000; b++)
        memcpy(many + b * TW_MEL_BINS, few + b % 8 * TW_MEL_BINS, TW_MEL_BINS * sizeof *many);
    struct tw_mel *small = mel_of(samples, count, 8, few, NULL), *large = mel_of(samples, count, 1000, many, NULL);
    for (int64_t f = 0; f < 9380; f += 67) {
        float *a = frames_of(small, f, 1), *b = frames_of(large, f, 1);
        for (int i = 0; i < 1000; i++)
            assert_true(b[i] == a[i % 8]);
        free(a);
        free(b);
    }
    tw_mel_destroy(small);
    tw_mel_destroy(large);
    free(samples);
    free(few);
    free(many);
}

/* 40 minutes, raw through a pipe: 77 MB of frames, of which 32 MiB stay in memory. */
static void send_minutes(int fd, const void *arg)
{
    const int *minutes = arg;
    int16_t block[16000];
    for (size_t i = 0; i < 16000; i++)
        block[i] = pattern_sample(i * i);
    for (int i = 0; i < *minutes * 60; i++)
        write_to(fd, block, sizeof block);
}

static void long_inputs_need_little_memory(void **state)
{
    (void)state;
    const int minutes = 40;
    long before = peak_memory();
    struct feed feed = feed_stdin(send_minutes, &minutes);
    struct tw_audio_options options = {.raw = 1};
    struct tw_audio *audio;
    struct tw_mel *mel;
    float *filters = filters_of(80);
    assert_int_equal(tw_audio_open("-", &options, &audio, NULL), TW_OK);
    assert_int_equal(tw_mel_create(audio, 80, filters, NULL, &mel, NULL), TW_OK);
    assert_int_equal(tw_mel_samples(mel), INT64_C(16000) * 60 * minutes);
    float *early = frames_of(mel, 1000, 50), *late = frames_of(mel, 100 * (60 * minutes - 20), 50);
    assert_memory_equal(early, late, 50 * 80 * sizeof *early);
    if (before >= 0)
        assert_in_range(peak_memory() - before, 0, 48 * 1024);
    tw_mel_destroy(mel);
    tw_audio_close(audio);
    stop_feeding(feed);
    free(early);
    free(late);
    free(filters);
}

static int64_t spilled(const float *filters, struct tw_error *err)
{
    const size_t count = 1500000;
    float *samples = calloc(count, sizeof *samples);
    assert_non_null(samples);
    struct tw_audio *audio;
    struct tw_mel *mel = NULL;
    assert_int_equal(tw_audio_open_samples(samples, count, &audio, NULL), TW_OK);
    int rc = tw_mel_create(audio, 1000, filters, NULL, &mel, err);
    tw_mel_destroy(mel);
    tw_audio_close(audio);
    free(samples);
    return rc;
}

static void no_room_for_frames(void **state)
{
    (void)state;
    char *saved = getenv("TMPDIR") != NULL ? strdup(getenv("TMPDIR")) : NULL;
    float *filters = filters_of(1000);
    struct tw_error err = {0};
    assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
    assert_int_equal(spilled(filters, &err), TW_E_IO);
    assert_non_null(strstr(err.text, "/no/such/folder"));
    if (saved != NULL)
        setenv("TMPDIR", saved, 1);
    else
        unsetenv("TMPDIR");
    free(saved);
    free(filters);
}

static void wild_samples_stay_finite(void **state)
{
    (void)state;
    float *samples = noise(4000, 3.4e38, 8), *filters = filters_of(80);
    struct tw_mel *mel = mel_of(samples, 4000, 80, filters, NULL);
    float *got = frames_of(mel, 0, 100);
    for (int i = 0; i < 100 * 80; i++)
        assert_true(isfinite(got[i]));
    free(got);
    tw_mel_destroy(mel);
    struct tw_audio *audio;
    filters[80 * TW_MEL_BINS - 1] = NAN;
    assert_int_equal(tw_audio_open_samples(samples, 4000, &audio, NULL), TW_OK);
    assert_int_equal(tw_mel_create(audio, 80, filters, NULL, &mel, NULL), TW_E_FORMAT);
    assert_int_equal(tw_mel_create(audio, 0, filters, NULL, &mel, NULL), TW_E_ARGUMENT);
    assert_null(mel);
    tw_audio_close(audio);
    free(samples);
    free(filters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_inputs_need_little_memory),
        cmocka_unit_test(short_inputs),
        cmocka_unit_test(inputs_of_wide_range),
        cmocka_unit_test(no_samples),
        cmocka_unit_test(frames_that_count),
        cmocka_unit_test(silence_follows),
        cmocka_unit_test(blocks_join),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(frames_go_on_in_a_file),
        cmocka_unit_test(long_spectrograms_are_the_same),
        cmocka_unit_test(no_room_for_frames),
        cmocka_unit_test(wild_samples_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
