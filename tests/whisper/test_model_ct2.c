/* CTranslate2 folders: the same model as from a ggml file, and everything that must be refused. */
#include "whisper/model_ct2.h"
#include "whisper/synthetic.h"

#include "base/file_map.h"
#include "base/half.h"
#include "base/random.h"
#include "cli/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAME "test-ct2"
#define COUNT_AT 22 /* of the number of variables: behind version, kind and revision */

/* A model.bin and its vocabulary in memory. */
struct pair {
    struct bytes model, words;
};

static struct synthetic_options small_f16(void)
{
    struct synthetic_options o = synthetic_smallest();
    o.type = TW_F16;
    o.sizes.n_audio_state = o.sizes.n_text_state = 8;
    return o;
}

static struct pair make(const struct synthetic_options *o)
{
    struct pair p = {0};
    synthetic_ct2(o, &p.model);
    synthetic_ct2_vocabulary(o, &p.words);
    return p;
}

static void free_pair(struct pair *p)
{
    bytes_free(&p->model);
    bytes_free(&p->words);
}

static int parse(const struct pair *p, struct tw_whisper_model **m, struct tw_error *err)
{
    struct tw_ct2_files files = {.name = NAME,
                                 .model = p->model.data,
                                 .model_size = p->model.size,
                                 .vocabulary = p->words.data,
                                 .vocabulary_size = p->words.size};
    return tw_model_parse_ct2(&files, m, err);
}

/* Parses copies in blocks of exactly their size, so that a sanitizer sees reads past the end. */
static int parse_copy(const unsigned char *data, size_t size, const struct bytes *words, struct tw_error *err)
{
    struct pair p = {{malloc(size + 1), size, 0}, *words};
    struct tw_whisper_model *m;
    assert_non_null(p.model.data);
    unsigned char *block = p.model.data;
    p.model.data++; /* ends where the block ends */
    if (size > 0)
        memcpy(p.model.data, data, size);
    *err = (struct tw_error){0};
    int code = parse(&p, &m, err);
    assert_true(code == TW_OK ? m != NULL : m == NULL && err->code == code && err->text[0] != '\0');
    tw_model_close(m);
    free(block);
    return code;
}

static void assert_refused(const struct pair *p, int code, const char *words)
{
    struct tw_error err;
    int got = parse_copy(p->model.data, p->model.size, &p->words, &err);
    if (got != code || strstr(err.text, words) == NULL || strstr(err.text, NAME) == NULL)
        fail_msg("expected %d with '%s', got %d: %s", code, words, got, err.text);
}

/* The bytes of the ggml file that a model is written as. */
static struct bytes written(const struct tw_whisper_model *m)
{
    struct folder folder;
    struct tw_file_map map;
    struct bytes b = {0};
    char path[2 * FOLDER_PATH];
    folder_create(&folder);
    folder_path(&folder, "model.bin", path);
    assert_int_equal(tw_model_write_ggml(m, path, NULL), 0);
    assert_int_equal(tw_file_map_open(path, &map, NULL), 0);
    bytes_put(&b, map.data, map.size);
    tw_file_map_close(&map);
    folder_remove(&folder);
    return b;
}

static void it_is_the_same_model_as_from_ggml(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct synthetic_options o = synthetic_defaults();
        struct bytes expected = {0};
        struct tw_whisper_model *m;
        struct tw_error err = {0};
        o.type = i == 0 ? TW_F32 : TW_F16;
        o.sizes.n_vocab = 51864 + i;
        o.sizes.n_mels = i == 2 ? 128 : 80;
        o.sizes.n_audio_layer = 3;
        o.sizes.n_audio_head = 4;
        struct pair p = make(&o);
        if (parse(&p, &m, &err) < 0)
            fail_msg("%s", err.text);
        assert_memory_equal(&m->sizes, &o.sizes, sizeof o.sizes);
        assert_string_equal(m->type_name, i == 0 ? "f32" : "f16");
        assert_null(m->encoder[0].self.k.bias);
        assert_null(m->decoder[1].cross.k.bias);
        struct bytes got = written(m);
        synthetic_ggml(&o, &expected);
        assert_int_equal(got.size, expected.size);
        assert_memory_equal(got.data, expected.data, expected.size);
        tw_model_close(m);
        bytes_free(&got);
        bytes_free(&expected);
        free_pair(&p);
    }
}

