#include "whisper/wav_header.h"

#include "base/little_endian.h"

#include <string.h>

#define CHUNK_HEAD 8
/* The longest format chunk in use has 40 bytes, with an ADPCM table 50. */
#define FORMAT_MAX 256
/* Real files have a handful; a hostile one must not keep us busy. */
#define CHUNKS_MAX 4096
#define SIZE_UNKNOWN UINT32_MAX

struct chunk {
    unsigned char id[4];
    uint32_t size;
    int64_t offset; /* of its contents */
};

/* What a walk over the chunks finds. */
struct layout {
    unsigned char format[FORMAT_MAX];
    uint32_t format_size;
    int64_t long_data_size; /* of the data chunk, from an RF64 file's ds64 chunk; -1: none */
    struct chunk data;
};

/* Returns 1 when offset holds a whole chunk head, 0 when not, or a negative code. */
static int read_chunk(struct tw_input *input, int64_t offset, struct chunk *chunk, struct tw_error *err)
{
    unsigned char bytes[CHUNK_HEAD];
    int64_t n = tw_input_read(input, offset, bytes, sizeof bytes, err);
    if (n < 0)
        return (int)n;
    if (n < (int64_t)sizeof bytes)
        return 0;
    memcpy(chunk->id, bytes, sizeof chunk->id);
    chunk->size = tw_load_u32(bytes + 4);
    chunk->offset = offset + CHUNK_HEAD;
    return 1;
}

static int is(const unsigned char *id, const char *word)
{
    return memcmp(id, word, 4) == 0;
}

/* Copies a format chunk. One that does not fit is left out, and the file then left to the sound library. */
static int keep_format(struct tw_input *input, const struct chunk *c, struct layout *layout, struct tw_error *err)
{
    if (c->size > FORMAT_MAX)
        return TW_OK;
    int64_t n = tw_input_read(input, c->offset, layout->format, c->size, err);
    if (n < 0)
        return (int)n;
    layout->format_size = n == (int64_t)c->size ? c->size : 0;
    return TW_OK;
}

/* ds64: 64-bit sizes of the file and of the data chunk. */
static int keep_long_size(struct tw_input *input, const struct chunk *c, struct layout *layout, struct tw_error *err)
{
    unsigned char sizes[16];
    int64_t n = tw_input_read(input, c->offset, sizes, sizeof sizes, err);
    if (n < 0)
        return (int)n;
    uint64_t size = tw_load_u64(sizes + 8);
    if (n == (int64_t)sizeof sizes)
        layout->long_data_size = size > INT64_MAX ? INT64_MAX : (int64_t)size;
    return TW_OK;
}

/* Walks to the data chunk. Returns 1 when it and a format were found, 0 when not, or a negative code. */
static int find_data(struct tw_input *input, struct layout *layout, struct tw_error *err)
{
    unsigned char head[12];
    int64_t n = tw_input_read(input, 0, head, sizeof head, err);
    if (n < 0)
        return (int)n;
    if (n < (int64_t)sizeof head || !(is(head, "RIFF") || is(head, "RF64")) || !is(head + 8, "WAVE"))
        return 0;
    int64_t offset = sizeof head;
    layout->long_data_size = -1;
    for (int i = 0; i < CHUNKS_MAX; i++) {
        struct chunk c;
        int rc = read_chunk(input, offset, &c, err);
        if (rc <= 0)
            return rc;
        if (is(c.id, "data")) {
            layout->data = c;
            return layout->format_size > 0;
        }
        if (is(c.id, "fmt "))
            rc = keep_format(input, &c, layout, err);
        else if (is(c.id, "ds64"))
            rc = keep_long_size(input, &c, layout, err);
        if (rc < 0)
            return rc;
        offset = c.offset + c.size + (c.size & 1);
    }
    return 0;
}

/* Whether what follows the data looks like the rest of a WAV file: nothing, another chunk, or an ID3 version 1 tag. */
static int ends_well(struct tw_input *input, int64_t offset, struct tw_error *err)
{
    int64_t left = tw_input_size(input) - offset;
    if (left < CHUNK_HEAD)
        return 1;
    struct chunk c;
    int rc = read_chunk(input, offset, &c, err);
    if (rc <= 0)
        return rc;
    if (left == 128 && memcmp(c.id, "TAG", 3) == 0)
        return 1;
    for (int i = 0; i < 4; i++)
        if (c.id[i] < 0x20 || c.id[i] > 0x7e)
            return 0;
    return (int64_t)c.size <= left - CHUNK_HEAD;
}

/* Whether a data chunk of `size` bytes is followed by what may follow it; odd sizes are padded by some writers only. */
static int size_holds(struct tw_input *input, const struct chunk *data, int64_t size, struct tw_error *err)
{
    int64_t there = tw_input_size(input) - data->offset;
    if (size == 0 && there < CHUNK_HEAD)
        return there == 0;
    int rc = ends_well(input, data->offset + size + (size & 1), err);
    if (rc == 0 && (size & 1))
        rc = ends_well(input, data->offset + size, err);
    return rc;
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

/* A number of size bytes, lowest first. */
static unsigned char *put_number(unsigned char *at, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> 8 * i);
    return at + size;
}

/* The header of a WAV file of view->body_size data bytes; RF64 where that does not fit in 32 bits. */
static void write_head(const struct layout *layout, struct tw_wav_view *view)
{
    uint64_t body = (uint64_t)view->body_size;
    uint32_t padded_format = layout->format_size + (layout->format_size & 1);
    int is_long = body > UINT32_MAX - TW_WAV_HEAD_MAX;
    uint64_t riff = 4 + CHUNK_HEAD + padded_format + CHUNK_HEAD + body + (is_long ? CHUNK_HEAD + 28 : 0);

    unsigned char *at = view->head;
    at = put(at, is_long ? "RF64" : "RIFF", 4);
    at = put_number(at, is_long ? SIZE_UNKNOWN : riff, 4);
    at = put(at, "WAVE", 4);
    if (is_long) {
        at = put(at, "ds64", 4);
        at = put_number(at, 28, 4);
        at = put_number(at, riff, 8);
        at = put_number(at, body, 8);
        at = put_number(at, 0, 8); /* samples; readers go by the bytes */
        at = put_number(at, 0, 4); /* no further long chunks */
    }
    at = put(at, "fmt ", 4);
    at = put_number(at, layout->format_size, 4);
    at = put(at, layout->format, layout->format_size);
    at = put_number(at, 0, (int)(padded_format - layout->format_size));
    at = put(at, "data", 4);
    at = put_number(at, is_long ? SIZE_UNKNOWN : body, 4);
    view->head_size = (size_t)(at - view->head);
}

int tw_wav_view_open(struct tw_input *input, struct tw_wav_view *view, struct tw_error *err)
{
    memset(view, 0, sizeof *view);
    view->body_size = tw_input_size(input);
    struct layout layout = {0};
    int rc = find_data(input, &layout, err);
    if (rc <= 0)
        return rc;
    const struct chunk *data = &layout.data;
    int64_t there = tw_input_size(input) - data->offset;
    int64_t stated = data->size == SIZE_UNKNOWN && layout.long_data_size >= 0 ? layout.long_data_size : data->size;
    if (stated <= there) {
        rc = size_holds(input, data, stated, err);
        if (rc != 0)
            return rc < 0 ? rc : TW_OK;
    }
    view->body_offset = data->offset;
    view->body_size = there;
    write_head(&layout, view);
    return TW_OK;
}
