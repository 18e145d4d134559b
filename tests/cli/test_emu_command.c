/* tilewright emu as a user runs it, on a program without a core: data goes through the shim and comes back. */
#include "cli/program.h"

#include "emu/firmware/make_control.h"
#include "emu/trace/trace_json.h"
#include "image/make_image.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RUN(f, ...) program_run(f, caught, (const char *const[]){"emu", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

enum { WORDS = 64 };

/* A PDI that connects MM2S 0 with S2MM 0 in the shim of column 0, and the control port with the firmware. */
static void make_loop_pdi(struct made *pdi)
{
    struct made cdo = {0};
    size_t begin = cdo_begin(&cdo);
    CDO(&cdo, 0x103, 0x3f008, 0x80000000); /* South0 from Ctrl */
    CDO(&cdo, 0x103, 0x3f100, 0x80000000);
    CDO(&cdo, 0x103, 0x3f010, 0x80000005); /* South2 from South3 */
    CDO(&cdo, 0x103, 0x3f114, 0x80000000);
    CDO(&cdo, 0x102, 0x1f000, 0xc00, 0x400);
    CDO(&cdo, 0x102, 0x1f004, 0x30, 0x10);
    cdo_end(&cdo, begin);
    make_pdi(pdi, &cdo);
    made_free(&cdo);
}

/* Argument 0 to argument 1. */
static void make_loop_control(struct made *m)
{
    control_begin(m);
    control_shim_descriptor(m, 0x1d020, WORDS);
    control_patch(m, 0x1d024, 1, 0);
    control_write(m, 0x1d204, 0x80000001);
    control_shim_descriptor(m, 0x1d000, WORDS);
    control_patch(m, 0x1d004, 0, 0);
    control_write(m, 0x1d214, 0);
    control_wait(m, 0, 0, 1, 1, 0, 0);
    control_end(m);
}

struct bench {
    struct folder folder;
    char pdi[2 * FOLDER_PATH], control[2 * FOLDER_PATH];
    char in[2 * FOLDER_PATH + 8], out[2 * FOLDER_PATH + 16]; /* values of --arg */
    uint32_t data[WORDS];
};

static void put(const struct folder *f, const char *name, struct made *m, char path[2 * FOLDER_PATH])
{
    folder_put(f, name, m->data, m->size);
    folder_path(f, name, path);
    made_free(m);
}

static int set_up(void **state)
{
    static struct bench b;
    char path[2 * FOLDER_PATH];
    struct made pdi = {0}, control = {0};
    memset(&b, 0, sizeof b);
    folder_create(&b.folder);
    make_loop_pdi(&pdi);
    put(&b.folder, "loop.pdi", &pdi, b.pdi);
    make_loop_control(&control);
    put(&b.folder, "loop.bin", &control, b.control);
    for (uint32_t i = 0; i < WORDS; i++)
        b.data[i] = 0x01020304 * (i + 1);
    folder_put(&b.folder, "in", b.data, sizeof b.data);
    folder_path(&b.folder, "in", path);
    snprintf(b.in, sizeof b.in, "in:%s", path);
    folder_path(&b.folder, "out", path);
    snprintf(b.out, sizeof b.out, "out:%d:%s", 4 * WORDS, path);
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(&((struct bench *)*state)->folder);
    return 0;
}

static void assert_out(const struct bench *b, const char *name)
{
    size_t size;
    char *out = folder_get(&b->folder, name, &size);
    assert_non_null(out);
    assert_int_equal(size, sizeof b->data);
    assert_memory_equal(out, b->data, size);
    free(out);
}

static void assert_succeeds(struct finished r)
{
    if (r.code != 0)
        fail_msg("%s", r.err);
    assert_string_equal(r.err, "");
    program_release(&r);
}

/* ---- */

static void results_and_report(void **state)
{
    const struct bench *b = *state;
    struct finished r = RUN(&b->folder, "run", b->pdi, "--insts", b->control, "--arg", b->in, "--arg", b->out);
    assert_string_equal(r.err, "");
    assert_int_equal(r.code, 0);
    assert_out(b, "out");
    assert_non_null(strstr(r.out, "cycles modelled"));
    assert_non_null(strstr(r.out, "us modelled at 1 GHz"));
    assert_non_null(strstr(r.out, "launch 38000, control code "));
    assert_non_null(strstr(r.out, "bounded by: launch; DDR read 256 bytes, written 256"));
    assert_non_null(strstr(r.out, "7 operations: 2 write, 2 block write, 1 wait, 2 patch; tokens: 1"));
    assert_non_null(strstr(r.out, "shim (0, 0): DMA S2MM 0 256 bytes, MM2S 0 256 bytes"));
    assert_non_null(strstr(r.out, "1510 us modelled for the host's dispatch and loading the PDI"));
    program_release(&r);
}

