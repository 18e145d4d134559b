/* Bundles of operations on webs: straight code, peeled iterations and loops, one after the other. */
#ifndef TW_ISA_SCHED_EMIT_H
#define TW_ISA_SCHED_EMIT_H

#include "isa/sched/region.h"

/* An operation in a slot of a bundle. */
struct tw_sched_cell {
    int32_t op; /* -1: none */
    uint8_t alt;
    uint8_t copy; /* iterations of a loop take its copies in turn */
};

struct tw_sched_row {
    struct tw_sched_cell cells[TW_SLOT_COUNT];
    uint8_t flags; /* enum tw_place_flag */
    int32_t run;
};

struct tw_sched_rows {
    struct tw_sched_row *list;
    uint32_t n, room;
    uint32_t *run_first;  /* of each run, and n at the end */
    uint32_t *loop_first; /* of each loop: its own code */
    uint32_t *loop_count; /* 0: none */
};

/* regions: one for each piece; those of loops are not looked at. */
int tw_sched_emit(struct tw_sched_program *p, const struct tw_sched_region *regions, struct tw_sched_rows *rows);

/* The rows that may follow a row, in `next` (room for n_runs + 2); rows->n stands for the end. Returns how many. */
uint32_t tw_sched_rows_behind(const struct tw_sched_program *p, const struct tw_sched_rows *rows, uint32_t row,
                              uint32_t *next);

/* The copy of a loop's values that its last iteration has. */
uint32_t tw_sched_last_copy(const struct tw_sched_modulo *m);
/* The copy of a web that an operation in a cell means. */
uint32_t tw_sched_copy_of(const struct tw_sched_program *p, const struct tw_sched_cell *cell, int32_t web);

#endif
