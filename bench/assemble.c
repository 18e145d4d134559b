/* How long assembling takes: each kernel of the source tree, or the files that are named, and all of them together. */
#include "base/clock.h"
#include "base/file_map.h"
#include "isa/assembler.h"
#include "kernels/job_program.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

enum { REPEATS = 15 };

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int is_part_of_job(const char *path)
{
    return strncmp(file_name(path), "job_", 4) == 0;
}

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
    if (best >= 0)
        printf("%-24s %5zu bundles %8.2f ms\n", file_name(path), bundles, best * 1e3);
    return best;
}

/* The overlay's program: its sources are assembled together, with numbers that the library gives them. */
static double measure_job(void)
{
    double best = -1;
    size_t bundles = 0;

    for (int i = 0; i < REPEATS; i++) {
        struct tw_job_program *program = NULL;
        struct tw_error err;
        double start = tw_seconds();
        if (tw_job_program_make(&program, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return -1;
        }
        double took = tw_seconds() - start;
        for (size_t s = 0; i == 0 && s < program->assembly->n_sections; s++)
            bundles += program->assembly->sections[s].n_bundles;
        tw_job_program_free(program);
        best = best < 0 || took < best ? took : best;
    }
    printf("%-24s %5zu bundles %8.2f ms\n", "job program", bundles, best * 1e3);
    return best;
}

/* sum: what other programs took, in seconds. */
static int measure_all(char *const *paths, size_t n, double sum)
{
    for (size_t i = 0; i < n; i++) {
        double took = is_part_of_job(paths[i]) ? 0 : measure(paths[i]);
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
        return measure_all(argv + 1, (size_t)argc - 1, 0);
    glob_t kernels;
    if (glob(TW_KERNELS "/*.s", 0, NULL, &kernels) != 0) {
        fprintf(stderr, "there are no kernels in %s\n", TW_KERNELS);
        return 1;
    }
    double job = measure_job();
    int code = job < 0 ? 1 : measure_all(kernels.gl_pathv, kernels.gl_pathc, job);
    globfree(&kernels);
    return code;
}
