/* Lives of the fuzzed driver: one whose commands run, one that builds everything itself, and random ones. */
#include "base/random.h"

#include <stdio.h>
#include <string.h>

/* As fuzz_driver.c reads them: two choices, then steps: a number, and what that step reads. */
static const unsigned char prepared[] = {
    8, 1, 0,                                                              /* coherent, prepared; the code says: done */
    5, 1, 1, 0, 10, 0, 0, 0, 3, 0, 0, 4, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, /* START_CU in the first command */
    0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 1, 4, 2, 6, 7, 6, 7,
    6, 7, 6, 7, 0,                                   /* executed with both memories */
    6, 1, 4, 2, 6,  7, 6, 7, 6, 7, 6, 7, 0, 9, 1, 0, /* asleep and awake */
    6, 1, 4, 2, 6,  7, 6, 7, 6, 7, 6, 7, 0,
};

static const unsigned char built[] = {
    0, 0,                                            /* options, nothing prepared */
    0, 2,  0,   0,  0, 0, 0,                         /* heap: handle 1 */
    2, 0,  0,   1,  1,                               /* mapped */
    0, 3,  0,   16, 0, 0, 0, 0, 3, 0,   16, 0, 0, 0, /* device buffers 2, 3 */
    1, 16, 2,   0,  0,                               /* context 1 with CU 2 */
    0, 4,  255, 15, 0, 0, 0, 0, 1, 255, 15, 0, 0, 0, /* command 4, share 5 */
    2, 1,  0,   4,  0, 7, 2, 2, 0, 5,   0,  7,       /* mapped */
    6, 1,  4,   1,  5, 5, 5, 5, 5, 5,   5,  5, 0,
};

enum { SEED_BYTES = 600, SEEDS = 24 };

static int write_seed(const char *folder, unsigned number, const unsigned char *bytes, size_t n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/life-%u", folder, number);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return 1;
    int wrong = fwrite(bytes, 1, n, f) != n;
    return fclose(f) != 0 || wrong;
}

int main(int argc, char **argv)
{
    struct tw_random random = {1};
    unsigned char bytes[SEED_BYTES];
    if (argc != 2)
        return 2;
    int wrong = 0;
    for (unsigned i = 0; i < SEEDS; i++) {
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (unsigned char)tw_random_u64(&random);
        if (i % 3 == 0)
            memcpy(bytes, prepared, sizeof prepared);
        else if (i % 3 == 1)
            memcpy(bytes, built, sizeof built);
        wrong |= write_seed(argv[1], i, bytes, i == 0 ? sizeof prepared : sizeof bytes);
    }
    return wrong;
}
