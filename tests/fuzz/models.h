/*
 * Inputs of the model fuzzers. Most bytes of a model file are vocabulary and token embedding, where nothing can go
 * wrong that a few bytes could not show; so the short inputs leave them out, and these functions put some in again:
 * tokens without text, weights of zero.
 */
#ifndef FUZZ_MODELS_H
#define FUZZ_MODELS_H

#include "whisper/synthetic.h"

/* The first byte of an input says what the rest is. */
enum { FUZZ_WHOLE_FILE, FUZZ_SHORT_FILE, FUZZ_TEXT, FUZZ_VOCABULARY_TAIL, FUZZ_JSON };

#define FUZZ_HEADER_BYTES 44 /* of a ggml file, behind the magic number */
#define FUZZ_WIDTH_MAX 32

/* A model small enough for a seed; type f32 or f16, or q5_0 or q8_0 with width 32. */
struct synthetic_options fuzz_options(enum tw_type type, int32_t width);

/*
 * A ggml file from header fields and tensors other than the embedding: filters, vocabulary and an embedding that fit
 * the header go between. data has at least FUZZ_HEADER_BYTES.
 */
void fuzz_complete_ggml(const unsigned char *data, size_t size, struct bytes *file);
/* The opposite: header fields and tensors of a file. */
void fuzz_shorten_ggml(const struct bytes *file, struct bytes *data);

/* The same for model.bin: data is the number of other variables (4 bytes), the width (1), those variables, aliases. */
void fuzz_complete_ct2(const unsigned char *data, size_t size, struct bytes *file);
void fuzz_shorten_ct2(const struct bytes *file, struct bytes *data);

#define FUZZ_TEXT_TOKENS 50256

/* Reads every weight, so that one outside its memory is found. */
void fuzz_touch(struct tw_whisper_model *model);

#endif