static void report_as_json(void **state)
{
    const struct bench *b = *state;
    struct finished r = RUN(&b->folder, "run", "--json", "--clock", "1.6", "--repeat", "2", b->pdi, "--insts",
                            b->control, "--arg", b->in, "--arg", b->out);
    assert_int_equal(r.code, 0);
    json_t *all = json_loads(r.out, 0, NULL), *runs = json_object_get(all, "runs");
    assert_int_equal(json_array_size(runs), 2);
    json_t *first = json_array_get(runs, 0), *second = json_array_get(runs, 1);
    json_int_t cycles = json_integer_value(json_object_get(first, "modelled_cycles"));
    double us = json_real_value(json_object_get(first, "modelled_microseconds"));
    assert_true(cycles > 38000 && cycles < 100000);
    assert_true(us > (double)cycles / 1600 * 0.999 && us < (double)cycles / 1600 * 1.001);
    assert_int_equal(json_integer_value(json_object_get(first, "tokens")), 1);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(first, "counts"), "patch")), 2);
    assert_true(json_is_true(json_object_get(first, "pdi_loaded")));
    assert_true(json_is_false(json_object_get(second, "pdi_loaded")));
    assert_true(json_real_value(json_object_get(second, "modelled_host_microseconds")) == 110);
    json_t *tiles = json_object_get(all, "tiles"), *shim = json_array_get(tiles, 0);
    assert_int_equal(json_array_size(tiles), 1);
    assert_string_equal(json_string_value(json_object_get(shim, "kind")), "shim");
    json_t *channels = json_object_get(shim, "channels"), *reads = json_array_get(channels, 1);
    assert_int_equal(json_array_size(channels), 2);
    assert_string_equal(json_string_value(json_object_get(reads, "direction")), "MM2S");
    assert_int_equal(json_integer_value(json_object_get(reads, "channel")), 0);
    assert_int_equal(json_integer_value(json_object_get(reads, "bytes")), 2 * 4 * WORDS);
    assert_true(json_is_null(json_object_get(shim, "core")));
    assert_string_equal(json_string_value(json_object_get(first, "bounded_by")), "launch");
    assert_int_equal(json_integer_value(json_object_get(second, "ddr_bytes_written")), 4 * WORDS);
    json_int_t parts = json_integer_value(json_object_get(first, "modelled_launch_cycles")) +
                       json_integer_value(json_object_get(first, "modelled_control_code_cycles")) +
                       json_integer_value(json_object_get(first, "modelled_wait_cycles"));
    assert_int_equal(parts, cycles);
    json_decref(all);
    program_release(&r);
}

static void control_code_as_text(void **state)
{
    const struct bench *b = *state;
    char path[2 * FOLDER_PATH], *text = calloc(1, 1 << 16);
    size_t size, used = 0;
    char *bytes = folder_get(&b->folder, "loop.bin", &size);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        used += (size_t)sprintf(text + used, "%08X\n", word);
    }
    folder_put(&b->folder, "loop.txt", text, used);
    folder_path(&b->folder, "loop.txt", path);
    free(text);
    free(bytes);
    assert_succeeds(RUN(&b->folder, "run", b->pdi, "--insts", path, "--arg", b->in, "--arg", b->out));
    assert_out(b, "out");
}

static void in_and_out_in_one(void **state)
{
    const struct bench *b = *state;
    char from[2 * FOLDER_PATH], to[2 * FOLDER_PATH], both[4 * FOLDER_PATH + 16];
    const uint32_t zeros[WORDS] = {0};
    folder_put(&b->folder, "zeros", zeros, sizeof zeros);
    folder_path(&b->folder, "zeros", from);
    folder_path(&b->folder, "both", to);
    snprintf(both, sizeof both, "inout:%s:%s", from, to);
    assert_succeeds(RUN(&b->folder, "run", b->pdi, "--insts", b->control, "--arg", b->in, "--arg", both));
    assert_out(b, "both");
}

static void only_a_pdi(void **state)
{
    const struct bench *b = *state;
    assert_succeeds(RUN(&b->folder, "run", b->pdi));
}

