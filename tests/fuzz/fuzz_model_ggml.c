/* Model files in ggml form, whole or shortened (see models.h), and text against a vocabulary. */
#include "fuzz/models.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The vocabulary for all texts; libFuzzer never ends in between. */
static const struct tw_vocab *stock_vocabulary(void)
{
    static struct bytes file;
    static struct tw_whisper_model *model;
    struct synthetic_options o = fuzz_options(TW_F16, 2);
    if (model == NULL)
        model = synthetic_model(&o, &file);
    return &model->vocab;
}

static void parse(const unsigned char *data, size_t size)
{
    /* A block of exactly this size, so that the sanitizer sees a read past its end. */
    unsigned char *file = malloc(size + 1);
    struct tw_whisper_model *model;
    struct tw_error err = {0};
    if (file == NULL)
        abort();
    memcpy(file + 1, data, size);
    if (tw_model_parse_ggml(file + 1, size, "input", &model, &err) == TW_OK)
        fuzz_touch(model);
    else if (model != NULL || err.code >= 0 || err.text[0] == '\0')
        abort();
    tw_model_close(model);
    free(file);
}

/* Every byte is a token of the stock vocabulary, so the tokens must spell the text. */
static void encode(const char *text, size_t size)
{
    const struct tw_vocab *v = stock_vocabulary();
    int32_t *tokens = malloc((size + 1) * sizeof *tokens);
    size_t at = 0;
    if (tokens == NULL)
        abort();
    int64_t n = tw_vocab_encode(v, text, size, tokens, size + 1, NULL);
    for (int64_t i = 0; i < n; i++) {
        const struct tw_token_text *t = &v->text[tokens[i]];
        if (t->size > size - at || memcmp(t->bytes, text + at, t->size) != 0)
            abort();
        at += t->size;
    }
    if (n < 0 || at != size)
        abort();
    free(tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t kind = *data++;
    size--;
    if (kind == FUZZ_TEXT) {
        encode((const char *)data, size);
    } else if (kind == FUZZ_SHORT_FILE && size >= FUZZ_HEADER_BYTES) {
        struct bytes file = {0};
        fuzz_complete_ggml(data, size, &file);
        parse(file.data, file.size);
        bytes_free(&file);
    } else if (kind == FUZZ_WHOLE_FILE) {
        parse(data, size);
    }
    return 0;
}
