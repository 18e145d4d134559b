/* Model files in ggml form: what is read, what is written, and everything that must be refused. */
#include "whisper/synthetic.h"

#include "base/file_map.h"
#include "base/half.h"
#include "base/random.h"
#include "cli/folder.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

/* Files that are damaged; on one thread, where the thread sanitizer has nothing to find and takes ten times as long. */
#if defined(__SANITIZE_THREAD__)
enum { DAMAGED = 40 };
#else
enum { DAMAGED = 400 };
#endif

#define NAME "test.bin"
#define FILTERS_AT 48
#define VOCABULARY_AT (FILTERS_AT + 8 + 80 * 201 * 4)

/* Parses a copy in a block of exactly that size, so that a sanitizer sees reads past the end. */
static int parse_copy(const unsigned char *data, size_t size, struct tw_error *err)
{
    unsigned char *copy = malloc(size == 0 ? 1 : size);
    struct tw_whisper_model *m;
    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, data, size);
    *err = (struct tw_error){0};
    int code = tw_model_parse_ggml(copy, size, NAME, &m, err);
    assert_true(code == TW_OK ? m != NULL : m == NULL && err->code == code && err->text[0] != '\0');
    tw_model_close(m);
    free(copy);
    return code;
}

/* The file must be refused with this code and a sentence that has these words and names the file. */
static void assert_refused(const struct bytes *file, int code, const char *words)
{
    struct tw_error err;
    int got = parse_copy(file->data, file->size, &err);
    if (got != code || strstr(err.text, words) == NULL || strstr(err.text, NAME) == NULL)
        fail_msg("expected %d with '%s', got %d: %s", code, words, got, err.text);
}

static struct bytes smallest(void)
{
    struct synthetic_options o = synthetic_smallest();
    struct bytes file = {0};
    synthetic_ggml(&o, &file);
    return file;
}

static void set_u32(struct bytes *b, size_t at, uint32_t v)
{
    assert_true(at + 4 <= b->size);
    for (int i = 0; i < 4; i++)
        b->data[at + (size_t)i] = (unsigned char)(v >> 8 * i);
}

static void assert_vector(const struct synthetic_options *o, const char *name, const float *got, size_t count)
{
    float *expected = malloc(count * sizeof *expected);
    assert_non_null(expected);
    synthetic_weights(o, name, expected, count);
    assert_memory_equal(got, expected, count * sizeof *expected);
    free(expected);
}

/* A matrix is worth what the stored form of the weights is. */
static void assert_matrix(const struct synthetic_options *o, const char *name, const struct tw_matrix *m,
                          enum tw_type type, int64_t rows, int64_t cols)
{
    size_t count = (size_t)(rows * cols), bytes = tw_row_bytes(type, rows * cols);
    float *w = malloc(count * sizeof *w);
    unsigned char *stored = malloc(bytes);
    assert_true(w != NULL && stored != NULL);
    assert_int_equal(m->type, type);
    assert_int_equal(m->rows, rows);
    assert_int_equal(m->cols, cols);
    synthetic_weights(o, name, w, count);
    tw_row_from_f32(type, w, stored, rows * cols);
    assert_memory_equal(m->data, stored, bytes);
    free(w);
    free(stored);
}

