#include "whisper/synthetic.h"

#include "base/half.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bytes_put(struct bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * b->room + size;
        b->data = realloc(b->data, b->room);
        if (b->data == NULL)
            abort();
    }
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

void bytes_u32(struct bytes *b, uint32_t v)
{
    unsigned char p[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 24)};
    bytes_put(b, p, 4);
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

size_t bytes_find(const struct bytes *b, const char *text, size_t from)
{
    size_t n = strlen(text);
    for (size_t i = from; i + n <= b->size; i++)
        if (memcmp(b->data + i, text, n) == 0)
            return i;
    return SIZE_MAX;
}

struct synthetic_options synthetic_defaults(void)
{
    return (struct synthetic_options){
        .sizes = {.n_vocab = 51864,
                  .n_audio_ctx = 64,
                  .n_audio_state = 64,
                  .n_audio_head = 2,
                  .n_audio_layer = 2,
                  .n_text_ctx = 448,
                  .n_text_state = 64,
                  .n_text_head = 2,
                  .n_text_layer = 2,
                  .n_mels = 80},
        .type = TW_F16,
        .seed = 1,
    };
}

struct synthetic_options synthetic_smallest(void)
{
    return (struct synthetic_options){
        .sizes = {.n_vocab = 51864,
                  .n_audio_ctx = 8,
                  .n_audio_state = 32,
                  .n_audio_head = 1,
                  .n_audio_layer = 1,
                  .n_text_ctx = 16,
                  .n_text_state = 32,
                  .n_text_head = 1,
                  .n_text_layer = 1,
                  .n_mels = 80},
        .type = TW_Q8_0,
        .seed = 1,
    };
}

static int32_t text_tokens(const struct synthetic_options *o)
{
    return o->sizes.n_vocab == 51864 ? 50256 : 50257;
}

size_t synthetic_token(const struct synthetic_options *o, int32_t i, char dst[16])
{
    size_t n = 0;
    if (i < 256) {
        dst[0] = (char)i;
        return 1;
    }
    if (o->sizes.n_vocab != 51864 && i == text_tokens(o) - 1)
        return 0;
    if (i % 2 == 0)
        dst[n++] = ' ';
    for (int32_t rest = i / 2; rest > 0; rest /= 26)
        dst[n++] = (char)('a' + rest % 26);
    return n;
}

static int ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* How far weights spread: products keep the size of their input, and choices of tokens are clear. */
static double spread_of(const struct synthetic_options *o, const char *name)
{
    if (strstr(name, "embedding") != NULL)
        return 0.5;
    if (ends_with(name, "bias") || strstr(name, "ln") != NULL)
        return 0.1;
    double inputs = o->sizes.n_text_state;
    if (strstr(name, "conv1") != NULL)
        inputs = 3 * o->sizes.n_mels;
    if (strstr(name, "conv2") != NULL)
        inputs *= 3;
    if (ends_with(name, "mlp.2.weight"))
        inputs *= 4;
    return sqrt(3 / inputs);
}

void synthetic_weights(const struct synthetic_options *o, const char *name, float *dst, size_t count)
{
    struct tw_random random = {o->seed};
    for (const char *p = name; *p != '\0'; p++)
        random.state = tw_random_u64(&random) ^ (unsigned char)*p;
    double spread = spread_of(o, name);
    double middle = strstr(name, "ln") != NULL && ends_with(name, "weight") ? 1 : 0; /* gains of norms */
    for (size_t i = 0; i < count; i++)
        dst[i] = tw_f16_to_f32(tw_f32_to_f16((float)(middle + spread * (2 * tw_random_unit(&random) - 1))));
}

static float *weights(const struct synthetic_options *o, const char *name, size_t count)
{
    float *w = malloc(count * sizeof *w + 1);
    if (w == NULL)
        abort();
    synthetic_weights(o, name, w, count);
    return w;
}

static void put_rows(struct bytes *b, enum tw_type type, const float *w, size_t rows, size_t cols)
{
    size_t row = tw_row_bytes(type, (int64_t)cols);
    unsigned char *stored = malloc(row);
    if (stored == NULL || row == 0)
        abort();
    for (size_t i = 0; i < rows; i++) {
        tw_row_from_f32(type, w + i * cols, stored, (int64_t)cols);
        bytes_put(b, stored, row);
    }
    free(stored);
}

