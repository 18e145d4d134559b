#include "compare.h"

#include "engine.h"
#include "force.h"
#include "text.h"
#include "wer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 4096
/* Log-probabilities below this are not compared: they do not matter, and differ by much. */
#define LOGPROB_COMPARED (-7.0)

/* What may differ. Quantised products round activations to 8 bits in whisper.cpp, and do not here. */
struct limits {
    double gap;
    size_t different;
};
static const struct limits exact_limits = {.gap = 0.05, .different = 2};
static const struct limits quantised_limits = {.gap = 0.25, .different = 6};

/* One clip's result. */
struct outcome {
    int same; /* the texts */
    int windows_without;
    size_t choices, changed;
    double gap;     /* the largest */
    double logprob; /* largest difference */
};

/* Sums over the clips of a model. */
struct total {
    size_t clips, different, choices, changed;
    double gap, logprob;
    double gap_of_different; /* largest gap where texts differ */
    struct replay_wer ours, theirs;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether a segment came out where the reference has it; ours never reach past the sound's last frame. */
static int same_times(const struct tw_segment *ours, const struct replay_segment *theirs, int64_t last)
{
    int64_t from = theirs->from < last ? theirs->from : last, to = theirs->to < last ? theirs->to : last;
    return llround(ours->start * 100) == from && llround(ours->end * 100) == to;
}

/* Whether the replay gave whisper.cpp's segments again: only then were its tokens forced where they belong. */
static int check_replay(const struct tw_transcript *t, const struct replay_reference *reference, int64_t last,
                        const char *text, const char *replayed, struct tw_error *err)
{
    if (strcmp(text, replayed) != 0)
        return tw_fail(err, TW_E_FORMAT, "the replay did not give the text again but '%s'", replayed);
    for (size_t i = 0; i < t->n_segments && i < reference->n; i++)
        if (!same_times(&t->segments[i], &reference->segments[i], last))
            return tw_fail(err, TW_E_FORMAT, "segment %zu came out as %.2f to %.2f s and was %.2f to %.2f s", i,
                           t->segments[i].start, t->segments[i].end, (double)reference->segments[i].from / 100,
                           (double)reference->segments[i].to / 100);
    return TW_OK;
}

static void summarise(const struct replay_force *f, struct outcome *o)
{
    o->choices = f->n_choices;
    o->windows_without = f->windows_without;
    for (size_t i = 0; i < f->n_choices; i++) {
        const struct replay_choice *c = &f->choices[i];
        o->changed += c->ours != c->forced;
        o->gap = larger(o->gap, c->gap);
        if (c->their_logprob > LOGPROB_COMPARED)
            o->logprob = larger(o->logprob, fabs(c->their_logprob - c->forced_logprob));
    }
}

static void print_choice(const struct replay_choice *c, const struct tw_vocab *v)
{
    printf("    window %.2f s, token %d: whisper.cpp ", (double)c->seek / 100, (int)c->index);
    replay_print_token(stdout, v, c->forced);
    printf(" (%.4f; here %.4f), ours ", c->their_logprob, c->forced_logprob);
    replay_print_token(stdout, v, c->ours);
    printf(" (%.4f)", c->our_logprob);
    if (c->timestamp_rule)
        printf(", timestamps %.4f against text %.4f", c->timestamp_mass, c->best_text);
    printf(": gap %.4f\n", c->gap);
}

static void print_changed(const struct replay_force *f, const struct tw_vocab *v)
{
    for (size_t i = 0; i < f->n_choices; i++)
        if (f->choices[i].ours != f->choices[i].forced)
            print_choice(&f->choices[i], v);
}

/* Forces the reference through the decoder; text is the reference's. */
static int replay(struct replay_engine *e, struct tw_mel *mel, const struct replay_reference *reference,
                  const char *text, struct replay_force *f, struct tw_error *err)
{
    struct tw_transcribe_options options = replay_options(1);
    struct tw_transcript t;
    options.search = replay_force_window;
    options.arg = f;
    int code = tw_transcribe(e->session, mel, &options, &t, err);
    char *replayed = code == TW_OK ? replay_transcript_text(&t, &e->model->vocab) : NULL;
    if (code == TW_OK && replayed == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for a text");
    if (code == TW_OK)
        code = check_replay(&t, reference, tw_mel_frames(mel), text, replayed, err);
    free(replayed);
    tw_transcript_release(&t);
    return code;
}

static int transcribe(struct replay_engine *e, struct tw_mel *mel, char **text, struct tw_error *err)
{
    struct tw_transcribe_options options = replay_options(1);
    struct tw_transcript t;
    *text = NULL;
    int code = tw_transcribe(e->session, mel, &options, &t, err);
    if (code == TW_OK && (*text = replay_transcript_text(&t, &e->model->vocab)) == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for a text");
    tw_transcript_release(&t);
    return code;
}

static int rate_words(const char *clip, const char *ours, const char *theirs, struct total *total, struct tw_error *err)
{
    struct replay_wer a, b;
    char *said = replay_said(clip);
    if (said == NULL) {
        printf("     -       -  ");
        return TW_OK;
    }
    int code = replay_word_errors(said, theirs, &a, err);
    if (code == TW_OK)
        code = replay_word_errors(said, ours, &b, err);
    free(said);
    if (code != TW_OK)
        return code;
    replay_print_wer(&a);
    replay_print_wer(&b);
    replay_add_wer(&total->theirs, &a);
    replay_add_wer(&total->ours, &b);
    return TW_OK;
}

static void add_outcome(struct total *total, const struct outcome *o)
{
    total->clips++;
    total->choices += o->choices;
    total->changed += o->changed;
    total->gap = larger(total->gap, o->gap);
    total->logprob = larger(total->logprob, o->logprob);
    if (o->same)
        return;
    total->different++;
    total->gap_of_different = larger(total->gap_of_different, o->gap);
}

#define BEFORE 40 /* characters of text shown before the place where two texts part, and after it */
#define AFTER 60

/* Where characters of more than one byte are cut, a reader sees a mark; nothing else depends on it. */
static void print_part(const char *who, const char *text, size_t at)
{
    size_t from = at > BEFORE ? at - BEFORE : 0;
    printf("    %-12s %s%.*s\n", who, from > 0 ? "..." : "", BEFORE + AFTER, text + from);
}

static void print_difference(const char *ours, const char *theirs)
{
    size_t at = 0;
    while (ours[at] != 0 && ours[at] == theirs[at])
        at++;
    print_part("whisper.cpp:", theirs, at);
    print_part("ours:", ours, at);
}

static void print_outcome(const struct outcome *o, const struct replay_force *f, const char *ours, const char *theirs,
                          const struct tw_vocab *v)
{
    printf("%7zu %7zu   %7.4f   %7.4f\n", o->choices, o->changed, o->gap, o->logprob);
    if (o->windows_without > 0)
        printf("    %d windows of which whisper.cpp gave nothing\n", o->windows_without);
    if (!o->same)
        print_difference(ours, theirs);
    print_changed(f, v);
}

/* theirs: the reference's text. */
static int compare_with(struct replay_engine *e, const char *clip, const struct replay_reference *reference,
                        const char *theirs, struct total *total, struct tw_error *err)
{
    struct tw_mel *mel = NULL;
    struct replay_force f = {0};
    char *ours = NULL;
    int code = replay_engine_listen(e, clip, &mel, err);
    if (code == TW_OK)
        code = transcribe(e, mel, &ours, err);
    if (code == TW_OK)
        code = replay_force_start(&f, reference, e->model, err);
    if (code == TW_OK)
        code = replay(e, mel, reference, theirs, &f, err);
    if (code == TW_OK) {
        struct outcome o = {.same = strcmp(ours, theirs) == 0};
        summarise(&f, &o);
        printf("%-10s", o.same ? "same" : "different");
        code = rate_words(clip, ours, theirs, total, err);
        print_outcome(&o, &f, ours, theirs, &e->model->vocab);
        add_outcome(total, &o);
    }
    replay_force_release(&f);
    free(ours);
    tw_mel_destroy(mel);
    return code;
}

static int compare_clip(struct replay_engine *e, const char *references, const char *clip, struct total *total,
                        struct tw_error *err)
{
    char path[PATH_ROOM];
    struct replay_reference reference;
    struct tw_error why = {0};
    char *name = replay_clip_name(clip);
    if (name == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the name of '%s'", clip);
    snprintf(path, sizeof path, "%s/%s.json", references, name);
    printf("%-14s", name);
    free(name);
    int code = replay_reference_load(path, &e->model->vocab, &reference, &why);
    char *theirs = code == TW_OK ? replay_reference_text(&reference, &e->model->vocab) : NULL;
    if (code == TW_OK && theirs == NULL)
        code = tw_fail(&why, TW_E_MEMORY, "no memory for a text");
    if (code == TW_OK)
        code = compare_with(e, clip, &reference, theirs, total, &why);
    free(theirs);
    replay_reference_release(&reference);
    fflush(stdout);
    return code == TW_OK ? TW_OK : tw_fail(err, code, "%s: %s", clip, why.text);
}

static int within(const struct total *t, const struct limits *limits)
{
    return t->different <= limits->different && t->gap_of_different <= limits->gap;
}

static void print_total(const char *model, const struct total *t, const struct limits *limits)
{
    printf("%s: %zu clips, %zu same, %zu different (at most %zu); largest gap of these %.4f (at most %.2f)\n", model,
           t->clips, t->clips - t->different, t->different, limits->different, t->gap_of_different, limits->gap);
    printf("%s: %zu of %zu choices changed, largest gap of all %.4f; largest log-probability difference %.4f\n", model,
           t->changed, t->choices, t->gap, t->logprob);
    printf("%s: word errors: whisper.cpp %zu, ours %zu of %zu\n", model, t->theirs.errors, t->ours.errors,
           t->ours.words);
    printf("%s: %s\n", model, within(t, limits) ? "PASS" : "FAIL");
}

static const struct limits *limits_of(const struct tw_whisper_model *model)
{
    return strcmp(model->type_name, "f16") == 0 || strcmp(model->type_name, "f32") == 0 ? &exact_limits
                                                                                        : &quantised_limits;
}

int replay_compare(const struct replay_request *request, int *passed, struct tw_error *err)
{
    struct replay_engine e;
    struct total total = {0};
    int code = replay_engine_open(&e, request->model, request->threads, NULL, err);
    if (code == TW_OK)
        printf("%-14s%-10s%16s%8s%8s%10s%10s\n", "clip", "text", "WER theirs, ours", "tokens", "changed", "gap",
               "log-prob");
    for (size_t i = 0; i < request->n_clips && code == TW_OK; i++)
        code = compare_clip(&e, request->references, request->clips[i], &total, err);
    if (code == TW_OK) {
        const struct limits *limits = limits_of(e.model);
        print_total(request->model, &total, limits);
        *passed = within(&total, limits);
    }
    replay_engine_release(&e);
    return code;
}
