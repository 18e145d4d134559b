/*
 * A recorded test programme: points one after the other, each a few instructions, one a cycle. It is assembled, run on
 * an emulated core, and what the points left in memory is compared.
 */
#ifndef TW_CLI_VECTORS_BATCH_H
#define TW_CLI_VECTORS_BATCH_H

#include "cli/vectors.h"
#include "isa/assembler.h"

/* Where a batch's buffers lie in the core's own memory. */
#define TW_BATCH_INPUT 0x0800u
#define TW_BATCH_OUTPUT 0x6000u
#define TW_BATCH_STACK 0xf000u
#define TW_BATCH_INPUT_MAX (TW_BATCH_OUTPUT - TW_BATCH_INPUT)
#define TW_BATCH_OUTPUT_MAX (TW_BATCH_STACK - TW_BATCH_OUTPUT)
#define TW_BATCH_MEMORY 0x10000u /* a core's window */

struct tw_batch_point {
    struct tw_field id;
    const char *unknown;              /* why what it stores cannot be compared; NULL: it can */
    uint8_t is_fault;                 /* not because something is not modelled: an operation failed */
    char reason[TW_SKIP_REASON_SIZE]; /* why an operation of it was left out; "": none was */
};

enum tw_left_out { TW_NOT_LEFT_OUT, TW_NOT_MODELLED = 1, TW_FAILED = 2 };

/* One operation of the programme. */
struct tw_batch_operation {
    uint32_t address;
    uint32_t size;
    size_t point;
    struct tw_bundle bundle;
    uint8_t is_left_out; /* enum tw_left_out: a nop runs in its place */
};

struct tw_batch {
    struct tw_field name;
    size_t n_points, n_operations;
    struct tw_batch_point *points;
    struct tw_batch_operation *operations;
    struct tw_assembly *assembly;
    const struct tw_as_section *text; /* one of the assembly's */
    uint32_t end;                     /* address of the final done */
};

/*
 * Assembles the points of table whose id begins with "name.". Fails with TW_E_FORMAT when there is none or a line does
 * not assemble, with TW_E_MEMORY. Release with tw_batch_close.
 */
int tw_batch_open(const struct tw_table *table, struct tw_field name, struct tw_batch *batch, struct tw_error *err);
void tw_batch_close(struct tw_batch *batch);

/*
 * Runs the batch from reset with an input; memory is TW_BATCH_MEMORY bytes and holds what the points wrote afterwards.
 * An operation that the emulator does not model, or that fails (points with unknown pointers do), is left out, and the
 * batch runs again: points that store what depends on it get a reason in `unknown`. Fails with TW_E_MEMORY, or what a
 * core says of itself.
 */
int tw_batch_run(const struct tw_vectors *vectors, struct tw_batch *batch, const unsigned char *input, size_t size,
                 unsigned char *memory, struct tw_error *err);

#endif
