#include "whisper/text_context.h"

#include <stdlib.h>
#include <string.h>

#define TASK_MAX 8

int tw_text_context_create(struct tw_text_context *c, const struct tw_vocab *vocab, int32_t n_text_ctx,
                           const char *prompt, struct tw_error *err)
{
    memset(c, 0, sizeof *c);
    c->vocab = vocab;
    c->most = n_text_ctx / 2;
    c->room = n_text_ctx;
    c->tokens = malloc((size_t)c->room * sizeof *c->tokens);
    c->prompt = malloc(((size_t)c->most + 1 + TASK_MAX) * sizeof *c->prompt);
    if (c->tokens == NULL || c->prompt == NULL) {
        tw_text_context_release(c);
        return tw_fail(err, TW_E_MEMORY, "no memory for the text context");
    }
    if (prompt == NULL || prompt[0] == 0)
        return TW_OK;
    size_t size = strlen(prompt);
    /* A token is at least one byte, so this is room for any text. */
    int32_t *all = malloc(size * sizeof *all);
    if (all == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a prompt of %zu bytes", size);
    int64_t n = tw_vocab_encode(vocab, prompt, size, all, size, err);
    if (n > 0)
        tw_text_context_update(c, all + (n > c->most ? n - c->most : 0), (int32_t)(n > c->most ? c->most : n), 0);
    free(all);
    return n < 0 ? (int)n : TW_OK;
}

void tw_text_context_release(struct tw_text_context *c)
{
    free(c->tokens);
    free(c->prompt);
    memset(c, 0, sizeof *c);
}

void tw_text_context_clear(struct tw_text_context *c)
{
    c->n = 0;
}

int32_t tw_text_context_prompt(struct tw_text_context *c, int show, const int32_t *task, int32_t n_task,
                               const int32_t **prompt)
{
    int32_t n = 0;
    c->shown = 0;
    if (show && c->n > 0 && c->most > 1) {
        c->shown = c->n < c->most - 1 ? c->n : c->most - 1;
        c->prompt[n++] = c->vocab->previous;
        memcpy(c->prompt + n, c->tokens + c->n - c->shown, (size_t)c->shown * sizeof *c->prompt);
        n += c->shown;
    }
    for (int32_t i = 0; i < n_task && i < TASK_MAX; i++)
        c->prompt[n++] = task[i];
    *prompt = c->prompt;
    return n;
}

void tw_text_context_update(struct tw_text_context *c, const int32_t *tokens, int32_t n, int shown)
{
    int32_t keep = shown ? c->shown : 0;
    if (n > c->room)
        n = c->room;
    if (keep > c->room - n)
        keep = c->room - n;
    if (keep > c->n)
        keep = c->n;
    memmove(c->tokens, c->tokens + c->n - keep, (size_t)keep * sizeof *c->tokens);
    c->n = keep;
    memcpy(c->tokens + c->n, tokens, (size_t)n * sizeof *tokens);
    c->n += n;
}
