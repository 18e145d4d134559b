/* Change of the sampling rate of a mono stream, without delay. */
#ifndef TW_WHISPER_RESAMPLE_H
#define TW_WHISPER_RESAMPLE_H

#include "base/error.h"

#include <stdint.h>

struct tw_resampler;

/* Gives up to max samples to dst; returns how many, 0 at the end, or a negative code. */
typedef int64_t tw_sample_source(void *arg, float *dst, int64_t max, struct tw_error *err);

/* rate_in / rate_out within 1/256 .. 256. source(arg) is asked for samples as they are needed; they must be finite. */
int tw_resampler_create(int rate_in, int rate_out, tw_sample_source *source, void *arg, struct tw_resampler **resampler,
                        struct tw_error *err);
void tw_resampler_destroy(struct tw_resampler *resampler); /* NULL is allowed */

/*
 * A tw_sample_source of the new rate: n samples become round(n * rate_out / rate_in), the first of both at the same
 * moment. What lies before the start and past the end counts as zero.
 */
int64_t tw_resampler_read(struct tw_resampler *resampler, float *dst, int64_t max, struct tw_error *err);

#endif
