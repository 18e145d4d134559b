#include "force.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int replay_force_start(struct replay_force *f, const struct replay_reference *reference,
                       const struct tw_whisper_model *model, struct tw_error *err)
{
    memset(f, 0, sizeof *f);
    replay_script_start(&f->script, reference, &model->vocab);
    f->room = tw_search_length(&model->sizes);
    f->sequence.tokens = calloc((size_t)f->room, sizeof *f->sequence.tokens);
    f->sequence.logprobs = calloc((size_t)f->room, sizeof *f->sequence.logprobs);
    f->spare = calloc((size_t)model->vocab.size, sizeof *f->spare);
    if (f->sequence.tokens == NULL || f->sequence.logprobs == NULL || f->spare == NULL) {
        replay_force_release(f);
        return tw_fail(err, TW_E_MEMORY, "no memory for a replay");
    }
    return TW_OK;
}

void replay_force_release(struct replay_force *f)
{
    replay_script_release(&f->script);
    free(f->sequence.tokens);
    free(f->sequence.logprobs);
    free(f->spare);
    free(f->choices);
    memset(f, 0, sizeof *f);
}

static float best_of(const float *logprobs, int32_t first, int32_t end)
{
    return logprobs[first + (int32_t)tw_argmax(logprobs + first, (size_t)(end - first))];
}

/* Both programs allow timestamps and text here, but one was forced to a timestamp and the other was not. */
static void judge_timestamp_rule(struct replay_choice *c, double among_allowed)
{
    double margin = fabs(c->timestamp_mass - c->best_text);
    c->timestamp_rule = 1;
    c->gap = margin > among_allowed ? margin : among_allowed;
}

/* raw: the logits without timestamps, so that the timestamp rule stays out; the text token is judged among text. */
static void judge_text_forced_out(const struct tw_rules *rules, const struct tw_rules_state *state, float *raw,
                                  struct replay_choice *c)
{
    const struct tw_vocab *v = rules->vocab;
    for (int32_t i = v->timestamp_first; i < v->size; i++)
        raw[i] = -INFINITY;
    tw_rules_apply(rules, state, 0, raw, NULL);
    if (!isfinite(raw[c->forced]))
        return;
    double below_best = (double)(best_of(raw, 0, v->timestamp_first) - raw[c->forced]);
    c->forced_logprob = c->best_text - below_best;
    judge_timestamp_rule(c, below_best);
}

void replay_judge(const struct tw_rules *rules, const struct tw_rules_state *state, int32_t forced, float *logits,
                  float *spare, struct replay_choice *c)
{
    const struct tw_vocab *v = rules->vocab;
    struct tw_rules_margin margin;
    memcpy(spare, logits, (size_t)v->size * sizeof *spare);
    tw_rules_apply(rules, state, 0, logits, &margin);
    c->forced = forced;
    c->ours = (int32_t)tw_argmax(logits, (size_t)v->size);
    c->forced_logprob = (double)logits[forced];
    c->our_logprob = (double)logits[c->ours];
    c->timestamp_mass = (double)margin.timestamp_mass;
    c->best_text = (double)margin.best_text;
    c->timestamp_rule = 0;
    int ours_is_time = c->ours >= v->timestamp_first, forced_is_time = forced >= v->timestamp_first;
    c->gap = c->our_logprob - c->forced_logprob; /* INFINITY for a token that is out */
    if (ours_is_time && !forced_is_time)
        judge_text_forced_out(rules, state, spare, c);
    else if (!ours_is_time && forced_is_time && isfinite(c->forced_logprob))
        judge_timestamp_rule(c, (double)best_of(logits, v->timestamp_first, v->size) - c->forced_logprob);
}

static struct replay_choice *new_choice(struct replay_force *f, struct tw_error *err)
{
    if (f->n_choices == f->choice_room) {
        size_t room = 2 * f->choice_room + 256;
        struct replay_choice *more = realloc(f->choices, room * sizeof *more);
        if (more == NULL) {
            tw_fail(err, TW_E_MEMORY, "no memory for the choices of a replay");
            return NULL;
        }
        f->choices = more;
        f->choice_room = room;
    }
    return &f->choices[f->n_choices++];
}

static void clear(struct tw_sequence *q)
{
    int32_t *tokens = q->tokens;
    float *logprobs = q->logprobs;
    *q = (struct tw_sequence){
        .tokens = tokens, .logprobs = logprobs, .advance = TW_WINDOW_FRAMES, .avg_logprob = -INFINITY};
}

static void append(struct replay_force *f, struct tw_search *search, const struct tw_window *window, int32_t token,
                   double logprob)
{
    struct tw_sequence *q = &f->sequence;
    q->tokens[q->n] = token;
    q->logprobs[q->n] = (float)logprob;
    q->n++;
    q->sum += logprob;
    tw_sequence_update(q, tw_search_rules(search), window->left, f->room);
}

