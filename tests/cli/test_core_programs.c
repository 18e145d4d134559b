/* Finding the programs of cores in every kind of container, and what must be refused. */
#include "cli/core_programs.h"

#include "base/little_endian.h"
#include "image/damage.h"
#include "image/make_image.h"
#include "npu1/tile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const unsigned char program[8] = {1, 0, 1, 0, 1, 0, 1, 0};

/* What a walk has seen. */
struct seen {
    unsigned n;
    struct tw_core_program programs[8];
    struct tw_code_run runs[8][4];
};

static int see(void *arg, const struct tw_core_program *p, struct tw_error *err)
{
    struct seen *seen = arg;
    (void)err;
    if (seen->n < 8 && p->n_runs <= 4) {
        seen->programs[seen->n] = *p;
        memcpy(seen->runs[seen->n], p->runs, p->n_runs * sizeof *p->runs);
    }
    seen->n++;
    return 0;
}

static void assert_program(const struct seen *seen, unsigned i, int pdi, int column, int row, size_t bytes)
{
    const struct tw_core_program *p = &seen->programs[i];
    assert_int_equal(p->pdi, pdi);
    assert_int_equal(p->column, column);
    assert_int_equal(p->row, row);
    assert_int_equal(p->n_runs, 1);
    assert_int_equal(seen->runs[i][0].address, 0);
    assert_int_equal(seen->runs[i][0].size, bytes);
}

static int walk(const struct tw_view *view, struct tw_error *err)
{
    struct seen seen = {0};
    return tw_core_programs(view, see, &seen, err);
}

static struct seen seen_in(struct made *m)
{
    struct tw_view view = made_view(m);
    struct tw_error err = {0};
    struct seen seen = {0};
    if (tw_core_programs(&view, see, &seen, &err) != 0)
        fail_msg("%s", err.text);
    return seen;
}

static void make_pdi_of(struct made *m, unsigned cores)
{
    struct made cdo = {0};
    make_program_cdo(&cdo, program, sizeof program, cores);
    make_pdi(m, &cdo);
    made_free(&cdo);
}

static struct made xclbin_of(unsigned n_pdis, unsigned cores)
{
    struct made pdis[3] = {{0}, {0}, {0}}, partition = {0}, m = {0};
    for (unsigned i = 0; i < n_pdis; i++)
        make_pdi_of(&pdis[i], cores);
    make_partition(&partition, pdis, n_pdis);
    make_xclbin(&m, &partition);
    for (unsigned i = 0; i < n_pdis; i++)
        made_free(&pdis[i]);
    made_free(&partition);
    return m;
}

static void programs_of_a_cdo_and_a_pdi(void **state)
{
    struct made cdo = {0}, pdi = {0};
    (void)state;
    make_program_cdo(&cdo, program, sizeof program, 2);
    struct seen seen = seen_in(&cdo);
    assert_int_equal(seen.n, 2);
    assert_program(&seen, 0, -1, 0, 2, 8);
    assert_program(&seen, 1, -1, 1, 2, 8);
    make_pdi(&pdi, &cdo);
    seen = seen_in(&pdi);
    assert_int_equal(seen.n, 2);
    assert_program(&seen, 0, 0, 0, 2, 8);
    assert_program(&seen, 1, 0, 1, 2, 8);
    made_free(&cdo);
    made_free(&pdi);
}

static void programs_of_an_xclbin(void **state)
{
    struct made m = xclbin_of(3, 2);
    struct seen seen = seen_in(&m);
    (void)state;
    assert_int_equal(seen.n, 6);
    for (unsigned i = 0; i < 6; i++)
        assert_program(&seen, i, (int)i / 2, i % 2, 2, 8);
    made_free(&m);
    m = xclbin_of(1, 0);
    assert_int_equal(seen_in(&m).n, 0);
    made_free(&m);
}

static void segments_of_an_elf_file_are_joined(void **state)
{
    struct made m = {0};
    (void)state;
    make_elf(&m, program, sizeof program);
    struct seen seen = seen_in(&m);
    assert_int_equal(seen.n, 1);
    assert_program(&seen, 0, -1, -1, -1, 8);
    tw_store_u32(m.data + ELF_DATA_HEADER + 8, 8); /* data becomes program, right behind the other */
    seen = seen_in(&m);
    assert_program(&seen, 0, -1, -1, -1, 16);
    tw_store_u32(m.data + ELF_DATA_HEADER + 8, 10); /* and with a gap */
    seen = seen_in(&m);
    assert_int_equal(seen.programs[0].n_runs, 2);
    assert_int_equal(seen.runs[0][1].address, 10);
    assert_int_equal(seen.runs[0][1].size, 8);
    made_free(&m);
}

