/* Any text as a bundle: what parses can be encoded, decoded, printed and parsed to the same bytes. */
#include "isa/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Expressions are numbers here: their length, or no value yet when they begin with a letter. */
static int value_of(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    (void)arg;
    if (size == 0)
        return tw_fail(err, TW_E_FORMAT, "no expression");
    if (text[0] >= 'a' && text[0] <= 'z')
        return 1;
    *value = text[0] == '-' ? -(int64_t)size : (int64_t)size;
    return 0;
}

/* The bytes of a text whose values are plain numbers; returns their number or a negative code. */
static int assemble(const char *text, size_t size, uint8_t bytes[TW_BUNDLE_MAX], struct tw_bundle *bundle)
{
    struct tw_error err;
    size_t unresolved, column = 0;

    int code = tw_bundle_parse(text, size, NULL, bundle, NULL, &unresolved, &column, &err);
    if (code < 0 && column > size)
        abort();
    return code < 0 ? code : tw_bundle_encode(bundle, bytes, &err);
}

static void check_numbers(const char *text, size_t size)
{
    uint8_t before[TW_BUNDLE_MAX], after[TW_BUNDLE_MAX];
    struct tw_bundle bundle;
    char printed[TW_BUNDLE_TEXT_MAX];

    int n = assemble(text, size, before, &bundle);
    if (n < 0) {
        if (n != TW_E_FORMAT) /* what parses must encode */
            abort();
        return;
    }
    if (tw_bundle_decode(before, (size_t)n, &bundle, NULL) != n)
        abort();
    int length = tw_bundle_print(&bundle, printed, sizeof printed);
    if (length <= 0 || assemble(printed, (size_t)length, after, &bundle) != n || memcmp(before, after, (size_t)n) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tw_parse_context context = {value_of, NULL, NULL};
    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
    struct tw_bundle bundle;
    struct tw_error err;
    size_t n = 0, column = 0;
    const char *text = (const char *)data;

    int code = tw_bundle_parse(text, size, &context, &bundle, unresolved, &n, &column, &err);
    if (code < 0 ? column > size : n > TW_UNRESOLVED_MAX)
        abort();
    check_numbers(text, size);
    return 0;
}
