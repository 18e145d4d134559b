/*
 * A section's program as the stages of the scheduler see it, and what they add to it:
 *
 *   text.c, operation.c, directive.c   lines of text -> operations, symbolic registers, loops
 *   rename.c       symbolic registers -> webs: each a value, or values that must share a register
 *   dependence.c   what must stay how far behind what
 *   bound.c, modulo.c, accept.c         loops -> times of their operations
 *   region.c       straight code between loops -> times of its operations
 *   emit.c         times -> bundles of operations on webs, with loops peeled
 *   occupancy.c, allocate.c             webs -> registers
 *   simulate.c     proves that the bundles compute what the text says
 *   sched.c        calls them in turn
 *
 * Cycles are counted in issued bundles: an operand with cycle 1 is read or written in the bundle's own cycle.
 */
#ifndef TW_ISA_SCHED_PROGRAM_H
#define TW_ISA_SCHED_PROGRAM_H

#include "isa/parse.h"
#include "isa/sched.h"
#include "isa/sched/arena.h"

enum {
    SCHED_OPS = 4096,     /* most operations of a section */
    SCHED_VARS = 2048,    /* symbolic registers */
    SCHED_TAGS = 16,      /* alias tags */
    SCHED_BANKS = 16,     /* bank tags */
    SCHED_PIECES = 1024,  /* loops and what lies between them */
    SCHED_LOOP_OPS = 768, /* operations of a loop */
    SCHED_ALT = 4,        /* ways to write one operation */
    SCHED_REFS = TW_OPERANDS_MAX + 8,
    SCHED_FLIGHT = 16, /* no operation is in flight longer, in cycles */
    SCHED_LEAVES = 8,  /* of a register */
    SCHED_CANDIDATES = 36,
    SCHED_COPIES = 8, /* of a loop's body */
    SCHED_IMPLICIT = 255
};

/* ---- symbolic registers */

/* A part of a register: leaves [first, first + count); wide: the whole x around a half of it. */
struct tw_sched_part {
    const char *name; /* "" for the whole */
    uint8_t first, count, wide;
};

/* A kind of register that text can ask for. */
struct tw_sched_kind {
    const char *name;
    uint64_t groups; /* bit set of TW_G_* */
    uint8_t n_leaves, n_parts;
    struct tw_sched_part parts[9];
};
extern const struct tw_sched_kind tw_sched_kinds[];
extern const unsigned tw_sched_kind_count;

struct tw_sched_text_place {
    size_t line, column; /* number of the line, place in it */
};

struct tw_sched_var {
    const char *name; /* with its '%' */
    size_t size;
    uint8_t kind;
    int16_t fixed;   /* another name of this TW_R_*, or -1 */
    int16_t in, out; /* where its value is on entry, and must be at the end; or -1 */
    struct tw_sched_text_place in_place, out_place;
    int32_t in_web, out_web;
    uint32_t leaf; /* number of its first leaf among those of all symbolic registers */
    size_t line;
};

/* One register that an operation reads or writes. */
struct tw_sched_ref {
    uint8_t operand; /* SCHED_IMPLICIT: none */
    uint8_t writes;
    uint8_t cycle, bypass;
    int16_t var; /* -1: the physical register reg */
    uint16_t reg;
    uint8_t part;         /* of the variable's kind */
    uint8_t first, count; /* the leaves meant, of the variable or of reg */
    int32_t web;          /* of the variable; -1 without one */
};

/* ---- operations */

struct tw_sched_op {
    struct tw_operation
        alt[SCHED_ALT]; /* the same operands and cycles in different slots; placeholders for registers */
    uint8_t n_alt;
    uint8_t n_refs;
    struct tw_sched_ref refs[SCHED_REFS];
    uint32_t flags;              /* enum tw_instruction_flag */
    uint8_t mem_first, mem_last; /* cycles of memory access, 0: none */
    uint8_t part_word;           /* a store of 8 or 16 bits */
    int8_t tag, bank;            /* -1: any, unknown */
    uint8_t added;               /* by the scheduler: loop set-up */
    int8_t immediate;            /* the operand that has no value yet, or -1 */
    int32_t label;               /* it is the address of that label; -1: the expression below */
    const char *text;
    size_t text_size;
    size_t line, column; /* number of the line, place in it */
    int32_t piece;
};

/* ---- structure */

enum sched_setup { SETUP_START, SETUP_END, SETUP_COUNT, SETUP_SHIFT };

