#include "whisper/model_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tw_float_block {
    struct tw_float_block *next;
};

#define PARTS_OUTSIDE 11 /* positions, convolutions, embedding and last norms */
#define PARTS_ENCODER_LAYER 15
#define PARTS_DECODER_LAYER 24

static int check_sizes(const struct tw_whisper_sizes *s, const char *file, struct tw_error *err)
{
    const struct {
        const char *what;
        int32_t value, max;
    } checks[] = {
        {"tokens", s->n_vocab, 1 << 20},
        {"audio positions", s->n_audio_ctx, TW_MODEL_CONTEXT_MAX},
        {"numbers of encoder width", s->n_audio_state, TW_MODEL_WIDTH_MAX},
        {"encoder heads", s->n_audio_head, s->n_audio_state},
        {"encoder layers", s->n_audio_layer, TW_MODEL_LAYERS_MAX},
        {"text positions", s->n_text_ctx, TW_MODEL_CONTEXT_MAX},
        {"numbers of decoder width", s->n_text_state, TW_MODEL_WIDTH_MAX},
        {"decoder heads", s->n_text_head, s->n_text_state},
        {"decoder layers", s->n_text_layer, TW_MODEL_LAYERS_MAX},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].value < 1 || checks[i].value > checks[i].max)
            return tw_fail(err, TW_E_FORMAT,
                           "'%s' is damaged or no Whisper model: it claims %d %s (1 to %d are accepted)", file,
                           (int)checks[i].value, checks[i].what, (int)checks[i].max);
    if (s->n_audio_state % s->n_audio_head != 0 || s->n_text_state % s->n_text_head != 0)
        return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: a width of %d and %d does not divide into %d and %d heads",
                       file, (int)s->n_audio_state, (int)s->n_text_state, (int)s->n_audio_head, (int)s->n_text_head);
    if (s->n_audio_state != s->n_text_state)
        return tw_fail(err, TW_E_FORMAT, "'%s' is no Whisper model: encoder and decoder differ in width (%d and %d)",
                       file, (int)s->n_audio_state, (int)s->n_text_state);
    if (s->n_mels != 80 && s->n_mels != 128)
        return tw_fail(err, TW_E_FORMAT,
                       "'%s' is damaged or no Whisper model: it claims %d mel bands (80 or 128 exist)", file,
                       (int)s->n_mels);
    return TW_OK;
}