/* ---- traces */

static json_t *trace_of(const struct bench *b)
{
    char *text = folder_get(&b->folder, "trace.json", NULL);
    assert_non_null(text);
    json_t *trace = trace_read(text);
    free(text);
    return trace;
}

/* Both commands, with each operation of their control code in its place. */
static void trace_of_control_code(void **state)
{
    static const char *const names[] = {"BLOCKWRITE", "DDR_PATCH", "WRITE", "BLOCKWRITE", "DDR_PATCH", "WRITE", "TCT"};
    const struct bench *b = *state;
    char path[2 * FOLDER_PATH];
    folder_path(&b->folder, "trace.json", path);
    assert_succeeds(RUN(&b->folder, "run", "--trace", path, "--repeat", "2", b->pdi, "--insts", b->control, "--arg",
                        b->in, "--arg", b->out));
    assert_out(b, "out");
    json_t *trace = trace_of(b);
    struct trace_place firmware = trace_place(trace, "firmware", "control code");
    size_t at = 0;
    assert_string_equal(trace_name(trace_next(trace, firmware, &at)), "command 1");
    assert_string_equal(trace_name(trace_next(trace, firmware, &at)), "load program 0");
    assert_string_equal(trace_name(trace_next(trace, firmware, &at)), "launch");
    for (size_t command = 1; command <= 2; command++) {
        int64_t end = 0;
        if (command == 2) {
            assert_string_equal(trace_name(trace_next(trace, firmware, &at)), "command 2");
            const json_t *launch = trace_next(trace, firmware, &at);
            assert_string_equal(trace_name(launch), "launch");
            end = trace_end(launch);
        }
        for (size_t i = 0; i < 7; i++) {
            const json_t *e = trace_next(trace, firmware, &at);
            assert_string_equal(trace_name(e), names[i]);
            assert_int_equal(trace_number(e, "number"), i);
            assert_true(end == 0 || trace_begin(e) == end);
            end = trace_end(e);
        }
    }
    assert_null(trace_next(trace, firmware, &at));
    json_decref(trace);
}

/* A run that fails leaves a trace too. */
static void trace_of_a_failure(void **state)
{
    const struct bench *b = *state;
    char path[2 * FOLDER_PATH];
    folder_path(&b->folder, "trace.json", path);
    struct finished r =
        RUN(&b->folder, "run", "--trace", path, b->pdi, "--insts", b->control, "--arg", b->in, "--arg", "none");
    assert_int_equal(r.code, 1);
    program_release(&r);
    json_t *trace = trace_of(b);
    struct trace_place firmware = trace_place(trace, "firmware", "control code");
    size_t at = 0;
    assert_string_equal(trace_name(trace_next(trace, firmware, &at)), "command 1");
    json_decref(trace);
}

/* ---- what goes wrong */

static void assert_fails(struct finished r, int code, const char *sentence)
{
    assert_int_equal(r.code, code);
    assert_string_equal(r.out, "");
    if (strstr(r.err, sentence) == NULL)
        fail_msg("'%s' is not in: %s", sentence, r.err);
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1); /* one line */
    program_release(&r);
}

static void failures_say_what(void **state)
{
    const struct bench *b = *state;
    const struct folder *f = &b->folder;
    char missing[2 * FOLDER_PATH], short_in[2 * FOLDER_PATH + 8], short_out[2 * FOLDER_PATH + 8];
    folder_path(f, "missing", missing);
    folder_put(f, "short", b->data, 40);
    folder_path(f, "short", short_in + 3);
    memcpy(short_in, "in:", 3);
    snprintf(short_out, sizeof short_out, "out:8:%s", missing);
    assert_fails(RUN(f, "run", missing), 1, "missing");
    assert_fails(RUN(f, "run", b->pdi, "--insts", missing), 1, "missing");
    assert_fails(RUN(f, "run", b->pdi, "--arg", b->in, "--arg", b->out), 2, "--arg needs --insts");
    assert_fails(RUN(f, "run", b->control), 1, "neither an xclbin nor a PDI");
    assert_fails(RUN(f, "run", b->pdi, "--insts", b->pdi), 1, "is no control code");
    assert_fails(RUN(f, "run", b->pdi, "--kernel", "DPU"), 1, "no kernels");
    assert_fails(RUN(f, "run", b->pdi, "--insts", b->control, "--arg", b->in), 1,
                 "operation 1 (DDR_PATCH): the control code uses buffer argument 1, but the command has 1");
    assert_fails(RUN(f, "run", b->pdi, "--insts", b->control, "--arg", b->in, "--arg", "none"), 1,
                 "(AXI decode error): 0x80000000, before all buffers");
    assert_fails(RUN(f, "run", b->pdi, "--insts", b->control, "--arg", short_in, "--arg", b->out), 1,
                 ", byte 40 of a buffer of 40 bytes");
    assert_fails(RUN(f, "run", b->pdi, "--insts", b->control, "--arg", b->in, "--arg", short_out), 1,
                 ", byte 8 of a buffer of 8 bytes");
    assert_fails(RUN(f, "run", b->pdi, "--insts", b->control, "--arg", b->in, "--arg", b->out, "--limit", "30300"), 1,
                 "limit of cycles");
    assert_fails(RUN(f, "run", b->pdi, "--trace", "/nowhere/trace.json"), 1, "/nowhere/trace.json");
    assert_null(folder_get(f, "out", NULL));
}

