/* Times for straight code, among the parts of the loops before and behind it that are peeled off. */
#ifndef TW_ISA_SCHED_REGION_H
#define TW_ISA_SCHED_REGION_H

#include "isa/sched/modulo.h"

struct tw_sched_region {
    uint32_t n;
    uint32_t *ops;
    int32_t *time; /* from the first bundle behind the loop before */
    uint8_t *alt;
    int32_t tail;   /* where iteration 0 of the loop behind begins */
    int32_t length; /* bundles, peeled ones included */
};

/*
 * Schedules the straight operations of a piece. in_order: none issues before one that stands earlier in the text, which
 * keeps values short. Returns 0 or a code.
 */
int tw_sched_region(struct tw_sched_program *p, uint32_t piece, int in_order, struct tw_sched_region *region);

/* The loops before and behind a straight piece, or NULL. */
struct tw_sched_modulo *tw_sched_loop_before(const struct tw_sched_program *p, uint32_t piece);
struct tw_sched_modulo *tw_sched_loop_behind(const struct tw_sched_program *p, uint32_t piece);

/* Cycles from an operation's issue until everything it does is done. */
int32_t tw_sched_flight(const struct tw_sched_op *op);

#endif
