/* What whisper.cpp made of a recording: the file that its option -ojf writes. */
#ifndef REPLAY_REFERENCE_H
#define REPLAY_REFERENCE_H

#include "whisper/vocab.h"

struct replay_token {
    int32_t id;
    double logprob; /* as whisper.cpp saw it, after its masks; NAN where the file does not tell */
};

struct replay_segment {
    int64_t from, to; /* frames of 10 ms */
    struct replay_token *tokens;
    size_t n;
};

struct replay_reference {
    struct replay_segment *segments;
    size_t n;
};

/* Reads the file at path, or `size` bytes of one (name is used in messages). Release in any case. */
int replay_reference_load(const char *path, const struct tw_vocab *vocab, struct replay_reference *reference,
                          struct tw_error *err);
int replay_reference_parse(const char *json, size_t size, const char *name, const struct tw_vocab *vocab,
                           struct replay_reference *reference, struct tw_error *err);
void replay_reference_release(struct replay_reference *reference);

/* All text tokens as one text, to be released with free; NULL when there is no memory. */
char *replay_reference_text(const struct replay_reference *reference, const struct tw_vocab *vocab);

#endif