/* Each kind of fault ends the run with a sentence of its own. */
static void faults_on_purpose(void **state)
{
    static const struct {
        const char *fault, *sentence;
    } faults[] = {
        {"token:1", "nothing can move any more"},
        {"token:1", "(faults on purpose: token 1)"},
        {"bit:0.1:seed=3", "not to be trusted (faults on purpose: bit "},
        {"context:1", "the firmware refuses the context, a fault on purpose"},
        {"memory:1", "no memory for the array, a fault on purpose"},
        {"tokens:1", "TILEWRIGHT_EMU_FAULT: 'tokens:1' is no fault"},
    };
    const struct bench *b = *state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        setenv("TILEWRIGHT_EMU_FAULT", faults[i].fault, 1);
        struct finished r = RUN(&b->folder, "run", b->pdi, "--insts", b->control, "--arg", b->in, "--arg", b->out);
        unsetenv("TILEWRIGHT_EMU_FAULT");
        assert_int_equal(r.code, 1);
        assert_null(folder_get(&b->folder, "out", NULL));
        if (strstr(r.err, faults[i].sentence) == NULL)
            fail_msg("'%s' is not in: %s", faults[i].sentence, r.err);
        program_release(&r);
    }
}

static void command_lines_that_make_no_sense(void **state)
{
    const struct bench *b = *state;
    const struct folder *f = &b->folder;
    static const char *const bad[] = {"",        "in:",      "out:x:y",  "out:0:y", "out:12",  "out:12:", "out:-1:y",
                                      "inout:a", "inout:a:", "inout::a", "none:",   "nothing", "file"};
    assert_fails(RUN(f, "run"), 2, "one xclbin or PDI");
    assert_fails(RUN(f, "walk", b->pdi), 2, "run");
    assert_fails(RUN(f, "run", b->pdi, b->pdi), 2, "one xclbin or PDI");
    assert_fails(RUN(f, "run", b->pdi, "--clock", "0"), 2, "--clock");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(RUN(f, "run", b->pdi, "--arg", bad[i]), 2, "--arg takes");
}

/* A trace takes the place of no file that the run reads or writes. */
static void a_trace_beside_the_others(void **state)
{
    static const char *const traces[] = {"a.pdi", "control", "in", "out", "from", "to"};
    const struct bench *b = *state;
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++)
        assert_fails(RUN(&b->folder, "run", "a.pdi", "--insts", "control", "--arg", "in:in", "--arg", "out:16:out",
                         "--arg", "inout:from:to", "--trace", traces[i]),
                     2, "--trace would replace");
}

static void help_fits_a_screen(void **state)
{
    const struct bench *b = *state;
    struct finished r = RUN(&b->folder, "--help");
    assert_int_equal(r.code, 0);
    int lines = 0;
    for (const char *line = r.out; *line != '\0'; line += strcspn(line, "\n") + 1, lines++)
        assert_true(strcspn(line, "\n") <= 80);
    assert_true(lines <= 24);
    assert_non_null(strstr(r.out, "Example:"));
    program_release(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(results_and_report),
        TEST(report_as_json),
        TEST(control_code_as_text),
        TEST(in_and_out_in_one),
        TEST(only_a_pdi),
        TEST(failures_say_what),
        TEST(help_fits_a_screen),
        TEST(command_lines_that_make_no_sense),
        TEST(a_trace_beside_the_others),
        TEST(trace_of_control_code),
        TEST(trace_of_a_failure),
        TEST(faults_on_purpose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
