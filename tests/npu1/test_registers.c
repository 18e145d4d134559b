/* Registers by name and address, and values field by field. */
#include "npu1/registers.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Where the manual has them: one of each way of writing in the table. */
static const struct known {
    uint32_t address;
    const char *name;
} known[] = {
    {0x00232000, "core(0,2) Core_Control"},
    {0x0021d064, "core(0,2) DMA_BD3_1"},
    {0x041a05fc, "mem(2,1) DMA_BD47_7"},
    {0x0001d204, "shim(0,0) DMA_S2MM_0_Task_Queue"},
    {0x0003f100, "shim(0,0) Stream_Switch_Slave_Config_Tile_Ctrl"},
    {0x0003f200, "shim(0,0) Stream_Switch_Slave_Tile_Ctrl_Slot0"},
    {0x0253f008, "core(1,5) Stream_Switch_Master_Config_DMA1"},
    {0x0023f24c, "core(0,2) Stream_Switch_Slave_FIFO_0_Slot3"},
    {0x001c03f0, "mem(0,1) Lock63_value"},
    {0x00231170, "core(0,2) Core_CR"},
    {0x00214000, "core(0,2) memory.Timer_Control"},
    {0x00234000, "core(0,2) core.Timer_Control"},
    {0x002310c4, "core(0,2) Core_Q0[1]"},
    {0x0001f000, "shim(0,0) Mux_Config"},
    {0x00200444, "core(0,2) data+0x444"},
    {0x00223ffc, "core(0,2) program+0x3ffc"},
    {0x0017fffc, "mem(0,1) data+0x7fffc"},
    {0x0023fff4, "core(0,2) 0x3fff4"},
};

static void known_places_have_their_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[TW_TILE_REGISTER_TEXT];
        uint32_t address = 0;
        tw_tile_register_name(known[i].address, text, sizeof text);
        assert_string_equal(text, known[i].name);
        assert_int_equal(tw_tile_register_address(text, &address, NULL), 0);
        assert_int_equal(address, known[i].address);
    }
}

/* Every register of every kind of tile, there and back; and the table is sorted and has no overlaps. */
static void every_register_is_found(void **state)
{
    static const unsigned least[TW_TILE_KINDS] = {440, 720, 640};
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        enum tw_tile_kind kind = tw_tile_kind(row);
        unsigned count;
        const struct tw_tile_register *all = tw_tile_registers(kind, &count);
        assert_true(count >= least[kind]);
        for (unsigned i = 0; i < count; i++) {
            char text[TW_TILE_REGISTER_TEXT];
            uint32_t address = 0;
            uint32_t last = all[i].offset + all[i].bits / 8 - 4;
            assert_true(i == 0 || all[i - 1].offset + all[i - 1].bits / 8 <= all[i].offset);
            assert_ptr_equal(tw_tile_register_at(kind, all[i].offset), &all[i]);
            assert_ptr_equal(tw_tile_register_at(kind, last), &all[i]);
            assert_ptr_not_equal(tw_tile_register_at(kind, last + 4), &all[i]);
            assert_ptr_equal(tw_tile_register_named(kind, all[i].name), &all[i]);
            tw_tile_register_name(tw_tile_address(3, row, last), text, sizeof text);
            assert_int_equal(tw_tile_register_address(text, &address, NULL), 0);
            assert_int_equal(address, tw_tile_address(3, row, last));
        }
    }
}

static void fields_stay_inside_their_register(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++) {
        unsigned count;
        const struct tw_tile_register *all = tw_tile_registers(kind, &count);
        for (unsigned i = 0; i < count; i++)
            for (unsigned j = 0; j < all[i].n_fields; j++) {
                assert_true(all[i].fields[j].bits > 0);
                assert_true(all[i].fields[j].low + all[i].fields[j].bits <= all[i].bits);
            }
    }
    assert_int_equal(tw_tile_register_named(TW_TILE_CORE, "core_control")->reset, 2);
    assert_int_equal(tw_tile_register_named(TW_TILE_CORE, "Core_CR")->reset, 0x1800);
    assert_int_equal(tw_tile_register_named(TW_TILE_SHIM, "Tile_Control")->reset, 0xf);
}

