/* What is wrong with the text, and where. */
#include "isa/as/state.h"

#include <stdarg.h>
#include <string.h>

enum { TEXT_MAX = 1024 };

/* The column, from 0, that a column of an expanded line comes from. */
static size_t column_before(const struct tw_as_line *line, size_t column)
{
    for (size_t i = line->n_map; i > 0; i--) {
        const struct tw_as_stretch *s = &line->map[i - 1];
        if (s->from <= column)
            return s->copied ? s->to + (column - s->from) : s->to;
    }
    return column;
}

struct tw_as_place tw_as_place_of(const struct tw_as_line *line, const char *at)
{
    struct tw_as_place place = {line->file, line->line, 0};

    if (at == NULL)
        return place;
    size_t column = (size_t)(at - line->text);
    for (; line->origin != NULL; line = line->origin)
        column = column_before(line, column);
    place.column = (unsigned)column + 1;
    return place;
}

int tw_as_no_memory(struct tw_as *a)
{
    a->stop = 1;
    if (a->code == 0)
        a->code = tw_fail(&a->first_error, TW_E_MEMORY, "no memory to assemble '%s'", a->out.source_name);
    return 1;
}

static char *keep(struct tw_as *a, const char *text)
{
    char *copy = tw_as_pool_text(&a->pool, text, strlen(text));

    if (copy == NULL)
        tw_as_no_memory(a);
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return copy;
}

const struct tw_as_trace *tw_as_trace_push(struct tw_as *a, const struct tw_as_trace *next, struct tw_as_place place,
                                           const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct tw_as_trace *t = tw_as_pool_take(&a->pool, sizeof *t);
    const char *kept = keep(a, text);
    if (t == NULL || kept == NULL) {
        tw_as_no_memory(a);
        return NULL;
    }
    *t = (struct tw_as_trace){place, kept, next};
    return t;
}

static void append(struct tw_as *a, const struct tw_as_message *message)
{
    if (tw_grow(&a->out.messages, a->out.n_messages, &a->room_messages, sizeof *message) != 0) {
        tw_as_no_memory(a);
        return;
    }
    a->out.messages[a->out.n_messages++] = *message;
}

void tw_as_message(struct tw_as *a, enum tw_severity severity, const char *kind, const struct tw_as_line *line,
                   const char *at, const struct tw_as_trace *trace, const char *text)
{
    struct tw_as_message m = {severity, kind, {a->out.source_name, 0, 0}, keep(a, text), trace};

    if (m.text == NULL || (severity == TW_SEVERITY_ERROR && a->out.n_errors == TW_AS_ERRORS_MAX))
        return;
    if (line != NULL)
        m.place = tw_as_place_of(line, at);
    append(a, &m);
    a->out.n_warnings += severity == TW_SEVERITY_WARNING;
    if (severity != TW_SEVERITY_ERROR)
        return;
    if (a->out.n_errors++ == 0)
        tw_fail(&a->first_error, TW_E_FORMAT, "%s:%u:%u: %s", m.place.file, m.place.line, m.place.column, m.text);
    if (a->out.n_errors < TW_AS_ERRORS_MAX)
        return;
    m = (struct tw_as_message){TW_SEVERITY_NOTE, "limit", m.place, "no more errors are listed", NULL};
    append(a, &m);
    a->stop = 1;
}

static int fault(struct tw_as *a, const struct tw_as_line *line, const char *at, const char *fmt, va_list args)
{
    char text[TEXT_MAX];

    vsnprintf(text, sizeof text, fmt, args);
    tw_as_message(a, TW_SEVERITY_ERROR, "syntax", line, at, line == NULL ? NULL : line->trace, text);
    return 1;
}

int tw_as_fault(struct tw_as *a, const char *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fault(a, a->line, at, fmt, args);
    va_end(args);
    return 1;
}

int tw_as_fault_in(struct tw_as *a, const struct tw_as_line *line, const char *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fault(a, line, at, fmt, args);
    va_end(args);
    return 1;
}
