/* Bodies of macros and repetitions, and arguments put in their places. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bodies */

static struct tw_as_span first_word(const struct tw_as_line *line)
{
    struct tw_as_span s = {line->text, line->size};
    return tw_as_take_name(&s);
}

/* Reads lines up to the one that begins with `end`; the same kind may stand inside. */
static int collect(struct tw_as *a, const char *at, const char *begin, const char *end, struct tw_as_body *body)
{
    const struct tw_as_line *line, *start = a->line;
    unsigned depth = 1;
    int code;

    while ((code = tw_as_next_here(a, &line)) > 0) {
        struct tw_as_span word = first_word(line);
        depth += tw_as_equals(word, begin);
        if (tw_as_equals(word, end) && --depth == 0)
            return 0;
        if (tw_grow(&body->lines, body->n, &body->room, sizeof *body->lines) != 0)
            return tw_as_no_memory(a);
        body->lines[body->n++] = line;
    }
    return code < 0 ? 1 : tw_as_fault_in(a, start, at, "%s has no %s", begin, end);
}

/* Moves the list of lines into the pool. */
static int keep_body(struct tw_as *a, struct tw_as_body *body)
{
    const struct tw_as_line **lines = tw_as_pool_take(&a->pool, (body->n + 1) * sizeof *lines);

    if (lines != NULL && body->n > 0)
        memcpy(lines, body->lines, body->n * sizeof *lines);
    free(body->lines);
    body->lines = lines;
    return lines == NULL ? tw_as_no_memory(a) : 0;
}

static int read_body(struct tw_as *a, const char *at, const char *begin, const char *end, struct tw_as_body *body)
{
    int code = collect(a, at, begin, end, body);
    return keep_body(a, body) != 0 || code != 0;
}

/* ---- definitions */

const struct tw_as_macro *tw_as_find_macro(const struct tw_as *a, struct tw_as_span name)
{
    const struct tw_as_name *n = name.size == 0 ? NULL : tw_as_find(a, name);
    return n == NULL ? NULL : n->macro;
}

static int read_parameter(struct tw_as *a, struct tw_as_macro *m, struct tw_as_span item)
{
    if (m->n_parameters == AS_ARGUMENTS_MAX)
        return tw_as_fault(a, item.text, "a macro has at most %d parameters", AS_ARGUMENTS_MAX);
    struct tw_as_parameter *p = &m->parameters[m->n_parameters++];
    p->name = tw_as_take_name(&item);
    if (p->name.size == 0 || memchr(p->name.text, '.', p->name.size) != NULL ||
        memchr(p->name.text, '$', p->name.size) != NULL)
        return tw_as_fault(a, p->name.text, "expected the name of a parameter: letters, digits and _");
    if (tw_as_take(&item, ':')) {
        struct tw_as_span word = tw_as_take_name(&item);
        p->required = tw_as_equals(word, "req");
        p->rest = tw_as_equals(word, "vararg");
        if (!p->required && !p->rest)
            return tw_as_fault(a, word.text, "expected req or vararg");
    } else if (tw_as_take(&item, '=')) {
        p->value = item;
        item.size = 0;
    }
    return item.size == 0 ? 0 : tw_as_fault(a, item.text, "expected \",\" behind the parameter");
}

static int read_parameters(struct tw_as *a, struct tw_as_macro *m, struct tw_as_span rest)
{
    int code = 0, more = rest.size > 0;

    while (more) {
        struct tw_as_span item;
        if (m->n_parameters > 0 && m->parameters[m->n_parameters - 1].rest)
            return tw_as_fault(a, rest.text, "no parameter can follow one that takes all arguments");
        more = tw_as_take_item(&rest, &item);
        code |= read_parameter(a, m, item);
    }
    return code;
}

