/* Writing PDIs and xclbins: the words of published files, and what the readers say of ours. */
#include "image/xclbin_write.h"

#include "base/little_endian.h"
#include "image/aie_partition.h"
#include "image/damage.h"
#include "image/kernel_metadata.h"
#include "image/make_image.h"
#include "image/touch.h"
#include "image/xclbin_tables.h"
#include "npu1/cdo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Words that are not zero in the headers of a published PDI of 2640 bytes, by offset. */
static const uint32_t published[][2] = {
    {0x000, 0x000000dd}, {0x004, 0x11223344}, {0x008, 0x55667788}, {0x00c, 0x99aabbcc}, {0x010, 0x00040000},
    {0x014, 0x00000001}, {0x018, 0x00000024}, {0x01c, 0x00000001}, {0x020, 0x00000034}, {0x028, 0x14ca8093},
    {0x038, 0x50504449}, {0x03c, 0x00201020}, {0x040, 0x00000030}, {0x054, 0x00000001}, {0x08c, 0x9ac12a78},
    {0x090, 0x00000034}, {0x094, 0x00000001}, {0x0a0, 0x5f656961}, {0x0a4, 0x67616d69}, {0x0a8, 0x00000065},
    {0x0b0, 0x1c000000}, {0x0c8, 0xffffffff}, {0x0cc, 0x1d39289c}, {0x0d0, 0x00000240}, {0x0d4, 0x0000023d},
    {0x0d8, 0x00000240}, {0x0e8, 0xffffffff}, {0x0ec, 0xffffffff}, {0x0f0, 0x00000054}, {0x0f4, 0x02000006},
    {0x0f8, 0x00000001}, {0x14c, 0xfdfff8e9},
};

/* A CDO of as many words as the published file's, which is one long NOP. */
static struct made long_cdo(void)
{
    struct made m = {0};
    cdo_begin(&m);
    made_word(&m, 0xff0111);
    made_word(&m, 0x236);
    made_zeros(&m, (size_t)4 * 0x236);
    cdo_end(&m, 0);
    return m;
}

static void a_pdi_has_the_published_words(void **state)
{
    struct made cdo = long_cdo();
    struct tw_view view = made_view(&cdo);
    unsigned char *bytes;
    size_t size, next = 0;
    (void)state;
    assert_int_equal(tw_load_u32(cdo.data + 12), 0x238);
    assert_int_equal(tw_load_u32(cdo.data + 16), 0xffb0b780);
    assert_int_equal(tw_pdi_write(&view, &bytes, &size, NULL), 0);
    assert_int_equal(size, 2640);
    for (uint32_t at = 0; at < 0x150; at += 4) {
        int listed = next < sizeof published / sizeof published[0] && published[next][0] == at;
        assert_int_equal(tw_load_u32(bytes + at), listed ? published[next][1] : 0);
        next += (size_t)listed;
    }
    assert_memory_equal(bytes + 0x150, cdo.data, cdo.size);
    for (size_t at = 0x150 + cdo.size; at < size; at++)
        assert_int_equal(bytes[at], 0);
    free(bytes);
    made_free(&cdo);
}

/* The one made by hand for the tests of the reader. */
static void a_pdi_is_that_made_by_hand(void **state)
{
    (void)state;
    for (unsigned words = 1; words < 6; words++) {
        struct made cdo = {0}, expected = {0};
        unsigned char program[24] = {1}, *bytes;
        size_t size;
        make_program_cdo(&cdo, program, (size_t)4 * words, 2);
        make_pdi(&expected, &cdo);
        struct tw_view view = made_view(&cdo);
        assert_int_equal(tw_pdi_write(&view, &bytes, &size, NULL), 0);
        assert_int_equal(size, expected.size);
        assert_memory_equal(bytes, expected.data, size);
        free(bytes);
        made_free(&cdo);
        made_free(&expected);
    }
}

static int write_pdi(const struct tw_view *cdo, struct tw_error *err)
{
    unsigned char *bytes;
    size_t size;
    int code = tw_pdi_write(cdo, &bytes, &size, err);
    if (code == 0)
        free(bytes);
    return code;
}

static void what_is_no_cdo_is_refused(void **state)
{
    struct made cdo = {0};
    (void)state;
    make_program_cdo(&cdo, "abcd", 4, 1);
    cdo.data[5] = 0;
    damage_refused(&cdo, write_pdi, TW_E_FORMAT, "no CDO begins here");
    made_free(&cdo);
}

static const char *const buffers[] = {"in", "weights", "out"};

static struct made small_pdi(void)
{
    struct made cdo = {0}, pdi = {0};
    make_program_cdo(&cdo, "abcd", 4, 2);
    make_pdi(&pdi, &cdo);
    made_free(&cdo);
    return pdi;
}

