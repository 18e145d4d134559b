/* Weights of a model as constants of a graph. */
#ifndef TW_WHISPER_BIND_H
#define TW_WHISPER_BIND_H

#include "graph/graph.h"
#include "whisper/model.h"

#define TW_NORM_EPS 1e-5f

/* The ways in which products end here. */
static const struct tw_product_options tw_bind_plain = {0};
static const struct tw_product_options tw_bind_gelu = {.gelu = 1};
static const struct tw_product_options tw_bind_add = {.accumulate = 1};

tw_id tw_bind_matrix(struct tw_graph *g, const char *name, const struct tw_matrix *m);
/* A vector of n floats, or TW_NONE for NULL. */
tw_id tw_bind_vector(struct tw_graph *g, const char *name, const float *data, int64_t n);

/* out = product of x with the layer's weight and bias. */
void tw_bind_linear(struct tw_graph *g, const char *name, tw_id out, tw_id x, const struct tw_linear *layer,
                    struct tw_product_options options);
/* x (rows x cols) += two-layer perceptron with GELU of its norm. */
void tw_bind_perceptron(struct tw_graph *g, tw_id x, const struct tw_norm *norm, const struct tw_linear *up,
                        const struct tw_linear *down, int64_t rows, int64_t cols);
/* What attention multiplies scores of heads of width / heads numbers with. */
float tw_bind_head_scale(int32_t width, int32_t heads);
/* A temporary of x's shape that holds its layer norm. */
tw_id tw_bind_norm(struct tw_graph *g, const char *name, tw_id x, const struct tw_norm *norm, int64_t rows,
                   int64_t cols);

#endif
