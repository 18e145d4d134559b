/*
 * The bytes of a file, a pipe or a piece of memory, read at any offset. A pipe cannot go back, so it is read to its end
 * first: into memory while it is small, into a temporary file when it is not.
 */
#ifndef TW_WHISPER_INPUT_H
#define TW_WHISPER_INPUT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tw_input;

enum tw_input_order {
    TW_INPUT_ANY_ORDER,
    TW_INPUT_FORWARD /* every read goes on where the last one ended: a pipe is then not kept */
};

/*
 * path: a file or a named pipe, "-" for standard input. Fails with TW_E_NOT_FOUND, TW_E_IO, TW_E_MEMORY, or TW_E_FORMAT
 * for a directory or a device.
 */
int tw_input_open(const char *path, enum tw_input_order order, struct tw_input **input, struct tw_error *err);
/* data must outlive the input; name is copied. */
int tw_input_open_memory(const void *data, size_t size, const char *name, struct tw_input **input,
                         struct tw_error *err);
void tw_input_close(struct tw_input *input); /* NULL is allowed */

/* As it stands in messages: the path in quotes, or "standard input". */
const char *tw_input_name(const struct tw_input *input);
/* In bytes; -1 while it is not known (a pipe that is read forward). */
int64_t tw_input_size(const struct tw_input *input);

/*
 * Up to size bytes at offset (>= 0) to dst; returns how many: fewer than size only at the end, 0 past it; or TW_E_IO.
 */
int64_t tw_input_read(struct tw_input *input, int64_t offset, void *dst, size_t size, struct tw_error *err);

#endif