/* One tensor of a ggml file: dims are a (fastest), b, c; those beyond n_dims are 1. */
static void tensor(const struct synthetic_options *o, struct bytes *f, enum tw_type type, const char *name, int n_dims,
                   int a, int b, int c)
{
    const uint32_t numbers[] = {[TW_F32] = 0, [TW_F16] = 1, [TW_Q5_0] = 6, [TW_Q8_0] = 8};
    const int dims[] = {a, b, c};
    bytes_u32(f, (uint32_t)n_dims);
    bytes_u32(f, (uint32_t)strlen(name));
    bytes_u32(f, numbers[type]);
    for (int i = 0; i < n_dims; i++)
        bytes_u32(f, (uint32_t)dims[i]);
    bytes_put(f, name, strlen(name));
    size_t cols = n_dims == 3 ? (size_t)a * (size_t)b : (size_t)a, rows = n_dims == 3 ? (size_t)c : (size_t)b;
    float *w = weights(o, name, rows * cols);
    put_rows(f, type, w, rows, cols);
    free(w);
}

static void layer_tensors(const struct synthetic_options *o, struct bytes *f, const char *side, int layer)
{
    int w = o->sizes.n_text_state;
    const struct {
        const char *name;
        int cols, rows; /* rows 0: a vector */
    } list[] = {
        {"mlp_ln.weight", w, 0},         {"mlp_ln.bias", w, 0},           {"mlp.0.weight", w, 4 * w},
        {"mlp.0.bias", 4 * w, 0},        {"mlp.2.weight", 4 * w, w},      {"mlp.2.bias", w, 0},
        {"attn_ln.weight", w, 0},        {"attn_ln.bias", w, 0},          {"attn.query.weight", w, w},
        {"attn.query.bias", w, 0},       {"attn.key.weight", w, w},       {"attn.value.weight", w, w},
        {"attn.value.bias", w, 0},       {"attn.out.weight", w, w},       {"attn.out.bias", w, 0},
        {"cross_attn_ln.weight", w, 0},  {"cross_attn_ln.bias", w, 0},    {"cross_attn.query.weight", w, w},
        {"cross_attn.query.bias", w, 0}, {"cross_attn.key.weight", w, w}, {"cross_attn.value.weight", w, w},
        {"cross_attn.value.bias", w, 0}, {"cross_attn.out.weight", w, w}, {"cross_attn.out.bias", w, 0},
    };
    size_t count = strcmp(side, "encoder") == 0 ? 15 : 24;
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.blocks.%d.%s", side, layer, list[i].name);
        if (list[i].rows == 0)
            tensor(o, f, TW_F32, name, 1, list[i].cols, 1, 1);
        else
            tensor(o, f, o->type, name, 2, list[i].cols, list[i].rows, 1);
    }
}

static void all_tensors(const struct synthetic_options *o, struct bytes *f)
{
    const struct tw_whisper_sizes *s = &o->sizes;
    int w = s->n_text_state;
    enum tw_type conv = o->type == TW_F32 ? TW_F32 : TW_F16;
    tensor(o, f, TW_F32, "decoder.positional_embedding", 2, w, s->n_text_ctx, 1);
    tensor(o, f, TW_F32, "encoder.positional_embedding", 2, w, s->n_audio_ctx, 1);
    tensor(o, f, o->type, "decoder.token_embedding.weight", 2, w, s->n_vocab, 1);
    for (int i = 0; i < s->n_text_layer; i++)
        layer_tensors(o, f, "decoder", i);
    tensor(o, f, TW_F32, "decoder.ln.weight", 1, w, 1, 1);
    tensor(o, f, TW_F32, "decoder.ln.bias", 1, w, 1, 1);
    tensor(o, f, conv, "encoder.conv1.weight", 3, 3, s->n_mels, w);
    tensor(o, f, TW_F32, "encoder.conv1.bias", 2, 1, w, 1);
    tensor(o, f, conv, "encoder.conv2.weight", 3, 3, w, w);
    tensor(o, f, TW_F32, "encoder.conv2.bias", 2, 1, w, 1);
    for (int i = 0; i < s->n_audio_layer; i++)
        layer_tensors(o, f, "encoder", i);
    tensor(o, f, TW_F32, "encoder.ln_post.weight", 1, w, 1, 1);
    tensor(o, f, TW_F32, "encoder.ln_post.bias", 1, w, 1, 1);
}

