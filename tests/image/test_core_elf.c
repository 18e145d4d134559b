/* Reading and writing core ELF files. */
#include "image/core_elf.h"

#include "base/little_endian.h"
#include "image/damage.h"
#include "image/make_image.h"
#include "image/touch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const unsigned char program[16] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0};

static struct made small_elf(void)
{
    struct made m = {0};
    make_elf(&m, program, sizeof program);
    return m;
}

static void a_file_is_read(void **state)
{
    struct made m = small_elf();
    struct tw_view view = made_view(&m);
    struct tw_core_elf elf;
    struct tw_elf_symbol symbol;
    (void)state;
    assert_true(tw_elf_recognise(&view));
    assert_int_equal(tw_core_elf_open(&view, &elf, NULL), 0);
    assert_int_equal(elf.n_segments, 2);
    assert_true(tw_elf_is_program(&elf.segments[0]));
    assert_int_equal(elf.segments[0].address, 0);
    assert_int_equal(elf.segments[0].bytes, sizeof program);
    assert_ptr_equal(elf.segments[0].data.data, m.data + ELF_FIRST_DATA);
    assert_int_equal(elf.segments[0].data.at, ELF_FIRST_DATA);
    assert_false(tw_elf_is_program(&elf.segments[1]));
    assert_int_equal(elf.segments[1].address, 0x70400);
    assert_int_equal(elf.segments[1].bytes, 8);
    assert_int_equal(elf.segments[1].data.size, 4);
    assert_memory_equal(elf.segments[1].data.data, "data", 4);
    assert_int_equal(elf.n_symbols, 2);
    tw_core_elf_symbol(&elf, 1, &symbol);
    assert_string_equal(symbol.name, "main");
    assert_int_equal(symbol.value, 0);
    assert_int_equal(symbol.size, sizeof program);
    assert_int_equal(symbol.kind, TW_ELF_FUNCTION);
    assert_true(symbol.global);
    made_free(&m);
}

static void segments_come_by_address(void **state)
{
    struct made m = small_elf();
    struct tw_view view = made_view(&m);
    struct tw_core_elf elf;
    unsigned char first[32];
    (void)state;
    memcpy(first, m.data + ELF_PROGRAM_HEADERS, 32);
    memcpy(m.data + ELF_PROGRAM_HEADERS, m.data + ELF_DATA_HEADER, 32);
    memcpy(m.data + ELF_DATA_HEADER, first, 32);
    assert_int_equal(tw_core_elf_open(&view, &elf, NULL), 0);
    assert_int_equal(elf.segments[0].address, 0);
    assert_int_equal(elf.segments[1].address, 0x70400);
    tw_store_u32(m.data + ELF_PROGRAM_HEADERS, 6); /* none to load */
    tw_store_u32(m.data + ELF_DATA_HEADER + 16, 0);
    tw_store_u32(m.data + ELF_DATA_HEADER + 20, 0); /* nothing in it */
    assert_int_equal(tw_core_elf_open(&view, &elf, NULL), 0);
    assert_int_equal(elf.n_segments, 0);
    made_free(&m);
}