static void assert_layers(const struct synthetic_options *o, const struct tw_whisper_model *m)
{
    int64_t w = o->sizes.n_text_state;
    const struct tw_encoder_layer *e = &m->encoder[1];
    const struct tw_decoder_layer *d = &m->decoder[1];
    assert_matrix(o, "encoder.blocks.1.attn.query.weight", &e->self.q.weight, o->type, w, w);
    assert_matrix(o, "encoder.blocks.1.attn.key.weight", &e->self.k.weight, o->type, w, w);
    assert_matrix(o, "encoder.blocks.1.attn.value.weight", &e->self.v.weight, o->type, w, w);
    assert_matrix(o, "encoder.blocks.1.attn.out.weight", &e->self.out.weight, o->type, w, w);
    assert_matrix(o, "encoder.blocks.1.mlp.0.weight", &e->mlp_up.weight, o->type, 4 * w, w);
    assert_matrix(o, "encoder.blocks.1.mlp.2.weight", &e->mlp_down.weight, o->type, w, 4 * w);
    assert_vector(o, "encoder.blocks.1.mlp.0.bias", e->mlp_up.bias, 4 * (size_t)w);
    assert_vector(o, "encoder.blocks.1.mlp.2.bias", e->mlp_down.bias, (size_t)w);
    assert_vector(o, "encoder.blocks.1.attn.query.bias", e->self.q.bias, (size_t)w);
    assert_vector(o, "encoder.blocks.1.attn_ln.weight", e->self.norm.gain, (size_t)w);
    assert_vector(o, "encoder.blocks.1.mlp_ln.bias", e->mlp_norm.shift, (size_t)w);
    assert_null(e->self.k.bias);
    assert_matrix(o, "decoder.blocks.1.attn.value.weight", &d->self.v.weight, o->type, w, w);
    assert_matrix(o, "decoder.blocks.1.cross_attn.query.weight", &d->cross.q.weight, o->type, w, w);
    assert_matrix(o, "decoder.blocks.1.cross_attn.key.weight", &d->cross.k.weight, o->type, w, w);
    assert_vector(o, "decoder.blocks.1.cross_attn.value.bias", d->cross.v.bias, (size_t)w);
    assert_vector(o, "decoder.blocks.1.cross_attn.out.bias", d->cross.out.bias, (size_t)w);
    assert_vector(o, "decoder.blocks.1.cross_attn_ln.bias", d->cross.norm.shift, (size_t)w);
    assert_vector(o, "decoder.blocks.1.attn_ln.weight", d->self.norm.gain, (size_t)w);
    assert_null(d->self.k.bias);
    assert_null(d->cross.k.bias);
}

static void assert_model(const struct synthetic_options *o, const struct tw_whisper_model *m)
{
    const struct tw_whisper_sizes *s = &o->sizes;
    enum tw_type conv = o->type == TW_F32 ? TW_F32 : TW_F16;
    size_t w = (size_t)s->n_text_state;
    float filters[80 * 201];
    assert_memory_equal(&m->sizes, s, sizeof *s);
    assert_string_equal(m->type_name, tw_type_info(o->type)->name);
    assert_matrix(o, "decoder.token_embedding.weight", &m->token_embedding, o->type, s->n_vocab, s->n_text_state);
    assert_matrix(o, "encoder.conv1.weight", &m->conv1.weight, conv, s->n_audio_state, 3 * s->n_mels);
    assert_matrix(o, "encoder.conv2.weight", &m->conv2.weight, conv, s->n_audio_state, 3 * s->n_audio_state);
    assert_vector(o, "encoder.conv1.bias", m->conv1.bias, w);
    assert_vector(o, "encoder.conv2.bias", m->conv2.bias, w);
    assert_vector(o, "encoder.positional_embedding", m->audio_positions, w * (size_t)s->n_audio_ctx);
    assert_vector(o, "decoder.positional_embedding", m->text_positions, w * (size_t)s->n_text_ctx);
    assert_vector(o, "encoder.ln_post.weight", m->encoder_norm.gain, w);
    assert_vector(o, "decoder.ln.bias", m->decoder_norm.shift, w);
    tw_mel_filters(80, filters);
    assert_memory_equal(m->mel_filters, filters, sizeof filters);
    assert_layers(o, m);
}

static void assert_tokens(const struct synthetic_options *o, const struct tw_whisper_model *m)
{
    for (int32_t i = 0; i < m->vocab.text_size; i++) {
        char token[16];
        size_t n = synthetic_token(o, i, token);
        assert_int_equal(m->vocab.text[i].size, n);
        assert_memory_equal(m->vocab.text[i].bytes, token, n);
    }
    assert_int_equal(m->vocab.size, o->sizes.n_vocab);
}

