/* Buffer descriptors: words seen in files that ran, random fields there and back, and what does not fit. */
#include "npu1/buffer_descriptor.h"

#include "base/random.h"
#include "npu1/registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void offsets_are_those_of_the_manual(void **state)
{
    (void)state;
    assert_int_equal(tw_bd_offset(TW_TILE_CORE, 0), 0x1d000);
    assert_int_equal(tw_bd_offset(TW_TILE_CORE, 15), 0x1d1e0);
    assert_int_equal(tw_bd_offset(TW_TILE_MEMORY, 47), 0xa05e0);
    assert_int_equal(tw_bd_offset(TW_TILE_SHIM, 1), 0x1d020);
    assert_int_equal(tw_bd_count(TW_TILE_MEMORY), 48);
    assert_int_equal(tw_bd_count(TW_TILE_CORE), 16);
    assert_int_equal(tw_bd_words(TW_TILE_CORE), 6);
    assert_int_equal(tw_bd_words(TW_TILE_SHIM), 8);
    assert_int_equal(tw_bd_dimensions(TW_TILE_MEMORY), 4);
    assert_int_equal(tw_bd_dimensions(TW_TILE_SHIM), 3);
}

/* The shim descriptor of a compiled program: 16 words, linear, valid. */
static void a_compiled_shim_descriptor(void **state)
{
    static const uint32_t words[8] = {0x10, 0, 0, 0, 0x80000000, 0x02000000, 0, 0x02000000};
    uint32_t again[8];
    struct tw_bd bd;
    (void)state;
    tw_bd_decode(TW_TILE_SHIM, words, &bd);
    assert_int_equal(bd.length, 16);
    assert_int_equal(bd.burst, 2);
    assert_int_equal(bd.ax_cache, 2);
    assert_int_equal(bd.valid, 1);
    assert_int_equal(bd.dimensions[0].step, 1);
    assert_int_equal(bd.dimensions[2].step, 1);
    assert_int_equal(bd.dimensions[3].step, 0);
    assert_int_equal(bd.iteration.count, 1);
    assert_int_equal(tw_bd_encode(TW_TILE_SHIM, &bd, again, NULL), 0);
    assert_memory_equal(words, again, sizeof words);
}

static void a_shim_address_has_48_bits(void **state)
{
    static const uint32_t words[8] = {0, 0x89abcdec, 0x4567};
    uint32_t again[8];
    struct tw_bd bd;
    (void)state;
    tw_bd_decode(TW_TILE_SHIM, words, &bd);
    assert_true(bd.address == 0x456789abcdec);
    assert_int_equal(tw_bd_encode(TW_TILE_SHIM, &bd, again, NULL), 0);
    assert_memory_equal(words, again, sizeof words);
    bd.address = (uint64_t)1 << 48;
    struct tw_error err = {0};
    assert_int_equal(tw_bd_encode(TW_TILE_SHIM, &bd, again, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "65535"));
}

/* Fields of the sheet, by hand. */
static void a_memory_tile_descriptor_by_hand(void **state)
{
    const uint32_t words[8] = {1u << 31 | 5 << 28 | 9 << 23 | 33 << 17 | 100000,
                               63u << 26 | 47 << 20 | 1 << 19 | 0x20000,
                               1u << 31 | 1023 << 17 | 0x1ffff,
                               31u << 27 | 2 << 17 | 3,
                               1u << 31 | 15 << 27 | 4 << 17 | 5,
                               15u << 28 | 31 << 23 | 62 << 17 | 6,
                               62u << 23 | 63 << 17 | 7,
                               1u << 31 | 0x3f << 24 | 191 << 16 | 1 << 15 | 0x7f << 8 | 64};
    struct tw_bd bd;
    uint32_t again[8];
    (void)state;
    tw_bd_decode(TW_TILE_MEMORY, words, &bd);
    assert_true(bd.address == TW_MEMORY_TILE_BYTES);
    assert_int_equal(bd.length, 100000);
    assert_int_equal(bd.packet_type, 5);
    assert_int_equal(bd.packet_id, 9);
    assert_int_equal(bd.out_of_order_id, 33);
    assert_int_equal(bd.next, 47);
    assert_int_equal(bd.dimensions[0].step, 0x20000);
    assert_int_equal(bd.dimensions[0].wrap, 1023);
    assert_int_equal(bd.dimensions[0].zeros_before, 63);
    assert_int_equal(bd.dimensions[0].zeros_after, 62);
    assert_int_equal(bd.dimensions[1].zeros_before, 31);
    assert_int_equal(bd.dimensions[2].zeros_before, 15);
    assert_int_equal(bd.dimensions[3].step, 7);
    assert_int_equal(bd.iteration.step, 8);
    assert_int_equal(bd.iteration.count, 64);
    assert_int_equal(bd.iteration.current, 62);
    assert_int_equal(bd.acquire_value, -1);
    assert_int_equal(bd.acquire_id, 64);
    assert_int_equal(bd.release_value, 63);
    assert_int_equal(bd.release_id, 191);
    assert_int_equal(tw_bd_encode(TW_TILE_MEMORY, &bd, again, NULL), 0);
    assert_memory_equal(words, again, sizeof words);
}

