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

struct tw_disassembly {
    size_t bundles;   /* decoded */
    size_t undecoded; /* stretches of a bundle's size that are no bundle */
    size_t filler;    /* bytes behind the last bundle of a run that only fill it up */
};

/*
 * Writes the runs, which must stand in order of their addresses and not overlap, to out; with out NULL it only counts.
 * Labels are named prefix, '_' and the address. Fails with TW_E_MEMORY; whether out took all is for the caller to ask.
 */
int tw_disassemble(const struct tw_code_run *runs, size_t n_runs, const char *prefix, FILE *out,
                   struct tw_disassembly *result, struct tw_error *err);

#endif
