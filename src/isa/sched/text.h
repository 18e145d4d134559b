/* Reading scheduled text: what the readers of lines, operations and directives share. */
#ifndef TW_ISA_SCHED_TEXT_H
#define TW_ISA_SCHED_TEXT_H

#include "isa/sched/program.h"
#include "isa/sched/span.h"

enum { SCHED_PLACEHOLDERS = 8 };

/* While one operation is parsed, each symbolic register in it is some real one of its kind. */
struct tw_sched_placeholder {
    int16_t var;
    uint16_t reg;
};

struct tw_sched_reader {
    struct tw_sched_program *p;
    size_t line;
    int code; /* of a failure that is not the text's */

    struct tw_sched_placeholder placeholders[SCHED_PLACEHOLDERS];
    unsigned n_placeholders;
    uint64_t taken[(TW_R_COUNT + 63) / 64]; /* smallest registers that stand in the operation */

    uint32_t room_ops, room_vars, room_pieces, room_loops, room_runs;
    int32_t loop;     /* the one that is open, or -1 */
    unsigned n_bad;   /* loops whose .loop had a fault, and which have not ended */
    int after_branch; /* the run has ended */
};

/* ---- text.c */

/* A place in the line (NULL: the whole line). */
struct tw_sched_text_place tw_sched_here(const struct tw_sched_reader *r, const char *at);
/* Tells a fault at a place in the line (NULL: the whole line), and returns 1. */
int tw_sched_fault_at(struct tw_sched_reader *r, const char *at, const char *fmt, ...) TW_PRINTF(3, 4);
int tw_sched_reader_no_memory(struct tw_sched_reader *r);
/* The values of immediates, for the parser: arg is the reader. */
int tw_sched_value(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err);
/* The number of a label or of a symbolic register, or -1. */
int tw_sched_find_label(const struct tw_sched_program *p, struct tw_sched_span name);
int tw_sched_find_var(const struct tw_sched_program *p, struct tw_sched_span name);
/* Adds a register's leaves to a set. */
void tw_sched_set_leaves(uint64_t *set, int reg);
/* Whether two registers are the same one in part. */
int tw_sched_share_leaf(int a, int b);
/* Room for one more of something; NULL without memory. */
void *tw_sched_grow(struct tw_sched_reader *r, void *array, uint32_t n, uint32_t *room, size_t size);
/* A new symbolic register; NULL after a fault or without memory. */
struct tw_sched_var *tw_sched_new_var(struct tw_sched_reader *r, unsigned kind);
int tw_sched_new_piece(struct tw_sched_reader *r, int32_t loop);
int tw_sched_new_run(struct tw_sched_reader *r);
struct tw_sched_piece *tw_sched_current_piece(struct tw_sched_reader *r);

/* ---- operation.c; those that read text return 0, or 1 after telling a fault */

int tw_sched_statement(struct tw_sched_reader *r, struct tw_sched_span s);
/* The number of a word that stands for several mnemonics, or -1. */
int tw_sched_find_choice(struct tw_sched_span mnemonic);
/* Adds an operation of the scheduler's own, written in text that is right; choice: of its mnemonic. */
int tw_sched_add_own(struct tw_sched_reader *r, const char *text, int choice);
/* The number of an alias tag, which is new perhaps; -1 after a fault. */
int tw_sched_alias_tag(struct tw_sched_reader *r, struct tw_sched_span name);

/* ---- directive.c */

int tw_sched_directive(struct tw_sched_reader *r, struct tw_sched_span s);

#endif