static void ggml_vocabulary(const struct synthetic_options *o, struct bytes *f)
{
    static const char end[] = "<|endoftext|>";
    int32_t text = text_tokens(o), english = o->sizes.n_vocab == 51864;
    bytes_u32(f, (uint32_t)(o->no_last_token ? text - 1 : text + english));
    for (int32_t i = 0; i < (o->no_last_token ? text - 1 : text); i++) {
        char token[16];
        size_t n = synthetic_token(o, i, token);
        bytes_u32(f, (uint32_t)n);
        bytes_put(f, token, n);
    }
    if (english && !o->no_last_token) {
        bytes_u32(f, sizeof end - 1);
        bytes_put(f, end, sizeof end - 1);
    }
}

void synthetic_ggml(const struct synthetic_options *o, struct bytes *f)
{
    const struct tw_whisper_sizes *s = &o->sizes;
    const uint32_t types[] = {[TW_F32] = 0, [TW_F16] = 1, [TW_Q5_0] = 2008, [TW_Q8_0] = 2007};
    const int32_t header[] = {s->n_vocab,    s->n_audio_ctx,  s->n_audio_state, s->n_audio_head, s->n_audio_layer,
                              s->n_text_ctx, s->n_text_state, s->n_text_head,   s->n_text_layer, s->n_mels};
    bytes_put(f, "lmgg", 4);
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        bytes_u32(f, (uint32_t)header[i]);
    bytes_u32(f, types[o->type]);
    bytes_u32(f, (uint32_t)s->n_mels);
    bytes_u32(f, 201);
    size_t n = (size_t)s->n_mels * 201;
    float *filters = malloc(n * sizeof *filters);
    if (filters == NULL)
        abort();
    tw_mel_filters(s->n_mels, filters);
    bytes_put(f, filters, n * sizeof *filters);
    free(filters);
    ggml_vocabulary(o, f);
    all_tensors(o, f);
}

struct tw_whisper_model *synthetic_model(const struct synthetic_options *o, struct bytes *file)
{
    struct tw_error err;
    struct tw_whisper_model *m;
    synthetic_ggml(o, file);
    if (tw_model_parse_ggml(file->data, file->size, "synthetic.bin", &m, &err) < 0)
        fprintf(stderr, "%s\n", err.text);
    return m;
}

static void ct2_string(struct bytes *f, const char *s)
{
    unsigned char size[2] = {(unsigned char)(strlen(s) + 1), 0};
    bytes_put(f, size, 2);
    bytes_put(f, s, strlen(s) + 1);
}

struct ct2 {
    const struct synthetic_options *o;
    struct bytes *f;
    uint32_t count;
};

static void ct2_head(struct ct2 *c, const char *name, unsigned char rank, const uint32_t *dims, unsigned char type,
                     uint32_t bytes)
{
    ct2_string(c->f, name);
    bytes_put(c->f, &rank, 1);
    for (int i = 0; i < rank; i++)
        bytes_u32(c->f, dims[i]);
    bytes_put(c->f, &type, 1);
    bytes_u32(c->f, bytes);
    c->count++;
}

static void ct2_setting(struct ct2 *c, const char *name, int8_t value)
{
    ct2_head(c, name, 0, NULL, 1, 1);
    bytes_put(c->f, &value, 1);
}

