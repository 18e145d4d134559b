/* tilewright model as a user calls it: lists, paths, conversions, and downloads that fail or are interrupted. */
#include "base/file_map.h"
#include "cli/program.h"
#include "whisper/model_store.h"
#include "whisper/synthetic.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN(scratch, ...) program_run(scratch, caught, (const char *const[]){"model", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

/* The cache is an empty folder, the hub a folder that is not there, and there is no script. */
static int set_up(void **state)
{
    struct folder *f = malloc(sizeof *f);
    assert_non_null(f);
    folder_create(f);
    char cache[2 * FOLDER_PATH], hub[2 * FOLDER_PATH + 8];
    folder_path(f, "cache", cache);
    snprintf(hub, sizeof hub, "file://%s/hub", f->path);
    setenv("TILEWRIGHT_CACHE", cache, 1);
    setenv("TILEWRIGHT_HUB", hub, 1);
    setenv("TILEWRIGHT_SHARE", f->path, 1);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

static void make_folder(const struct folder *f, const char *name)
{
    char path[2 * FOLDER_PATH];
    folder_path(f, name, path);
    assert_int_equal(mkdir(path, 0777), 0);
}

static void put_model(const struct folder *f, const char *name)
{
    char path[2 * FOLDER_PATH];
    snprintf(path, sizeof path, "cache/models/ggml-%s.bin", name);
    make_folder(f, "cache");
    make_folder(f, "cache/models");
    folder_put(f, path, "x", 1);
    size_t count, i = 0;
    const struct tw_published_model *models = tw_published_models(&count);
    while (strcmp(models[i].name, name) != 0)
        i++;
    char file[2 * FOLDER_PATH];
    folder_path(f, path, file);
    assert_int_equal(truncate(file, (off_t)models[i].bytes), 0);
}

/* It failed with that code, said one line with `words` in it, and wrote nothing else. */
static void assert_failed(struct finished f, int code, const char *words)
{
    assert_string_equal(f.out, "");
    if (f.code != code || strstr(f.err, words) == NULL)
        fail_msg("exit code %d instead of %d, or no '%s' in: %s", f.code, code, words, f.err);
    const char *end = strchr(f.err, '\n');
    assert_non_null(end);
    assert_string_equal(end, "\n");
    program_release(&f);
}

static void assert_prints(struct finished f, const char *line)
{
    assert_int_equal(f.code, 0);
    assert_true(strncmp(f.out, line, strlen(line)) == 0);
    assert_string_equal(f.out + strlen(line), "\n");
    program_release(&f);
}

static void the_list_shows_what_is_here(void **state)
{
    put_model(*state, "tiny.en");
    struct finished f = RUN(*state, "list");
    assert_int_equal(f.code, 0);
    assert_non_null(strstr(f.out, "tiny.en                 78 MB  cached\n"));
    assert_non_null(strstr(f.out, "large-v3              3095 MB\n"));
    program_release(&f);
}

static void the_list_as_json(void **state)
{
    put_model(*state, "tiny.en");
    struct finished f = RUN(*state, "list", "--json");
    assert_int_equal(f.code, 0);
    json_t *list = json_loads(f.out, 0, NULL), *model;
    size_t i, count;
    tw_published_models(&count);
    assert_int_equal(json_array_size(list), count);
    json_array_foreach(list, i, model)
    {
        const char *name = json_string_value(json_object_get(model, "name"));
        int here = strcmp(name, "tiny.en") == 0;
        assert_int_equal(json_is_true(json_object_get(model, "cached")), here);
        assert_int_equal(json_is_string(json_object_get(model, "path")), here);
        assert_true(json_integer_value(json_object_get(model, "bytes")) > 0);
    }
    json_decref(list);
    program_release(&f);
}

static void wrong_command_lines_are_usage_errors(void **state)
{
    assert_failed(program_run(*state, caught, (const char *const[]){"model", NULL}), 2, "list, get, path or convert");
    assert_failed(RUN(*state, "delete"), 2, "delete");
    assert_failed(RUN(*state, "get"), 2, "name");
    assert_failed(RUN(*state, "path", "a", "b"), 2, "one model");
    assert_failed(RUN(*state, "convert", "folder"), 2, "-o");
    assert_failed(RUN(*state, "convert", "-o", "out.bin"), 2, "folder");
    assert_failed(RUN(*state, "list", "--all"), 2, "--all");
    assert_failed(RUN(*state, "list", "tiny"), 2, "no names");
    assert_failed(RUN(*state, "list", "-o", "x"), 2, "convert");
    assert_failed(RUN(*state, "get", "tiny", "--json"), 2, "list");
}

static void a_path_is_printed(void **state)
{
    const struct folder *f = *state;
    assert_failed(RUN(f, "path", "tiny"), 1, "tilewright model get tiny");
    assert_failed(RUN(f, "path", "tinny"), 1, "tilewright model list");
    assert_prints(RUN(f, "path", f->path), f->path);
    put_model(f, "tiny");
    char path[2 * FOLDER_PATH];
    folder_path(f, "cache/models/ggml-tiny.bin", path);
    assert_prints(RUN(f, "path", "tiny"), path);
    assert_prints(RUN(f, "get", "tiny"), path); /* already here */
}

static void downloads_that_fail(void **state)
{
    assert_failed(RUN(*state, "get", "tinny"), 1, "tilewright model list");
    assert_failed(RUN(*state, "get", "tiny"), 1, "no file");
    make_folder(*state, "hub");
    folder_put(*state, "hub/ggml-tiny.bin", "x", 1);
    assert_failed(RUN(*state, "get", "tiny"), 1, "1 bytes instead of");
    assert_int_equal(folder_count(*state, "cache/models"), 0);
}

static void put_script(const struct folder *f, const char *text)
{
    char path[2 * FOLDER_PATH];
    folder_put(f, "get-model", text, strlen(text));
    folder_path(f, "get-model", path);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Port 9 is nobody's on any machine where tests run; refused at once. */
static void the_script_helps_where_the_hub_is_not_reached(void **state)
{
    const struct folder *f = *state;
    setenv("TILEWRIGHT_HUB", "http://127.0.0.1:9", 1);
    assert_failed(RUN(f, "get", "tiny"), 1, "check the network");
    put_script(f, "#!/bin/sh\necho said by the script\n[ -x \"$TILEWRIGHT\" ] || exit 1\n"
                  "truncate -s 77691713 \"$TILEWRIGHT_CACHE/models/ggml-$1.bin\"\n");
    char path[2 * FOLDER_PATH];
    folder_path(f, "cache/models/ggml-tiny.bin", path);
    struct finished r = RUN(f, "get", "tiny");
    assert_non_null(strstr(r.err, "said by the script\n"));
    assert_prints(r, path);
}

static void a_script_that_fails_is_a_failure(void **state)
{
    const struct folder *f = *state;
    setenv("TILEWRIGHT_HUB", "http://127.0.0.1:9", 1);
    put_script(f, "#!/bin/sh\necho no such luck\nexit 3\n");
    struct finished r = RUN(f, "get", "tiny");
    assert_int_equal(r.code, 1);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, "no such luck\n"));
    assert_non_null(strstr(r.err, "could not get the model 'tiny'"));
    program_release(&r);
}