/* The vocabulary as a JSON list instead of lines. */
static struct bytes json_of(const struct bytes *lines)
{
    struct bytes json = {0};
    bytes_put(&json, "[\"", 2);
    for (size_t i = 0; i + 1 < lines->size; i++) {
        char c = (char)lines->data[i];
        if (c == '\n')
            bytes_put(&json, "\",\n\"", 4);
        else if (c == '"' || c == '\\')
            bytes_put(&json, (char[]){'\\', c}, 2);
        else
            bytes_put(&json, &c, 1);
    }
    bytes_put(&json, "\"]", 2);
    return json;
}

static void assert_opens(const struct folder *folder, const struct tw_vocab *expected)
{
    struct tw_whisper_model *m;
    struct tw_error err = {0};
    if (tw_model_open(folder->path, &m, &err) < 0)
        fail_msg("%s", err.text);
    for (int32_t i = 0; i < expected->text_size; i++) {
        assert_int_equal(m->vocab.text[i].size, expected->text[i].size);
        assert_memory_equal(m->vocab.text[i].bytes, expected->text[i].bytes, expected->text[i].size);
    }
    tw_model_close(m);
}

static void folders_are_opened(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    struct bytes ggml = {0}, windows = {0}, json = json_of(&p.words);
    struct tw_whisper_model *m, *expected = synthetic_model(&o, &ggml);
    struct tw_error err;
    struct folder folder;
    (void)state;
    assert_non_null(expected);
    folder_create(&folder);
    folder_put(&folder, "model.bin", p.model.data, p.model.size);
    assert_int_equal(tw_model_open(folder.path, &m, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "vocabulary.txt"));
    folder_put(&folder, "vocabulary.json", json.data, json.size);
    assert_opens(&folder, &expected->vocab);
    for (size_t i = 0; i < p.words.size; i++) {
        if (p.words.data[i] == '\n')
            bytes_put(&windows, "\r", 1);
        bytes_put(&windows, p.words.data + i, 1);
    }
    folder_put(&folder, "vocabulary.txt", windows.data, windows.size);
    assert_opens(&folder, &expected->vocab);
    folder_put(&folder, "vocabulary.txt", p.words.data, p.words.size);
    assert_opens(&folder, &expected->vocab);
    tw_model_close(expected);
    folder_remove(&folder);
    bytes_free(&ggml);
    bytes_free(&windows);
    bytes_free(&json);
    free_pair(&p);
}

/* Offset of a variable's rank, which follows its name. */
static size_t rank_of(const struct bytes *b, const char *name)
{
    size_t at = bytes_find(b, name, 0);
    assert_true(at != SIZE_MAX);
    return at + strlen(name) + 1;
}

/* Checks the refusal after one byte became another. */
static void assert_byte_refused(struct pair *p, size_t at, unsigned char value, int code, const char *words)
{
    unsigned char kept = p->model.data[at];
    assert_int_not_equal(kept, value);
    p->model.data[at] = value;
    assert_refused(p, code, words);
    p->model.data[at] = kept;
}

