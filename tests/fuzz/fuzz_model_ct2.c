/* model.bin of CTranslate2 folders, whole or shortened (see models.h), and their vocabularies. */
#include "fuzz/models.h"
#include "whisper/model_ct2.h"
#include "whisper/vocab_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines for all text tokens (they are empty), then these bytes. */
static void vocabulary_with(const void *tail, size_t size, struct bytes *lines)
{
    char ends[FUZZ_TEXT_TOKENS];
    memset(ends, '\n', sizeof ends);
    bytes_put(lines, ends, sizeof ends);
    bytes_put(lines, tail, size);
}

static void parse(const unsigned char *data, size_t size)
{
    static const char end[] = "<|endoftext|>\n";
    /* A block of exactly this size, so that the sanitizer sees a read past its end. */
    unsigned char *model_bin = malloc(size + 1);
    struct bytes words = {0};
    struct tw_whisper_model *model;
    struct tw_error err = {0};
    if (model_bin == NULL)
        abort();
    memcpy(model_bin + 1, data, size);
    vocabulary_with(end, sizeof end - 1, &words);
    struct tw_ct2_files files = {.name = "input",
                                 .model = model_bin + 1,
                                 .model_size = size,
                                 .vocabulary = words.data,
                                 .vocabulary_size = words.size};
    if (tw_model_parse_ct2(&files, &model, &err) == TW_OK)
        fuzz_touch(model);
    else if (model != NULL || err.code >= 0 || err.text[0] == '\0')
        abort();
    tw_model_close(model);
    bytes_free(&words);
    free(model_bin);
}

static void parse_vocabulary(const unsigned char *data, size_t size, int json)
{
    struct tw_vocab v = {0};
    struct tw_error err = {0};
    char *bytes = NULL;
    if (tw_vocab_layout(&v, 51864, NULL) < 0)
        abort();
    v.text = calloc((size_t)v.text_size, sizeof *v.text);
    if (v.text == NULL)
        abort();
    int code = tw_vocab_read(&v, data, size, json, "input", &bytes, &err);
    if (code < 0 && (err.code >= 0 || err.text[0] == '\0'))
        abort();
    for (int32_t i = 0; code == TW_OK && i < v.text_size; i++)
        if (v.text[i].bytes < bytes || v.text[i].bytes + v.text[i].size > bytes + size)
            abort();
    free(bytes);
    free(v.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes all = {0};
    if (size == 0)
        return 0;
    uint8_t kind = *data++;
    size--;
    if (kind == FUZZ_WHOLE_FILE) {
        parse(data, size);
    } else if (kind == FUZZ_SHORT_FILE) {
        fuzz_complete_ct2(data, size, &all);
        parse(all.data == NULL ? data : all.data, all.size);
    } else if (kind == FUZZ_TEXT || kind == FUZZ_JSON) {
        parse_vocabulary(data, size, kind == FUZZ_JSON);
    } else if (kind == FUZZ_VOCABULARY_TAIL) {
        vocabulary_with(data, size, &all);
        parse_vocabulary(all.data, all.size, 0);
    }
    bytes_free(&all);
    return 0;
}
