/* tilewright vectors as a user runs it, on small tables of its own. */
#include "cli/program.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static const struct streams caught = {NULL, NULL};

static int set_up(void **state)
{
    struct folder *f = malloc(2 * sizeof *f); /* the tables, and what is caught */
    assert_non_null(f);
    folder_create(&f[0]);
    folder_create(&f[1]);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct folder *f = *state;
    folder_remove(&f[0]);
    folder_remove(&f[1]);
    free(f);
    return 0;
}

static void put(const struct folder *f, const char *name, const char *text)
{
    folder_put(f, name, text, strlen(text));
}

static struct finished run(const struct folder *f, const char *option, const char *value)
{
    return program_run(&f[1], caught, (const char *const[]){"vectors", f->path, option, value, NULL});
}

static void assert_run(const struct folder *f, int code, const char *out, const char *err)
{
    struct finished r = run(f, NULL, NULL);
    if (r.code != code || strcmp(r.out, out) != 0 || strstr(r.err, err) == NULL)
        fail_msg("code %d\nout: %s\nerr: %s\nnot: %s", r.code, r.out, r.err, err);
    program_release(&r);
}

/* Numbers as text: `first`, then zeros up to n. */
static void row_of(char *text, size_t size, const char *first, const char *zero, int n)
{
    size_t at = (size_t)snprintf(text, size, "%s", first);
    for (int i = 1; i < n; i++)
        at += (size_t)snprintf(text + at, size - at, " %s", zero);
}

static void checks_every_kind_of_table(void **state)
{
    const struct folder *f = *state;
    char a[400], b[400], c[400], text[2000];
    row_of(a, sizeof a, "4000", "0000", 32);
    row_of(b, sizeof b, "4040", "0000", 32);
    row_of(c, sizeof c, "40c00000", "00000000", 16);
    snprintf(text, sizeof text, "# 2 * 3\nevidence\tid\ta\tb\tc_silicon\nx\tone\t%s\t%s\t%s\n", a, b, c);
    put(f, "bf16_mac_4x8x4.tsv", text);
    row_of(a, sizeof a, "ff", "00", 32);
    row_of(b, sizeof b, "03", "00", 64);
    row_of(c, sizeof c, "fffffffd", "00000000", 32);
    snprintf(text, sizeof text, "id\tshape\ta\tb\tc\ni\t4x8x8\t%s\t%s\t%s\n", a, b, c);
    put(f, "int_mac.tsv", text);
    put(f, "f32_to_bf16.tsv", "id\trnd\tin\tout\na\t12\t3f808000\t3f80\nb\t11\t3f808000\t3f81\nc\t0\t7f800001\t7fff\n");
    put(f, "bf16_to_f32.tsv", "id\tin\tout\na\t0001\t00010000\n");
    put(f, "bf16_floor_s32.tsv", "id\tin\tout\na\tbfc0\tfffffffe\n");
    put(f, "srs_ups_pack_silicon.tsv",
        "id\top\trnd\tsat\tshift\tin\tout\n"
        "a\tsrs_s16_s64\t9\t1\t4\t00000018\t0002\n"
        "b\tups_s32_s16\t-\t0\t4\tffff\tfffffff0\n"
        "c\tpack_s8_s16\t-\t1\t-\t0100\t7f\n");
    put(f, "model_srs.tsv",
        "id\tvalue\tshift\tsigned\tbits_o\tsat\tsymsat\trnd\texpected\n"
        "0\t-255\t0\t1\t8\t1\t0\t0\t-128\n1\t281474976710656\t4\t0\t8\t1\t0\t0\t255\n");
    put(f, "model_ups.tsv",
        "id\tvalue\tshift\tbits_in\tbits_out\tsigned\tsat\texpected\n0\t-3\t2\t32\t64\t1\t1\t-12\n");
    put(f, "model_pack.tsv",
        "id\tvalue\tbits_i\tbits_o\tsigned\tsat\tsymsat\texpected\n"
        "0\t300\t16\t8\t1\t1\t0\t127\n1\t70000\t16\t8\t1\t1\t0\t127\n2\t300\t32\t16\t1\t0\t0\t300\n");
    put(f, "isa_conv.tsv",
        "id\tintrinsics\tin\tout\n"
        "a\tunpack.I16.I8(<32 x i8> %v, i32 1)\t80\t80ff\n"
        "b\tacc32.v16.I256.ups(<16 x i16> %v, i32 3, i32 1) ; I256.v16.acc32.srs(<8 x i64> %a, i32 1, i32 "
        "1)\t0100\t0400\n");
    put(f, "whisper_tiny_encoder_rows.f32", "");
    put(f, "jfk.wav", "");
    assert_run(f, 0,
               "bf16_floor_s32.tsv: 1 passed, 0 failed, 0 skipped\n"
               "bf16_mac_4x8x4.tsv: 1 passed, 0 failed, 0 skipped\n"
               "bf16_to_f32.tsv: 1 passed, 0 failed, 0 skipped\n"
               "f32_to_bf16.tsv: 3 passed, 0 failed, 0 skipped\n"
               "int_mac.tsv: 1 passed, 0 failed, 0 skipped\n"
               "isa_conv.tsv: 2 passed, 0 failed, 0 skipped\n"
               "model_pack.tsv: 2 passed, 0 failed, 1 skipped\n"
               "model_srs.tsv: 2 passed, 0 failed, 0 skipped\n"
               "model_ups.tsv: 1 passed, 0 failed, 0 skipped\n"
               "srs_ups_pack_silicon.tsv: 3 passed, 0 failed, 0 skipped\n"
               "whisper_tiny_encoder_rows.f32: 0 passed, 0 failed, 0 skipped\n"
               "17 passed, 0 failed, 1 skipped\n",
               "model_pack.tsv: skipped 1: the value does not fit the lane's type");
}

