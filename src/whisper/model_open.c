#include "whisper/model_ct2.h"
#include "whisper/model_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int open_ggml(const char *path, struct tw_whisper_model **model, struct tw_error *err)
{
    struct tw_file_map map;
    int code = tw_file_map_open(path, &map, err);
    if (code < 0)
        return code;
    code = tw_model_parse_ggml(map.data, map.size, path, model, err);
    if (code < 0)
        tw_file_map_close(&map);
    else
        (*model)->storage->map = map;
    return code;
}

/* Maps the file of that name in folder. */
static int map_in(const char *folder, const char *name, struct tw_file_map *map, struct tw_error *err)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to open '%s'", folder);
    snprintf(path, size, "%s/%s", folder, name);
    int code = tw_file_map_open(path, map, err);
    free(path);
    return code;
}

static int map_vocabulary(const char *folder, struct tw_file_map *map, int *json, struct tw_error *err)
{
    *json = 0;
    int code = map_in(folder, "vocabulary.txt", map, err);
    if (code == TW_E_NOT_FOUND) {
        *json = 1;
        code = map_in(folder, "vocabulary.json", map, err);
    }
    if (code == TW_E_NOT_FOUND)
        return tw_fail(err, code, "the folder '%s' has a model.bin but neither vocabulary.txt nor vocabulary.json",
                       folder);
    return code;
}

static int open_folder(const char *path, struct tw_whisper_model **model, struct tw_error *err)
{
    struct tw_file_map map, words = {0};
    struct tw_ct2_files files = {.name = path};
    int code = map_in(path, "model.bin", &map, err);
    if (code == TW_E_NOT_FOUND)
        return tw_fail(err, code, "the folder '%s' has no model.bin: it is not a faster-whisper model", path);
    if (code < 0)
        return code;
    code = map_vocabulary(path, &words, &files.vocabulary_is_json, err);
    if (code == TW_OK) {
        files.model = map.data;
        files.model_size = map.size;
        files.vocabulary = words.data;
        files.vocabulary_size = words.size;
        code = tw_model_parse_ct2(&files, model, err);
    }
    tw_file_map_close(&words);
    if (code < 0)
        tw_file_map_close(&map);
    else
        (*model)->storage->map = map;
    return code;
}

int tw_model_open(const char *path, struct tw_whisper_model **model, struct tw_error *err)
{
    struct stat st;
    *model = NULL;
    if (stat(path, &st) != 0)
        return tw_fail_errno(err, errno == ENOENT || errno == ENOTDIR ? TW_E_NOT_FOUND : TW_E_IO, errno,
                             "cannot open the model '%s'", path);
    int code = S_ISDIR(st.st_mode) ? open_folder(path, model, err) : open_ggml(path, model, err);
    /* Nearly all of the file is needed soon; the kernel may as well read it ahead. Only advice, so failure is fine. */
    if (code == TW_OK) {
        const struct tw_file_map *map = &(*model)->storage->map;
        (void)posix_madvise((void *)(uintptr_t)map->data, map->size, POSIX_MADV_WILLNEED);
    }
    return code;
}
