/* tilewright image as a user runs it: each kind of file, as text and as JSON. */
#include "cli/program.h"

#include "base/little_endian.h"
#include "image/make_image.h"
#include "image/xclbin_write.h"
#include "npu1/cdo_writer.h"
#include "npu1/control_writer.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define RUN(scratch, ...) program_run(scratch, caught, (const char *const[]){"image", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

static void has_line(const char *text, const char *line)
{
    if (strstr(text, line) == NULL)
        fail_msg("no '%s' in:\n%s", line, text);
}

/* The first node of a name among the contents of a node, or NULL. */
static json_t *node_in(json_t *node, const char *name)
{
    json_t *contents = json_object_get(node, "contents");
    for (size_t i = 0; i < json_array_size(contents); i++) {
        json_t *child = json_array_get(contents, i);
        if (strcmp(json_string_value(json_object_get(child, "node")), name) == 0)
            return child;
    }
    return NULL;
}

/* Prints a file both ways; the JSON must be one object, a file with totals. *json is then to be released. */
static struct finished print_both(const struct folder *f, const void *data, size_t size, json_t **json)
{
    char path[2 * FOLDER_PATH];
    json_error_t error;
    folder_path(f, "file", path);
    folder_put(f, "file", data, size);
    struct finished r = RUN(f, "--json", path);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, "");
    *json = json_loads(r.out, 0, &error);
    if (*json == NULL)
        fail_msg("no JSON: %s in:\n%s", error.text, r.out);
    assert_string_equal(json_string_value(json_object_get(*json, "node")), "file");
    assert_non_null(node_in(*json, "totals"));
    program_release(&r);
    r = RUN(f, path);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, "");
    return r;
}

static unsigned char *make_cdo_bytes(size_t *size)
{
    static const unsigned char descriptor[24] = {16, 0, 0, 1};
    struct tw_cdo_writer w;
    unsigned char *bytes;
    tw_cdo_writer_begin(&w);
    tw_cdo_writer_mask_write(&w, 0x232000, 3, 2);
    tw_cdo_writer_write(&w, 0x21f010, 5);
    tw_cdo_writer_dma_write(&w, 0x2200010, "abcdefgh", 2);
    tw_cdo_writer_dma_write(&w, 0x220000, "abcdefghijkl", 3);
    tw_cdo_writer_dma_write(&w, 0x21d060, descriptor, 6);
    assert_int_equal(tw_cdo_writer_finish(&w, &bytes, size, NULL), 0);
    return bytes;
}

static void configuration_down_to_fields(void **state)
{
    struct tw_view cdo = {.file = "made"};
    unsigned char *bytes = make_cdo_bytes(&cdo.size), *pdi, *xclbin;
    struct tw_xclbin_contents contents = {
        .columns = 1, .kernel = "K", .instance = "I", .kernel_id = TW_KERNEL_ID, .pdi = {.file = "made"}};
    size_t size;
    json_t *json;
    cdo.data = bytes;
    assert_int_equal(tw_pdi_write(&cdo, &pdi, &contents.pdi.size, NULL), 0);
    contents.pdi.data = pdi;
    assert_int_equal(tw_xclbin_write(&contents, &xclbin, &size, NULL), 0);
    struct finished r = print_both(*state, xclbin, size, &json);
    has_line(r.out, "MASK_WRITE core(0,2) Core_Control value=0x2 mask=0x3 Enable=0 Reset=1\n");
    has_line(r.out, "WRITE core(0,2) Lock1_value value=0x5 Lock_value=5\n");
    has_line(r.out, "words core(1,2) data+0x10 count=2\n");
    has_line(r.out, "words core(0,2) program+0x0 count=3\n");
    has_line(r.out, "word core(0,2) DMA_BD3_0 value=0x1000010 Buffer_Length=0x10 Base_Address=0x400\n");
    has_line(r.out, "kernel name=K instance=I dpu_id=0x901\n");
    has_line(r.out, "register_words=8 data_words=2 program_words=3\n");
    assert_int_equal(json_integer_value(json_object_get(node_in(json, "totals"), "WRITE")), 1);
    assert_int_equal(json_integer_value(json_object_get(node_in(json, "totals"), "program_words")), 3);
    assert_non_null(node_in(json, "xclbin"));
    json_decref(json);
    program_release(&r);
    r = print_both(*state, pdi, contents.pdi.size, &json);
    has_line(r.out, "image name=aie_image id=0x1c000000");
    json_decref(json);
    program_release(&r);
    r = print_both(*state, bytes, cdo.size, &json);
    has_line(r.out, "DMA_WRITE core(0,2) DMA_BD3_0 words=6\n");
    json_decref(json);
    program_release(&r);
    free(bytes);
    free(pdi);
    free(xclbin);
}

