/* Reading CDOs: every command in both forms, and everything that must be refused. */
#include "npu1/cdo.h"

#include "base/little_endian.h"
#include "npu1/make_cdo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct expected {
    unsigned id;
    uint32_t n;
    uint32_t payload[8];
    const char *name;
    uint64_t address;
    uint32_t mask, value, n_words;
} commands[] = {
    {0x111, 0, {0}, "NOP", 0, 0, 0, 0},
    {0x111, 2, {7, 8}, "NOP", 0, 0, 0, 0},
    {0x101, 4, {0x232004, 1, 2, 1000}, "MASK_POLL", 0x232004, 1, 2, 0},
    {0x101, 5, {0x232004, 1, 2, 1000, 9}, "MASK_POLL", 0x232004, 1, 2, 0},
    {0x102, 3, {0x232000, 3, 1}, "MASK_WRITE", 0x232000, 3, 1, 1},
    {0x103, 2, {0x21f000, 5}, "WRITE", 0x21f000, 0, 5, 1},
    {0x104, 1, {77}, "DELAY", 0, 0, 77, 0},
    {0x105, 2, {0, 0x200444}, "DMA_WRITE", 0x200444, 0, 0, 0},
    {0x105, 5, {0, 0x200444, 1, 2, 3}, "DMA_WRITE", 0x200444, 0, 0, 3},
    {0x106, 5, {1, 0x232004, 1, 2, 1000}, "MASK_POLL64", 0x100232004, 1, 2, 0},
    {0x107, 4, {1, 0x232000, 3, 1}, "MASK_WRITE64", 0x100232000, 3, 1, 1},
    {0x108, 3, {0, 0x232000, 6}, "WRITE64", 0x232000, 0, 6, 1},
    {0x109, 6, {0, 0x10, 0, 0x220000, 12, 0}, "DMA_XFER", 0x220000, 0, 0, 12},
    {0x10a, 1, {1}, "INIT_SEQ", 0, 0, 0, 0},
    {0x10b, 0, {0}, "CFI_READ", 0, 0, 0, 0},
    {0x10c, 4, {0, 0x220000, 100, 0xa5}, "SET", 0x220000, 0, 0xa5, 100},
    {0x10d, 4, {0, 0x220000, 5, 6}, "DMA_WRITE_KEYHOLE", 0x220000, 0, 0, 2},
    {0x119, 2, {0x6c6c6568, 0x6f}, "MARKER", 0, 0, 0, 0},
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

static struct made all_commands(void)
{
    struct made m = {0};
    cdo_begin(&m);
    for (size_t i = 0; i < N_COMMANDS; i++)
        cdo_command(&m, commands[i].id, commands[i].payload, commands[i].n);
    cdo_end(&m, 0);
    return m;
}

static void every_command_is_read(void **state)
{
    struct made m = all_commands();
    struct tw_view view = made_view(&m);
    struct tw_cdo cdo;
    struct tw_cdo_command c;
    size_t at = 0;
    (void)state;

    assert_true(tw_cdo_recognise(&view));
    assert_int_equal(tw_cdo_open(&view, &cdo, NULL), 0);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const struct expected *e = &commands[i];
        size_t before = at;
        assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 1);
        assert_int_equal(c.id, e->id);
        assert_string_equal(c.name, e->name);
        assert_int_equal(c.offset, before);
        assert_int_equal(at, before + 4 + 4 * e->n);
        assert_true(c.address == e->address);
        assert_int_equal(c.mask, e->mask);
        assert_int_equal(c.value, e->value);
        assert_int_equal(c.n_words, e->n_words);
        size_t skipped = e->id == 0x105 || e->id == 0x10d ? 2 : 0;
        assert_int_equal(c.words.size, 4 * (e->n - skipped));
        assert_int_equal(c.words.at, 20 + before + 4 + 4 * skipped);
        for (size_t w = skipped; w < e->n; w++)
            assert_int_equal(tw_load_u32(c.words.data + 4 * (w - skipped)), e->payload[w]);
    }
    assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 0);
    made_free(&m);
}

static void long_commands_have_a_length_of_their_own(void **state)
{
    (void)state;
    for (uint32_t n = 250; n < 260; n++) {
        struct made m = {0};
        unsigned char data[4 * 260] = {0};
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (unsigned char)(i * 7);
        cdo_begin(&m);
        cdo_dma_write(&m, 0x220000, data, 4 * (size_t)n);
        CDO(&m, TW_CDO_WRITE, 1, 2);
        cdo_end(&m, 0);
        struct tw_view view = made_view(&m);
        struct tw_cdo cdo;
        struct tw_cdo_command c;
        size_t at = 0;
        assert_int_equal(tw_cdo_open(&view, &cdo, NULL), 0);
        assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 1);
        assert_int_equal(c.n_words, n);
        assert_memory_equal(c.words.data, data, 4 * n);
        assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 1);
        assert_int_equal(c.id, TW_CDO_WRITE);
        assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 0);
        made_free(&m);
    }
}

