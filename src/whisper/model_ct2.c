#include "whisper/model_ct2.h"

#include "base/little_endian.h"
#include "whisper/ct2_variables.h"
#include "whisper/model_parts.h"
#include "whisper/vocab_file.h"

#include <stdio.h>
#include <string.h>

#define HEAD_WIDTH 64 /* of every published Whisper model */
#define STACKED_MAX 3 /* matrices that are stored as one: query, key, value */

struct reader {
    struct tw_ct2_variables variables;
    struct tw_whisper_model *model;
    const char *file;
    enum tw_type type; /* of the large matrices */
    int code;          /* the first failure; what follows it does nothing */
    struct tw_error *err;
};

static struct tw_ct2_variable *find(struct reader *r, const char *name)
{
    struct tw_ct2_variable *v = tw_ct2_find(&r->variables, name);
    if (v == NULL)
        r->code = tw_fail(r->err, TW_E_FORMAT, "'%s' is not a complete Whisper model: %s is missing", r->file, name);
    else
        v->used = 1;
    return v;
}

/* The variable of this name if its shape is this one (missing dimensions are 1). */
static struct tw_ct2_variable *take(struct reader *r, const char *name, int rank, int64_t a, int64_t b, int64_t c)
{
    const int64_t dims[] = {a, b, c};
    struct tw_ct2_variable *v = r->code < 0 ? NULL : find(r, name);
    if (v == NULL)
        return NULL;
    int same = v->rank == rank;
    for (int i = 0; i < rank && same; i++)
        same = v->dims[i] == dims[i];
    if (!same) {
        r->code = tw_fail(r->err, TW_E_FORMAT, "'%s' is not a Whisper model: %s has another shape than %d x %d x %d",
                          r->file, name, (int)a, (int)b, (int)c);
        return NULL;
    }
    return v;
}

/* Our type for a variable of weights. */
static enum tw_type weight_type(struct reader *r, const struct tw_ct2_variable *v)
{
    if (v->type == TW_CT2_F32)
        return TW_F32;
    if (v->type != TW_CT2_F16 && r->code == TW_OK)
        r->code =
            tw_fail(r->err, TW_E_UNSUPPORTED,
                    "'%s' stores its weights as %s (%s); only float16 and float32 can be read: convert the model with "
                    "--quantization float16",
                    r->file, tw_ct2_type_name(v->type), v->name);
    return TW_F16;
}

static void name_of(char *dst, size_t size, const char *prefix, const char *name)
{
    snprintf(dst, size, "%s/%s", prefix, name);
}

/* n matrices of rows x cols, stored as one. */
static void read_matrices(struct reader *r, const char *name, struct tw_matrix *const dst[], int n, int64_t rows,
                          int64_t cols)
{
    const struct tw_ct2_variable *v = take(r, name, 2, n * rows, cols, 1);
    if (v == NULL)
        return;
    enum tw_type type = weight_type(r, v);
    if (r->code == TW_OK && type != r->type)
        r->code = tw_fail(r->err, TW_E_UNSUPPORTED, "'%s' mixes number formats: %s is %s, unlike the token embedding",
                          r->file, name, tw_ct2_type_name(v->type));
    size_t bytes = tw_row_bytes(type, cols) * (size_t)rows;
    for (int i = 0; i < n; i++)
        *dst[i] = (struct tw_matrix){.type = type, .rows = rows, .cols = cols, .data = v->data + (size_t)i * bytes};
}

/* n vectors of `size` numbers, stored as one of the given shape. */
static void copy_vectors(struct reader *r, const struct tw_ct2_variable *v, const float **const dst[], int n,
                         int64_t size)
{
    if (v == NULL)
        return;
    enum tw_type type = weight_type(r, v);
    for (int i = 0; i < n && r->code == TW_OK; i++)
        r->code = tw_model_copy(r->model, type, v->data + (size_t)i * tw_row_bytes(type, size), size, r->file, v->name,
                                dst[i], r->err);
}

