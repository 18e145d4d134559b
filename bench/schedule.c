/*
 * How long it takes to assemble kernels, most of which is scheduling: each one several times, and the best of them.
 *
 *     schedule src/kernels/product_bf16.s src/kernels/product_int8.s ...
 */
#include "base/clock.h"
#include "isa/assembler.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 9, LARGEST = 1 << 20 };

static size_t read_text(const char *path, char *text)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 0;
    size_t size = fread(text, 1, LARGEST, f);
    fclose(f);
    return size;
}

/* Returns the least time in milliseconds, or less than 0. */
static double measure(const char *path, const char *text, size_t size)
{
    double best = -1;

    for (int i = 0; i < TIMES; i++) {
        struct tw_assembly *assembly = NULL;
        struct tw_error err;
        double begin = tw_seconds();
        int code = tw_assemble(path, text, size, NULL, &assembly, &err);
        double ms = (tw_seconds() - begin) * 1e3;
        tw_assembly_free(assembly);
        if (code < 0) {
            fprintf(stderr, "%s: %s\n", path, err.text);
            return -1;
        }
        best = best < 0 || ms < best ? ms : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    char *text = malloc(LARGEST);
    double total = 0;
    int failed = text == NULL || argc < 2;

    for (int i = 1; i < argc && !failed; i++) {
        size_t size = read_text(argv[i], text);
        double ms = size > 0 ? measure(argv[i], text, size) : -1;
        failed = ms < 0;
        if (!failed)
            printf("%-40s %7.2f ms\n", argv[i], ms);
        total += ms;
    }
    free(text);
    if (failed) {
        fprintf(stderr, "usage: schedule SOURCE.s...\n");
        return 1;
    }
    printf("%-40s %7.2f ms\n", "all", total);
    return 0;
}
