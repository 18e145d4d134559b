/*
 * Small Whisper models with random weights, made in memory as files: for tests that need a model and not its text. The
 * same options give the same weights in both file forms. The lists of names here are written by hand and are
 * independent of those in the readers.
 */
#ifndef SYNTHETIC_H
#define SYNTHETIC_H

#include "whisper/model.h"

struct bytes {
    unsigned char *data;
    size_t size, room;
};

/* These end the test program when there is no memory. */
void bytes_put(struct bytes *b, const void *data, size_t size);
void bytes_u32(struct bytes *b, uint32_t v);
void bytes_free(struct bytes *b);
/* Offset of the first `text` (without its zero) at or behind `from`, or SIZE_MAX. */
size_t bytes_find(const struct bytes *b, const char *text, size_t from);

struct synthetic_options {
    struct tw_whisper_sizes sizes;
    enum tw_type type; /* of the large matrices: f32, f16, q5_0 or q8_0 */
    uint64_t seed;
    int no_last_token; /* ggml: the last text token is missing, as in some old files */
};

/* English only, 2 + 2 layers, width 64, 2 heads, 64 audio and 448 text positions, 80 mels, f16: 7 MB. */
struct synthetic_options synthetic_defaults(void);
/* As small as a vocabulary of Whisper's size allows (2 MB): 1 + 1 layers, width 32, 1 head, 8 and 16 positions, q8_0.
 */
struct synthetic_options synthetic_smallest(void);

/* A ggml file. */
void synthetic_ggml(const struct synthetic_options *o, struct bytes *file);
/* model.bin and vocabulary.txt of a CTranslate2 folder; type f32 or f16. */
void synthetic_ct2(const struct synthetic_options *o, struct bytes *model);
void synthetic_ct2_vocabulary(const struct synthetic_options *o, struct bytes *text);

/* The model of a ggml file made into *file, which must outlive it; NULL after printing why. */
struct tw_whisper_model *synthetic_model(const struct synthetic_options *o, struct bytes *file);

/* Weights of the tensor of that name in ggml files, before quantisation: count floats to dst, all exact in f16. */
void synthetic_weights(const struct synthetic_options *o, const char *name, float *dst, size_t count);

/*
 * Bytes of text token i to dst; returns how many. Tokens below 256 are the single bytes; then come words in letters,
 * every second one with a space before it; the last one of the multilingual vocabularies is empty, as in the real ones.
 */
size_t synthetic_token(const struct synthetic_options *o, int32_t i, char dst[16]);

#endif
