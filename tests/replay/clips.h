/*
 * The recordings that transcripts are compared on, the same on every machine: the clip in tests/data, Debian's
 * pocketsphinx-testdata, and what is made of these: a long concatenation, noise, silence.
 */
#ifndef REPLAY_CLIPS_H
#define REPLAY_CLIPS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes each clip as DIR/NAME.wav (16 kHz, mono, 16 bit) and, where it is known what is said, DIR/NAME.txt, and prints
 * the paths of the clips to list, one a line. jfk: tests/data/jfk.wav; data: the folder
 * /usr/share/pocketsphinx/test/data.
 */
int replay_make_clips(const char *jfk, const char *data, const char *dir, FILE *list, struct tw_error *err);

/* Adds seeded white noise, its power `db` decibels below that of the samples; results are clipped to 16 bits. */
void replay_add_noise(int16_t *samples, size_t n, double db, uint64_t seed);

#endif