/* A case is skipped where the recordings' own description says so, never because it is not understood here. */
static void fails_what_is_not_understood(void **state)
{
    const struct folder *f = *state;
    put(f, "int_mac.tsv", "id\tshape\ta\tb\tc\nj\t9x9x9\t\t\t\n");
    put(f, "srs_ups_pack_silicon.tsv",
        "id\top\trnd\tsat\tshift\tin\tout\n"
        "a\tnew_op\t-\t1\t-\t0100\t7f\n"
        "b\tsrs_s16_s64\tx\t1\t4\t00000018\t0001\n"
        "c\tsrs_s16_s64\t4\t1\t4\t00000018\t0001\n");
    put(f, "model_srs.tsv",
        "id\tvalue\tshift\tsigned\tbits_o\tsat\tsymsat\trnd\texpected\n"
        "0\t1\t0\t1\t8\t1\t-1\t0\t1\n1\t1\t0\t2\t8\t1\t0\t0\t1\n2\t1\t0\t1\t8\t3\t0\t0\t1\n"
        "3\t1\t0\t1\t8\t1\t0\t-1\t1\n4\t1\t0\t1\t8\t1\t0\t16\t1\n5\t1\t32\t1\t8\t1\t0\t0\t1\n");
    put(f, "model_ups.tsv",
        "id\tvalue\tshift\tbits_in\tbits_out\tsigned\tsat\texpected\n0\t2\t1\t32\t32\t1\t1\t4\n"
        "1\t2\t1\t32\t32\t1\t1\t1\n");
    put(f, "isa_conv.tsv",
        "id\tintrinsics\tin\tout\n"
        "a\tno.such.thing(<16 x i16> %v)\t0100\t0400\n");
    assert_run(f, 1,
               "int_mac.tsv: 0 passed, 1 failed, 0 skipped\n"
               "isa_conv.tsv: 0 passed, 1 failed, 0 skipped\n"
               "model_srs.tsv: 0 passed, 6 failed, 0 skipped\n"
               "model_ups.tsv: 0 passed, 2 failed, 0 skipped\n"
               "srs_ups_pack_silicon.tsv: 0 passed, 3 failed, 0 skipped\n"
               "0 passed, 13 failed, 0 skipped\n",
               "isa_conv.tsv: a: expected a result, got an intrinsic that is not known");
}

