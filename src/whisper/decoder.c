#include "whisper/decoder.h"

#include "base/memory.h"
#include "whisper/bind.h"

#include <stdlib.h>
#include <string.h>

struct tw_decoder {
    const struct tw_whisper_model *model;
    struct tw_host *host;
    struct tw_graph *graph; /* built anew for each step */
    int32_t slots, ctx;
    float *cache;  /* layers x (keys, values) x slots x n_text_ctx x width */
    float *cross;  /* layers x (keys, values) x ctx x width */
    float *logits; /* slots x n_vocab */
};

/* The shape of one step: `slots` sequences of `count` new tokens each, after `past` cached ones. */
struct step {
    int32_t slots, count, past;
    int64_t rows; /* slots * count */
};

int tw_decoder_create(const struct tw_whisper_model *model, struct tw_host *host, struct tw_decoder **decoder,
                      struct tw_error *err)
{
    *decoder = NULL;
    struct tw_decoder *d = calloc(1, sizeof *d);
    struct tw_graph *g = tw_graph_create();
    if (d == NULL || g == NULL) {
        free(d);
        tw_graph_destroy(g);
        return tw_fail(err, TW_E_MEMORY, "no memory for the decoder");
    }
    d->model = model;
    d->host = host;
    d->graph = g;
    *decoder = d;
    return TW_OK;
}

void tw_decoder_destroy(struct tw_decoder *d)
{
    if (d == NULL)
        return;
    tw_graph_destroy(d->graph);
    free(d->cache);
    free(d->cross);
    free(d->logits);
    free(d);
}

/* Floats of keys (or values) of one layer for one slot. */
static size_t slot_floats(const struct tw_decoder *d)
{
    return (size_t)d->model->sizes.n_text_ctx * (size_t)d->model->sizes.n_text_state;
}

/* *p gets `count` groups of `each` floats, replacing what it had. */
static int renew(float **p, size_t count, size_t each, const char *what, struct tw_error *err)
{
    size_t floats, bytes;
    free(*p);
    *p = NULL;
    if (tw_mul_size(count, each, &floats) || tw_mul_size(floats, sizeof **p, &bytes) || (*p = tw_alloc(bytes)) == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %s (%zu x %zu numbers); use a smaller --beam or model", what,
                       count, each);
    return TW_OK;
}

int tw_decoder_reserve(struct tw_decoder *d, int32_t slots, int32_t ctx, struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &d->model->sizes;
    int code = TW_OK;
    if (slots > d->slots) {
        d->slots = 0;
        code =
            renew(&d->cache, 2 * (size_t)s->n_text_layer * (size_t)slots, slot_floats(d), "the decoder's cache", err);
        if (code == TW_OK)
            code = renew(&d->logits, (size_t)slots, (size_t)s->n_vocab, "the decoder's output", err);
        if (code != TW_OK)
            return code;
        d->slots = slots;
    }
    if (ctx != d->ctx) {
        if (ctx > d->ctx || d->cross == NULL) {
            d->ctx = 0;
            code = renew(&d->cross, 2 * (size_t)s->n_text_layer * (size_t)ctx, (size_t)s->n_text_state,
                         "the cross-attention cache", err);
            if (code != TW_OK)
                return code;
        }
        d->ctx = ctx;
    }
    return TW_OK;
}

float *tw_decoder_cross(struct tw_decoder *d)
{
    return d->cross;
}

float *tw_decoder_logits(struct tw_decoder *d)
{
    return d->logits;
}

static float *cache_start(const struct tw_decoder *d, int32_t layer, int values)
{
    return d->cache + (2 * (size_t)layer + (size_t)values) * (size_t)d->slots * slot_floats(d);
}

void tw_decoder_copy(struct tw_decoder *d, int32_t from, int32_t to, int32_t first, int32_t count)
{
    size_t width = (size_t)d->model->sizes.n_text_state;
    for (int32_t layer = 0; layer < d->model->sizes.n_text_layer; layer++)
        for (int values = 0; values < 2; values++) {
            float *start = cache_start(d, layer, values) + (size_t)first * width;
            memcpy(start + (size_t)to * slot_floats(d), start + (size_t)from * slot_floats(d),
                   (size_t)count * width * sizeof *start);
        }
}