int tw_as_define_macro(struct tw_as *a, struct tw_as_span rest)
{
    struct tw_as_macro *m = tw_as_pool_take(&a->pool, sizeof *m);
    const char *at = rest.text;

    if (m == NULL)
        return tw_as_no_memory(a);
    m->name = tw_as_take_name(&rest);
    (void)tw_as_take(&rest, ',');
    int bad = m->name.size == 0 ? tw_as_fault(a, at, "expected the name of the macro") : read_parameters(a, m, rest);
    if (!bad && tw_as_find_macro(a, m->name) != NULL)
        bad = tw_as_fault(a, at, "there is a macro %.*s already", tw_as_width(m->name), m->name.text);
    if (read_body(a, at, ".macro", ".endm", &m->body) != 0 || bad)
        return 1;
    struct tw_as_name *n = tw_as_name(a, m->name);
    if (n == NULL)
        return 1;
    n->macro = m;
    return 0;
}

/* ---- calls */

static int find_parameter(const struct tw_as_macro *m, struct tw_as_span name)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (tw_as_same(m->parameters[i].name, name))
            return (int)i;
    return -1;
}

/* "name=value": the parameter's number, and item becomes the value; -1 when the item is no such thing. */
static int named(const struct tw_as_macro *m, struct tw_as_span *item)
{
    struct tw_as_span s = *item, name = tw_as_take_name(&s);

    if (name.size == 0 || !tw_as_take(&s, '=') || (s.size > 0 && s.text[0] == '='))
        return -1;
    int number = find_parameter(m, name);
    if (number >= 0)
        *item = s;
    return number;
}

static struct tw_as_span unquoted(struct tw_as_span item)
{
    struct tw_as_span inside, rest = item;
    return tw_as_take_quoted(&rest, &inside) == 0 && rest.size == 0 ? inside : item;
}

static int read_arguments(struct tw_as *a, const struct tw_as_macro *m, struct tw_as_span rest,
                          struct tw_as_span *arguments, uint8_t *given)
{
    size_t place = 0;
    int more = rest.size > 0;

    while (more) {
        const char *at = rest.text;
        struct tw_as_span whole = rest, item;
        more = tw_as_take_item(&rest, &item);
        int number = named(m, &item);
        if (number < 0) {
            while (place < m->n_parameters && given[place])
                place++;
            number = (int)place;
        }
        if ((size_t)number >= m->n_parameters)
            return tw_as_fault(a, at, "macro %.*s takes %zu arguments", tw_as_width(m->name), m->name.text,
                               m->n_parameters);
        if (given[number])
            return tw_as_fault(a, at, "%.*s is given twice", tw_as_width(m->parameters[number].name),
                               m->parameters[number].name.text);
        if (m->parameters[number].rest) {
            whole.size -= (size_t)(item.text - whole.text);
            item = (struct tw_as_span){item.text, whole.size};
            more = 0;
        }
        given[number] = 1;
        arguments[number] = m->parameters[number].rest ? item : unquoted(item);
    }
    return 0;
}

int tw_as_call_macro(struct tw_as *a, const struct tw_as_macro *m, const char *at, struct tw_as_span rest)
{
    struct tw_as_span *arguments = tw_as_pool_take(&a->pool, (m->n_parameters + 1) * sizeof *arguments);
    uint8_t given[AS_ARGUMENTS_MAX] = {0};

    if (arguments == NULL)
        return tw_as_no_memory(a);
    if (read_arguments(a, m, rest, arguments, given) != 0)
        return 1;
    for (size_t i = 0; i < m->n_parameters; i++) {
        if (!given[i] && m->parameters[i].required)
            return tw_as_fault(a, at, "macro %.*s needs the argument %.*s", tw_as_width(m->name), m->name.text,
                               tw_as_width(m->parameters[i].name), m->parameters[i].name.text);
        if (!given[i])
            arguments[i] = unquoted(m->parameters[i].value);
    }
    struct tw_as_input in = {.body = &m->body, .turns = 1, .macro = m, .arguments = arguments, .serial = a->serial++};
    in.trace = tw_as_trace_push(a, a->line->trace, tw_as_place_of(a->line, at), "in macro %.*s, called from here",
                                tw_as_width(m->name), m->name.text);
    return in.trace == NULL ? 1 : tw_as_push(a, &in);
}

