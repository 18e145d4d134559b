/* Error reports: code and sentence, texts too long, the operating system's reason, names of codes. */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void code_and_sentence(void **state)
{
    (void)state;
    struct tw_error err = {0};
    assert_int_equal(tw_fail(&err, TW_E_FORMAT, "'%s' has %d parts", "x.bin", 3), TW_E_FORMAT);
    assert_int_equal(err.code, TW_E_FORMAT);
    assert_string_equal(err.text, "'x.bin' has 3 parts");
}

static void the_report_may_be_missing(void **state)
{
    (void)state;
    assert_int_equal(tw_fail(NULL, TW_E_LIMIT, "too many"), TW_E_LIMIT);
    assert_int_equal(tw_fail_errno(NULL, TW_E_IO, ENOENT, "cannot open"), TW_E_IO);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char name[3000];
    struct tw_error err;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(&err, 'x', sizeof err);
    assert_int_equal(tw_fail(&err, TW_E_IO, "%s", name), TW_E_IO);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    memset(&err, 'x', sizeof err);
    assert_int_equal(tw_fail_errno(&err, TW_E_IO, ENOENT, "%s", name), TW_E_IO);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    /* One byte of room is left after the sentence: the reason is cut, not written past the end. */
    name[sizeof err.text - 2] = '\0';
    memset(&err, 'x', sizeof err);
    tw_fail_errno(&err, TW_E_IO, ENOENT, "%s", name);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(err.text[sizeof err.text - 2], ':');
}

static void the_systems_reason_follows(void **state)
{
    (void)state;
    struct tw_error err;
    assert_int_equal(tw_fail_errno(&err, TW_E_NOT_FOUND, ENOENT, "cannot open '%s'", "m"), TW_E_NOT_FOUND);
    assert_int_equal(err.code, TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "cannot open 'm': "));
    assert_string_equal(err.text + strlen("cannot open 'm': "), strerror(ENOENT));
    tw_fail_errno(&err, TW_E_IO, 123456, "odd");
    assert_true(strlen(err.text) > strlen("odd: "));
}

static void names_of_codes(void **state)
{
    (void)state;
    assert_string_equal(tw_code_name(TW_OK), "TW_OK");
    assert_string_equal(tw_code_name(TW_E_ARGUMENT), "TW_E_ARGUMENT");
    assert_string_equal(tw_code_name(TW_E_MEMORY), "TW_E_MEMORY");
    assert_string_equal(tw_code_name(TW_E_IO), "TW_E_IO");
    assert_string_equal(tw_code_name(TW_E_NOT_FOUND), "TW_E_NOT_FOUND");
    assert_string_equal(tw_code_name(TW_E_FORMAT), "TW_E_FORMAT");
    assert_string_equal(tw_code_name(TW_E_UNSUPPORTED), "TW_E_UNSUPPORTED");
    assert_string_equal(tw_code_name(TW_E_LIMIT), "TW_E_LIMIT");
    assert_string_equal(tw_code_name(TW_E_SHAPE), "TW_E_SHAPE");
    assert_string_equal(tw_code_name(TW_E_NETWORK), "TW_E_NETWORK");
    assert_string_equal(tw_code_name(TW_E_CANCELLED), "TW_E_CANCELLED");
    assert_string_equal(tw_code_name(TW_E_STATE), "TW_E_STATE");
    assert_string_equal(tw_code_name(TW_E_NO_DEVICE), "TW_E_NO_DEVICE");
    assert_string_equal(tw_code_name(TW_E_PERMISSION), "TW_E_PERMISSION");
    assert_string_equal(tw_code_name(TW_E_BUSY), "TW_E_BUSY");
    assert_string_equal(tw_code_name(TW_E_TIMEOUT), "TW_E_TIMEOUT");
    assert_string_equal(tw_code_name(TW_E_ABORTED), "TW_E_ABORTED");
    assert_string_equal(tw_code_name(TW_E_DEVICE), "TW_E_DEVICE");
    assert_string_equal(tw_code_name(TW_E_LOST), "TW_E_LOST");
    assert_string_equal(tw_code_name(TW_E_REFUSED), "TW_E_REFUSED");
    assert_string_equal(tw_code_name(TW_E_HEAP), "TW_E_HEAP");
    assert_string_equal(tw_code_name(TW_E_UNMAPPED), "TW_E_UNMAPPED");
    assert_string_equal(tw_code_name(TW_E_RUNNING), "TW_E_RUNNING");
    assert_string_equal(tw_code_name(TW_E_HEAP_SIZE), "TW_E_HEAP_SIZE");
    assert_string_equal(tw_code_name(TW_E_HEAP_PLACE), "TW_E_HEAP_PLACE");
    assert_string_equal(tw_code_name(TW_E_CONFIGURED), "TW_E_CONFIGURED");
    assert_string_equal(tw_code_name(TW_E_SYNC), "TW_E_SYNC");
    assert_string_equal(tw_code_name(TW_E_UNLISTED), "TW_E_UNLISTED");
    assert_string_equal(tw_code_name(TW_E_CHECKSUM), "TW_E_CHECKSUM");
    assert_string_equal(tw_code_name(1), "TW_E_?");
    assert_string_equal(tw_code_name(TW_E_CHECKSUM - 1), "TW_E_?");
    assert_string_equal(tw_code_name(INT32_MIN + 1), "TW_E_?");
    assert_string_equal(tw_code_name(INT32_MIN), "TW_E_?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_sentence),  cmocka_unit_test(the_report_may_be_missing),
        cmocka_unit_test(long_texts_are_cut), cmocka_unit_test(the_systems_reason_follows),
        cmocka_unit_test(names_of_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