static void every_type_is_read(void **state)
{
    const enum tw_type types[] = {TW_F32, TW_F16, TW_Q5_0, TW_Q8_0};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct synthetic_options o = synthetic_defaults();
        struct bytes file = {0};
        o.type = types[i];
        o.sizes.n_vocab = i % 2 ? 51864 : 51865;
        struct tw_whisper_model *m = synthetic_model(&o, &file);
        assert_non_null(m);
        assert_model(&o, m);
        assert_tokens(&o, m);
        tw_model_close(m);
        bytes_free(&file);
    }
}

static void any_alignment_will_do(void **state)
{
    struct synthetic_options o = synthetic_defaults();
    struct bytes file = {0}, shifted = {0};
    (void)state;
    synthetic_ggml(&o, &file);
    for (size_t shift = 1; shift < 4; shift++) {
        struct tw_whisper_model *m;
        shifted.size = 0;
        bytes_put(&shifted, "xxx", shift);
        bytes_put(&shifted, file.data, file.size);
        assert_int_equal(tw_model_parse_ggml(shifted.data + shift, file.size, NAME, &m, NULL), 0);
        assert_layers(&o, m);
        tw_model_close(m);
    }
    bytes_free(&file);
    bytes_free(&shifted);
}

static void what_is_written_is_what_was_read(void **state)
{
    const enum tw_type types[] = {TW_F32, TW_F16, TW_Q5_0, TW_Q8_0};
    struct folder folder;
    char path[2 * FOLDER_PATH];
    (void)state;
    folder_create(&folder);
    folder_path(&folder, "copy.bin", path);
    for (size_t i = 0; i < 4; i++) {
        struct synthetic_options o = synthetic_smallest();
        struct bytes file = {0};
        struct tw_file_map copy;
        o.type = types[i];
        o.sizes.n_vocab = 51864 + (int32_t)i % 3;
        o.sizes.n_mels = i == 2 ? 128 : 80;
        struct tw_whisper_model *m = synthetic_model(&o, &file), *opened;
        assert_non_null(m);
        assert_int_equal(tw_model_write_ggml(m, path, NULL), 0);
        assert_int_equal(tw_file_map_open(path, &copy, NULL), 0);
        assert_int_equal(copy.size, file.size);
        assert_memory_equal(copy.data, file.data, file.size);
        tw_file_map_close(&copy);
        assert_int_equal(folder_count(&folder, ""), 1);
        /* Over the very file that the model is mapped from. */
        assert_int_equal(tw_model_open(path, &opened, NULL), 0);
        assert_int_equal(tw_model_write_ggml(opened, path, NULL), 0);
        assert_tokens(&o, opened);
        tw_model_close(opened);
        tw_model_close(m);
        bytes_free(&file);
    }
    folder_remove(&folder);
}

static void a_failed_write_leaves_nothing(void **state)
{
    struct synthetic_options o = synthetic_smallest();
    struct bytes file = {0};
    struct tw_whisper_model *m = synthetic_model(&o, &file);
    struct folder folder;
    struct rlimit before, small = {300000, 0};
    struct tw_error err;
    char path[2 * FOLDER_PATH];
    (void)state;
    folder_create(&folder);
    folder_put(&folder, "old.bin", "old", 3);
    folder_path(&folder, "old.bin", path);
    /* A limit on the size of files stands in for a full disk. */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = tw_model_write_ggml(m, path, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, TW_E_IO);
    assert_non_null(strstr(err.text, "old.bin"));
    assert_int_equal(folder_count(&folder, ""), 1);
    char *old = folder_get(&folder, "old.bin", NULL);
    assert_string_equal(old, "old");
    free(old);
    folder_path(&folder, "missing/new.bin", path);
    assert_int_equal(tw_model_write_ggml(m, path, &err), TW_E_NOT_FOUND);
    tw_model_close(m);
    folder_remove(&folder);
    bytes_free(&file);
}

