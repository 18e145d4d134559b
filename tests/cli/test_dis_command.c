/* tilewright dis as a user runs it. */
#include "cli/program.h"

#include "image/core_elf.h"
#include "image/make_image.h"
#include "isa/reassemble.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RUN(scratch, ...) program_run(scratch, caught, (const char *const[]){"dis", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

/* Four bundles: nop, "j #0x8", a nop in 4 bytes, nop; and two that are none. */
static const unsigned char good[] = {0x01, 0, 0x95, 0, 0, 0x04, 0, 0, 0x09, 0, 0, 0, 0x01, 0, 0x01, 0};
static const unsigned char bad[] = {0x01, 0, 0x19, 0xff, 0xff, 0xff, 0x01, 0};

static struct finished run_on(const struct folder *f, const void *data, size_t size, const char *option)
{
    char path[2 * FOLDER_PATH];
    folder_path(f, "file", path);
    folder_put(f, "file", data, size);
    return option != NULL ? RUN(f, option, path) : RUN(f, path);
}

static struct finished run_on_made(const struct folder *f, struct made *m, const char *option)
{
    struct finished r = run_on(f, m->data, m->size, option);
    made_free(m);
    return r;
}

static struct made two_pdis(const unsigned char *program, size_t size)
{
    struct made cdo = {0}, pdis[2] = {{0}, {0}}, partition = {0}, m = {0};
    make_program_cdo(&cdo, program, size, 2);
    make_pdi(&pdis[0], &cdo);
    make_pdi(&pdis[1], &cdo);
    make_partition(&partition, pdis, 2);
    make_xclbin(&m, &partition);
    made_free(&cdo);
    made_free(&pdis[0]);
    made_free(&pdis[1]);
    made_free(&partition);
    return m;
}

/* The text gives these n programs, one section each; the last line is `last`. */
static void assert_text(struct finished r, int code, const unsigned char *program, size_t size, size_t n,
                        const char *last)
{
    struct reassembled sections;
    assert_int_equal(r.code, code);
    size_t length = strlen(r.out), last_length = strlen(last);
    assert_true(length > last_length);
    assert_string_equal(r.out + length - last_length, last);
    assert_int_equal(strncmp(r.out + length - last_length - 8, "    .end", 8), 0);
    reassemble(r.out, &sections);
    assert_int_equal(sections.n_sections, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sections.sections[i].size, size);
        assert_memory_equal(sections.sections[i].bytes, program, size);
    }
    reassembled_free(&sections);
    program_release(&r);
}

static void all_containers(void **state)
{
    struct made m = two_pdis(good, sizeof good);
    assert_text(run_on_made(*state, &m, NULL), 0, good, sizeof good, 4, "\nbundles: 20 undecoded: 0\n");
    make_program_cdo(&m, good, sizeof good, 2);
    assert_text(run_on_made(*state, &m, NULL), 0, good, sizeof good, 2, "\nbundles: 10 undecoded: 0\n");
    make_elf(&m, good, sizeof good);
    assert_text(run_on_made(*state, &m, NULL), 0, good, sizeof good, 1, "\nbundles: 5 undecoded: 0\n");
    assert_text(run_on(*state, good, sizeof good, "--raw"), 0, good, sizeof good, 1, "\nbundles: 5 undecoded: 0\n");
    struct made cdo = {0};
    make_program_cdo(&cdo, good, 0, 0);
    make_pdi(&m, &cdo);
    made_free(&cdo);
    struct finished r = run_on_made(*state, &m, NULL);
    assert_string_equal(r.out, "    .end\nbundles: 0 undecoded: 0\n");
    assert_int_equal(r.code, 0);
    program_release(&r);
}

/* What dis prints, as it is, goes into as. */
static void the_assembler_takes_it(void **state)
{
    static const unsigned char *const programs[] = {good, bad};
    static const size_t sizes[] = {sizeof good, sizeof bad};
    char text[2 * FOLDER_PATH], out[2 * FOLDER_PATH];
    folder_path(*state, "text.s", text);
    folder_path(*state, "out.bin", out);
    for (size_t i = 0; i < 2; i++) {
        struct made m = two_pdis(programs[i], sizes[i]);
        size_t size;
        struct finished r = run_on_made(*state, &m, NULL);
        folder_put(*state, "text.s", r.out, strlen(r.out));
        program_release(&r);
        r = program_run(*state, caught, (const char *const[]){"as", "--raw", text, "-o", out, NULL});
        if (r.code != 0)
            fail_msg("as: %s", r.err);
        program_release(&r);
        char *bytes = folder_get(*state, "out.bin", &size);
        assert_int_equal(size, 4 * sizes[i]);
        for (size_t core = 0; core < 4; core++)
            assert_memory_equal(bytes + core * sizes[i], programs[i], sizes[i]);
        free(bytes);
    }
}

