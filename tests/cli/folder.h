/* A folder of its own for a test, removed with what lies in it. */
#ifndef TESTS_CLI_FOLDER_H
#define TESTS_CLI_FOLDER_H

#include <stddef.h>

#define FOLDER_PATH 512

struct folder {
    char path[FOLDER_PATH];
};

void folder_create(struct folder *f);
void folder_remove(const struct folder *f);

/* Fixtures of cmocka: *state is such a folder for the test. */
int folder_set_up(void **state);
int folder_tear_down(void **state);

/* f/name in one of the caller's buffers. */
void folder_path(const struct folder *f, const char *name, char path[2 * FOLDER_PATH]);

/* Writes a file of the folder. */
void folder_put(const struct folder *f, const char *name, const void *data, size_t size);

/* The contents of a file of the folder, terminated and to be freed; NULL if it is not there. size may be NULL. */
char *folder_get(const struct folder *f, const char *name, size_t *size);

/* Entries of a folder inside f ("" is f itself), hidden ones too; -1 if it is not there. */
int folder_count(const struct folder *f, const char *name);

#endif
