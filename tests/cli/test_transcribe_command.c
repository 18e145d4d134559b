/* `tilewright transcribe` as a whole, with a small random model: what it writes, where, and how it ends. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "base/random.h"
#include "cli/program.h"
#include "whisper/synthetic.h"

#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SAMPLES 16000
#define PATH_SIZE (2 * FOLDER_PATH)

/* Of the random models one says little and differs between the sounds below, the other talks until it has to stop. */
#define TERSE_SEED 4
#define TALKATIVE_SEED 1

/* A folder with models and sounds, all in 16-bit samples without header. */
struct place {
    struct folder folder;
    char model[PATH_SIZE], talkative[PATH_SIZE], a[PATH_SIZE], b[PATH_SIZE], inner_a[PATH_SIZE], missing[PATH_SIZE],
        out[PATH_SIZE];
};

static const struct streams caught = {NULL, NULL};

/* One second in which each random sample is held for `hold` samples; 0: silence. */
static void put_sound(const struct folder *f, const char *name, size_t hold)
{
    struct tw_random random = {1};
    unsigned char bytes[2 * SAMPLES] = {0};
    uint64_t sample = 0;
    for (size_t i = 0; i < SAMPLES && hold > 0; i++) {
        if (i % hold == 0)
            sample = tw_random_u64(&random);
        memcpy(bytes + 2 * i, &sample, 2);
    }
    folder_put(f, name, bytes, sizeof bytes);
}

static void put_model(const struct folder *f, const char *name, uint64_t seed)
{
    struct synthetic_options options = synthetic_defaults();
    struct bytes model = {0};
    options.seed = seed;
    synthetic_ggml(&options, &model);
    folder_put(f, name, model.data, model.size);
    bytes_free(&model);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    folder_create(&p->folder);
    folder_path(&p->folder, "model.bin", p->model);
    folder_path(&p->folder, "talkative.bin", p->talkative);
    folder_path(&p->folder, "a.raw", p->a);
    folder_path(&p->folder, "b.raw", p->b);
    folder_path(&p->folder, "inner", p->inner_a);
    assert_int_equal(mkdir(p->inner_a, 0700), 0);
    folder_path(&p->folder, "inner/a.raw", p->inner_a);
    folder_path(&p->folder, "missing.raw", p->missing);
    folder_path(&p->folder, "out", p->out);
    put_model(&p->folder, "model.bin", TERSE_SEED);
    put_model(&p->folder, "talkative.bin", TALKATIVE_SEED);
    put_sound(&p->folder, "a.raw", 1);
    put_sound(&p->folder, "b.raw", 0);
    put_sound(&p->folder, "inner/a.raw", 40);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    folder_remove(&p->folder);
    free(p);
    return 0;
}

/* Options that keep a run short and one-threaded, then `more`. */
static pid_t start(const struct place *p, struct streams streams, const char *const *more)
{
    const char *arguments[24] = {"transcribe", "--raw", "--beam=1", "--no-fallback", "--threads=1", "-m", p->model};
    size_t n = 7;
    for (; *more != NULL; more++) {
        assert_true(n + 1 < sizeof arguments / sizeof arguments[0]);
        arguments[n++] = *more;
    }
    return program_start(&p->folder, streams, arguments);
}

static struct finished transcribe(const struct place *p, struct streams streams, const char *const *more)
{
    return program_wait(&p->folder, streams, start(p, streams, more));
}

#define TRANSCRIBE(p, streams, ...) transcribe(p, streams, (const char *const[]){__VA_ARGS__, NULL})

/* What a quiet run that succeeds has on stdout. */
static char *quiet_out(const struct place *p, const char *input, const char *format)
{
    struct finished f = TRANSCRIBE(p, caught, "--quiet", input, "--format", format);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.err, "");
    assert_true(strlen(f.out) > 3);
    free(f.err);
    return f.out;
}

