/* Random scheduled programs: straight code, loops and branches over all kinds of registers and memory accesses. */
#ifndef TW_TESTS_ISA_RANDOM_SCHED_H
#define TW_TESTS_ISA_RANDOM_SCHED_H

#include <stddef.h>

/* Writes a program's text, which has no faults; the same seed gives the same text. size: at least 16384. */
void random_sched_text(unsigned long seed, char *text, size_t size);

#endif
