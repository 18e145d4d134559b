/* Control code in ELF files. */
#include "image/control_elf.h"

#include "base/little_endian.h"
#include "image/damage.h"
#include "image/make_image.h"
#include "image/touch.h"
#include "npu1/control_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void code_and_patches_are_read(void **state)
{
    struct made m = {0};
    struct tw_control_elf elf;
    struct tw_control_elf_patch patch;
    struct tw_control_code code;
    (void)state;
    make_control_elf(&m);
    struct tw_view view = made_view(&m);
    assert_true(tw_control_elf_recognise(&view));
    assert_int_equal(tw_control_elf_open(&view, &elf, NULL), 0);
    assert_int_equal(elf.code.at, 52);
    assert_int_equal(elf.n_patches, 2);
    tw_control_elf_patch(&elf, 0, &patch);
    assert_int_equal(patch.offset, 0x20);
    assert_int_equal(patch.argument, TW_CONTROL_ELF_FIRST_BUFFER);
    assert_int_equal(patch.scheme, TW_CONTROL_ELF_SHIM_DMA_48);
    assert_int_equal(patch.addend, 0);
    tw_control_elf_patch(&elf, 1, &patch);
    assert_int_equal(patch.offset, 0x50);
    assert_int_equal(patch.argument, 5);
    assert_int_equal(patch.addend, -16);
    assert_int_equal(tw_control_code_open(&elf.code, &code, NULL), 0);
    assert_int_equal(code.n_ops, 2);
    made_free(&m);
}

static size_t patch_place(const struct made *m)
{
    struct tw_control_elf elf;
    struct tw_view view = made_view(m);
    assert_int_equal(tw_control_elf_open(&view, &elf, NULL), 0);
    return elf.patches.at;
}

static void refused(size_t word, uint32_t value, int code, const char *words)
{
    struct made m = {0};
    make_control_elf(&m);
    tw_store_u32(m.data + patch_place(&m) + 4 * word, value);
    damage_refused(&m, touch_control_elf, code, words);
    made_free(&m);
}

static void wrong_patches_are_refused(void **state)
{
    (void)state;
    refused(0, 0x54, TW_E_FORMAT, "descriptor at 0x54");
    refused(0, 0xfffffffc, TW_E_FORMAT, "descriptor at 0xfffffffc");
    refused(0, 0x21, TW_E_FORMAT, "descriptor at 0x21");
    refused(1, 1 << 8 | 4, TW_E_UNSUPPORTED, "scheme 4");
    refused(1, 3 << 8 | 5, TW_E_FORMAT, "symbol 3");
    refused(1, 5, TW_E_FORMAT, "no number");
}

static void damaged_files(void **state)
{
    struct made m = {0};
    (void)state;
    make_control_elf(&m);
    damage_truncate(&m, touch_control_elf);
    damage_words(&m, touch_control_elf, NULL);
    made_free(&m);
}

static void other_elf_files_are_none(void **state)
{
    struct made m = {0};
    (void)state;
    make_elf(&m, "abcd", 4);
    struct tw_view view = made_view(&m);
    assert_false(tw_control_elf_recognise(&view));
    damage_refused(&m, touch_control_elf, TW_E_FORMAT, "no ELF file with control code");
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_patches_are_read),
        cmocka_unit_test(wrong_patches_are_refused),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(other_elf_files_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
