#include "reference.h"

#include "base/file_map.h"
#include "text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t length_by_lead(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Bytes of the UTF-8 character at the front of s, or 0 when there is none. */
static size_t character(const unsigned char *s, size_t size)
{
    size_t n = length_by_lead(s[0]);
    if (n == 0 || n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/*
 * The file's strings hold control characters and, where a segment ends within a character, parts of UTF-8 sequences; no
 * JSON reader takes either.
 */
static char *clean(const char *json, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < size;) {
        size_t n = character((const unsigned char *)json + i, size - i);
        memcpy(copy + i, json + i, n);
        if (n == 0 || (n == 1 && (unsigned char)json[i] < ' ')) {
            copy[i] = n == 0 ? '?' : ' ';
            n = 1;
        }
        i += n;
    }
    copy[size] = 0;
    return copy;
}

static void add_token(struct replay_segment *s, int32_t id, double logprob)
{
    s->tokens[s->n++] = (struct replay_token){id, logprob};
}

/*
 * Where several tokens share a character, the file has one entry with the number of the first and the text of all. The
 * others are found again from the bytes that the first does not have.
 */
static int add_rest(struct replay_segment *s, const char *text, int32_t first, const struct tw_vocab *vocab,
                    struct tw_error *err)
{
    int32_t more[16];
    struct tw_token_text own = vocab->text[first];
    size_t size = strlen(text);
    if (size <= own.size || memcmp(text, own.bytes, own.size) != 0)
        return TW_OK;
    int64_t n = tw_vocab_encode(vocab, text + own.size, size - own.size, more, 16, err);
    if (n < 0)
        return (int)n;
    if (n > 16)
        return tw_fail(err, TW_E_LIMIT, "an entry of more than 16 tokens");
    for (int64_t i = 0; i < n; i++)
        add_token(s, more[i], NAN);
    return TW_OK;
}

static int read_token(struct replay_segment *s, const json_t *entry, const struct tw_vocab *vocab, struct tw_error *err)
{
    json_t *id = json_object_get(entry, "id"), *p = json_object_get(entry, "p");
    const char *text = json_string_value(json_object_get(entry, "text"));
    json_int_t number = json_integer_value(id);
    if (!json_is_integer(id) || !json_is_number(p) || text == NULL || number < 0 || number >= vocab->size)
        return tw_fail(err, TW_E_FORMAT, "a token without text, number or probability, or not of this model");
    add_token(s, (int32_t)number, log(json_number_value(p)));
    return number < vocab->text_size ? add_rest(s, text, (int32_t)number, vocab, err) : TW_OK;
}

/* Tokens that an array of entries may become: a text of n bytes has at most n. */
static size_t tokens_room(const json_t *entries)
{
    size_t room = 0;
    for (size_t i = 0; i < json_array_size(entries); i++)
        room += 1 + json_string_length(json_object_get(json_array_get(entries, i), "text"));
    return room;
}

static int read_segment(struct replay_segment *s, const json_t *entry, const struct tw_vocab *vocab,
                        struct tw_error *err)
{
    json_t *offsets = json_object_get(entry, "offsets"), *tokens = json_object_get(entry, "tokens");
    json_t *from = json_object_get(offsets, "from"), *to = json_object_get(offsets, "to");
    if (!json_is_integer(from) || !json_is_integer(to) || json_array_size(tokens) == 0)
        return tw_fail(err, TW_E_FORMAT, "a segment without times or tokens; was it written with -ojf?");
    s->from = json_integer_value(from) / 10;
    s->to = json_integer_value(to) / 10;
    s->tokens = malloc(tokens_room(tokens) * sizeof *s->tokens);
    if (s->tokens == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a segment");
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        int code = read_token(s, json_array_get(tokens, i), vocab, err);
        if (code != TW_OK)
            return code;
    }
    return TW_OK;
}

static int read_segments(struct replay_reference *reference, const json_t *root, const struct tw_vocab *vocab,
                         struct tw_error *err)
{
    json_t *list = json_object_get(root, "transcription");
    if (!json_is_array(list))
        return tw_fail(err, TW_E_FORMAT, "no list 'transcription'");
    size_t n = json_array_size(list);
    reference->segments = calloc(n + 1, sizeof *reference->segments);
    if (reference->segments == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu segments", n);
    for (; reference->n < n; reference->n++) {
        int code = read_segment(&reference->segments[reference->n], json_array_get(list, reference->n), vocab, err);
        if (code != TW_OK) {
            reference->n++; /* it may hold tokens */
            return code;
        }
    }
    return TW_OK;
}

int replay_reference_parse(const char *json, size_t size, const char *name, const struct tw_vocab *vocab,
                           struct replay_reference *reference, struct tw_error *err)
{
    memset(reference, 0, sizeof *reference);
    char *copy = clean(json, size);
    if (copy == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to read '%s'", name);
    json_error_t at;
    json_t *root = json_loadb(copy, size, 0, &at);
    free(copy);
    if (root == NULL)
        return tw_fail(err, TW_E_FORMAT, "'%s' is not JSON: line %d: %s", name, at.line, at.text);
    struct tw_error why = {0};
    int code = read_segments(reference, root, vocab, &why);
    json_decref(root);
    return code == TW_OK ? TW_OK : tw_fail(err, code, "'%s' is not a transcript of whisper.cpp: %s", name, why.text);
}

int replay_reference_load(const char *path, const struct tw_vocab *vocab, struct replay_reference *reference,
                          struct tw_error *err)
{
    struct tw_file_map map;
    memset(reference, 0, sizeof *reference);
    int code = tw_file_map_open(path, &map, err);
    if (code != TW_OK)
        return code;
    code = replay_reference_parse((const char *)map.data, map.size, path, vocab, reference, err);
    tw_file_map_close(&map);
    return code;
}

void replay_reference_release(struct replay_reference *reference)
{
    for (size_t i = 0; i < reference->n; i++)
        free(reference->segments[i].tokens);
    free(reference->segments);
    memset(reference, 0, sizeof *reference);
}

char *replay_reference_text(const struct replay_reference *reference, const struct tw_vocab *vocab)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    for (size_t i = 0; i < reference->n; i++)
        for (size_t j = 0; j < reference->segments[i].n; j++)
            replay_put_token(to, vocab, reference->segments[i].tokens[j].id);
    return replay_end_text(to, &text);
}
