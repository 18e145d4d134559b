#include "whisper/transcript.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD in UTF-8 */

struct lead {
    size_t more;             /* bytes that follow the first; 0: no character begins so */
    unsigned char low, high; /* bounds of the second byte; all later ones are 80..BF */
};

/* The well-formed sequences of the Unicode standard (table 3-7): no overlong forms, surrogates, or beyond U+10FFFF. */
static struct lead lead_of(unsigned char c)
{
    if (c < 0xc2 || c > 0xf4)
        return (struct lead){0, 0, 0};
    if (c < 0xe0)
        return (struct lead){1, 0x80, 0xbf};
    if (c < 0xf0)
        return (struct lead){2, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf};
    return (struct lead){3, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf};
}

/*
 * Bytes of the character at s, which has n >= 1; *valid says whether it is one. If not, the bytes are the longest start
 * of a character there, or one byte: what Unicode recommends to replace by one U+FFFD. A zero byte counts as invalid,
 * because it would end the string.
 */
static size_t sequence(const unsigned char *s, size_t n, int *valid)
{
    *valid = s[0] != 0 && s[0] < 0x80;
    if (s[0] < 0x80)
        return 1;
    struct lead lead = lead_of(s[0]);
    size_t used = 1;
    while (used <= lead.more && used < n) {
        unsigned char low = used == 1 ? lead.low : 0x80, high = used == 1 ? lead.high : 0xbf;
        if (s[used] < low || s[used] > high)
            return used;
        used++;
    }
    *valid = lead.more > 0 && used == lead.more + 1;
    return used;
}

/* A terminated copy of size bytes with everything invalid replaced; NULL when there is no memory. */
static char *valid_text(const char *text, size_t size)
{
    size_t room;
    if (tw_mul_size(size, sizeof REPLACEMENT - 1, &room) || room == SIZE_MAX)
        return NULL;
    char *copy = malloc(room + 1);
    if (copy == NULL)
        return NULL;
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0;
    for (size_t i = 0; i < size;) {
        int valid;
        size_t n = sequence(s + i, size - i, &valid);
        const char *from = valid ? text + i : REPLACEMENT;
        size_t bytes = valid ? n : sizeof REPLACEMENT - 1;
        memcpy(copy + used, from, bytes);
        used += bytes;
        i += n;
    }
    copy[used] = '\0';
    return copy;
}

static int make_room(struct tw_transcript *t)
{
    if (t->n_segments < t->segment_room)
        return 0;
    size_t room = t->segment_room == 0 ? 16 : t->segment_room, bytes;
    if (tw_mul_size(room, 2 * sizeof *t->segments, &bytes))
        return -1;
    struct tw_segment *grown = realloc(t->segments, bytes);
    if (grown == NULL)
        return -1;
    t->segments = grown;
    t->segment_room = 2 * room;
    return 0;
}

/* NULL with n == 0 is a good copy too. */
static int copy_tokens(const int32_t *tokens, size_t n, int32_t **copy)
{
    size_t bytes;
    *copy = NULL;
    if (n == 0)
        return 0;
    if (tw_mul_size(n, sizeof *tokens, &bytes) || (*copy = malloc(bytes)) == NULL)
        return -1;
    memcpy(*copy, tokens, bytes);
    return 0;
}

int tw_transcript_add(struct tw_transcript *t, double start, double end, const char *text, size_t size,
                      const int32_t *tokens, size_t n_tokens, struct tw_error *err)
{
    struct tw_segment s = {.start = start, .end = end, .n_tokens = n_tokens};
    s.text = valid_text(text, size);
    if (s.text == NULL || copy_tokens(tokens, n_tokens, &s.tokens) || make_room(t)) {
        free(s.text);
        free(s.tokens);
        return tw_fail(err, TW_E_MEMORY, "there is no memory for segment %zu of the transcript", t->n_segments + 1);
    }
    t->segments[t->n_segments++] = s;
    return 0;
}

void tw_transcript_release(struct tw_transcript *t)
{
    for (size_t i = 0; i < t->n_segments; i++) {
        free(t->segments[i].text);
        free(t->segments[i].tokens);
    }
    free(t->segments);
    *t = (struct tw_transcript){0};
}
