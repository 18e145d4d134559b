/* Operands for vector instructions: random ones, and those where mistakes hide. */
#ifndef TESTS_EMU_VECTOR_RANDOM_VALUES_H
#define TESTS_EMU_VECTOR_RANDOM_VALUES_H

#include "base/random.h"
#include "emu/semantics.h"

#define VALUE_BYTES 128

/* The values of one call; in and out point into bytes. */
struct call {
    _Alignas(64) unsigned char bytes[TW_VALUES_MAX][VALUE_BYTES];
    const void *in[TW_VALUES_MAX];
    void *out[TW_VALUES_MAX];
    unsigned sizes[TW_VALUES_MAX]; /* of outputs; 0: none */
};

/* Fills *call for a row: every input is set, every output is zero. */
void random_call(struct tw_random *random, const struct tw_semantics *row, struct call *call);

#endif
