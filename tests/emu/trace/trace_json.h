/* What a file of Chrome's trace event format has to be, and looking things up in it. */
#ifndef TESTS_EMU_TRACE_TRACE_JSON_H
#define TESTS_EMU_TRACE_TRACE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fails the test unless the text is a trace that viewers can show: every event has what its kind needs, times do not go
 * back, whatever lasts lies wholly inside what it began in, and all processes and threads have names. Returns it.
 */
json_t *trace_read(const char *text);

/* Numbers of the process and the thread of these names. */
struct trace_place {
    json_int_t process, thread;
};
/* In place of a thread's number. */
enum { TRACE_ANY = -1 };
struct trace_place trace_place(const json_t *trace, const char *process, const char *thread);

/* The next event at a place from *at on, which moves behind it; NULL: no more. Names of places are no events. */
const json_t *trace_next(const json_t *trace, struct trace_place place, size_t *at);

/* Of one event; picoseconds are millionths of the format's microseconds. */
int64_t trace_begin(const json_t *event);
int64_t trace_end(const json_t *event);
const char *trace_name(const json_t *event);
json_int_t trace_number(const json_t *event, const char *name);

#endif
