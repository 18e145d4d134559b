/* Seeds for the instruction set's fuzz programs: random bundles, as bytes or as text. Arguments: bytes|text FOLDER. */
#include "isa/random_operation.h"

#include <stdio.h>
#include <string.h>

/* Writes one seed; returns 0 when it is there. */
static int write_seed(const char *folder, int number, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%03d", folder, number);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return 1;
    int bad = fwrite(data, 1, size, f) != size;
    return fclose(f) != 0 || bad;
}

static int write_bundle(const char *folder, int format, const struct tw_bundle *bundle, int as_text)
{
    uint8_t bytes[TW_BUNDLE_MAX];
    char text[TW_BUNDLE_TEXT_MAX];
    int n = as_text ? tw_bundle_print(bundle, text, sizeof text) : tw_bundle_encode(bundle, bytes, NULL);
    return n <= 0 || write_seed(folder, format, as_text ? (const void *)text : bytes, (size_t)n) != 0;
}

int main(int argc, char **argv)
{
    struct tw_random random = {1};
    struct tw_bundle bundle;

    if (argc != 3)
        return 2;
    for (int f = 0; f < TW_FORMAT_COUNT; f++) {
        random_bundle(&random, f, &bundle);
        if (write_bundle(argv[2], f, &bundle, strcmp(argv[1], "text") == 0) != 0)
            return 1;
    }
    return 0;
}
