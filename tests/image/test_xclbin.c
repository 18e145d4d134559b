/* Reading xclbins with their sections. */
#include "image/xclbin.h"

#include "base/little_endian.h"
#include "image/aie_partition.h"
#include "image/damage.h"
#include "image/make_image.h"
#include "image/touch.h"
#include "image/xclbin_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { HEADERS = 0x1c8, N_PDIS = 2 };

static struct made two_pdis(void)
{
    static const char *const contents[N_PDIS] = {"first pdi", "second"};
    struct made pdis[N_PDIS] = {{0}, {0}}, partition = {0}, m = {0};
    for (unsigned i = 0; i < N_PDIS; i++)
        made_bytes(&pdis[i], contents[i], strlen(contents[i]));
    make_partition(&partition, pdis, N_PDIS);
    make_xclbin(&m, &partition);
    for (unsigned i = 0; i < N_PDIS; i++)
        made_free(&pdis[i]);
    made_free(&partition);
    return m;
}

static struct tw_view section_of(const struct made *m, uint32_t i)
{
    struct tw_view view = made_view(m);
    struct tw_xclbin x;
    struct tw_xclbin_section s;
    assert_int_equal(tw_xclbin_open(&view, &x, NULL), 0);
    tw_xclbin_section(&x, i, &s);
    return s.data;
}

static void the_header_and_the_sections(void **state)
{
    static const uint32_t kinds[] = {6, 32, 2, 8, 7};
    static const char *const names[] = {"memories", "", "", "sixteen letters!", ""};
    static const char *const kind_names[] = {"MEM_TOPOLOGY", "AIE_PARTITION", "EMBEDDED_METADATA", "IP_LAYOUT",
                                             "CONNECTIVITY"};
    struct made m = two_pdis();
    struct tw_view view = made_view(&m);
    struct tw_xclbin x;
    (void)state;
    assert_true(tw_xclbin_recognise(&view));
    assert_int_equal(tw_xclbin_open(&view, &x, NULL), 0);
    assert_string_equal(x.platform, "xilinx_v1_ipu_0_0");
    assert_int_equal(x.timestamp, 1700000000);
    assert_int_equal(x.uuid[15], 0x5a);
    assert_int_equal(x.n_sections, 5);
    for (uint32_t i = 0; i < x.n_sections; i++) {
        struct tw_xclbin_section s;
        tw_xclbin_section(&x, i, &s);
        assert_int_equal(s.kind, kinds[i]);
        assert_string_equal(s.name, names[i]);
        assert_string_equal(tw_xclbin_kind_name(s.kind), kind_names[i]);
        assert_int_equal(s.data.at % 8, 0);
        assert_ptr_equal(s.data.data, m.data + s.data.at);
    }
    assert_string_equal(tw_xclbin_kind_name(36), "DTBO");
    assert_string_equal(tw_xclbin_kind_name(37), "?");
    struct tw_view xml = section_of(&m, 2);
    assert_int_equal(xml.size, 10);
    assert_memory_equal(xml.data, "<project/>", 10);
    made_free(&m);
}

static void the_partition(void **state)
{
    static const char *const contents[N_PDIS] = {"first pdi", "second"};
    struct made m = two_pdis();
    struct tw_view section = section_of(&m, 1);
    struct tw_aie_partition p;
    (void)state;
    assert_int_equal(tw_aie_partition_open(&section, &p, NULL), 0);
    assert_string_equal(p.name, "QoS");
    assert_int_equal(p.operations_per_cycle, 8192);
    assert_int_equal(p.columns, 4);
    assert_int_equal(p.n_start_columns, 1);
    assert_int_equal(tw_aie_partition_start(&p, 0), 1);
    assert_int_equal(p.n_pdis, N_PDIS);
    for (uint32_t i = 0; i < N_PDIS; i++) {
        struct tw_aie_pdi pdi;
        struct tw_cdo_group group;
        tw_aie_partition_pdi(&p, i, &pdi);
        assert_int_equal(pdi.uuid[0], 0xa0 + i);
        assert_int_equal(pdi.image.size, strlen(contents[i]));
        assert_memory_equal(pdi.image.data, contents[i], pdi.image.size);
        assert_ptr_equal(pdi.image.data, m.data + pdi.image.at);
        assert_int_equal(pdi.n_groups, 1);
        tw_aie_pdi_group(&pdi, 0, &group);
        assert_string_equal(group.name, "DPU");
        assert_int_equal(group.type, 1);
        assert_int_equal(group.pdi_id, i + 1);
        assert_int_equal(group.n_kernels, 1);
        assert_int_equal(tw_load_u64(group.kernels.data), 0x901 + i);
    }
    made_free(&m);
}