static void other_models_are_refused(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    size_t activation = rank_of(&p.model, "decoder/activation") + 6,
           pre_norm = rank_of(&p.model, "decoder/pre_norm") + 6;
    size_t alibi = rank_of(&p.model, "decoder/alibi") + 6, heads = rank_of(&p.model, "encoder/num_heads") + 6;
    (void)state;
    assert_byte_refused(&p, 0, 5, TW_E_UNSUPPORTED, "binary version 6");
    assert_byte_refused(&p, 0, 7, TW_E_FORMAT, "binary version 6");
    assert_byte_refused(&p, 6, 'X', TW_E_UNSUPPORTED, "another kind");
    assert_byte_refused(&p, 18, 2, TW_E_UNSUPPORTED, "revision 2");
    assert_byte_refused(&p, activation, 1, TW_E_UNSUPPORTED, "decoder/activation");
    assert_byte_refused(&p, pre_norm, 0, TW_E_UNSUPPORTED, "decoder/pre_norm");
    assert_byte_refused(&p, alibi, 1, TW_E_UNSUPPORTED, "decoder/alibi");
    assert_byte_refused(&p, heads, 3, TW_E_FORMAT, "divide");
    assert_byte_refused(&p, heads, 0, TW_E_FORMAT, "0 encoder heads");
    assert_byte_refused(&p, bytes_find(&p.model, "decoder/projection/weight", 0), 'e', TW_E_UNSUPPORTED, "stands for");
    free_pair(&p);
}

static void damage_is_named(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    size_t conv = rank_of(&p.model, "encoder/conv1/bias"),
           up = rank_of(&p.model, "encoder/layer_0/ffn/linear_0/weight");
    size_t name = bytes_find(&p.model, "encoder/conv1/bias", 0);
    (void)state;
    assert_byte_refused(&p, conv, 5, TW_E_FORMAT, "5 dimensions");
    assert_byte_refused(&p, conv + 1, 7, TW_E_FORMAT, "do not fit its shape");
    assert_byte_refused(&p, conv + 4, 0xff, TW_E_FORMAT, "do not fit its shape");
    assert_byte_refused(&p, conv + 5, 6, TW_E_FORMAT, "number format 6");
    assert_byte_refused(&p, conv + 5, 5, TW_E_UNSUPPORTED, "bfloat16");
    assert_byte_refused(&p, conv + 6, 17, TW_E_FORMAT, "do not fit its shape");
    assert_byte_refused(&p, conv + 11, 0x7c, TW_E_FORMAT, "encoder/conv1/bias is not finite");
    assert_byte_refused(&p, up + 1, 0, TW_E_FORMAT, "do not fit its shape");
    assert_byte_refused(&p, name, 'x', TW_E_FORMAT, "encoder/conv1/bias is missing");
    assert_byte_refused(&p, name + 3, 0, TW_E_FORMAT, "not a name");
    assert_byte_refused(&p, name - 1, 2, TW_E_FORMAT, "damaged");
    assert_byte_refused(&p, COUNT_AT + 3, 0x10, TW_E_FORMAT, "variables");
    p.model.data[COUNT_AT]--;
    assert_refused(&p, TW_E_FORMAT, NAME);
    p.model.data[COUNT_AT]++;
    bytes_put(&p.model, "xy", 2);
    assert_refused(&p, TW_E_FORMAT, "2 bytes follow");
    free_pair(&p);
}

/* Swaps one dimension for another, the number of bytes staying right. */
static void shapes_must_be_whispers(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    size_t up = rank_of(&p.model, "encoder/layer_0/ffn/linear_0/weight");
    (void)state;
    p.model.data[up + 1] = 8;
    p.model.data[up + 5] = 32;
    assert_refused(&p, TW_E_FORMAT, "another shape");
    free_pair(&p);
}

static void quantised_models_are_refused(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    struct bytes whole = {0};
    (void)state;
    /* The embedding as bytes: half as many of them. */
    size_t rank = rank_of(&p.model, "decoder/embeddings/weight"), count = 51864 * 8;
    bytes_put(&whole, p.model.data, rank + 9);
    bytes_put(&whole, "\1", 1);
    bytes_u32(&whole, (uint32_t)count);
    bytes_put(&whole, p.model.data + rank + 14, count);
    bytes_put(&whole, p.model.data + rank + 14 + 2 * count, p.model.size - rank - 14 - 2 * count);
    bytes_free(&p.model);
    p.model = whole;
    assert_refused(&p, TW_E_UNSUPPORTED, "int8");
    free_pair(&p);
}

