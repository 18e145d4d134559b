/*
 * Whisper's encoder as one graph: two convolutions, positions, transformer layers, and the keys and values that the
 * decoder's cross attention reads. From the paper (Radford et al. 2022) and the published model code.
 */
#ifndef TW_WHISPER_ENCODER_H
#define TW_WHISPER_ENCODER_H

#include "graph/graph.h"
#include "whisper/model.h"

struct tw_executor;

/* Memory that the encoder's graph reads and writes; ctx is the number of encoder positions, 1 .. n_audio_ctx. */
struct tw_encoder_io {
    const float *mel; /* 2*ctx frames x n_mels */
    float *out;       /* ctx x n_audio_state: the encoder's output */
    float *cross;     /* n_text_layer x (keys, values) x ctx x n_text_state, dense; NULL: leave them out */
};

/*
 * Writes the encoder for ctx positions into g (which is reset first) and finishes it. The weights stay in the model,
 * which must outlive the graph.
 */
int tw_encoder_graph(struct tw_graph *g, const struct tw_whisper_model *model, int32_t ctx,
                     const struct tw_encoder_io *io, struct tw_error *err);

/* The number of floats in tw_encoder_io.cross. */
size_t tw_encoder_cross_size(const struct tw_whisper_model *model, int32_t ctx);

/*
 * To be called before a model is closed while an array stays open on which its encoder has run: another model may come
 * to lie at the same addresses.
 */
void tw_encoder_forget(struct tw_executor *array, const struct tw_whisper_model *model);

#endif