static void wrong_files_are_refused(void **state)
{
    enum { PROGRAM = ELF_PROGRAM_HEADERS, DATA = ELF_DATA_HEADER };
    static const struct {
        size_t at;
        uint32_t value;
        int code;
        const char *words;
    } changes[] = {
        {0, 0x464c4580, TW_E_FORMAT, "no ELF file begins here"},
        {4, 0x00010102, TW_E_UNSUPPORTED, "2, 1 and 1"},
        {4, 0x00010201, TW_E_UNSUPPORTED, "1, 2 and 1"},
        {16, 2 | 62 << 16, TW_E_UNSUPPORTED, "machine 62"},
        {16, 1 | 264 << 16, TW_E_UNSUPPORTED, "type 1, not a linked program"},
        {36, 1, TW_E_UNSUPPORTED, "flags 1"},
        {28, 0xfffffff0, TW_E_FORMAT, "program headers"},
        {32, 0xfffffff0, TW_E_FORMAT, "section headers"},
        {40, 52 | 33 << 16, TW_E_FORMAT, "program headers have 33 bytes each instead of 32"},
        {44, 0xffff | 40 << 16, TW_E_FORMAT, "program headers: 65535 entries"},
        {44, 2 | 41 << 16, TW_E_FORMAT, "section headers have 41 bytes each instead of 40"},
        {48, 0xffff, TW_E_FORMAT, "section headers: 65535 entries"},
        {PROGRAM + 4, 0xffffffff, TW_E_FORMAT, "a segment: 0x10 bytes"},
        {PROGRAM + 8, 0x3ff4, TW_E_FORMAT, "0x3ff4 to 0x4004 does not fit into program memory"},
        {PROGRAM + 8, 0x20000, TW_E_FORMAT, "does not fit into program memory"},
        {PROGRAM + 16, 17, TW_E_FORMAT, "0x11 bytes in the file, more than the 0x10 in memory"},
        {PROGRAM + 20, 0xffffffff, TW_E_FORMAT, "does not fit into program memory"},
        {DATA + 8, 0x3fffc, TW_E_FORMAT, "does not fit into program memory"},
        {DATA + 8, 0x4fffc, TW_E_FORMAT, "0x4fffc to 0x50004 does not lie in one window"},
        {DATA + 8, 0x7fffc, TW_E_FORMAT, "does not lie in one window"},
        {DATA + 8, 0x80000, TW_E_FORMAT, "does not lie in one window"},
        {DATA + 8, 0xfffffffc, TW_E_FORMAT, "does not lie in one window"},
        {DATA + 8, 12, TW_E_FORMAT, "two segments overlap"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct made m = small_elf();
        tw_store_u32(m.data + changes[i].at, changes[i].value);
        damage_refused(&m, touch_elf, changes[i].code, changes[i].words);
        made_free(&m);
    }
}

static void segments_overlap_from_both_sides(void **state)
{
    struct made m = small_elf();
    struct tw_view view = made_view(&m);
    (void)state;
    tw_store_u32(m.data + ELF_PROGRAM_HEADERS + 8, 4);
    tw_store_u32(m.data + ELF_DATA_HEADER + 8, 0); /* eight bytes before it, four too many */
    damage_refused(&m, touch_elf, TW_E_FORMAT, "two segments overlap");
    tw_store_u32(m.data + ELF_DATA_HEADER + 20, 4);
    assert_int_equal(touch_elf(&view, NULL), 0);
    made_free(&m);
}

static void wrong_symbols_are_refused(void **state)
{
    static const struct {
        size_t from_end;
        uint32_t value;
        const char *words;
    } changes[] = {
        {80 - 16, 0xffff, "the table of symbols"},
        {80 - 20, 0xffff, "the table of symbols"},
        {80 - 24, 3, "section 3, but there are only 3"},
        {80 - 24, 0, "do not end with a zero"},
        {40 - 16, 0xffff, "the names of symbols"},
        {40 - 20, 5, "do not end with a zero"}, /* "main" without its zero */
        {120 + 8 + 16, 8, "the name of symbol 1 is at 0x8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct made m = small_elf();
        tw_store_u32(m.data + m.size - changes[i].from_end, changes[i].value);
        damage_refused(&m, touch_elf, TW_E_FORMAT, changes[i].words);
        made_free(&m);
    }
}

static void too_many_segments_are_refused(void **state)
{
    struct made m = small_elf(), many = {0};
    (void)state;
    made_bytes(&many, m.data, ELF_PROGRAM_HEADERS);
    tw_store_u16(many.data + 44, TW_ELF_SEGMENTS_MAX + 1);
    tw_store_u16(many.data + 48, 0);
    for (uint32_t i = 0; i <= TW_ELF_SEGMENTS_MAX; i++) {
        uint32_t header[8] = {1, 0, 4 * i, 0, 4, 4, 5, 1};
        for (unsigned w = 0; w < 8; w++)
            made_word(&many, header[w]);
    }
    damage_refused(&many, touch_elf, TW_E_LIMIT, "more than 256 segments");
    tw_store_u16(many.data + 44, TW_ELF_SEGMENTS_MAX);
    struct tw_view view = made_view(&many);
    assert_int_equal(touch_elf(&view, NULL), 0);
    made_free(&m);
    made_free(&many);
}

static void damaged_files(void **state)
{
    struct made m = small_elf();
    (void)state;
    damage_truncate(&m, touch_elf);
    damage_words(&m, touch_elf, NULL);
    made_free(&m);
}

/* ---- writing */

static struct tw_view bytes_of(const void *data, size_t size)
{
    return (struct tw_view){data, size, "", 0};
}

static void what_is_written_is_read(void **state)
{
    const struct tw_elf_segment segments[] = {
        {".data", 0x70404, 6, bytes_of("some!", 6)},
        {".text", 0, sizeof program, bytes_of(program, sizeof program)},
        {".bss", 0x70440, 0x100, bytes_of(NULL, 0)},
        {".data.north", 0x6fff0, 16, bytes_of("part", 4)},
    };
    const struct tw_elf_symbol symbols[] = {
        {"main", 0, sizeof program, TW_ELF_FUNCTION, 1},
        {"end", sizeof program, 0, TW_ELF_NOTYPE, 0},
        {"table", 0x70404, 6, TW_ELF_OBJECT, 1},
        {"count", 123456, 0, TW_ELF_NOTYPE, 0},
    };
    const struct tw_elf_program made = {segments, 4, symbols, 4, NULL, 0};
    static const uint32_t by_address[] = {1, 3, 0, 2}, locals_first[] = {1, 3, 0, 2};
    struct tw_core_elf elf;
    unsigned char *file;
    size_t size;
    (void)state;
    assert_int_equal(tw_core_elf_write(&made, &file, &size, NULL), 0);
    struct tw_view view = bytes_of(file, size);
    assert_int_equal(tw_core_elf_open(&view, &elf, NULL), 0);
    assert_int_equal(elf.n_segments, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct tw_elf_segment *is = &elf.segments[i], *was = &segments[by_address[i]];
        assert_int_equal(is->address, was->address);
        assert_int_equal(is->bytes, was->bytes);
        assert_int_equal(is->data.size, was->data.size);
        if (was->data.size > 0)
            assert_memory_equal(is->data.data, was->data.data, was->data.size);
        assert_int_equal(is->data.at % 16, is->address % 16);
    }
    assert_int_equal(elf.n_symbols, 5);
    for (uint32_t i = 0; i < 4; i++) {
        const struct tw_elf_symbol *was = &symbols[locals_first[i]];
        struct tw_elf_symbol is;
        tw_core_elf_symbol(&elf, i + 1, &is);
        assert_string_equal(is.name, was->name);
        assert_int_equal(is.value, was->value);
        assert_int_equal(is.size, was->size);
        assert_int_equal(is.kind, was->kind);
        assert_int_equal(is.global, was->global);
    }
    free(file);
}

/* Fields that our reader does not look at, but loaders and other tools do. */
static void what_others_read(void **state)
{
    const struct tw_elf_segment segment = {".text", 0, sizeof program, bytes_of(program, sizeof program)};
    const struct tw_elf_symbol symbols[] = {{"local", 8, 0, TW_ELF_NOTYPE, 0}, {"far", 99, 0, TW_ELF_NOTYPE, 1}};
    const struct tw_elf_program made = {&segment, 1, symbols, 2, NULL, 0};
    unsigned char *file;
    size_t size;
    (void)state;
    assert_int_equal(tw_core_elf_write(&made, &file, &size, NULL), 0);
    assert_int_equal(tw_load_u16(file + 16), 2);
    assert_int_equal(tw_load_u16(file + 18), 264);
    assert_int_equal(tw_load_u32(file + 24), 0); /* entry */
    assert_int_equal(tw_load_u32(file + 36), 2);
    assert_int_equal(tw_load_u16(file + 40), 52);
    assert_int_equal(tw_load_u32(file + 52 + 24), 5); /* read, execute */
    unsigned n = tw_load_u16(file + 48);
    assert_int_equal(n, 5);
    const unsigned char *sections = file + tw_load_u32(file + 32);
    const unsigned char *names = file + tw_load_u32(sections + 40 * (size_t)tw_load_u16(file + 50) + 16);
    static const char *const expected[] = {"", ".text", ".symtab", ".strtab", ".shstrtab"};
    for (unsigned i = 0; i < n; i++)
        assert_string_equal((const char *)names + tw_load_u32(sections + 40 * (size_t)i), expected[i]);
    assert_int_equal(tw_load_u32(sections + 40 + 8), 6);  /* alloc, execute */
    assert_int_equal(tw_load_u32(sections + 80 + 24), 3); /* names of symbols */
    assert_int_equal(tw_load_u32(sections + 80 + 28), 2); /* first global one */
    const unsigned char *symbol = file + tw_load_u32(sections + 80 + 16);
    assert_int_equal(tw_load_u16(symbol + 16 + 14), 1);      /* in .text */
    assert_int_equal(tw_load_u16(symbol + 32 + 14), 0xfff1); /* absolute */
    free(file);
}

static void nothing_is_a_program_too(void **state)
{
    const struct tw_elf_program made = {NULL, 0, NULL, 0, NULL, 0};
    struct tw_core_elf elf;
    unsigned char *file;
    size_t size;
    (void)state;
    assert_int_equal(tw_core_elf_write(&made, &file, &size, NULL), 0);
    struct tw_view view = bytes_of(file, size);
    assert_int_equal(tw_core_elf_open(&view, &elf, NULL), 0);
    assert_int_equal(elf.n_segments, 0);
    free(file);
}

static void refused(const struct tw_elf_program *made, int code, const char *words)
{
    struct tw_error err = {0};
    unsigned char *file;
    size_t size;
    assert_int_equal(tw_core_elf_write(made, &file, &size, &err), code);
    assert_null(file);
    if (strstr(err.text, words) == NULL)
        fail_msg("no '%s' in: %s", words, err.text);
}

static void assert_not_written(const struct tw_elf_segment *segments, size_t n, int code, const char *words)
{
    const struct tw_elf_program made = {segments, n, NULL, 0, NULL, 0};
    refused(&made, code, words);
}

/* ---- uses out of time */

static const struct tw_elf_old some_reads[] = {{0, "r0"}, {0x10, "amhh8"}, {0x10, "wl3"}, {0x3ffe, "x"}};

static struct made elf_with_reads(void)
{
    const struct tw_elf_segment segment = {".text", 0, sizeof program, bytes_of(program, sizeof program)};
    const struct tw_elf_symbol symbol = {"main", 0, sizeof program, TW_ELF_FUNCTION, 1};
    const struct tw_elf_program written = {&segment, 1, &symbol, 1, some_reads, 4};
    struct made m = {0};
    unsigned char *file;
    size_t size;

    assert_int_equal(tw_core_elf_write(&written, &file, &size, NULL), 0);
    made_bytes(&m, file, size);
    free(file);
    return m;
}

/* Where the list lies in that file. */
static size_t reads_place(const struct made *m)
{
    const unsigned char *sections = m->data + tw_load_u32(m->data + 32);
    return tw_load_u32(sections + 2 * 40 + 16);
}

static void reads_out_of_time(void **state)
{
    struct made m = elf_with_reads();
    struct tw_view view = made_view(&m);
    struct tw_core_elf elf;
    struct tw_elf_old read;
    struct tw_elf_symbol symbol;
    size_t at = 0;

    (void)state;
    assert_int_equal(tw_core_elf_open(&view, &elf, NULL), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(tw_core_elf_old(&elf, &at, &read));
        assert_int_equal(read.address, some_reads[i].address);
        assert_string_equal(read.name, some_reads[i].name);
    }
    assert_false(tw_core_elf_old(&elf, &at, &read));
    assert_int_equal(elf.n_segments, 1); /* the list is not loaded */
    assert_int_equal(elf.n_symbols, 2);
    tw_core_elf_symbol(&elf, 1, &symbol);
    assert_string_equal(symbol.name, "main");
    damage_truncate(&m, touch_elf);
    damage_words(&m, touch_elf, NULL);
    made_free(&m);
}

static void wrong_reads_are_refused(void **state)
{
    static const char long_name[] = "thirty-two characters are too many";
    const struct tw_elf_old wrong[] = {{0, ""}, {4, long_name}};
    struct made m = elf_with_reads();
    size_t place = reads_place(&m);

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct tw_elf_program written = {NULL, 0, NULL, 0, &wrong[i], 1};
        refused(&written, TW_E_ARGUMENT, "a register's name has 1 to 31 characters");
    }
    assert_memory_equal(m.data + place + 4, "r0", 3);
    m.data[place + 4] = 0; /* no name */
    damage_refused(&m, touch_elf, TW_E_FORMAT, "a use out of time has no register's name");
    m.data[place + 4] = 'r';
    memset(m.data + place, 'z', 4 + 2 + 1 + 4 + 5 + 1 + 4 + 3 + 1 + 4 + 1 + 1); /* no zero at all */
    damage_refused(&m, touch_elf, TW_E_FORMAT, "a use out of time has no register's name");
    made_free(&m);
}

static void wrong_segments_are_not_written(void **state)
{
    const struct tw_elf_segment wrong[] = {
        {"past the end", 0x3ff8, 16, bytes_of(program, 16)}, {"nowhere", 0x20000, 16, bytes_of(program, 16)},
        {"two windows", 0x4fff8, 16, bytes_of(program, 16)}, {"wraps round", 0xfffffff8, 16, bytes_of(program, 16)},
        {"too much", 0, 15, bytes_of(program, 16)},          {"empty", 0, 0, bytes_of(NULL, 0)},
    };
    const struct tw_elf_segment pair[] = {{"a", 0x70000, 16, bytes_of(NULL, 0)}, {"b", 0x7000f, 1, bytes_of(NULL, 0)}};
    static struct tw_elf_segment many[TW_ELF_SEGMENTS_MAX + 1];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_not_written(&wrong[i], 1, TW_E_ARGUMENT, wrong[i].name);
    assert_not_written(pair, 2, TW_E_ARGUMENT, "the segments a and b overlap");
    assert_not_written(many, TW_ELF_SEGMENTS_MAX + 1, TW_E_LIMIT, "257 segments");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(segments_come_by_address),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(segments_overlap_from_both_sides),
        cmocka_unit_test(wrong_symbols_are_refused),
        cmocka_unit_test(too_many_segments_are_refused),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_others_read),
        cmocka_unit_test(nothing_is_a_program_too),
        cmocka_unit_test(wrong_segments_are_not_written),
        cmocka_unit_test(reads_out_of_time),
        cmocka_unit_test(wrong_reads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
