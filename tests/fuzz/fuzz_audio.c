/*
 * Sound of any form through reading, resampling and the spectrogram. The first byte says how the rest is taken: 0 as a
 * file, else as raw samples of one of several rates, the second then counts the channels.
 */
#include "whisper/mel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX 6000
#define BANDS 8
#define FRAMES 45

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * libsndfile and its decoders lose memory when they refuse a damaged file, and a search for leaks after every such
 * input takes most of the time. Ours are for the sanitizer runs of the unit tests to find.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* Overlapping triangles, as mel filters are. */
static void make_filters(float *filters)
{
    for (int b = 0; b < BANDS; b++)
        for (int k = 0; k < TW_MEL_BINS; k++) {
            float off = fabsf((float)k - 22.0f * (float)(b + 1)) / 22.0f;
            filters[b * TW_MEL_BINS + k] = off < 1.0f ? 0.02f * (1.0f - off) : 0.0f;
        }
}

static void check_mel(const float *samples, size_t count)
{
    float filters[BANDS * TW_MEL_BINS], frames[FRAMES * BANDS];
    struct tw_audio *audio;
    struct tw_mel *mel;
    make_filters(filters);
    if (tw_audio_open_samples(samples, count, &audio, NULL) != TW_OK ||
        tw_mel_create(audio, BANDS, filters, NULL, &mel, NULL) != TW_OK ||
        tw_mel_read(mel, 0, FRAMES, frames, NULL) != TW_OK || tw_mel_samples(mel) != (int64_t)count)
        abort();
    float largest = frames[0], smallest = frames[0];
    for (int i = 0; i < FRAMES * BANDS; i++) {
        largest = frames[i] > largest ? frames[i] : largest;
        smallest = frames[i] < smallest ? frames[i] : smallest;
        if (!isfinite(frames[i]))
            abort();
    }
    if (largest - smallest > 2.0001f) /* the clamp leaves 8 / 4 */
        abort();
    tw_mel_destroy(mel);
    tw_audio_close(audio);
}

/* Reads in odd pieces, at most SAMPLES_MAX samples. */
static void check_audio(struct tw_audio *audio)
{
    float *samples = malloc(SAMPLES_MAX * sizeof *samples);
    struct tw_error err = {0};
    int64_t total = 0, n = 0;
    if (samples == NULL)
        abort();
    for (int64_t piece = 1; total < SAMPLES_MAX; piece = piece * 3 % 4001) {
        int64_t room = SAMPLES_MAX - total;
        n = tw_audio_read(audio, samples + total, piece < room ? piece : room, &err);
        if (n <= 0)
            break;
        for (int64_t i = total; i < total + n; i++)
            if (!isfinite(samples[i]))
                abort();
        total += n;
    }
    if (n < 0 && err.text[0] == '\0')
        abort();
    check_mel(samples, (size_t)total);
    free(samples);
}

static struct tw_audio_options options_of(const uint8_t **data, size_t *size)
{
    static const int rates[] = {8000, 16000, 44100, 1000, 96000, 768000, 7919};
    struct tw_audio_options o = {.raw = **data != 0, .raw_rate = rates[**data % 7]};
    ++*data;
    --*size;
    if (o.raw && *size > 0) {
        o.raw_channels = **data;
        ++*data;
        --*size;
    }
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct tw_audio_options options = options_of(&data, &size);
    /* A block of exactly this size, so that the sanitizer sees a read past its end. */
    unsigned char *file = malloc(size > 0 ? size : 1);
    if (file == NULL)
        abort();
    memcpy(file, data, size);
    struct tw_audio *audio;
    struct tw_error err = {0};
    if (tw_audio_open_memory(file, size, "input", &options, &audio, &err) == TW_OK)
        check_audio(audio);
    else if (audio != NULL || err.code >= 0 || err.text[0] == '\0')
        abort();
    tw_audio_close(audio);
    free(file);
    return 0;
}
