/* Reader of whisper.cpp's model files: header, mel filters, text tokens, then tensors to the end of the file. */
#include "base/memory.h"
#include "whisper/cursor.h"
#include "whisper/model_parts.h"

#include <stdlib.h>
#include <string.h>

/* Names of ggml's tensor types, for messages, and which of ours they are. */
struct stored_type {
    int32_t number;
    const char *name;
    int ours; /* enum tw_type, or -1 */
};

static const struct stored_type tensor_types[] = {
    {0, "f32", TW_F32}, {1, "f16", TW_F16},   {2, "q4_0", -1},  {3, "q4_1", -1},  {6, "q5_0", TW_Q5_0},
    {7, "q5_1", -1},    {8, "q8_0", TW_Q8_0}, {9, "q8_1", -1},  {10, "q2_k", -1}, {11, "q3_k", -1},
    {12, "q4_k", -1},   {13, "q5_k", -1},     {14, "q6_k", -1}, {15, "q8_k", -1}, {30, "bf16", -1},
};

/* The header names the type of the large matrices by a numbering of its own. */
static const struct stored_type file_types[] = {
    {0, "f32", TW_F32},   {1, "f16", TW_F16},   {2, "q4_0", -1},  {3, "q4_1", -1},  {4, "q4_1", -1},
    {7, "q8_0", TW_Q8_0}, {8, "q5_0", TW_Q5_0}, {9, "q5_1", -1},  {10, "q2_k", -1}, {11, "q3_k", -1},
    {12, "q4_k", -1},     {13, "q5_k", -1},     {14, "q6_k", -1}, {24, "bf16", -1},
};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

#define VERSION_FACTOR 1000 /* the header's type carries a version of the quantisation in its thousands */

struct reader {
    struct tw_cursor in;
    struct tw_whisper_model *model;
    struct tw_model_part *parts;
    unsigned char *seen; /* one for each part */
    size_t part_count, seen_count, next;
    enum tw_type type; /* of the large matrices */
    struct tw_error *err;
};

static const struct stored_type *find_type(const struct stored_type *types, size_t count, int32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

static int starts_with(const struct tw_cursor *in, const char *start, size_t size)
{
    return in->size >= size && memcmp(in->data, start, size) == 0;
}

/* Other files that people pass by mistake, by how they begin. */
static int refuse_other_file(struct reader *r)
{
    static const char ct2[] = "\x06\0\0\0\x0c\0WhisperSpec";
    static const struct {
        const char *start;
        size_t size;
        const char *what;
    } kinds[] = {
        {"GGUF", 4, "a GGUF file (a language model for llama.cpp)"},
        {"tjgg", 4, "an old language model for llama.cpp"},
        {"fmgg", 4, "an old language model for llama.cpp"},
        {"algg", 4, "an adapter for a language model"},
        {"PK\x03\x04", 4, "a zip archive or PyTorch checkpoint"},
        {"version https://git-lfs", 23, "a Git LFS pointer whose content was not fetched"},
        {"<!", 2, "a web page (the error page of a download?)"},
        {"<html", 5, "a web page (the error page of a download?)"},
        {"RIFF", 4, "a sound or media file"},
        {"ID3", 3, "a sound file"},
        {"OggS", 4, "a sound file"},
        {"fLaC", 4, "a sound file"},
    };
    const char *what = r->in.size == 0 ? "empty" : "of an unknown kind";
    if (starts_with(&r->in, ct2, sizeof ct2 - 1))
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is the model.bin of a faster-whisper folder: name the folder instead",
                       r->in.file);
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (starts_with(&r->in, kinds[i].start, kinds[i].size))
            what = kinds[i].what;
    return tw_fail(r->err, TW_E_FORMAT, "'%s' is %s, not a Whisper model in ggml form (ggml-NAME.bin)", r->in.file,
                   what);
}

static int read_type(struct reader *r, int32_t number)
{
    const struct stored_type *t = number < 0 ? NULL : find_type(file_types, COUNT(file_types), number % VERSION_FACTOR);
    if (t == NULL)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is damaged or newer than this program: it names a number format %d",
                       r->in.file, (int)number);
    if (t->ours < 0)
        return tw_fail(r->err, TW_E_UNSUPPORTED,
                       "'%s' stores its weights as %s; only f32, f16, q5_0 and q8_0 can be read so far", r->in.file,
                       t->name);
    r->type = (enum tw_type)t->ours;
    return TW_OK;
}

static int read_header(struct reader *r)
{
    int32_t h[11] = {0};
    uint32_t magic = 0;
    if (r->in.size >= 4)
        (void)tw_cursor_u32(&r->in, "the magic number", &magic, NULL);
    if (magic != TW_GGML_MAGIC)
        return refuse_other_file(r);
    for (int i = 0; i < 11; i++) {
        int code = tw_cursor_i32(&r->in, "the header", &h[i], r->err);
        if (code < 0)
            return code;
    }
    struct tw_whisper_sizes sizes = {
        .n_vocab = h[0],
        .n_audio_ctx = h[1],
        .n_audio_state = h[2],
        .n_audio_head = h[3],
        .n_audio_layer = h[4],
        .n_text_ctx = h[5],
        .n_text_state = h[6],
        .n_text_head = h[7],
        .n_text_layer = h[8],
        .n_mels = h[9],
    };
    int code = tw_model_new(&sizes, r->in.file, &r->model, r->err);
    return code < 0 ? code : read_type(r, h[10]);
}

