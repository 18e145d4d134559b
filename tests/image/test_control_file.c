/* Control code in every form that a file has it in. */
#include "image/control_file.h"

#include "base/little_endian.h"
#include "image/make_image.h"
#include "npu1/dpu_sequence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEQUENCE_BYTES = 4 * TW_DPU_SEQUENCE_PROLOGUE, ROOM = 1 << 14 };

/* ---- files */

static struct tw_view as_text(const struct tw_view *code, char *text)
{
    size_t size = 0;
    for (size_t i = 0; i < code->size; i += 4)
        size += (size_t)snprintf(text + size, ROOM - size, "%08x\n", (unsigned)tw_load_u32(code->data + i));
    return (struct tw_view){.data = (unsigned char *)text, .size = size, .file = "text"};
}

static struct tw_view sequence_of(unsigned char *bytes)
{
    memset(bytes, 0, SEQUENCE_BYTES);
    tw_store_u32(bytes, TW_DPU_SEQUENCE_MARK);
    return (struct tw_view){.data = bytes, .size = SEQUENCE_BYTES, .file = "sequence"};
}

static void expect(const struct tw_view *view, enum tw_control_kind kind, const struct tw_view *code)
{
    struct tw_control_file file;
    memset(&file, 0xff, sizeof file);
    assert_int_equal(tw_control_file_open(view, &file, NULL), 0);
    assert_int_equal(file.kind, kind);
    assert_int_equal(file.is_elf, 0);
    assert_int_equal(file.code.size, code->size);
    assert_memory_equal(file.code.data, code->data, code->size);
    tw_control_file_close(&file);
    assert_null(file.words);
}

/* ---- tests */

static void test_elf_and_transaction(void **state)
{
    struct made m = {0};
    struct tw_control_file file;
    static char text[ROOM];
    (void)state;
    make_control_elf(&m);
    const struct tw_view view = made_view(&m);
    memset(&file, 0xff, sizeof file);
    assert_int_equal(tw_control_file_open(&view, &file, NULL), 0);
    assert_int_equal(file.kind, TW_CONTROL_TRANSACTION);
    assert_true(file.is_elf && file.elf.n_patches == 2 && file.words == NULL);
    const struct tw_view code = file.code;
    assert_int_equal(code.at, 52);
    assert_ptr_equal(code.data, m.data + 52);
    tw_control_file_close(&file);

    const struct tw_view words = as_text(&code, text);
    expect(&code, TW_CONTROL_TRANSACTION, &code);
    expect(&words, TW_CONTROL_TRANSACTION, &code);
    made_free(&m);
}

static void test_sequence(void **state)
{
    unsigned char bytes[SEQUENCE_BYTES];
    static char text[ROOM];
    (void)state;
    const struct tw_view code = sequence_of(bytes), words = as_text(&code, text);
    expect(&code, TW_CONTROL_SEQUENCE, &code);
    expect(&words, TW_CONTROL_SEQUENCE, &code);
}

static void refused(const void *bytes, size_t size, const char *words)
{
    const struct tw_view view = {.data = bytes, .size = size, .file = "input"};
    struct tw_control_file file;
    struct tw_error err = {0};
    memset(&file, 0xff, sizeof file);
    assert_int_equal(tw_control_file_open(&view, &file, &err), TW_E_FORMAT);
    if (strstr(err.text, words) == NULL)
        fail_msg("%s", err.text);
    tw_control_file_close(&file);
}

static void test_refused(void **state)
{
    struct made m = {0};
    (void)state;
    refused("", 0, "'input' (0 bytes) is no control code");
    refused("junk", 4, "'input' (4 bytes) is no control code");
    refused("00000001 00000002", 17, "'input' (8 bytes) is no control code");
    refused("00000001 xyz", 12, "line 1");
    make_control_elf(&m);
    refused(m.data, 60, "the section headers");
    m.data[52] = 0x77; /* a version that does not exist */
    refused(m.data, m.size, "is no control code");
    made_free(&m);
}

/* The address of a buffer is added with all its 48 bits, and nothing else in the descriptor changes. */
static void test_fill(void **state)
{
    unsigned char descriptor[32], before[32];
    (void)state;
    memset(descriptor, 0xa5, sizeof descriptor);
    tw_store_u32(descriptor + 4, 0xfffffff0);
    tw_store_u32(descriptor + 8, 0xabcd0001);
    memcpy(before, descriptor, sizeof before);
    tw_control_elf_fill(descriptor, 0x7f0012345670, -16);
    /* 0x1fffffff0 + 0x7f0012345670 - 16 + 0x80000000 */
    assert_int_equal(tw_load_u32(descriptor + 4), 0x92345650);
    assert_int_equal(tw_load_u32(descriptor + 8), 0xabcd7f02);
    assert_memory_equal(descriptor, before, 4);
    assert_memory_equal(descriptor + 12, before + 12, sizeof before - 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elf_and_transaction),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests_name("control_file", tests, NULL, NULL);
}