/* A variable made of up to three tensors of ggml names, one below the other; the name "0" stands for zeros. */
static void ct2_weights(struct ct2 *c, const char *name, unsigned char rank, uint32_t a, uint32_t b, uint32_t d,
                        const char *const *from)
{
    int parts = from[1] == NULL ? 1 : from[2] == NULL ? 2 : 3;
    const uint32_t dims[] = {a * (uint32_t)parts, b, d};
    size_t count = (size_t)a * b * d;
    ct2_head(c, name, rank, dims, c->o->type == TW_F32 ? 0 : 4,
             (uint32_t)(tw_row_bytes(c->o->type, (int64_t)count) * (size_t)parts));
    for (int i = 0; i < parts; i++) {
        float *w = weights(c->o, from[i], count);
        if (strcmp(from[i], "0") == 0)
            memset(w, 0, count * sizeof *w);
        put_rows(c->f, c->o->type, w, 1, count);
        free(w);
    }
}

/* weight and bias under base, from ggml's tensors PREFIX.PART.weight and .bias; keys have no bias there. */
static void ct2_linear(struct ct2 *c, const char *base, uint32_t rows, uint32_t cols, const char *prefix,
                       const char *const *from)
{
    char name[96], names[2][3][64];
    const char *w[4] = {0}, *b[4] = {0};
    for (int i = 0; i < 3 && from[i] != NULL; i++) {
        snprintf(names[0][i], sizeof names[0][i], "%s%s.weight", prefix, from[i]);
        snprintf(names[1][i], sizeof names[1][i], "%s%s.bias", prefix, from[i]);
        w[i] = names[0][i];
        b[i] = ends_with(from[i], "key") ? "0" : names[1][i];
    }
    snprintf(name, sizeof name, "%s/weight", base);
    ct2_weights(c, name, 2, rows, cols, 1, w);
    snprintf(name, sizeof name, "%s/bias", base);
    ct2_weights(c, name, 1, rows, 1, 1, b);
}

static void ct2_norm(struct ct2 *c, const char *base, const char *ggml)
{
    char name[96], from[64];
    uint32_t width = (uint32_t)c->o->sizes.n_text_state;
    snprintf(name, sizeof name, "%s/gamma", base);
    snprintf(from, sizeof from, "%s.weight", ggml);
    ct2_weights(c, name, 1, width, 1, 1, (const char *[]){from, NULL, NULL});
    snprintf(name, sizeof name, "%s/beta", base);
    snprintf(from, sizeof from, "%s.bias", ggml);
    ct2_weights(c, name, 1, width, 1, 1, (const char *[]){from, NULL, NULL});
}

static void ct2_layer(struct ct2 *c, const char *side, int layer)
{
    char ggml[32], base[64], from[64];
    uint32_t w = (uint32_t)c->o->sizes.n_text_state;
    snprintf(ggml, sizeof ggml, "%s.blocks.%d.", side, layer);
#define UNDER(name) (snprintf(base, sizeof base, "%s/layer_%d/%s", side, layer, name), base)
#define FROM(name) (snprintf(from, sizeof from, "%s%s", ggml, name), from)
    ct2_norm(c, UNDER("self_attention/layer_norm"), FROM("attn_ln"));
    ct2_linear(c, UNDER("self_attention/linear_0"), w, w, ggml,
               (const char *[]){"attn.query", "attn.key", "attn.value"});
    ct2_linear(c, UNDER("self_attention/linear_1"), w, w, ggml, (const char *[]){"attn.out", NULL, NULL});
    if (strcmp(side, "decoder") == 0) {
        ct2_norm(c, UNDER("attention/layer_norm"), FROM("cross_attn_ln"));
        ct2_linear(c, UNDER("attention/linear_0"), w, w, ggml, (const char *[]){"cross_attn.query", NULL, NULL});
        ct2_linear(c, UNDER("attention/linear_1"), w, w, ggml,
                   (const char *[]){"cross_attn.key", "cross_attn.value", NULL});
        ct2_linear(c, UNDER("attention/linear_2"), w, w, ggml, (const char *[]){"cross_attn.out", NULL, NULL});
    }
    ct2_norm(c, UNDER("ffn/layer_norm"), FROM("mlp_ln"));
    ct2_linear(c, UNDER("ffn/linear_0"), 4 * w, w, ggml, (const char *[]){"mlp.0", NULL, NULL});
    ct2_linear(c, UNDER("ffn/linear_1"), w, 4 * w, ggml, (const char *[]){"mlp.2", NULL, NULL});
#undef UNDER
#undef FROM
}

