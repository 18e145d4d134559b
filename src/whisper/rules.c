#include "whisper/rules.h"

#include "base/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_TIMESTAMP_MAX_S 1.0
#define WINDOW_S 30.0

/* OpenAI's list of symbols that stand for sounds rather than speech (tokenizer.py, non_speech_tokens). */
static const char *const symbols[] = {
    "\"",
    "#",
    "(",
    ")",
    "*",
    "+",
    "/",
    ":",
    ";",
    "<",
    "=",
    ">",
    "@",
    "[",
    "\\",
    "]",
    "^",
    "_",
    "`",
    "{",
    "|",
    "}",
    "~",
    "\xe3\x80\x8c",
    "\xe3\x80\x8d",
    "\xe3\x80\x8e",
    "\xe3\x80\x8f",
    "<<",
    ">>",
    "<<<",
    ">>>",
    "--",
    "---",
    "-(",
    "-[",
    "('",
    "(\"",
    "((",
    "))",
    "(((",
    ")))",
    "[[",
    "]]",
    "{{",
    "}}",
    "\xe2\x99\xaa\xe2\x99\xaa",
    "\xe2\x99\xaa\xe2\x99\xaa\xe2\x99\xaa",
    "\xe2\x99\xa9",
    "\xe2\x99\xaa",
    "\xe2\x99\xab",
    "\xe2\x99\xac",
    "\xe2\x99\xad",
    "\xe2\x99\xae",
    "\xe2\x99\xaf",
};
#define SYMBOLS (sizeof symbols / sizeof symbols[0])

static int32_t find_token(const struct tw_vocab *v, const char *bytes)
{
    size_t size = strlen(bytes);
    for (int32_t i = 0; i < v->text_size; i++)
        if (v->text[i].size == size && memcmp(v->text[i].bytes, bytes, size) == 0)
            return i;
    return -1;
}

static void ban(struct tw_rules *rules, int32_t token)
{
    if (token >= 0 && token < rules->vocab->size)
        rules->banned[rules->n_banned++] = token;
}

static void ban_symbols(struct tw_rules *rules)
{
    char spaced[16];
    for (size_t i = 0; i < SYMBOLS; i++) {
        spaced[0] = ' ';
        memcpy(spaced + 1, symbols[i], strlen(symbols[i]) + 1);
        ban(rules, find_token(rules->vocab, symbols[i]));
        ban(rules, find_token(rules->vocab, spaced));
    }
    /* Hyphens and apostrophes may stand inside a word but not begin one. */
    ban(rules, find_token(rules->vocab, " -"));
    ban(rules, find_token(rules->vocab, " '"));
}

int tw_rules_create(struct tw_rules *rules, const struct tw_vocab *vocab, int32_t positions, int no_timestamps,
                    int suppress_non_speech, struct tw_error *err)
{
    memset(rules, 0, sizeof *rules);
    rules->banned = malloc((2 * SYMBOLS + 2 + 7 + TW_LANGUAGES_MAX) * sizeof *rules->banned);
    if (rules->banned == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the decoding rules");
    rules->vocab = vocab;
    rules->no_timestamps = no_timestamps;
    rules->initial_max = (int32_t)lround(INITIAL_TIMESTAMP_MAX_S * positions / WINDOW_S);
    rules->blank = find_token(vocab, " ");
    const int32_t specials[] = {vocab->start,      vocab->no_speech, vocab->start_lm,     vocab->translate,
                                vocab->transcribe, vocab->previous,  vocab->no_timestamps};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        ban(rules, specials[i]);
    /* .en models have the language tokens too, though no prompt uses them. */
    for (int32_t token = vocab->start + 1; token < vocab->translate; token++)
        ban(rules, token);
    if (suppress_non_speech)
        ban_symbols(rules);
    return TW_OK;
}

void tw_rules_release(struct tw_rules *rules)
{
    free(rules->banned);
    memset(rules, 0, sizeof *rules);
}

size_t tw_argmax(const float *x, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}

static void mask(float *logits, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++)
        logits[i] = -INFINITY;
}

