/* A launch's operands in the area: margins of zeros, and what caches need before and after. */
#ifndef TW_JOB_OPERANDS_H
#define TW_JOB_OPERANDS_H

#include "job/launch.h"

/*
 * Before a launch: zeros around those operands that something else has written, as plan.h says, and the NPU sees all
 * that it reads and may write where it writes. Fails with TW_E_IO.
 */
int operands_prepare(struct tw_runner *r, const struct launch *launch, struct tw_error *err);

/* Before the CPU runs these operations of g, or only looks at tensor id, on the runner's area. Fail with TW_E_IO. */
int operands_for_host(struct tw_runner *r, const struct tw_graph *g, int32_t first, int32_t count,
                      struct tw_error *err);
int operands_look(struct tw_runner *r, const struct tw_graph *g, tw_id id, struct tw_error *err);

#endif
