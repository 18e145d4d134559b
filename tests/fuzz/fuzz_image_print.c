/* Files of all kinds, printed as text and as JSON: down to the fields of registers. */
#include "cli/print_image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* Printed into memory, which the sanitizer watches; returns the text, to be freed. */
static char *print(const struct tw_view *view, int json, int *code, size_t *size)
{
    char *text = NULL;
    struct tw_error err = {0};
    FILE *out = open_memstream(&text, size);
    require(out != NULL);
    struct tw_tree tree = {.out = out, .json = json};
    *code = tw_print_image(&tree, view, &err);
    require(fclose(out) == 0 && *code <= 0 && *code == err.code && (*code < 0) == (err.text[0] != '\0'));
    require(tree.depth == 0 && (*code == 0 || *size == 0));
    return text;
}

/* Brackets and quotes of the JSON are in pairs. */
static void check_json(const char *text, size_t size)
{
    int depth = 0, quoted = 0;
    for (size_t i = 0; i < size; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
        require(depth >= 0);
    }
    require(depth == 0 && !quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size + 1);
    int code, json_code;
    size_t length;
    require(copy != NULL);
    if (size > 0)
        memcpy(copy + 1, data, size);
    struct tw_view view = {copy + 1, size, "input", 0};
    char *text = print(&view, 0, &code, &length);
    for (size_t i = 0; i < length; i++)
        require((text[i] >= ' ' && text[i] <= '~') || text[i] == '\n');
    free(text);
    text = print(&view, 1, &json_code, &length);
    require(code == json_code);
    check_json(text, length);
    free(text);
    free(copy);
    return 0;
}
