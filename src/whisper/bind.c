#include "whisper/bind.h"

#include <math.h>

tw_id tw_bind_matrix(struct tw_graph *g, const char *name, const struct tw_matrix *m)
{
    return tw_graph_constant(g, name, m->type, m->cols, m->rows, 1, m->data);
}

tw_id tw_bind_vector(struct tw_graph *g, const char *name, const float *data, int64_t n)
{
    return data == NULL ? TW_NONE : tw_graph_constant(g, name, TW_F32, n, 1, 1, data);
}

void tw_bind_linear(struct tw_graph *g, const char *name, tw_id out, tw_id x, const struct tw_linear *layer,
                    struct tw_product_options options)
{
    tw_id weight = tw_bind_matrix(g, name, &layer->weight);
    tw_id bias = tw_bind_vector(g, "bias", layer->bias, layer->weight.rows);
    tw_graph_product(g, out, x, weight, bias, options);
}

tw_id tw_bind_norm(struct tw_graph *g, const char *name, tw_id x, const struct tw_norm *norm, int64_t rows,
                   int64_t cols)
{
    tw_id out = tw_graph_temp(g, name, TW_F32, cols, rows, 1);
    tw_id gain = tw_bind_vector(g, "gain", norm->gain, cols);
    tw_id shift = tw_bind_vector(g, "shift", norm->shift, cols);
    tw_graph_layer_norm(g, out, x, gain, shift, TW_NORM_EPS);
    return out;
}

void tw_bind_perceptron(struct tw_graph *g, tw_id x, const struct tw_norm *norm, const struct tw_linear *up,
                        const struct tw_linear *down, int64_t rows, int64_t cols)
{
    tw_id normed = tw_bind_norm(g, "mlp norm", x, norm, rows, cols);
    tw_id hidden = tw_graph_temp(g, "hidden", TW_F32, up->weight.rows, rows, 1);
    tw_bind_linear(g, "mlp up", hidden, normed, up, tw_bind_gelu);
    tw_bind_linear(g, "mlp down", x, hidden, down, tw_bind_add);
}

float tw_bind_head_scale(int32_t width, int32_t heads)
{
    return 1.0f / sqrtf((float)(width / heads));
}
