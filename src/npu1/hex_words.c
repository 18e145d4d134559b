#include "npu1/hex_words.h"

#include "npu1/byte_list.h"

#include <string.h>

/* A place in the text. */
struct cursor {
    const unsigned char *at, *end;
    unsigned line;
};

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

static int is_comment(const struct cursor *c)
{
    return *c->at == '#' || (*c->at == '/' && c->end - c->at > 1 && c->at[1] == '/');
}

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (is_blank(*c->at) || is_comment(c))) {
        if (is_comment(c))
            while (c->at < c->end && *c->at != '\n')
                c->at++;
        if (c->at < c->end && *c->at == '\n')
            c->line++;
        if (c->at < c->end)
            c->at++;
    }
}

static int digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (unsigned char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a word of one to eight digits with a blank or the end behind it. Returns 0 when there is none. */
static int read_word(struct cursor *c, uint32_t *word)
{
    unsigned n = 0;
    if (c->end - c->at > 2 && c->at[0] == '0' && (c->at[1] | 0x20) == 'x')
        c->at += 2;
    for (*word = 0; c->at < c->end && digit(*c->at) >= 0 && n <= 8; c->at++, n++)
        *word = *word << 4 | (uint32_t)digit(*c->at);
    return n >= 1 && n <= 8 && (c->at == c->end || is_blank(*c->at) || is_comment(c));
}

int tw_hex_words_recognise(const struct tw_view *view)
{
    struct cursor c = {view->data, view->data + view->size, 1};
    uint32_t word;
    if (view->size == 0)
        return 0;
    skip_blanks(&c);
    return c.at < c.end && read_word(&c, &word);
}

int tw_hex_words_read(const struct tw_view *view, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    struct cursor c = {view->data, view->data, 1};
    struct tw_byte_list list = {0};
    int code = TW_OK;
    if (view->size > 0)
        c.end += view->size;
    for (skip_blanks(&c); code == 0 && c.at < c.end; skip_blanks(&c)) {
        uint32_t word;
        if (read_word(&c, &word))
            tw_byte_list_word(&list, word);
        else
            code = tw_fail(err, TW_E_FORMAT,
                           "'%s', line %u: no hexadecimal word of at most eight digits with a blank behind it",
                           view->file, c.line);
    }
    if (code == 0 && list.size == 0 && !list.failed)
        code = tw_fail(err, TW_E_FORMAT, "'%s' holds no words", view->file);
    if (code == 0 && list.failed)
        code = tw_fail(err, TW_E_MEMORY, "no memory for the words of '%s'", view->file);
    if (code < 0) {
        tw_byte_list_free(&list);
        return code;
    }
    *bytes = list.bytes;
    *size = list.size;
    return TW_OK;
}