static void headers_that_no_model_has(void **state)
{
    static const struct {
        int field;
        uint32_t value;
        int code;
        const char *words;
    } cases[] = {
        {0, 0, TW_E_FORMAT, "0 tokens"},
        {0, 51867, TW_E_UNSUPPORTED, "51867 tokens"},
        {0, 0x7fffffff, TW_E_FORMAT, "tokens"},
        {1, 0, TW_E_FORMAT, "audio positions"},
        {1, 1u << 30, TW_E_FORMAT, "audio positions"},
        {2, 0, TW_E_FORMAT, "width"},
        {2, 64, TW_E_FORMAT, "differ in width"},
        {2, 8193, TW_E_FORMAT, "width"},
        {3, 0, TW_E_FORMAT, "encoder heads"},
        {3, 5, TW_E_FORMAT, "divide"},
        {3, 64, TW_E_FORMAT, "encoder heads"},
        {4, 0, TW_E_FORMAT, "encoder layers"},
        {4, 65, TW_E_FORMAT, "encoder layers"},
        {4, 0xffffffffu, TW_E_FORMAT, "encoder layers"},
        {5, 0x80000000u, TW_E_FORMAT, "text positions"},
        {6, 96, TW_E_FORMAT, "differ in width"},
        {7, 3, TW_E_FORMAT, "divide"},
        {8, 1000, TW_E_FORMAT, "decoder layers"},
        {9, 81, TW_E_FORMAT, "81 mel bands"},
        {9, 128, TW_E_FORMAT, "mel filters"},
        {10, 2, TW_E_UNSUPPORTED, "q4_0"},
        {10, 2003, TW_E_UNSUPPORTED, "q4_1"},
        {10, 2009, TW_E_UNSUPPORTED, "q5_1"},
        {10, 2010, TW_E_UNSUPPORTED, "q2_k"},
        {10, 24, TW_E_UNSUPPORTED, "bf16"},
        {10, 999, TW_E_FORMAT, "number format 999"},
        {10, 0xffffffffu, TW_E_FORMAT, "number format"},
        {10, 1, TW_E_FORMAT, "decoder.token_embedding.weight is stored as q8_0"},
    };
    struct bytes file = smallest();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char kept[4];
        size_t at = 4 + 4 * (size_t)cases[i].field;
        memcpy(kept, file.data + at, 4);
        set_u32(&file, at, cases[i].value);
        assert_refused(&file, cases[i].code, cases[i].words);
        memcpy(file.data + at, kept, 4);
    }
    bytes_free(&file);
}

static void filters_and_tokens_that_do_not_fit(void **state)
{
    struct bytes file = smallest();
    (void)state;
    set_u32(&file, FILTERS_AT, 79);
    assert_refused(&file, TW_E_FORMAT, "79 x 201");
    set_u32(&file, FILTERS_AT, 80);
    set_u32(&file, FILTERS_AT + 4, 0x80000000u);
    assert_refused(&file, TW_E_FORMAT, "mel filters");
    set_u32(&file, FILTERS_AT + 4, 201);
    set_u32(&file, FILTERS_AT + 8 + 400, tw_float_bits(NAN));
    assert_refused(&file, TW_E_FORMAT, "not finite");
    set_u32(&file, FILTERS_AT + 8 + 400, 0);
    set_u32(&file, VOCABULARY_AT, 50254);
    assert_refused(&file, TW_E_FORMAT, "50254 tokens");
    set_u32(&file, VOCABULARY_AT, 51865);
    assert_refused(&file, TW_E_FORMAT, "51865 tokens");
    set_u32(&file, VOCABULARY_AT, 0xffffffffu);
    assert_refused(&file, TW_E_FORMAT, "-1 tokens");
    set_u32(&file, VOCABULARY_AT, 50257);
    set_u32(&file, VOCABULARY_AT + 4, 1025);
    assert_refused(&file, TW_E_FORMAT, "token 0 claims 1025");
    set_u32(&file, VOCABULARY_AT + 4, 0xfffffff0u);
    assert_refused(&file, TW_E_FORMAT, "token 0");
    bytes_free(&file);
}

