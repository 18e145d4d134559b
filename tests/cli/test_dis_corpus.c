/*
 * Published programs, compiled by others, in the folder that TILEWRIGHT_CORPUS names: every file in it that may hold
 * programs is read, every bundle decodes, and the text gives the same bytes, both by our assembler and by the plain one
 * of these tests. They are not ours to distribute, so that without the folder this test skips, and says so.
 */
#include "base/file_map.h"
#include "cli/core_programs.h"
#include "cli/walk.h"
#include "image/core_elf.h"
#include "image/pdi.h"
#include "image/xclbin.h"
#include "isa/assembler.h"
#include "isa/reassemble.h"
#include "npu1/cdo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TEXT_MAX (1 << 21) /* of one core's program */

struct sum {
    size_t files, programs;
    struct tw_disassembly total;
};

/* The text of a program, to be freed. */
static char *text_of(const struct tw_core_program *p, struct tw_disassembly *d)
{
    const struct tw_disassemble_options labels = {"at", p->old, p->n_old};
    char *text = calloc(1, TEXT_MAX);
    assert_non_null(text);
    FILE *out = fmemopen(text, TEXT_MAX - 1, "w");
    assert_non_null(out);
    fputs("    .foreign\n    .text\n", out);
    assert_int_equal(tw_disassemble(p->runs, p->n_runs, &labels, out, d, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void check_assembly(const struct tw_core_program *p, const char *text)
{
    struct tw_assembly *assembly = NULL;
    struct tw_error err = {0};
    if (tw_assemble("text", text, strlen(text), NULL, &assembly, &err) != 0)
        fail_msg("%s", err.text);
    const struct tw_as_section *section = &assembly->sections[0];
    for (size_t i = 0; i < p->n_runs; i++) {
        const struct tw_code_run *run = &p->runs[i];
        assert_true(run->address >= section->address);
        assert_true(run->address - section->address + run->size <= section->size);
        assert_memory_equal(section->bytes + (run->address - section->address), run->bytes, run->size);
    }
    tw_assembly_free(assembly);
}

/* A tw_core_program_visit. */
static int check_program(void *arg, const struct tw_core_program *p, struct tw_error *err)
{
    struct sum *sum = arg;
    struct tw_disassembly d;
    struct reassembled r;
    (void)err;
    char *text = text_of(p, &d);
    reassemble(text, &r);
    for (size_t i = 0; i < p->n_runs; i++)
        assert_memory_equal(r.sections[0].bytes + p->runs[i].address, p->runs[i].bytes, p->runs[i].size);
    reassembled_free(&r);
    check_assembly(p, text);
    free(text);
    sum->programs++;
    sum->total.bundles += d.bundles;
    sum->total.undecoded += d.undecoded;
    sum->total.filler += d.filler;
    return 0;
}

/* Control code comes in ELF files too, for another machine than a core. */
static int may_hold_programs(const struct tw_view *view)
{
    static struct tw_core_elf elf;
    if (tw_elf_recognise(view))
        return tw_core_elf_open(view, &elf, NULL) != TW_E_UNSUPPORTED;
    return tw_xclbin_recognise(view) || tw_pdi_recognise(view) || tw_cdo_recognise(view);
}

static void check_file(const char *path, void *arg)
{
    struct sum *all = arg, sum = {.files = 1};
    struct tw_file_map map;
    struct tw_error err = {0};
    assert_int_equal(tw_file_map_open(path, &map, &err), 0);
    struct tw_view view = {map.data, map.size, path, 0};
    if (may_hold_programs(&view)) {
        if (tw_core_programs(&view, check_program, &sum, &err) != 0)
            fail_msg("%s", err.text);
        printf("%zu programs, %zu bundles, %zu undecoded, %zu bytes of filler: %s\n", sum.programs, sum.total.bundles,
               sum.total.undecoded, sum.total.filler, path);
        assert_int_equal(sum.total.undecoded, 0);
        all->files++;
        all->programs += sum.programs;
        all->total.bundles += sum.total.bundles;
    }
    tw_file_map_close(&map);
}

static void every_bundle_decodes(void **state)
{
    struct sum all = {0};
    walk_folder(*state, check_file, &all);
    printf("%zu files, %zu programs, %zu bundles\n", all.files, all.programs, all.total.bundles);
    assert_true(all.programs > 0);
}

/* ---- a listing by AMD's disassembler: "      e4: 99 c2 ff 0f  \tst\tlr, [sp, #-4]" */

struct listing {
    uint8_t bytes[TW_PROGRAM_BYTES];
    uint32_t first, end;
    size_t lines;
};

/* Text with each run of white space as one space, and none around ';' and at the ends. */
static void plain(const char *text, size_t size, char *dst)
{
    char *to = dst;
    for (size_t i = 0; i < size; i++) {
        int space = text[i] == ' ' || text[i] == '\t' || text[i] == '\n';
        if (space && (to == dst || to[-1] == ' ' || to[-1] == ';'))
            continue;
        while (text[i] == ';' && to > dst && to[-1] == ' ')
            to--;
        *to++ = space ? ' ' : text[i];
    }
    while (to > dst && to[-1] == ' ')
        to--;
    *to = '\0';
}

/* Takes the bytes off a line; returns the text behind, or NULL when the line is none of code. */
static const char *take_bytes(struct listing *l, const char *line, uint32_t *address, size_t *size)
{
    char *at;
    unsigned long value = strtoul(line, &at, 16);
    if (line[0] != ' ' || at == line || *at != ':' || value >= TW_PROGRAM_BYTES - TW_BUNDLE_MAX)
        return NULL;
    *address = (uint32_t)value;
    *size = 0;
    at++;
    while (at[0] == ' ' && strspn(at + 1, "0123456789abcdef") == 2 && *size < TW_BUNDLE_MAX)
        l->bytes[value + (*size)++] = (uint8_t)strtoul(at + 1, &at, 16);
    return at;
}

static void check_line(struct listing *l, const char *line)
{
    char ours[TW_BUNDLE_TEXT_MAX], theirs[TW_BUNDLE_TEXT_MAX], text[TW_BUNDLE_TEXT_MAX];
    struct tw_bundle bundle;
    uint32_t address;
    size_t size;
    const char *behind = take_bytes(l, line, &address, &size);
    if (behind == NULL || strlen(behind) >= sizeof theirs)
        return;
    int decoded = tw_bundle_decode(l->bytes + address, size, &bundle, NULL);
    int length = decoded == (int)size ? tw_bundle_print(&bundle, text, sizeof text) : -1;
    if (length < 0)
        fail_msg("no bundle of %zu bytes: %s", size, line);
    plain(text, (size_t)length, ours);
    plain(behind, strlen(behind), theirs);
    assert_string_equal(ours, theirs);
    l->lines++;
}

static void check_listing(const char *path, void *arg)
{
    static const char name[] = "objdump.txt";
    size_t length = strlen(path), lines = 0;
    if (length < sizeof name - 1 || strcmp(path + length - (sizeof name - 1), name) != 0)
        return;
    struct listing l = {.lines = 0};
    char line[1024];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        check_line(&l, line);
        lines++;
    }
    fclose(f);
    printf("%zu bundles as in %s, of %zu lines\n", l.lines, path, lines);
    assert_true(l.lines > 0);
    *(size_t *)arg += l.lines;
}

static void listings_agree(void **state)
{
    size_t lines = 0;
    walk_folder(*state, check_listing, &lines);
    if (lines == 0)
        skip();
}

int main(void)
{
    const char *folder = getenv("TILEWRIGHT_CORPUS");
    if (folder == NULL || folder[0] == '\0') {
        puts("SKIPPED: set TILEWRIGHT_CORPUS to a folder with published NPU programs to disassemble them all");
        return 77;
    }
    char *state = strdup(folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_bundle_decodes, state),
        cmocka_unit_test_prestate(listings_agree, state),
    };
    int failed = state == NULL || cmocka_run_group_tests(tests, NULL, NULL) != 0;
    free(state);
    return failed;
}
