#include "whisper/frame_store.h"

#include "whisper/temp_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM 2048

struct tw_frame_store {
    int width;
    size_t frame_bytes;
    int64_t count;
    float *memory;
    int64_t room, limit; /* frames that memory holds now, and at most */
    int file;            /* of the frames from limit on; -1: not needed yet */
};

int tw_frame_store_create(int width, struct tw_frame_store **store, struct tw_error *err)
{
    struct tw_frame_store *s = calloc(1, sizeof *s);
    *store = s;
    if (s == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for mel frames");
    s->width = width;
    s->frame_bytes = (size_t)width * sizeof(float);
    s->limit = (int64_t)(TW_FRAME_STORE_MEMORY / s->frame_bytes);
    s->file = -1;
    return TW_OK;
}

void tw_frame_store_destroy(struct tw_frame_store *s)
{
    if (s == NULL)
        return;
    if (s->file >= 0)
        close(s->file);
    free(s->memory);
    free(s);
}

int64_t tw_frame_store_count(const struct tw_frame_store *s)
{
    return s->count;
}

static int grow(struct tw_frame_store *s, int64_t frames, struct tw_error *err)
{
    if (frames <= s->room)
        return TW_OK;
    int64_t room = s->room > 0 ? s->room : FIRST_ROOM;
    while (room < frames)
        room *= 2;
    if (room > s->limit)
        room = s->limit;
    float *memory = realloc(s->memory, (size_t)room * s->frame_bytes);
    if (memory == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %lld mel frames", (long long)room);
    s->memory = memory;
    s->room = room;
    return TW_OK;
}

/* How many of the frames first .. first+count-1 belong in memory. */
static int64_t in_memory(const struct tw_frame_store *s, int64_t first, int64_t count)
{
    int64_t left = s->limit - first;
    return left <= 0 ? 0 : left < count ? left : count;
}

static int64_t file_offset(const struct tw_frame_store *s, int64_t frame)
{
    return (frame - s->limit) * (int64_t)s->frame_bytes;
}

static int append_to_file(struct tw_frame_store *s, const float *frames, int64_t count, struct tw_error *err)
{
    if (s->file < 0)
        s->file = tw_temp_file_open(err);
    if (s->file < 0)
        return s->file;
    int rc = tw_temp_file_write(s->file, file_offset(s, s->count), frames, (size_t)count * s->frame_bytes, err);
    if (rc == TW_OK)
        s->count += count;
    return rc;
}

int tw_frame_store_append(struct tw_frame_store *s, const float *frames, int64_t count, struct tw_error *err)
{
    int64_t near = in_memory(s, s->count, count);
    if (near > 0) {
        int rc = grow(s, s->count + near, err);
        if (rc < 0)
            return rc;
        memcpy(s->memory + s->count * s->width, frames, (size_t)near * s->frame_bytes);
        s->count += near;
    }
    return near < count ? append_to_file(s, frames + near * s->width, count - near, err) : TW_OK;
}

int tw_frame_store_read(const struct tw_frame_store *s, int64_t first, int64_t count, float *dst, struct tw_error *err)
{
    int64_t near = in_memory(s, first, count);
    if (near > 0)
        memcpy(dst, s->memory + first * s->width, (size_t)near * s->frame_bytes);
    if (near == count)
        return TW_OK;
    return tw_temp_file_read(s->file, file_offset(s, first + near), dst + near * s->width,
                             (size_t)(count - near) * s->frame_bytes, err);
}
