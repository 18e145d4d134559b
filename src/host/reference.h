/* The float64 executor: the same graphs, every number a double, plain loops. It defines what tests compare with. */
#ifndef TW_HOST_REFERENCE_H
#define TW_HOST_REFERENCE_H

#include "graph/graph.h"

struct tw_reference;

/*
 * Runs g on copies of its bound tensors, which stay untouched. Stored types are widened when read (a weight is worth
 * exactly what its bits say) and nothing is rounded when written: a tensor of type f16 holds doubles here. pool may be
 * NULL. The result is released with tw_reference_destroy.
 */
struct tw_pool;
int tw_reference_run(const struct tw_graph *g, struct tw_pool *pool, struct tw_reference **result, struct tw_error *err);
void tw_reference_destroy(struct tw_reference *r);

/* Tensor id (rows dense, batch by batch) copied to dst[batch*rows*cols]; its values after the last operation. */
int tw_reference_get(const struct tw_reference *r, tw_id id, double *dst, struct tw_error *err);

#endif
