/* Proves of a plan, from the graph and the overlay's figures alone, that it keeps every rule of job/plan.h. */
#ifndef TW_TESTS_JOB_PLAN_CHECK_H
#define TW_TESTS_JOB_PLAN_CHECK_H

#include "job/plan.h"

/* Fails the test with a sentence and the graph's list when a rule is broken. */
void plan_check(const struct tw_graph *original, const struct tw_plan *plan);

/* Steps that are launches. */
int plan_launches(const struct tw_plan *plan);

#endif
