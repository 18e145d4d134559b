/* Reading a file in memory from front to back: little-endian numbers and byte ranges, never past the end. */
#ifndef TW_WHISPER_CURSOR_H
#define TW_WHISPER_CURSOR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tw_cursor {
    const unsigned char *data;
    size_t size, at;
    const char *file; /* for messages */
};

/*
 * *bytes = the next n bytes (no copy); what says in messages what they are. Past the end: TW_E_FORMAT, *bytes is NULL
 * and nothing is consumed. The numbers below are 0 then.
 */
int tw_cursor_take(struct tw_cursor *c, size_t n, const char *what, const unsigned char **bytes, struct tw_error *err);
int tw_cursor_u8(struct tw_cursor *c, const char *what, uint8_t *value, struct tw_error *err);
int tw_cursor_u16(struct tw_cursor *c, const char *what, uint16_t *value, struct tw_error *err);
int tw_cursor_u32(struct tw_cursor *c, const char *what, uint32_t *value, struct tw_error *err);
int tw_cursor_i32(struct tw_cursor *c, const char *what, int32_t *value, struct tw_error *err);

#endif