/* One more variable in front of the others. */
static void add_variable(struct pair *p, const char *name, unsigned char rank, uint32_t dim, unsigned char value)
{
    struct bytes b = {0};
    unsigned char size[2] = {(unsigned char)(strlen(name) + 1), 0}, type = 1;
    bytes_put(&b, p->model.data, COUNT_AT + 4);
    bytes_put(&b, size, 2);
    bytes_put(&b, name, strlen(name) + 1);
    bytes_put(&b, &rank, 1);
    if (rank > 0)
        bytes_u32(&b, dim);
    bytes_put(&b, &type, 1);
    bytes_u32(&b, dim);
    for (uint32_t i = 0; i < dim; i++)
        bytes_put(&b, &value, 1);
    bytes_put(&b, p->model.data + COUNT_AT + 4, p->model.size - COUNT_AT - 4);
    bytes_free(&p->model);
    p->model = b;
    p->model.data[COUNT_AT]++;
}

static void variables_nobody_asked_for(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    struct tw_error err;
    (void)state;
    add_variable(&p, "decoder/scale_embeddings", 0, 1, 0);
    add_variable(&p, "decoder/alignment_heads", 1, 2, 1);
    assert_int_equal(parse_copy(p.model.data, p.model.size, &p.words, &err), TW_OK);
    add_variable(&p, "decoder/something_new", 0, 1, 1);
    assert_refused(&p, TW_E_UNSUPPORTED, "decoder/something_new");
    free_pair(&p);
    p = make(&o);
    add_variable(&p, "encoder/layer_0/ffn/linear_0/weight_scale", 1, 32, 0);
    assert_refused(&p, TW_E_UNSUPPORTED, "weight_scale");
    free_pair(&p);
    p = make(&o);
    add_variable(&p, "decoder/alibi", 0, 1, 0);
    assert_refused(&p, TW_E_FORMAT, "decoder/alibi is there twice");
    free_pair(&p);
}

static void heads_have_64_columns_unless_said(void **state)
{
    struct synthetic_options o = synthetic_defaults();
    struct tw_whisper_model *m;
    (void)state;
    o.sizes.n_audio_state = o.sizes.n_text_state = 128;
    struct pair p = make(&o);
    /* A name that nobody knows, with the value off. */
    memcpy(p.model.data + bytes_find(&p.model, "encoder/num_heads", 0), "encoder/num_xxxxx", 17);
    p.model.data[rank_of(&p.model, "encoder/num_xxxxx") + 6] = 0;
    assert_int_equal(parse(&p, &m, NULL), TW_OK);
    assert_int_equal(m->sizes.n_audio_head, 2);
    assert_int_equal(m->sizes.n_text_head, 2);
    tw_model_close(m);
    free_pair(&p);
}

static void a_bias_of_keys_is_kept(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    struct tw_whisper_model *m;
    size_t bias = rank_of(&p.model, "encoder/layer_0/self_attention/linear_0/bias") + 10;
    (void)state;
    p.model.data[bias + 2 * (8 + 3) + 1] = 0x3c; /* number 3 of the keys: 1.0 */
    assert_int_equal(parse(&p, &m, NULL), TW_OK);
    assert_non_null(m->encoder[0].self.k.bias);
    assert_true(m->encoder[0].self.k.bias[3] == 1);
    assert_true(m->encoder[0].self.k.bias[2] == 0);
    assert_null(m->decoder[0].self.k.bias);
    tw_model_close(m);
    free_pair(&p);
}

/* Puts `text` over the first bytes of line `line` of the vocabulary. */
static void overwrite_line(struct bytes *words, int line, const char *text)
{
    size_t at = 0;
    for (int i = 0; i < line; i++)
        at = bytes_find(words, "\n", at) + 1;
    memcpy(words->data + at, text, strlen(text));
}

