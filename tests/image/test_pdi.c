/* Reading PDIs. */
#include "image/pdi.h"

#include "base/little_endian.h"
#include "image/damage.h"
#include "image/make_image.h"
#include "image/touch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const unsigned char program[8] = {1, 0, 1, 0, 1, 0, 1, 0};

static struct made small_pdi(void)
{
    struct made cdo = {0}, m = {0};
    make_program_cdo(&cdo, program, sizeof program, 1);
    make_pdi(&m, &cdo);
    made_free(&cdo);
    return m;
}

static void a_pdi_is_read(void **state)
{
    struct made m = small_pdi();
    struct tw_view view = made_view(&m);
    struct tw_pdi pdi;
    struct tw_pdi_image image;
    struct tw_pdi_partition partition;
    (void)state;
    assert_true(tw_pdi_recognise(&view));
    assert_int_equal(tw_pdi_open(&view, &pdi, NULL), 0);
    assert_int_equal(pdi.id_code, 0x14ca8093);
    assert_int_equal(pdi.pdi_id, 0);
    assert_int_equal(pdi.n_images, 1);
    assert_int_equal(pdi.n_partitions, 1);
    tw_pdi_image(&pdi, 0, &image);
    assert_string_equal(image.name, "aie_image");
    assert_int_equal(image.id, 0x1c000000);
    assert_int_equal(image.n_partitions, 1);
    tw_pdi_partition(&pdi, 0, &partition);
    assert_int_equal(partition.attributes, 0x02000006);
    assert_int_equal(partition.data.at, 0x150);
    assert_ptr_equal(partition.data.data, m.data + 0x150);
    assert_int_equal(partition.data.size, 4 * tw_load_u32(m.data + 0xd4));
    made_free(&m);
}

/* The checksums of a published file of 2640 bytes, from the words that it has. */
static void published_checksums(void **state)
{
    struct made m = {0}, cdo = {0};
    (void)state;
    made_zeros(&cdo, 4 * 0x23d);
    make_pdi(&m, &cdo);
    assert_int_equal(m.size, 2640);
    assert_int_equal(tw_load_u32(m.data + 0x8c), 0x9ac12a78);
    assert_int_equal(tw_load_u32(m.data + 0xcc), 0x1d39289c);
    assert_int_equal(tw_load_u32(m.data + 0x14c), 0xfdfff8e9);
    struct tw_view view = made_view(&m);
    assert_int_equal(touch_pdi(&view, NULL), 0);
    made_free(&m);
    made_free(&cdo);
}

static void wrong_headers_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        int signed_, code;
        const char *words;
    } changes[] = {
        {0x04, 0x11223345, 1, TW_E_FORMAT, "no PDI begins here"},
        {0x10, 0x00030000, 1, TW_E_UNSUPPORTED, "version 0x30000"},
        {0x38, 0, 1, TW_E_FORMAT, "identification"},
        {0x8c, 0, 0, TW_E_FORMAT, "checksum of the PDI's image header table"},
        {0xcc, 0, 0, TW_E_FORMAT, "checksum of an image header"},
        {0x14c, 0, 0, TW_E_FORMAT, "checksum of a partition header"},
        {0x14, 0xffffffff, 1, TW_E_FORMAT, "an image header: 4294967295 entries"},
        {0x18, 0xffffffff, 1, TW_E_FORMAT, "an image header: 0x40 bytes"},
        {0x1c, 100, 1, TW_E_FORMAT, "a partition header: 100 entries"},
        {0xd4, 0x10000, 1, TW_E_FORMAT, "more than"},
        {0xd8, 0x10000, 1, TW_E_FORMAT, "the data of a partition: 0x40000 bytes"},
        {0xf0, 0xffffffff, 1, TW_E_FORMAT, "'made', byte 0x3fffffffc: the data of a partition"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct made m = small_pdi();
        tw_store_u32(m.data + changes[i].at, changes[i].value);
        if (changes[i].signed_)
            pdi_sign(m.data);
        damage_refused(&m, touch_pdi, changes[i].code, changes[i].words);
        made_free(&m);
    }
}

/* A PDI with a second partition that has the data of the first. */
static struct made shared_data(size_t bytes)
{
    struct made cdo = {0}, m = {0};
    unsigned char header[128];
    made_zeros(&cdo, bytes);
    make_pdi(&m, &cdo);
    memcpy(header, m.data + 0xd0, sizeof header);
    tw_store_u32(m.data + 0x1c, 2);
    tw_store_u32(m.data + 0x20, (uint32_t)m.size / 4);
    for (int i = 0; i < 2; i++)
        made_bytes(&m, header, sizeof header);
    pdi_sign(m.data);
    made_free(&cdo);
    return m;
}

static void partitions_do_not_share_all(void **state)
{
    struct made m = shared_data(256); /* the headers alone are that large: not too much in all */
    struct tw_view view = made_view(&m);
    (void)state;
    assert_int_equal(touch_pdi(&view, NULL), 0);
    made_free(&m);
    m = shared_data(2048);
    damage_refused(&m, touch_pdi, TW_E_FORMAT, "they overlap");
    made_free(&m);
}

static void damaged_files(void **state)
{
    struct made m = small_pdi();
    (void)state;
    damage_truncate(&m, touch_pdi);
    damage_words(&m, touch_pdi, NULL);
    damage_words(&m, touch_pdi, pdi_sign);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pdi_is_read),
        cmocka_unit_test(published_checksums),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(partitions_do_not_share_all),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
