/*
 * As much of a core as the product kernels use: moves, loads and stores of 32 bytes, 2D walks, the two multiplications,
 * the hardware loop, the return. Results land in the cycles that the schedule tables give, reads happen in theirs.
 */
#ifndef TW_TESTS_KERNELS_CORE_H
#define TW_TESTS_KERNELS_CORE_H

#include "isa/isa.h"

#define CORE_MEMORY 65536 /* data memory; addresses are offsets into it */

struct core;

struct core *core_make(void);
void core_free(struct core *c);
uint8_t *core_memory(struct core *c);
void core_set_pointer(struct core *c, int reg, uint32_t value);

/*
 * Runs the program from address 0 until the delay slots of its return are over. Returns the number of bundles that were
 * issued, or -1 with a sentence in text: an instruction that it does not know, an address outside, two banks in one
 * cycle.
 */
long core_run(struct core *c, const uint8_t *program, uint32_t size, char text[256]);

#endif