static void other_files_are_refused(void **state)
{
    static const char *const texts[] = {"", "x", "xclbin", "GGUF....................", "// text\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tw_error err = {0};
        struct tw_view view = {(const unsigned char *)texts[i], strlen(texts[i]), "made", 0};
        assert_int_equal(walk(&view, &err), TW_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "'made' is neither"));
    }
}

static void files_for_others_are_refused(void **state)
{
    struct made m = {0};
    (void)state;
    make_pdi_of(&m, 1);
    tw_store_u32(m.data + 0x28, 0x14ca9093);
    pdi_sign(m.data);
    damage_refused(&m, walk, TW_E_UNSUPPORTED, "for the device 0x14ca9093, not for NPU1 (0x14ca8093)");
    made_free(&m);
    m = xclbin_of(1, 1);
    tw_store_u32(m.data + 0x1c8 + 40, 18);
    damage_refused(&m, walk, TW_E_UNSUPPORTED, "none of this xclbin's 5 sections is an AIE_PARTITION");
    made_free(&m);
}

/* An xclbin with two partitions of n PDIs each, the second at the place of the first. */
static struct made twice(unsigned n)
{
    struct made *pdis = calloc(n, sizeof *pdis), partition = {0}, m = {0};
    assert_non_null(pdis);
    for (unsigned i = 0; i < n; i++)
        make_pdi_of(&pdis[i], 1);
    make_partition(&partition, pdis, n);
    make_xclbin(&m, &partition);
    memcpy(m.data + 0x1c8, m.data + 0x1c8 + 40, 40);
    for (unsigned i = 0; i < n; i++)
        made_free(&pdis[i]);
    free(pdis);
    made_free(&partition);
    return m;
}

static void too_many_pdis_are_refused(void **state)
{
    struct made m = twice(128);
    (void)state;
    assert_int_equal(seen_in(&m).n, 256);
    made_free(&m);
    m = twice(129);
    damage_refused(&m, walk, TW_E_LIMIT, "129 PDIs; at most 256 in a file are read");
    made_free(&m);
}

static int stop(void *arg, const struct tw_core_program *p, struct tw_error *err)
{
    (void)p;
    return ++*(unsigned *)arg == 2 ? tw_fail(err, TW_E_CANCELLED, "enough") : 0;
}

static void the_visitor_can_stop(void **state)
{
    struct made m = xclbin_of(3, 2);
    struct tw_view view = made_view(&m);
    unsigned n = 0;
    (void)state;
    assert_int_equal(tw_core_programs(&view, stop, &n, NULL), TW_E_CANCELLED);
    assert_int_equal(n, 2);
    made_free(&m);
}

/* The last PDI is wrong: nothing is seen of the first. */
static void all_is_checked_before_the_first_visit(void **state)
{
    struct made m = xclbin_of(2, 1);
    struct tw_view view = made_view(&m);
    struct tw_error err = {0};
    struct seen seen = {0};
    size_t last = 0;
    (void)state;
    for (size_t at = 0; at + 4 <= m.size; at += 4)
        if (tw_load_u32(m.data + at) == 0x004f4443)
            last = at;
    m.data[last] = 'X';
    assert_int_equal(tw_core_programs(&view, see, &seen, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "no CDO begins here"));
    assert_int_equal(seen.n, 0);
    made_free(&m);
}

static void damaged_files(void **state)
{
    struct made xclbin = xclbin_of(1, 1), elf = {0}, pdi = {0};
    (void)state;
    damage_truncate(&xclbin, walk);
    damage_words(&xclbin, walk, NULL);
    make_elf(&elf, program, sizeof program);
    damage_words(&elf, walk, NULL);
    make_pdi_of(&pdi, 2);
    damage_truncate(&pdi, walk);
    damage_words(&pdi, walk, pdi_sign);
    made_free(&xclbin);
    made_free(&elf);
    made_free(&pdi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_a_cdo_and_a_pdi),
        cmocka_unit_test(programs_of_an_xclbin),
        cmocka_unit_test(segments_of_an_elf_file_are_joined),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(files_for_others_are_refused),
        cmocka_unit_test(too_many_pdis_are_refused),
        cmocka_unit_test(the_visitor_can_stop),
        cmocka_unit_test(all_is_checked_before_the_first_visit),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
