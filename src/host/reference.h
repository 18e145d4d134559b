/* The float64 executor: the same graphs, every number a double, plain loops. It defines what tests compare with. */
#ifndef TW_HOST_REFERENCE_H
#define TW_HOST_REFERENCE_H

#include "graph/graph.h"

struct tw_reference;

/*
 * Runs the finished graph g on copies of the bound tensors that it writes, so that all bound memory stays untouched.
 * Stored types are widened when read (a weight is worth exactly what its bits say) and nothing is rounded when written:
 * a tensor of type f16 holds doubles here. What no operation wrote of a temporary is NaN. pool may be NULL. g and its
 * bound memory must outlive the result, which is released with tw_reference_destroy. Fails with TW_E_STATE when g is
 * not finished, TW_E_ARGUMENT for an index of a gather outside its table, and TW_E_MEMORY.
 */
struct tw_pool;
int tw_reference_run(const struct tw_graph *g, struct tw_pool *pool, struct tw_reference **result,
                     struct tw_error *err);
void tw_reference_destroy(struct tw_reference *r);

/*
 * Tensor id (rows dense, batch by batch) copied to dst[batch*rows*cols]; its values after the last operation. Fails
 * with TW_E_ARGUMENT for a number that is no tensor of the graph.
 */
int tw_reference_get(const struct tw_reference *r, tw_id id, double *dst, struct tw_error *err);

#endif
