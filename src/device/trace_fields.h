/* The ioctls and their fields by the names of the kernel's header, for printing. */
#ifndef TW_DEVICE_TRACE_FIELDS_H
#define TW_DEVICE_TRACE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/* A line of text that is cut to its room. */
struct tw_line {
    char text[4096];
    size_t used;
};

void tw_line_add(struct tw_line *line, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* "CREATE_BO"; NULL for a request that is not known. */
const char *tw_trace_request_name(uint32_t request);

enum tw_trace_way { TW_TRACE_IN = 1, TW_TRACE_OUT = 2 };

/* Adds " name=value" for each field of a request's structure that goes this way. */
void tw_trace_add_fields(struct tw_line *line, uint32_t request, const void *structure, enum tw_trace_way way);

/* Adds what else a call shows: lists and structures that its fields point to. */
void tw_trace_add_pointed(struct tw_line *line, uint32_t request, const void *structure, enum tw_trace_way way);

/* Adds a command packet, field by field. */
void tw_trace_add_packet(struct tw_line *line, const uint32_t *words, size_t n);

/* "COMPLETED" */
const char *tw_trace_state_name(uint32_t header);

#endif
