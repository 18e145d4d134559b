/*
 * A Whisper model in memory: sizes, weights, mel filters, vocabulary. Two file forms are read: whisper.cpp's ggml files
 * and faster-whisper (CTranslate2) folders. Matrices stay in the mapped file, in their stored type and at any alignment;
 * vectors (biases, norms, positions) are float copies.
 */
#ifndef TW_WHISPER_MODEL_H
#define TW_WHISPER_MODEL_H

#include "base/error.h"
#include "graph/type.h"
#include "whisper/vocab.h"

struct tw_whisper_sizes {
    int32_t n_vocab;
    int32_t n_audio_ctx;   /* 1500 */
    int32_t n_audio_state; /* width of the encoder */
    int32_t n_audio_head;
    int32_t n_audio_layer;
    int32_t n_text_ctx; /* 448 */
    int32_t n_text_state;
    int32_t n_text_head;
    int32_t n_text_layer;
    int32_t n_mels; /* 80 or 128 */
};

/* A weight matrix: `rows` outputs of `cols` inputs each, rows dense (tw_row_bytes apart); data has any alignment. */
struct tw_matrix {
    enum tw_type type;
    int64_t rows, cols;
    const void *data;
};

/* A linear layer; bias is NULL where the model has none (keys). bias: weight.rows floats. */
struct tw_linear {
    struct tw_matrix weight;
    const float *bias;
};

struct tw_norm {
    const float *gain, *shift; /* width floats each */
};

struct tw_attention_weights {
    struct tw_norm norm; /* applied to the input of the block */
    struct tw_linear q, k, v, out;
};

struct tw_encoder_layer {
    struct tw_attention_weights self;
    struct tw_norm mlp_norm;
    struct tw_linear mlp_up, mlp_down;
};

struct tw_decoder_layer {
    struct tw_attention_weights self;
    struct tw_attention_weights cross; /* k and v are applied to the encoder's output, without norm */
    struct tw_norm mlp_norm;
    struct tw_linear mlp_up, mlp_down;
};

struct tw_whisper_model {
    struct tw_whisper_sizes sizes;
    char type_name[16]; /* of the large matrices: "f16", "q5_0", … */

    /* Convolutions: weight rows = output channels, cols = input channels * 3, tap fastest. */
    struct tw_linear conv1, conv2;
    const float *audio_positions; /* n_audio_ctx x n_audio_state */
    struct tw_encoder_layer *encoder; /* n_audio_layer */
    struct tw_norm encoder_norm;

    struct tw_matrix token_embedding; /* n_vocab x n_text_state; also the output matrix */
    const float *text_positions;      /* n_text_ctx x n_text_state */
    struct tw_decoder_layer *decoder; /* n_text_layer */
    struct tw_norm decoder_norm;

    const float *mel_filters; /* n_mels x 201 */
    struct tw_vocab vocab;

    struct tw_model_storage *storage; /* owns all memory above */
};

/*
 * Opens path: a ggml file, or a folder with model.bin, config.json (optional) and vocabulary.txt or vocabulary.json.
 * Types f32, f16, q5_0 and q8_0 are accepted; other ggml types, GGUF files, other CTranslate2 models and damaged files
 * are refused with one sentence each. Checks every count, name, shape and the whole extent of the data.
 */
int tw_model_open(const char *path, struct tw_whisper_model **model, struct tw_error *err);
void tw_model_close(struct tw_whisper_model *model);

/* Writes the model as a ggml file that whisper.cpp reads (matrices in their stored type). Atomic: all or nothing. */
int tw_model_write_ggml(const struct tw_whisper_model *model, const char *path, struct tw_error *err);

/*
 * A ggml file from memory, as tw_model_open would read it; data must outlive the model. For tests and fuzzing.
 * name is used in messages.
 */
int tw_model_parse_ggml(const void *data, size_t size, const char *name, struct tw_whisper_model **model,
                        struct tw_error *err);

/*
 * Slaney-style mel filters as OpenAI published them (librosa, 16 kHz, 400-point transform): n_mels x 201 floats to dst.
 * CTranslate2 folders carry none. Within 1e-7 of the published arrays.
 */
void tw_mel_filters(int n_mels, float *dst);

#endif
