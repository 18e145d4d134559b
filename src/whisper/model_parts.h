/*
 * What the readers and the writer of model files share: making an empty model of given sizes, the list of all its
 * tensors by their names in ggml files, and memory that lives as long as the model.
 */
#ifndef TW_WHISPER_MODEL_PARTS_H
#define TW_WHISPER_MODEL_PARTS_H

#include "base/file_map.h"
#include "whisper/model.h"

#define TW_MODEL_LAYERS_MAX 64
#define TW_MODEL_WIDTH_MAX 8192
#define TW_MODEL_CONTEXT_MAX 65536
#define TW_MODEL_TOKEN_BYTES_MAX 1024 /* the longest published token has 128 */
#define TW_MEL_FILTER_BINS 201
#define TW_END_OF_TEXT "<|endoftext|>" /* as vocabularies spell the token behind the text tokens */
#define TW_GGML_MAGIC 0x67676d6cu

struct tw_float_block;

struct tw_model_storage {
    struct tw_file_map map;        /* the file that matrices point into; empty when the caller owns its bytes */
    struct tw_float_block *floats; /* all float copies */
    char *token_bytes;             /* of tokens that could not stay in the file; may be NULL */
};

enum tw_model_part_kind {
    TW_PART_MATRIX, /* in the model's type */
    TW_PART_CONV,   /* f32 or f16 */
    TW_PART_VECTOR  /* f32 in the file, copied */
};

struct tw_model_part {
    char name[64]; /* longer than any name with its prefix, which gcc cannot know */
    enum tw_model_part_kind kind;
    int n_dims;
    int64_t dims[3];          /* fastest first; 1 beyond n_dims */
    struct tw_matrix *matrix; /* of matrices and convolutions */
    const float **vector;     /* of vectors */
};

/*
 * A model of these sizes without weights: layers and vocabulary layout are there, tokens are empty. Sizes that no model
 * has are refused with TW_E_FORMAT, vocabularies that are not Whisper's with TW_E_UNSUPPORTED. Release with
 * tw_model_close. file is for messages.
 */
int tw_model_new(const struct tw_whisper_sizes *sizes, const char *file, struct tw_whisper_model **model,
                 struct tw_error *err);

/* *parts (release with free) lists the tensors in the order of OpenAI's files. The pointers lead into model. */
int tw_model_parts(struct tw_whisper_model *model, struct tw_model_part **parts, size_t *count, struct tw_error *err);
int64_t tw_model_part_numbers(const struct tw_model_part *part);

/* count zeroed floats that live as long as the model. */
int tw_model_floats(struct tw_whisper_model *model, size_t count, float **floats, struct tw_error *err);
/* A float copy of count stored numbers, all of which must be finite (else TW_E_FORMAT). what names them. */
int tw_model_copy(struct tw_whisper_model *model, enum tw_type type, const void *src, int64_t count, const char *file,
                  const char *what, const float **floats, struct tw_error *err);

/* After all parts are set: names the type and builds the index of tokens. */
int tw_model_complete(struct tw_whisper_model *model, struct tw_error *err);

#endif
