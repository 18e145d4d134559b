/*
 * Power spectra of Hann-windowed frames of 400 samples, in double. Float is not enough: a band may lie 80 dB below a
 * louder one, and transforms in float (kissfft's was tried) stray by up to 2e-5 of the final scale, where 1e-5 is
 * wanted.
 */
#ifndef TW_WHISPER_SPECTRUM_H
#define TW_WHISPER_SPECTRUM_H

#include "base/error.h"

#include <stddef.h>

#define TW_SPECTRUM_FRAMES 8 /* transformed together, one in each lane of the arithmetic */

struct tw_spectrum;

/* Tables shared by all threads. */
int tw_spectrum_create(struct tw_spectrum **spectrum, struct tw_error *err);
void tw_spectrum_destroy(struct tw_spectrum *spectrum); /* NULL is allowed */

/* Doubles of scratch memory that a call below needs (aligned as any double), one piece for each thread. */
size_t tw_spectrum_scratch_size(void);

/*
 * power[bin * TW_SPECTRUM_FRAMES + f] = |X_f(bin)|^2 for bins 0..200 of the frames f that begin at samples[f * hop].
 */
void tw_spectrum_power(const struct tw_spectrum *spectrum, const float *samples, int hop, double *scratch,
                       double *power);

#endif