/* The cache of one layer: all slots as matrices of n_text_ctx rows. */
static tw_id bind_cache(struct tw_decoder *d, int32_t layer, int values)
{
    const struct tw_whisper_sizes *s = &d->model->sizes;
    return tw_graph_bind(d->graph, values ? "cached values" : "cached keys", TW_F32, s->n_text_state, s->n_text_ctx,
                         d->slots, cache_start(d, layer, values));
}

/*
 * The rows of a cache that this step writes, as one matrix: either consecutive positions of slot 0, or the same
 * position of each slot (a row stride of a whole slot), so that a product reads its weights once for all slots.
 */
static tw_id new_rows(struct tw_decoder *d, tw_id cache, const struct step *st)
{
    size_t row = (size_t)d->model->sizes.n_text_state * sizeof(float);
    size_t stride = st->slots > 1 ? slot_floats(d) * sizeof(float) : row;
    return tw_graph_view(d->graph, cache, d->model->sizes.n_text_state, st->rows, 1, (size_t)st->past * row, stride, 0);
}

/* What attention reads: past + count rows of each slot. */
static tw_id seen_rows(struct tw_decoder *d, tw_id cache, const struct step *st)
{
    size_t row = (size_t)d->model->sizes.n_text_state * sizeof(float);
    return tw_graph_view(d->graph, cache, d->model->sizes.n_text_state, st->past + st->count, st->slots, 0, row,
                         slot_floats(d) * sizeof(float));
}

/* rows x width as slots matrices of count rows. */
static tw_id by_slot(struct tw_decoder *d, tw_id x, const struct step *st)
{
    size_t row = (size_t)d->model->sizes.n_text_state * sizeof(float);
    return tw_graph_view(d->graph, x, d->model->sizes.n_text_state, st->count, st->slots, 0, row,
                         (size_t)st->count * row);
}

static float head_scale(const struct tw_decoder *d)
{
    return tw_bind_head_scale(d->model->sizes.n_text_state, d->model->sizes.n_text_head);
}

static void self_attention(struct tw_decoder *d, tw_id x, int32_t layer, const struct step *st)
{
    struct tw_graph *g = d->graph;
    const struct tw_whisper_sizes *s = &d->model->sizes;
    const struct tw_attention_weights *w = &d->model->decoder[layer].self;
    tw_id normed = tw_bind_norm(g, "attn norm", x, &w->norm, st->rows, s->n_text_state);
    tw_id q = tw_graph_temp(g, "q", TW_F32, s->n_text_state, st->rows, 1);
    tw_id mixed = tw_graph_temp(g, "mixed", TW_F32, s->n_text_state, st->rows, 1);
    tw_id keys = bind_cache(d, layer, 0);
    tw_id values = bind_cache(d, layer, 1);
    tw_bind_linear(g, "attn q", q, normed, &w->q, tw_bind_plain);
    tw_bind_linear(g, "attn k", new_rows(d, keys, st), normed, &w->k, tw_bind_plain);
    tw_bind_linear(g, "attn v", new_rows(d, values, st), normed, &w->v, tw_bind_plain);
    tw_graph_attention(g, by_slot(d, mixed, st), by_slot(d, q, st), seen_rows(d, keys, st), seen_rows(d, values, st),
                       s->n_text_head, head_scale(d), 1, st->past);
    tw_bind_linear(g, "attn out", x, mixed, &w->out, tw_bind_add);
}

