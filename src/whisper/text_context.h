/* The text before a window that the decoder is shown: an initial prompt, then what earlier windows gave. */
#ifndef TW_WHISPER_TEXT_CONTEXT_H
#define TW_WHISPER_TEXT_CONTEXT_H

#include "whisper/vocab.h"

struct tw_text_context {
    const struct tw_vocab *vocab;
    int32_t *tokens; /* the carried text */
    int32_t n, room;
    int32_t most;    /* tokens shown at most, the marker before them included: half the decoder's context */
    int32_t shown;   /* tokens that the last prompt showed */
    int32_t *prompt; /* the last prompt */
};

/* n_text_ctx: the decoder's context. prompt: initial text or NULL. Release with tw_text_context_release. */
int tw_text_context_create(struct tw_text_context *c, const struct tw_vocab *vocab, int32_t n_text_ctx,
                           const char *prompt, struct tw_error *err);
void tw_text_context_release(struct tw_text_context *c);
void tw_text_context_clear(struct tw_text_context *c);

/*
 * The prompt for a window: carried text behind its marker (when there is any and show is set), then the n_task task
 * tokens (at most 8). Returns its length; *prompt is valid until the next call.
 */
int32_t tw_text_context_prompt(struct tw_text_context *c, int show, const int32_t *task, int32_t n_task,
                               const int32_t **prompt);

/*
 * After a window: what its prompt showed stays (nothing when shown is 0), and n tokens of its result follow. Only as
 * much as a prompt can show is kept.
 */
void tw_text_context_update(struct tw_text_context *c, const int32_t *tokens, int32_t n, int shown);

#endif
