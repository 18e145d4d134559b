/* Frames of mel values in order: the first 32 MiB in memory, what comes after in a temporary file. */
#ifndef TW_WHISPER_FRAME_STORE_H
#define TW_WHISPER_FRAME_STORE_H

#include "base/error.h"

#include <stdint.h>

#define TW_FRAME_STORE_MEMORY ((size_t)32 << 20)

struct tw_frame_store;

/* width: floats in a frame, at least 1. */
int tw_frame_store_create(int width, struct tw_frame_store **store, struct tw_error *err);
void tw_frame_store_destroy(struct tw_frame_store *store); /* NULL is allowed */

int tw_frame_store_append(struct tw_frame_store *store, const float *frames, int64_t count, struct tw_error *err);
int64_t tw_frame_store_count(const struct tw_frame_store *store);
/* Frames first .. first+count-1, all of which must have been appended. */
int tw_frame_store_read(const struct tw_frame_store *store, int64_t first, int64_t count, float *dst,
                        struct tw_error *err);

#endif
