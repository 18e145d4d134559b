#include "whisper/vocab_file.h"

#include "whisper/model_parts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct tw_vocab *v;
    const char *file;
    char *out; /* where the next token's bytes go */
    int32_t count;
    struct tw_error *err;
};

/*
 * GPT-2's alphabet gives every byte a printable character: the printable ones of Latin-1 stand for themselves, the
 * other 68 bytes, in order, for the characters from 256 on. The byte of a character, or -1.
 */
static int byte_of(unsigned c)
{
    if ((c >= 33 && c <= 126) || (c >= 161 && c <= 172) || (c >= 174 && c <= 255))
        return (int)c;
    if (c < 256 || c >= 256 + 68)
        return -1;
    c -= 256;
    if (c < 33)
        return (int)c;
    return c < 67 ? (int)(127 + c - 33) : 173;
}

/* One character of at most two UTF-8 bytes, all that the alphabet needs; its bytes, or 0 when it is another. */
static size_t character(const unsigned char *s, size_t size, unsigned *c)
{
    if (s[0] < 0x80) {
        *c = s[0];
        return 1;
    }
    if (size < 2 || s[0] < 0xc2 || s[0] > 0xdf || (s[1] & 0xc0) != 0x80)
        return 0;
    *c = (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    return 2;
}

static int unusable(struct reader *r, const char *why)
{
    return tw_fail(r->err, TW_E_FORMAT, "'%s' is not this model's vocabulary: token %d %s", r->file, (int)r->count,
                   why);
}

static int add_text(struct reader *r, const unsigned char *s, size_t size)
{
    char *start = r->out;
    for (size_t at = 0, n; at < size; at += n) {
        unsigned c = 0;
        n = character(s + at, size - at, &c);
        int byte = n == 0 ? -1 : byte_of(c);
        if (byte < 0)
            return unusable(r, "has a character outside GPT-2's byte alphabet");
        *r->out++ = (char)byte;
    }
    if (r->out - start > TW_MODEL_TOKEN_BYTES_MAX)
        return unusable(r, "is too long");
    r->v->text[r->count] = (struct tw_token_text){start, (uint32_t)(r->out - start)};
    return TW_OK;
}

static int add(struct reader *r, const char *s, size_t size)
{
    int code = TW_OK;
    if (r->count < r->v->text_size)
        code = add_text(r, (const unsigned char *)s, size);
    else if (r->count == r->v->text_size && (size != strlen(TW_END_OF_TEXT) || memcmp(s, TW_END_OF_TEXT, size) != 0))
        code = unusable(r, "should be " TW_END_OF_TEXT);
    else if (r->count >= r->v->size)
        code = unusable(r, "is one more than the model has");
    r->count++;
    return code;
}

static int read_lines(struct reader *r, const char *data, size_t size)
{
    int code = TW_OK;
    while (size > 0 && code == TW_OK) {
        const char *end = memchr(data, '\n', size);
        size_t line = end == NULL ? size : (size_t)(end - data), step = end == NULL ? line : line + 1;
        /* A carriage return is no character of the alphabet: it is from an editor's line ends. */
        code = add(r, data, line > 0 && data[line - 1] == '\r' ? line - 1 : line);
        data += step;
        size -= step;
    }
    return code;
}

static int read_json(struct reader *r, const char *data, size_t size)
{
    json_error_t why;
    json_t *list = json_loadb(data, size, JSON_REJECT_DUPLICATES, &why);
    if (list == NULL)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is not JSON: %s in line %d", r->file, why.text, why.line);
    int code = TW_OK;
    if (!json_is_array(list))
        code = tw_fail(r->err, TW_E_FORMAT, "'%s' is not a list of tokens", r->file);
    for (size_t i = 0; code == TW_OK && i < json_array_size(list); i++) {
        const json_t *token = json_array_get(list, i);
        code = json_is_string(token) ? add(r, json_string_value(token), json_string_length(token))
                                     : unusable(r, "is not a string");
    }
    json_decref(list);
    return code;
}

int tw_vocab_read(struct tw_vocab *v, const void *data, size_t size, int json, const char *file, char **bytes,
                  struct tw_error *err)
{
    /* A token never has more bytes than its spelling in the file. */
    *bytes = malloc(size + 1);
    if (*bytes == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the vocabulary '%s'", file);
    struct reader r = {.v = v, .file = file, .out = *bytes, .err = err};
    int code = json ? read_json(&r, data, size) : read_lines(&r, data, size);
    if (code == TW_OK && r.count <= v->text_size)
        code = tw_fail(err, TW_E_FORMAT, "'%s' is cut short or not this model's vocabulary: %d tokens instead of %d",
                       file, (int)r.count, (int)v->size);
    return code;
}
