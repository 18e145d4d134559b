#include "fuzz/models.h"

#include "whisper/model_parts.h"

#include <stdlib.h>
#include <string.h>

#define EMBEDDING "decoder.token_embedding.weight"
#define CT2_EMBEDDING "decoder/embeddings/weight"
#define CT2_START_BYTES 22 /* version, kind, revision */
#define FILTERS_AT (4 + FUZZ_HEADER_BYTES)
#define TOKENS 51864

struct synthetic_options fuzz_options(enum tw_type type, int32_t width)
{
    struct synthetic_options o = synthetic_smallest();
    o.type = type;
    o.sizes.n_text_state = o.sizes.n_audio_state = width;
    o.sizes.n_audio_ctx = o.sizes.n_text_ctx = 2;
    return o;
}

static uint32_t load_u32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_zeros(struct bytes *b, size_t size)
{
    unsigned char *zeros = calloc(size + 1, 1);
    if (zeros == NULL)
        abort();
    bytes_put(b, zeros, size);
    free(zeros);
}

/* The tensor that fits the header; one of no bytes when the header is nonsense, which is refused before. */
static void put_embedding(struct bytes *file, const unsigned char *header)
{
    uint32_t tokens = load_u32(header), width = load_u32(header + 8), type = load_u32(header + 40) % 1000;
    enum tw_type ours = type == 0 ? TW_F32 : type == 1 ? TW_F16 : type == 8 ? TW_Q5_0 : TW_Q8_0;
    bytes_u32(file, 2);
    bytes_u32(file, sizeof EMBEDDING - 1);
    bytes_u32(file, type == 8 ? 6 : type == 7 ? 8 : type);
    bytes_u32(file, width);
    bytes_u32(file, tokens);
    bytes_put(file, EMBEDDING, sizeof EMBEDDING - 1);
    if (width <= FUZZ_WIDTH_MAX && tokens <= TOKENS + 2)
        put_zeros(file, tokens * tw_row_bytes(ours, width));
}

void fuzz_complete_ggml(const unsigned char *data, size_t size, struct bytes *file)
{
    uint32_t mels = load_u32(data + 36) == 128 ? 128 : 80;
    bytes_put(file, "lmgg", 4);
    bytes_put(file, data, FUZZ_HEADER_BYTES);
    bytes_u32(file, mels);
    bytes_u32(file, TW_MEL_FILTER_BINS);
    put_zeros(file, (size_t)mels * TW_MEL_FILTER_BINS * sizeof(float));
    bytes_u32(file, FUZZ_TEXT_TOKENS);
    put_zeros(file, FUZZ_TEXT_TOKENS * sizeof(uint32_t));
    put_embedding(file, data);
    bytes_put(file, data + FUZZ_HEADER_BYTES, size - FUZZ_HEADER_BYTES);
}

/* Where the first tensor of a file begins. */
static size_t tensors_start(const struct bytes *file)
{
    size_t at = FILTERS_AT + 8 + (size_t)load_u32(file->data + FILTERS_AT) * TW_MEL_FILTER_BINS * sizeof(float);
    uint32_t count = load_u32(file->data + at);
    at += 4;
    for (uint32_t i = 0; i < count; i++)
        at += 4 + load_u32(file->data + at);
    return at;
}

void fuzz_shorten_ggml(const struct bytes *file, struct bytes *data)
{
    struct bytes embedding = {0};
    size_t start = tensors_start(file), name = bytes_find(file, EMBEDDING, start);
    put_embedding(&embedding, file->data + 4);
    size_t at = name - 20; /* three numbers and two dimensions before the name */
    bytes_put(data, file->data + 4, FUZZ_HEADER_BYTES);
    bytes_put(data, file->data + start, at - start);
    bytes_put(data, file->data + at + embedding.size, file->size - at - embedding.size);
    bytes_free(&embedding);
}

static void put_ct2_embedding(struct bytes *file, uint32_t width)
{
    static const unsigned char size[2] = {sizeof CT2_EMBEDDING, 0}, rank = 2, f16 = 4;
    bytes_put(file, size, 2);
    bytes_put(file, CT2_EMBEDDING, sizeof CT2_EMBEDDING);
    bytes_put(file, &rank, 1);
    bytes_u32(file, TOKENS);
    bytes_u32(file, width);
    bytes_put(file, &f16, 1);
    bytes_u32(file, TOKENS * width * 2);
    put_zeros(file, (size_t)TOKENS * width * 2);
}

void fuzz_complete_ct2(const unsigned char *data, size_t size, struct bytes *file)
{
    static const unsigned char start[CT2_START_BYTES] = "\6\0\0\0\14\0WhisperSpec\0\3\0\0";
    if (size < 5)
        return;
    bytes_put(file, start, sizeof start);
    bytes_u32(file, load_u32(data) + 1);
    put_ct2_embedding(file, data[4] % (FUZZ_WIDTH_MAX + 1));
    bytes_put(file, data + 5, size - 5);
}

void fuzz_shorten_ct2(const struct bytes *file, struct bytes *data)
{
    size_t name = bytes_find(file, CT2_EMBEDDING, 0), start = CT2_START_BYTES + 4;
    struct bytes embedding = {0};
    unsigned char width = file->data[name + sizeof CT2_EMBEDDING + 5];
    put_ct2_embedding(&embedding, width);
    bytes_u32(data, load_u32(file->data + CT2_START_BYTES) - 1);
    bytes_put(data, &width, 1);
    bytes_put(data, file->data + start, name - 2 - start);
    size_t end = name - 2 + embedding.size;
    bytes_put(data, file->data + end, file->size - end);
    bytes_free(&embedding);
}

void fuzz_touch(struct tw_whisper_model *model)
{
    struct tw_model_part *parts;
    size_t count;
    volatile unsigned char sum = 0;
    if (tw_model_parts(model, &parts, &count, NULL) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *data =
            parts[i].kind == TW_PART_VECTOR ? (const void *)*parts[i].vector : parts[i].matrix->data;
        size_t bytes = parts[i].kind == TW_PART_VECTOR
                           ? (size_t)tw_model_part_numbers(&parts[i]) * sizeof(float)
                           : tw_row_bytes(parts[i].matrix->type, parts[i].matrix->cols) * (size_t)parts[i].matrix->rows;
        /* Both ends and a few between: sanitizers watch every access, and the middle is as good as its ends. */
        for (size_t k = 0; k < bytes; k += bytes / 8 + 1)
            sum = (unsigned char)(sum + data[k]);
        sum = (unsigned char)(sum + data[bytes - 1]);
    }
    free(parts);
}
