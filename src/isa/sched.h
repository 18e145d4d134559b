/*
 * The scheduler: single operations on symbolic registers, with declared loops, to bundles. docs/scheduler.md describes
 * the text and the method.
 *
 *     struct tw_sched_code *code = NULL;
 *     if (tw_schedule(lines, n_lines, &options, &code, &err) == 0) {
 *         tw_layout(code->bundles, code->n_bundles, address, &err);
 *         for each fixup: put its value into code->bundles[...].bundle.op[slot].operands[operand];
 *         tw_bundle_encode(...) for each bundle;
 *     }
 *     tw_sched_free(code);
 */
#ifndef TW_ISA_SCHED_H
#define TW_ISA_SCHED_H

#include "isa/isa.h"
#include "isa/layout.h"

#include <stdio.h>

/* A line of source; text need not end with a NUL. Lines must stay valid for as long as the code that came of them. */
struct tw_source_line {
    const char *text;
    size_t size;
    const char *file; /* for messages */
    unsigned line;    /* from 1 */
};

struct tw_sched_options {
    /* The value of an expression, as tw_parse_context.value; NULL: plain numbers only. Labels of the section itself are
     * not asked for when they stand alone. */
    int (*value)(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err);
    /* Told about every fault in the text, column from 0; may be NULL. The scheduler goes on to the next line. */
    void (*fault)(void *arg, const struct tw_source_line *line, size_t column, const char *sentence);
    void *arg;
};

/* A value that is not known before layout, or not known to the scheduler. */
struct tw_sched_fixup {
    size_t bundle;
    enum tw_slot slot;
    uint8_t operand;
    int64_t target;   /* >= 0: the address of that bundle (n_bundles: of the end) */
    const char *text; /* target < 0: the expression, of size characters */
    size_t size;
    const struct tw_source_line *line; /* where it stands; NULL for what the scheduler added. One of the caller's */
};

struct tw_sched_label {
    const char *name; /* not ended by a NUL */
    size_t size;
    size_t bundle; /* n_bundles: the end of the section */
};

/* What came of one loop. Bundles count whole bundles in the code, not executed ones. */
struct tw_loop_report {
    unsigned line;
    int64_t trips;          /* -1: in a register */
    unsigned operations;    /* of one iteration */
    unsigned interval;      /* bundles from one iteration to the next (initiation interval) */
    unsigned bound;         /* its lower bound */
    char bound_by[64];      /* what sets it: "slot vec (64 of 64)", "the recurrence through line 12" */
    char above[160];        /* why the interval is not the bound; empty when it is */
    unsigned stages;        /* iterations that are under way at once */
    unsigned copies;        /* of the body in the loop, so that values living longer than an interval have own names */
    size_t first, bundles;  /* the loop's own code */
    int64_t passes;         /* through it; -1: in a register; 0: no loop was needed */
    unsigned before, after; /* bundles of other iterations peeled off in front and behind */
    unsigned registers[16]; /* most in use at once in the loop, by enum tw_sched_file */
};

/* Register files for the report: as many as the hardware has stand in tw_sched_file_size. */
enum tw_sched_file {
    TW_FILE_R,
    TW_FILE_P,
    TW_FILE_M,
    TW_FILE_DN,
    TW_FILE_DJ,
    TW_FILE_DC,
    TW_FILE_S,
    TW_FILE_X,  /* 512 bits; a half in use counts as one */
    TW_FILE_BM, /* 512 bits */
    TW_FILE_COUNT
};
extern const char *const tw_sched_file_names[TW_FILE_COUNT];
extern const unsigned tw_sched_file_sizes[TW_FILE_COUNT];

struct tw_sched_code {
    struct tw_placed *bundles;           /* formats not chosen, addresses not set: tw_layout */
    const struct tw_source_line **lines; /* of each bundle: where its first operation stands, or NULL */
    size_t n_bundles;
    struct tw_sched_fixup *fixups;
    size_t n_fixups;
    struct tw_sched_label *labels;
    size_t n_labels;
    struct tw_loop_report *loops;
    size_t n_loops;
    void *memory; /* of the scheduler */
};

/*
 * Schedules the lines of one section. The code expects nothing in flight when it begins, and leaves nothing in flight
 * at its end: every result has landed, every store has been done. It has been proved, by simulation of the bundles as
 * they are, to compute what the text says.
 *
 * Fails with TW_E_FORMAT when the text has faults (all are told to options->fault; err has the first), TW_E_LIMIT when
 * the registers or this program's limits do not suffice, TW_E_STATE when the proof fails (a fault of the scheduler),
 * TW_E_MEMORY, or a code of options->value.
 */
int tw_schedule(const struct tw_source_line *lines, size_t n_lines, const struct tw_sched_options *options,
                struct tw_sched_code **code, struct tw_error *err);
void tw_sched_free(struct tw_sched_code *code);

/* Writes what came of the loops, as text. After tw_layout, with bytes. */
void tw_sched_report(const struct tw_sched_code *code, FILE *out);

#endif
