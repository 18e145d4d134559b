/*
 * Recorded results of the chip, and of its maker's model, against the emulator: one function for each kind of file.
 * Each reports every case of the table as passed, failed or skipped, and fails only when the table itself cannot be
 * read.
 */
#ifndef TW_CLI_VECTORS_H
#define TW_CLI_VECTORS_H

#include "cli/vectors_report.h"

struct tw_vector_kernels;

/* What all of them share. */
struct tw_vectors {
    const char *folder;
    const char *programs; /* a second folder, for programs and their inputs; may be NULL */
    const struct tw_vector_kernels *kernels;
};

typedef int tw_vectors_function(const struct tw_vectors *vectors, const struct tw_table *table,
                                struct tw_vectors_report *report, struct tw_error *err);

/* vectors_arithmetic.c */
tw_vectors_function tw_vectors_bf16_mac, tw_vectors_int_mac, tw_vectors_shuffle;
/* vectors_convert.c */
tw_vectors_function tw_vectors_fp32_to_bf16, tw_vectors_bf16_to_fp32, tw_vectors_floor, tw_vectors_resize;
/* vectors_model.c */
tw_vectors_function tw_vectors_model_srs, tw_vectors_model_ups, tw_vectors_model_pack;
/* vectors_chain.c */
tw_vectors_function tw_vectors_chain;
/* vectors_program.c */
tw_vectors_function tw_vectors_program;

/* The columns of a table by their names: {&number, "name"}, ... */
struct tw_wanted_column {
    unsigned *number;
    const char *name;
};
int tw_vectors_columns(const struct tw_table *table, const struct tw_wanted_column *wanted, size_t count,
                       struct tw_error *err);

#define TW_CELL_BYTES 128 /* the largest register */

/* One instruction with its values, by operand names. */
struct tw_instruction_call {
    const char *unknown; /* why it could not be run; NULL: it was */
    unsigned char result[TW_CELL_BYTES];
};
struct tw_named_value {
    const char *name; /* an operand, or an implicit register: "s1", "crRnd" */
    const void *value;
    uint8_t size; /* bytes */
};
/* Values that are not given are zero; the result is what the first output gets. */
void tw_instruction_call(const struct tw_vectors *vectors, uint16_t instruction, const struct tw_named_value *values,
                         size_t count, struct tw_instruction_call *call);

#endif
