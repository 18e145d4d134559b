/* Names of output files, their folder, and writing them whole. */
#include "cli/folder.h"
#include "cli/outputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_stems(const char *const *inputs, const char *const *expected)
{
    size_t n = 0;
    while (expected[n] != NULL)
        n++;
    char **stems = NULL;
    assert_int_equal(tw_output_stems((char *const *)inputs, n, &stems, NULL), 0);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(stems[i], expected[i]);
    tw_output_stems_free(stems, n);
}

#define LIST(...)                                                                                                      \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

static void stems(void **state)
{
    (void)state;
    assert_stems(LIST("talk.wav", "/a/b/one.two.mp3", "none", "dir.d/none2", "-", ".hidden", ".a.b", "x."),
                 LIST("talk", "one.two", "none", "none2", "stdin", ".hidden", ".a", "x"));
    assert_stems(LIST(NULL), LIST(NULL));
}

static void stems_that_meet(void **state)
{
    (void)state;
    assert_stems(LIST("a/x.wav", "b/x.wav", "x.mp3", "x", "X.wav"), LIST("x", "x-2", "x-3", "x-4", "X"));
    /* A number that is somebody's own name is passed over, and nobody's file is written twice. */
    assert_stems(LIST("x-2.wav", "a/x.wav", "b/x.wav"), LIST("x-2", "x", "x-3"));
    assert_stems(LIST("a/x.wav", "b/x.wav", "x-2.wav"), LIST("x", "x-2", "x-2-2"));
}

static void folders(void **state)
{
    (void)state;
    struct folder f;
    char path[2 * FOLDER_PATH];
    struct stat st;
    struct tw_error err = {0};
    folder_create(&f);
    folder_path(&f, "a/b//c/", path);
    assert_int_equal(tw_output_folder(path, &err), 0);
    assert_true(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    assert_int_equal(tw_output_folder(path, &err), 0);
    folder_put(&f, "file", "x", 1);
    folder_path(&f, "file", path);
    assert_int_equal(tw_output_folder(path, &err), TW_E_IO);
    assert_non_null(strstr(err.text, path));
    folder_path(&f, "file/below", path);
    assert_int_equal(tw_output_folder(path, &err), TW_E_IO);
    assert_int_equal(tw_output_folder("", &err), TW_E_IO);
    folder_remove(&f);
}

static void inputs_are_spared(void **state)
{
    (void)state;
    struct folder f;
    char own[2 * FOLDER_PATH], other[2 * FOLDER_PATH];
    struct tw_error err = {0};
    folder_create(&f);
    folder_put(&f, "talk.txt", "x", 1);
    folder_put(&f, "talk.srt", "x", 1);
    folder_path(&f, "talk.txt", own);
    folder_path(&f, "other.raw", other);
    char *const stem[] = {(char[]){"other"}, (char[]){"talk"}}, *const inputs[] = {other, own};
    assert_int_equal(tw_output_spares_inputs(f.path, stem, inputs, 2, 1u << TW_FORMAT_SRT, &err), 0);
    assert_int_equal(tw_output_spares_inputs(f.path, stem, inputs, 2, 1u << TW_FORMAT_SRT | 1u << TW_FORMAT_TEXT, &err),
                     TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "talk.txt"));
    /* The same file by another name. */
    char link_path[2 * FOLDER_PATH];
    folder_path(&f, "other.json", link_path);
    assert_int_equal(symlink("talk.txt", link_path), 0);
    assert_int_equal(tw_output_spares_inputs(f.path, stem, inputs, 2, 1u << TW_FORMAT_JSON, &err), TW_E_ARGUMENT);
    folder_remove(&f);
}

static void writing(void **state)
{
    (void)state;
    struct folder f;
    struct tw_error err = {0};
    struct tw_transcript t = {0};
    folder_create(&f);
    assert_int_equal(tw_transcript_add(&t, 0, 1, " hello", 6, NULL, 0, NULL), 0);
    for (int round = 0; round < 2; round++) { /* the second replaces the first */
        assert_int_equal(tw_output_write(f.path, "x", TW_FORMAT_TEXT, &t, &err), 0);
        char *text = folder_get(&f, "x.txt", NULL);
        assert_string_equal(text, round == 0 ? "hello\n" : "hello\nagain\n");
        free(text);
        assert_int_equal(folder_count(&f, ""), 1);
        assert_int_equal(tw_transcript_add(&t, 1, 2, " again", 6, NULL, 0, NULL), 0);
    }
    assert_true(tw_output_write("/nowhere/at/all", "x", TW_FORMAT_TEXT, &t, &err) < 0);
    assert_non_null(strstr(err.text, "/nowhere/at/all/x.txt"));
    tw_transcript_release(&t);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stems),   cmocka_unit_test(stems_that_meet),
        cmocka_unit_test(folders), cmocka_unit_test(inputs_are_spared),
        cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