static void an_end_mark_ends_it(void **state)
{
    struct made m = {0};
    struct tw_cdo cdo;
    struct tw_cdo_command c;
    size_t at = 0;
    (void)state;
    cdo_begin(&m);
    cdo_command(&m, TW_CDO_END_MARK, NULL, 0);
    made_word(&m, 0xffffffff); /* no command */
    cdo_end(&m, 0);
    struct tw_view view = made_view(&m);
    assert_int_equal(tw_cdo_open(&view, &cdo, NULL), 0);
    assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 1);
    assert_int_equal(c.id, TW_CDO_END_MARK);
    assert_int_equal(tw_cdo_next(&cdo, &at, &c, NULL), 0);
    made_free(&m);
}

/* Reads all of a CDO; the code of what fails, or 0. */
static int read_all(struct tw_view view, struct tw_error *err)
{
    struct tw_cdo cdo;
    struct tw_cdo_command c;
    size_t at = 0;
    int code = tw_cdo_open(&view, &cdo, err);
    if (code < 0)
        return code;
    while ((code = tw_cdo_next(&cdo, &at, &c, err)) == 1)
        assert_true(at <= cdo.commands.size);
    return code;
}

static void assert_refused(const struct made *m, int code, const char *words)
{
    struct tw_error err = {0};
    assert_int_equal(read_all(made_view(m), &err), code);
    if (strstr(err.text, "'made', byte 0x") != err.text || strstr(err.text, words) == NULL)
        fail_msg("no '%s' in: %s", words, err.text);
}

static void wrong_headers_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        int code;
        const char *words;
    } changes[] = {
        {0, 5, TW_E_FORMAT, "no CDO begins here"},
        {4, 0x4f4444, TW_E_FORMAT, "no CDO begins here"},
        {8, 0x300, TW_E_UNSUPPORTED, "version 0x300"},
        {12, 4, TW_E_FORMAT, "checksum"},
        {16, 0, TW_E_FORMAT, "checksum"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct made m = {0};
        cdo_begin(&m);
        CDO(&m, TW_CDO_WRITE, 1, 2);
        cdo_end(&m, 0);
        tw_store_u32(m.data + changes[i].at, changes[i].value);
        assert_refused(&m, changes[i].code, changes[i].words);
        made_free(&m);
    }
}

static void only_padding_may_follow(void **state)
{
    (void)state;
    for (size_t zeros = 0; zeros <= 16; zeros += 4) {
        struct made m = {0};
        cdo_begin(&m);
        CDO(&m, TW_CDO_WRITE, 1, 2);
        cdo_end(&m, 0);
        made_zeros(&m, zeros);
        if (zeros < 16)
            assert_int_equal(read_all(made_view(&m), NULL), 0);
        else
            assert_refused(&m, TW_E_FORMAT, "not only padding");
        if (zeros > 0) {
            m.data[m.size - 1] = 1;
            assert_refused(&m, TW_E_FORMAT, "not only padding");
        }
        made_free(&m);
    }
}

static void wrong_commands_are_refused(void **state)
{
    static const struct {
        uint32_t n, words[4];
        const char *text;
    } wrong[] = {
        {1, {0x110}, "there is no CDO command 0x110"},
        {1, {0}, "there is no CDO command 0x0"},
        {3, {0x01020103, 1, 2}, "there is no CDO command 0x1020103"},
        {2, {0x010103, 1}, "WRITE has 1 words of payload, exactly 2"},
        {4, {0x030103, 1, 2, 3}, "WRITE has 3 words of payload, exactly 2"},
        {3, {0x020102, 1, 2}, "MASK_WRITE has 2"},
        {2, {0x010105, 0}, "DMA_WRITE has 1 words of payload, at least 2"},
        {3, {0x030105, 0, 1}, "DMA_WRITE: 0xc bytes"},
        {1, {0xff0105}, "the length of a CDO command"},
        {4, {0xff0105, 0xffffffff, 0, 0}, "DMA_WRITE: 4294967295 entries"},
        {4, {0xff0105, 0x40000001, 0, 0}, "DMA_WRITE: 1073741825 entries"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct made m = {0};
        cdo_begin(&m);
        for (uint32_t w = 0; w < wrong[i].n; w++)
            made_word(&m, wrong[i].words[w]);
        cdo_end(&m, 0);
        assert_refused(&m, TW_E_FORMAT, wrong[i].text);
        made_free(&m);
    }
}

static void a_cdo_that_is_cut_short_is_refused(void **state)
{
    struct made m = all_commands();
    (void)state;
    for (size_t size = 0; size < m.size; size++) {
        struct tw_error err = {0};
        unsigned char *copy = malloc(size + 1); /* ends where the view ends, for sanitizers */
        assert_non_null(copy);
        memcpy(copy + 1, m.data, size);
        assert_true(read_all((struct tw_view){copy + 1, size, "made", 0}, &err) < 0);
        assert_true(err.text[0] != '\0');
        free(copy);
    }
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_read),
        cmocka_unit_test(long_commands_have_a_length_of_their_own),
        cmocka_unit_test(an_end_mark_ends_it),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(only_padding_may_follow),
        cmocka_unit_test(wrong_commands_are_refused),
        cmocka_unit_test(a_cdo_that_is_cut_short_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