static void read_vector(struct reader *r, const char *prefix, const char *name, const float **dst, int64_t size)
{
    char full[96];
    name_of(full, sizeof full, prefix, name);
    copy_vectors(r, take(r, full, 1, size, 1, 1), &dst, 1, size);
}

static void read_table(struct reader *r, const char *name, const float **dst, int64_t rows, int64_t cols)
{
    copy_vectors(r, take(r, name, 2, rows, cols, 1), &dst, 1, rows * cols);
}

static void read_norm(struct reader *r, const char *prefix, struct tw_norm *norm)
{
    read_vector(r, prefix, "gamma", &norm->gain, r->model->sizes.n_text_state);
    read_vector(r, prefix, "beta", &norm->shift, r->model->sizes.n_text_state);
}

/* n linear layers of rows x cols, stored as one. */
static void read_linear(struct reader *r, const char *prefix, const char *name, struct tw_linear *const dst[], int n,
                        int64_t rows, int64_t cols)
{
    char base[64], full[96];
    struct tw_matrix *weights[STACKED_MAX] = {0};
    const float **biases[STACKED_MAX] = {0};
    for (int i = 0; i < n; i++) {
        weights[i] = &dst[i]->weight;
        biases[i] = &dst[i]->bias;
    }
    name_of(base, sizeof base, prefix, name);
    name_of(full, sizeof full, base, "weight");
    read_matrices(r, full, weights, n, rows, cols);
    name_of(full, sizeof full, base, "bias");
    copy_vectors(r, take(r, full, 1, n * rows, 1, 1), biases, n, rows);
}

static void read_conv(struct reader *r, const char *prefix, struct tw_linear *conv, int64_t in, int64_t out)
{
    char full[96];
    name_of(full, sizeof full, prefix, "weight");
    const struct tw_ct2_variable *v = take(r, full, 3, out, in, 3);
    if (v != NULL)
        conv->weight = (struct tw_matrix){.type = weight_type(r, v), .rows = out, .cols = 3 * in, .data = v->data};
    read_vector(r, prefix, "bias", &conv->bias, out);
}

/* Whisper's keys have no bias; this format stores zeros for it. */
static void drop_zero_bias(struct tw_linear *keys)
{
    for (int64_t i = 0; keys->bias != NULL && i < keys->weight.rows; i++)
        if (keys->bias[i] != 0)
            return;
    keys->bias = NULL;
}

static void read_self_attention(struct reader *r, const char *layer, struct tw_attention_weights *a)
{
    int64_t width = r->model->sizes.n_text_state;
    char prefix[64];
    name_of(prefix, sizeof prefix, layer, "self_attention/layer_norm");
    read_norm(r, prefix, &a->norm);
    read_linear(r, layer, "self_attention/linear_0", (struct tw_linear *[]){&a->q, &a->k, &a->v}, 3, width, width);
    read_linear(r, layer, "self_attention/linear_1", (struct tw_linear *[]){&a->out}, 1, width, width);
    drop_zero_bias(&a->k);
}

static void read_cross_attention(struct reader *r, const char *layer, struct tw_attention_weights *a)
{
    int64_t width = r->model->sizes.n_text_state;
    char prefix[64];
    name_of(prefix, sizeof prefix, layer, "attention/layer_norm");
    read_norm(r, prefix, &a->norm);
    read_linear(r, layer, "attention/linear_0", (struct tw_linear *[]){&a->q}, 1, width, width);
    read_linear(r, layer, "attention/linear_1", (struct tw_linear *[]){&a->k, &a->v}, 2, width, width);
    read_linear(r, layer, "attention/linear_2", (struct tw_linear *[]){&a->out}, 1, width, width);
    drop_zero_bias(&a->k);
}

