/* What a descriptor's addresses are, by plain loops over all its elements. */
#ifndef TESTS_EMU_ARRAY_NAIVE_PATTERN_H
#define TESTS_EMU_ARRAY_NAIVE_PATTERN_H

#include "npu1/buffer_descriptor.h"

enum { NAIVE_NOWHERE = -1 /* zero padding */ };

/* The word address of each of the descriptor's words, which has n dimensions, at its present iteration. */
void naive_addresses(const struct tw_bd *bd, unsigned n, int64_t *addresses);

#endif