static int read_filters(struct reader *r)
{
    int32_t bands, bins;
    const unsigned char *data;
    int code = tw_cursor_i32(&r->in, "the size of the mel filters", &bands, r->err);
    if (code == TW_OK)
        code = tw_cursor_i32(&r->in, "the size of the mel filters", &bins, r->err);
    if (code < 0)
        return code;
    if (bands != r->model->sizes.n_mels || bins != TW_MEL_FILTER_BINS)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is damaged: its mel filters are %d x %d instead of %d x %d",
                       r->in.file, (int)bands, (int)bins, (int)r->model->sizes.n_mels, TW_MEL_FILTER_BINS);
    int64_t count = (int64_t)bands * bins;
    code = tw_cursor_take(&r->in, (size_t)count * sizeof(float), "the mel filters", &data, r->err);
    if (code < 0)
        return code;
    return tw_model_copy(r->model, TW_F32, data, count, r->in.file, "the mel filters", &r->model->mel_filters, r->err);
}

static int read_token(struct reader *r, int32_t number)
{
    uint32_t size;
    const unsigned char *bytes;
    int code = tw_cursor_u32(&r->in, "the length of a token", &size, r->err);
    if (code < 0)
        return code;
    if (size > TW_MODEL_TOKEN_BYTES_MAX)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is damaged: token %d claims %u bytes", r->in.file, (int)number,
                       (unsigned)size);
    code = tw_cursor_take(&r->in, size, "a token", &bytes, r->err);
    if (code == TW_OK && number < r->model->vocab.text_size)
        r->model->vocab.text[number] = (struct tw_token_text){(const char *)bytes, size};
    return code;
}

/*
 * Usually just the text tokens are stored. Some old files lack the last of them, and some converters write special
 * tokens too, which we know better.
 */
static int read_vocab(struct reader *r)
{
    int32_t count, expected = r->model->vocab.text_size;
    int code = tw_cursor_i32(&r->in, "the number of tokens", &count, r->err);
    if (code < 0)
        return code;
    if (count < expected - 1 || count > r->model->sizes.n_vocab)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is damaged: it has %d tokens instead of %d", r->in.file, (int)count,
                       (int)expected);
    for (int32_t i = 0; i < count && code == TW_OK; i++)
        code = read_token(r, i);
    return code;
}

/* Files usually keep the order of the list, so the search begins behind the last hit. */
static struct tw_model_part *find_part(struct reader *r, const unsigned char *name, size_t size)
{
    for (size_t i = 0; i < r->part_count; i++) {
        size_t at = (r->next + i) % r->part_count;
        const char *known = r->parts[at].name;
        if (strlen(known) == size && memcmp(known, name, size) == 0) {
            r->next = at + 1;
            return &r->parts[at];
        }
    }
    return NULL;
}

struct tensor_header {
    int32_t n_dims, type;
    uint32_t name_size;
    int32_t dims[4];
    const unsigned char *name;
};

static int read_tensor_header(struct reader *r, struct tensor_header *h)
{
    size_t start = r->in.at;
    int code = tw_cursor_i32(&r->in, "a tensor's header", &h->n_dims, r->err);
    if (code == TW_OK)
        code = tw_cursor_u32(&r->in, "a tensor's header", &h->name_size, r->err);
    if (code == TW_OK)
        code = tw_cursor_i32(&r->in, "a tensor's header", &h->type, r->err);
    if (code < 0)
        return code;
    if (h->n_dims < 1 || h->n_dims > 4 || h->name_size == 0 || h->name_size > 255)
        return tw_fail(r->err, TW_E_FORMAT,
                       "'%s' is damaged: the tensor at byte %zu has %d dimensions and a name of %u bytes", r->in.file,
                       start, (int)h->n_dims, (unsigned)h->name_size);
    for (int i = 0; i < 4; i++)
        h->dims[i] = 1;
    for (int i = 0; i < h->n_dims && code == TW_OK; i++)
        code = tw_cursor_i32(&r->in, "a tensor's shape", &h->dims[i], r->err);
    return code < 0 ? code : tw_cursor_take(&r->in, h->name_size, "a tensor's name", &h->name, r->err);
}

static int check_shape(struct reader *r, const struct tensor_header *h, const struct tw_model_part *part)
{
    for (int i = 0; i < 4; i++)
        if (h->dims[i] != (i < 3 ? part->dims[i] : 1))
            return tw_fail(r->err, TW_E_FORMAT,
                           "'%s' is damaged: %s has the shape %d x %d x %d x %d instead of %d x %d x %d", r->in.file,
                           part->name, (int)h->dims[0], (int)h->dims[1], (int)h->dims[2], (int)h->dims[3],
                           (int)part->dims[0], (int)part->dims[1], (int)part->dims[2]);
    return TW_OK;
}