static void tells_of_failures(void **state)
{
    const struct folder *f = *state;
    put(f, "bf16_to_f32.tsv", "id\tin\tout\ngood\t0001\t00010000\nwrong\t0001\t00020000\n");
    assert_run(f, 1, "bf16_to_f32.tsv: 1 passed, 1 failed, 0 skipped\n1 passed, 1 failed, 0 skipped\n",
               "bf16_to_f32.tsv: wrong: expected 00020000, got 00010000");
}

static void counts_a_table_that_cannot_be_read(void **state)
{
    const struct folder *f = *state;
    put(f, "bf16_to_f32.tsv", "id\tout\n1\t2\n");
    assert_run(f, 1, "bf16_to_f32.tsv: 0 passed, 1 failed, 0 skipped\n0 passed, 1 failed, 0 skipped\n",
               "'bf16_to_f32.tsv' has no column 'in'");
    put(f, "bf16_to_f32.tsv", "id\tin\tout\n1\tx\t2\n");
    assert_run(f, 1, "bf16_to_f32.tsv: 0 passed, 1 failed, 0 skipped\n0 passed, 1 failed, 0 skipped\n",
               "cannot be read");
}

static void names_unknown_files(void **state)
{
    const struct folder *f = *state;
    put(f, "something.tsv", "id\n");
    put(f, "README.md", "");
    assert_run(f, 0, "0 passed, 0 failed, 0 skipped\n", "something.tsv: not a file of recorded results");
}

static void put_programme(const struct folder *f)
{
    unsigned char input[64] = {5, 0, 0, 0, 7, 0, 0, 0, 0x1c, 0, 0, 0};
    folder_put(f, "isa_input_lcg42.bin", input, sizeof input);
    put(f, "isa_batches.tsv",
        "id\tbatch\trun\tpoints\tin_start\tin_size\tout_size\n"
        "T/s\tT\ts\t5\t0\t64\t64\nU/s\tU\ts\t1\t4\t60\t64\n");
    put(f, "isa_program.tsv",
        "id\tisa_name\tslot\tin_off\tin_size\tout_off\tout_size\tasm\n"
        "T.0\tADD\talu\t0\t4\t0\t4\tlda r0, [p0, #0]; lda r1, [p0, #4]; nop *7; add r2, r0, r1; nop *2; st r2, [p1, "
        "#0]\n"
        "T.1\tPAIR\tmv\t0\t4\t4\t4\tmov r18, r2; mov r19, r2; nop *2; vbcst.64 x0, r19:r18; nop *3; "
        "vst wl0, [p1, #32]; st r19, [p1, #4]\n"
        "T.2\tVMUL\tvec\t0\t4\t8\t4\tlda r4, [p0, #8]; nop *7; vmul cm0, x0, x0, r4; nop *6; vst amll0, [p1, #64]\n"
        "T.3\tVST\tst\t0\t4\t96\t4\tvmov bml1, bml0; nop *4; vst amll1, [p1, #96]\n"
        "T.4\tADD\talu\t0\t4\t12\t4\tadd r5, r2, r0; nop *3; st r5, [p1, #12]\n"
        "U.0\tST\tst\t0\t4\t0\t4\tlda r0, [p0, #0]; nop *8; st r0, [p1, #0]\n");
}

