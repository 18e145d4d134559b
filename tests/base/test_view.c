/* Views of parts of a file: nothing outside, and messages that say where. */
#include "base/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const unsigned char bytes[16] = "abcdefg\0hijklmno";
static const struct tw_view whole = {bytes, sizeof bytes, "file", 0x100};

static void parts_know_their_place(void **state)
{
    struct tw_view part, inner;
    (void)state;
    assert_int_equal(tw_view_part(&whole, 4, 12, "part", &part, NULL), 0);
    assert_ptr_equal(part.data, bytes + 4);
    assert_int_equal(part.size, 12);
    assert_int_equal(part.at, 0x104);
    assert_string_equal(part.file, "file");
    assert_int_equal(tw_view_table(&part, 4, 2, 4, "table", &inner, NULL), 0);
    assert_ptr_equal(inner.data, bytes + 8);
    assert_int_equal(inner.size, 8);
    assert_int_equal(inner.at, 0x108);
    assert_int_equal(tw_view_part(&part, 12, 0, "nothing", &part, NULL), 0); /* the very end, and onto itself */
    assert_int_equal(part.size, 0);
}

static void nothing_lies_outside(void **state)
{
    static const uint64_t wild[] = {17, 0x7fffffff, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    struct tw_view part = {0};
    const char *text;
    (void)state;
    assert_int_equal(tw_view_part(&whole, 8, 9, "part", &part, NULL), TW_E_FORMAT);
    assert_int_equal(tw_view_table(&whole, 8, 3, 4, "table", &part, NULL), TW_E_FORMAT);
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        assert_int_equal(tw_view_part(&whole, wild[i], 0, "part", &part, NULL), TW_E_FORMAT);
        assert_int_equal(tw_view_part(&whole, 0, wild[i], "part", &part, NULL), TW_E_FORMAT);
        assert_int_equal(tw_view_part(&whole, 16, wild[i], "part", &part, NULL), TW_E_FORMAT);
        assert_int_equal(tw_view_part(&whole, wild[i], wild[i], "part", &part, NULL), TW_E_FORMAT);
        assert_int_equal(tw_view_table(&whole, 0, wild[i], 4, "table", &part, NULL), TW_E_FORMAT);
        assert_int_equal(tw_view_table(&whole, wild[i], 0, 4, "table", &part, NULL), TW_E_FORMAT);
        assert_int_equal(tw_view_string(&whole, wild[i], "text", &text, NULL), TW_E_FORMAT);
    }
    assert_null(part.data);
    struct tw_view empty = {NULL, 0, "empty", 0};
    assert_int_equal(tw_view_part(&empty, 0, 0, "nothing", &part, NULL), 0);
    assert_int_equal(tw_view_part(&empty, 0, 1, "something", &part, NULL), TW_E_FORMAT);
}

static void strings_end_inside(void **state)
{
    const char *text;
    (void)state;
    assert_int_equal(tw_view_string(&whole, 4, "text", &text, NULL), 0);
    assert_string_equal(text, "efg");
    assert_int_equal(tw_view_string(&whole, 7, "text", &text, NULL), 0);
    assert_string_equal(text, "");
    assert_int_equal(tw_view_string(&whole, 8, "text", &text, NULL), TW_E_FORMAT);
    assert_null(text);
    assert_int_equal(tw_view_string(&whole, 16, "text", &text, NULL), TW_E_FORMAT);
}

static void strings_are_not_searched_for_without_end(void **state)
{
    static unsigned char text[TW_VIEW_STRING_MAX + 8];
    const struct tw_view view = {text, sizeof text, "file", 0};
    const char *found;
    (void)state;
    memset(text, 'x', TW_VIEW_STRING_MAX);
    assert_int_equal(tw_view_string(&view, 0, "text", &found, NULL), TW_E_FORMAT);
    assert_int_equal(tw_view_string(&view, 1, "text", &found, NULL), 0);
}

static void messages_say_where(void **state)
{
    struct tw_view part;
    struct tw_error err;
    (void)state;
    assert_int_equal(tw_view_part(&whole, 4, 12, "part", &part, &err), 0);
    assert_int_equal(tw_view_fail(&part, 3, TW_E_LIMIT, &err, "%d is too many", 7), TW_E_LIMIT);
    assert_int_equal(err.code, TW_E_LIMIT);
    assert_string_equal(err.text, "'file', byte 0x107: 7 is too many");
    assert_int_equal(tw_view_part(&part, 4, 9, "the table", &part, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "'file', byte 0x108: the table: 0x9 bytes"));
    assert_non_null(strstr(err.text, "ends at byte 0x110"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_know_their_place), cmocka_unit_test(nothing_lies_outside),
        cmocka_unit_test(strings_end_inside),     cmocka_unit_test(strings_are_not_searched_for_without_end),
        cmocka_unit_test(messages_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