static void headings_and_labels(void **state)
{
    struct made m = two_pdis(good, sizeof good);
    struct finished r = run_on_made(*state, &m, NULL);
    static const char *const expected[] = {
        "    .foreign\n// pdi 0, column 0, row 2: 16 bytes\n    .section .text.p0.c0.r2\n    .org 0x0\n",
        "    j #p0_c0_r2_8 ",
        "p0_c0_r2_8:\n",
        "// bundles: 5 undecoded: 0 filler: 0 bytes\n",
        "// pdi 0, column 1, row 2: 16 bytes\n    .section .text.p0.c1.r2\n",
        "// pdi 1, column 1, row 2: 16 bytes\n    .section .text.p1.c1.r2\n",
        "p1_c1_r2_8:\n",
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (strstr(r.out, expected[i]) == NULL)
            fail_msg("no '%s' in:\n%s", expected[i], r.out);
    assert_string_equal(r.err, "");
    program_release(&r);
    make_elf(&m, good, sizeof good);
    r = run_on_made(*state, &m, NULL);
    assert_non_null(strstr(r.out, "// 16 bytes\n    .text\n    .org 0x0\n"));
    assert_non_null(strstr(r.out, "    j #at_8 "));
    program_release(&r);
}

static void what_is_no_bundle_is_a_failure(void **state)
{
    struct made m = two_pdis(bad, sizeof bad);
    struct finished r = run_on_made(*state, &m, NULL);
    assert_non_null(strstr(r.err, "4 places hold no bundle"));
    assert_text(r, 1, bad, sizeof bad, 4, "\nbundles: 8 undecoded: 4\n");
}

static void raw_memory_may_begin_anywhere(void **state)
{
    char path[2 * FOLDER_PATH];
    folder_path(*state, "file", path);
    folder_put(*state, "file", good, sizeof good);
    struct finished r = RUN(*state, "--raw", "--base", "0x3ff0", path);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "    .org 0x3ff0\n"));
    assert_non_null(strstr(r.out, "// 3ff0: 01 00\n"));
    assert_non_null(strstr(r.out, "j #0x8 ")); /* nothing is there now */
    program_release(&r);
    r = RUN(*state, "--raw", "--base=16370", path);
    assert_int_equal(r.code, 1);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, "16 bytes, but program memory ends 14 bytes behind 0x3ff2"));
    program_release(&r);
}

static int64_t number(const json_t *object, const char *name)
{
    const json_t *n = json_object_get(object, name);
    return json_is_integer(n) ? (int64_t)json_integer_value(n) : -1;
}

static void counts_as_json(void **state)
{
    struct made m = two_pdis(bad, sizeof bad);
    struct finished r = run_on_made(*state, &m, "--json");
    assert_int_equal(r.code, 1);
    json_t *all = json_loads(r.out, 0, NULL), *core;
    const json_t *cores = json_object_get(all, "cores");
    size_t i;
    assert_int_equal(json_array_size(cores), 4);
    assert_int_equal(number(all, "bundles"), 8);
    assert_int_equal(number(all, "undecoded"), 4);
    assert_int_equal(number(all, "filler"), 0);
    json_array_foreach(cores, i, core)
    {
        assert_int_equal(number(core, "pdi"), i / 2);
        assert_int_equal(number(core, "column"), i % 2);
        assert_int_equal(number(core, "row"), 2);
        assert_int_equal(number(core, "bytes"), sizeof bad);
        assert_int_equal(number(core, "bundles"), 2);
        assert_int_equal(number(core, "undecoded"), 1);
    }
    json_decref(all);
    program_release(&r);

    r = run_on(*state, good, sizeof good, "--raw");
    assert_int_equal(r.code, 0);
    program_release(&r);
    char path[2 * FOLDER_PATH];
    folder_path(*state, "file", path);
    r = RUN(*state, "--raw", "--json", path);
    assert_int_equal(r.code, 0);
    all = json_loads(r.out, 0, NULL);
    core = json_array_get(json_object_get(all, "cores"), 0);
    assert_true(json_is_null(json_object_get(core, "pdi")));
    assert_true(json_is_null(json_object_get(core, "column")));
    assert_int_equal(number(core, "bundles"), 5);
    json_decref(all);
    program_release(&r);
}

