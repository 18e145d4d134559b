/* Stream switches: ports and their registers, legal connections, configuration words and packet headers. */
#include "npu1/stream_switch.h"

#include "base/random.h"
#include "npu1/registers.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const unsigned counts[TW_TILE_KINDS][2] = {
    [TW_TILE_SHIM] = {22, 23}, [TW_TILE_MEMORY] = {17, 18}, [TW_TILE_CORE] = {23, 25}};

static void ports_have_the_numbers_of_the_manual(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++)
        for (unsigned side = 0; side < 2; side++) {
            assert_int_equal(tw_switch_ports(kind, side), counts[kind][side]);
            for (unsigned i = 0; i < counts[kind][side]; i++) {
                struct tw_port p = tw_switch_port(kind, side, i);
                assert_int_equal(tw_switch_index(kind, side, p), (int)i);
            }
        }
    assert_int_equal(tw_switch_index(TW_TILE_SHIM, TW_SLAVE, (struct tw_port){TW_PORT_SOUTH, 3}), 5);
    assert_int_equal(tw_switch_index(TW_TILE_CORE, TW_SLAVE, (struct tw_port){TW_PORT_TRACE, 1}), 24);
    assert_int_equal(tw_switch_index(TW_TILE_MEMORY, TW_MASTER, (struct tw_port){TW_PORT_EAST, 0}), -1);
    assert_int_equal(tw_switch_index(TW_TILE_CORE, TW_MASTER, (struct tw_port){TW_PORT_NORTH, 6}), -1);
}

/* What the register table calls a port: "DMA1" and "DMA_1", "Tile_Ctrl", "AIE_Core0". */
static int is_named(const char *name, struct tw_port port)
{
    static const char *const words[TW_PORT_KINDS] = {"AIE_Core", "DMA",   "Tile_Ctrl", "FIFO", "South",
                                                     "West",     "North", "East",      "Trace"};
    size_t length = strlen(words[port.kind]);
    if (port.kind == TW_PORT_TRACE)
        return strcmp(name, "Trace") == 0 || strcmp(name, port.number == 0 ? "AIE_Trace" : "Mem_Trace") == 0;
    if (strncmp(name, words[port.kind], length) != 0)
        return 0;
    name += length + (name[length] == '_');
    return *name == '\0' ? port.kind == TW_PORT_CONTROL : (unsigned)(*name - '0') == port.number;
}

static void the_table_has_the_same_ports(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++)
        for (unsigned side = 0; side < 2; side++)
            for (unsigned i = 0; i < counts[kind][side]; i++) {
                const struct tw_tile_register *r = tw_tile_register_at(kind, tw_switch_offset(kind, side, i));
                const char *begin = side == TW_MASTER ? "Stream_Switch_Master_Config_" : "Stream_Switch_Slave_Config_";
                assert_non_null(r);
                assert_int_equal(r->offset, tw_switch_offset(kind, side, i));
                assert_int_equal(strncmp(r->name, begin, strlen(begin)), 0);
                assert_true(is_named(r->name + strlen(begin), tw_switch_port(kind, side, i)));
            }
}

static void registers_are_found_by_offset(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++) {
        unsigned found[TW_SWITCH_SLOT + 1] = {0};
        for (uint32_t offset = 0; offset < TW_TILE_BYTES; offset += 2) {
            unsigned index, slot;
            enum tw_switch_register r = tw_switch_register_at(kind, offset, &index, &slot);
            found[r]++;
            if (r == TW_SWITCH_MASTER || r == TW_SWITCH_SLAVE)
                assert_int_equal(tw_switch_offset(kind, r == TW_SWITCH_MASTER ? TW_MASTER : TW_SLAVE, index), offset);
            if (r == TW_SWITCH_SLOT)
                assert_int_equal(tw_switch_slot_offset(kind, index, slot), offset);
        }
        assert_int_equal(found[TW_SWITCH_MASTER], counts[kind][TW_MASTER]);
        assert_int_equal(found[TW_SWITCH_SLAVE], counts[kind][TW_SLAVE]);
        assert_int_equal(found[TW_SWITCH_SLOT], TW_SWITCH_SLOTS * counts[kind][TW_SLAVE]);
    }
    assert_int_equal(tw_switch_slot_offset(TW_TILE_SHIM, 1, 2), 0x3f218);
    assert_int_equal(tw_switch_slot_offset(TW_TILE_MEMORY, 17, 3), 0xb031c);
}

