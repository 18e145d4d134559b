/* How long assembling takes: each kernel of the source tree, or the files that are named, and all of them together. */
#include "base/clock.h"
#include "base/file_map.h"
#include "isa/assembler.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

enum { REPEATS = 15 };

/* Assembles a file some times; returns the shortest in seconds, or a negative number after saying what is wrong. */
static double measure(const char *path)
{
    struct tw_file_map map;
    struct tw_error err;
    double best = -1;
    size_t bundles = 0;

    if (tw_file_map_open(path, &map, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    for (int i = 0; i < REPEATS; i++) {
        struct tw_assembly *a = NULL;
        double start = tw_seconds();
        int code = tw_assemble(path, map.data == NULL ? "" : (const char *)map.data, map.size, NULL, &a, &err);
        double took = tw_seconds() - start;
        for (size_t s = 0; a != NULL && i == 0 && s < a->n_sections; s++)
            bundles += a->sections[s].n_bundles;
        tw_assembly_free(a);
        if (code < 0) {
            fprintf(stderr, "%s\n", err.text);
            best = -1;
            break;
        }
        best = best < 0 || took < best ? took : best;
    }
    tw_file_map_close(&map);
    const char *slash = strrchr(path, '/');
    if (best >= 0)
        printf("%-24s %5zu bundles %8.2f ms\n", slash != NULL ? slash + 1 : path, bundles, best * 1e3);
    return best;
}

static int measure_all(char *const *paths, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double took = measure(paths[i]);
        if (took < 0)
            return 1;
        sum += took;
    }
    printf("%-24s %13s %8.2f ms (each the best of %d)\n", "all", "", sum * 1e3, REPEATS);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return measure_all(argv + 1, (size_t)argc - 1);
    glob_t kernels;
    if (glob(TW_KERNELS "/*.s", 0, NULL, &kernels) != 0) {
        fprintf(stderr, "there are no kernels in %s\n", TW_KERNELS);
        return 1;
    }
    int code = measure_all(kernels.gl_pathv, kernels.gl_pathc);
    globfree(&kernels);
    return code;
}
