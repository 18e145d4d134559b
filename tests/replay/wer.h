/* Word errors: how many words must be put in, left out or replaced to turn one text into another. */
#ifndef REPLAY_WER_H
#define REPLAY_WER_H

#include "base/error.h"

#include <stddef.h>

struct replay_wer {
    size_t errors;
    size_t words; /* of what was said */
};

/*
 * Compares words without case and punctuation; a number in digits counts as its word up to twenty, beyond that as its
 * digits, spoken one by one; what stands in brackets, such as [BLANK_AUDIO], counts as nothing. Fails with TW_E_MEMORY.
 */
int replay_word_errors(const char *said, const char *heard, struct replay_wer *wer, struct tw_error *err);

/*
 * What was said in a recording: the text beside it, clip.txt for clip.wav. To be released with free; NULL when there is
 * no such file, or no memory.
 */
char *replay_said(const char *clip);

/* Percent of wrong words, with one figure after the point and a space. */
void replay_print_wer(const struct replay_wer *wer);
void replay_add_wer(struct replay_wer *to, const struct replay_wer *wer);

#endif