static int legal(enum tw_tile_kind kind, enum tw_port_kind from, unsigned n, enum tw_port_kind to, unsigned m)
{
    int slave = tw_switch_index(kind, TW_SLAVE, (struct tw_port){from, n});
    int master = tw_switch_index(kind, TW_MASTER, (struct tw_port){to, m});
    assert_true(slave >= 0 && master >= 0);
    return tw_switch_is_legal(kind, (unsigned)slave, (unsigned)master);
}

static void connections(void **state)
{
    (void)state;
    assert_true(legal(TW_TILE_CORE, TW_PORT_TRACE, 1, TW_PORT_DMA, 0));
    assert_false(legal(TW_TILE_CORE, TW_PORT_TRACE, 0, TW_PORT_DMA, 1));
    assert_false(legal(TW_TILE_CORE, TW_PORT_TRACE, 0, TW_PORT_NORTH, 0));
    assert_false(legal(TW_TILE_CORE, TW_PORT_CORE, 0, TW_PORT_CORE, 0));
    assert_false(legal(TW_TILE_CORE, TW_PORT_DMA, 0, TW_PORT_DMA, 1));
    assert_true(legal(TW_TILE_CORE, TW_PORT_DMA, 1, TW_PORT_CORE, 0));
    assert_false(legal(TW_TILE_CORE, TW_PORT_CONTROL, 0, TW_PORT_DMA, 0));
    assert_true(legal(TW_TILE_CORE, TW_PORT_SOUTH, 5, TW_PORT_NORTH, 0));
    assert_false(legal(TW_TILE_CORE, TW_PORT_SOUTH, 1, TW_PORT_SOUTH, 0));
    assert_true(legal(TW_TILE_CORE, TW_PORT_EAST, 1, TW_PORT_EAST, 1));
    assert_true(legal(TW_TILE_MEMORY, TW_PORT_TRACE, 0, TW_PORT_DMA, 5));
    assert_false(legal(TW_TILE_MEMORY, TW_PORT_TRACE, 0, TW_PORT_NORTH, 0));
    assert_true(legal(TW_TILE_MEMORY, TW_PORT_SOUTH, 2, TW_PORT_NORTH, 2));
    assert_false(legal(TW_TILE_MEMORY, TW_PORT_SOUTH, 2, TW_PORT_NORTH, 3));
    assert_true(legal(TW_TILE_MEMORY, TW_PORT_SOUTH, 2, TW_PORT_DMA, 3));
    assert_true(legal(TW_TILE_MEMORY, TW_PORT_CONTROL, 0, TW_PORT_DMA, 5));
    assert_false(legal(TW_TILE_MEMORY, TW_PORT_CONTROL, 0, TW_PORT_DMA, 4));
    assert_true(legal(TW_TILE_SHIM, TW_PORT_SOUTH, 3, TW_PORT_SOUTH, 2));
    assert_true(legal(TW_TILE_SHIM, TW_PORT_CONTROL, 0, TW_PORT_SOUTH, 0));
    assert_false(legal(TW_TILE_SHIM, TW_PORT_CONTROL, 0, TW_PORT_CONTROL, 0));
    assert_false(legal(TW_TILE_SHIM, TW_PORT_WEST, 1, TW_PORT_WEST, 2));
    assert_false(tw_switch_is_legal(TW_TILE_SHIM, 23, 0));
    assert_false(tw_switch_is_legal(TW_TILE_SHIM, 0, 22));
}

