/*
 * A file that appears whole under its name or not at all: written without a name where the file system can, under a
 * temporary one beside the target elsewhere, and given its own name when it is complete and on disk.
 */
#ifndef TW_BASE_NEW_FILE_H
#define TW_BASE_NEW_FILE_H

#include "base/error.h"

#include <stddef.h>

struct tw_new_file {
    int fd;          /* -1: closed */
    char *path;      /* the target */
    char *temporary; /* room for a name beside it */
    int named;       /* the file has the temporary name */
};

/* Begins the file at path. Fails with TW_E_IO, TW_E_NOT_FOUND (no such folder) or TW_E_MEMORY; then *f is released. */
int tw_new_file_open(const char *path, struct tw_new_file *f, struct tw_error *err);
/* Appends size bytes. Fails with TW_E_IO, for example when the disk is full; the caller then abandons. */
int tw_new_file_write(struct tw_new_file *f, const void *data, size_t size, struct tw_error *err);
/* Brings all to disk and puts it in place of whatever had the name. After it, also when it fails, *f is released. */
int tw_new_file_finish(struct tw_new_file *f, struct tw_error *err);
/* Throws away what was written. Harmless after finish and after an open that failed. */
void tw_new_file_abandon(struct tw_new_file *f);

#endif
