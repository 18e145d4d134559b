/* When names hold their registers. */
#ifndef TW_ISA_SCHED_OCCUPANCY_H
#define TW_ISA_SCHED_OCCUPANCY_H

#include "isa/sched/emit.h"

/*
 * Moments are numbered 2 * row for what results of a bypass have left, 2 * row + 1 for what all others have; the end
 * has two more. Leaves are those of all names, then those of the machine, for real registers that the text names.
 */
struct tw_sched_occupancy {
    uint32_t n_names;
    uint32_t *first;        /* of each web: its first name; its copies follow; n_names at the end */
    uint32_t *leaf_of_name; /* its first leaf */
    uint8_t *kind_of_name;
    uint32_t *web_of_name;
    uint32_t n_leaves, real; /* real: number of the machine's first leaf */
    uint32_t n_moments;
    size_t words;   /* of a set of moments */
    uint64_t *held; /* of each leaf: the moments at which it is held */
};

int tw_sched_occupy(struct tw_sched_program *p, const struct tw_sched_rows *rows, struct tw_sched_occupancy *o);

/* The set of a name's leaf. */
static inline const uint64_t *tw_sched_held(const struct tw_sched_occupancy *o, uint32_t name, unsigned leaf)
{
    return o->held + (size_t)(o->leaf_of_name[name] + leaf) * o->words;
}

#endif
