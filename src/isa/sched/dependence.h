/* What must stay how far behind what. */
#ifndef TW_ISA_SCHED_DEPENDENCE_H
#define TW_ISA_SCHED_DEPENDENCE_H

#include "isa/sched/program.h"

/* Node `to` issues at least `distance` bundles after node `from` of `later` iterations before. */
struct tw_sched_edge {
    int32_t from, to;
    int16_t distance;
    uint8_t later;
};

struct tw_sched_edges {
    struct tw_sched_edge *list;
    uint32_t n, room;
};

/*
 * The edges between n operations that follow each other in the text. loop >= 0: they are that loop's body, and edges to
 * the next iteration are listed too. The list is the arena's. Returns 0 or TW_E_MEMORY.
 */
int tw_sched_depend(struct tw_sched_program *p, const uint32_t *ops, uint32_t n, int32_t loop,
                    struct tw_sched_edges *edges);

#endif
