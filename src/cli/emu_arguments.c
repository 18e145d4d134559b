#include "cli/emu_arguments.h"

#include "base/file_map.h"
#include "base/new_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The text behind a prefix, or NULL. */
static const char *behind(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static int parse_fail(const char *text, struct tw_error *err)
{
    return tw_fail(err, TW_E_ARGUMENT, "--arg takes in:FILE, out:BYTES:FILE, inout:FILE:FILE or none, not '%s'", text);
}

static int set_in(struct tw_emu_argument *a, const char *path, size_t size, struct tw_error *err)
{
    a->in = strndup(path, size);
    return a->in != NULL ? TW_OK : tw_fail(err, TW_E_MEMORY, "no memory for the name of a file");
}

static int parse_in(const char *rest, struct tw_emu_argument *a, struct tw_error *err)
{
    return *rest != '\0' ? set_in(a, rest, strlen(rest), err) : TW_E_ARGUMENT;
}

static int parse_out(const char *rest, struct tw_emu_argument *a, struct tw_error *err)
{
    char *end = NULL;
    (void)err;
    errno = 0;
    unsigned long long size = strtoull(rest, &end, 0);
    if (*rest < '0' || *rest > '9' || errno != 0 || *end != ':' || end[1] == '\0' || size == 0)
        return TW_E_ARGUMENT;
    a->size = size;
    a->out = end + 1;
    return TW_OK;
}

static int parse_inout(const char *rest, struct tw_emu_argument *a, struct tw_error *err)
{
    const char *colon = strrchr(rest, ':');
    if (colon == NULL || colon == rest || colon[1] == '\0')
        return TW_E_ARGUMENT;
    a->out = colon + 1;
    return set_in(a, rest, (size_t)(colon - rest), err);
}

static int parse_none(const char *rest, struct tw_emu_argument *a, struct tw_error *err)
{
    (void)a, (void)err;
    return *rest == '\0' ? TW_OK : TW_E_ARGUMENT;
}

static const struct {
    const char *prefix;
    int (*parse)(const char *rest, struct tw_emu_argument *a, struct tw_error *err);
} forms[] = {
    {"in:", parse_in},
    {"out:", parse_out},
    {"inout:", parse_inout},
    {"none", parse_none},
};

static int parse(const char *text, struct tw_emu_argument *a, struct tw_error *err)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *rest = behind(text, forms[i].prefix);
        int code = rest != NULL ? forms[i].parse(rest, a, err) : TW_E_ARGUMENT;
        if (code != TW_E_ARGUMENT)
            return code;
    }
    return parse_fail(text, err);
}

int tw_emu_arguments_read(const struct tw_option_list *texts, struct tw_emu_arguments *arguments, struct tw_error *err)
{
    *arguments = (struct tw_emu_arguments){0};
    if (texts->n > TW_EMU_ARGUMENTS_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "at most %d arguments can be given", TW_EMU_ARGUMENTS_MAX);
    int code = TW_OK;
    for (size_t i = 0; code == TW_OK && i < texts->n; i++)
        code = parse(texts->texts[i], &arguments->list[arguments->n++], err);
    return code;
}

/* A tw_emu_buffer_function. */
static int add_buffer(void *buffers, size_t index, struct tw_emu_argument *a, struct tw_error *err)
{
    (void)index;
    return tw_buffers_add(buffers, a->size, &a->address, &a->bytes, err);
}

static int fill(struct tw_emu_argument *a, size_t index, tw_emu_buffer_function *make, void *arg, struct tw_error *err)
{
    struct tw_file_map map;
    if (a->in == NULL)
        return a->size > 0 ? make(arg, index, a, err) : TW_OK;
    int code = tw_file_map_open(a->in, &map, err);
    if (code < 0)
        return code;
    a->size = map.size;
    if (map.size == 0)
        code = tw_fail(err, TW_E_FORMAT, "'%s' is empty; a buffer cannot be", a->in);
    else
        code = make(arg, index, a, err);
    if (code == TW_OK)
        memcpy(a->bytes, map.data, map.size);
    tw_file_map_close(&map);
    return code;
}

int tw_emu_arguments_fill(struct tw_emu_arguments *arguments, tw_emu_buffer_function *make, void *arg,
                          struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = 0; code == TW_OK && i < arguments->n; i++) {
        code = fill(&arguments->list[i], i, make, arg, err);
        arguments->addresses[i] = arguments->list[i].address;
    }
    return code;
}

int tw_emu_arguments_make(struct tw_emu_arguments *arguments, struct tw_buffers *buffers, struct tw_error *err)
{
    return tw_emu_arguments_fill(arguments, add_buffer, buffers, err);
}

static int check_outputs(const struct tw_emu_arguments *arguments, struct tw_error *err)
{
    for (size_t i = 0; i < arguments->n; i++)
        for (size_t k = 0; k < i && arguments->list[i].out != NULL; k++)
            if (arguments->list[k].out != NULL && strcmp(arguments->list[i].out, arguments->list[k].out) == 0)
                return tw_fail(err, TW_E_ARGUMENT, "two --arg would write the file '%s'", arguments->list[i].out);
    return TW_OK;
}

int tw_emu_arguments_check(const struct tw_emu_arguments *arguments, size_t n_control, struct tw_error *err)
{
    if (n_control == 0 && arguments->n > 0)
        return tw_fail(err, TW_E_ARGUMENT, "--arg needs --insts: without control code nothing reaches a buffer");
    return check_outputs(arguments, err);
}

void tw_emu_arguments_free(struct tw_emu_arguments *arguments)
{
    for (size_t i = 0; i < arguments->n; i++)
        free(arguments->list[i].in);
    *arguments = (struct tw_emu_arguments){0};
}

/* Opens and writes a file, which is not there under its name yet; fails with nothing left. */
static int prepare(const struct tw_emu_argument *a, struct tw_new_file *file, struct tw_error *err)
{
    int code = tw_new_file_open(a->out, file, err);
    if (code < 0)
        return code;
    code = tw_new_file_write(file, a->bytes, (size_t)a->size, err);
    if (code < 0)
        tw_new_file_abandon(file);
    return code;
}

int tw_emu_arguments_save(const struct tw_emu_arguments *arguments, struct tw_error *err)
{
    struct tw_new_file files[TW_EMU_ARGUMENTS_MAX];
    size_t n = 0, done = 0;
    int code = TW_OK;
    for (size_t i = 0; code == TW_OK && i < arguments->n; i++)
        if (arguments->list[i].out != NULL && (code = prepare(&arguments->list[i], &files[n], err)) == TW_OK)
            n++;
    while (code == TW_OK && done < n)
        code = tw_new_file_finish(&files[done++], err);
    while (done < n)
        tw_new_file_abandon(&files[done++]);
    return code;
}
