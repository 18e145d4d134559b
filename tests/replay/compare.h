/* Our texts beside whisper.cpp's. */
#ifndef REPLAY_COMPARE_H
#define REPLAY_COMPARE_H

#include "base/error.h"

#include <stddef.h>

struct replay_request {
    const char *model; /* name, file or folder */
    unsigned threads;
    const char *references; /* folder with NAME.json for the clip NAME.wav */
    char **clips;
    size_t n_clips;
};

/*
 * Prints a line for each clip, every choice that differs where whisper.cpp's tokens are forced, and the verdict of the
 * model. *passed is 0 when a limit is exceeded.
 */
int replay_compare(const struct replay_request *request, int *passed, struct tw_error *err);

/*
 * Beam search against itself and against greedy decoding: the same tokens on one and two threads and after other files
 * in another order; and the summed log-probability of all that was decoded, which is compared on the first window whose
 * tokens differ (the windows before it are equal, and those after it see another context). *passed is 0 when tokens
 * differ, or when greedy decoding has the higher sum on more than two clips.
 */
int replay_beam(const struct replay_request *request, int *passed, struct tw_error *err);

#endif
