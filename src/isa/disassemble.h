/* A core's program as assembly text that gives the same bytes again. docs/isa.md describes the text. */
#ifndef TW_ISA_DISASSEMBLE_H
#define TW_ISA_DISASSEMBLE_H

#include "isa/isa.h"

#include <stdio.h>

/* A run of bytes of program memory. */
struct tw_code_run {
    uint32_t address;
    const uint8_t *bytes;
    size_t size;
};

/* A bundle deals with a register out of its time on purpose; the name is any text. */
struct tw_code_old {
    uint32_t address;
    const char *name;
};

struct tw_disassemble_options {
    const char *prefix; /* of labels: behind it come '_' and the address */
    /* In the order of addresses: written before their bundles as .old, if these are there and the registers known. */
    const struct tw_code_old *old;
    size_t n_old;
};

struct tw_disassembly {
    size_t bundles;   /* decoded */
    size_t undecoded; /* stretches of a bundle's size that are no bundle */
    size_t filler;    /* bytes behind the last bundle of a run that only fill it up */
};

/*
 * Writes the runs, which must stand in order of their addresses and not overlap, to out; with out NULL it only counts.
 * Fails with TW_E_MEMORY; whether out took all is for the caller to ask.
 */
int tw_disassemble(const struct tw_code_run *runs, size_t n_runs, const struct tw_disassemble_options *options,
                   FILE *out, struct tw_disassembly *result, struct tw_error *err);

#endif
