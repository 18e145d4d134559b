/* Mapping of files: contents, the empty file, and what is no file. */
#include "base/file_map.h"

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

struct place {
    char folder[64];
    char path[96];
};

static int make_folder(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    strcpy(p->folder, "/tmp/tilewright-map-XXXXXX");
    *state = p;
    if (mkdtemp(p->folder) == NULL)
        return -1;
    snprintf(p->path, sizeof p->path, "%s/file", p->folder);
    return 0;
}

static int remove_folder(void **state)
{
    struct place *p = *state;
    unlink(p->path);
    int code = rmdir(p->folder);
    free(p);
    return code;
}

static void write_file(const char *path, const char *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void refused(const char *path, int code, const char *word)
{
    struct tw_file_map map = {(const unsigned char *)"x", 1};
    struct tw_error err = {0};
    assert_int_equal(tw_file_map_open(path, &map, &err), code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, word));
    assert_null(map.data);
    assert_true(map.size == 0);
    tw_file_map_close(&map);
}

static void contents(void **state)
{
    struct place *p = *state;
    static char data[10007];
    struct tw_file_map map;
    struct tw_error err;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 31);
    write_file(p->path, data, sizeof data);
    assert_int_equal(tw_file_map_open(p->path, &map, &err), TW_OK);
    assert_int_equal(map.size, sizeof data);
    assert_memory_equal(map.data, data, sizeof data);
    /* The mapping outlives the name. */
    assert_int_equal(unlink(p->path), 0);
    assert_memory_equal(map.data, data, sizeof data);
    tw_file_map_close(&map);
    assert_null(map.data);
    assert_true(map.size == 0);
    tw_file_map_close(&map);
}

static void empty_file(void **state)
{
    struct place *p = *state;
    struct tw_file_map map;
    struct tw_error err;
    write_file(p->path, "", 0);
    assert_int_equal(tw_file_map_open(p->path, &map, &err), TW_OK);
    assert_null(map.data);
    assert_true(map.size == 0);
    tw_file_map_close(&map);
}

static void no_such_file(void **state)
{
    struct place *p = *state;
    char below[128];
    refused(p->path, TW_E_NOT_FOUND, "cannot open");
    write_file(p->path, "x", 1);
    snprintf(below, sizeof below, "%s/deeper", p->path);
    refused(below, TW_E_NOT_FOUND, "cannot open");
}

static void no_regular_file(void **state)
{
    struct place *p = *state;
    refused(p->folder, TW_E_FORMAT, "directory");
    refused("/dev/null", TW_E_FORMAT, "not a file");
    /* Nobody writes to this pipe; opening it must not wait for somebody. */
    assert_int_equal(mkfifo(p->path, 0600), 0);
    refused(p->path, TW_E_FORMAT, "pipe");
}

static void no_permission(void **state)
{
    struct place *p = *state;
    if (geteuid() == 0)
        skip();
    write_file(p->path, "x", 1);
    assert_int_equal(chmod(p->path, 0), 0);
    refused(p->path, TW_E_IO, "cannot open");
}

static void closing_nothing(void **state)
{
    (void)state;
    struct tw_file_map map = {0};
    tw_file_map_close(&map);
    assert_null(map.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(contents, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(empty_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(no_such_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(no_regular_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(no_permission, make_folder, remove_folder),
        cmocka_unit_test(closing_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