/* All that an ended program must show; out and err are what it wrote. */
static void assert_ended(struct finished f, int code, const char *out)
{
    assert_int_equal(f.code, code);
    assert_string_equal(f.out, out);
    program_release(&f);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

/* One sentence on stderr with `part` in it. */
static void assert_sentence(const struct finished *f, const char *part)
{
    assert_int_equal(count_lines(f->err), 1);
    assert_non_null(strstr(f->err, part));
}

static void one_file(void **state)
{
    const struct place *p = *state;
    char *text = quiet_out(p, p->a, "text");
    struct finished f = TRANSCRIBE(p, caught, p->a);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.out, text);
    assert_null(strstr(f.out, "==>"));
    static const char *const shown[] = {"NPU",    "CPU",    "a.raw", "real-time factor", "load",           "mel",
                                        "encode", "decode", "f16",   "encoder on cpu",   "decoder on cpu", "1 threads"};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_non_null(strstr(f.err, shown[i]));
    assert_int_equal(count_lines(f.err), 2);
    assert_null(strchr(f.err, '\r')); /* progress is for terminals */
    program_release(&f);
    free(text);
}

/* The text of a file is the same whatever came before it, and on any number of threads. */
static void several_files(void **state)
{
    const struct place *p = *state;
    char *a = quiet_out(p, p->a, "text"), *b = quiet_out(p, p->b, "text"), *c = quiet_out(p, p->inner_a, "text");
    assert_string_not_equal(a, b); /* or mixing them up would go unseen */
    assert_string_not_equal(a, c);
    free(c);
    size_t room = strlen(a) + strlen(b) + 4 * PATH_SIZE;
    char *expected = malloc(room);
    snprintf(expected, room, "==> %s <==\n%s\n==> %s <==\n%s", p->a, a, p->b, b);
    assert_ended(TRANSCRIBE(p, caught, p->a, p->b, "--device=cpu"), 0, expected);
    assert_ended(TRANSCRIBE(p, caught, p->a, p->b, "--threads=2"), 0, expected);
    struct finished f = TRANSCRIBE(p, caught, "--quiet", p->a, p->missing, p->b);
    assert_sentence(&f, p->missing);
    assert_ended(f, 1, expected);
    free(expected);
    free(a);
    free(b);
}

static void bad_inputs(void **state)
{
    const struct place *p = *state;
    char empty[PATH_SIZE];
    folder_put(&p->folder, "empty.raw", "", 0);
    folder_path(&p->folder, "empty.raw", empty);
    const char *const bad[] = {p->missing, p->folder.path, empty, "/dev/zero"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct finished f = TRANSCRIBE(p, caught, "--quiet", bad[i]);
        assert_sentence(&f, bad[i]);
        assert_ended(f, 1, "");
    }
}

static void standard_input(void **state)
{
    const struct place *p = *state;
    char *text = quiet_out(p, p->a, "text");
    struct streams from_a = {p->a, NULL};
    assert_ended(TRANSCRIBE(p, from_a, "-"), 0, text);
    struct finished f = TRANSCRIBE(p, from_a, p->missing, "-", "-o", p->out);
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "standard input: "));
    assert_string_equal(f.out, "");
    program_release(&f);
    char *written = folder_get(&p->folder, "out/stdin.txt", NULL);
    assert_non_null(written);
    assert_string_equal(written, text);
    free(written);
    free(text);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static void assert_json(const char *line, size_t size, const char *file)
{
    json_t *root = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    if (file == NULL)
        assert_null(json_object_get(root, "file"));
    else
        assert_string_equal(text_at(root, "file"), file);
    assert_true(strlen(text_at(root, "text")) > 2);
    assert_string_equal(text_at(root, "language"), "en");
    assert_true(json_real_value(json_object_get(root, "duration")) == 1.0);
    assert_true(json_array_size(json_object_get(root, "segments")) > 0);
    const json_t *ms = json_object_get(root, "timings_ms");
    double parts = json_real_value(json_object_get(ms, "load")) + json_real_value(json_object_get(ms, "mel")) +
                   json_real_value(json_object_get(ms, "encode")) + json_real_value(json_object_get(ms, "decode"));
    assert_true(parts > 0 && parts <= json_real_value(json_object_get(ms, "total")) + 0.1);
    json_decref(root);
}

