/* Sources of scheduled code for tests: text to lines, with repeat blocks written out. */
#ifndef TW_TESTS_ISA_SCHED_SOURCE_H
#define TW_TESTS_ISA_SCHED_SOURCE_H

#include "isa/sched.h"

struct sched_source {
    char *text;
    struct tw_source_line *lines;
    size_t n;
};

/*
 * Splits text into lines. Lines between ".rept N" and ".endr" come N times; ".sched", ".endsched" and lines of the
 * assembler's other directives are left out. Release with sched_source_free. Returns 0, or -1 without memory.
 */
int sched_source_from_text(const char *text, struct sched_source *source);
/* The same of a file. */
int sched_source_from_file(const char *path, struct sched_source *source);
void sched_source_free(struct sched_source *source);

#endif