static void other_vocabularies_are_refused(void **state)
{
    struct synthetic_options o = small_f16(), multilingual = o;
    struct pair p = make(&o);
    size_t size = p.words.size;
    (void)state;
    p.words.size = 1000;
    assert_refused(&p, TW_E_FORMAT, "cut short");
    p.words.size = 0;
    assert_refused(&p, TW_E_FORMAT, "0 tokens");
    p.words.size = size;
    bytes_put(&p.words, "more\n", 5);
    assert_refused(&p, TW_E_FORMAT, "one more");
    p.words.size = size;
    overwrite_line(&p.words, 1000, " ");
    assert_refused(&p, TW_E_FORMAT, "token 1000 has a character");
    bytes_free(&p.words);
    multilingual.sizes.n_vocab = 51865;
    synthetic_ct2_vocabulary(&multilingual, &p.words);
    assert_refused(&p, TW_E_FORMAT, "should be <|endoftext|>");
    free_pair(&p);
}

static void json_that_is_no_vocabulary(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "not JSON"},        {"[", "not JSON"},       {"{}", "not a list"},
        {"[1]", "not a string"}, {"[\"a\"]", "1 tokens"}, {"[\" \"]", "character"},
    };
    struct synthetic_options o = small_f16();
    struct bytes model = {0};
    (void)state;
    synthetic_ct2(&o, &model);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tw_ct2_files files = {.name = NAME,
                                     .model = model.data,
                                     .model_size = model.size,
                                     .vocabulary = cases[i].text,
                                     .vocabulary_size = strlen(cases[i].text),
                                     .vocabulary_is_json = 1};
        struct tw_whisper_model *m;
        struct tw_error err;
        assert_int_equal(tw_model_parse_ct2(&files, &m, &err), TW_E_FORMAT);
        assert_null(m);
        assert_non_null(strstr(err.text, cases[i].words));
    }
    bytes_free(&model);
}

static void files_cut_short(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    struct tw_random random = {9};
    struct tw_error err;
    size_t embedding = rank_of(&p.model, "decoder/embeddings/weight");
    (void)state;
    for (size_t size = 0; size < embedding + 20; size++)
        assert_int_equal(parse_copy(p.model.data, size, &p.words, &err) < 0, 1);
    for (size_t size = p.model.size - 200; size < p.model.size; size++)
        assert_int_equal(parse_copy(p.model.data, size, &p.words, &err), TW_E_FORMAT);
    for (int i = 0; i < 200; i++) {
        size_t size = (size_t)tw_random_range(&random, (int64_t)embedding, (int64_t)p.model.size - 1);
        assert_int_equal(parse_copy(p.model.data, size, &p.words, &err), TW_E_FORMAT);
    }
    assert_int_equal(parse_copy(p.model.data, p.model.size, &p.words, &err), TW_OK);
    free_pair(&p);
}

/* Whatever a changed byte does, the reader ends in a model or a sentence; parse_copy checks that. */
static void damaged_files_do_no_harm(void **state)
{
    struct synthetic_options o = small_f16();
    struct pair p = make(&o);
    struct tw_random random = {10};
    struct tw_error err;
    size_t rest = rank_of(&p.model, "decoder/position_encodings/encodings");
    int refused = 0;
    (void)state;
    for (int i = 0; i < 400; i++) {
        int64_t low = i % 2 == 0 ? 0 : (int64_t)rest, high = i % 2 == 0 ? 300 : (int64_t)p.model.size - 1;
        size_t at = (size_t)tw_random_range(&random, low, high);
        unsigned char kept = p.model.data[at];
        p.model.data[at] = (unsigned char)tw_random_range(&random, 0, 255);
        refused += parse_copy(p.model.data, p.model.size, &p.words, &err) < 0;
        p.model.data[at] = kept;
    }
    assert_in_range(refused, 50, 399);
    free_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_same_model_as_from_ggml),
        cmocka_unit_test(folders_are_opened),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(shapes_must_be_whispers),
        cmocka_unit_test(quantised_models_are_refused),
        cmocka_unit_test(variables_nobody_asked_for),
        cmocka_unit_test(heads_have_64_columns_unless_said),
        cmocka_unit_test(a_bias_of_keys_is_kept),
        cmocka_unit_test(other_vocabularies_are_refused),
        cmocka_unit_test(json_that_is_no_vocabulary),
        cmocka_unit_test(files_cut_short),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
