/* A core with a program made from text, and memory in all four windows. */
#ifndef TW_TESTS_EMU_CORE_MACHINE_H
#define TW_TESTS_EMU_CORE_MACHINE_H

#include "emu/core.h"
#include "isa/isa.h"

struct machine {
    struct tw_core *core;
    struct tw_error err;
    uint8_t memory[TW_WINDOWS][TW_DATA_BYTES];
};

enum { MACHINE_STRICT = 1 };

/* Assembles a text; a message of the assembler fails the test, unless the text is .foreign. Memory is zero. */
struct machine *machine_make(const char *text, int flags, const struct tw_unknown *unknown);
/* The same for a file below the project's folder. */
struct machine *machine_load(const char *path, int flags);
void machine_free(struct machine *m);

/* Runs to the end, at most so many cycles. */
enum tw_core_state machine_run(struct machine *m, uint64_t cycles);

/* Fails the test when the program does not reach done. */
void machine_finish(struct machine *m);

uint32_t machine_word(const struct machine *m, unsigned reg);
void machine_set(struct machine *m, unsigned reg, uint32_t value);
/* A word of the own memory. */
uint32_t machine_memory(const struct machine *m, uint32_t offset);
void machine_store(struct machine *m, uint32_t offset, uint32_t value);

#endif