/* It failed with that code, said one line with `words` in it, and wrote nothing else. */
static void assert_failed(struct finished r, int code, const char *words)
{
    assert_string_equal(r.out, "");
    if (r.code != code || strstr(r.err, words) == NULL)
        fail_msg("exit code %d instead of %d, or no '%s' in: %s", r.code, code, words, r.err);
    const char *end = strchr(r.err, '\n');
    assert_non_null(end);
    assert_string_equal(end, "\n");
    program_release(&r);
}

static void wrong_command_lines_are_usage_errors(void **state)
{
    assert_failed(program_run(*state, caught, (const char *const[]){"dis", NULL}), 2, "dis takes one file");
    assert_failed(RUN(*state, "a", "b"), 2, "dis takes one file");
    assert_failed(RUN(*state, "--all", "a"), 2, "--all");
    assert_failed(RUN(*state, "--base", "0", "a"), 2, "--base is for --raw");
    static const char *const wrong[] = {"", "x", "-2", " 2", "1", "0x4000", "16384", "0x10g", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_failed(RUN(*state, "--raw", "--base", wrong[i], "a"), 2, "--base takes an even address");
}

/* Nothing to decode is no failure, but is said. */
static void files_without_programs(void **state)
{
    struct made cdo = {0}, m = {0};
    make_program_cdo(&cdo, good, sizeof good, 0);
    make_pdi(&m, &cdo);
    struct finished r = run_on(*state, m.data, m.size, NULL);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out, "    .end\nbundles: 0 undecoded: 0\n");
    assert_non_null(strstr(r.err, "file' holds no program of a core\n"));
    program_release(&r);
    r = run_on(*state, m.data, m.size, "--json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "file' holds no program of a core\n"));
    program_release(&r);
    made_free(&cdo);
    made_free(&m);
}

/* A list of uses out of time by a later version, with registers that are not known here. */
static void unknown_registers(void **state)
{
    const struct tw_elf_segment segment = {".text", 0, sizeof good, {good, sizeof good, "", 0}};
    const struct tw_elf_old reads[] = {{0x2, "r5"}, {0x2, "r99\n bad"}, {0x3, "r6"}, {0, "r7"}, {0x3000, "r8"}};
    const struct tw_elf_program program = {&segment, 1, NULL, 0, reads, 5};
    unsigned char *bytes;
    size_t size;
    assert_int_equal(tw_core_elf_write(&program, &bytes, &size, NULL), 0);
    struct finished r = run_on(*state, bytes, size, NULL);
    free(bytes);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "    .old r7\n    nop"));
    assert_non_null(strstr(r.out, "    .old r5\n    j #"));
    assert_null(strstr(r.out, "r99"));
    assert_null(strstr(r.out, "r6"));
    assert_null(strstr(r.out, "r8"));
    assert_non_null(strstr(r.err, "1 uses out of time are of registers that are not known here"));
    program_release(&r);
}

static void wrong_files_are_failures(void **state)
{
    const struct folder *f = *state;
    assert_failed(RUN(f, "/nowhere/file"), 1, "/nowhere/file");
    assert_failed(RUN(f, f->path), 1, "directory");
    assert_failed(run_on(f, "", 0, NULL), 1, "neither an ELF file");
    assert_failed(run_on(f, "", 0, "--raw"), 1, "is empty");
    assert_failed(run_on(f, "random bytes", 12, NULL), 1, "neither an ELF file");
    static const unsigned char large[16386] = {0};
    assert_failed(run_on(f, large, sizeof large, "--raw"), 1,
                  "16386 bytes, but program memory ends 16384 bytes behind");
    struct made m = two_pdis(good, sizeof good);
    m.size -= 20;
    assert_failed(run_on_made(f, &m, NULL), 1, "damaged or cut short");
    make_elf(&m, good, sizeof good);
    m.data[18] = 62;
    m.data[19] = 0;
    assert_failed(run_on_made(f, &m, "--json"), 1, "machine 62");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, folder_set_up, folder_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_containers),
        TEST(the_assembler_takes_it),
        TEST(headings_and_labels),
        TEST(what_is_no_bundle_is_a_failure),
        TEST(raw_memory_may_begin_anywhere),
        TEST(counts_as_json),
        TEST(wrong_command_lines_are_usage_errors),
        TEST(files_without_programs),
        TEST(unknown_registers),
        TEST(wrong_files_are_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
