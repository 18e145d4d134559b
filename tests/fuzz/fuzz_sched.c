/* Scheduled code from any text: what is scheduled must have been proved right, and can be laid out and encoded. */
#include "isa/sched_source.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 6000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode(struct tw_sched_code *code)
{
    uint8_t bytes[TW_BUNDLE_MAX];

    if (tw_layout(code->bundles, code->n_bundles, 0, NULL) < 0)
        return;
    for (size_t i = 0; i < code->n_bundles; i++)
        if (tw_bundle_encode(&code->bundles[i].bundle, bytes, NULL) != code->bundles[i].bytes)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sched_source source;
    struct tw_sched_code *code = NULL;
    struct tw_error err;
    char *text = size > LONGEST ? NULL : malloc(size + 1);

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (sched_source_split(text, &source) == 0) {
        int result = tw_schedule(source.lines, source.n, NULL, &code, &err);
        if (result == TW_E_STATE)
            abort();
        if (result == 0)
            encode(code);
        tw_sched_free(code);
        sched_source_free(&source);
    }
    free(text);
    return 0;
}