/* Start of the header of the tensor of that name, which has n_dims dimensions. */
static size_t header_of(const struct bytes *file, const char *name, int n_dims)
{
    size_t at = bytes_find(file, name, VOCABULARY_AT);
    assert_true(at != SIZE_MAX);
    return at - 12 - 4 * (size_t)n_dims;
}

/* Sets a number of a tensor's header (offset in bytes) for one check. */
static void assert_tensor_refused(struct bytes *file, const char *name, int n_dims, size_t offset, uint32_t value,
                                  const char *words)
{
    unsigned char kept[4];
    size_t at = header_of(file, name, n_dims) + offset;
    memcpy(kept, file->data + at, 4);
    set_u32(file, at, value);
    assert_refused(file, TW_E_FORMAT, words);
    memcpy(file->data + at, kept, 4);
}

static void tensors_that_do_not_fit(void **state)
{
    struct bytes file = smallest();
    (void)state;
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 0, 0, "0 dimensions");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 0, 5, "5 dimensions");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 4, 0, "name of 0 bytes");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 4, 0x80000000u, "name of");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 4, 19, "not known");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 8, 8, "expected f16 or f32");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 12, 4, "4 x 80 x 32");
    assert_tensor_refused(&file, "encoder.conv1.weight", 3, 20, 0xffffffffu, "shape");
    assert_tensor_refused(&file, "decoder.ln.bias", 1, 8, 1, "expected f32");
    assert_tensor_refused(&file, "decoder.ln.bias", 1, 8, 77, "unknown format");
    assert_tensor_refused(&file, "decoder.ln.bias", 1, 12, 64, "shape");
    assert_tensor_refused(&file, "decoder.blocks.0.mlp.0.weight", 2, 8, 1, "stored as f16");
    assert_tensor_refused(&file, "decoder.blocks.0.mlp.0.weight", 2, 8, 2, "stored as q4_0");
    assert_tensor_refused(&file, "decoder.blocks.0.mlp.0.weight", 2, 12, 128, "shape");
    size_t value = header_of(&file, "decoder.ln.bias", 1) + 16 + strlen("decoder.ln.bias");
    set_u32(&file, value, tw_float_bits(INFINITY));
    assert_refused(&file, TW_E_FORMAT, "decoder.ln.bias is not finite");
    bytes_free(&file);
}

static void tensors_too_many_or_too_few(void **state)
{
    struct bytes file = smallest();
    size_t last = header_of(&file, "encoder.ln_post.bias", 1), size = file.size;
    (void)state;
    file.size = last;
    assert_refused(&file, TW_E_FORMAT, "without encoder.ln_post.bias");
    file.size = size;
    struct bytes twice = {0};
    bytes_put(&twice, file.data, file.size);
    bytes_put(&twice, file.data + last, file.size - last);
    assert_refused(&twice, TW_E_FORMAT, "encoder.ln_post.bias is there twice");
    bytes_free(&twice);
    memcpy(file.data + bytes_find(&file, "encoder.ln_post.bias", 0), "encoder.ln_past.bias", 20);
    assert_refused(&file, TW_E_FORMAT, "not known");
    memcpy(file.data + bytes_find(&file, "encoder.ln_past.bias", 0), "encoder.ln_post.bias", 20);
    bytes_put(&file, "x", 1);
    assert_refused(&file, TW_E_FORMAT, "cut short");
    bytes_free(&file);
}

