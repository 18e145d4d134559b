/* Single operations in a core of their own: what they do to registers and memory, tick by tick. */
#ifndef TW_TESTS_EMU_CORE_TRIAL_H
#define TW_TESTS_EMU_CORE_TRIAL_H

#include "base/random.h"
#include "emu/core.h"
#include "emu/semantics.h"

enum { TRIAL_FILE_BYTES = 8192, TRIAL_TICKS = 26 };

struct trial {
    struct tw_core *core;
    uint8_t memory[TW_DATA_BYTES], before[TW_DATA_BYTES];
    uint32_t file[TW_R_COUNT][8]; /* of each leaf before the first operation */
};

struct trial *trial_make(void);
void trial_free(struct trial *t);

/* The row of an instruction. */
const struct tw_semantics *trial_row(unsigned instruction);
/* Whether an operation can be tried alone: it computes, moves, or accesses memory. */
int trial_is_plain(unsigned instruction);

/* Chooses registers and memory that make sense for these operations: addresses inside, modes that are known. */
void trial_randomize(struct trial *t, struct tw_random *random, const struct tw_operation *ops, unsigned n);

/* A program: operation i in bundle at[i], nops between and behind. */
void trial_program(struct trial *t, const struct tw_operation *ops, const unsigned *at, unsigned n);
/* Resets the core and gives registers and memory what trial_randomize chose. */
void trial_begin(struct trial *t);
/* Runs so many ticks. Returns 0, or 1 when the core has failed. */
int trial_run(struct trial *t, unsigned ticks);

/* Bytes of a register as it is now, zero behind its size; at most 128. */
void trial_read(const struct trial *t, unsigned reg, uint8_t bytes[160]);
/* Other random bits into a register, now. */
void trial_change(struct trial *t, unsigned reg, struct tw_random *random);

int trial_overlap(unsigned a, unsigned b);
/* The cycle of value k of an operation. */
struct tw_operand_cycle trial_cycle(const struct tw_operation *op, unsigned k);
/* Register value k (operands, defs, uses); -1 for immediates and behind the last. *is_out gets its role. */
int trial_register(const struct tw_operation *op, unsigned k, int *is_out);
unsigned trial_values(const struct tw_operation *op);

#endif