/* The type of a tensor, when this part may have it. */
static int check_type(struct reader *r, int32_t number, const struct tw_model_part *part, enum tw_type *type)
{
    const struct stored_type *t = find_type(tensor_types, COUNT(tensor_types), number);
    const char *name = t == NULL ? "an unknown format" : t->name;
    if (t != NULL && t->ours >= 0) {
        *type = (enum tw_type)t->ours;
        if (part->kind == TW_PART_VECTOR ? *type == TW_F32
            : part->kind == TW_PART_CONV ? *type == TW_F32 || *type == TW_F16
                                         : *type == r->type)
            return TW_OK;
    }
    const char *wanted = part->kind == TW_PART_VECTOR ? "f32"
                         : part->kind == TW_PART_CONV ? "f16 or f32"
                                                      : tw_type_info(r->type)->name;
    return tw_fail(r->err, TW_E_FORMAT, "'%s' cannot be used: %s is stored as %s (%d), expected %s", r->in.file,
                   part->name, name, (int)number, wanted);
}

static int read_data(struct reader *r, const struct tw_model_part *part, enum tw_type type)
{
    const unsigned char *data;
    int64_t cols = part->dims[0], rows = part->dims[1] * part->dims[2];
    if (part->kind == TW_PART_CONV) {
        cols = part->dims[0] * part->dims[1];
        rows = part->dims[2];
    }
    size_t row = tw_row_bytes(type, cols), bytes;
    if (row == 0)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is damaged: rows of %d numbers cannot be stored as %s (%s)",
                       r->in.file, (int)cols, tw_type_info(type)->name, part->name);
    if (tw_mul_size(row, (size_t)rows, &bytes) != 0)
        return tw_fail(r->err, TW_E_LIMIT, "'%s' is too large for this machine's address space", r->in.file);
    int code = tw_cursor_take(&r->in, bytes, part->name, &data, r->err);
    if (code < 0)
        return code;
    if (part->kind == TW_PART_VECTOR)
        return tw_model_copy(r->model, type, data, cols * rows, r->in.file, part->name, part->vector, r->err);
    *part->matrix = (struct tw_matrix){.type = type, .rows = rows, .cols = cols, .data = data};
    return TW_OK;
}

static int read_tensor(struct reader *r)
{
    struct tensor_header h;
    size_t start = r->in.at;
    enum tw_type type = TW_F32;
    int code = read_tensor_header(r, &h);
    if (code < 0)
        return code;
    struct tw_model_part *part = find_part(r, h.name, h.name_size);
    if (part == NULL)
        return tw_fail(r->err, TW_E_FORMAT,
                       "'%s' is damaged or no Whisper model: the tensor at byte %zu has a name that is not known",
                       r->in.file, start);
    unsigned char *seen = &r->seen[part - r->parts];
    if (*seen)
        return tw_fail(r->err, TW_E_FORMAT, "'%s' is damaged: %s is there twice, again at byte %zu", r->in.file,
                       part->name, start);
    *seen = 1;
    r->seen_count++;
    code = check_shape(r, &h, part);
    if (code == TW_OK)
        code = check_type(r, h.type, part, &type);
    return code < 0 ? code : read_data(r, part, type);
}

static int read_tensors(struct reader *r)
{
    int code = tw_model_parts(r->model, &r->parts, &r->part_count, r->err);
    if (code < 0)
        return code;
    r->seen = calloc(r->part_count, 1);
    if (r->seen == NULL)
        return tw_fail(r->err, TW_E_MEMORY, "no memory to read '%s'", r->in.file);
    while (r->in.at < r->in.size && code == TW_OK)
        code = read_tensor(r);
    if (code < 0)
        return code;
    for (size_t i = 0; i < r->part_count; i++)
        if (!r->seen[i])
            return tw_fail(
                r->err, TW_E_FORMAT,
                "'%s' is cut short or incomplete: it ends after %zu of %zu tensors, without %s; fetch it again",
                r->in.file, r->seen_count, r->part_count, r->parts[i].name);
    return TW_OK;
}

int tw_model_parse_ggml(const void *data, size_t size, const char *name, struct tw_whisper_model **model,
                        struct tw_error *err)
{
    struct reader r = {.in = {.data = data, .size = size, .file = name}, .err = err};
    int code = read_header(&r);
    if (code == TW_OK)
        code = read_filters(&r);
    if (code == TW_OK)
        code = read_vocab(&r);
    if (code == TW_OK)
        code = read_tensors(&r);
    if (code == TW_OK)
        code = tw_model_complete(r.model, err);
    free(r.parts);
    free(r.seen);
    if (code < 0) {
        tw_model_close(r.model);
        r.model = NULL;
    }
    *model = r.model;
    return code;
}
