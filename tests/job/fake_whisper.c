#include "job/fake_whisper.h"

#include "whisper/encoder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

const struct fake_whisper fake_whispers[FAKE_WHISPERS] = {
    {"tiny", 384, 6, 4, 4, 80},       {"base", 512, 8, 6, 6, 80},          {"small", 768, 12, 12, 12, 80},
    {"medium", 1024, 16, 24, 24, 80}, {"large-v3", 1280, 20, 32, 32, 128}, {"turbo", 1280, 20, 32, 4, 128},
};

enum { CTX = 1500, MEMORY_STEP = 1 << 30 };

/* Graphs look at addresses only to see what overlaps. */
static void *address(int number)
{
    return (void *)(((uintptr_t)number + 1) * MEMORY_STEP);
}

static struct tw_linear linear(int64_t rows, int64_t cols, int has_bias)
{
    return (struct tw_linear){{TW_F16, rows, cols, address(0)}, has_bias ? address(0) : NULL};
}

static struct tw_norm norm(void)
{
    return (struct tw_norm){address(0), address(0)};
}

static struct tw_attention_weights attention(int64_t n)
{
    return (struct tw_attention_weights){norm(), linear(n, n, 1), linear(n, n, 0), linear(n, n, 1), linear(n, n, 1)};
}

static void fill(struct tw_whisper_model *m, const struct fake_whisper *size)
{
    const int64_t n = size->width;
    m->conv1 = linear(n, 3 * size->mels, 1);
    m->conv2 = linear(n, 3 * n, 1);
    m->audio_positions = address(0);
    for (int32_t i = 0; i < size->layers; i++)
        m->encoder[i] = (struct tw_encoder_layer){attention(n), norm(), linear(4 * n, n, 1), linear(n, 4 * n, 1)};
    m->encoder_norm = norm();
    for (int32_t i = 0; i < size->text_layers; i++)
        m->decoder[i].cross = attention(n);
}

struct tw_graph *fake_whisper_graph(const struct fake_whisper *size, int32_t ctx)
{
    struct tw_error err = {0};
    struct tw_whisper_model m = {.sizes = {.n_audio_ctx = CTX,
                                           .n_audio_state = size->width,
                                           .n_audio_head = size->heads,
                                           .n_audio_layer = size->layers,
                                           .n_text_state = size->width,
                                           .n_text_head = size->heads,
                                           .n_text_layer = size->text_layers,
                                           .n_mels = size->mels}};
    m.encoder = calloc((size_t)size->layers, sizeof *m.encoder);
    m.decoder = calloc((size_t)size->text_layers, sizeof *m.decoder);
    assert_non_null(m.encoder);
    assert_non_null(m.decoder);
    fill(&m, size);
    const struct tw_encoder_io io = {address(1), address(2), address(3)};
    struct tw_graph *g = tw_graph_create();
    assert_non_null(g);
    if (tw_encoder_graph(g, &m, ctx, &io, &err) != TW_OK)
        fail_msg("%s", err.text);
    free(m.encoder);
    free(m.decoder);
    return g;
}
