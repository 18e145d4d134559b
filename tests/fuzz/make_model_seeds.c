/* make_model_seeds ggml|ct2 FOLDER: first inputs for the model fuzzers. */
#include "fuzz/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void save(const char *folder, const char *name, int kind, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fputc(kind, f) == EOF || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        fprintf(stderr, "cannot write '%s'\n", path);
        exit(1);
    }
}

static void ggml_seeds(const char *folder)
{
    static const char text[] = "It's 20 o'clock,  and\n\tthe caf\xc3\xa9 \xe2\x80\x9cZoo\xe2\x80\x9d isn't open.  ";
    const enum tw_type types[] = {TW_F32, TW_F16, TW_Q5_0, TW_Q8_0};
    for (int i = 0; i < 4; i++) {
        struct synthetic_options o = fuzz_options(types[i], i < 2 ? 2 : FUZZ_WIDTH_MAX);
        struct bytes file = {0}, data = {0};
        synthetic_ggml(&o, &file);
        fuzz_shorten_ggml(&file, &data);
        save(folder, tw_type_info(types[i])->name, FUZZ_SHORT_FILE, data.data, data.size);
        if (types[i] == TW_F16)
            save(folder, "beginning", FUZZ_WHOLE_FILE, file.data, 70000);
        bytes_free(&file);
        bytes_free(&data);
    }
    save(folder, "gguf", FUZZ_WHOLE_FILE, "GGUF\3\0\0\0", 8);
    save(folder, "text", FUZZ_TEXT, text, sizeof text - 1);
}

static void ct2_seeds(const char *folder)
{
    static const char json[] = "[\"!\", \"\\u0120a\", \"\", \"<|endoftext|>\"]", lines[] = "!\n\xc4\xa0"
                                                                                           "a\r\n\n";
    static const char tail[] = "<|endoftext|>\n<|startoftranscript|>\n";
    struct synthetic_options o = fuzz_options(TW_F16, 2);
    struct bytes file = {0}, data = {0};
    synthetic_ct2(&o, &file);
    fuzz_shorten_ct2(&file, &data);
    save(folder, "short", FUZZ_SHORT_FILE, data.data, data.size);
    save(folder, "beginning", FUZZ_WHOLE_FILE, file.data, 300);
    save(folder, "json", FUZZ_JSON, json, sizeof json - 1);
    save(folder, "lines", FUZZ_TEXT, lines, sizeof lines - 1);
    save(folder, "tail", FUZZ_VOCABULARY_TAIL, tail, sizeof tail - 1);
    bytes_free(&file);
    bytes_free(&data);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_model_seeds ggml|ct2 FOLDER\n");
        return 2;
    }
    if (strcmp(argv[1], "ggml") == 0)
        ggml_seeds(argv[2]);
    else
        ct2_seeds(argv[2]);
    return 0;
}