/* All bits that the register table gives a name survive decoding and encoding, in all tiles; the others become zero. */
static void random_words_come_back(void **state)
{
    struct tw_random random = {1};
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++)
        for (unsigned round = 0; round < 2000; round++) {
            uint32_t words[8], again[8];
            struct tw_bd bd;
            for (unsigned i = 0; i < 8; i++)
                words[i] = (uint32_t)tw_random_u64(&random);
            tw_bd_decode(kind, words, &bd);
            assert_int_equal(tw_bd_encode(kind, &bd, again, NULL), 0);
            for (unsigned i = 0; i < tw_bd_words(kind); i++) {
                uint32_t named = 0;
                const struct tw_tile_register *r = tw_tile_register_at(kind, tw_bd_offset(kind, 3) + 4 * i);
                assert_non_null(r);
                for (unsigned j = 0; j < r->n_fields; j++)
                    named |= (UINT32_MAX >> (32 - r->fields[j].bits)) << r->fields[j].low;
                assert_int_equal(again[i], words[i] & named);
            }
        }
}

/* The table's names say the same as the structure. */
static void structure_and_table_agree(void **state)
{
    struct tw_bd bd = {.length = 1,
                       .dimensions = {{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}},
                       .iteration = {1, 1, 0},
                       .next = 9,
                       .use_next = 1,
                       .acquire_enable = 1,
                       .acquire_value = -1,
                       .release_id = 3};
    uint32_t words[8];
    char text[TW_TILE_REGISTER_TEXT];
    (void)state;
    assert_int_equal(tw_bd_encode(TW_TILE_CORE, &bd, words, NULL), 0);
    tw_tile_register_print(tw_tile_address(0, 2, tw_bd_offset(TW_TILE_CORE, 4) + 20), UINT32_MAX, words[5], text,
                           sizeof text);
    assert_string_equal(text, "Lock_Acq_Value=0x7f Lock_Acq_Enable=1 Lock_Rel_ID=3 Use_Next_BD=1 Next_BD=9");
}

static void refused(enum tw_tile_kind kind, const struct tw_bd *bd, const char *sentence)
{
    struct tw_error err = {0};
    uint32_t words[8];
    assert_int_equal(tw_bd_encode(kind, bd, words, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, sentence));
}

static void what_does_not_fit_is_refused(void **state)
{
    const struct tw_bd plain = {
        .length = 4, .dimensions = {{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}, .iteration = {1, 1, 0}};
    struct tw_bd bd = plain;
    uint32_t words[8];
    (void)state;
    assert_int_equal(tw_bd_encode(TW_TILE_CORE, &bd, words, NULL), 0);
    bd.dimensions[0].step = 8192;
    assert_int_equal(tw_bd_encode(TW_TILE_CORE, &bd, words, NULL), 0);
    bd.dimensions[0].step = 8193;
    refused(TW_TILE_CORE, &bd, "step of dimension 0 of a core tile's buffer descriptor takes 1 to 8192, not 8193");
    bd.dimensions[0].step = 0;
    refused(TW_TILE_CORE, &bd, "takes 1 to 8192, not 0");
    bd = plain;
    bd.dimensions[0].zeros_before = 1;
    refused(TW_TILE_CORE, &bd, "padding before dimension 0 is 1, but a core tile's");
    bd = plain;
    bd.dimensions[2].wrap = 5;
    refused(TW_TILE_SHIM, &bd, "wrap of dimension 2");
    bd = plain;
    bd.address = 6;
    refused(TW_TILE_CORE, &bd, "multiple of 4");
    bd.address = 0x10000;
    refused(TW_TILE_CORE, &bd, "address in words");
    bd = plain;
    bd.acquire_value = -65;
    refused(TW_TILE_CORE, &bd, "takes -64 to 63, not -65");
    bd = plain;
    bd.valid = 2;
    refused(TW_TILE_SHIM, &bd, "valid flag");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_manual), cmocka_unit_test(a_compiled_shim_descriptor),
        cmocka_unit_test(a_shim_address_has_48_bits),      cmocka_unit_test(a_memory_tile_descriptor_by_hand),
        cmocka_unit_test(random_words_come_back),          cmocka_unit_test(structure_and_table_agree),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
