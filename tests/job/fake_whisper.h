/* Encoders of all published sizes for tests of plans: every number of a model is there but its weights. */
#ifndef TW_TESTS_JOB_FAKE_WHISPER_H
#define TW_TESTS_JOB_FAKE_WHISPER_H

#include "graph/graph.h"

enum { FAKE_WHISPERS = 6 };

struct fake_whisper {
    const char *name;
    int32_t width, heads, layers, text_layers, mels;
};

extern const struct fake_whisper fake_whispers[FAKE_WHISPERS];

/* The finished graph of the encoder for ctx positions; not to be run, for its addresses are none. */
struct tw_graph *fake_whisper_graph(const struct fake_whisper *size, int32_t ctx);

#endif
