/* Calls a kernel as a core's program does, on the emulator in strict mode. */
#ifndef TW_TESTS_KERNELS_CALL_H
#define TW_TESTS_KERNELS_CALL_H

#include "emu/core/machine.h"

struct call_register {
    unsigned reg; /* TW_R_* */
    uint32_t value;
};

/* A program that calls the kernel src/kernels/NAME.s and is done right behind. Free it with machine_free. */
struct machine *call_make(const char *name);
/* The same for the kernel NAME of a text. */
struct machine *call_make_text(const char *name, const char *kernel);

/*
 * Runs it over own memory, which is memory before and after, with these registers. Fails the test when something goes
 * wrong, or when the core had to wait for a bank of memory. Returns how many bundles were issued.
 */
uint64_t call_kernel(struct machine *m, const struct call_register *registers, size_t n, uint8_t *memory);

#endif
