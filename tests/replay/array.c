#include "array.h"

#include "engine.h"
#include "force.h"
#include "job/executor.h"
#include "text.h"
#include "tilewright.h"

#include <stdlib.h>
#include <string.h>

/* What may differ: products on the array round their operands to bf16. */
#define GAP_MOST 0.15
#define DIFFERENT_MOST 3

/* The tokens of one window, as the CPU's own search found them. */
struct window {
    int64_t seek;
    struct replay_token *tokens;
    size_t n;
    int32_t first_step;
};

/* One clip on the CPU, then forced through the array's decoder. */
struct record {
    struct window *windows;
    size_t n, next;
    char *text;
    struct replay_force force;
};

struct total {
    size_t different;
    double gap; /* the largest where texts differ */
    uint64_t launches, fallbacks;
};

static void release(struct record *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->windows[i].tokens);
    free(r->windows);
    free(r->text);
    replay_force_release(&r->force);
}

static int add_window(struct record *r, int64_t seek, const struct tw_sequence *q, struct tw_error *err)
{
    struct window *more = realloc(r->windows, (r->n + 1) * sizeof *more);
    struct replay_token *tokens = calloc((size_t)q->n + 1, sizeof *tokens);
    r->windows = more != NULL ? more : r->windows;
    if (more == NULL || tokens == NULL) {
        free(tokens);
        return tw_fail(err, TW_E_MEMORY, "no memory for a window's tokens");
    }
    for (int32_t i = 0; i < q->n; i++)
        tokens[i] = (struct replay_token){q->tokens[i], (double)q->logprobs[i]};
    r->windows[r->n++] = (struct window){seek, tokens, (size_t)q->n, q->first_step};
    return TW_OK;
}

/* tw_transcribe_options.search: the engine's own, remembered. arg: a struct record. */
static int search_and_record(void *arg, struct tw_search *search, int64_t seek, const struct tw_window *window,
                             const struct tw_sequence **best, double *no_speech, struct tw_error *err)
{
    int code = tw_search_run(search, window, best, no_speech, err);
    return code == TW_OK ? add_window(arg, seek, *best, err) : code;
}

