/*
 * Finding the text of one window: greedy, by beam search, or by sampling, at one temperature. Beams take the best
 * continuations by summed log-probability (whisper.cpp draws them at random, which makes its beams unrepeatable); what
 * ends or spoils a sequence is as there.
 */
#ifndef TW_WHISPER_SEARCH_H
#define TW_WHISPER_SEARCH_H

#include "whisper/decoder.h"
#include "whisper/rules.h"

#define TW_WINDOW_FRAMES 3000 /* 30 s in steps of 10 ms */
#define TW_LEAST_FRAMES 10    /* less sound than this is not decoded */

struct tw_sequence {
    int32_t *tokens;
    float *logprobs;
    int32_t n;
    int32_t kept;       /* tokens that count: up to the last timestamp */
    int32_t advance;    /* frames from the window's start to the last timestamp */
    int32_t first_step; /* the first timestamp, or the likeliest one where text came first; in steps of two frames */
    int has_timestamp;
    int completed;
    int failed;
    double sum; /* of the log-probabilities of all tokens, those that were not kept and the end of text included */
    double avg_logprob; /* over the kept tokens; -INFINITY when the sequence failed before it could be ranked */
};

/* One window's decoding task. */
struct tw_window {
    const int32_t *prompt;
    int32_t n_prompt;
    int32_t left;      /* frames from the window's start to the end of the input */
    float temperature; /* 0: beam search; above: sampling */
    int32_t width;     /* beams, or sequences sampled; 1 .. TW_BEAM_MAX */
    uint64_t seed;
    int (*stop)(void *arg); /* asked at each token; nonzero ends the run with TW_E_CANCELLED. May be NULL */
    void *stop_arg;
};

struct tw_search;

/* decoder, rules and host must outlive the search; it may hold up to `width` sequences. */
int tw_search_create(struct tw_decoder *decoder, const struct tw_rules *rules, struct tw_host *host,
                     const struct tw_whisper_sizes *sizes, int32_t width, struct tw_search **search,
                     struct tw_error *err);
void tw_search_destroy(struct tw_search *s);

/* What the search was created with, for those that decode a window themselves. */
struct tw_decoder *tw_search_decoder(const struct tw_search *s);
const struct tw_rules *tw_search_rules(const struct tw_search *s);

/* Tokens that a window may have at most. */
int32_t tw_search_length(const struct tw_whisper_sizes *sizes);

/*
 * Decodes a window whose cross-attention cache is filled. *best stays valid until the next run; *no_speech gets the
 * probability that there is no speech.
 */
int tw_search_run(struct tw_search *s, const struct tw_window *window, const struct tw_sequence **best,
                  double *no_speech, struct tw_error *err);

/*
 * Takes note of a token that was appended as number `index` (= n - 1) of a sequence: moves kept and advance, and sets
 * completed or failed. Also for replays.
 */
void tw_sequence_update(struct tw_sequence *q, const struct tw_rules *rules, int32_t left, int32_t length);

/* The state that the rules look at. */
struct tw_rules_state tw_sequence_rules(const struct tw_sequence *q, const struct tw_rules *rules);

#endif
