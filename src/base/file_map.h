/* Read-only memory mapping of a whole file. */
#ifndef TW_BASE_FILE_MAP_H
#define TW_BASE_FILE_MAP_H

#include "base/error.h"

#include <stddef.h>

struct tw_file_map {
    const unsigned char *data; /* NULL for an empty file */
    size_t size;
};

/*
 * Maps the regular file at path. Fails with TW_E_NOT_FOUND, TW_E_IO, or TW_E_FORMAT for a directory or a device.
 * The mapping is private and read-only; a file that another process truncates meanwhile is the one case that no check
 * can catch (reads past the new end raise SIGBUS). Release with tw_file_map_close, also safe on a zeroed struct.
 */
int tw_file_map_open(const char *path, struct tw_file_map *map, struct tw_error *err);
void tw_file_map_close(struct tw_file_map *map);

#endif
