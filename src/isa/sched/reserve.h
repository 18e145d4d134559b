/* Which units are busy when: one table for straight code and, with cycles taken modulo the interval, for loops. */
#ifndef TW_ISA_SCHED_RESERVE_H
#define TW_ISA_SCHED_RESERVE_H

#include "isa/sched/program.h"

/* Units: the six slots, then the ports and units of the tables, then the memory banks that text tells apart. */
enum {
    SCHED_UNIT_PORT = 6,
    SCHED_UNIT_BANK = SCHED_UNIT_PORT + TW_RESOURCE_COUNT,
    SCHED_UNITS = SCHED_UNIT_BANK + SCHED_BANKS
};
_Static_assert(SCHED_UNITS <= 64, "units are bits of a uint64_t");

/* What one way to write an operation needs, by cycles since its issue. */
struct tw_sched_need {
    uint8_t length;
    uint64_t hold[SCHED_FLIGHT];  /* units that it holds */
    uint64_t avoid[SCHED_FLIGHT]; /* units that nobody may hold then */
};

struct tw_sched_table {
    uint32_t cycles;
    int modulo;
    uint64_t *held;
    uint64_t *avoided;    /* by anyone */
    uint8_t (*count)[64]; /* by how many */
};

void tw_sched_need_of(const struct tw_sched_op *op, unsigned alt, struct tw_sched_need *need);
/* The slots that a way takes, as units. */
uint64_t tw_sched_slots_of(const struct tw_sched_op *op, unsigned alt);

int tw_sched_table_make(struct tw_sched_program *p, uint32_t cycles, int modulo, struct tw_sched_table *t);
void tw_sched_table_clear(struct tw_sched_table *t);
/* Whether an operation can issue in a cycle (linear tables: what lies outside is free). */
int tw_sched_table_fits(const struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle);
/* How many units, counted in each cycle, are in an operation's way. */
unsigned tw_sched_table_conflicts(const struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle);
/* Enters an operation, or takes it out again. */
void tw_sched_table_enter(struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle);
void tw_sched_table_leave(struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle);
/* Whether two operations with these needs, issued in these cycles of a modulo table, get into each other's way. */
int tw_sched_needs_meet(const struct tw_sched_table *t, const struct tw_sched_need *a, int32_t cycle_a,
                        const struct tw_sched_need *b, int32_t cycle_b);

#endif
