/*
 * Which token may come next: the suppressions and timestamp rules of Whisper's decoding (Radford et al. 2022,
 * section 4.5 and the published code), in the form that whisper.cpp applies them.
 */
#ifndef TW_WHISPER_RULES_H
#define TW_WHISPER_RULES_H

#include "whisper/vocab.h"

#include <stddef.h>

/* What holds for all sequences of one transcription. */
struct tw_rules {
    const struct tw_vocab *vocab;
    int no_timestamps;
    int32_t initial_max; /* the first timestamp may be at most this many steps after 0 s */
    int32_t *banned;     /* tokens that never come */
    size_t n_banned;
    int32_t blank; /* the token of a single space, or -1 */
};

/*
 * positions: the model's n_audio_ctx, which sets the time step of timestamps (30 s / positions). With
 * suppress_non_speech also the symbols that OpenAI's list names are banned. Release with tw_rules_release.
 */
int tw_rules_create(struct tw_rules *rules, const struct tw_vocab *vocab, int32_t positions, int no_timestamps,
                    int suppress_non_speech, struct tw_error *err);
void tw_rules_release(struct tw_rules *rules);

/* What the rules look at in a sequence so far. */
struct tw_rules_state {
    const int32_t *tokens; /* tokens of this window, prompt excluded */
    size_t n_tokens;
    int32_t lowest_timestamp; /* timestamps below this token are out; the first timestamp token or less: all are in */
};

/* How the timestamp rule decided, for replays: it forces a timestamp when mass > best_text. */
struct tw_rules_margin {
    float timestamp_mass; /* log of the summed probability of all timestamps */
    float best_text;      /* log-probability of the best other token */
};

/*
 * logits: vocab->size numbers after the sequence's last token; they become log-probabilities after the masks, -INFINITY
 * where a token is out (not normalised again after the timestamp rule). temperature > 0 divides the logits first; 0
 * leaves them. margin may be NULL.
 */
void tw_rules_apply(const struct tw_rules *rules, const struct tw_rules_state *state, float temperature, float *logits,
                    struct tw_rules_margin *margin);

/* log(sum(exp(x))) over n numbers; -INFINITY when all are. */
float tw_log_sum_exp(const float *x, size_t n);

/* The number of the largest of n numbers, the first of equals; n >= 1. */
size_t tw_argmax(const float *x, size_t n);

#endif