static void the_tables(void **state)
{
    struct made m = two_pdis();
    struct tw_view section = section_of(&m, 0);
    struct tw_table table;
    struct tw_memory memory;
    struct tw_ip ip;
    struct tw_connection connection;
    (void)state;
    assert_int_equal(tw_memories_open(&section, &table, NULL), 0);
    assert_int_equal(table.count, 2);
    tw_memory_read(&table, 1, &memory);
    assert_string_equal(memory.tag, "SRAM");
    assert_int_equal(memory.type, 2);
    assert_int_equal(memory.used, 1);
    assert_int_equal(memory.kib, 0xc000);
    assert_int_equal(memory.base, 0x4000000);

    section = section_of(&m, 3);
    assert_int_equal(tw_ips_open(&section, &table, NULL), 0);
    assert_int_equal(table.count, 1);
    tw_ip_read(&table, 0, &ip);
    assert_string_equal(ip.name, "MLIR_AIE:MLIRAIE");
    assert_int_equal(ip.type, 7);
    assert_int_equal(ip.properties, 0x09010001);
    assert_true(ip.base == UINT64_MAX);

    section = section_of(&m, 4);
    assert_int_equal(tw_connections_open(&section, &table, NULL), 0);
    assert_int_equal(table.count, 3);
    tw_connection_read(&table, 1, &connection);
    assert_int_equal(connection.argument, 3);
    assert_int_equal(connection.ip, 0);
    assert_int_equal(connection.memory, 0);
    made_free(&m);
}

static void wrong_files_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        const char *words;
    } changes[] = {
        {0, 0x6c63786c, "no xclbin begins here"},
        {0x130, 7, "a length of 7 bytes"},
        {0x134, 1, "a length of 4294"},
        {0x1c0, 0x7fffffff, "section headers: 2147483647 entries"},
        {HEADERS + 24, 0xffffff, "MEM_TOPOLOGY"},
        {HEADERS + 32, 0xffffff, "MEM_TOPOLOGY: 0xffffff bytes"},
        {HEADERS + 36, 0xffffffff, "MEM_TOPOLOGY: 0xffffffff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct made m = two_pdis();
        tw_store_u32(m.data + changes[i].at, changes[i].value);
        damage_refused(&m, touch_xclbin, TW_E_FORMAT, changes[i].words);
        made_free(&m);
    }
}

static void wrong_partitions_are_refused(void **state)
{
    static const struct {
        size_t at; /* in the section */
        uint32_t value;
        const char *words;
    } changes[] = {
        {0x04, 0xffffffff, "the partition's name"},
        {0x28, 0x7fffffff, "the start columns"},
        {0x2c, 0xfffffff0, "the start columns"},
        {0x78, 1000, "the list of PDIs: 1000 entries"},
        {0x7c, 0xffff, "the list of PDIs"},
        {0xc8 + 16, 0xffffff, "a PDI: "},
        {0xc8 + 96 + 20, 0xffffffff, "a PDI: "},
        {0xc8 + 24, 99, "the CDO groups of a PDI"},
        {0xc8 + 192, 0xffffffff, "the name of a CDO group"},
        {0xc8 + 192 + 96 + 16, 0x10000000, "the kernels of a CDO group"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct made m = two_pdis();
        tw_store_u32(m.data + section_of(&m, 1).at + changes[i].at, changes[i].value);
        damage_refused(&m, touch_xclbin, TW_E_FORMAT, changes[i].words);
        made_free(&m);
    }
}

/* Changes one word of the section and expects another refusal. */
static void assert_partition_refused(const struct made *partition, size_t at, uint32_t value, int code,
                                     const char *words)
{
    struct made m = {0};
    made_bytes(&m, partition->data, partition->size);
    tw_store_u32(m.data + at, value);
    damage_refused(&m, touch_partition, code, words);
    made_free(&m);
}

static void small_files_ask_for_little(void **state)
{
    enum { MANY = TW_AIE_PDIS_MAX + 1, LIST = 0xc8 };
    static struct made pdis[MANY];
    struct made partition = {0};
    (void)state;
    made_bytes(&pdis[0], "pdi", 3);
    make_partition(&partition, pdis, MANY);
    damage_refused(&partition, touch_partition, TW_E_LIMIT, "257 PDIs; at most 256");
    tw_store_u32(partition.data + 0x78, MANY - 1);
    struct tw_view view = made_view(&partition);
    assert_int_equal(touch_partition(&view, NULL), 0);
    assert_partition_refused(&partition, LIST + 24, TW_CDO_GROUPS_MAX + 1, TW_E_LIMIT, "257 groups");
    tw_store_u32(partition.data + LIST + 16, (uint32_t)partition.size); /* the first takes the whole section */
    tw_store_u32(partition.data + LIST + 20, 0);
    assert_int_equal(touch_partition(&view, NULL), 0);
    assert_partition_refused(&partition, LIST + 96 + 16, 1, TW_E_FORMAT, "they overlap");
    made_free(&partition);
    made_free(&pdis[0]);
}

static void damaged_files(void **state)
{
    static damage_read *const readers[] = {touch_memories, touch_partition, NULL, touch_ips, touch_connections};
    struct made m = two_pdis();
    (void)state;
    damage_truncate(&m, touch_xclbin);
    damage_words(&m, touch_xclbin, NULL);
    for (uint32_t i = 0; i < 5; i++) {
        struct tw_view section = section_of(&m, i);
        struct made part = {0};
        if (readers[i] == NULL)
            continue;
        made_bytes(&part, section.data, section.size);
        damage_words(&part, readers[i], NULL);
        if (readers[i] != touch_partition)
            damage_truncate(&part, readers[i]);
        made_free(&part);
    }
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_and_the_sections),
        cmocka_unit_test(the_partition),
        cmocka_unit_test(the_tables),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(wrong_partitions_are_refused),
        cmocka_unit_test(small_files_ask_for_little),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
