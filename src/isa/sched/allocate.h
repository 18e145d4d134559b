/* Registers for webs. */
#ifndef TW_ISA_SCHED_ALLOCATE_H
#define TW_ISA_SCHED_ALLOCATE_H

#include "isa/sched/emit.h"

struct tw_sched_allocation {
    uint32_t *first; /* of each web: its first name; its copies follow */
    uint32_t n_names;
    uint16_t *reg;       /* of each name: a register of its kind */
    uint32_t failed;     /* on TW_E_LIMIT: the web that found none */
    uint32_t failed_row; /* and a row where it lives */
    int failed_reg;      /* when it may have no other register: that one, else -1 */
    uint32_t failed_by;  /* then the web that has it at the time; UINT32_MAX: the text itself uses it */
};

/*
 * Gives every name a register such that no two that overlap share one. Returns 0, TW_E_LIMIT when some name finds none
 * (no sentence), or TW_E_MEMORY. used: for each loop, how many registers of each file are in use at once in its code.
 */
int tw_sched_allocate(struct tw_sched_program *p, const struct tw_sched_rows *rows, struct tw_sched_allocation *a,
                      unsigned (*used)[TW_FILE_COUNT]);

/* The register of an operand in a cell. */
int tw_sched_register_of(const struct tw_sched_program *p, const struct tw_sched_allocation *a,
                         const struct tw_sched_cell *cell, const struct tw_sched_ref *ref);

#endif
