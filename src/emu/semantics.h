/*
 * What each instruction computes, apart from when: pure functions from the values that an operation reads to those that
 * it writes. The core (core.h) reads and lands them at their cycles; the plain C functions here are the definition that
 * every faster path must equal bit for bit.
 *
 * Values are little-endian byte strings of the register's size in bits, rounded up to bytes: vector, accumulator and
 * mask registers as they lie in the register file (x: 64 bytes, low half first), pairs low register first. Everything of
 * at most 32 bits (scalar, 20-bit and control registers, immediates as written, code addresses) is one uint32_t, 20-bit
 * registers without sign extension. A d register of a 2D walk is four uint32_t m, dn, dj, dc; of a 3D walk the inner
 * four, then the outer four. Buffers are aligned to 64 bytes when they are 32 bytes or larger, else to 16.
 *
 * The sticky status registers (srSRS_of, srUPS_of, srFPFlags, srF2FFlags, srF2IFlags, srCompr_uf, srSparse_of) get the
 * bits that the operation raises; the core adds them to those that are set already.
 */
#ifndef TW_EMU_SEMANTICS_H
#define TW_EMU_SEMANTICS_H

#include "isa/isa.h"

#include <stdint.h>

/*
 * Values are numbered as the cycles of a schedule class: the explicit operands in the order of tw_instruction.operands,
 * then the implicit defs, then the implicit uses. in[k] is NULL for outputs and out[k] for inputs.
 */
enum tw_value_place {
    TW_VALUE_MEMORY = 31, /* in: the bytes that a load found; out: the bytes that a store writes */
    TW_VALUES_MAX = 32
};

/* What the core does around the function. */
enum tw_action {
    TW_ACTION_COMPUTE, /* nothing else */
    TW_ACTION_LOAD,    /* addresses and reads `bytes` of memory first; function NULL: the result is those bytes */
    TW_ACTION_STORE,   /* addresses, and writes `bytes` of memory afterwards; function NULL: the data operand's bytes */
    TW_ACTION_STREAM,  /* stream and cascade moves */
    TW_ACTION_LOCK,
    TW_ACTION_BRANCH,
    TW_ACTION_TILE,   /* access to the tile's registers */
    TW_ACTION_ADDRESS /* padda and the like: only moves a pointer */
};

struct tw_vector_kernels; /* vector_kernels.h */
struct tw_semantics;

/*
 * Returns NULL, or why the result is not known: part of a sentence as "accumulator mode 2 in an integer instruction is
 * not modelled". The core then stops and says which instruction at which address. Outputs are wholly written on success,
 * and do not overlap inputs.
 */
typedef const char *tw_semantic_function(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                         const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX]);

/* One row for each instruction. */
struct tw_semantics {
    uint16_t instruction; /* TW_I_* */
    uint8_t action;       /* enum tw_action */
    uint8_t bytes;        /* of the memory access */
    tw_semantic_function *function;
    int16_t a, b, c, d; /* whatever the function wants to know: lane widths, signs, a mode */
};

/* The rows of vector instructions (semantics_vector*.c) and of all others (semantics_scalar.c, ...): together each
 * instruction of the table once, which a test proves. */
const struct tw_semantics *tw_vector_semantics(unsigned *count);
const struct tw_semantics *tw_scalar_semantics(unsigned *count);

#endif
