/* Any bytes as a program: what decodes has a text, and that text gives the same bundle again. */
#include "isa/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bundle as the encoder writes it: unused bits are 0. */
static int canonical(const struct tw_bundle *bundle, uint8_t bytes[TW_BUNDLE_MAX])
{
    int n = tw_bundle_encode(bundle, bytes, NULL);
    if (n != tw_formats[bundle->format].bytes)
        abort();
    return n;
}

static void check(const struct tw_bundle *bundle)
{
    char text[TW_BUNDLE_TEXT_MAX];
    struct tw_bundle parsed;
    uint8_t before[TW_BUNDLE_MAX], after[TW_BUNDLE_MAX];
    size_t unresolved;

    int n = canonical(bundle, before);
    int length = tw_bundle_print(bundle, text, sizeof text);
    if (length <= 0 || tw_bundle_parse(text, (size_t)length, NULL, &parsed, NULL, &unresolved, NULL, NULL) != 0)
        abort();
    if (tw_bundle_encode(&parsed, after, NULL) != n || memcmp(before, after, (size_t)n) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Bundles do not depend on each other: more of them only take time. */
    size = size > 64 ? 64 : size;
    for (size_t at = 0; at < size;) {
        struct tw_bundle bundle;
        unsigned skip;
        int n = tw_bundle_decode(data + at, size - at, &bundle, &skip);
        if (n > 0)
            check(&bundle);
        at += skip > 0 ? skip : 2;
    }
    return 0;
}
