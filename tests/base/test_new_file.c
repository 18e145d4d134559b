/* New files appear whole or not at all, in place of what was there. */
#include "base/new_file.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/tw-new-file-XXXXXX");
    *state = folder;
    return folder == NULL || mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    int failed = system(command);
    free(*state);
    return failed;
}

static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = 0;
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static void assert_holds(const char *path, const char *text)
{
    char found[64] = {0};
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(found, 1, sizeof found - 1, f);
    fclose(f);
    assert_int_equal(n, strlen(text));
    assert_string_equal(found, text);
}

static void write_file(const char *path, const char *text)
{
    struct tw_new_file f;
    struct tw_error err = {0};
    assert_int_equal(tw_new_file_open(path, &f, &err), TW_OK);
    assert_int_equal(tw_new_file_write(&f, text, strlen(text), &err), TW_OK);
    assert_int_equal(tw_new_file_finish(&f, &err), TW_OK);
    tw_new_file_abandon(&f);
}

static void appears_when_finished(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/a", (char *)*state);
    struct tw_new_file f;
    assert_int_equal(tw_new_file_open(path, &f, NULL), TW_OK);
    assert_int_equal(tw_new_file_write(&f, "one ", 4, NULL), TW_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(tw_new_file_write(&f, "two", 3, NULL), TW_OK);
    assert_int_equal(tw_new_file_finish(&f, NULL), TW_OK);
    assert_holds(path, "one two");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(entries(*state), 1);
}

static void replaces_only_when_finished(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/a", (char *)*state);
    write_file(path, "old");
    struct tw_new_file f;
    assert_int_equal(tw_new_file_open(path, &f, NULL), TW_OK);
    assert_int_equal(tw_new_file_write(&f, "newer", 5, NULL), TW_OK);
    assert_holds(path, "old");
    tw_new_file_abandon(&f);
    assert_holds(path, "old");
    write_file(path, "new");
    assert_holds(path, "new");
    assert_int_equal(entries(*state), 1);
}

static void leaves_devices_and_folders_alone(void **state)
{
    struct tw_new_file f;
    struct tw_error err = {0};
    assert_int_equal(tw_new_file_open(*state, &f, &err), TW_E_IO);
    assert_non_null(strstr(err.text, *state));
    assert_int_equal(tw_new_file_open("/dev/null", &f, &err), TW_E_IO);
    tw_new_file_abandon(&f);
}

static void says_that_the_folder_is_missing(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/none/a", (char *)*state);
    struct tw_new_file f;
    struct tw_error err = {0};
    assert_int_equal(tw_new_file_open(path, &f, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, path));
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "wb");
    if (full == NULL)
        skip();
    struct tw_new_file f = {.fd = dup(fileno(full)), .path = strdup("clip"), .temporary = strdup("clip.new")};
    fclose(full);
    struct tw_error err = {0};
    assert_int_equal(tw_new_file_write(&f, "x", 1, &err), TW_E_IO);
    assert_non_null(strstr(err.text, "No space left"));
    tw_new_file_abandon(&f);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(appears_when_finished),
        WITH_FOLDER(replaces_only_when_finished),
        WITH_FOLDER(leaves_devices_and_folders_alone),
        WITH_FOLDER(says_that_the_folder_is_missing),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
