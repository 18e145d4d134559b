#define _XOPEN_SOURCE 700 /* nftw */
#include "cli/folder.h"

#include <dirent.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void folder_create(struct folder *f)
{
    const char *parent = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%s/tilewright-test-XXXXXX", parent != NULL ? parent : "/tmp");
    assert_non_null(mkdtemp(f->path));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void folder_remove(const struct folder *f)
{
    assert_int_equal(nftw(f->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int folder_set_up(void **state)
{
    struct folder *f = malloc(sizeof *f);
    assert_non_null(f);
    folder_create(f);
    *state = f;
    return 0;
}

int folder_tear_down(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

void folder_path(const struct folder *f, const char *name, char path[2 * FOLDER_PATH])
{
    snprintf(path, (size_t)2 * FOLDER_PATH, "%s/%s", f->path, name);
}

void folder_put(const struct folder *f, const char *name, const void *data, size_t size)
{
    char path[2 * FOLDER_PATH];
    folder_path(f, name, path);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(data, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
}

char *folder_get(const struct folder *f, const char *name, size_t *size)
{
    char path[2 * FOLDER_PATH];
    folder_path(f, name, path);
    FILE *from = fopen(path, "rb");
    if (from == NULL)
        return NULL;
    size_t room = 1 << 20;
    char *text = malloc(room);
    assert_non_null(text);
    size_t n = fread(text, 1, room, from);
    fclose(from);
    assert_true(n < room);
    text[n] = '\0';
    if (size != NULL)
        *size = n;
    return text;
}

int folder_count(const struct folder *f, const char *name)
{
    char path[2 * FOLDER_PATH];
    int n = 0;
    folder_path(f, name, path);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return -1;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}