static void cross_attention(struct tw_decoder *d, tw_id x, int32_t layer, const struct step *st)
{
    struct tw_graph *g = d->graph;
    const struct tw_whisper_sizes *s = &d->model->sizes;
    const struct tw_attention_weights *w = &d->model->decoder[layer].cross;
    size_t floats = (size_t)d->ctx * (size_t)s->n_text_state;
    const float *keys = d->cross + 2 * (size_t)layer * floats;
    tw_id normed = tw_bind_norm(g, "cross norm", x, &w->norm, st->rows, s->n_text_state);
    tw_id q = tw_graph_temp(g, "q", TW_F32, s->n_text_state, st->rows, 1);
    tw_id mixed = tw_graph_temp(g, "mixed", TW_F32, s->n_text_state, st->rows, 1);
    tw_id k = tw_graph_constant(g, "cross keys", TW_F32, s->n_text_state, d->ctx, 1, keys);
    tw_id v = tw_graph_constant(g, "cross values", TW_F32, s->n_text_state, d->ctx, 1, keys + floats);
    tw_bind_linear(g, "cross q", q, normed, &w->q, tw_bind_plain);
    tw_graph_attention(g, mixed, q, k, v, s->n_text_head, head_scale(d), 0, 0);
    tw_bind_linear(g, "cross out", x, mixed, &w->out, tw_bind_add);
}

/* Token embeddings plus positions: rows x width. */
static tw_id embed(struct tw_decoder *d, const int32_t *tokens, const struct step *st)
{
    struct tw_graph *g = d->graph;
    const struct tw_whisper_sizes *s = &d->model->sizes;
    tw_id table = tw_bind_matrix(g, "tokens", &d->model->token_embedding);
    tw_id numbers = tw_graph_constant(g, "token numbers", TW_I32, st->rows, 1, 1, tokens);
    tw_id x = tw_graph_temp(g, "x", TW_F32, s->n_text_state, st->rows, 1);
    const float *start = d->model->text_positions + (size_t)st->past * (size_t)s->n_text_state;
    tw_id positions = tw_graph_constant(g, "positions", TW_F32, s->n_text_state, st->count, 1, start);
    tw_graph_gather(g, x, table, numbers);
    tw_graph_add(g, x, x, positions);
    return x;
}

/* Logits of the last row of each slot. */
static void predict(struct tw_decoder *d, tw_id x, const struct step *st)
{
    struct tw_graph *g = d->graph;
    const struct tw_whisper_sizes *s = &d->model->sizes;
    size_t row = (size_t)s->n_text_state * sizeof(float);
    tw_id last =
        tw_graph_view(g, x, s->n_text_state, st->slots, 1, (size_t)(st->count - 1) * row, (size_t)st->count * row, 0);
    tw_id normed = tw_bind_norm(g, "last norm", last, &d->model->decoder_norm, st->slots, s->n_text_state);
    tw_id logits = tw_graph_bind(g, "logits", TW_F32, s->n_vocab, st->slots, 1, d->logits);
    tw_graph_product(g, logits, normed, tw_bind_matrix(g, "tokens", &d->model->token_embedding), TW_NONE,
                     tw_bind_plain);
}

int tw_decoder_run(struct tw_decoder *d, int32_t slots, int32_t count, const int32_t *tokens, int32_t past,
                   struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &d->model->sizes;
    if (slots < 1 || slots > d->slots || count < 1 || (slots > 1 && count > 1) || past < 0 ||
        past > s->n_text_ctx - count)
        return tw_fail(err, TW_E_ARGUMENT, "decoder step of %d x %d tokens at position %d does not fit %d slots of %d",
                       (int)slots, (int)count, (int)past, (int)d->slots, (int)s->n_text_ctx);
    struct step st = {.slots = slots, .count = count, .past = past, .rows = (int64_t)slots * count};
    tw_graph_reset(d->graph);
    tw_id x = embed(d, tokens, &st);
    for (int32_t layer = 0; layer < s->n_text_layer; layer++) {
        self_attention(d, x, layer, &st);
        cross_attention(d, x, layer, &st);
        const struct tw_decoder_layer *w = &d->model->decoder[layer];
        tw_bind_perceptron(d->graph, x, &w->mlp_norm, &w->mlp_up, &w->mlp_down, st.rows, s->n_text_state);
    }
    predict(d, x, &st);
    int code = tw_graph_finish(d->graph, err);
    return code == TW_OK ? tw_host_run(d->host, d->graph, err) : code;
}
