/* Pieces of text: what scheduled code is read by. */
#ifndef TW_ISA_SCHED_SPAN_H
#define TW_ISA_SCHED_SPAN_H

#include <stddef.h>
#include <string.h>

struct tw_sched_span {
    const char *text;
    size_t size;
};

static inline int tw_sched_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline int tw_sched_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '%' || c == '$';
}

static inline struct tw_sched_span tw_sched_trim(struct tw_sched_span s)
{
    while (s.size > 0 && tw_sched_is_space(s.text[0]))
        s.text++, s.size--;
    while (s.size > 0 && tw_sched_is_space(s.text[s.size - 1]))
        s.size--;
    return s;
}

static inline int tw_sched_equals(struct tw_sched_span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.text, text, s.size) == 0;
}

static inline int tw_sched_same(struct tw_sched_span a, const char *text, size_t size)
{
    return a.size == size && memcmp(a.text, text, size) == 0;
}

/* Takes the name at the front of a text; empty when there is none. */
static inline struct tw_sched_span tw_sched_take_name(struct tw_sched_span *s)
{
    *s = tw_sched_trim(*s);
    struct tw_sched_span name = {s->text, 0};
    while (name.size < s->size && tw_sched_is_name(s->text[name.size]))
        name.size++;
    s->text += name.size;
    s->size -= name.size;
    *s = tw_sched_trim(*s);
    return name;
}

static inline int tw_sched_take(struct tw_sched_span *s, char c)
{
    *s = tw_sched_trim(*s);
    if (s->size == 0 || s->text[0] != c)
        return 0;
    s->text++;
    s->size--;
    *s = tw_sched_trim(*s);
    return 1;
}

/* What stands before a character, which is taken too; all of it when the character is not there. */
static inline struct tw_sched_span tw_sched_take_until(struct tw_sched_span *s, char c)
{
    const char *end = s->size == 0 ? NULL : memchr(s->text, c, s->size);
    struct tw_sched_span head = {s->text, end == NULL ? s->size : (size_t)(end - s->text)};

    s->text += head.size + (end != NULL);
    s->size -= head.size + (end != NULL);
    return head;
}

static inline struct tw_sched_span tw_sched_take_word(struct tw_sched_span *s)
{
    *s = tw_sched_trim(*s);
    struct tw_sched_span word = {s->text, 0};
    while (word.size < s->size && !tw_sched_is_space(s->text[word.size]))
        word.size++;
    s->text += word.size;
    s->size -= word.size;
    return word;
}

#endif
