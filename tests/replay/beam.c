#include "compare.h"

#include "engine.h"
#include "wer.h"
#include "whisper/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEAM 5
#define LOWER_MOST 2

/* The sequence that one window came to. */
struct window {
    int64_t seek;
    int32_t *tokens;
    int32_t n;
    double sum;  /* of log-probabilities over all that was decoded: the end of text and what was cut off included */
    double kept; /* over the tokens that count */
};

/* All windows of one recording. */
struct record {
    struct window *windows;
    size_t n;
    char *text;
};

static void release(struct record *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->windows[i].tokens);
    free(r->windows);
    free(r->text);
    memset(r, 0, sizeof *r);
}

static int add_window(struct record *r, int64_t seek, const struct tw_sequence *q, struct tw_error *err)
{
    struct window *more = realloc(r->windows, (r->n + 1) * sizeof *more);
    if (more == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a window's tokens");
    r->windows = more;
    struct window w = {.seek = seek, .n = q->n, .sum = q->sum, .tokens = malloc(((size_t)q->n + 1) * sizeof *w.tokens)};
    if (w.tokens == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a window's tokens");
    memcpy(w.tokens, q->tokens, (size_t)q->n * sizeof *w.tokens);
    for (int32_t i = 0; i < q->kept; i++)
        w.kept += (double)q->logprobs[i];
    r->windows[r->n++] = w;
    return TW_OK;
}

/* tw_transcribe_options.search: the engine's own search, remembered. arg: a struct record. */
static int search_and_record(void *arg, struct tw_search *search, int64_t seek, const struct tw_window *window,
                             const struct tw_sequence **best, double *no_speech, struct tw_error *err)
{
    int code = tw_search_run(search, window, best, no_speech, err);
    return code == TW_OK ? add_window(arg, seek, *best, err) : code;
}

static int record_clip(struct replay_engine *e, const char *clip, int32_t beam, struct record *r, struct tw_error *err)
{
    struct tw_mel *mel;
    struct tw_transcript t;
    struct tw_transcribe_options options = replay_options(beam);
    options.search = search_and_record;
    options.arg = r;
    int code = replay_engine_listen(e, clip, &mel, err);
    if (code != TW_OK)
        return code;
    code = tw_transcribe(e->session, mel, &options, &t, err);
    if (code == TW_OK && (r->text = replay_transcript_text(&t, &e->model->vocab)) == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for a text");
    tw_transcript_release(&t);
    tw_mel_destroy(mel);
    return code;
}

/* All clips in one session, forwards or backwards. */
static int record_all(const struct replay_request *request, unsigned threads, int32_t beam, int backwards,
                      struct record *records, struct tw_error *err)
{
    struct replay_engine e;
    int code = replay_engine_open(&e, request->model, threads, NULL, err);
    for (size_t i = 0; i < request->n_clips && code == TW_OK; i++) {
        size_t clip = backwards ? request->n_clips - 1 - i : i;
        code = record_clip(&e, request->clips[clip], beam, &records[clip], err);
    }
    replay_engine_release(&e);
    return code;
}

static int same_window(const struct window *a, const struct window *b)
{
    return a->seek == b->seek && a->n == b->n && memcmp(a->tokens, b->tokens, (size_t)a->n * sizeof *a->tokens) == 0;
}

/* The first window in which two records differ; the number of windows when they are the same. */
static size_t first_difference(const struct record *a, const struct record *b)
{
    size_t i = 0;
    while (i < a->n && i < b->n && same_window(&a->windows[i], &b->windows[i]))
        i++;
    return i;
}

static int same_record(const struct record *a, const struct record *b)
{
    return a->n == b->n && first_difference(a, b) == a->n;
}

struct tally {
    size_t lower, unrepeatable;
    struct replay_wer greedy, beam;
};

static int rate_words(const char *clip, const struct record *greedy, const struct record *beam, struct tally *tally,
                      struct tw_error *err)
{
    struct replay_wer a, b;
    char *said = replay_said(clip);
    if (said == NULL)
        return TW_OK;
    int code = replay_word_errors(said, greedy->text, &a, err);
    if (code == TW_OK)
        code = replay_word_errors(said, beam->text, &b, err);
    free(said);
    if (code != TW_OK)
        return code;
    replay_add_wer(&tally->greedy, &a);
    replay_add_wer(&tally->beam, &b);
    return TW_OK;
}

static void judge(const char *clip, const struct record *greedy, const struct record *beam, const struct record *again,
                  struct tally *tally)
{
    size_t i = first_difference(greedy, beam);
    int repeats = same_record(beam, again);
    printf("%-40s %s", clip, repeats ? "repeatable" : "NOT repeatable");
    if (i < greedy->n && i < beam->n) {
        const struct window *g = &greedy->windows[i], *b = &beam->windows[i];
        int lower = b->sum < g->sum;
        if (strcmp(greedy->text, beam->text) == 0)
            printf(", text as greedy");
        printf(", window %.2f s: greedy %.4f (kept: %.4f of %d), beam %.4f (kept: %.4f of %d)%s", (double)b->seek / 100,
               g->sum, g->kept, (int)g->n, b->sum, b->kept, (int)b->n, lower ? ": LOWER" : "");
        tally->lower += lower != 0;
    } else {
        printf(", as greedy");
    }
    putchar('\n');
    tally->unrepeatable += !repeats;
}

static int run_all(const struct replay_request *request, struct record *greedy, struct record *beam,
                   struct record *again, struct tally *tally, struct tw_error *err)
{
    int code = record_all(request, 2, 1, 0, greedy, err);
    if (code == TW_OK)
        code = record_all(request, 2, BEAM, 0, beam, err);
    if (code == TW_OK)
        code = record_all(request, 1, BEAM, 1, again, err);
    for (size_t i = 0; i < request->n_clips && code == TW_OK; i++) {
        judge(request->clips[i], &greedy[i], &beam[i], &again[i], tally);
        code = rate_words(request->clips[i], &greedy[i], &beam[i], tally, err);
    }
    return code;
}

static void release_all(struct record *records, size_t n)
{
    for (size_t i = 0; records != NULL && i < n; i++)
        release(&records[i]);
    free(records);
}

int replay_beam(const struct replay_request *request, int *passed, struct tw_error *err)
{
    size_t n = request->n_clips;
    struct tally tally = {0};
    struct record *greedy = calloc(n, sizeof *greedy), *beam = calloc(n, sizeof *beam),
                  *again = calloc(n, sizeof *again);
    int code = greedy == NULL || beam == NULL || again == NULL ? tw_fail(err, TW_E_MEMORY, "no memory for %zu clips", n)
                                                               : run_all(request, greedy, beam, again, &tally, err);
    release_all(greedy, n);
    release_all(beam, n);
    release_all(again, n);
    if (code != TW_OK)
        return code;
    printf("%s: beam %d: word errors: greedy %zu, beam %zu of %zu\n", request->model, BEAM, tally.greedy.errors,
           tally.beam.errors, tally.beam.words);
    *passed = tally.unrepeatable == 0 && tally.lower <= LOWER_MOST;
    printf(
        "%s: beam %d: %zu clips, %zu not repeatable (none may be), %zu with a lower sum than greedy (at most %d): %s\n",
        request->model, BEAM, n, tally.unrepeatable, tally.lower, LOWER_MOST, *passed ? "PASS" : "FAIL");
    return TW_OK;
}
