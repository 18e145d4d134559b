/* Random operations and bundles that can be encoded, for tests, seeds and benchmarks. */
#ifndef TESTS_ISA_RANDOM_OPERATION_H
#define TESTS_ISA_RANDOM_OPERATION_H

#include "base/random.h"
#include "isa/isa.h"

/* The instruction with operands that fit; immediates are now and then at an end of their range. */
void random_operation(struct tw_random *random, unsigned instruction, struct tw_operation *op);

/* The format with any instruction in each of its slots. */
void random_bundle(struct tw_random *random, int format, struct tw_bundle *bundle);

/* The number of some instruction of a slot. */
unsigned random_instruction(struct tw_random *random, unsigned slot);

/* The least and the greatest value of an immediate operand, from its type. */
void immediate_limits(const struct tw_operand_info *operand, int64_t *low, int64_t *high);

#endif