/* Judges and appends the next token of the script. */
static int force_token(struct replay_force *f, struct tw_search *search, int64_t seek, const struct tw_window *window,
                       struct tw_error *err)
{
    struct tw_sequence *q = &f->sequence;
    const struct tw_rules *rules = tw_search_rules(search);
    const struct replay_token *token = &f->script.tokens[q->n];
    struct tw_rules_state state = tw_sequence_rules(q, rules);
    struct replay_choice *choice = new_choice(f, err);
    if (choice == NULL)
        return TW_E_MEMORY;
    choice->seek = seek;
    choice->index = q->n;
    choice->their_logprob = token->logprob;
    replay_judge(rules, &state, token->id, tw_decoder_logits(tw_search_decoder(search)), f->spare, choice);
    append(f, search, window, token->id, choice->forced_logprob);
    return TW_OK;
}

/* Where the transcript does not tell whether a timestamp followed, our own choice stands. */
static void end_open(struct replay_force *f, struct tw_search *search, const struct tw_window *window)
{
    struct tw_sequence *q = &f->sequence;
    const struct tw_rules *rules = tw_search_rules(search);
    float *logits = tw_decoder_logits(tw_search_decoder(search));
    struct tw_rules_state state = tw_sequence_rules(q, rules);
    tw_rules_apply(rules, &state, 0, logits, NULL);
    int32_t ours = (int32_t)tw_argmax(logits, (size_t)rules->vocab->size);
    if (ours > rules->vocab->timestamp_first)
        append(f, search, window, ours, (double)logits[ours]);
}

/* What ranking does to a sequence that the search found: the mean over what counts. */
static void finish(struct tw_sequence *q)
{
    double sum = 0;
    q->failed = q->failed || q->kept < q->n; /* only a failed decode is output beyond its last timestamp */
    if (q->failed)
        return;
    for (int32_t i = 0; i < q->kept; i++)
        sum += (double)q->logprobs[i];
    q->avg_logprob = sum / q->kept;
}

static int decode_forced(struct replay_force *f, struct tw_search *search, int64_t seek, const struct tw_window *window,
                         struct tw_error *err)
{
    struct tw_sequence *q = &f->sequence;
    int32_t n = (int32_t)f->script.n;
    int code = TW_OK;
    while (q->n < n) {
        if (q->completed)
            return tw_fail(err, TW_E_FORMAT, "window at %.2f s: the text goes on after our rules end it at token %d",
                           (double)seek / 100, (int)q->n);
        code = force_token(f, search, seek, window, err);
        if (code == TW_OK && (q->n < n || f->script.open) && q->n < f->room)
            code =
                tw_decoder_run(tw_search_decoder(search), 1, 1, &q->tokens[q->n - 1], window->n_prompt + q->n - 1, err);
        if (code != TW_OK)
            return code;
    }
    if (f->script.open && !q->completed && q->n < f->room)
        end_open(f, search, window);
    finish(q);
    return TW_OK;
}

int replay_force_tokens(struct replay_force *f, struct tw_search *search, int64_t seek, const struct tw_window *window,
                        const struct tw_sequence **best, double *no_speech, struct tw_error *err)
{
    if (f->script.n > (size_t)f->room)
        return tw_fail(err, TW_E_FORMAT, "window at %.2f s: %zu tokens where a window has at most %d",
                       (double)seek / 100, f->script.n, (int)f->room);
    clear(&f->sequence);
    int code = tw_decoder_run(tw_search_decoder(search), 1, window->n_prompt, window->prompt, 0, err);
    if (code != TW_OK)
        return code;
    const struct tw_vocab *v = tw_search_rules(search)->vocab;
    const float *logits = tw_decoder_logits(tw_search_decoder(search));
    *no_speech = exp((double)logits[v->no_speech] - (double)tw_log_sum_exp(logits, (size_t)v->size));
    code = decode_forced(f, search, seek, window, err);
    f->sequence.first_step = (int32_t)((f->script.first_start - seek) / 2);
    *best = &f->sequence;
    return code;
}

int replay_force_window(void *arg, struct tw_search *search, int64_t seek, const struct tw_window *window,
                        const struct tw_sequence **best, double *no_speech, struct tw_error *err)
{
    struct replay_force *f = arg;
    int code = replay_script_take(&f->script, seek, window->left, err);
    if (code != TW_OK)
        return code;
    if (f->script.n == 0) {
        f->windows_without++;
        return tw_search_run(search, window, best, no_speech, err);
    }
    return replay_force_tokens(f, search, seek, window, best, no_speech, err);
}
