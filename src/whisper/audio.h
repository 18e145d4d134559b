/*
 * Sound from files, pipes and memory, as a stream of 16 kHz mono floats in [-1, 1] (more where the source clips). Memory
 * use does not depend on the length.
 */
#ifndef TW_WHISPER_AUDIO_H
#define TW_WHISPER_AUDIO_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define TW_SAMPLE_RATE 16000

struct tw_audio;

struct tw_audio_options {
    int raw;          /* headerless signed 16-bit little-endian samples */
    int raw_rate;     /* of raw input; 0: 16000 */
    int raw_channels; /* of raw input; 0: 1 */
};

/* path: a file, or "-" for standard input. options may be NULL. */
int tw_audio_open(const char *path, const struct tw_audio_options *options, struct tw_audio **audio, struct tw_error *err);
/* The same for a whole file in memory, which must outlive the stream. name is used in messages. */
int tw_audio_open_memory(const void *data, size_t size, const char *name, const struct tw_audio_options *options,
                         struct tw_audio **audio, struct tw_error *err);
/* Floats that are already 16 kHz mono (tests, services). samples must outlive the stream. */
int tw_audio_open_samples(const float *samples, size_t count, struct tw_audio **audio, struct tw_error *err);
void tw_audio_close(struct tw_audio *audio);

/* Up to max samples to dst; returns how many, 0 at the end, or a negative code. Non-finite samples come out as 0. */
int64_t tw_audio_read(struct tw_audio *audio, float *dst, int64_t max, struct tw_error *err);

/* What the source is, for people: "44100 Hz, 2 channels, WAV". Valid while open. */
const char *tw_audio_description(const struct tw_audio *audio);

/* A sentence when the end that tw_audio_read told of was that of a damaged source; else "". Valid while open. */
const char *tw_audio_warning(const struct tw_audio *audio);

#endif