/* Waits until the file is there; gives up after 20 s. */
static void wait_for_file(const struct folder *f, const char *name)
{
    char path[2 * FOLDER_PATH];
    folder_path(f, name, path);
    for (int i = 0; i < 2000 && access(path, F_OK) != 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(access(path, F_OK), 0);
}

static void an_interrupt_reaches_the_script(void **state)
{
    const struct folder *f = *state;
    setenv("TILEWRIGHT_HUB", "http://127.0.0.1:9", 1);
    put_script(f, "#!/bin/sh\ncd \"$TILEWRIGHT_SHARE\"\ntrap 'echo x >stopped; exit 1' TERM\necho x >started\n"
                  "while :; do sleep 0.05; done\n");
    pid_t pid = program_start(f, caught, (const char *const[]){"model", "get", "tiny", NULL});
    wait_for_file(f, "started");
    kill(pid, SIGTERM);
    struct finished r = program_wait(f, caught, pid);
    assert_int_equal(r.code, 128 + SIGTERM);
    assert_string_equal(r.out, "");
    wait_for_file(f, "stopped");
    program_release(&r);
}

static void an_interrupt_ends_a_download(void **state)
{
    const struct folder *f = *state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    char hub[64];
    snprintf(hub, sizeof hub, "http://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("TILEWRIGHT_HUB", hub, 1);

    pid_t pid = program_start(f, caught, (const char *const[]){"model", "get", "tiny", NULL});
    int connection = accept(listener, NULL, NULL);
    assert_true(connection >= 0);
    static const char begin[] = "HTTP/1.1 200 OK\r\nContent-Length: 77691713\r\n\r\nand then nothing for a long time";
    assert_true(send(connection, begin, sizeof begin - 1, MSG_NOSIGNAL) > 0);
    kill(pid, SIGINT);
    struct finished r = program_wait(f, caught, pid);
    close(connection);
    close(listener);
    assert_failed(r, 128 + SIGINT, "interrupted; nothing was kept");
    assert_int_equal(folder_count(f, "cache/models"), 0);
}

static void put_bytes(const struct folder *f, const char *name, struct bytes *b)
{
    folder_put(f, name, b->data, b->size);
    bytes_free(b);
}

/* A small faster-whisper model in the folder ct2. */
static void put_ct2(const struct folder *f)
{
    struct synthetic_options o = synthetic_smallest();
    o.type = TW_F16;
    struct bytes model = {0}, vocabulary = {0};
    synthetic_ct2(&o, &model);
    synthetic_ct2_vocabulary(&o, &vocabulary);
    make_folder(f, "ct2");
    put_bytes(f, "ct2/model.bin", &model);
    put_bytes(f, "ct2/vocabulary.txt", &vocabulary);
}

static void a_folder_is_converted(void **state)
{
    const struct folder *f = *state;
    char ct2[2 * FOLDER_PATH], out[2 * FOLDER_PATH], again[2 * FOLDER_PATH];
    folder_path(f, "ct2", ct2);
    folder_path(f, "out.bin", out);
    folder_path(f, "again.bin", again);
    put_ct2(f);
    struct finished r = RUN(f, "convert", ct2, "-o", out);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out, "");
    program_release(&r);
    r = RUN(f, "convert", out, "-o", again); /* what it wrote is a model, and the same one */
    assert_int_equal(r.code, 0);
    program_release(&r);
    struct tw_file_map first, second;
    assert_int_equal(tw_file_map_open(out, &first, NULL), 0);
    assert_int_equal(tw_file_map_open(again, &second, NULL), 0);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    tw_file_map_close(&first);
    tw_file_map_close(&second);
}

static void inputs_are_not_overwritten(void **state)
{
    const struct folder *f = *state;
    char ct2[2 * FOLDER_PATH], model[2 * FOLDER_PATH], other_name[2 * FOLDER_PATH];
    folder_path(f, "ct2", ct2);
    folder_path(f, "ct2/model.bin", model);
    folder_path(f, "link.bin", other_name);
    put_ct2(f);
    assert_int_equal(link(model, other_name), 0);
    struct stat before, after;
    assert_int_equal(stat(model, &before), 0);
    assert_failed(RUN(f, "convert", ct2, "-o", model), 1, "would be overwritten");
    assert_failed(RUN(f, "convert", ct2, "-o", other_name), 1, "would be overwritten");
    assert_failed(RUN(f, "convert", model, "-o", model), 1, "would be overwritten");
    assert_failed(RUN(f, "convert", ct2, "-o", ct2), 1, "would be overwritten");
    assert_int_equal(stat(model, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
}

static void what_is_no_model_is_refused(void **state)
{
    const struct folder *f = *state;
    char ct2[2 * FOLDER_PATH], gguf[2 * FOLDER_PATH], out[2 * FOLDER_PATH];
    folder_path(f, "ct2", ct2);
    folder_path(f, "llm.gguf", gguf);
    folder_path(f, "out.bin", out);
    assert_failed(RUN(f, "convert", ct2, "-o", out), 1, ct2);
    make_folder(f, "ct2");
    assert_failed(RUN(f, "convert", ct2, "-o", out), 1, ct2);
    folder_put(f, "ct2/model.bin", "no model", 8);
    assert_failed(RUN(f, "convert", ct2, "-o", out), 1, ct2);
    folder_put(f, "llm.gguf", "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    assert_failed(RUN(f, "convert", gguf, "-o", out), 1, "GGUF");
    assert_int_equal(access(out, F_OK), -1);
}

static void an_output_that_cannot_be_written(void **state)
{
    const struct folder *f = *state;
    char ct2[2 * FOLDER_PATH], out[2 * FOLDER_PATH];
    folder_path(f, "ct2", ct2);
    folder_path(f, "none/out.bin", out);
    put_ct2(f);
    assert_failed(RUN(f, "convert", ct2, "-o", out), 1, out);
    assert_failed(RUN(f, "convert", ct2, "-o", "/dev/null"), 1, "/dev/null");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_list_shows_what_is_here),
        TEST(the_list_as_json),
        TEST(wrong_command_lines_are_usage_errors),
        TEST(a_path_is_printed),
        TEST(downloads_that_fail),
        TEST(the_script_helps_where_the_hub_is_not_reached),
        TEST(a_script_that_fails_is_a_failure),
        TEST(an_interrupt_reaches_the_script),
        TEST(an_interrupt_ends_a_download),
        TEST(a_folder_is_converted),
        TEST(inputs_are_not_overwritten),
        TEST(what_is_no_model_is_refused),
        TEST(an_output_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
