/*
 * How a graph comes to the array: it is lowered to one whose products lie as the overlay takes them (src/overlay), and
 * cut into steps, each a run of operations for the CPU or a launch of products. docs/job.md says how.
 */
#ifndef TW_JOB_PLAN_H
#define TW_JOB_PLAN_H

#include "graph/graph.h"
#include "overlay/shape.h"

/* Cycles that the products of a launch may take together, as expected by shape.c: the driver stops a command that takes
 * seconds. */
#define TW_PLAN_LAUNCH_CYCLES UINT64_C(500000000)

enum tw_step_kind { TW_STEP_HOST, TW_STEP_LAUNCH };

struct tw_step {
    enum tw_step_kind kind;
    int32_t first, count; /* operations of plan->graph */
};

/*
 * The graph computes what the original does, in the same bound memory, and can be run whole by the CPU executor. Steps
 * follow one another and cover all operations. All operations of a launch are products, with
 *
 *     a        a window of a bf16 temporary
 *     b        the same, or a constant of one matrix (of any type of weights), which is to be packed
 *     bias     any f32 memory that no operation writes, or none
 *     addend   a window of an f32 temporary, or none
 *     out      a window of a temporary that is f32 or bf16, and that no other operation of the launch writes
 *
 * with scale 1, without accumulate. Matrices of a batch are products of the overlay one after the other. Rows of a
 * window in a temporary are tw_plan_pitch apart, and its memory has room for what the device reads and writes beyond
 * the window. A batched output may have its matrices side by side; each then writes over the next ones' columns, which
 * are written later.
 *
 * Who runs a launch zeroes around each of its operands a, b and addend in temporaries, unless the launch itself writes
 * it: rows from the window's last up to a multiple of 32, and columns likewise. Nothing else lies there.
 *
 * A launch can be run again as long as no later step has begun: it overwrites nothing that it has read.
 */
struct tw_plan {
    struct tw_graph *graph;
    struct tw_step *steps;
    int32_t n_steps;
    int32_t *from; /* operation i of graph was made for operation from[i] of the original */
};

struct tw_plan_options {
    int apart; /* each product a launch of its own, to measure it */
};

/*
 * Plans a finished graph, which is only read; bound memory is that of the original and must outlive the plan's runs.
 * options may be NULL. Fails with TW_E_STATE for a graph that is not finished, TW_E_MEMORY or TW_E_LIMIT.
 */
int tw_plan_make(const struct tw_graph *g, const struct tw_plan_options *options, struct tw_plan **plan,
                 struct tw_error *err);
void tw_plan_free(struct tw_plan *plan);

/* What the overlay is asked for by one matrix of product op, which is part of a launch of plan->graph g. */
void tw_plan_size(const struct tw_graph *g, const struct tw_op *op, struct tw_overlay_size *size);

/*
 * Bytes from one row to the next of the temporary that operand id of a launch lies in. The window's own row_stride is
 * the same, but for windows of one row.
 */
size_t tw_plan_pitch(const struct tw_graph *g, tw_id id);

#endif
