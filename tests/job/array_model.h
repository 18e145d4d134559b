/*
 * The array as a plan sees it: launches run as whoever runs plans and the device do it, padding included, and as badly
 * as they are allowed to: what is not promised to be a number becomes NaN.
 */
#ifndef TW_TESTS_JOB_ARRAY_MODEL_H
#define TW_TESTS_JOB_ARRAY_MODEL_H

#include "host/host.h"
#include "job/plan.h"

/* Runs all steps in `work`, plan->graph->work_bytes of any content; launches twice, as after a failure. */
void array_model_run(const struct tw_plan *plan, struct tw_host *host, unsigned char *work);

#endif
