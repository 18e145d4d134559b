#include "cli/outputs.h"

#include "base/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBER_ROOM 24 /* "-" and a size_t */

struct span {
    const char *at;
    size_t size;
};

/* The last part of a path without its ending; a dot at its very beginning begins no ending. */
static struct span plain_stem(const char *input)
{
    if (strcmp(input, "-") == 0)
        return (struct span){"stdin", 5};
    const char *slash = strrchr(input, '/');
    const char *name = slash != NULL ? slash + 1 : input;
    const char *dot = strrchr(name, '.');
    size_t size = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    return (struct span){name, size};
}

static int is_taken(char *const *stems, size_t n, const char *stem)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(stems[i], stem) == 0)
            return 1;
    return 0;
}

/* The stem of inputs[n], different from stems[0 .. n-1]; NULL without memory. */
static char *free_stem(char *const *stems, size_t n, const char *input)
{
    struct span plain = plain_stem(input);
    size_t room = plain.size + NUMBER_ROOM;
    char *stem = malloc(room);
    if (stem == NULL)
        return NULL;
    memcpy(stem, plain.at, plain.size);
    stem[plain.size] = '\0';
    for (size_t number = 2; is_taken(stems, n, stem); number++)
        snprintf(stem + plain.size, NUMBER_ROOM, "-%zu", number);
    return stem;
}

int tw_output_stems(char *const *inputs, size_t n, char ***stems, struct tw_error *err)
{
    char **made = calloc(n > 0 ? n : 1, sizeof *made);
    for (size_t i = 0; i < n && made != NULL; i++) {
        made[i] = free_stem(made, i, inputs[i]);
        if (made[i] == NULL) {
            tw_output_stems_free(made, i);
            made = NULL;
        }
    }
    if (made == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory for the names of %zu outputs", n);
    *stems = made;
    return 0;
}

void tw_output_stems_free(char **stems, size_t n)
{
    for (size_t i = 0; i < n && stems != NULL; i++)
        free(stems[i]);
    free(stems);
}

static int make_folder(const char *path, const char *wanted, struct tw_error *err)
{
    struct stat st;
    int reason = mkdir(path, 0777) == 0 ? 0 : errno;
    if (reason == 0 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    return tw_fail_errno(err, TW_E_IO, reason, "the folder '%s' cannot be made", wanted);
}

int tw_output_folder(const char *folder, struct tw_error *err)
{
    char *path = strdup(folder);
    if (path == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory for the name of the folder '%s'", folder);
    int code = 0;
    for (char *p = path + strspn(path, "/"); *p != '\0' && code == 0; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        code = make_folder(path, folder, err);
        *p = '/';
    }
    if (code == 0)
        code = make_folder(path, folder, err);
    free(path);
    return code;
}

/* folder/stem.ending, allocated; NULL without memory. */
static char *output_path(const char *folder, const char *stem, enum tw_output_format f)
{
    const char *ending = tw_output_format_ending(f);
    size_t size = strlen(folder) + strlen(stem) + strlen(ending) + 3;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s.%s", folder, stem, ending);
    return path;
}

/* Which file a path leads to; by whatever names it is reached, this is the same. */
struct identity {
    int there;
    dev_t device;
    ino_t number;
};

static struct identity identity_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (struct identity){0};
    return (struct identity){1, st.st_dev, st.st_ino};
}

static int is_among(struct identity file, const struct identity *inputs, size_t n)
{
    for (size_t i = 0; i < n && file.there; i++)
        if (inputs[i].there && inputs[i].device == file.device && inputs[i].number == file.number)
            return 1;
    return 0;
}

static int spares_inputs(const char *folder, const char *stem, enum tw_output_format f, const struct identity *inputs,
                         size_t n, struct tw_error *err)
{
    char *path = output_path(folder, stem, f);
    if (path == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory for the name of an output");
    int code = 0;
    if (is_among(identity_of(path), inputs, n))
        code =
            tw_fail(err, TW_E_ARGUMENT, "the output '%s' would replace an input; choose another folder with -o", path);
    free(path);
    return code;
}

int tw_output_spares_inputs(const char *folder, char *const *stems, char *const *inputs, size_t n, unsigned formats,
                            struct tw_error *err)
{
    struct identity *known = calloc(n > 0 ? n : 1, sizeof *known);
    if (known == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory to compare %zu inputs with their outputs", n);
    for (size_t i = 0; i < n; i++)
        known[i] = identity_of(inputs[i]);
    int code = 0;
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < TW_FORMAT_COUNT && code == 0; f++)
            if (formats >> f & 1u)
                code = spares_inputs(folder, stems[i], f, known, n, err);
    free(known);
    return code;
}

/* The transcript in memory, to be released with free(). */
static int render(const struct tw_transcript *t, enum tw_output_format f, char **text, size_t *size,
                  struct tw_error *err)
{
    *text = NULL;
    FILE *to = open_memstream(text, size);
    if (to == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory to write a transcript");
    int code = tw_transcript_write(t, f, NULL, to, err);
    if (fclose(to) != 0 && code == 0)
        code = tw_fail(err, TW_E_MEMORY, "there is no memory to write a transcript");
    return code;
}

static int write_file(const char *path, const char *text, size_t size, struct tw_error *err)
{
    struct tw_new_file file;
    int code = tw_new_file_open(path, &file, err);
    if (code < 0)
        return code;
    code = tw_new_file_write(&file, text, size, err);
    if (code == 0)
        return tw_new_file_finish(&file, err);
    tw_new_file_abandon(&file);
    return code;
}

int tw_output_write(const char *folder, const char *stem, enum tw_output_format f, const struct tw_transcript *t,
                    struct tw_error *err)
{
    char *text = NULL, *path = output_path(folder, stem, f);
    size_t size;
    int code = path == NULL ? tw_fail(err, TW_E_MEMORY, "there is no memory for the name of an output")
                            : render(t, f, &text, &size, err);
    if (code == 0)
        code = write_file(path, text, size, err);
    free(text);
    free(path);
    return code;
}