static int layout_vocab(struct tw_whisper_model *m, const char *file, struct tw_error *err)
{
    struct tw_error why;
    int code = tw_vocab_layout(&m->vocab, m->sizes.n_vocab, &why);
    if (code < 0)
        return tw_fail(err, code, "'%s' cannot be used: %s", file, why.text);
    m->vocab.text = calloc((size_t)m->vocab.text_size, sizeof *m->vocab.text);
    if (m->vocab.text == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the vocabulary of '%s'", file);
    for (int32_t i = 0; i < m->vocab.text_size; i++)
        m->vocab.text[i].bytes = "";
    return TW_OK;
}

int tw_model_new(const struct tw_whisper_sizes *sizes, const char *file, struct tw_whisper_model **model,
                 struct tw_error *err)
{
    *model = NULL;
    int code = check_sizes(sizes, file, err);
    if (code < 0)
        return code;
    struct tw_whisper_model *m = calloc(1, sizeof *m);
    if (m == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the model '%s'", file);
    m->sizes = *sizes;
    m->storage = calloc(1, sizeof *m->storage);
    m->encoder = calloc((size_t)sizes->n_audio_layer, sizeof *m->encoder);
    m->decoder = calloc((size_t)sizes->n_text_layer, sizeof *m->decoder);
    if (m->storage == NULL || m->encoder == NULL || m->decoder == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for the layers of '%s'", file);
    else
        code = layout_vocab(m, file, err);
    if (code < 0) {
        tw_model_close(m);
        return code;
    }
    *model = m;
    return TW_OK;
}

void tw_model_close(struct tw_whisper_model *m)
{
    if (m == NULL)
        return;
    if (m->storage != NULL) {
        for (struct tw_float_block *b = m->storage->floats, *next; b != NULL; b = next) {
            next = b->next;
            free(b);
        }
        free(m->storage->token_bytes);
        tw_file_map_close(&m->storage->map);
    }
    tw_vocab_release(&m->vocab);
    free(m->vocab.text);
    free(m->encoder);
    free(m->decoder);
    free(m->storage);
    free(m);
}

int tw_model_floats(struct tw_whisper_model *m, size_t count, float **floats, struct tw_error *err)
{
    size_t bytes;
    /* The link takes a whole cache line, so that the floats behind it are aligned. */
    unsigned char *memory = NULL;
    if (tw_mul_size(count, sizeof **floats, &bytes) == 0 && bytes <= SIZE_MAX - TW_ALIGN)
        memory = tw_alloc(TW_ALIGN + bytes);
    if (memory == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu numbers of a model", count);
    struct tw_float_block *block = (struct tw_float_block *)memory;
    block->next = m->storage->floats;
    m->storage->floats = block;
    *floats = (float *)(memory + TW_ALIGN);
    memset(*floats, 0, bytes);
    return TW_OK;
}

int tw_model_copy(struct tw_whisper_model *m, enum tw_type type, const void *src, int64_t count, const char *file,
                  const char *what, const float **floats, struct tw_error *err)
{
    float *dst = NULL;
    int code = tw_model_floats(m, (size_t)count, &dst, err);
    if (code < 0)
        return code;
    tw_row_to_f32(type, src, dst, count);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(dst[i]))
            return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: number %lld of %s is not finite; fetch it again", file,
                           (long long)i, what);
    *floats = dst;
    return TW_OK;
}

int tw_model_complete(struct tw_whisper_model *m, struct tw_error *err)
{
    snprintf(m->type_name, sizeof m->type_name, "%s", tw_type_info(m->token_embedding.type)->name);
    return tw_vocab_index(&m->vocab, err);
}

struct list {
    struct tw_model_part *parts;
    size_t count;
    char prefix[32]; /* of the names that follow */
};

static struct tw_model_part *add(struct list *l, enum tw_model_part_kind kind, const char *name)
{
    struct tw_model_part *p = &l->parts[l->count++];
    *p = (struct tw_model_part){.kind = kind, .n_dims = 1, .dims = {1, 1, 1}};
    snprintf(p->name, sizeof p->name, "%s%s", l->prefix, name);
    return p;
}

static void add_matrix(struct list *l, const char *name, struct tw_matrix *m, int64_t cols, int64_t rows)
{
    struct tw_model_part *p = add(l, TW_PART_MATRIX, name);
    p->n_dims = 2;
    p->dims[0] = cols;
    p->dims[1] = rows;
    p->matrix = m;
}

static void add_vector(struct list *l, const char *name, const float **v, int64_t size)
{
    struct tw_model_part *p = add(l, TW_PART_VECTOR, name);
    p->dims[0] = size;
    p->vector = v;
}

/* Vectors that files store with two dimensions. */
static void add_table(struct list *l, const char *name, const float **v, int64_t cols, int64_t rows)
{
    add_vector(l, name, v, cols);
    l->parts[l->count - 1].n_dims = 2;
    l->parts[l->count - 1].dims[1] = rows;
}

static void add_conv(struct list *l, const char *weight, const char *bias, struct tw_linear *conv, int64_t in,
                     int64_t out)
{
    struct tw_model_part *p = add(l, TW_PART_CONV, weight);
    p->n_dims = 3;
    p->dims[0] = 3;
    p->dims[1] = in;
    p->dims[2] = out;
    p->matrix = &conv->weight;
    add_table(l, bias, &conv->bias, 1, out);
}

static void add_norm(struct list *l, const char *weight, const char *bias, struct tw_norm *n, int64_t width)
{
    add_vector(l, weight, &n->gain, width);
    add_vector(l, bias, &n->shift, width);
}

static void add_linear(struct list *l, const char *weight, const char *bias, struct tw_linear *w, int64_t cols,
                       int64_t rows)
{
    add_matrix(l, weight, &w->weight, cols, rows);
    add_vector(l, bias, &w->bias, rows);
}

static void add_mlp(struct list *l, struct tw_norm *norm, struct tw_linear *up, struct tw_linear *down, int64_t width)
{
    add_norm(l, "mlp_ln.weight", "mlp_ln.bias", norm, width);
    add_linear(l, "mlp.0.weight", "mlp.0.bias", up, width, 4 * width);
    add_linear(l, "mlp.2.weight", "mlp.2.bias", down, 4 * width, width);
}

/* name is "attn" or "cross_attn", the layer's prefix is set. */
static void add_attention(struct list *l, const char *name, struct tw_attention_weights *a, int64_t width)
{
    size_t layer = strlen(l->prefix);
    snprintf(l->prefix + layer, sizeof l->prefix - layer, "%s", name);
    add_norm(l, "_ln.weight", "_ln.bias", &a->norm, width);
    add_linear(l, ".query.weight", ".query.bias", &a->q, width, width);
    add_matrix(l, ".key.weight", &a->k.weight, width, width);
    add_linear(l, ".value.weight", ".value.bias", &a->v, width, width);
    add_linear(l, ".out.weight", ".out.bias", &a->out, width, width);
    l->prefix[layer] = '\0';
}

static void add_decoder(struct list *l, struct tw_whisper_model *m)
{
    int64_t width = m->sizes.n_text_state;
    for (int i = 0; i < m->sizes.n_text_layer; i++) {
        struct tw_decoder_layer *layer = &m->decoder[i];
        snprintf(l->prefix, sizeof l->prefix, "decoder.blocks.%d.", i);
        add_mlp(l, &layer->mlp_norm, &layer->mlp_up, &layer->mlp_down, width);
        add_attention(l, "attn", &layer->self, width);
        add_attention(l, "cross_attn", &layer->cross, width);
    }
    l->prefix[0] = '\0';
    add_norm(l, "decoder.ln.weight", "decoder.ln.bias", &m->decoder_norm, width);
}

static void add_encoder(struct list *l, struct tw_whisper_model *m)
{
    int64_t width = m->sizes.n_audio_state;
    add_conv(l, "encoder.conv1.weight", "encoder.conv1.bias", &m->conv1, m->sizes.n_mels, width);
    add_conv(l, "encoder.conv2.weight", "encoder.conv2.bias", &m->conv2, width, width);
    for (int i = 0; i < m->sizes.n_audio_layer; i++) {
        struct tw_encoder_layer *layer = &m->encoder[i];
        snprintf(l->prefix, sizeof l->prefix, "encoder.blocks.%d.", i);
        add_mlp(l, &layer->mlp_norm, &layer->mlp_up, &layer->mlp_down, width);
        add_attention(l, "attn", &layer->self, width);
    }
    l->prefix[0] = '\0';
    add_norm(l, "encoder.ln_post.weight", "encoder.ln_post.bias", &m->encoder_norm, width);
}

int tw_model_parts(struct tw_whisper_model *m, struct tw_model_part **parts, size_t *count, struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &m->sizes;
    *count =
        PARTS_OUTSIDE + PARTS_ENCODER_LAYER * (size_t)s->n_audio_layer + PARTS_DECODER_LAYER * (size_t)s->n_text_layer;
    struct list l = {.parts = calloc(*count, sizeof **parts)};
    if (l.parts == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a list of %zu tensors", *count);
    add_table(&l, "decoder.positional_embedding", &m->text_positions, s->n_text_state, s->n_text_ctx);
    add_table(&l, "encoder.positional_embedding", &m->audio_positions, s->n_audio_state, s->n_audio_ctx);
    add_matrix(&l, "decoder.token_embedding.weight", &m->token_embedding, s->n_text_state, s->n_vocab);
    add_decoder(&l, m);
    add_encoder(&l, m);
    *parts = l.parts;
    return TW_OK;
}

int64_t tw_model_part_numbers(const struct tw_model_part *part)
{
    return part->dims[0] * part->dims[1] * part->dims[2];
}