static void ct2_conv(struct ct2 *c, const char *base, const char *ggml, uint32_t in)
{
    char name[32], from[32];
    uint32_t out = (uint32_t)c->o->sizes.n_audio_state;
    snprintf(name, sizeof name, "%s/weight", base);
    snprintf(from, sizeof from, "%s.weight", ggml);
    ct2_weights(c, name, 3, out, in, 3, (const char *[]){from, NULL, NULL});
    snprintf(name, sizeof name, "%s/bias", base);
    snprintf(from, sizeof from, "%s.bias", ggml);
    ct2_weights(c, name, 1, out, 1, 1, (const char *[]){from, NULL, NULL});
}

static void ct2_table(struct ct2 *c, const char *name, const char *ggml, int32_t rows)
{
    ct2_weights(c, name, 2, (uint32_t)rows, (uint32_t)c->o->sizes.n_text_state, 1, (const char *[]){ggml, NULL, NULL});
}

void synthetic_ct2(const struct synthetic_options *o, struct bytes *f)
{
    struct ct2 c = {.o = o, .f = f};
    bytes_u32(f, 6);
    ct2_string(f, "WhisperSpec");
    bytes_u32(f, 3);
    size_t count_at = f->size;
    bytes_u32(f, 0);
    ct2_setting(&c, "decoder/activation", 3);
    ct2_setting(&c, "decoder/alibi", 0);
    ct2_setting(&c, "decoder/num_heads", (int8_t)o->sizes.n_text_head);
    ct2_setting(&c, "decoder/pre_norm", 1);
    ct2_setting(&c, "encoder/num_heads", (int8_t)o->sizes.n_audio_head);
    ct2_table(&c, "decoder/embeddings/weight", "decoder.token_embedding.weight", o->sizes.n_vocab);
    ct2_table(&c, "decoder/position_encodings/encodings", "decoder.positional_embedding", o->sizes.n_text_ctx);
    ct2_table(&c, "encoder/position_encodings/encodings", "encoder.positional_embedding", o->sizes.n_audio_ctx);
    ct2_conv(&c, "encoder/conv1", "encoder.conv1", (uint32_t)o->sizes.n_mels);
    ct2_conv(&c, "encoder/conv2", "encoder.conv2", (uint32_t)o->sizes.n_audio_state);
    ct2_norm(&c, "encoder/layer_norm", "encoder.ln_post");
    ct2_norm(&c, "decoder/layer_norm", "decoder.ln");
    for (int i = 0; i < o->sizes.n_audio_layer; i++)
        ct2_layer(&c, "encoder", i);
    for (int i = 0; i < o->sizes.n_text_layer; i++)
        ct2_layer(&c, "decoder", i);
    for (int i = 0; i < 4; i++)
        f->data[count_at + (size_t)i] = (unsigned char)(c.count >> 8 * i);
    bytes_u32(f, 1);
    ct2_string(f, "decoder/projection/weight");
    ct2_string(f, "decoder/embeddings/weight");
}

/* The character that stands for a byte in GPT-2's alphabet, counted out as its authors do it. */
static unsigned character_of(unsigned char byte)
{
    unsigned next = 256;
    for (unsigned b = 0; b < 256; b++) {
        int printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        if (b == byte)
            return printable ? b : next;
        next += !printable;
    }
    return 0;
}

void synthetic_ct2_vocabulary(const struct synthetic_options *o, struct bytes *text)
{
    for (int32_t i = 0; i < o->sizes.n_vocab; i++) {
        char line[40], token[16];
        size_t n = 0;
        if (i < text_tokens(o)) {
            size_t size = synthetic_token(o, i, token);
            for (size_t k = 0; k < size; k++) {
                unsigned c = character_of((unsigned char)token[k]);
                if (c >= 0x80)
                    line[n++] = (char)(0xc0 | c >> 6);
                line[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
            }
        } else {
            n = (size_t)snprintf(line, sizeof line, i == text_tokens(o) ? "<|endoftext|>" : "<|special %d|>", (int)i);
        }
        line[n++] = '\n';
        bytes_put(text, line, n);
    }
}
