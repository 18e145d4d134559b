/* A table of calls that writes down what goes through it. */
#ifndef TW_DEVICE_TRACE_CALLS_H
#define TW_DEVICE_TRACE_CALLS_H

#include "base/error.h"
#include "uapi/calls.h"

struct tw_trace;

/*
 * Begins a trace in a new file at path. The inner table must live as long as the trace. Fails with TW_E_IO or
 * TW_E_MEMORY.
 */
int tw_trace_create(const char *path, const struct tw_calls *inner, struct tw_trace **trace, struct tw_error *err);
struct tw_calls tw_trace_calls(struct tw_trace *trace);
/* Whether all lines so far were written; fails with TW_E_IO. */
int tw_trace_check(struct tw_trace *trace, struct tw_error *err);
/* Ends it; harmless on NULL. */
void tw_trace_free(struct tw_trace *trace);

#endif
