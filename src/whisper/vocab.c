#include "whisper/vocab.h"

#include <stdlib.h>
#include <string.h>

/* Vocabularies that were published: English only, 99 languages, 100 languages (large-v3). */
#define SIZE_ENGLISH 51864
#define SIZE_99 51865
#define SIZE_100 51866

int tw_vocab_layout(struct tw_vocab *v, int32_t size, struct tw_error *err)
{
    if (size != SIZE_ENGLISH && size != SIZE_99 && size != SIZE_100)
        return tw_fail(err, TW_E_UNSUPPORTED, "a vocabulary of %d tokens is none of Whisper's (%d, %d or %d)",
                       (int)size, SIZE_ENGLISH, SIZE_99, SIZE_100);
    v->size = size;
    v->multilingual = size != SIZE_ENGLISH;
    v->languages = v->multilingual ? 99 + (size - SIZE_99) : 0;
    /* English-only models keep the 99 language tokens, though they never see one. */
    int32_t language_tokens = v->multilingual ? v->languages : 99;
    v->text_size = v->multilingual ? 50257 : 50256;
    v->end_of_text = v->text_size;
    v->start = v->end_of_text + 1;
    v->language_first = v->start + 1;
    v->translate = v->language_first + language_tokens;
    v->transcribe = v->translate + 1;
    v->start_lm = v->translate + 2;
    v->previous = v->translate + 3;
    v->no_speech = v->translate + 4;
    v->no_timestamps = v->translate + 5;
    v->timestamp_first = v->translate + 6;
    return TW_OK;
}

/* FNV-1a. */
static uint32_t hash_of(const char *bytes, size_t size)
{
    uint32_t h = 0x811c9dc5u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)bytes[i]) * 0x01000193u;
    return h;
}

/* The slot that holds the token of these bytes (number + 1), or the free one (0) where it would go. */
static uint32_t *slot_of(const struct tw_vocab *v, const char *bytes, size_t size)
{
    uint32_t i = hash_of(bytes, size) & v->hash_mask;
    for (; v->hash[i] != 0; i = (i + 1) & v->hash_mask) {
        const struct tw_token_text *t = &v->text[v->hash[i] - 1];
        if (t->size == size && memcmp(t->bytes, bytes, size) == 0)
            break;
    }
    return &v->hash[i];
}

int tw_vocab_index(struct tw_vocab *v, struct tw_error *err)
{
    uint32_t slots = 1;
    while (slots / 2 < (uint32_t)v->text_size)
        slots *= 2;
    v->hash = calloc(slots, sizeof *v->hash);
    if (v->hash == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the index of %d tokens", (int)v->text_size);
    v->hash_mask = slots - 1;
    /* Of tokens with the same bytes (old files have many that are only U+FFFD) the last one counts, as elsewhere. */
    for (int32_t i = 0; i < v->text_size; i++)
        *slot_of(v, v->text[i].bytes, v->text[i].size) = (uint32_t)i + 1;
    return TW_OK;
}

void tw_vocab_release(struct tw_vocab *v)
{
    free(v->hash);
    v->hash = NULL;
    v->hash_mask = 0;
}

enum class { SPACE, LETTER, DIGIT, OTHER };

/*
 * Every byte of a UTF-8 sequence counts as a letter, so that "café" stays one word. (whisper.cpp's regular expression
 * sees such bytes as neither letter nor digit and cuts there.) For the few that are no letters this makes no
 * difference: the tokens were learnt from text cut at such places, and none reaches across.
 */
static enum class class_of(unsigned char c) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) return SPACE;
    if (c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LETTER;
    return c >= '0' && c <= '9' ? DIGIT : OTHER;
}

/* Bytes from `from` on that are of the same class as the first. */
static size_t run_length(const char *text, size_t from, size_t size)
{
    enum class class = class_of((unsigned char)text[from]);
    size_t end = from + 1;
    while (end < size && class_of((unsigned char)text[end]) == class)
        end++;
    return end - from;
}

/* Length of an English ending ('s, 're …) at the start of text, or 0. */
static size_t ending_length(const char *text, size_t size)
{
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t n = strlen(endings[i]);
        if (size >= n && memcmp(text, endings[i], n) == 0)
            return n;
    }
    return 0;
}

/*
 * Length of the first word of GPT-2's pattern: an ending, a run of one class with one space before it, or white space
 * without the last character, which belongs to what follows.
 */
static size_t word_length(const char *text, size_t size)
{
    size_t ending = ending_length(text, size);
    if (ending > 0)
        return ending;
    size_t run = run_length(text, 0, size);
    if (class_of((unsigned char)text[0]) != SPACE)
        return run;
    if (run > 1 && run < size)
        return run - 1;
    if (run == 1 && text[0] == ' ' && size > 1)
        return 1 + run_length(text, 1, size);
    return run;
}

static size_t longest_token(const struct tw_vocab *v)
{
    size_t longest = 0;
    for (int32_t i = 0; i < v->text_size; i++)
        if (v->text[i].size > longest)
            longest = v->text[i].size;
    return longest;
}

/* The longest token at the start of word; its length, or 0 when even the first byte is no token. */
static size_t match(const struct tw_vocab *v, const char *word, size_t size, int32_t *token)
{
    for (; size > 0; size--) {
        uint32_t found = *slot_of(v, word, size);
        if (found != 0) {
            *token = (int32_t)found - 1;
            break;
        }
    }
    return size;
}

int64_t tw_vocab_encode(const struct tw_vocab *v, const char *text, size_t size, int32_t *tokens, size_t max,
                        struct tw_error *err)
{
    if (v->hash == NULL)
        return tw_fail(err, TW_E_STATE, "text cannot be turned into tokens before the vocabulary has its index");
    size_t longest = longest_token(v), count = 0;
    while (size > 0) {
        size_t left = word_length(text, size);
        size -= left;
        while (left > 0) {
            int32_t token;
            size_t n = match(v, text, left < longest ? left : longest, &token);
            if (n > 0 && count++ < max)
                tokens[count - 1] = token;
            /* Old files lack the tokens of single bytes; such a byte is dropped, there is no way to say it. */
            n = n > 0 ? n : 1;
            text += n;
            left -= n;
        }
    }
    return (int64_t)count;
}