/*
 * exp(x) for x <= 0, relative error below 2^-22, without branches so that the compiler can work on several numbers at
 * once; below -87 the result is a tiny number instead of a denormal. 2^r on [-1/2, 1/2] is a Taylor polynomial.
 */
static inline float exp_negative(float x)
{
    x = x > -87.0f ? x : -87.0f;
    float n = (float)(int32_t)(x * 1.44269504f - 0.5f);
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f; /* ln 2 in two parts */
    float p = 1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
    return p * tw_bits_float((uint32_t)((int32_t)n + 127) << 23);
}

#define LANES 16

float tw_log_sum_exp(const float *x, size_t n)
{
    if (n == 0)
        return -INFINITY;
    float top[LANES];
    for (size_t j = 0; j < LANES; j++)
        top[j] = -INFINITY;
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            top[j] = x[i + j] > top[j] ? x[i + j] : top[j];
    for (size_t i = whole; i < n; i++)
        top[0] = x[i] > top[0] ? x[i] : top[0];
    float largest = top[tw_argmax(top, LANES)];
    if (!(largest > -INFINITY) || largest == INFINITY)
        return largest;

    double sum = 0;
    size_t i = 0;
    /* Short blocks summed in float, blocks in double: fast, and exact to far below a float. */
    while (i < whole) {
        size_t end = i + 64 * LANES < whole ? i + 64 * LANES : whole;
        float part[LANES] = {0};
        for (; i < end; i += LANES)
            for (size_t j = 0; j < LANES; j++)
                part[j] += exp_negative(x[i + j] - largest);
        for (size_t j = 0; j < LANES; j++)
            sum += (double)part[j];
    }
    for (; i < n; i++)
        sum += (double)exp_negative(x[i] - largest);
    return largest + (float)log(sum);
}

/* Timestamps come in pairs, but before the end of text one may stand alone. */
static void pair_timestamps(const struct tw_vocab *v, const struct tw_rules_state *state, float *logits)
{
    size_t n = state->n_tokens;
    if (n == 0 || state->tokens[n - 1] < v->timestamp_first)
        return;
    if (n < 2 || state->tokens[n - 2] >= v->timestamp_first)
        mask(logits, v->timestamp_first, v->size);
    else
        mask(logits, 0, v->end_of_text);
}

static void apply_masks(const struct tw_rules *rules, const struct tw_rules_state *state, float *logits)
{
    const struct tw_vocab *v = rules->vocab;
    for (size_t i = 0; i < rules->n_banned; i++)
        logits[rules->banned[i]] = -INFINITY;
    if (rules->no_timestamps)
        mask(logits, v->timestamp_first, v->size);
    pair_timestamps(v, state, logits);
    if (state->n_tokens == 0) {
        logits[v->end_of_text] = -INFINITY;
        if (rules->blank >= 0)
            logits[rules->blank] = -INFINITY;
        if (v->size - v->timestamp_first > rules->initial_max)
            mask(logits, v->timestamp_first + rules->initial_max + 1, v->size);
    }
    if (state->lowest_timestamp > v->timestamp_first)
        mask(logits, v->timestamp_first, state->lowest_timestamp < v->size ? state->lowest_timestamp : v->size);
}

void tw_rules_apply(const struct tw_rules *rules, const struct tw_rules_state *state, float temperature, float *logits,
                    struct tw_rules_margin *margin)
{
    const struct tw_vocab *v = rules->vocab;
    size_t size = (size_t)v->size, text = (size_t)v->timestamp_first;
    if (temperature > 0)
        for (size_t i = 0; i < size; i++)
            logits[i] /= temperature;
    apply_masks(rules, state, logits);

    float total = tw_log_sum_exp(logits, size);
    for (size_t i = 0; i < size; i++)
        logits[i] -= total;

    struct tw_rules_margin m = {
        .timestamp_mass = tw_log_sum_exp(logits + text, size - text),
        .best_text = logits[tw_argmax(logits, text)],
    };
    if (m.timestamp_mass > m.best_text)
        mask(logits, 0, v->timestamp_first);
    if (margin != NULL)
        *margin = m;
}