/* The token route that compilers write, and a circuit. */
static void words_of_compiled_programs(void **state)
{
    (void)state;
    struct tw_switch_slot slot = tw_switch_slot_decode(0x0f1f0135);
    assert_int_equal(slot.id, 15);
    assert_int_equal(slot.mask, 0x1f);
    assert_int_equal(slot.enable, 1);
    assert_int_equal(slot.msel, 3);
    assert_int_equal(slot.arbiter, 5);
    assert_int_equal(tw_switch_slot_encode(&slot), 0x0f1f0135);
    struct tw_switch_master m = tw_switch_master_decode(0xc0000045);
    assert_int_equal(m.enable, 1);
    assert_int_equal(m.packet, 1);
    assert_int_equal(m.arbiter, 5);
    assert_int_equal(m.msel, 1 << 3);
    assert_int_equal(m.slave, 0);
    assert_int_equal(tw_switch_master_encode(&m), 0xc0000045);
    m = tw_switch_master_decode(0x80000008);
    assert_int_equal(m.packet, 0);
    assert_int_equal(m.slave, 8);
    assert_int_equal(m.arbiter, 0);
    assert_int_equal(tw_switch_master_encode(&m), 0x80000008);
    m = tw_switch_master_decode(0xc0000080);
    assert_int_equal(m.drop_header, 1);
    struct tw_switch_slave s = tw_switch_slave_decode(0xc0000000);
    assert_int_equal(s.enable, 1);
    assert_int_equal(s.packet, 1);
    assert_int_equal(tw_switch_slave_encode(&s), 0xc0000000);
}

static void the_table_has_the_same_words(void **state)
{
    char text[TW_TILE_REGISTER_TEXT];
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        enum tw_tile_kind kind = tw_tile_kind(row);
        tw_tile_register_print(tw_tile_address(0, row, tw_switch_offset(kind, TW_MASTER, 2)), UINT32_MAX, 0xc00000c5,
                               text, sizeof text);
        assert_string_equal(text, "Configuration=0x45 Drop_Header=1 Packet_Enable=1 Master_Enable=1");
        tw_tile_register_print(tw_tile_address(0, row, tw_switch_offset(kind, TW_SLAVE, 2)), UINT32_MAX, 0xc0000000,
                               text, sizeof text);
        assert_string_equal(text, "Packet_Enable=1 Slave_Enable=1");
        tw_tile_register_print(tw_tile_address(0, row, tw_switch_slot_offset(kind, 2, 1)), UINT32_MAX, 0x0f1f0135, text,
                               sizeof text);
        for (char *c = text; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        assert_string_equal(text, "arbit=5 msel=3 enable=1 mask=0x1f id=0xf");
    }
}

static void headers_there_and_back(void **state)
{
    struct tw_random random = {7};
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct tw_packet_header h = {(uint8_t)tw_random_range(&random, 0, 31), (uint8_t)tw_random_range(&random, 0, 7),
                                     (uint8_t)tw_random_range(&random, 0, 31),
                                     (uint8_t)tw_random_range(&random, 0, 127)};
        uint32_t word = tw_packet_header_encode(&h);
        struct tw_packet_header again = tw_packet_header_decode(word);
        unsigned ones = 0;
        for (unsigned bit = 0; bit < 32; bit++)
            ones += word >> bit & 1;
        assert_int_equal(ones % 2, 1);
        assert_memory_equal(&h, &again, sizeof h);
    }
    assert_int_equal(tw_packet_header_encode(&(struct tw_packet_header){5, 2, 3, 4}), 0x80832005);
}

static void the_shims_switches_to_the_host(void **state)
{
    (void)state;
    assert_int_equal(tw_shim_mux_device(0x4400, tw_shim_mm2s_port(0)), TW_SHIM_DMA);
    assert_int_equal(tw_shim_mux_device(0x4400, tw_shim_mm2s_port(1)), TW_SHIM_DMA);
    assert_int_equal(tw_shim_mux_device(0x4400, 2), TW_SHIM_PL);
    assert_int_equal(tw_shim_mux_device(0x4400, 4), -1);
    assert_int_equal(tw_shim_mux_device(0x2000, 6), TW_SHIM_NOC);
    assert_int_equal(tw_shim_demux_device(0x50, tw_shim_s2mm_port(0)), TW_SHIM_DMA);
    assert_int_equal(tw_shim_demux_device(0x50, tw_shim_s2mm_port(1)), TW_SHIM_DMA);
    assert_int_equal(tw_shim_demux_device(0x50, 0), -1);
    assert_int_equal(tw_shim_demux_device(0x800, 5), TW_SHIM_NOC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_have_the_numbers_of_the_manual),
        cmocka_unit_test(the_table_has_the_same_ports),
        cmocka_unit_test(registers_are_found_by_offset),
        cmocka_unit_test(connections),
        cmocka_unit_test(words_of_compiled_programs),
        cmocka_unit_test(the_table_has_the_same_words),
        cmocka_unit_test(headers_there_and_back),
        cmocka_unit_test(the_shims_switches_to_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
