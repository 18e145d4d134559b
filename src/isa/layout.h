/*
 * Where bundles lie in program memory. A bundle may be encoded in any format that carries its slots; larger ones hold
 * explicit nops. This is used to bring jump targets, loop starts and loop ends to 16-byte addresses, and loop ends far
 * enough from the writing of LC, LS and LE, without a single extra cycle.
 */
#ifndef TW_ISA_LAYOUT_H
#define TW_ISA_LAYOUT_H

#include "isa/isa.h"

enum tw_place_flag {
    TW_PLACE_ALIGN = 1,   /* begins at a 16-byte address: a jump target, a loop start */
    TW_PLACE_LOOP_END = 2 /* the last bundle of a zero-overhead loop: 16 bytes long and aligned */
};

struct tw_placed {
    struct tw_bundle bundle; /* format -1: layout chooses it; else it stays */
    uint8_t flags;           /* enum tw_place_flag */
    uint8_t bytes;           /* result: the size */
    uint32_t address;        /* result: the byte address in program memory */
};

/*
 * Gives n bundles, one after the other from `address` (even) on, their formats, sizes and addresses. The bundle behind
 * the delay slots of a jl is aligned too: it is where the callee returns to. Least total size under these rules.
 * Returns 0, or a code with a sentence that names the bundle by its number: TW_E_FORMAT when fixed formats make an
 * alignment or the distance to a loop end impossible, or no format carries the slots; TW_E_LIMIT when the code ends
 * behind program memory (TW_PROGRAM_BYTES); TW_E_MEMORY.
 */
int tw_layout(struct tw_placed *bundles, size_t n, uint32_t address, struct tw_error *err);

/* Whether an operation writes LC, LS or LE; whether it reads or writes one of them. */
int tw_writes_loop_register(const struct tw_operation *op);
int tw_names_loop_register(const struct tw_operation *op);

#endif
