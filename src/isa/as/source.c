/* Files, macros and repetitions to lines without comments. */
#include "isa/as/state.h"

#include <string.h>

enum { CHARACTERS_MAX = 1 << 26 };

/* ---- comments */

/* The end of a text in quotes or of a character constant that begins at i, or i + 1 when nothing of that kind does. */
static size_t skip_quoted(const char *text, size_t size, size_t i)
{
    char quote = text[i];
    size_t end = i + 1;

    while (end < size && text[end] != quote)
        end += text[end] == '\\' && end + 1 < size ? 2 : 1;
    if (end >= size || (quote == '\'' && end > i + 3))
        return i + 1;
    return end + 1;
}

static size_t find_comment_end(const char *text, size_t size, size_t i)
{
    for (; i + 1 < size; i++)
        if (text[i] == '*' && text[i + 1] == '/')
            return i + 2;
    return size + 1;
}

/* Where a comment begins at or behind i; size when none does. */
static size_t find_comment(const char *text, size_t size, size_t i)
{
    while (i < size) {
        if (text[i] == '/' && i + 1 < size && (text[i + 1] == '/' || text[i + 1] == '*'))
            return i;
        i = text[i] == '"' || text[i] == '\'' ? skip_quoted(text, size, i) : i + 1;
    }
    return size;
}

/* Takes the comments out of a line; in their place are spaces, so that columns stay. */
static int strip(struct tw_as *a, struct tw_as_input *in, struct tw_as_line *line)
{
    size_t at = in->comment != NULL ? 0 : find_comment(line->text, line->size, 0);
    char *copy = NULL;

    while (at < line->size || in->comment != NULL) {
        if (in->comment == NULL && line->text[at + 1] == '/') {
            line->size = at;
            break;
        }
        if (copy == NULL) {
            copy = tw_as_pool_text(&a->pool, line->text, line->size);
            if (copy == NULL)
                return tw_as_no_memory(a);
            line->text = copy;
        }
        size_t end = find_comment_end(copy, line->size, in->comment != NULL ? at : at + 2);
        int ended = end <= line->size;
        memset(copy + at, ' ', (ended ? end : line->size) - at);
        in->comment = ended ? NULL : in->comment != NULL ? in->comment : line;
        if (!ended)
            break;
        at = find_comment(copy, line->size, end);
    }
    return 0;
}

/* ---- inputs */

int tw_as_push(struct tw_as *a, const struct tw_as_input *input)
{
    if (a->depth == TW_AS_DEPTH_MAX)
        return tw_as_fault(a, NULL, "macros, repetitions and includes stand more than %d deep inside each other",
                           TW_AS_DEPTH_MAX);
    struct tw_as_input *copy = tw_as_pool_take(&a->pool, sizeof *copy);
    if (copy == NULL)
        return tw_as_no_memory(a);
    *copy = *input;
    copy->below = a->input;
    copy->conditions = a->n_conditions;
    a->input = copy;
    a->depth++;
    return 0;
}

int tw_as_open(struct tw_as *a, const struct tw_as_text *text, const struct tw_as_trace *trace)
{
    struct tw_as_input in = {.trace = trace, .size = text->size};

    in.file = tw_as_pool_text(&a->pool, text->name, strlen(text->name));
    in.text = tw_as_pool_text(&a->pool, text->text, text->size);
    if (in.file == NULL || in.text == NULL)
        return tw_as_no_memory(a);
    return tw_as_push(a, &in);
}

static void pop(struct tw_as *a)
{
    struct tw_as_input *in = a->input;

    if (in->comment != NULL)
        tw_as_fault_in(a, in->comment, NULL, "this comment has no */");
    tw_as_close_conditions(a, in->conditions);
    a->input = in->below;
    a->depth--;
}

void tw_as_end(struct tw_as *a)
{
    for (struct tw_as_input *in = a->input; in != NULL; in = in->below) {
        in->at = in->size;
        in->turns = 0;
    }
}

/* ---- lines */

static int next_of_file(struct tw_as *a, struct tw_as_input *in, const struct tw_as_line **line)
{
    if (in->at == in->size)
        return 0;
    const char *text = in->text + in->at;
    const char *end = memchr(text, '\n', in->size - in->at);
    size_t size = end == NULL ? in->size - in->at : (size_t)(end - text);
    in->at += size + (end != NULL);
    in->line++;

    struct tw_as_line *l = tw_as_pool_take(&a->pool, sizeof *l);
    if (l == NULL)
        return -tw_as_no_memory(a);
    *l = (struct tw_as_line){text, size, in->file, in->line, in->trace, NULL, NULL, 0};
    if (size > AS_LINE_MAX) {
        tw_as_fault_in(a, l, NULL, "a line of %zu characters is too long: at most %d are taken", size, AS_LINE_MAX);
        l->size = 0;
    }
    *line = l;
    return strip(a, in, l) != 0 ? -1 : 1;
}

static int next_of_body(struct tw_as *a, struct tw_as_input *in, const struct tw_as_line **line)
{
    if (in->body->n > 0 && in->next == in->body->n) {
        in->next = 0;
        in->turn++;
    }
    if (in->turn >= in->turns || in->body->n == 0)
        return 0;
    *line = tw_as_expand(a, in, in->body->lines[in->next++]);
    return *line == NULL ? -1 : 1;
}

int tw_as_next_here(struct tw_as *a, const struct tw_as_line **line)
{
    struct tw_as_input *in = a->input;

    if (a->stop)
        return -1;
    int code = in->body == NULL ? next_of_file(a, in, line) : next_of_body(a, in, line);
    if (code <= 0)
        return code;
    a->n_characters += (*line)->size;
    if (++a->n_lines > AS_LINES_MAX || a->n_characters > CHARACTERS_MAX) {
        tw_as_fault_in(a, *line, NULL, "with macros and repetitions the text has more than %d lines or %d characters",
                       AS_LINES_MAX, CHARACTERS_MAX);
        a->stop = 1;
        return -1;
    }
    return 1;
}

int tw_as_next(struct tw_as *a, const struct tw_as_line **line)
{
    while (a->input != NULL && !a->stop) {
        int code = tw_as_next_here(a, line);
        if (code > 0)
            return 1;
        if (code == 0)
            pop(a);
    }
    return 0;
}
