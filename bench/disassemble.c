/* Bundles a second for the whole disassembler: random bundles of all formats to text with labels, addresses and bytes.
 */
#include "base/clock.h"
#include "isa/disassemble.h"
#include "isa/random_operation.h"

#include <stdlib.h>

enum { REPEATS = 200 };

/* Fills program memory with random bundles; returns how many bytes. */
static size_t make_program(uint8_t *program)
{
    struct tw_random random = {1};
    struct tw_bundle bundle;
    size_t size = 0;

    while (size + TW_BUNDLE_MAX <= TW_PROGRAM_BYTES) {
        random_bundle(&random, (int)tw_random_range(&random, 0, TW_FORMAT_COUNT - 1), &bundle);
        int n = tw_bundle_encode(&bundle, program + size, NULL);
        size += n > 0 ? (size_t)n : 0;
    }
    return size;
}

static void measure(const char *what, const struct tw_code_run *run, FILE *out)
{
    const struct tw_disassemble_options labels = {"at", NULL, 0};
    struct tw_disassembly d;
    double best = 0;

    for (int i = 0; i < REPEATS; i++) {
        if (out != NULL)
            rewind(out);
        double start = tw_seconds();
        if (tw_disassemble(run, 1, &labels, out, &d, NULL) < 0)
            return;
        double rate = (double)d.bundles / (tw_seconds() - start);
        best = rate > best ? rate : best;
    }
    printf("%-18s %6.2f million bundles/s (best of %d)\n", what, best / 1e6, REPEATS);
}

int main(void)
{
    uint8_t *program = malloc(TW_PROGRAM_BYTES);
    FILE *out = tmpfile();
    if (program == NULL || out == NULL)
        return 1;
    const struct tw_code_run run = {0, program, make_program(program)};
    measure("count", &run, NULL);
    measure("text to a file", &run, out);
    fclose(out);
    free(program);
    return 0;
}