/* A programme of points: state is carried on, and what is not modelled is left out with all that depends on it. */
static void runs_programmes(void **state)
{
    const struct folder *f = *state;
    put_programme(f);
    put(f, "isa_expect.tsv",
        "id\tpoint\trun\tstate\tctrl\tbytes\n"
        "T.0/s\tT.0\ts\t-\t-\t0c000000\n"
        "T.1/s\tT.1\ts\tr2\t-\t0c..0000\n"
        "T.1b/s\tT.1\ts\tr2!\t-\tffffffff\n"
        "T.2/s\tT.2\ts\t-\t-\t00000000\n"
        "T.3/s\tT.3\ts\tcm0\t-\t00000000\n"
        "T.4/s\tT.4\ts\tr2\t-\t11??0000\n"
        "U.0/s\tU.0\ts\t-\t-\t07000000\n"
        "T.4b/s\tT.4\ts\tr2\t-\t........\n");
    assert_run(f, 0, "isa_expect.tsv: 4 passed, 0 failed, 4 skipped\n4 passed, 0 failed, 4 skipped\n",
               "skipped 1: a float mode in an integer multiply-accumulate is not modelled");
    assert_run(f, 0, "isa_expect.tsv: 4 passed, 0 failed, 4 skipped\n4 passed, 0 failed, 4 skipped\n",
               "skipped 1: depends on the result of an operation that is not modelled");
    put(f, "isa_expect.tsv", "id\tpoint\trun\tstate\tctrl\tbytes\nT.4/s\tT.4\ts\tr2\t-\t12000000\n");
    assert_run(f, 1, "isa_expect.tsv: 0 passed, 1 failed, 0 skipped\n0 passed, 1 failed, 0 skipped\n",
               "T.4/s: expected 12000000, got 11000000");
}

/* Results without a run, without bytes, or of a run that breaks off are failures, but for those that nobody can know.
 */
static void fails_results_of_no_run(void **state)
{
    const struct folder *f = *state;
    put_programme(f);
    put(f, "isa_expect.tsv",
        "id\tpoint\trun\tstate\tctrl\tbytes\n"
        "V.0/s\tV.0\ts\t-\t-\t07000000\n"
        "V.1/s\tV.1\ts\tr2!\t-\t07000000\n"
        "T.0/s\tT.0\ts\t-\t-\t\n"
        "U.0/s\tU.0\ts\t-\t-\tg7000000\n");
    assert_run(f, 1, "isa_expect.tsv: 0 passed, 3 failed, 1 skipped\n0 passed, 3 failed, 1 skipped\n",
               "V.0/s: expected a result, got a run that isa_batches.tsv does not list");
}

/* An operation that fails spoils what depends on it: no result, unless nobody can know it. */
static void fails_results_of_what_fails(void **state)
{
    const struct folder *f = *state;
    put_programme(f);
    put(f, "isa_program.tsv",
        "id\tout_off\tasm\n"
        "U.0\t0\tlda r0, [p0, #0]; nop *8; st r0, [p1, #0]\n"
        "U.1\t4\tmova p2, #0; nop *4; lda r1, [p2, #0]; nop *8; st r1, [p1, #4]\n"
        "U.2\t8\tadd r2, r1, r1; nop *4; st r2, [p1, #8]\n");
    put(f, "isa_expect.tsv",
        "id\tpoint\trun\tstate\tctrl\tbytes\n"
        "U.0/s\tU.0\ts\t-\t-\t07000000\n"
        "U.1/s\tU.1\ts\tp2!\t-\t00000000\n"
        "U.1b/s\tU.1\ts\t-\t-\t00000000\n"
        "U.2/s\tU.2\ts\tr1\t-\t00000000\n");
    assert_run(f, 1, "isa_expect.tsv: 1 passed, 2 failed, 1 skipped\n1 passed, 2 failed, 1 skipped\n",
               "U.1b/s: expected a result, got ");
    assert_run(f, 1, "isa_expect.tsv: 1 passed, 2 failed, 1 skipped\n1 passed, 2 failed, 1 skipped\n",
               "U.2/s: expected a result, got depends on the result of an operation that failed");
}

static struct folder folder_in(const struct folder *f, const char *name)
{
    struct folder inner;
    assert_true(snprintf(inner.path, sizeof inner.path, "%s/%s", f->path, name) < (int)sizeof inner.path);
    assert_int_equal(mkdir(inner.path, 0777), 0);
    return inner;
}

