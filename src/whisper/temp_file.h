/* A temporary file without a name: it vanishes when it is closed, however the program ends. */
#ifndef TW_WHISPER_TEMP_FILE_H
#define TW_WHISPER_TEMP_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Makes one in TMPDIR, or in /var/tmp or /tmp where that is not set, readable by this user only. Returns its descriptor
 * (>= 0), which the caller closes, or TW_E_IO.
 */
int tw_temp_file_open(struct tw_error *err);

/* Writes all size bytes at offset; TW_E_IO when the disk is full. */
int tw_temp_file_write(int fd, int64_t offset, const void *data, size_t size, struct tw_error *err);
/* Reads exactly size bytes at offset; TW_E_IO when they are not all there. */
int tw_temp_file_read(int fd, int64_t offset, void *data, size_t size, struct tw_error *err);

#endif
