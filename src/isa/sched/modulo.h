/* Times for the operations of a loop, so that an iteration can begin every `interval` bundles. */
#ifndef TW_ISA_SCHED_MODULO_H
#define TW_ISA_SCHED_MODULO_H

#include "isa/sched/dependence.h"
#include "isa/sched/reserve.h"

enum { SCHED_INTERVALS = 1000 }; /* the longest interval */

struct tw_sched_modulo {
    int32_t loop;
    uint32_t n; /* operations of the body */
    uint32_t *ops;
    struct tw_sched_edges edges;
    struct tw_sched_need (*needs)[SCHED_ALT];

    uint32_t bound; /* least interval that resources and recurrences allow */
    char bound_by[64];
    char above[160]; /* why the bound is not reached */

    /* The search's own: where it stands, and what it measures distances with. */
    uint64_t bottleneck; /* units that set the bound; 0: a recurrence does */
    uint32_t variant, step, attempts, plain;
    uint32_t longest; /* the interval at which iterations need not overlap */
    uint64_t work;
    uint32_t measured; /* the interval that `far` is for */
    int16_t *far;      /* [from * n + to]: least distance over all ways, by interval */
    int16_t *near;     /* [to * n + from]: the same */
    struct tw_sched_table table;

    /* The schedule found last. */
    uint32_t interval, copies;
    int32_t *time; /* of each operation in iteration 0; the least is 0 */
    uint8_t *alt;
    int32_t span;    /* greatest time + 1 */
    uint32_t start;  /* cycles of iteration 0 before the loop's own code */
    uint32_t peeled; /* iterations begun outside of it */
    int64_t passes;  /* through it; -1: in a register, 0: all iterations are laid out one after the other */
};

static inline const struct tw_sched_op *tw_sched_body_op(const struct tw_sched_program *p,
                                                         const struct tw_sched_modulo *m, uint32_t i)
{
    return &p->ops[m->ops[i]];
}

/* Sets bound, bound_by and bottleneck. Returns 0 or a code (bound.c). */
int tw_sched_bound(struct tw_sched_program *p, struct tw_sched_modulo *m);
/*
 * Derives the rest of a schedule from times and ways that are set: names, passes, what is peeled off. Returns 1, 0 when
 * dependences, registers or the facts about the trips do not allow it, or a code (accept.c).
 */
int tw_sched_accept(struct tw_sched_program *p, struct tw_sched_modulo *m);

/* Prepares the search for a loop's schedules. Returns 0 or a code. */
int tw_sched_modulo_make(struct tw_sched_program *p, int32_t loop);
/*
 * Finds the next schedule, the most promising first; the last ones let no iterations overlap. Returns 0, or TW_E_LIMIT
 * when there is none left.
 */
int tw_sched_modulo_next(struct tw_sched_program *p, struct tw_sched_modulo *m);
/*
 * A schedule whose iterations do not overlap; in_order: no operation issues before one that stands earlier in the text.
 * Returns 0, TW_E_LIMIT when even this one is not possible, or TW_E_MEMORY.
 */
int tw_sched_modulo_plain(struct tw_sched_program *p, struct tw_sched_modulo *m, int in_order);
/* Notes why a schedule was not good enough, for the report; the first reason stays. */
void tw_sched_modulo_note(struct tw_sched_modulo *m, const char *fmt, ...) TW_PRINTF(2, 3);

/* Cycles of all iterations before, in and behind the loop's code; those behind begin at 0 after the last pass. */
static inline int32_t tw_sched_after(const struct tw_sched_modulo *m, int32_t op, int32_t from_last)
{
    int32_t interval = (int32_t)m->interval;
    return ((int32_t)m->peeled - 1 - from_last) * interval + m->time[op] - (int32_t)m->start;
}

#endif
