/* Seeds for fuzz_core: random bundles that decode, behind sixteen random bytes. */
#include "isa/random_operation.h"

#include <stdio.h>

enum { SEEDS = 64, BUNDLES = 24 };

static int write_seed(const char *folder, unsigned number, struct tw_random *random)
{
    char path[1024];
    uint8_t bytes[TW_BUNDLE_MAX];

    snprintf(path, sizeof path, "%s/program-%02u", folder, number);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return -1;
    for (unsigned i = 0; i < 16; i++)
        fputc((int)(tw_random_u64(random) & 255), f);
    for (unsigned i = 0; i < BUNDLES; i++) {
        struct tw_bundle b;
        random_bundle(random, (int)tw_random_range(random, 0, TW_FORMAT_COUNT - 1), &b);
        int size = tw_bundle_encode(&b, bytes, NULL);
        if (size > 0)
            fwrite(bytes, 1, (size_t)size, f);
    }
    return fclose(f);
}

int main(int argc, char **argv)
{
    struct tw_random random = {7};

    if (argc != 2) {
        fprintf(stderr, "usage: make_core_seeds FOLDER\n");
        return 1;
    }
    for (unsigned i = 0; i < SEEDS; i++)
        if (write_seed(argv[1], i, &random) != 0)
            return 1;
    return 0;
}
