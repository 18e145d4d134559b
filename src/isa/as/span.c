/* Cutting pieces from a line. */
#include "isa/as/state.h"

#include <string.h>

struct tw_as_span tw_as_trim(struct tw_as_span s)
{
    while (s.size > 0 && tw_as_is_space(s.text[0]))
        s.text++, s.size--;
    while (s.size > 0 && tw_as_is_space(s.text[s.size - 1]))
        s.size--;
    return s;
}

/* Drops n characters and the spaces behind them. */
static void advance(struct tw_as_span *s, size_t n)
{
    s->text += n;
    s->size -= n;
    *s = tw_as_trim(*s);
}

struct tw_as_span tw_as_take_name(struct tw_as_span *s)
{
    *s = tw_as_trim(*s);
    struct tw_as_span name = {s->text, 0};
    while (name.size < s->size &&
           (tw_as_is_letter(s->text[name.size]) || (name.size > 0 && tw_as_is_digit(s->text[name.size]))))
        name.size++;
    advance(s, name.size);
    return name;
}

int tw_as_take(struct tw_as_span *s, char c)
{
    *s = tw_as_trim(*s);
    if (s->size == 0 || s->text[0] != c)
        return 0;
    advance(s, 1);
    return 1;
}

/* The end of the text in quotes that begins at i. */
static size_t quoted_end(struct tw_as_span s, size_t i)
{
    size_t end = i + 1;

    while (end < s.size && s.text[end] != '"')
        end += s.text[end] == '\\' ? 2 : 1;
    return end < s.size ? end + 1 : s.size;
}

/* The end of the character constant that begins at i, or i + 1 when it is none. */
static size_t character_end(struct tw_as_span s, size_t i)
{
    size_t end = i + (i + 1 < s.size && s.text[i + 1] == '\\' ? 3 : 2);
    return end < s.size && s.text[end] == '\'' ? end + 1 : i + 1;
}

int tw_as_take_item(struct tw_as_span *s, struct tw_as_span *item)
{
    size_t i = 0;
    int depth = 0;

    while (i < s->size && (s->text[i] != ',' || depth > 0)) {
        char c = s->text[i];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        i = c == '"' ? quoted_end(*s, i) : c == '\'' ? character_end(*s, i) : i + 1;
    }
    int more = i < s->size;
    *item = tw_as_trim((struct tw_as_span){s->text, i});
    advance(s, more ? i + 1 : i);
    return more;
}

int tw_as_take_quoted(struct tw_as_span *s, struct tw_as_span *inside)
{
    *s = tw_as_trim(*s);
    if (s->size < 2 || s->text[0] != '"')
        return 1;
    size_t end = quoted_end(*s, 0);
    if (end < 2 || s->text[end - 1] != '"')
        return 1;
    *inside = (struct tw_as_span){s->text + 1, end - 2};
    advance(s, end);
    return 0;
}

int tw_as_equals(struct tw_as_span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.text, text, s.size) == 0;
}

int tw_as_same(struct tw_as_span a, struct tw_as_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.text, b.text, a.size) == 0);
}

int tw_as_width(struct tw_as_span s)
{
    return s.size < 60 ? (int)s.size : 60;
}