static void the_order_of_tensors_is_free(void **state)
{
    struct synthetic_options o = synthetic_defaults();
    struct bytes file = {0}, turned = {0};
    struct tw_whisper_model *m;
    (void)state;
    synthetic_ggml(&o, &file);
    size_t first = header_of(&file, "decoder.positional_embedding", 2),
           middle = header_of(&file, "encoder.conv1.weight", 3);
    bytes_put(&turned, file.data, first);
    bytes_put(&turned, file.data + middle, file.size - middle);
    bytes_put(&turned, file.data + first, middle - first);
    assert_int_equal(tw_model_parse_ggml(turned.data, turned.size, NAME, &m, NULL), 0);
    assert_model(&o, m);
    tw_model_close(m);
    bytes_free(&file);
    bytes_free(&turned);
}

static void rows_that_blocks_do_not_fill(void **state)
{
    struct synthetic_options o = synthetic_smallest();
    struct bytes file = {0};
    (void)state;
    o.type = TW_F16;
    o.sizes.n_audio_state = o.sizes.n_text_state = 16;
    synthetic_ggml(&o, &file);
    set_u32(&file, 44, 2007);
    set_u32(&file, header_of(&file, "decoder.token_embedding.weight", 2) + 8, 8);
    assert_refused(&file, TW_E_FORMAT, "rows of 16 numbers");
    bytes_free(&file);
}

static void files_cut_short(void **state)
{
    struct bytes file = smallest();
    struct tw_random random = {7};
    struct tw_error err;
    (void)state;
    for (size_t size = 0; size < 64; size++)
        assert_int_equal(parse_copy(file.data, size, &err), TW_E_FORMAT);
    for (size_t size = VOCABULARY_AT - 3; size < VOCABULARY_AT + 40; size++)
        assert_int_equal(parse_copy(file.data, size, &err), TW_E_FORMAT);
    size_t tensors = header_of(&file, "decoder.positional_embedding", 2),
           last = header_of(&file, "encoder.ln_post.weight", 1);
    for (size_t size = tensors - 3; size < tensors + 60; size++)
        assert_int_equal(parse_copy(file.data, size, &err), TW_E_FORMAT);
    for (size_t size = last; size < file.size; size++)
        assert_int_equal(parse_copy(file.data, size, &err), TW_E_FORMAT);
    for (int i = 0; i < DAMAGED / 4; i++)
        assert_int_equal(parse_copy(file.data, (size_t)tw_random_range(&random, 0, (int64_t)file.size - 1), &err),
                         TW_E_FORMAT);
    assert_int_equal(parse_copy(file.data, file.size, &err), TW_OK);
    bytes_free(&file);
}

/* Whatever a changed byte does, the reader ends in a model or a sentence; parse_copy checks that. */
static void damaged_files_do_no_harm(void **state)
{
    struct bytes file = smallest();
    struct tw_random random = {8};
    struct tw_error err;
    size_t tensors = header_of(&file, "decoder.ln.weight", 1);
    int refused = 0;
    (void)state;
    for (int i = 0; i < DAMAGED; i++) {
        int64_t low = i % 4 == 0 ? 4 : i % 4 == 1 ? FILTERS_AT : (int64_t)tensors;
        int64_t high = i % 4 == 0 ? FILTERS_AT - 1 : (int64_t)file.size - 1;
        size_t at = (size_t)tw_random_range(&random, low, high);
        unsigned char kept = file.data[at];
        file.data[at] = (unsigned char)tw_random_range(&random, 0, 255);
        refused += parse_copy(file.data, file.size, &err) < 0;
        file.data[at] = kept;
    }
    assert_in_range(refused, DAMAGED / 8, DAMAGED - 1);
    bytes_free(&file);
}

static void old_files_lack_the_last_token(void **state)
{
    for (int32_t size = 51864; size <= 51865; size++) {
        struct synthetic_options o = synthetic_smallest();
        struct bytes file = {0};
        (void)state;
        o.sizes.n_vocab = size;
        o.no_last_token = 1;
        struct tw_whisper_model *m = synthetic_model(&o, &file);
        assert_non_null(m);
        assert_int_equal(m->vocab.text_size, size - 1608);
        assert_int_equal(m->vocab.text[m->vocab.text_size - 1].size, 0);
        assert_non_null(m->vocab.text[m->vocab.text_size - 1].bytes);
        assert_int_not_equal(m->vocab.text[m->vocab.text_size - 2].size, 0);
        tw_model_close(m);
        bytes_free(&file);
    }
}

