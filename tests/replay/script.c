#include "script.h"

#include "whisper/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP 2 /* frames of a timestamp step */
#define STEPS (TW_WINDOW_FRAMES / STEP)

void replay_script_start(struct replay_script *s, const struct replay_reference *reference,
                         const struct tw_vocab *vocab)
{
    memset(s, 0, sizeof *s);
    s->reference = reference;
    s->vocab = vocab;
}

void replay_script_release(struct replay_script *s)
{
    free(s->tokens);
    memset(s, 0, sizeof *s);
}

static int add(struct replay_script *s, const struct replay_token *tokens, size_t n, struct tw_error *err)
{
    if (s->n + n > s->room) {
        size_t room = 2 * (s->n + n);
        struct replay_token *more = realloc(s->tokens, room * sizeof *more);
        if (more == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for the tokens of a window");
        s->tokens = more;
        s->room = room;
    }
    memcpy(s->tokens + s->n, tokens, n * sizeof *tokens);
    s->n += n;
    return TW_OK;
}

/* A timestamp whose probability the transcript does not tell. */
static int add_step(struct replay_script *s, int64_t step, struct tw_error *err)
{
    struct replay_token token = {s->vocab->timestamp_first + (int32_t)step, NAN};
    return add(s, &token, 1, err);
}

static const struct replay_segment *segment(const struct replay_script *s)
{
    return s->next < s->reference->n ? &s->reference->segments[s->next] : NULL;
}

/* Frames from seek to where a timestamp says the next segment starts, in steps; -1 when no timestamp can say that. */
static int64_t step_between(int64_t seek, int64_t frame)
{
    int64_t frames = frame - seek;
    return frames >= 0 && frames % STEP == 0 && frames / STEP <= STEPS ? frames / STEP : -1;
}

static int starts_with_time(const struct replay_script *s, const struct replay_segment *segment)
{
    return segment->tokens[0].id >= s->vocab->timestamp_first;
}

/* Where the window of a segment starts if the segment is its first and begins with a timestamp. */
static int64_t window_of(const struct replay_script *s, const struct replay_segment *segment)
{
    return segment->from - STEP * (int64_t)(segment->tokens[0].id - s->vocab->timestamp_first);
}

/* The step of the last token when it is a timestamp after 0, else 0. */
static int64_t last_step(const struct replay_script *s)
{
    int32_t step = s->tokens[s->n - 1].id - s->vocab->timestamp_first;
    return step > 0 ? step : 0;
}

static int is_first_of(const struct replay_script *s, const struct replay_segment *segment, int64_t seek)
{
    if (starts_with_time(s, segment))
        return window_of(s, segment) == seek;
    return step_between(seek, segment->from) >= 0;
}

static int take_segment(struct replay_script *s, struct tw_error *err)
{
    const struct replay_segment *from = segment(s);
    s->next++;
    return add(s, from->tokens, from->n, err);
}

/* The next segment's start, when it goes on in the window at seek; else -1. */
static int64_t continuation(const struct replay_script *s, int64_t seek)
{
    const struct replay_segment *next = segment(s);
    if (next == NULL || starts_with_time(s, next) || last_step(s) == 0)
        return -1;
    int64_t step = step_between(seek, next->from);
    return step >= last_step(s) ? step : -1;
}

/* A window ends in one timestamp, and the next begins 30 s later; or in a pair, and it begins at the second one. */
static int close_window(struct replay_script *s, int64_t seek, int64_t left, struct tw_error *err)
{
    const struct replay_segment *next = segment(s);
    s->open = 0;
    if (last_step(s) == 0)
        return TW_OK;
    s->open = 1;
    if (next == NULL || !starts_with_time(s, next))
        return TW_OK;
    int64_t start = window_of(s, next);
    if (start == seek + (left < TW_WINDOW_FRAMES ? left : TW_WINDOW_FRAMES)) {
        s->open = 0;
        return TW_OK;
    }
    int64_t step = step_between(seek, start);
    if (step < last_step(s)) /* another window in between, of which nothing is left */
        return start > seek ? TW_OK : tw_fail(err, TW_E_FORMAT, "segment %zu starts before the one before it", s->next);
    s->open = 0;
    return add_step(s, step, err);
}

int replay_script_take(struct replay_script *s, int64_t seek, int64_t left, struct tw_error *err)
{
    const struct replay_segment *first = segment(s);
    s->n = 0;
    s->open = 0;
    if (first == NULL || !is_first_of(s, first, seek))
        return TW_OK;
    s->first_start = first->from;
    int code = take_segment(s, err);
    for (int64_t step; code == TW_OK && (step = continuation(s, seek)) >= 0;) {
        code = add_step(s, step, err);
        if (code == TW_OK)
            code = take_segment(s, err);
    }
    return code == TW_OK ? close_window(s, seek, left, err) : code;
}
