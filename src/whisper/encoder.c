#include "whisper/encoder.h"

#include "job/executor.h"
#include "whisper/bind.h"

#define CONV_TAPS 3

/* One convolution over time with GELU: rows of windows times the weights. */
static tw_id convolution(struct tw_graph *g, const char *name, tw_id x, int64_t rows_out, int32_t stride,
                         const struct tw_linear *layer)
{
    tw_id windows = tw_graph_temp(g, "windows", TW_F32, layer->weight.cols, rows_out, 1);
    tw_graph_im2col(g, windows, x, CONV_TAPS, stride);
    tw_id out = tw_graph_temp(g, name, TW_F32, layer->weight.rows, rows_out, 1);
    tw_bind_linear(g, name, out, windows, layer, tw_bind_gelu);
    return out;
}

/*
 * x (ctx x width) += self attention of its norm. Scores of the first layer are the largest by far: with base 18 on
 * average over positions, against 4 to 7 later.
 */
static void self_attention(struct tw_graph *g, tw_id x, int32_t ctx, const struct tw_whisper_sizes *s,
                           const struct tw_attention_weights *w, int is_first)
{
    int64_t width = s->n_audio_state;
    tw_id normed = tw_bind_norm(g, "attn norm", x, &w->norm, ctx, width);
    tw_id q = tw_graph_temp(g, "q", TW_F32, width, ctx, 1);
    tw_id k = tw_graph_temp(g, "k", TW_F32, width, ctx, 1);
    tw_id v = tw_graph_temp(g, "v", TW_F32, width, ctx, 1);
    tw_bind_linear(g, "attn q", q, normed, &w->q, tw_bind_plain);
    tw_bind_linear(g, "attn k", k, normed, &w->k, tw_bind_plain);
    tw_bind_linear(g, "attn v", v, normed, &w->v, tw_bind_plain);
    tw_id mixed = tw_graph_temp(g, "mixed", TW_F32, width, ctx, 1);
    float scale = tw_bind_head_scale(s->n_audio_state, s->n_audio_head);
    tw_graph_attention(g, mixed, q, k, v, s->n_audio_head, scale, 0, 0);
    if (is_first)
        tw_graph_keep_scores(g);
    tw_bind_linear(g, "attn out", x, mixed, &w->out, tw_bind_add);
}

static void cross_keys_values(struct tw_graph *g, tw_id encoded, const struct tw_whisper_model *model, int32_t ctx,
                              float *cross)
{
    int64_t width = model->sizes.n_text_state;
    size_t step = (size_t)ctx * (size_t)width;
    for (int32_t i = 0; i < model->sizes.n_text_layer; i++) {
        const struct tw_attention_weights *w = &model->decoder[i].cross;
        tw_id k = tw_graph_bind(g, "cross keys", TW_F32, width, ctx, 1, cross + 2 * (size_t)i * step);
        tw_id v = tw_graph_bind(g, "cross values", TW_F32, width, ctx, 1, cross + (2 * (size_t)i + 1) * step);
        tw_bind_linear(g, "cross k", k, encoded, &w->k, tw_bind_plain);
        tw_bind_linear(g, "cross v", v, encoded, &w->v, tw_bind_plain);
    }
}

size_t tw_encoder_cross_size(const struct tw_whisper_model *model, int32_t ctx)
{
    return 2 * (size_t)model->sizes.n_text_layer * (size_t)ctx * (size_t)model->sizes.n_text_state;
}

int tw_encoder_graph(struct tw_graph *g, const struct tw_whisper_model *model, int32_t ctx,
                     const struct tw_encoder_io *io, struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &model->sizes;
    if (ctx < 1 || ctx > s->n_audio_ctx)
        return tw_fail(err, TW_E_ARGUMENT, "audio context %d asked for; this model has 1 to %d", (int)ctx,
                       (int)s->n_audio_ctx);
    int64_t width = s->n_audio_state;
    tw_graph_reset(g);

    tw_id mel = tw_graph_constant(g, "mel", TW_F32, s->n_mels, 2 * (int64_t)ctx, 1, io->mel);
    tw_id half = convolution(g, "conv1", mel, 2 * (int64_t)ctx, 1, &model->conv1);
    tw_id x = convolution(g, "conv2", half, ctx, 2, &model->conv2);
    tw_id positions = tw_graph_constant(g, "positions", TW_F32, width, ctx, 1, model->audio_positions);
    tw_graph_add(g, x, x, positions);

    for (int32_t i = 0; i < s->n_audio_layer; i++) {
        self_attention(g, x, ctx, s, &model->encoder[i].self, i == 0);
        const struct tw_encoder_layer *layer = &model->encoder[i];
        tw_bind_perceptron(g, x, &layer->mlp_norm, &layer->mlp_up, &layer->mlp_down, ctx, width);
    }

    tw_id out = tw_graph_bind(g, "encoded", TW_F32, width, ctx, 1, io->out);
    tw_id gain = tw_bind_vector(g, "gain", model->encoder_norm.gain, width);
    tw_id shift = tw_bind_vector(g, "shift", model->encoder_norm.shift, width);
    tw_graph_layer_norm(g, out, x, gain, shift, TW_NORM_EPS);
    if (io->cross != NULL)
        cross_keys_values(g, out, model, ctx, io->cross);
    return tw_graph_finish(g, err);
}

static void forget(struct tw_executor *array, const struct tw_linear *layer)
{
    const struct tw_matrix *w = &layer->weight;
    tw_executor_forget(array, w->data, (size_t)w->rows * tw_row_bytes(w->type, w->cols));
    if (layer->bias != NULL)
        tw_executor_forget(array, layer->bias, (size_t)w->rows * sizeof *layer->bias);
}

void tw_encoder_forget(struct tw_executor *array, const struct tw_whisper_model *model)
{
    forget(array, &model->conv1);
    forget(array, &model->conv2);
    for (int32_t i = 0; i < model->sizes.n_audio_layer; i++) {
        const struct tw_encoder_layer *layer = &model->encoder[i];
        const struct tw_linear *const all[] = {&layer->self.q,   &layer->self.k, &layer->self.v,
                                               &layer->self.out, &layer->mlp_up, &layer->mlp_down};
        for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
            forget(array, all[j]);
    }
    for (int32_t i = 0; i < model->sizes.n_text_layer; i++) {
        forget(array, &model->decoder[i].cross.k);
        forget(array, &model->decoder[i].cross.v);
    }
}
