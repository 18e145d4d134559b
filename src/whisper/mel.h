/*
 * The log-mel spectrogram of a whole input, as OpenAI and whisper.cpp define it: 400-point Hann windows every 160
 * samples, power, mel filters, log10 of at least 1e-10, clamped to (largest of the whole input) - 8, then (x + 4) / 4.
 * The 200 samples before the start are a reflection; 30 s of zeros follow the end. Because of the clamp the whole input
 * is read first; its unclamped values are kept in memory up to a bound and beyond that in an unlinked temporary file.
 */
#ifndef TW_WHISPER_MEL_H
#define TW_WHISPER_MEL_H

#include "whisper/audio.h"

#define TW_MEL_WINDOW 400
#define TW_MEL_HOP 160
#define TW_MEL_BINS 201
#define TW_MEL_FRAMES_30S 3000

struct tw_mel;
struct tw_pool;

/*
 * Reads audio to its end. filters: n_mels x 201. pool may be NULL. An input of no samples gives 0 frames.
 * Does not close audio.
 */
int tw_mel_create(struct tw_audio *audio, int n_mels, const float *filters, struct tw_pool *pool, struct tw_mel **mel,
                  struct tw_error *err);
void tw_mel_destroy(struct tw_mel *mel);

int64_t tw_mel_samples(const struct tw_mel *mel); /* of the input, at 16 kHz */
/* Frames that count for where to stop: 1 + (samples - 200) / 160 when samples >= 200, else 0. */
int64_t tw_mel_frames(const struct tw_mel *mel);
int tw_mel_bands(const struct tw_mel *mel);

/*
 * Frames first .. first+count-1 to dst[count][n_mels], time-major. Frames past the computed ones (input + 30 s of zeros)
 * have the value of silence there. Fails only with TW_E_IO, when the temporary file cannot be read.
 */
int tw_mel_read(struct tw_mel *mel, int64_t first, int64_t count, float *dst, struct tw_error *err);

#endif
