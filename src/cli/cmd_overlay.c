/* tilewright overlay: the one program that all products run on, as files that other tools take. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/new_file.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/sample_product.h"
#include "overlay/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright overlay --export DIR\n"
                                "Writes the program that all matrix products run on, and one product for it.\n\n"
                                "  --export DIR  the folder, made if it is missing; it gets\n"
                                "                overlay.xclbin  the program: four columns, one kernel\n"
                                "                product.insts   control code of a product, 100 x 70 x 90\n"
                                "                a.bin           A, bf16, row after row, in whole blocks\n"
                                "                b.bin           B, bf16, packed\n"
                                "                headers.bin     what the cores read before the product: its bias\n"
                                "                expected.bin    A times B, plus the bias, fp32, in whole blocks\n\n"
                                "Prints the line that runs the product on the emulated array, and the one that\n"
                                "compares its result. 'tilewright run' takes the same arguments for the NPU.\n\n"
                                "Example: tilewright overlay --export sample\n";

static const char *const buffer_names[TW_SAMPLE_BUFFERS] = {"a.bin", "b.bin", "expected.bin", "headers.bin"};

/* folder/name, allocated. */
static char *path_of(const char *folder, const char *name, struct tw_error *err)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path == NULL)
        tw_fail(err, TW_E_MEMORY, "no memory for the name of a file in '%s'", folder);
    else
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static int put(const char *folder, const char *name, const struct tw_sample_bytes *bytes, struct tw_error *err)
{
    struct tw_new_file file;
    char *path = path_of(folder, name, err);
    if (path == NULL)
        return TW_E_MEMORY;
    int code = tw_new_file_open(path, &file, err);
    free(path);
    if (code < 0)
        return code;
    code = tw_new_file_write(&file, bytes->data, bytes->size, err);
    if (code == TW_OK)
        return tw_new_file_finish(&file, err);
    tw_new_file_abandon(&file);
    return code;
}

static int put_all(const char *folder, const struct tw_sample_product *s, struct tw_error *err)
{
    int code = tw_output_folder(folder, err);
    if (code == TW_OK)
        code = put(folder, "overlay.xclbin", &s->xclbin, err);
    if (code == TW_OK)
        code = put(folder, "product.insts", &s->code, err);
    for (unsigned i = 0; code == TW_OK && i < TW_SAMPLE_BUFFERS; i++)
        code = put(folder, buffer_names[i], &s->buffers[i], err);
    return code;
}

/* prefix, folder and name as one word of a shell's command line. */
static void print_word(const char *prefix, const char *folder, const char *name)
{
    fputs(" '", stdout);
    fputs(prefix[0] == '\0' && folder[0] == '-' ? "./" : prefix, stdout); /* no option */
    for (const char *c = folder; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    printf("/%s'", name);
}

/* Every word is quoted: a folder may have any name. */
static void print_lines(const char *folder, const struct tw_sample_product *s)
{
    char out[48];
    snprintf(out, sizeof out, "out:%zu:", s->buffers[TW_SAMPLE_C].size);
    fputs("tilewright emu run --kernel " TW_OVERLAY_KERNEL, stdout);
    print_word("", folder, "overlay.xclbin");
    fputs(" --insts", stdout);
    print_word("", folder, "product.insts");
    for (unsigned i = 0; i < TW_SAMPLE_BUFFERS; i++) {
        fputs(" --arg", stdout);
        print_word(i == TW_SAMPLE_C ? out : "in:", folder, i == TW_SAMPLE_C ? "c.bin" : buffer_names[i]);
    }
    fputs("\ncmp", stdout);
    print_word("", folder, "c.bin");
    print_word("", folder, buffer_names[TW_SAMPLE_C]);
    putchar('\n');
}

static int export(const char *folder)
{
    struct tw_error err = {0};
    struct tw_sample_product sample;
    int code = tw_sample_product_make(&sample, &err);
    if (code == TW_OK)
        code = put_all(folder, &sample, &err);
    if (code == TW_OK)
        print_lines(folder, &sample);
    tw_sample_product_free(&sample);
    if (code < 0)
        tw_note("%s", err.text);
    return code < 0 ? TW_EXIT_FAILED : TW_EXIT_OK;
}

int tw_cmd_overlay(int argc, char **argv)
{
    const char *folder = NULL;
    int wants_help = 0;
    const struct tw_option options[] = {
        {.name = "export", .kind = TW_OPTION_TEXT, .to.text = &folder},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &wants_help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("overlay", err.text);
    if (wants_help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands > 0)
        return tw_usage_error("overlay", "overlay takes no operands, only --export DIR");
    if (folder == NULL || folder[0] == '\0')
        return tw_usage_error("overlay", "overlay needs --export and a folder");
    return export(folder);
}