static struct tw_xclbin_contents contents_of(const struct made *pdi)
{
    return (struct tw_xclbin_contents){.pdi = made_view(pdi),
                                       .columns = 4,
                                       .kernel = "TILEWRIGHT",
                                       .instance = "one",
                                       .kernel_id = TW_KERNEL_ID,
                                       .buffers = buffers,
                                       .n_buffers = 3,
                                       .timestamp = 1700000000};
}

/* The sections of a written xclbin by kind. */
static struct tw_view section_of(const struct tw_xclbin *x, uint32_t kind)
{
    struct tw_xclbin_section s = {0};
    for (uint32_t i = 0; i < x->n_sections; i++) {
        tw_xclbin_section(x, i, &s);
        if (s.kind == kind)
            return s.data;
    }
    fail_msg("no section of kind %u", kind);
    return s.data;
}

static void check_metadata(const struct tw_xclbin *x)
{
    struct tw_view section = section_of(x, TW_XCLBIN_EMBEDDED_METADATA);
    struct tw_kernel_metadata m;
    assert_int_equal(tw_kernel_metadata_read(&section, &m, NULL), 0);
    const struct tw_kernel *k = tw_kernel_find(&m, "TILEWRIGHT");
    assert_non_null(k);
    assert_string_equal(k->instance, "one");
    assert_true(k->dpu_id == TW_KERNEL_ID);
    assert_int_equal(k->n_arguments, 6);
    assert_string_equal(k->arguments[2].name, "ninstr");
    assert_string_equal(k->arguments[4].name, "weights");
    assert_int_equal(k->arguments[5].offset, 0x24);
    assert_true(k->arguments[5].is_buffer);
    tw_kernel_metadata_free(&m);
}

static void check_partition(const struct tw_xclbin *x, const struct made *pdi)
{
    struct tw_view section = section_of(x, TW_XCLBIN_AIE_PARTITION);
    struct tw_aie_partition p;
    struct tw_aie_pdi first;
    struct tw_cdo_group group;
    assert_int_equal(tw_aie_partition_open(&section, &p, NULL), 0);
    assert_int_equal(p.columns, 4);
    assert_int_equal(p.n_start_columns, 1);
    assert_int_equal(tw_aie_partition_start(&p, 0), 1);
    assert_int_equal(p.n_pdis, 1);
    tw_aie_partition_pdi(&p, 0, &first);
    assert_int_equal(first.image.size, pdi->size);
    assert_memory_equal(first.image.data, pdi->data, pdi->size);
    tw_aie_pdi_group(&first, 0, &group);
    assert_string_equal(group.name, "DPU");
    assert_int_equal(group.type, 1);
    assert_int_equal(tw_load_u64(group.kernels.data), TW_KERNEL_ID);
}

static void check_tables(const struct tw_xclbin *x)
{
    struct tw_view memories = section_of(x, TW_XCLBIN_MEM_TOPOLOGY), ips = section_of(x, TW_XCLBIN_IP_LAYOUT);
    struct tw_view connections = section_of(x, TW_XCLBIN_CONNECTIVITY);
    struct tw_table table;
    struct tw_memory memory;
    struct tw_ip ip;
    struct tw_connection connection;
    assert_int_equal(tw_memories_open(&memories, &table, NULL), 0);
    assert_int_equal(table.count, 2);
    tw_memory_read(&table, 1, &memory);
    assert_string_equal(memory.tag, "SRAM");
    assert_int_equal(memory.type, 2);
    assert_int_equal(memory.used, 1);
    assert_int_equal(memory.kib, 0xc000);
    assert_int_equal(tw_ips_open(&ips, &table, NULL), 0);
    tw_ip_read(&table, 0, &ip);
    assert_string_equal(ip.name, "TILEWRIGHT:one");
    assert_int_equal(ip.properties, 0x09010001);
    assert_int_equal(tw_connections_open(&connections, &table, NULL), 0);
    assert_int_equal(table.count, 4);
    tw_connection_read(&table, 0, &connection);
    assert_int_equal(connection.argument, 1);
    assert_int_equal(connection.memory, 1);
    tw_connection_read(&table, 3, &connection);
    assert_int_equal(connection.argument, 5);
    assert_int_equal(connection.memory, 0);
    struct tw_view groups = section_of(x, TW_XCLBIN_GROUP_CONNECTIVITY);
    assert_int_equal(tw_connections_open(&groups, &table, NULL), 0);
    assert_int_equal(table.count, 8);
    tw_connection_read(&table, 7, &connection);
    assert_int_equal(connection.argument, 5);
}

