/* Writer of whisper.cpp's model files. */
#include "base/little_endian.h"
#include "base/new_file.h"
#include "whisper/model_parts.h"

#include <stdlib.h>
#include <string.h>

#define QUANTISATION_VERSION 2 /* of ggml's present block layouts */

/* Small pieces are gathered before they go to the file. */
struct writer {
    struct tw_new_file *file;
    size_t used;
    int code; /* the first failure; what follows it does nothing */
    struct tw_error *err;
    unsigned char buffer[1 << 16];
};

static void flush(struct writer *w)
{
    if (w->code == TW_OK && w->used > 0)
        w->code = tw_new_file_write(w->file, w->buffer, w->used, w->err);
    w->used = 0;
}

static void put(struct writer *w, const void *data, size_t size)
{
    if (size > sizeof w->buffer - w->used)
        flush(w);
    if (size > sizeof w->buffer) {
        if (w->code == TW_OK)
            w->code = tw_new_file_write(w->file, data, size, w->err);
    } else if (size > 0) {
        memcpy(w->buffer + w->used, data, size);
        w->used += size;
    }
}

static void put_u32(struct writer *w, uint32_t v)
{
    unsigned char b[4];
    tw_store_u32(b, v);
    put(w, b, sizeof b);
}

static void put_i32(struct writer *w, int64_t v)
{
    put_u32(w, (uint32_t)v);
}

/* ggml's number of a tensor type, and of a file whose matrices are of that type. */
static int32_t tensor_number(enum tw_type type)
{
    return type == TW_F32 ? 0 : type == TW_F16 ? 1 : type == TW_Q5_0 ? 6 : 8;
}

static int32_t file_number(enum tw_type type)
{
    if (type == TW_F32 || type == TW_F16)
        return type == TW_F16;
    return QUANTISATION_VERSION * 1000 + (type == TW_Q5_0 ? 8 : 7);
}

static void put_header(struct writer *w, const struct tw_whisper_model *m)
{
    const struct tw_whisper_sizes *s = &m->sizes;
    const int32_t numbers[] = {
        s->n_vocab,
        s->n_audio_ctx,
        s->n_audio_state,
        s->n_audio_head,
        s->n_audio_layer,
        s->n_text_ctx,
        s->n_text_state,
        s->n_text_head,
        s->n_text_layer,
        s->n_mels,
        file_number(m->token_embedding.type),
    };
    put_u32(w, TW_GGML_MAGIC);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        put_i32(w, numbers[i]);
}

static void put_filters(struct writer *w, const struct tw_whisper_model *m)
{
    put_i32(w, m->sizes.n_mels);
    put_i32(w, TW_MEL_FILTER_BINS);
    put(w, m->mel_filters, (size_t)m->sizes.n_mels * TW_MEL_FILTER_BINS * sizeof(float));
}

static void put_token(struct writer *w, const char *bytes, uint32_t size)
{
    put_u32(w, size);
    put(w, bytes, size);
}

/* The published English-only files list the end of text as one more token; with it ours are the same to the bit. */
static void put_vocab(struct writer *w, const struct tw_vocab *v)
{
    put_i32(w, v->text_size + (v->multilingual ? 0 : 1));
    for (int32_t i = 0; i < v->text_size; i++)
        put_token(w, v->text[i].bytes, v->text[i].size);
    if (!v->multilingual)
        put_token(w, TW_END_OF_TEXT, (uint32_t)strlen(TW_END_OF_TEXT));
}

static void put_part(struct writer *w, const struct tw_model_part *part)
{
    enum tw_type type = part->kind == TW_PART_VECTOR ? TW_F32 : part->matrix->type;
    size_t name_size = strlen(part->name);
    put_i32(w, part->n_dims);
    put_u32(w, (uint32_t)name_size);
    put_i32(w, tensor_number(type));
    for (int i = 0; i < part->n_dims; i++)
        put_i32(w, part->dims[i]);
    put(w, part->name, name_size);
    if (part->kind == TW_PART_VECTOR)
        put(w, *part->vector, (size_t)tw_model_part_numbers(part) * sizeof(float));
    else
        put(w, part->matrix->data, tw_row_bytes(type, part->matrix->cols) * (size_t)part->matrix->rows);
}

/*
 * A bias of keys has no place in the file and needs none: it adds the same to all scores of a query, which softmax
 * takes out again.
 */
static int put_model(struct writer *w, const struct tw_whisper_model *model)
{
    struct tw_whisper_model copy = *model; /* the list wants a model it could change */
    struct tw_model_part *parts;
    size_t count;
    int code = tw_model_parts(&copy, &parts, &count, w->err);
    if (code < 0)
        return code;
    put_header(w, model);
    put_filters(w, model);
    put_vocab(w, &model->vocab);
    for (size_t i = 0; i < count; i++)
        put_part(w, &parts[i]);
    flush(w);
    free(parts);
    return w->code;
}

int tw_model_write_ggml(const struct tw_whisper_model *model, const char *path, struct tw_error *err)
{
    struct tw_new_file file;
    struct writer *w = malloc(sizeof *w);
    if (w == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to write '%s'", path);
    w->file = &file;
    w->used = 0;
    w->code = TW_OK;
    w->err = err;
    int code = tw_new_file_open(path, &file, err);
    if (code == TW_OK) {
        code = put_model(w, model);
        if (code == TW_OK)
            code = tw_new_file_finish(&file, err);
        else
            tw_new_file_abandon(&file);
    }
    free(w);
    return code;
}