/* From one that is named, or from one beside that of the results; else nothing was compared, which is no success. */
static void takes_programmes_from_another_folder(void **state)
{
    const struct folder *f = *state;
    const struct folder inner[2] = {folder_in(f, "results"), f[1]};
    put_programme(&f[1]);
    put(inner, "isa_expect.tsv", "id\tpoint\trun\tstate\tctrl\tbytes\nU.0/s\tU.0\ts\t-\t-\t07000000\n");
    assert_run(inner, 1, "isa_expect.tsv: 0 passed, 1 failed, 0 skipped\n0 passed, 1 failed, 0 skipped\n",
               "isa_program.tsv is neither there nor in a folder beside; --programs names one that has it");
    static const char passed[] = "isa_expect.tsv: 1 passed, 0 failed, 0 skipped\n1 passed, 0 failed, 0 skipped\n";
    struct finished r = run(inner, "--programs", f[1].path);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out, passed);
    program_release(&r);
    const struct folder beside = folder_in(f, "programmes");
    put_programme(&beside);
    assert_run(inner, 0, passed, "");
}

static void fails_what_does_not_assemble(void **state)
{
    const struct folder *f = *state;
    put_programme(f);
    put(f, "isa_program.tsv", "id\tout_off\tasm\nU.0\t0\tfrobnicate r0\n");
    put(f, "isa_expect.tsv", "id\tpoint\trun\tstate\tctrl\tbytes\nU.0/s\tU.0\ts\t-\t-\t07000000\n");
    assert_run(f, 1, "isa_expect.tsv: 0 passed, 1 failed, 0 skipped\n0 passed, 1 failed, 0 skipped\n",
               "'isa_program.tsv', batch 'U' with one operation a line, line:2:");
}

static void prints_json(void **state)
{
    const struct folder *f = *state;
    put(f, "bf16_to_f32.tsv", "id\tin\tout\na\t0001\t00010000\n");
    put(f, "model_pack.tsv",
        "id\tvalue\tbits_i\tbits_o\tsigned\tsat\tsymsat\texpected\n1\t70000\t16\t8\t1\t1\t0\t127\n");
    put(f, "other.bin", "");
    struct finished r = run(f, "--json", NULL);
    assert_int_equal(r.code, 0);
    json_t *all = json_loads(r.out, 0, NULL);
    assert_non_null(all);
    assert_int_equal(json_integer_value(json_object_get(all, "passed")), 1);
    assert_int_equal(json_integer_value(json_object_get(all, "skipped")), 1);
    json_t *file = json_array_get(json_object_get(all, "files"), 1);
    assert_string_equal(json_string_value(json_object_get(file, "name")), "model_pack.tsv");
    json_t *reasons = json_object_get(file, "reasons");
    assert_int_equal(json_integer_value(json_object_get(reasons, "the value does not fit the lane's type")), 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(all, "unknown"), 0)), "other.bin");
    json_decref(all);
    program_release(&r);
}

static void refuses_senseless_command_lines(void **state)
{
    const struct folder *f = *state;
    struct finished r = program_run(&f[1], caught, (const char *const[]){"vectors", NULL});
    assert_int_equal(r.code, 2);
    program_release(&r);
    r = run(f, "--set", "mmx");
    assert_int_equal(r.code, 2);
    program_release(&r);
    r = program_run(&f[1], caught, (const char *const[]){"vectors", "/no/such/folder", NULL});
    assert_int_equal(r.code, 1);
    program_release(&r);
    r = program_run(&f[1], caught, (const char *const[]){"vectors", "--help", NULL});
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "Usage: tilewright vectors"));
    program_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(checks_every_kind_of_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fails_what_is_not_understood, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_of_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_a_table_that_cannot_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_unknown_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_programmes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fails_results_of_no_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fails_results_of_what_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_programmes_from_another_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fails_what_does_not_assemble, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prints_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_senseless_command_lines, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