static void a_written_xclbin_is_read(void **state)
{
    static const uint32_t order[] = {6, 32, 2, 8, 7, 27, 26};
    struct made pdi = small_pdi();
    struct tw_xclbin_contents contents = contents_of(&pdi);
    struct tw_xclbin x;
    struct tw_error err = {0};
    unsigned char *bytes;
    size_t size;
    (void)state;
    assert_int_equal(tw_xclbin_write(&contents, &bytes, &size, NULL), 0);
    struct tw_view view = {bytes, size, "made", 0};
    assert_int_equal(touch_xclbin(&view, &err), 0);
    assert_int_equal(tw_xclbin_open(&view, &x, NULL), 0);
    assert_int_equal(x.n_sections, 7);
    assert_true(x.timestamp == 1700000000);
    for (uint32_t i = 0; i < 7; i++) {
        struct tw_xclbin_section s;
        tw_xclbin_section(&x, i, &s);
        assert_int_equal(s.kind, order[i]);
        assert_int_equal(s.data.at % 8, 0);
    }
    check_metadata(&x);
    check_partition(&x, &pdi);
    check_tables(&x);
    free(bytes);
    made_free(&pdi);
}

/* Different contents have different uuids, the same ones the same. */
static void uuids(void **state)
{
    struct made pdi = small_pdi();
    unsigned char first[TW_UUID_BYTES], again[TW_UUID_BYTES], other[TW_UUID_BYTES];
    unsigned char *const to[] = {first, again, other};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tw_xclbin_contents contents = contents_of(&pdi);
        struct tw_xclbin x;
        unsigned char *bytes;
        size_t size;
        contents.columns = i == 2 ? 3 : 4;
        assert_int_equal(tw_xclbin_write(&contents, &bytes, &size, NULL), 0);
        struct tw_view view = {bytes, size, "made", 0};
        assert_int_equal(tw_xclbin_open(&view, &x, NULL), 0);
        memcpy(to[i], x.uuid, TW_UUID_BYTES);
        free(bytes);
    }
    assert_memory_equal(first, again, TW_UUID_BYTES);
    assert_memory_not_equal(first, other, TW_UUID_BYTES);
    made_free(&pdi);
}

static void start_columns(void **state)
{
    static const unsigned counts[] = {4, 3, 2, 1, 1};
    struct made pdi = small_pdi();
    (void)state;
    for (unsigned columns = 1; columns <= 5; columns++) {
        struct tw_xclbin_contents contents = contents_of(&pdi);
        struct tw_xclbin x;
        struct tw_aie_partition p;
        unsigned char *bytes;
        size_t size;
        contents.columns = columns;
        assert_int_equal(tw_xclbin_write(&contents, &bytes, &size, NULL), 0);
        struct tw_view view = {bytes, size, "made", 0};
        assert_int_equal(tw_xclbin_open(&view, &x, NULL), 0);
        struct tw_view section = section_of(&x, TW_XCLBIN_AIE_PARTITION);
        assert_int_equal(tw_aie_partition_open(&section, &p, NULL), 0);
        assert_int_equal(p.n_start_columns, counts[columns - 1]);
        assert_int_equal(tw_aie_partition_start(&p, 0), columns < 5);
        free(bytes);
    }
    made_free(&pdi);
}

static void refused(const struct tw_xclbin_contents *contents, const char *words)
{
    struct tw_error err = {0};
    unsigned char *bytes;
    size_t size;
    assert_true(tw_xclbin_write(contents, &bytes, &size, &err) < 0);
    if (strstr(err.text, words) == NULL)
        fail_msg("no '%s' in: %s", words, err.text);
}

static void what_cannot_be_written_is_refused(void **state)
{
    struct made pdi = small_pdi();
    const struct tw_xclbin_contents good = contents_of(&pdi);
    struct tw_xclbin_contents c = good;
    static const char *const bad[] = {"a\"b"};
    (void)state;
    c.columns = 6;
    refused(&c, "6 columns");
    c = good;
    c.kernel_id = 0;
    refused(&c, "id takes 1 to 4095");
    c = good;
    c.kernel = "a:b";
    refused(&c, "'a:b'");
    c.kernel = "0123456789012345678901234567890123456789012345678901234567890123";
    refused(&c, "less than");
    c = good;
    c.buffers = bad;
    c.n_buffers = 1;
    refused(&c, "no name for a buffer");
    c = good;
    c.n_buffers = 62;
    refused(&c, "62 buffers");
    c = good;
    c.pdi.size = 100;
    refused(&c, "image header table");
    made_free(&pdi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pdi_has_the_published_words),
        cmocka_unit_test(a_pdi_is_that_made_by_hand),
        cmocka_unit_test(what_is_no_cdo_is_refused),
        cmocka_unit_test(a_written_xclbin_is_read),
        cmocka_unit_test(uuids),
        cmocka_unit_test(start_columns),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