static void read_mlp(struct reader *r, const char *layer, struct tw_norm *norm, struct tw_linear *up,
                     struct tw_linear *down)
{
    int64_t width = r->model->sizes.n_text_state;
    char prefix[64];
    name_of(prefix, sizeof prefix, layer, "ffn/layer_norm");
    read_norm(r, prefix, norm);
    read_linear(r, layer, "ffn/linear_0", &up, 1, 4 * width, width);
    read_linear(r, layer, "ffn/linear_1", &down, 1, width, 4 * width);
}

static void read_encoder(struct reader *r)
{
    struct tw_whisper_model *m = r->model;
    int64_t width = m->sizes.n_audio_state;
    read_conv(r, "encoder/conv1", &m->conv1, m->sizes.n_mels, width);
    read_conv(r, "encoder/conv2", &m->conv2, width, width);
    read_table(r, "encoder/position_encodings/encodings", &m->audio_positions, m->sizes.n_audio_ctx, width);
    read_norm(r, "encoder/layer_norm", &m->encoder_norm);
    for (int i = 0; i < m->sizes.n_audio_layer && r->code == TW_OK; i++) {
        char layer[32];
        snprintf(layer, sizeof layer, "encoder/layer_%d", i);
        read_self_attention(r, layer, &m->encoder[i].self);
        read_mlp(r, layer, &m->encoder[i].mlp_norm, &m->encoder[i].mlp_up, &m->encoder[i].mlp_down);
    }
}

static void read_decoder(struct reader *r)
{
    struct tw_whisper_model *m = r->model;
    int64_t width = m->sizes.n_text_state;
    read_matrices(r, "decoder/embeddings/weight", (struct tw_matrix *[]){&m->token_embedding}, 1, m->sizes.n_vocab,
                  width);
    read_table(r, "decoder/position_encodings/encodings", &m->text_positions, m->sizes.n_text_ctx, width);
    read_norm(r, "decoder/layer_norm", &m->decoder_norm);
    for (int i = 0; i < m->sizes.n_text_layer && r->code == TW_OK; i++) {
        char layer[32];
        snprintf(layer, sizeof layer, "decoder/layer_%d", i);
        read_self_attention(r, layer, &m->decoder[i].self);
        read_cross_attention(r, layer, &m->decoder[i].cross);
        read_mlp(r, layer, &m->decoder[i].mlp_norm, &m->decoder[i].mlp_up, &m->decoder[i].mlp_down);
    }
}

/* Dimension i of a variable that must be there; the sizes of the model come from a few of them. */
static int32_t dimension(struct reader *r, const char *name, int i)
{
    const struct tw_ct2_variable *v = r->code < 0 ? NULL : find(r, name);
    if (v == NULL || i >= v->rank)
        return 0;
    return v->dims[i] > INT32_MAX ? INT32_MAX : (int32_t)v->dims[i];
}

static int32_t count_layers(const struct reader *r, const char *side)
{
    for (int32_t n = 0; n <= TW_MODEL_LAYERS_MAX; n++) {
        char name[64];
        snprintf(name, sizeof name, "%s/layer_%d/self_attention/linear_0/weight", side, (int)n);
        if (tw_ct2_find(&r->variables, name) == NULL)
            return n;
    }
    return TW_MODEL_LAYERS_MAX + 1;
}

/* The first number of a variable of whole numbers. */
static int whole_number(const struct tw_ct2_variable *v, int32_t *value)
{
    if (v->type == TW_CT2_I8) {
        *value = (int8_t)v->data[0];
    } else if (v->type == TW_CT2_I16) {
        *value = (int16_t)tw_load_u16(v->data);
    } else if (v->type == TW_CT2_I32) {
        uint32_t bits = tw_load_u32(v->data);
        memcpy(value, &bits, sizeof bits);
    } else {
        return 0;
    }
    return 1;
}

static int32_t count_heads(const struct reader *r, const char *name, int32_t width)
{
    const struct tw_ct2_variable *v = tw_ct2_find(&r->variables, name);
    int32_t heads;
    return v != NULL && whole_number(v, &heads) ? heads : width / HEAD_WIDTH;
}