static void control_code_in_all_forms(void **state)
{
    struct tw_control_writer w;
    unsigned char *bytes;
    size_t size;
    json_t *json;
    char hex[1024] = "";
    tw_control_writer_begin(&w, 4);
    tw_control_writer_block_write(&w, 0x0201d000, (const uint32_t[]){7, 0, 0, 0, 0x80000000, 0, 0, 0}, 8);
    tw_control_writer_patch(&w, 0x0201d004, &(struct tw_control_patch){1, 64});
    tw_control_writer_write(&w, 0x0201d214, 0x80000000);
    tw_control_writer_wait(&w,
                           &(struct tw_control_wait){.column = 1, .columns = 1, .rows = 1, .channel = {TW_MM2S, 0}});
    assert_int_equal(tw_control_writer_finish(&w, &bytes, &size, NULL), 0);
    for (size_t i = 0; i < size / 4; i++)
        snprintf(hex + strlen(hex), sizeof hex - strlen(hex), "%08X\n", (unsigned)tw_load_u32(bytes + 4 * i));
    for (unsigned form = 0; form < 2; form++) {
        struct finished r =
            form == 0 ? print_both(*state, bytes, size, &json) : print_both(*state, hex, strlen(hex), &json);
        has_line(r.out, "control-code version=0.1 generation=3 columns=4 operations=4\n");
        has_line(r.out, "word shim(1,0) DMA_BD0_4 value=0x80000000 Burst_Length=2\n");
        has_line(r.out, "DDR_PATCH shim(1,0) DMA_BD0_1 argument=1 addend=0x40\n");
        has_line(r.out, "WRITE shim(1,0) DMA_MM2S_0_Task_Queue value=0x80000000 Enable_Token_Issue=1\n");
        has_line(r.out, "TCT shim(1,0) MM2S channel=0\n");
        json_decref(json);
        program_release(&r);
    }
    free(bytes);
    static const char older[] = "11 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n02000000 1d204 80000001\n03000000 10100\n";
    struct finished r = print_both(*state, older, strlen(older), &json);
    has_line(r.out, "DPU-sequence operations=2\n");
    has_line(r.out, "WRITE shim(0,0) DMA_S2MM_0_Task_Queue value=0x80000001 Start_BD_ID=1 Enable_Token_Issue=1\n");
    json_decref(json);
    program_release(&r);
}

static void elf_files(void **state)
{
    struct made core = {0}, control = {0};
    json_t *json;
    make_elf(&core, "abcd", 4);
    struct finished r = print_both(*state, core.data, core.size, &json);
    has_line(r.out, "segment program address=0x0 bytes=4 in_file=4\n");
    has_line(r.out, "symbol main value=0x0 bytes=4\n");
    json_decref(json);
    program_release(&r);
    make_control_elf(&control);
    r = print_both(*state, control.data, control.size, &json);
    has_line(r.out, "host-patch offset=0x20 argument=3 scheme=5 addend=0x0\n");
    has_line(r.out, "BLOCKWRITE shim(0,0) DMA_BD1_0 words=8\n");
    json_decref(json);
    program_release(&r);
    made_free(&core);
    made_free(&control);
}

/* Control characters of a hostile file reach neither the terminal nor the JSON. */
static void texts_are_made_harmless(void **state)
{
    struct made cdo = {0}, pdi = {0};
    json_t *json;
    make_program_cdo(&cdo, "abcd", 4, 1);
    make_pdi(&pdi, &cdo);
    memcpy(pdi.data + 0xa0, "\x1b[2J\"\\\xff", 8);
    pdi_sign(pdi.data);
    struct finished r = print_both(*state, pdi.data, pdi.size, &json);
    has_line(r.out, "image name=?[2J\"\\?");
    assert_null(strchr(r.out, '\x1b'));
    json_decref(json);
    program_release(&r);
    made_free(&cdo);
    made_free(&pdi);
}

/* A damaged file is found out before anything is printed. */
static void failures(void **state)
{
    const struct folder *f = *state;
    struct made cdo = {0};
    char path[2 * FOLDER_PATH];
    folder_path(f, "file", path);
    make_program_cdo(&cdo, "abcd", 4, 1);
    tw_store_u32(cdo.data + cdo.size - 16, 0xbad);
    folder_put(f, "file", cdo.data, cdo.size);
    struct finished r = RUN(f, path);
    assert_int_equal(r.code, 1);
    assert_string_equal(r.out, "");
    has_line(r.err, "there is no CDO command 0xbad");
    program_release(&r);
    folder_put(f, "file", "hello, world", 12);
    r = RUN(f, path);
    assert_int_equal(r.code, 1);
    has_line(r.err, "is none of: an xclbin");
    program_release(&r);
    folder_put(f, "file", "12 34 56\n", 9);
    r = RUN(f, path);
    assert_int_equal(r.code, 1);
    has_line(r.err, "no control code");
    program_release(&r);
    folder_put(f, "file", "", 0);
    r = RUN(f, path);
    assert_int_equal(r.code, 1);
    program_release(&r);
    r = RUN(f, "--json");
    assert_int_equal(r.code, 2);
    program_release(&r);
    made_free(&cdo);
}

static void help_fits_a_screen(void **state)
{
    struct finished r = RUN(*state, "--help");
    unsigned lines = 0, column = 0;
    assert_int_equal(r.code, 0);
    for (const char *c = r.out; *c != '\0'; c++) {
        column = *c == '\n' ? 0 : column + 1;
        lines += *c == '\n';
        assert_true(column <= 80);
    }
    assert_true(lines <= 24);
    has_line(r.out, "Example: tilewright image");
    program_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(configuration_down_to_fields, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(control_code_in_all_forms, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(elf_files, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(texts_are_made_harmless, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(failures, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(help_fits_a_screen, folder_set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