/* Some converters list special tokens as well; they do not become text. */
static void listed_special_tokens_are_no_text(void **state)
{
    struct synthetic_options o = synthetic_smallest();
    struct bytes file = {0}, more = {0};
    struct tw_whisper_model *m;
    (void)state;
    synthetic_ggml(&o, &file);
    size_t end = header_of(&file, "decoder.positional_embedding", 2);
    bytes_put(&more, file.data, end);
    set_u32(&more, VOCABULARY_AT, 50257 + 100);
    for (int i = 0; i < 100; i++) {
        bytes_u32(&more, 4);
        bytes_put(&more, "<|x>", 4);
    }
    bytes_put(&more, file.data + end, file.size - end);
    assert_int_equal(tw_model_parse_ggml(more.data, more.size, NAME, &m, NULL), 0);
    assert_tokens(&o, m);
    tw_model_close(m);
    bytes_free(&file);
    bytes_free(&more);
}

static void other_files_are_named(void **state)
{
    static const struct {
        const char *start;
        size_t size;
        const char *words;
    } cases[] = {
        {"", 0, "empty"},
        {"GGUF\3\0\0\0", 8, "GGUF"},
        {"tjgg\1\0\0\0", 8, "language model"},
        {"\6\0\0\0\14\0WhisperSpec\0\3\0\0\0", 22, "name the folder"},
        {"PK\3\4....", 8, "PyTorch"},
        {"version https://git-lfs.github.com/spec/v1\n", 43, "Git LFS"},
        {"<!DOCTYPE html>", 15, "web page"},
        {"RIFF\0\0\0\0WAVE", 12, "sound"},
        {"lmg", 3, "unknown kind"},
        {"ggml", 4, "unknown kind"},
        {"hello", 5, "not a Whisper model"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes file = {0};
        bytes_put(&file, cases[i].start, cases[i].size);
        assert_refused(&file, TW_E_FORMAT, cases[i].words);
        bytes_free(&file);
    }
}

static void opening_by_path(void **state)
{
    struct bytes file = smallest();
    struct folder folder;
    struct tw_whisper_model *m;
    struct tw_error err;
    char path[2 * FOLDER_PATH];
    (void)state;
    folder_create(&folder);
    folder_put(&folder, "m.bin", file.data, file.size);
    folder_put(&folder, "empty", "", 0);
    folder_path(&folder, "m.bin", path);
    assert_int_equal(tw_model_open(path, &m, &err), 0);
    assert_int_equal(m->sizes.n_audio_layer, 1);
    tw_model_close(m);
    folder_path(&folder, "empty", path);
    assert_int_equal(tw_model_open(path, &m, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "empty"));
    assert_null(m);
    folder_path(&folder, "missing.bin", path);
    assert_int_equal(tw_model_open(path, &m, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "missing.bin"));
    assert_int_equal(tw_model_open(folder.path, &m, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "no model.bin"));
    assert_int_equal(tw_model_open("/dev/null", &m, &err), TW_E_FORMAT);
    tw_model_close(NULL);
    folder_remove(&folder);
    bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(any_alignment_will_do),
        cmocka_unit_test(what_is_written_is_what_was_read),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(headers_that_no_model_has),
        cmocka_unit_test(filters_and_tokens_that_do_not_fit),
        cmocka_unit_test(tensors_that_do_not_fit),
        cmocka_unit_test(tensors_too_many_or_too_few),
        cmocka_unit_test(the_order_of_tensors_is_free),
        cmocka_unit_test(rows_that_blocks_do_not_fill),
        cmocka_unit_test(files_cut_short),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(old_files_lack_the_last_token),
        cmocka_unit_test(listed_special_tokens_are_no_text),
        cmocka_unit_test(other_files_are_named),
        cmocka_unit_test(opening_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