static void make_model(struct reader *r)
{
    struct tw_whisper_sizes s = {
        .n_vocab = dimension(r, "decoder/embeddings/weight", 0),
        .n_audio_ctx = dimension(r, "encoder/position_encodings/encodings", 0),
        .n_audio_state = dimension(r, "encoder/position_encodings/encodings", 1),
        .n_audio_layer = count_layers(r, "encoder"),
        .n_text_ctx = dimension(r, "decoder/position_encodings/encodings", 0),
        .n_text_state = dimension(r, "decoder/embeddings/weight", 1),
        .n_text_layer = count_layers(r, "decoder"),
        .n_mels = dimension(r, "encoder/conv1/weight", 1),
    };
    s.n_audio_head = count_heads(r, "encoder/num_heads", s.n_audio_state);
    s.n_text_head = count_heads(r, "decoder/num_heads", s.n_text_state);
    if (r->code == TW_OK)
        r->code = tw_model_new(&s, r->file, &r->model, r->err);
    if (r->code == TW_OK)
        r->type = weight_type(r, tw_ct2_find(&r->variables, "decoder/embeddings/weight"));
}

/* The last word of a setting's name, and what it must be: Whisper is a pre-norm transformer with GELU. */
static int setting_is_fine(const struct tw_ct2_variable *v)
{
    static const struct {
        const char *name;
        int32_t value; /* -1: any */
    } known[] = {
        {"activation", 3}, {"pre_norm", 1}, {"num_heads", -1}, {"alignment_layer", -1}, {"alignment_heads", -1},
    };
    const char *slash = strrchr(v->name, '/'), *last = slash == NULL ? v->name : slash + 1;
    int32_t value = 0;
    if (!whole_number(v, &value))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(last, known[i].name) == 0)
            return known[i].value == -1 || (v->count == 1 && value == known[i].value);
    /* Other settings switch something on that Whisper does not have; off, they may be there. */
    return v->rank == 0 && value == 0;
}

static void check_rest(struct reader *r)
{
    for (size_t i = 0; i < r->variables.count && r->code == TW_OK; i++) {
        const struct tw_ct2_variable *v = &r->variables.list[i];
        if (!v->used && !setting_is_fine(v))
            r->code = tw_fail(r->err, TW_E_UNSUPPORTED,
                              "'%s' cannot be used: %s is unknown or has a value that Whisper lacks", r->file, v->name);
    }
}

static void read_filters(struct reader *r)
{
    float *filters;
    r->code = tw_model_floats(r->model, (size_t)r->model->sizes.n_mels * TW_MEL_FILTER_BINS, &filters, r->err);
    if (r->code < 0)
        return;
    tw_mel_filters(r->model->sizes.n_mels, filters);
    r->model->mel_filters = filters;
}

static void read_all(struct reader *r, const struct tw_ct2_files *f)
{
    r->code = tw_ct2_variables_read(f->model, f->model_size, r->file, &r->variables, r->err);
    if (r->code == TW_OK)
        make_model(r);
    if (r->code < 0)
        return;
    read_encoder(r);
    read_decoder(r);
    if (r->code == TW_OK)
        check_rest(r);
    if (r->code == TW_OK)
        read_filters(r);
    if (r->code == TW_OK)
        r->code = tw_vocab_read(&r->model->vocab, f->vocabulary, f->vocabulary_size, f->vocabulary_is_json, f->name,
                                &r->model->storage->token_bytes, r->err);
    if (r->code == TW_OK)
        r->code = tw_model_complete(r->model, r->err);
}

int tw_model_parse_ct2(const struct tw_ct2_files *files, struct tw_whisper_model **model, struct tw_error *err)
{
    struct reader r = {.file = files->name, .err = err};
    read_all(&r, files);
    tw_ct2_variables_release(&r.variables);
    if (r.code < 0) {
        tw_model_close(r.model);
        r.model = NULL;
    }
    *model = r.model;
    return r.code;
}
