#include "emu/trace/trace_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { PLACES = 64, DEPTH = 8 };

static json_int_t whole(const json_t *event, const char *name)
{
    const json_t *value = json_object_get(event, name);
    if (!json_is_integer(value))
        fail_msg("an event has no whole number '%s'", name);
    return json_integer_value(value);
}

static const char *word(const json_t *event, const char *name)
{
    const char *value = json_string_value(json_object_get(event, name));
    if (value == NULL || value[0] == '\0')
        fail_msg("an event has no text '%s'", name);
    return value;
}

static int64_t picoseconds(const json_t *event, const char *name)
{
    const json_t *value = json_object_get(event, name);
    if (!json_is_number(value))
        fail_msg("event '%s' has no number '%s'", word(event, "name"), name);
    return (int64_t)llround(json_number_value(value) * 1e6);
}

int64_t trace_begin(const json_t *event)
{
    return picoseconds(event, "ts");
}

int64_t trace_end(const json_t *event)
{
    return picoseconds(event, "ts") + picoseconds(event, "dur");
}

const char *trace_name(const json_t *event)
{
    return word(event, "name");
}

json_int_t trace_number(const json_t *event, const char *name)
{
    return whole(json_object_get(event, "args"), name);
}

static int is_kind(const json_t *event, const char *kind)
{
    return strcmp(word(event, "ph"), kind) == 0;
}

/* ---- names */

static int is_name_of(const json_t *event, const char *what, json_int_t process, json_int_t thread)
{
    return is_kind(event, "M") && strcmp(trace_name(event), what) == 0 && whole(event, "pid") == process &&
           (thread < 0 || whole(event, "tid") == thread);
}

static const char *find_name(const json_t *events, const char *what, json_int_t process, json_int_t thread)
{
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        if (is_name_of(event, what, process, thread))
            return word(json_object_get(event, "args"), "name");
    }
    return NULL;
}

struct trace_place trace_place(const json_t *trace, const char *process, const char *thread)
{
    const json_t *events = json_object_get(trace, "traceEvents");
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        if (!is_kind(event, "M") || strcmp(trace_name(event), "thread_name") != 0)
            continue;
        json_int_t p = whole(event, "pid");
        const char *name = find_name(events, "process_name", p, -1);
        if (name != NULL && strcmp(name, process) == 0 &&
            strcmp(word(json_object_get(event, "args"), "name"), thread) == 0)
            return (struct trace_place){p, whole(event, "tid")};
    }
    fail_msg("the trace has no thread %s of %s", thread, process);
    return (struct trace_place){0, 0};
}

const json_t *trace_next(const json_t *trace, struct trace_place place, size_t *at)
{
    const json_t *events = json_object_get(trace, "traceEvents");
    while (*at < json_array_size(events)) {
        const json_t *event = json_array_get(events, (*at)++);
        if (!is_kind(event, "M") && whole(event, "pid") == place.process &&
            (place.thread == TRACE_ANY || whole(event, "tid") == place.thread))
            return event;
    }
    return NULL;
}

/* ---- checking */

/* What has begun at one place and goes on. */
struct open_place {
    struct trace_place place;
    unsigned depth;
    int64_t ends[DEPTH];
};

struct check {
    const json_t *events;
    int64_t last;
    size_t n_places;
    struct open_place places[PLACES];
};

static struct open_place *open_place(struct check *c, json_int_t process, json_int_t thread)
{
    for (size_t i = 0; i < c->n_places; i++)
        if (c->places[i].place.process == process && c->places[i].place.thread == thread)
            return &c->places[i];
    assert_true(c->n_places < PLACES);
    assert_non_null(find_name(c->events, "thread_name", process, thread));
    for (size_t i = 0; i < c->n_places; i++)
        assert_true(c->places[i].place.thread != thread); /* viewers may tell threads by it alone */
    struct open_place *p = &c->places[c->n_places++];
    p->place = (struct trace_place){process, thread};
    return p;
}

static void check_nesting(struct check *c, const json_t *event)
{
    struct open_place *p = open_place(c, whole(event, "pid"), whole(event, "tid"));
    int64_t begin = trace_begin(event), end = trace_end(event);
    assert_true(end >= begin);
    while (p->depth > 0 && p->ends[p->depth - 1] <= begin && p->ends[p->depth - 1] < end)
        p->depth--;
    if (p->depth > 0 && end > p->ends[p->depth - 1])
        fail_msg("'%s' at %lld ends at %lld, outside of what it began in (%lld)", trace_name(event), (long long)begin,
                 (long long)end, (long long)p->ends[p->depth - 1]);
    assert_true(p->depth < DEPTH);
    p->ends[p->depth++] = end;
}

static void check_event(struct check *c, const json_t *event)
{
    json_int_t process = whole(event, "pid");
    assert_true(strlen(trace_name(event)) > 0 && whole(event, "tid") >= 0);
    assert_non_null(find_name(c->events, "process_name", process, -1));
    if (is_kind(event, "M")) {
        assert_true(json_is_object(json_object_get(event, "args")));
        return;
    }
    int64_t begin = trace_begin(event);
    assert_true(begin >= c->last);
    c->last = begin;
    if (is_kind(event, "X"))
        check_nesting(c, event);
    else if (is_kind(event, "C"))
        assert_true(trace_number(event, "value") >= 0);
    else if (is_kind(event, "i"))
        assert_true(strchr("gpt", word(event, "s")[0]) != NULL);
    else
        fail_msg("no event is of kind '%s'", word(event, "ph"));
}

json_t *trace_read(const char *text)
{
    json_error_t error;
    json_t *trace = json_loads(text, 0, &error);
    if (trace == NULL)
        fail_msg("line %d: %s", error.line, error.text);
    struct check c = {.events = json_object_get(trace, "traceEvents")};
    assert_true(json_is_array(c.events));
    size_t i;
    const json_t *event;
    json_array_foreach(c.events, i, event)
    {
        check_event(&c, event);
    }
    return trace;
}
