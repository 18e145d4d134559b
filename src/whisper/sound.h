/* A source of samples as they were recorded: any rate, any number of channels. */
#ifndef TW_WHISPER_SOUND_H
#define TW_WHISPER_SOUND_H

#include "whisper/input.h"

#define TW_SOUND_RATE_MIN 1000
#define TW_SOUND_RATE_MAX 768000
#define TW_SOUND_CHANNELS_MAX 1024

struct tw_sound {
    int rate;
    int channels;
    char format[32];  /* for people: "WAV" */
    char warning[512]; /* a sentence, from the end on: what a damaged source could not give; else "" */
    /* Up to `frames` samples of every channel, interleaved, to dst; returns how many, 0 at the end, or an error. */
    int64_t (*read)(struct tw_sound *sound, float *dst, int64_t frames, struct tw_error *err);
    void (*close)(struct tw_sound *sound);
};

/*
 * Sound files of every kind that libsndfile reads. These and tw_sound_open_raw take over the input when they succeed.
 * Errors: TW_E_FORMAT when it is not one or is empty, TW_E_UNSUPPORTED for a rate or number of channels out of range.
 */
int tw_sound_open_file(struct tw_input *input, struct tw_sound **sound, struct tw_error *err);

/* Signed 16-bit little-endian samples without a header. An incomplete last frame is left out. */
int tw_sound_open_raw(struct tw_input *input, int rate, int channels, struct tw_sound **sound, struct tw_error *err);

/* 16 kHz mono floats, which must outlive the sound. */
int tw_sound_open_samples(const float *samples, size_t count, struct tw_sound **sound, struct tw_error *err);

#endif