static void is_printed(uint32_t address, uint32_t mask, uint32_t value, const char *expected)
{
    char text[TW_TILE_REGISTER_TEXT];
    tw_tile_register_print(address, mask, value, text, sizeof text);
    assert_string_equal(text, expected);
}

static void values_are_printed_by_field(void **state)
{
    (void)state;
    is_printed(0x0021d000, UINT32_MAX, 0x400 << 14 | 9, "Buffer_Length=9 Base_Address=0x400");
    is_printed(0x0021d000, UINT32_MAX, 0, "");
    is_printed(0x00232000, 1, 0, "Enable=0");
    is_printed(0x00232000, 2, 0xffffffff, "Reset=1");
    is_printed(0x00232000, UINT32_MAX, 0x101, "Enable=1 other=0x100");
    is_printed(0x0001d000, UINT32_MAX, 0xffffffff, "Buffer_Length=0xffffffff");
    is_printed(0x002310c4, UINT32_MAX, 0x12, "0x12");
    is_printed(0x00200000, UINT32_MAX, 7, "7");
}

static void a_small_buffer_is_not_overrun(void **state)
{
    char whole[TW_TILE_REGISTER_TEXT];
    (void)state;
    tw_tile_register_print(0x0021d014, UINT32_MAX, UINT32_MAX, whole, sizeof whole);
    for (size_t size = 1; size < 40; size++) {
        char text[64];
        memset(text, '#', sizeof text);
        tw_tile_register_print(0x0021d014, UINT32_MAX, UINT32_MAX, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_int_equal(strncmp(text, whole, size - 1), 0);
        assert_int_equal(text[size], '#');
    }
}

static void any_value_of_any_register_fits_the_text(void **state)
{
    struct tw_random random = {3};
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        unsigned count;
        const struct tw_tile_register *all = tw_tile_registers(tw_tile_kind(row), &count);
        for (unsigned i = 0; i < count; i++) {
            char text[2 * TW_TILE_REGISTER_TEXT];
            uint32_t address = tw_tile_address(0, row, all[i].offset);
            tw_tile_register_print(address, UINT32_MAX, UINT32_MAX, text, sizeof text);
            assert_true(strlen(text) < TW_TILE_REGISTER_TEXT);
            tw_tile_register_print(address, (uint32_t)tw_random_u64(&random), (uint32_t)tw_random_u64(&random), text,
                                   sizeof text);
            assert_true(strlen(text) < TW_TILE_REGISTER_TEXT);
        }
    }
}

static void texts_that_name_nothing_are_refused(void **state)
{
    static const struct {
        const char *text;
        int code;
    } wrong[] = {
        {"", TW_E_ARGUMENT},
        {"core", TW_E_ARGUMENT},
        {"core(0,1) Core_Control", TW_E_ARGUMENT},
        {"core(5,2) Core_Control", TW_E_ARGUMENT},
        {"core(0,6) Core_Control", TW_E_ARGUMENT},
        {"core(0,2)Core_Control", TW_E_ARGUMENT},
        {"core(0 ,2) Core_Control", TW_E_ARGUMENT},
        {"mem(0,1) Core_Control", TW_E_NOT_FOUND},
        {"core(0,2) Core_Contro", TW_E_NOT_FOUND},
        {"core(0,2) Core_Control[1]", TW_E_NOT_FOUND},
        {"core(0,2) Core_Q0[4]", TW_E_NOT_FOUND},
        {"core(0,2) Core_Q0[1", TW_E_NOT_FOUND},
        {"core(0,2) Core_Q0[1]x", TW_E_NOT_FOUND},
        {"core(0,2) data+0x10000", TW_E_NOT_FOUND},
        {"core(0,2) 0x100000", TW_E_NOT_FOUND},
        {"shim(0,0) data+0", TW_E_NOT_FOUND},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tw_error err = {0};
        uint32_t address;
        assert_int_equal(tw_tile_register_address(wrong[i].text, &address, &err), wrong[i].code);
        assert_true(err.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_places_have_their_names),
        cmocka_unit_test(every_register_is_found),
        cmocka_unit_test(fields_stay_inside_their_register),
        cmocka_unit_test(values_are_printed_by_field),
        cmocka_unit_test(a_small_buffer_is_not_overrun),
        cmocka_unit_test(any_value_of_any_register_fits_the_text),
        cmocka_unit_test(texts_that_name_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
