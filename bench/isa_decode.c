/* Bundles a second for the decoder, and for decoder and printer together, over random bundles of all formats. */
#include "base/clock.h"
#include "isa/random_operation.h"

#include <stdio.h>
#include <stdlib.h>

/* As many bundles as a core's program memory may hold; a pass is short enough to miss most other work of the machine.
 */
enum { BUNDLES = 2000, REPEATS = 400 };

/* Encodes random bundles one behind the other; returns how many bytes. */
static size_t make_program(uint8_t *program)
{
    struct tw_random random = {1};
    struct tw_bundle bundle;
    size_t size = 0;

    for (int i = 0; i < BUNDLES; i++) {
        random_bundle(&random, (int)tw_random_range(&random, 0, TW_FORMAT_COUNT - 1), &bundle);
        int n = tw_bundle_encode(&bundle, program + size, NULL);
        size += n > 0 ? (size_t)n : 0;
    }
    return size;
}

/* Decodes (and prints) the program once; returns the number of bundles, and adds up something of each. */
static unsigned pass(const uint8_t *program, size_t size, int print, unsigned long *sum)
{
    struct tw_bundle bundle;
    char text[TW_BUNDLE_TEXT_MAX];
    unsigned count = 0, skip;

    for (size_t at = 0; at < size; count++) {
        int n = tw_bundle_decode(program + at, size - at, &bundle, &skip);
        if (n <= 0)
            break;
        at += (size_t)n;
        *sum += bundle.slots;
        if (print)
            *sum += (unsigned long)tw_bundle_print(&bundle, text, sizeof text);
    }
    return count;
}

static void measure(const char *what, const uint8_t *program, size_t size, int print)
{
    double best = 0;
    unsigned long sum = 0;

    for (int i = 0; i < REPEATS; i++) {
        double start = tw_seconds();
        unsigned count = pass(program, size, print, &sum);
        double rate = count / (tw_seconds() - start);
        best = rate > best ? rate : best;
    }
    printf("%-18s %6.2f million bundles/s (best of %d, sum %lu)\n", what, best / 1e6, REPEATS, sum);
}

int main(void)
{
    uint8_t *program = malloc((size_t)BUNDLES * TW_BUNDLE_MAX);
    if (program == NULL)
        return 1;
    size_t size = make_program(program);
    measure("decode", program, size, 0);
    measure("decode and print", program, size, 1);
    free(program);
    return 0;
}