/* The same: the recorded tokens. */
static int force_recorded(void *arg, struct tw_search *search, int64_t seek, const struct tw_window *window,
                          const struct tw_sequence **best, double *no_speech, struct tw_error *err)
{
    struct record *r = arg;
    struct replay_script *script = &r->force.script;
    if (r->next == r->n || r->windows[r->next].seek != seek)
        return tw_fail(err, TW_E_FORMAT, "the CPU had no window at %.2f s", (double)seek / 100);
    const struct window *w = &r->windows[r->next++];
    if (w->n > script->room) {
        struct replay_token *more = realloc(script->tokens, w->n * sizeof *more);
        if (more == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for the tokens of a window");
        script->tokens = more;
        script->room = w->n;
    }
    memcpy(script->tokens, w->tokens, w->n * sizeof *w->tokens);
    script->n = w->n;
    script->first_start = seek + 2 * (int64_t)w->first_step;
    return replay_force_tokens(&r->force, search, seek, window, best, no_speech, err);
}

/* One run of a clip, with a search in place of the engine's own if not NULL. */
static int transcribe(struct replay_engine *e, struct tw_mel *mel, struct record *r, int force, char **text,
                      struct total *total, struct tw_error *err)
{
    struct tw_transcribe_options options = replay_options(1);
    struct tw_transcript t;
    *text = NULL;
    options.arg = r;
    if (r != NULL)
        options.search = force ? force_recorded : search_and_record;
    int code = tw_transcribe(e->session, mel, &options, &t, err);
    if (code == TW_OK && (*text = replay_transcript_text(&t, &e->model->vocab)) == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for a text");
    total->launches += t.counts.launches;
    total->fallbacks += t.counts.fallbacks;
    tw_transcript_release(&t);
    return code;
}

static void print_choices(const struct replay_force *f, const struct tw_vocab *v, struct total *total)
{
    for (size_t i = 0; i < f->n_choices; i++) {
        const struct replay_choice *c = &f->choices[i];
        total->gap = c->gap > total->gap ? c->gap : total->gap;
        if (c->ours == c->forced)
            continue;
        printf("    window %.2f s, token %d: CPU ", (double)c->seek / 100, (int)c->index);
        replay_print_token(stdout, v, c->forced);
        printf(", array ");
        replay_print_token(stdout, v, c->ours);
        printf(": gap %.4f\n", c->gap);
    }
}

/* Of a text that differs: which choices the array's decoder makes otherwise where it is forced to the CPU's tokens. */
static int explain(struct replay_engine *array, struct tw_mel *mel, struct record *r, const char *text,
                   struct total *total, struct tw_error *err)
{
    char *forced = NULL;
    total->different++;
    printf("    CPU:   %s\n    array: %s\n", r->text, text);
    int code = replay_force_start(&r->force, NULL, array->model, err);
    if (code == TW_OK)
        code = transcribe(array, mel, r, 1, &forced, total, err);
    if (code == TW_OK && strcmp(forced, r->text) != 0)
        code = tw_fail(err, TW_E_FORMAT, "the CPU's tokens did not give its text again but '%s'", forced);
    if (code == TW_OK)
        print_choices(&r->force, &array->model->vocab, total);
    free(forced);
    return code;
}

static int compare_clip(struct replay_engine *cpu, struct replay_engine *array, const char *clip, struct total *total,
                        struct tw_error *err)
{
    struct tw_mel *mel = NULL;
    struct record r = {0};
    char *text = NULL;
    int code = replay_engine_listen(cpu, clip, &mel, err);
    if (code == TW_OK)
        code = transcribe(cpu, mel, &r, 0, &r.text, total, err);
    if (code == TW_OK)
        code = transcribe(array, mel, NULL, 0, &text, total, err);
    if (code == TW_OK) {
        int same = strcmp(text, r.text) == 0;
        printf("%-40s %s\n", clip, same ? "same" : "different");
        if (!same)
            code = explain(array, mel, &r, text, total, err);
        fflush(stdout);
    }
    release(&r);
    free(text);
    tw_mel_destroy(mel);
    return code;
}

static int open_array(const char *name, struct tw_executor **array, struct tw_error *err)
{
    struct tw_device_options options = {.kind = strcmp(name, "npu") == 0 ? TW_DEVICE_NPU : TW_DEVICE_EMU};
    struct tw_device *device;
    int code = tw_device_open(&options, &device, err);
    if (code == TW_OK) {
        code = tw_executor_open(device, NULL, array, err);
        tw_device_close(device);
    }
    return code;
}

int replay_array(const struct replay_request *request, const char *device, int *passed, struct tw_error *err)
{
    struct replay_engine cpu, array = {0};
    struct tw_executor *opened = NULL;
    struct total t = {0};
    int code = replay_engine_open(&cpu, request->model, request->threads, NULL, err);
    if (code == TW_OK)
        code = open_array(device, &opened, err);
    if (code == TW_OK)
        code = replay_engine_open(&array, request->model, request->threads, opened, err);
    for (size_t i = 0; i < request->n_clips && code == TW_OK; i++)
        code = compare_clip(&cpu, &array, request->clips[i], &t, err);
    replay_engine_release(&array);
    replay_engine_release(&cpu);
    tw_executor_close(opened);
    if (code != TW_OK)
        return code;
    *passed = t.different <= DIFFERENT_MOST && t.gap <= GAP_MOST && t.fallbacks == 0 && t.launches > 0;
    printf("%s on %s: %zu clips, %zu different (at most %d), largest gap of these %.4f (at most %.2f); %llu launches, "
           "%llu fallbacks: %s\n",
           request->model, device, request->n_clips, t.different, DIFFERENT_MOST, t.gap, GAP_MOST,
           (unsigned long long)t.launches, (unsigned long long)t.fallbacks, *passed ? "PASS" : "FAIL");
    return TW_OK;
}