int tw_as_repeat(struct tw_as *a, struct tw_as_span rest)
{
    struct tw_as_body *body = tw_as_pool_take(&a->pool, sizeof *body);
    struct tw_as_input in = {.body = body};
    const struct tw_as_line *line = a->line;

    if (body == NULL)
        return tw_as_no_memory(a);
    int bad = tw_as_known(a, rest, &in.turns);
    if (!bad && in.turns < 0)
        bad = tw_as_fault(a, rest.text, "%" PRId64 " repetitions are not possible", in.turns);
    if (read_body(a, rest.text, ".rept", ".endr", body) != 0 || bad)
        return 1;
    in.trace = tw_as_trace_push(a, line->trace, tw_as_place_of(line, rest.text), "in this repetition");
    return in.trace == NULL ? 1 : tw_as_push(a, &in);
}

/* ---- expansion */

/* What a backslash at the front of a text stands for, and how many characters that takes; 0: it stays. */
static size_t replacement(const struct tw_as_input *in, const char *text, size_t size, char number[24],
                          struct tw_as_span *with)
{
    size_t n = 1;

    if (size < 2)
        return 0;
    *with = (struct tw_as_span){number, 0};
    if (in->macro == NULL) {
        if (text[1] != '+')
            return 0;
        with->size = (size_t)snprintf(number, 24, "%" PRId64, in->turn);
        return 2;
    }
    if (text[1] == '@') {
        with->size = (size_t)snprintf(number, 24, "%u", in->serial);
        return 2;
    }
    if (text[1] == '(' && size > 2 && text[2] == ')')
        return 3;
    while (n < size && ((tw_as_is_letter(text[n]) && text[n] != '.' && text[n] != '$') || tw_as_is_digit(text[n])))
        n++;
    int parameter = find_parameter(in->macro, (struct tw_as_span){text + 1, n - 1});
    if (parameter < 0)
        return 0;
    *with = in->arguments[parameter];
    return n;
}

/* The expanded line while it grows. */
struct expansion {
    char text[AS_LINE_MAX];
    size_t size;
    struct tw_as_stretch map[AS_LINE_MAX]; /* each takes at least one character of the line */
    size_t n_map;
};

static void note(struct expansion *e, size_t to, int copied)
{
    e->map[e->n_map++] = (struct tw_as_stretch){(uint32_t)e->size, (uint32_t)to, copied};
}

/* Returns 0, or 1 when the line becomes too long. */
static int expand(const struct tw_as_input *in, const struct tw_as_line *line, struct expansion *e)
{
    e->size = e->n_map = 0;
    for (size_t i = 0; i < line->size;) {
        char number[24];
        struct tw_as_span with;
        size_t n = line->text[i] == '\\' ? replacement(in, line->text + i, line->size - i, number, &with) : 0;
        if (n == 0) {
            if (e->n_map == 0 || !e->map[e->n_map - 1].copied)
                note(e, i, 1);
            with = (struct tw_as_span){line->text + i, 1};
        } else {
            note(e, i, 0);
        }
        if (with.size > sizeof e->text - e->size)
            return 1;
        if (with.size > 0)
            memcpy(e->text + e->size, with.text, with.size);
        e->size += with.size;
        i += n == 0 ? 1 : n;
    }
    return 0;
}

const struct tw_as_line *tw_as_expand(struct tw_as *a, const struct tw_as_input *in, const struct tw_as_line *line)
{
    struct tw_as_line *l = tw_as_pool_take(&a->pool, sizeof *l);
    struct expansion e;

    if (l == NULL) {
        tw_as_no_memory(a);
        return NULL;
    }
    *l = *line;
    l->trace = in->trace;
    l->origin = line;
    l->map = NULL;
    l->n_map = 0;
    if (line->size == 0 || memchr(line->text, '\\', line->size) == NULL)
        return l;
    if (expand(in, line, &e) != 0) {
        tw_as_fault_in(a, l, NULL, "with its arguments this line has more than %d characters", AS_LINE_MAX);
        l->size = 0;
        return l;
    }
    struct tw_as_stretch *map = tw_as_pool_take(&a->pool, e.n_map * sizeof *map);
    l->text = tw_as_pool_text(&a->pool, e.text, e.size);
    if (map == NULL || l->text == NULL) {
        tw_as_no_memory(a);
        return NULL;
    }
    if (e.n_map > 0)
        memcpy(map, e.map, e.n_map * sizeof *map);
    l->map = map;
    l->n_map = e.n_map;
    l->size = e.size;
    return l;
}
