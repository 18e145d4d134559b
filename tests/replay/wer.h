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

#endif
