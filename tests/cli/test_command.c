/* The tilewright command without a model: help, usage errors, exit codes, where text goes. */
#include "cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define RUN(scratch, streams, ...) program_run(scratch, streams, (const char *const[]){__VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        longest = size > longest ? size : longest;
        text += size + (text[size] == '\n');
    }
    return longest;
}

static void assert_help(struct finished f, const char *usage)
{
    assert_int_equal(f.code, 0);
    assert_string_equal(f.err, "");
    assert_true(strncmp(f.out, usage, strlen(usage)) == 0);
    assert_non_null(strstr(f.out, "Example"));
    assert_in_range(count_lines(f.out), 3, 24);
    assert_true(longest_line(f.out) <= 80);
    program_release(&f);
}

static void help(void **state)
{
    assert_help(RUN(*state, caught, "--help"), "Usage: tilewright COMMAND");
    assert_help(RUN(*state, caught, "-h"), "Usage: tilewright COMMAND");
    assert_help(RUN(*state, caught, "help"), "Usage: tilewright COMMAND");
    static const char *const commands[] = {"transcribe", "model",  "as",  "dis",     "image", "vectors", "emu",
                                           "info",       "doctor", "run", "overlay", "gemm",  "bench",   "demo"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char usage[64];
        snprintf(usage, sizeof usage, "Usage: tilewright %s", commands[i]);
        assert_help(RUN(*state, caught, commands[i], "--help"), usage);
    }
    assert_help(RUN(*state, caught, "transcribe", "x.wav", "-h"), "Usage: tilewright transcribe");
    assert_help(RUN(*state, caught, "help", "transcribe"), "Usage: tilewright transcribe");
    assert_help(RUN(*state, caught, "help", "model"), "Usage: tilewright model");
}

static void version(void **state)
{
    struct finished f = RUN(*state, caught, "--version");
    assert_int_equal(f.code, 0);
    assert_int_equal(strncmp(f.out, "tilewright ", 11), 0);
    assert_int_equal(count_lines(f.out), 1);
    program_release(&f);
}

/* One sentence on stderr that has `part` in it, nothing on stdout. */
static void assert_refused(struct finished f, int code, const char *part)
{
    assert_int_equal(f.code, code);
    assert_string_equal(f.out, "");
    assert_non_null(strstr(f.err, part));
    assert_int_equal(count_lines(f.err), 1);
    program_release(&f);
}

static void no_or_unknown_command(void **state)
{
    struct finished f = program_run(*state, caught, (const char *const[]){NULL});
    assert_int_equal(f.code, 2);
    assert_string_equal(f.out, "");
    assert_non_null(strstr(f.err, "Usage:"));
    program_release(&f);
    assert_refused(RUN(*state, caught, "transcribee"), 2, "'transcribee'");
    assert_refused(RUN(*state, caught, "help", "x"), 2, "'x'");
    assert_refused(RUN(*state, caught, "--versions"), 2, "'--versions'");
}

static void usage_errors(void **state)
{
    static const char *const wrong[][6] = {
        {"there is no model", "x.wav"},
        {"there is no sound file", "-m", "base"},
        {"only once", "-m", "base", "-", "-"},
        {"'--modle'", "--modle", "base", "x.wav"},
        {"--beam", "-m", "base", "x.wav", "--beam=0"},
        {"'17'", "-m", "base", "x.wav", "--beam=17"},
        {"--best-of", "-m", "base", "x.wav", "--best-of=0"},
        {"'two'", "-m", "base", "x.wav", "--threads=two"},
        {"'257'", "-m", "base", "x.wav", "--threads=257"},
        {"--temperature", "-m", "base", "x.wav", "--temperature=1.01"},
        {"--temperature", "-m", "base", "x.wav", "--temperature=nan"},
        {"--offset", "-m", "base", "x.wav", "--offset=-1"},
        {"--duration", "-m", "base", "x.wav", "--duration=1s"},
        {"--audio-ctx", "-m", "base", "x.wav", "--audio-ctx=1501"},
        {"--seed", "-m", "base", "x.wav", "--seed=-1"},
        {"'klingon'", "-m", "base", "x.wav", "--language=klingon"},
        {"'gpu'", "-m", "base", "x.wav", "--device=gpu"},
        {"'pdf'", "-m", "base", "x.wav", "--format=text,pdf"},
        {"-o", "-m", "base", "x.wav", "--format=text,json"},
        {"-o", "-m", "base", "x.wav", "--json", "--format=srt"},
        {"-o", "-m", "base", "x.wav", "y.wav", "--format=srt"},
        {"--raw", "-m", "base", "x.wav", "--rate=8000"},
        {"--raw", "-m", "base", "x.wav", "--channels=2"},
        {"--rate", "-m", "base", "x.wav", "--raw", "--rate=0"},
        {"no value", "-m", "base", "x.wav", "--raw=8000"},
        {"needs a value", "x.wav", "-m"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *arguments[8] = {"transcribe"};
        for (size_t j = 1; j < 6; j++)
            arguments[j] = wrong[i][j];
        assert_refused(program_run(*state, caught, arguments), 2, wrong[i][0]);
    }
}

static void no_such_model(void **state)
{
    const struct folder *scratch = *state;
    char path[2 * FOLDER_PATH];
    folder_path(scratch, "no-model.bin", path);
    assert_refused(RUN(scratch, caught, "transcribe", "-m", path, "x.wav", "--device=cpu"), 1, "no-model.bin");
    folder_put(scratch, "empty.bin", "", 0);
    folder_path(scratch, "empty.bin", path);
    assert_refused(RUN(scratch, caught, "transcribe", "-m", path, "x.wav", "--device=cpu"), 1, "empty.bin");
    assert_refused(RUN(scratch, caught, "transcribe", "-m", "/dev/null", "x.wav", "--device=cpu"), 1, "/dev/null");
    assert_refused(RUN(scratch, caught, "transcribe", "-m", scratch->path, "x.wav", "--device=cpu"), 1, scratch->path);
}

/* A disk that is full and a stream that is closed are not silence. */
static void lost_output(void **state)
{
    assert_refused(RUN(*state, ((struct streams){NULL, "/dev/full"}), "--help"), 1, "standard output");
    assert_refused(RUN(*state, ((struct streams){NULL, ""}), "--version"), 1, "standard output");
    assert_refused(RUN(*state, ((struct streams){NULL, "/dev/full"}), "help", "transcribe"), 1, "standard output");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help),         cmocka_unit_test(version),       cmocka_unit_test(no_or_unknown_command),
        cmocka_unit_test(usage_errors), cmocka_unit_test(no_such_model), cmocka_unit_test(lost_output),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
