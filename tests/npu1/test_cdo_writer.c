/* Writing CDOs: the reader gives back what was written, and data is aligned. */
#include "npu1/cdo_writer.h"

#include "base/little_endian.h"
#include "base/random.h"
#include "npu1/cdo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void words_are_those_of_the_format(void **state)
{
    static const uint32_t expected[] = {4,        0x4f4443,  0x200, 12,      ~(4u + 0x4f4443 + 0x200 + 12),
                                        0x30102,  0x232000,  1,     0,       0x20103,
                                        0x21f000, 2,         0x111, 0x30105, 0,
                                        0x200444, 0x12345678};
    struct tw_cdo_writer w;
    unsigned char *bytes;
    size_t size;
    (void)state;
    tw_cdo_writer_begin(&w);
    tw_cdo_writer_mask_write(&w, 0x232000, 1, 0);
    tw_cdo_writer_write(&w, 0x21f000, 2);
    tw_cdo_writer_dma_write(&w, 0x200444, "\x78\x56\x34\x12", 1);
    assert_int_equal(tw_cdo_writer_finish(&w, &bytes, &size, NULL), 0);
    /* The NOP of one word brings the data to byte 64. */
    assert_int_equal(size, sizeof expected);
    for (size_t i = 0; i < size / 4; i++)
        assert_int_equal(tw_load_u32(bytes + 4 * i), expected[i]);
    free(bytes);
}

static void one_command(struct tw_cdo_writer *w, struct tw_random *random, const unsigned char *data)
{
    uint32_t address = (uint32_t)tw_random_u64(random), value = (uint32_t)tw_random_u64(random);
    switch (tw_random_range(random, 0, 2)) {
    case 0:
        tw_cdo_writer_write(w, address, value);
        break;
    case 1:
        tw_cdo_writer_mask_write(w, address, value, ~value);
        break;
    default:
        tw_cdo_writer_dma_write(w, address, data, value % 300);
    }
}

static void check_command(const struct tw_cdo_command *c, struct tw_random *random, const unsigned char *data,
                          const unsigned char *begin)
{
    uint32_t address = (uint32_t)tw_random_u64(random), value = (uint32_t)tw_random_u64(random);
    assert_true(c->address == address);
    switch (tw_random_range(random, 0, 2)) {
    case 0:
        assert_int_equal(c->id, TW_CDO_WRITE);
        assert_int_equal(c->value, value);
        break;
    case 1:
        assert_int_equal(c->id, TW_CDO_MASK_WRITE);
        assert_int_equal(c->mask, value);
        assert_int_equal(c->value, ~value);
        break;
    default:
        assert_int_equal(c->id, TW_CDO_DMA_WRITE);
        assert_int_equal(c->n_words, value % 300);
        assert_int_equal((c->words.data - begin) % 16, 0);
        assert_memory_equal(c->words.data, data, c->words.size);
    }
}

/* Lengths around 255 words, where the long form begins, are among them. */
static void what_is_written_is_read(void **state)
{
    unsigned char data[1200];
    struct tw_random random = {5};
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)tw_random_u64(&random);
    struct tw_random again = random;
    struct tw_cdo_writer w;
    unsigned char *bytes;
    size_t size, at = 0;
    tw_cdo_writer_begin(&w);
    for (unsigned i = 0; i < 1000; i++)
        one_command(&w, &random, data);
    assert_int_equal(tw_cdo_writer_finish(&w, &bytes, &size, NULL), 0);
    struct tw_view view = {bytes, size, "made", 0};
    struct tw_cdo cdo;
    struct tw_cdo_command c;
    unsigned n = 0;
    assert_int_equal(tw_cdo_open(&view, &cdo, NULL), 0);
    while (tw_cdo_next(&cdo, &at, &c, NULL) == 1)
        if (c.id != TW_CDO_NOP) {
            check_command(&c, &again, data, bytes);
            n++;
        }
    assert_int_equal(n, 1000);
    free(bytes);
}

/* Where the length no longer fits the command's word: 255 words of payload, two of them the address. */
static void the_long_form_begins_in_time(void **state)
{
    static const unsigned char data[4 * 254] = {1};
    (void)state;
    for (size_t n = 252; n <= 254; n++) {
        struct tw_cdo_writer w;
        struct tw_cdo cdo;
        struct tw_cdo_command c = {0};
        unsigned char *bytes;
        size_t size, at = 0;
        tw_cdo_writer_begin(&w);
        tw_cdo_writer_dma_write(&w, 0x200000, data, n);
        assert_int_equal(tw_cdo_writer_finish(&w, &bytes, &size, NULL), 0);
        struct tw_view view = {bytes, size, "made", 0};
        assert_int_equal(tw_cdo_open(&view, &cdo, NULL), 0);
        do
            assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 1);
        while (c.id == TW_CDO_NOP);
        assert_int_equal(c.n_words, n);
        assert_int_equal((c.words.data - bytes) % 16, 0);
        assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 0);
        free(bytes);
    }
}

static void lists_of_bytes(void **state)
{
    struct tw_byte_list list = {0};
    (void)state;
    tw_byte_list_add(&list, "abc", 3);
    tw_byte_list_align(&list, 8);
    tw_byte_list_align(&list, 8);
    assert_int_equal(list.size, 8);
    tw_byte_list_word(&list, 0x04030201);
    tw_byte_list_zeros(&list, 10000);
    tw_byte_list_set_u64(&list, 12, 0x0807060504030201);
    tw_byte_list_set(&list, 0, "x", 1);
    assert_int_equal(list.size, 10012);
    assert_memory_equal(list.bytes, "xbc\0\0\0\0\0\1\2\3\4\1\2\3\4\5\6\7\10\0", 21);
    tw_byte_list_zeros(&list, SIZE_MAX);
    assert_true(list.failed);
    tw_byte_list_word(&list, 1);
    assert_int_equal(list.size, 10012);
    tw_byte_list_free(&list);
    assert_null(list.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_the_format),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_long_form_begins_in_time),
        cmocka_unit_test(lists_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
