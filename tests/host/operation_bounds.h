/* How far an executor's result may lie from the float64 one, number by number. */
#ifndef TW_TESTS_HOST_OPERATION_BOUNDS_H
#define TW_TESTS_HOST_OPERATION_BOUNDS_H

#include "graph/graph.h"

/*
 * The bounds of the only operation of g for what its bound memory holds now, before it runs; want are the float64
 * results. A negative bound means that the result is exact but for the rounding to the output's type. NaN: nothing is
 * promised. bound and want: as many as out has numbers.
 */
void operation_bounds(const struct tw_graph *g, const double *want, double *bound);

/* Tensor id from bound memory, rows dense, as new memory that the caller frees. */
double *read_tensor(const struct tw_graph *g, tw_id id);

int64_t tensor_numbers(const struct tw_tensor *t);

#endif
