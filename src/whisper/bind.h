/* Weights of a model as constants of a graph. */
#ifndef TW_WHISPER_BIND_H
#define TW_WHISPER_BIND_H

#include "graph/graph.h"
#include "whisper/model.h"

#define TW_NORM_EPS 1e-5f

tw_id tw_bind_matrix(struct tw_graph *g, const char *name, const struct tw_matrix *m);
/* A vector of n floats, or TW_NONE for NULL. */
tw_id tw_bind_vector(struct tw_graph *g, const char *name, const float *data, int64_t n);

/* out = product of x with the layer's weight and bias. */
void tw_bind_linear(struct tw_graph *g, const char *name, tw_id out, tw_id x, const struct tw_linear *layer,
                    struct tw_product_options options);
/* A temporary of x's shape that holds its layer norm. */
tw_id tw_bind_norm(struct tw_graph *g, const char *name, tw_id x, const struct tw_norm *norm, int64_t rows,
                   int64_t cols);

#endif
