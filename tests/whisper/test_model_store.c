/* Names of models: the table, the cache folder's rules, what a name resolves to, and a get that goes wrong. */
#include "whisper/model_store.h"

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

static int make_cache(void **state)
{
    char *folder = strdup("/tmp/tw-store-XXXXXX");
    *state = folder;
    return folder == NULL || mkdtemp(folder) == NULL || setenv("TILEWRIGHT_CACHE", folder, 1) != 0;
}

static int remove_cache(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    int failed = system(command);
    free(*state);
    unsetenv("TILEWRIGHT_HUB");
    return failed;
}

static void put_file(const char *path)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("here", f);
    fclose(f);
}

static void the_table_is_sound(void **state)
{
    (void)state;
    size_t count;
    const struct tw_published_model *models = tw_published_models(&count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strspn(models[i].sha256, "0123456789abcdef"), 64);
        assert_int_equal(strlen(models[i].sha256), 64);
        assert_int_equal(strspn(models[i].name, "abcdefghijklmnopqrstuvwxyz0123456789.-_"), strlen(models[i].name));
        assert_true(i == 0 || models[i - 1].bytes <= models[i].bytes);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(models[i].name, models[j].name);
            assert_string_not_equal(models[i].sha256, models[j].sha256);
        }
    }
}

static void the_cache_follows_the_variables(void **state)
{
    (void)state;
    char dir[256];
    setenv("TILEWRIGHT_CACHE", "/own", 1);
    setenv("XDG_CACHE_HOME", "/caches", 1);
    setenv("HOME", "/home/me", 1);
    assert_int_equal(tw_model_cache_dir(dir, sizeof dir, NULL), TW_OK);
    assert_string_equal(dir, "/own/models");
    setenv("TILEWRIGHT_CACHE", "", 1);
    assert_int_equal(tw_model_cache_dir(dir, sizeof dir, NULL), TW_OK);
    assert_string_equal(dir, "/caches/tilewright/models");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_int_equal(tw_model_cache_dir(dir, sizeof dir, NULL), TW_OK);
    assert_string_equal(dir, "/home/me/.cache/tilewright/models");
    struct tw_error err = {0};
    assert_int_equal(tw_model_cache_dir(dir, 20, &err), TW_E_LIMIT);
    unsetenv("HOME");
    assert_int_equal(tw_model_cache_dir(dir, sizeof dir, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "TILEWRIGHT_CACHE"));
}

static void a_path_is_taken_as_it_is(void **state)
{
    char path[256], file[128];
    snprintf(file, sizeof file, "%s/base", (char *)*state);
    put_file(file);
    assert_int_equal(tw_model_resolve(file, path, sizeof path, NULL), TW_OK);
    assert_string_equal(path, file);
    assert_int_equal(tw_model_resolve(*state, path, sizeof path, NULL), TW_OK);
    assert_string_equal(path, *state);
    assert_int_equal(tw_model_resolve(file, path, 10, NULL), TW_E_LIMIT);
}

static void a_name_is_looked_up_in_the_cache(void **state)
{
    char path[256], file[128];
    struct tw_error err = {0};
    assert_int_equal(tw_model_resolve("base", path, sizeof path, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "tilewright model get base"));
    assert_int_equal(tw_model_cached("base", path, sizeof path, &err), 0);
    snprintf(file, sizeof file, "%s/models", (char *)*state);
    assert_int_equal(mkdir(file, 0777), 0);
    snprintf(file, sizeof file, "%s/models/ggml-base.bin", (char *)*state);
    assert_string_equal(path, file);
    put_file(file);
    assert_int_equal(tw_model_cached("base", path, sizeof path, &err), 0); /* cut off */
    assert_int_equal(tw_model_resolve("base", path, sizeof path, &err), TW_E_NOT_FOUND);
    assert_int_equal(truncate(file, 147951465), 0);
    assert_int_equal(tw_model_resolve("base", path, sizeof path, &err), TW_OK);
    assert_string_equal(path, file);
    assert_int_equal(tw_model_cached("base", path, sizeof path, &err), 1);
    snprintf(file, sizeof file, "%s/models/ggml-own.bin", (char *)*state);
    put_file(file);
    assert_int_equal(tw_model_resolve("own", path, sizeof path, &err), TW_OK);
    assert_string_equal(path, file);
}

static void other_names_are_refused(void **state)
{
    (void)state;
    char path[256], longest[5000];
    struct tw_error err = {0};
    assert_int_equal(tw_model_resolve("basis", path, sizeof path, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "tilewright model list"));
    assert_int_equal(tw_model_resolve("", path, sizeof path, &err), TW_E_NOT_FOUND);
    assert_int_equal(tw_model_resolve("/nowhere/model.bin", path, sizeof path, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "/nowhere/model.bin"));
    assert_int_equal(tw_model_get("basis", NULL, NULL, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "tilewright model list"));
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(tw_model_resolve(longest, path, sizeof path, &err), TW_E_LIMIT);
}

static int stop(void *arg, double done, double total)
{
    (void)arg, (void)done, (void)total;
    return 1;
}

static void a_get_that_fails_leaves_nothing(void **state)
{
    char hub[256], file[320], models[128];
    struct tw_error err = {0};
    snprintf(models, sizeof models, "%s/models", (char *)*state);
    snprintf(hub, sizeof hub, "file://%s", (char *)*state);
    setenv("TILEWRIGHT_HUB", hub, 1);
    assert_int_equal(tw_model_get("tiny", NULL, NULL, &err), TW_E_NOT_FOUND);
    snprintf(file, sizeof file, "%s/ggml-tiny.bin", (char *)*state);
    put_file(file);
    assert_int_equal(tw_model_get("tiny", NULL, NULL, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "4 bytes instead of 77691713"));
    assert_int_equal(tw_model_get("tiny", stop, NULL, &err), TW_E_CANCELLED);
    assert_int_equal(rmdir(models), 0); /* made, and empty again */

    snprintf(file, sizeof file, "%s/models", (char *)*state);
    put_file(file);
    assert_true(tw_model_get("tiny", NULL, NULL, &err) < 0); /* a file where the folder should be */
    assert_non_null(strstr(err.text, models));
}

static void what_is_cached_is_left_alone(void **state)
{
    char file[128];
    snprintf(file, sizeof file, "%s/models", (char *)*state);
    assert_int_equal(mkdir(file, 0777), 0);
    snprintf(file, sizeof file, "%s/models/ggml-tiny.bin", (char *)*state);
    put_file(file);
    setenv("TILEWRIGHT_HUB", "file:///nowhere", 1);
    assert_true(tw_model_get("tiny", NULL, NULL, NULL) < 0); /* cut off: to be had again */
    assert_int_equal(truncate(file, 77691713), 0);
    assert_int_equal(tw_model_get("tiny", NULL, NULL, NULL), TW_OK);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 77691713);
}

#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, make_cache, remove_cache)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sound),     cmocka_unit_test(the_cache_follows_the_variables),
        WITH_CACHE(a_path_is_taken_as_it_is),     WITH_CACHE(a_name_is_looked_up_in_the_cache),
        WITH_CACHE(other_names_are_refused),      WITH_CACHE(a_get_that_fails_leaves_nothing),
        WITH_CACHE(what_is_cached_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