static void json_output(void **state)
{
    const struct place *p = *state;
    struct finished f = TRANSCRIBE(p, caught, "--quiet", "--json", p->a);
    assert_int_equal(f.code, 0);
    assert_int_equal(count_lines(f.out), 1);
    assert_json(f.out, strlen(f.out), NULL);
    program_release(&f);
    f = TRANSCRIBE(p, caught, "--quiet", "--format=json", p->b, p->missing, p->a);
    assert_int_equal(f.code, 1);
    assert_int_equal(count_lines(f.out), 2);
    size_t first = strcspn(f.out, "\n") + 1;
    assert_json(f.out, first, p->b);
    assert_json(f.out + first, strlen(f.out + first), p->a);
    program_release(&f);
}

/* Equal but for the times that a run took. */
static void assert_same_json(const char *one, const char *other)
{
    json_t *a = json_loads(one, 0, NULL), *b = json_loads(other, 0, NULL);
    assert_int_equal(json_object_del(a, "timings_ms"), 0);
    assert_int_equal(json_object_del(b, "timings_ms"), 0);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void assert_file(const struct place *p, const char *name, const char *input, const char *format)
{
    char *expected = quiet_out(p, input, format), *text = folder_get(&p->folder, name, NULL);
    assert_non_null(text);
    if (strcmp(format, "json") == 0)
        assert_same_json(text, expected);
    else
        assert_string_equal(text, expected);
    free(text);
    free(expected);
}

static void files(void **state)
{
    const struct place *p = *state;
    char folder[PATH_SIZE];
    folder_path(&p->folder, "files/of/all", folder);
    struct finished f = TRANSCRIBE(p, caught, p->a, "-o", folder, "--format=srt,json,text,vtt", p->inner_a);
    assert_ended(f, 0, "");
    assert_file(p, "files/of/all/a.txt", p->a, "text");
    assert_file(p, "files/of/all/a.json", p->a, "json");
    assert_file(p, "files/of/all/a.srt", p->a, "srt");
    assert_file(p, "files/of/all/a.vtt", p->a, "vtt");
    assert_file(p, "files/of/all/a-2.txt", p->inner_a, "text");
    assert_file(p, "files/of/all/a-2.json", p->inner_a, "json");
    assert_int_equal(folder_count(&p->folder, "files/of/all"), 8);
}

static void files_of_bad_inputs(void **state)
{
    const struct place *p = *state;
    char folder[PATH_SIZE];
    folder_path(&p->folder, "bad", folder);
    assert_ended(TRANSCRIBE(p, caught, p->missing, p->a, "-o", folder, "--format=srt"), 1, "");
    assert_int_equal(folder_count(&p->folder, "bad"), 1);
    assert_file(p, "bad/a.srt", p->a, "srt");
}

static void bad_folders(void **state)
{
    const struct place *p = *state;
    struct finished f = TRANSCRIBE(p, caught, "--quiet", "-o", p->model, p->a);
    assert_sentence(&f, p->model);
    assert_ended(f, 1, "");
    f = TRANSCRIBE(p, caught, "--quiet", "-o", "/dev/full", p->a);
    assert_sentence(&f, "/dev/full");
    assert_ended(f, 1, "");
}

/* A recording that is named as its own transcript would be. */
static void inputs_are_spared(void **state)
{
    const struct place *p = *state;
    char sound[PATH_SIZE];
    put_sound(&p->folder, "inner/sound.txt", 1);
    folder_path(&p->folder, "inner/sound.txt", sound);
    char folder[PATH_SIZE];
    folder_path(&p->folder, "inner", folder);
    struct finished f = TRANSCRIBE(p, caught, "--quiet", "-o", folder, sound);
    assert_sentence(&f, "sound.txt");
    assert_ended(f, 1, "");
    size_t size = 0;
    free(folder_get(&p->folder, "inner/sound.txt", &size));
    assert_int_equal(size, 2 * SAMPLES);
}

static void lost_output(void **state)
{
    const struct place *p = *state;
    static const char *const formats[] = {"text", "json", "srt"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct streams full = {NULL, "/dev/full"}, closed = {NULL, ""};
        struct finished f = TRANSCRIBE(p, full, "--quiet", "--format", formats[i], p->a);
        assert_sentence(&f, "standard output");
        assert_ended(f, 1, "");
        f = TRANSCRIBE(p, closed, "--quiet", "--format", formats[i], p->a);
        assert_sentence(&f, "standard output");
        assert_ended(f, 1, "");
    }
    /* After the first lost text nothing more is tried. */
    struct streams full = {NULL, "/dev/full"};
    struct finished f = TRANSCRIBE(p, full, "--quiet", p->a, p->b, p->missing);
    assert_sentence(&f, "standard output");
    assert_ended(f, 1, "");
}

static void reader_goes_away(void **state)
{
    const struct place *p = *state;
    char pipe_path[PATH_SIZE];
    folder_path(&p->folder, "pipe", pipe_path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    struct streams streams = {NULL, pipe_path};
    pid_t pid = start(p, streams, (const char *const[]){p->a, NULL});
    close(reader);
    assert_ended(program_wait(&p->folder, streams, pid), -SIGPIPE, "");
}

static void options_that_do_not_fit_the_model(void **state)
{
    const struct place *p = *state;
    struct finished f = TRANSCRIBE(p, caught, "--quiet", "-l", "german", p->a, p->b);
    assert_sentence(&f, "English");
    assert_ended(f, 1, "");
    f = TRANSCRIBE(p, caught, "--quiet", "--audio-ctx=65", p->a, p->b);
    assert_sentence(&f, "65");
    assert_ended(f, 1, "");
}

static void devices(void **state)
{
    const struct place *p = *state;
    char *text = quiet_out(p, p->a, "text");
    struct finished f = TRANSCRIBE(p, caught, "--device=emu", "--verify", p->a);
    assert_string_equal(f.out, text);
    assert_sentence(&f, "encoder on emu (");
    assert_ended(f, 0, text);
    free(text);
    if (access("/dev/accel/accel0", F_OK) == 0)
        return; /* here it might work */
    f = TRANSCRIBE(p, caught, "--quiet", "--device=npu", p->a);
    assert_sentence(&f, "NPU");
    assert_ended(f, 1, "");
}

/* The environment may name whatever --device takes; it is asked only for auto, and what it names wrongly is told. */
static void device_of_the_environment(void **state)
{
    const struct place *p = *state;
    const char *const named[] = {"cpu", "emu"};
    char *text = quiet_out(p, p->a, "text"), part[32];
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(setenv("TILEWRIGHT_DEVICE", named[i], 1), 0);
        struct finished f = TRANSCRIBE(p, caught, p->a);
        snprintf(part, sizeof part, "encoder on %s", named[i]);
        assert_sentence(&f, part);
        assert_ended(f, 0, text);
    }
    assert_int_equal(setenv("TILEWRIGHT_DEVICE", "abacus", 1), 0);
    struct finished f = TRANSCRIBE(p, caught, "--quiet", p->a);
    assert_sentence(&f, "'abacus', which TILEWRIGHT_DEVICE names");
    assert_ended(f, 1, "");
    assert_ended(TRANSCRIBE(p, caught, "--device=cpu", p->a), 0, text);
    assert_int_equal(unsetenv("TILEWRIGHT_DEVICE"), 0);
    free(text);
}

static json_int_t json_count(const json_t *root, const char *name)
{
    return json_integer_value(json_object_get(root, name));
}

/* A launch that fails in the middle of a window is told once and counted, and the text is the same. */
static void failing_array(void **state)
{
    const struct place *p = *state;
    const char *const faults[] = {"token:30", "bit:2000:seed=1"};
    struct finished right = TRANSCRIBE(p, caught, "--quiet", "--device=emu", "--json", p->a);
    json_t *a = json_loads(right.out, 0, NULL);
    assert_int_equal(json_count(a, "fallbacks"), 0);
    for (json_int_t i = 0; i < 2; i++) {
        assert_int_equal(setenv("TILEWRIGHT_EMU_FAULT", faults[i], 1), 0);
        struct finished f = TRANSCRIBE(p, caught, "--quiet", "--device=emu", "--json", p->a);
        assert_int_equal(unsetenv("TILEWRIGHT_EMU_FAULT"), 0);
        assert_sentence(&f, "a launch on the NPU failed, and the CPU computes it");
        assert_int_equal(f.code, 0);
        json_t *b = json_loads(f.out, 0, NULL);
        assert_true(json_equal(json_object_get(a, "text"), json_object_get(b, "text")));
        assert_int_equal(json_count(b, "fallbacks"), 1);
        assert_int_equal(json_count(b, "mismatches"), i);
        assert_true(json_count(b, "products_on_array") < json_count(a, "products_on_array"));
        json_decref(b);
        program_release(&f);
    }
    json_decref(a);
    program_release(&right);
}

/*
 * On the array the next input is encoded while one is decoded. Files come out as each alone, in their order, and those
 * that cannot be read are told of in their turn.
 */
static void overlapped_files(void **state)
{
    const struct place *p = *state;
    char folder[PATH_SIZE];
    folder_path(&p->folder, "overlapped", folder);
    const char *const inputs[] = {p->a, p->b, p->inner_a}, *const names[] = {"a", "b", "a-2"};
    struct finished f = TRANSCRIBE(p, caught, "--device=emu", "--json", "-o", folder, p->a, p->missing, p->b,
                                   p->folder.path, p->inner_a);
    assert_int_equal(f.code, 1);
    assert_int_equal(count_lines(f.err), 5);
    const char *at = f.err, *const told[] = {p->a, p->missing, p->b, p->folder.path, p->inner_a};
    for (size_t i = 0; i < 5; i++) {
        at = strstr(at, told[i]);
        assert_non_null(at);
        at = strchr(at, '\n');
    }
    program_release(&f);
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "overlapped/%s.json", names[i]);
        char *json = folder_get(&p->folder, name, NULL);
        assert_non_null(json);
        f = TRANSCRIBE(p, caught, "--quiet", "--device=emu", "--json", inputs[i]);
        assert_int_equal(f.code, 0);
        assert_same_json(json, f.out);
        assert_non_null(strstr(json, "\"encoder\": \"emu\""));
        assert_null(strstr(json, "\"launches\": 0,"));
        program_release(&f);
        free(json);
    }
}