struct tw_sched_loop {
    size_t line;
    int64_t trips;           /* -1: in a register */
    int32_t trip_op;         /* trips < 0: the first of the operations that make LC of it */
    int64_t least, multiple; /* facts about the trips */
    uint32_t independent;    /* tags whose places differ between iterations */
    int32_t piece;
    int32_t setup;                  /* the first operation that writes LS; LE and LC follow */
    struct tw_sched_modulo *modulo; /* what modulo.c found */
};

/* Operations that follow each other in the text: straight code, or the body of a loop. */
struct tw_sched_piece {
    uint32_t first, count; /* operations */
    int32_t loop;          /* -1: straight */
    int32_t run;
};

/* Pieces between labels and branches, straight first and last. Between runs nothing is in flight. */
struct tw_sched_run {
    uint32_t first, count; /* pieces */
    int32_t branch;        /* the operation that ends it, or -1 */
    uint8_t labelled;      /* something jumps to it */
};

struct tw_sched_label_place {
    const char *name;
    size_t size;
    size_t line;
    int32_t run; /* -1: not seen yet */
};

/* What one register holds from a first write to the last read of it: an allocation unit. */
struct tw_sched_web {
    int16_t var;
    uint8_t kind;
    uint64_t candidates; /* bit set over the kind's registers */
    int32_t rotates;     /* the loop each of whose iterations has its own, or -1 */
    int16_t border;      /* the register that .in or .out asks for, or -1 */
    uint8_t border_out;  /* it was .out */
};

struct tw_sched_program {
    struct tw_arena arena;
    const struct tw_source_line *lines;
    size_t n_lines;
    const struct tw_sched_options *options;
    struct tw_error *err;
    size_t n_faults; /* in the text */

    struct tw_sched_op *ops;
    uint32_t n_ops;
    struct tw_sched_var *vars;
    uint32_t n_vars, n_var_leaves;
    struct tw_sched_piece *pieces;
    uint32_t n_pieces;
    struct tw_sched_loop *loops;
    uint32_t n_loops;
    struct tw_sched_run *runs;
    uint32_t n_runs;
    struct tw_sched_label_place *labels;
    uint32_t n_labels;
    const char *tags[SCHED_TAGS], *banks[SCHED_BANKS];
    size_t tag_sizes[SCHED_TAGS], bank_sizes[SCHED_BANKS];
    uint32_t n_tags, n_banks;
    uint64_t keep[(TW_R_COUNT + 63) / 64]; /* smallest registers that must not be used */

    struct tw_sched_web *webs;
    uint32_t n_webs;

    /* The registers of each kind, in the order of their choice. */
    uint16_t registers[32][SCHED_CANDIDATES];
    uint8_t n_registers[32];
    /* Registers by their first leaf: chains through next_of, -1 ends. */
    int16_t first_with[TW_R_COUNT], next_of[TW_R_COUNT];
};

/* The register that a part of a register of some kind is, or -1. */
void tw_sched_list_registers(struct tw_sched_program *p);
int tw_sched_part(const struct tw_sched_program *p, uint16_t reg, const struct tw_sched_part *part);

static inline const struct tw_sched_part *tw_sched_ref_part(const struct tw_sched_program *p,
                                                            const struct tw_sched_ref *r)
{
    return &tw_sched_kinds[p->vars[r->var].kind].parts[r->part];
}

static inline int tw_sched_no_memory(const struct tw_sched_program *p)
{
    return tw_fail(p->err, TW_E_MEMORY, "no memory to schedule %u operations", p->n_ops);
}

/* Tells a fault of the text at an operation, or at a place. */
void tw_sched_fault(struct tw_sched_program *p, const struct tw_sched_op *op, const char *fmt, ...) TW_PRINTF(3, 4);
void tw_sched_fault_in(struct tw_sched_program *p, struct tw_sched_text_place place, const char *fmt, ...)
    TW_PRINTF(3, 4);
/* As tw_sched_fault_in, for what ends the work with a code; returns it. */
int tw_sched_fail(struct tw_sched_program *p, struct tw_sched_text_place place, int code, const char *fmt, ...)
    TW_PRINTF(4, 5);

static inline struct tw_sched_text_place tw_sched_place_of(const struct tw_sched_op *op)
{
    return (struct tw_sched_text_place){op->line, op->column};
}

/*
 * The runs that may follow a run, in `runs` (room for n_runs + 1); n_runs stands for leaving the section. Returns how
 * many.
 */
uint32_t tw_sched_successors(const struct tw_sched_program *p, uint32_t run, uint32_t *runs);

/* ---- the stages */

int tw_sched_text(struct tw_sched_program *p);
int tw_sched_rename(struct tw_sched_program *p);

#endif
