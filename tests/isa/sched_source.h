/* Text to the lines that the scheduler takes. */
#ifndef TW_TESTS_ISA_SCHED_SOURCE_H
#define TW_TESTS_ISA_SCHED_SOURCE_H

#include "isa/sched.h"

struct sched_source {
    struct tw_source_line *lines;
    size_t n;
};

/* The lines point into text. Release with sched_source_free. Returns 0, or -1 without memory. */
int sched_source_split(const char *text, struct sched_source *source);
void sched_source_free(struct sched_source *source);

#endif
