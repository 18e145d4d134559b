#include "whisper/audio.h"

#include "whisper/input.h"
#include "whisper/resample.h"
#include "whisper/sound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for interleaved samples: at least one frame of the largest number of channels. */
#define FRAME_ROOM 16384

struct tw_audio {
    struct tw_sound *sound;
    struct tw_resampler *resampler; /* NULL for 16 kHz */
    float frames[FRAME_ROOM];
    char description[96];
};

static float finite_or_zero(float x)
{
    return isfinite(x) ? x : 0.0f;
}

/* The average of the channels, summed in double so that large samples do not overflow. */
static void mix(const float *frames, int64_t count, int channels, float *dst)
{
    for (int64_t i = 0; i < count; i++) {
        double sum = 0.0;
        for (int c = 0; c < channels; c++)
            sum += finite_or_zero(frames[i * channels + c]);
        dst[i] = (float)(sum / channels);
    }
}

/* A tw_sample_source: mono at the rate of the recording. */
static int64_t read_mono(void *arg, float *dst, int64_t max, struct tw_error *err)
{
    struct tw_audio *a = arg;
    int channels = a->sound->channels;
    int64_t room = FRAME_ROOM / channels;
    int64_t n = a->sound->read(a->sound, a->frames, max < room ? max : room, err);
    if (n > 0)
        mix(a->frames, n, channels, dst);
    return n;
}

int64_t tw_audio_read(struct tw_audio *a, float *dst, int64_t max, struct tw_error *err)
{
    int64_t total = 0;
    while (total < max) {
        int64_t n = a->resampler == NULL ? read_mono(a, dst + total, max - total, err)
                                         : tw_resampler_read(a->resampler, dst + total, max - total, err);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        total += n;
    }
    /* Finite samples near the largest float may still overflow in the resampler's filter. */
    for (int64_t i = 0; i < total; i++)
        dst[i] = finite_or_zero(dst[i]);
    return total;
}

/* Takes over sound, also when it fails. */
static int open_sound(struct tw_sound *sound, struct tw_audio **audio, struct tw_error *err)
{
    *audio = NULL;
    struct tw_audio *a = calloc(1, sizeof *a);
    if (a == NULL) {
        sound->close(sound);
        return tw_fail(err, TW_E_MEMORY, "no memory to read sound");
    }
    a->sound = sound;
    snprintf(a->description, sizeof a->description, "%d Hz, %d channel%s, %s", sound->rate, sound->channels,
             sound->channels == 1 ? "" : "s", sound->format);
    int rc = TW_OK;
    if (sound->rate != TW_SAMPLE_RATE)
        rc = tw_resampler_create(sound->rate, TW_SAMPLE_RATE, read_mono, a, &a->resampler, err);
    if (rc < 0) {
        tw_audio_close(a);
        return rc;
    }
    *audio = a;
    return TW_OK;
}

/* Takes over input, also when it fails. */
static int open_input(struct tw_input *input, const struct tw_audio_options *options, struct tw_audio **audio,
                      struct tw_error *err)
{
    struct tw_sound *sound;
    int rc;
    if (options != NULL && options->raw)
        rc = tw_sound_open_raw(input, options->raw_rate != 0 ? options->raw_rate : TW_SAMPLE_RATE,
                               options->raw_channels != 0 ? options->raw_channels : 1, &sound, err);
    else
        rc = tw_sound_open_file(input, &sound, err);
    if (rc < 0) {
        tw_input_close(input);
        return rc;
    }
    return open_sound(sound, audio, err);
}

int tw_audio_open(const char *path, const struct tw_audio_options *options, struct tw_audio **audio,
                  struct tw_error *err)
{
    *audio = NULL;
    struct tw_input *input;
    int raw = options != NULL && options->raw;
    int rc = tw_input_open(path, raw ? TW_INPUT_FORWARD : TW_INPUT_ANY_ORDER, &input, err);
    return rc < 0 ? rc : open_input(input, options, audio, err);
}

int tw_audio_open_memory(const void *data, size_t size, const char *name, const struct tw_audio_options *options,
                         struct tw_audio **audio, struct tw_error *err)
{
    *audio = NULL;
    struct tw_input *input;
    int rc = tw_input_open_memory(data, size, name, &input, err);
    return rc < 0 ? rc : open_input(input, options, audio, err);
}

int tw_audio_open_samples(const float *samples, size_t count, struct tw_audio **audio, struct tw_error *err)
{
    *audio = NULL;
    struct tw_sound *sound;
    int rc = tw_sound_open_samples(samples, count, &sound, err);
    return rc < 0 ? rc : open_sound(sound, audio, err);
}

void tw_audio_close(struct tw_audio *a)
{
    if (a == NULL)
        return;
    tw_resampler_destroy(a->resampler);
    a->sound->close(a->sound);
    free(a);
}

const char *tw_audio_description(const struct tw_audio *a)
{
    return a->description;
}

const char *tw_audio_warning(const struct tw_audio *a)
{
    return a->sound->warning;
}
