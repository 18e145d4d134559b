#include "whisper/search.h"

#include "base/random.h"
#include "whisper/transcribe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENTROPY_TOKENS 32 /* entropy is taken over so many last tokens */
#define ENTROPY_LEAST 2.4

struct candidate {
    double sum;
    float logprob;
    int32_t parent; /* slot */
    int32_t token;
};

struct tw_search {
    struct tw_decoder *decoder;
    const struct tw_rules *rules;
    struct tw_host *host;
    int32_t length; /* room of a sequence */
    int32_t width;
    struct tw_sequence *sequences; /* width of them */
    struct tw_sequence **at;       /* slot -> the active sequence whose past it holds */
    struct candidate *candidates;  /* width * width */
    int32_t *token_store;
    float *logprob_store;

    /* The run under way. */
    const struct tw_window *window;
    int32_t active;
    struct tw_random random;
};

int32_t tw_search_length(const struct tw_whisper_sizes *sizes)
{
    int32_t n = sizes->n_text_ctx / 2 - 4;
    return n > 1 ? n : 1;
}

int tw_search_create(struct tw_decoder *decoder, const struct tw_rules *rules, struct tw_host *host,
                     const struct tw_whisper_sizes *sizes, int32_t width, struct tw_search **search,
                     struct tw_error *err)
{
    *search = NULL;
    struct tw_search *s = calloc(1, sizeof *s);
    if (s == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the text search");
    s->decoder = decoder;
    s->rules = rules;
    s->host = host;
    s->width = width;
    s->length = tw_search_length(sizes);
    size_t n = (size_t)width, room = n * (size_t)s->length;
    s->sequences = calloc(n, sizeof *s->sequences);
    s->at = calloc(n, sizeof *s->at);
    s->candidates = calloc(n * n, sizeof *s->candidates);
    s->token_store = calloc(room, sizeof *s->token_store);
    s->logprob_store = calloc(room, sizeof *s->logprob_store);
    if (s->sequences == NULL || s->at == NULL || s->candidates == NULL || s->token_store == NULL ||
        s->logprob_store == NULL) {
        tw_search_destroy(s);
        return tw_fail(err, TW_E_MEMORY, "no memory for %d text sequences", (int)width);
    }
    for (size_t i = 0; i < n; i++) {
        s->sequences[i].tokens = s->token_store + i * (size_t)s->length;
        s->sequences[i].logprobs = s->logprob_store + i * (size_t)s->length;
    }
    *search = s;
    return TW_OK;
}

void tw_search_destroy(struct tw_search *s)
{
    if (s == NULL)
        return;
    free(s->sequences);
    free(s->at);
    free(s->candidates);
    free(s->token_store);
    free(s->logprob_store);
    free(s);
}

struct tw_decoder *tw_search_decoder(const struct tw_search *s)
{
    return s->decoder;
}

const struct tw_rules *tw_search_rules(const struct tw_search *s)
{
    return s->rules;
}

static void clear(struct tw_sequence *q)
{
    q->n = q->kept = q->first_step = 0;
    q->advance = TW_WINDOW_FRAMES;
    q->has_timestamp = q->completed = q->failed = 0;
    q->sum = 0;
    q->avg_logprob = -INFINITY;
}

static void copy(struct tw_sequence *to, const struct tw_sequence *from)
{
    int32_t *tokens = to->tokens;
    float *logprobs = to->logprobs;
    *to = *from;
    to->tokens = tokens;
    to->logprobs = logprobs;
    memcpy(tokens, from->tokens, (size_t)from->n * sizeof *tokens);
    memcpy(logprobs, from->logprobs, (size_t)from->n * sizeof *logprobs);
}

static void append(struct tw_sequence *q, int32_t token, float logprob)
{
    q->tokens[q->n] = token;
    q->logprobs[q->n] = logprob;
    q->n++;
    q->sum += (double)logprob;
}

struct tw_rules_state tw_sequence_rules(const struct tw_sequence *q, const struct tw_rules *rules)
{
    int32_t lowest = q->has_timestamp ? q->advance / 2 : 0;
    return (struct tw_rules_state){
        .tokens = q->tokens,
        .n_tokens = (size_t)q->n,
        .lowest_timestamp = rules->vocab->timestamp_first + lowest,
    };
}

/* An end of text, or a timestamp within reach of the input's end. */
static void end_sequence(struct tw_sequence *q, const struct tw_rules *rules, int near_end)
{
    if (q->kept == 0 && !rules->no_timestamps) {
        if (!near_end) {
            q->failed = 1;
            return;
        }
        q->kept = q->n;
    }
    if (rules->no_timestamps) {
        q->kept = q->n;
        q->advance = TW_WINDOW_FRAMES;
    }
    q->completed = 1;
}

void tw_sequence_update(struct tw_sequence *q, const struct tw_rules *rules, int32_t left, int32_t length)
{
    const struct tw_vocab *v = rules->vocab;
    int32_t index = q->n - 1;
    int32_t token = q->tokens[index];
    /* <|0.00|> itself neither counts as a timestamp seen nor moves the end. */
    if (token > v->timestamp_first) {
        int32_t advance = 2 * (token - v->timestamp_first);
        if (q->has_timestamp && q->advance > advance && q->kept < index) {
            q->failed = 1;
            return;
        }
        q->advance = advance;
        q->kept = index + 1;
        q->has_timestamp = 1;
    }
    int near_end = q->advance + TW_LEAST_FRAMES >= left;
    if (token == v->end_of_text || (q->has_timestamp && near_end)) {
        end_sequence(q, rules, near_end);
        return;
    }
    /* So many tokens for so little sound: a loop of repetitions. */
    if (index == length - 1 && (q->kept == 0 || q->advance < TW_WINDOW_FRAMES / 2))
        q->failed = 1;
}

static int better(const struct candidate *a, const struct candidate *b)
{
    if (a->sum != b->sum)
        return a->sum > b->sum;
    if (a->parent != b->parent)
        return a->parent < b->parent;
    return a->token < b->token;
}

/* Keeps list[0 .. *n) sorted, best first, at most `most` long. */
static void offer(struct candidate *list, int32_t *n, int32_t most, struct candidate c)
{
    int32_t i = *n;
    if (i == most) {
        if (!better(&c, &list[i - 1]))
            return;
        i--;
    } else {
        (*n)++;
    }
    for (; i > 0 && better(&c, &list[i - 1]); i--)
        list[i] = list[i - 1];
    list[i] = c;
}

/* The best `most` continuations of the sequence in a slot, given its log-probabilities. */
static int32_t top_tokens(const struct tw_search *s, int32_t slot, const float *logprobs, int32_t most,
                          struct candidate *list)
{
    int32_t n = 0;
    double sum = s->at[slot]->sum;
    float worst = -INFINITY;
    for (int32_t token = 0; token < s->rules->vocab->size; token++) {
        if (!(logprobs[token] > worst))
            continue;
        offer(list, &n, most, (struct candidate){sum + (double)logprobs[token], logprobs[token], slot, token});
        if (n == most)
            worst = list[n - 1].logprob;
    }
    return n;
}

/* One token drawn with the probabilities exp(logprobs) (their sum need not be 1). */
static int32_t draw(struct tw_search *s, const float *logprobs)
{
    size_t size = (size_t)s->rules->vocab->size;
    double total = exp((double)tw_log_sum_exp(logprobs, size));
    double mark = tw_random_unit(&s->random) * total;
    int32_t last = (int32_t)tw_argmax(logprobs, size);
    for (size_t i = 0; i < size; i++) {
        if (!(logprobs[i] > -INFINITY))
            continue;
        last = (int32_t)i;
        mark -= exp((double)logprobs[i]);
        if (mark < 0)
            break;
    }
    return last;
}

/* Where the text's time begins when its first token is no timestamp: the likeliest timestamp there. */
static int32_t likely_step(const struct tw_search *s, int32_t token, const float *logprobs)
{
    const struct tw_vocab *v = s->rules->vocab;
    if (token >= v->timestamp_first)
        return token - v->timestamp_first;
    size_t best = tw_argmax(logprobs + v->timestamp_first, (size_t)(v->size - v->timestamp_first));
    return logprobs[(size_t)v->timestamp_first + best] > -INFINITY ? (int32_t)best : 0;
}

static void apply_rules(void *arg, size_t slot, unsigned worker)
{
    (void)worker;
    struct tw_search *s = arg;
    float *row = tw_decoder_logits(s->decoder) + slot * (size_t)s->rules->vocab->size;
    struct tw_rules_state state = tw_sequence_rules(s->at[slot], s->rules);
    tw_rules_apply(s->rules, &state, s->window->temperature, row, NULL);
}

/* Log-probabilities of the active sequences' next tokens, in the decoder's output rows. */
static const float *rate(struct tw_search *s)
{
    tw_pool_run(tw_host_pool(s->host), (size_t)s->active, apply_rules, s);
    return tw_decoder_logits(s->decoder);
}

/* First tokens, all from the prompt's prediction: the best ones, or as many draws. Sets active. */
static void begin(struct tw_search *s)
{
    int32_t width = s->window->width;
    s->active = 1;
    s->at[0] = &s->sequences[0];
    const float *logprobs = rate(s);
    struct candidate *list = s->candidates;
    int32_t n = 0;
    if (s->window->temperature > 0) {
        for (; n < width; n++) {
            int32_t token = draw(s, logprobs);
            list[n] = (struct candidate){0, logprobs[token], 0, token};
        }
    } else {
        n = top_tokens(s, 0, logprobs, width, list);
    }
    for (int32_t i = 0; i < n; i++) {
        s->at[i] = &s->sequences[i];
        append(s->at[i], list[i].token, list[i].logprob);
        s->at[i]->first_step = likely_step(s, list[i].token, logprobs);
        if (i > 0)
            tw_decoder_copy(s->decoder, 0, i, 0, s->window->n_prompt);
    }
    s->active = n;
}

/* Copies what is peculiar to a slot: the tokens after the prompt, which all slots have. */
static void copy_past(struct tw_search *s, int32_t from, int32_t to, int32_t done)
{
    tw_decoder_copy(s->decoder, from, to, s->window->n_prompt, done);
}

/*
 * Replaces the active sequences by the chosen continuations, one per slot. The first child of a sequence stays in its
 * slot; others move into slots whose sequences have no child, so that little is copied. done: tokens in the caches
 * after the prompt.
 */
static void continue_with(struct tw_search *s, const struct candidate *chosen, int32_t done)
{
    int32_t children[TW_BEAM_MAX] = {0}, place[TW_BEAM_MAX];
    for (int32_t i = 0; i < s->active; i++)
        children[chosen[i].parent]++;
    int32_t vacant = 0;
    int placed[TW_BEAM_MAX] = {0};
    for (int32_t i = 0; i < s->active; i++) {
        int32_t parent = chosen[i].parent;
        if (!placed[parent]) {
            placed[parent] = 1;
            place[i] = parent;
            continue;
        }
        while (children[vacant] > 0)
            vacant++;
        place[i] = vacant;
        copy(s->at[vacant], s->at[parent]);
        copy_past(s, parent, vacant, done);
        vacant++;
    }
    for (int32_t i = 0; i < s->active; i++)
        append(s->at[place[i]], chosen[i].token, chosen[i].logprob);
}

static void extend_beams(struct tw_search *s, const float *logprobs, int32_t done)
{
    struct candidate best[TW_BEAM_MAX], list[TW_BEAM_MAX];
    int32_t n = 0;
    for (int32_t slot = 0; slot < s->active; slot++) {
        int32_t found = top_tokens(s, slot, logprobs + (size_t)slot * (size_t)s->rules->vocab->size, s->active, list);
        for (int32_t i = 0; i < found; i++)
            offer(best, &n, s->active, list[i]);
    }
    if (n == 0) { /* no finite number among the logits: a damaged model */
        for (int32_t slot = 0; slot < s->active; slot++)
            s->at[slot]->failed = 1;
        s->active = 0;
        return;
    }
    /* Hardly any token is allowed: the worst continuation fills the other slots, which then agree. */
    for (; n < s->active; n++)
        best[n] = best[n - 1];
    continue_with(s, best, done);
}

static void extend_samples(struct tw_search *s, const float *logprobs)
{
    for (int32_t slot = 0; slot < s->active; slot++) {
        const float *row = logprobs + (size_t)slot * (size_t)s->rules->vocab->size;
        int32_t token = draw(s, row);
        append(s->at[slot], token, row[token]);
    }
}

/* Sequences that ended leave; the last slot moves into the gap. */
static void retire(struct tw_search *s, int32_t done)
{
    for (int32_t slot = 0; slot < s->active;) {
        struct tw_sequence *q = s->at[slot];
        tw_sequence_update(q, s->rules, s->window->left, s->length);
        if (q->completed || q->failed || q->n == s->length) {
            s->active--;
            if (slot != s->active) {
                s->at[slot] = s->at[s->active];
                copy_past(s, s->active, slot, done);
            }
        } else {
            slot++;
        }
    }
}

static double entropy(const struct tw_sequence *q)
{
    int32_t first = q->kept > ENTROPY_TOKENS ? q->kept - ENTROPY_TOKENS : 0;
    int32_t total = q->kept - first;
    double sum = 0;
    for (int32_t i = first; i < q->kept; i++) {
        int32_t same = 0;
        for (int32_t j = first; j < q->kept; j++)
            same += q->tokens[j] == q->tokens[i];
        /* Each of the `same` equal tokens adds its share of -p log p. */
        sum -= log((double)same / total) / total;
    }
    return sum;
}

/*
 * The best sequence; one that repeats itself fails. Beams are ranked by the probability of all their tokens, the end
 * included: that is what they were searched for, and a mean would prefer the longer of two texts. Samples are ranked by
 * the mean, as OpenAI does, because a long text is not less likely to be drawn as well.
 */
static const struct tw_sequence *rank(struct tw_search *s, int32_t count)
{
    struct tw_sequence *best = &s->sequences[0];
    double best_score = -INFINITY;
    for (int32_t i = 0; i < count; i++) {
        struct tw_sequence *q = &s->sequences[i];
        if (q->failed || q->kept == 0)
            continue;
        double sum = 0;
        for (int32_t j = 0; j < q->kept; j++)
            sum += (double)q->logprobs[j];
        q->n = q->kept;
        q->avg_logprob = sum / q->kept;
        double score = s->window->temperature > 0 ? q->avg_logprob : q->sum;
        if (q->kept > ENTROPY_TOKENS && entropy(q) < ENTROPY_LEAST) {
            q->failed = 1;
        } else if (score > best_score) {
            best_score = score;
            best = q;
        }
    }
    return best;
}

int tw_search_run(struct tw_search *s, const struct tw_window *window, const struct tw_sequence **best,
                  double *no_speech, struct tw_error *err)
{
    const struct tw_vocab *v = s->rules->vocab;
    int32_t step_tokens[TW_BEAM_MAX];
    if (window->width < 1 || window->width > s->width)
        return tw_fail(err, TW_E_ARGUMENT, "a search of width %d in room for %d", (int)window->width, (int)s->width);
    s->window = window;
    s->random.state = window->seed;
    for (int32_t i = 0; i < window->width; i++)
        clear(&s->sequences[i]);

    int code = tw_decoder_run(s->decoder, 1, window->n_prompt, window->prompt, 0, err);
    if (code != TW_OK)
        return code;
    const float *logits = tw_decoder_logits(s->decoder);
    *no_speech = exp((double)logits[v->no_speech] - (double)tw_log_sum_exp(logits, (size_t)v->size));

    begin(s);
    int32_t count = s->active; /* sequences in use */
    for (int32_t done = 0;; done++) {
        retire(s, done);
        if (s->active == 0)
            break;
        if (window->stop != NULL && window->stop(window->stop_arg) != 0)
            return tw_fail(err, TW_E_CANCELLED, "transcription stopped");
        for (int32_t slot = 0; slot < s->active; slot++)
            step_tokens[slot] = s->at[slot]->tokens[s->at[slot]->n - 1];
        code = tw_decoder_run(s->decoder, s->active, 1, step_tokens, window->n_prompt + done, err);
        if (code != TW_OK)
            return code;
        const float *logprobs = rate(s);
        if (window->temperature > 0)
            extend_samples(s, logprobs);
        else
            extend_beams(s, logprobs, done + 1);
    }
    *best = rank(s, count);
    return TW_OK;
}
