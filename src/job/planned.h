/* Plans that are kept: a runner's, with what was made for their launches, found again by the graph that they are for.
 */
#ifndef TW_JOB_PLANNED_H
#define TW_JOB_PLANNED_H

#include "job/launch.h"

struct planned {
    struct planned *next;
    struct tw_tensor *tensors; /* of the graph, to know it again */
    struct tw_op *ops;
    int32_t n_tensors, n_ops;
    int apart;
    struct tw_plan *plan;    /* NULL: it cannot be planned */
    struct launch *launches; /* one for each step; of a step for the CPU, count 0 */
    int is_for_host;         /* nothing of it is for the array, or it cannot be planned */
};

/*
 * Finds or makes the plan of g, which becomes the first of r->plans. Only a failure to keep anything is one, with
 * TW_E_MEMORY; what else goes wrong is told to the array, and the plan is for the host.
 */
int planned_find(struct tw_runner *r, const struct tw_graph *g, struct planned **planned, struct tw_error *err);
void planned_free(struct planned *planned);

/* Gives back the control code of all plans but this one. */
void planned_drop_others(struct tw_runner *r, const struct planned *planned);

#endif
