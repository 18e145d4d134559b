/*
 * The plainest assembler for what the disassembler writes: labels, bundles, .section, .text, .org, .half, .byte, .end
 * and comments. For tests of the disassembler alone.
 */
#ifndef TESTS_ISA_REASSEMBLE_H
#define TESTS_ISA_REASSEMBLE_H

#include "isa/isa.h"

struct reassembled_section {
    char name[64];
    uint8_t bytes[TW_PROGRAM_BYTES];
    uint8_t there[TW_PROGRAM_BYTES]; /* 1: the text gave this byte */
    size_t size;                     /* how many it gave */
};

struct reassembled {
    struct reassembled_section *sections;
    size_t n_sections;
    size_t n_labels, n_uses; /* labels defined, and operands that name one */
};

/* Fails the running test where the text is wrong, a label is missing or defined twice, or two lines give one byte. */
void reassemble(const char *text, struct reassembled *r);
void reassembled_free(struct reassembled *r);

#endif