/* Ten minutes of silence, in a file that is a hole. */
static void put_long_silence(const struct place *p, char path[PATH_SIZE])
{
    folder_put(&p->folder, "long.raw", "", 0);
    folder_path(&p->folder, "long.raw", path);
    assert_int_equal(truncate(path, (off_t)10 * 60 * 2 * 16000), 0);
}

/* A reader of a pipe that holds so little that whoever writes the text of ten minutes has to wait for it. */
static int narrow_pipe(const struct place *p, const char *name, char path[PATH_SIZE])
{
    folder_path(&p->folder, name, path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_true(fcntl(reader, F_SETPIPE_SZ, 4096) > 0);
    assert_int_equal(fcntl(reader, F_SETFL, 0), 0);
    return reader;
}

/* With its first text out, the command works on the next windows, and stops when it is next asked whether to go on. */
static void interrupted_text(void **state)
{
    const struct place *p = *state;
    char sound[PATH_SIZE], pipe_path[PATH_SIZE], text[4096] = "";
    put_long_silence(p, sound);
    int reader = narrow_pipe(p, "narrow", pipe_path);
    struct streams streams = {NULL, pipe_path};
    pid_t pid = start(p, streams, (const char *const[]){"--quiet", "-m", p->talkative, sound, p->a, NULL});
    ssize_t n = read(reader, text, 1), last = 0;
    assert_int_equal(n, 1);
    assert_int_equal(kill(pid, SIGINT), 0);
    for (; n > 0; n = read(reader, text, sizeof text))
        last = n;
    close(reader);
    struct finished f = program_wait(&p->folder, streams, pid);
    assert_int_equal(f.code, 128 + SIGINT);
    assert_sentence(&f, "stopped");
    assert_int_equal(text[last - 1], '\n'); /* no line is cut */
    program_release(&f);
}

/* With the next input already begun, an interrupt still ends the program at once. */
static void interrupted_overlap(void **state)
{
    const struct place *p = *state;
    char sound[PATH_SIZE], pipe_path[PATH_SIZE], text[4096] = "";
    put_long_silence(p, sound);
    int reader = narrow_pipe(p, "narrow too", pipe_path);
    struct streams streams = {NULL, pipe_path};
    pid_t pid = start(p, streams,
                      (const char *const[]){"--quiet", "--device=emu", "-m", p->talkative, sound, p->a, p->b, NULL});
    ssize_t n = read(reader, text, 1);
    assert_int_equal(n, 1);
    assert_int_equal(kill(pid, SIGINT), 0);
    while (n > 0)
        n = read(reader, text, sizeof text);
    close(reader);
    struct finished f = program_wait(&p->folder, streams, pid);
    assert_int_equal(f.code, 128 + SIGINT);
    assert_sentence(&f, "stopped");
    program_release(&f);
}

static void wait_until_there(const struct place *p, const char *name)
{
    for (;;) {
        size_t size = 0;
        free(folder_get(&p->folder, name, &size));
        if (size > 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/*
 * While sound is awaited there is nothing to finish: the end comes at once. The first input's file is there, the second
 * one's is not, and nothing else either.
 */
static void interrupted_while_reading(void **state)
{
    const struct place *p = *state;
    char folder[PATH_SIZE], pipe_path[PATH_SIZE];
    folder_path(&p->folder, "stopped", folder);
    folder_path(&p->folder, "sound", pipe_path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int both = open(pipe_path, O_RDWR | O_CLOEXEC);
    assert_true(both >= 0);
    struct streams streams = {pipe_path, NULL};
    pid_t pid = start(p, streams, (const char *const[]){"--format=vtt", "-o", folder, p->a, "-", NULL});
    wait_until_there(p, "stopped/a.vtt");
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_ended(program_wait(&p->folder, streams, pid), 128 + SIGTERM, "");
    assert_int_equal(folder_count(&p->folder, "stopped"), 1);
    close(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file),
        cmocka_unit_test(several_files),
        cmocka_unit_test(bad_inputs),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(json_output),
        cmocka_unit_test(files),
        cmocka_unit_test(files_of_bad_inputs),
        cmocka_unit_test(bad_folders),
        cmocka_unit_test(inputs_are_spared),
        cmocka_unit_test(lost_output),
        cmocka_unit_test(reader_goes_away),
        cmocka_unit_test(options_that_do_not_fit_the_model),
        cmocka_unit_test(devices),
        cmocka_unit_test(device_of_the_environment),
        cmocka_unit_test(failing_array),
        cmocka_unit_test(overlapped_files),
        cmocka_unit_test(interrupted_overlap),
        cmocka_unit_test(interrupted_text),
        cmocka_unit_test(interrupted_while_reading),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
