/* Writes random scheduled programs into the folder given, as seeds. */
#include "isa/random_sched.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    static char text[65536];

    for (unsigned long seed = 0; argc == 2 && seed < 60; seed++) {
        char path[4096];
        random_sched_text(seed, text, sizeof text);
        snprintf(path, sizeof path, "%s/program%lu", argv[1], seed);
        FILE *f = fopen(path, "wb");
        if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
            fprintf(stderr, "make_sched_seeds: %s cannot be written\n", path);
            return 1;
        }
    }
    return argc == 2 ? 0 : 1;
}
