/* Proof that bundles compute what the text says. */
#ifndef TW_ISA_SCHED_SIMULATE_H
#define TW_ISA_SCHED_SIMULATE_H

#include "isa/sched/emit.h"

/*
 * Executes the text, one operation after the other on symbolic registers, and the bundles, with their real registers
 * and exposed pipeline, and compares: every read must get the value that the same write of the text has made, memory
 * accesses, locks and streams must keep their order, no unit may be used twice. Several trip counts and ways through
 * the branches are tried. rows tells which operation of the text each slot holds; nothing else of the scheduler's
 * decisions is looked at. Returns 0, TW_E_STATE with a sentence, or TW_E_MEMORY.
 */
int tw_sched_simulate(struct tw_sched_program *p, const struct tw_sched_rows *rows, const struct tw_sched_code *code);
/* The same again for what tw_schedule gave: tests change its bundles and see whether that is found. */
int tw_sched_prove(const struct tw_sched_code *code, struct tw_error *err);

#endif
