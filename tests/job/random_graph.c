#include "job/random_graph.h"

#include "graph/window.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Numbers are kept at about 1, so that what is wrong stands out from what is rounded. */

static int64_t range(struct random_graph *r, int64_t low, int64_t high)
{
    return tw_random_range(&r->random, low, high);
}

static int chance(struct random_graph *r, int percent)
{
    return range(r, 0, 99) < percent;
}

static const struct tw_tensor *at(const struct random_graph *r, tw_id id)
{
    return &r->g->tensors[id];
}

/* ---- Memory */

/* Random numbers of variance size^2, or with is_result NaN. */
static unsigned char *block(struct random_graph *r, enum tw_type type, int64_t cols, int64_t rows, double size,
                            int is_result)
{
    assert_true(r->n_blocks < GRAPH_BLOCKS);
    struct graph_block *b = &r->blocks[r->n_blocks++];
    *b = (struct graph_block){.type = type, .numbers = cols * rows, .is_result = is_result};
    b->bytes = tw_row_bytes(type, cols) * (size_t)rows;
    b->now = malloc(b->bytes);
    b->before = malloc(b->bytes);
    float *numbers = malloc((size_t)b->numbers * sizeof *numbers);
    assert_true(b->now != NULL && b->before != NULL && numbers != NULL);
    for (int64_t i = 0; i < b->numbers; i++)
        numbers[i] = (float)((2 * tw_random_unit(&r->random) - 1) * 1.7 * size);
    tw_row_from_f32(type, numbers, b->before, b->numbers);
    if (is_result)
        memset(b->before, 0xff, b->bytes);
    memcpy(b->now, b->before, b->bytes);
    free(numbers);
    return b->now;
}

void random_graph_restore(struct random_graph *r)
{
    for (int i = 0; i < r->n_blocks; i++)
        memcpy(r->blocks[i].now, r->blocks[i].before, r->blocks[i].bytes);
}

void random_graph_free(struct random_graph *r)
{
    for (int i = 0; i < r->n_blocks; i++) {
        free(r->blocks[i].now);
        free(r->blocks[i].before);
    }
    tw_graph_destroy(r->g);
}

static tw_id constant(struct random_graph *r, enum tw_type type, int64_t cols, int64_t rows, double size)
{
    return tw_graph_constant(r->g, "constant", type, cols, rows, 1, block(r, type, cols, rows, size, 0));
}

/* ---- Values */

static void keep(struct random_graph *r, tw_id id)
{
    if (r->n_values < GRAPH_VALUES)
        r->values[r->n_values++] = id;
}

/* Late values are likelier, so that graphs become deep. */
static tw_id pick(struct random_graph *r)
{
    const int64_t a = range(r, 0, r->n_values - 1), b = range(r, 0, r->n_values - 1);
    return r->values[a > b ? a : b];
}

static enum tw_type float_type(struct random_graph *r)
{
    static const enum tw_type types[8] = {TW_F32, TW_F32, TW_F32, TW_F32, TW_F32, TW_BF16, TW_BF16, TW_F16};
    return types[range(r, 0, 7)];
}

static enum tw_type weight_type(struct random_graph *r, int64_t cols, int b_rows)
{
    static const enum tw_type types[5] = {TW_F32, TW_F16, TW_BF16, TW_Q8_0, TW_Q5_0};
    return types[range(r, 0, cols % 32 == 0 && !b_rows ? 4 : 2)];
}

/* A value that an operation may write to: not of the bases of x and y. */
static int may_replace(const struct random_graph *r, tw_id id, tw_id x, tw_id y, enum tw_type type)
{
    const struct tw_tensor *t = at(r, id);
    return !at(r, t->base)->constant && t->type == type && t->base != at(r, x)->base && t->base != at(r, y)->base;
}

/* Where a result of this shape may go: mostly somewhere new, in a temporary or bound memory, or where another was. */
static tw_id place(struct random_graph *r, int64_t cols, int64_t rows, int64_t batch, enum tw_type type, tw_id x,
                   tw_id y)
{
    for (int i = 0; i < r->n_values && chance(r, 40); i++) {
        const tw_id id = pick(r);
        const struct tw_tensor *t = at(r, id);
        if (t->cols == cols && t->rows == rows && t->batch == batch && may_replace(r, id, x, y, type))
            return id;
    }
    tw_id id;
    if (chance(r, 12) && r->n_blocks < GRAPH_BLOCKS - 40)
        id = tw_graph_bind(r->g, "result", type, cols, rows, batch, block(r, type, cols, rows * batch, 1, 1));
    else
        id = tw_graph_temp(r->g, "t", type, cols, rows, batch);
    keep(r, id);
    return id;
}

static tw_id place_like(struct random_graph *r, tw_id x, enum tw_type type)
{
    return place(r, at(r, x)->cols, at(r, x)->rows, at(r, x)->batch, type, x, x);
}

/* ---- Operations */

/* An f32 value of this shape whose base is neither out's nor x's, or TW_NONE. */
static tw_id find_addend(struct random_graph *r, tw_id out, tw_id x)
{
    const struct tw_tensor *o = at(r, out);
    for (int i = 0; i < r->n_values - 1; i++) {
        const struct tw_tensor *t = at(r, r->values[i]);
        if (t->type == TW_F32 && t->cols == o->cols && t->rows == o->rows && t->batch == o->batch &&
            t->base != o->base && t->base != at(r, x)->base)
            return r->values[i];
    }
    return TW_NONE;
}

static void linear_to(struct random_graph *r, tw_id out, tw_id x, tw_id addend, int accumulates)
{
    const int64_t k = at(r, x)->cols, n = at(r, out)->cols;
    const int b_rows = chance(r, 25);
    const tw_id w = constant(r, weight_type(r, k, b_rows), b_rows ? n : k, b_rows ? k : n, 1 / sqrt((double)k));
    tw_id bias = chance(r, 50) ? constant(r, TW_F32, n, 1, 0.3) : TW_NONE;
    if (bias != TW_NONE && chance(r, 10)) {
        const tw_id computed = tw_graph_temp(r->g, "bias", TW_F32, n, 1, 1);
        tw_graph_scale(r->g, computed, bias, 0.7f);
        bias = computed;
    }
    const struct tw_product_options options = {
        .scale = chance(r, 5) ? 0.6f : 0, .gelu = chance(r, 25), .accumulate = accumulates, .b_rows = b_rows};
    tw_graph_product_onto(r->g, out, x, w, bias, addend, options);
}

static void add_linear(struct random_graph *r, int side)
{
    const tw_id x = pick(r);
    const int64_t n = chance(r, 50) ? 32 * range(r, 1, side / 32 > 0 ? side / 32 : 1) : range(r, 1, side);
    const tw_id old = pick(r);
    const struct tw_tensor *o = at(r, old);
    /* Onto what was there: all of it is known to be written. */
    if (chance(r, 35) && o->rows == at(r, x)->rows && o->batch == at(r, x)->batch &&
        may_replace(r, old, x, x, TW_F32)) {
        if (chance(r, 50))
            linear_to(r, old, x, TW_NONE, 1);
        else
            linear_to(r, old, x, old, 0);
        return;
    }
    const tw_id out = place(r, n, at(r, x)->rows, at(r, x)->batch, float_type(r), x, x);
    linear_to(r, out, x, chance(r, 40) ? find_addend(r, out, x) : TW_NONE, 0);
}

/* Two values times one another, or one times itself. */
static void add_product(struct random_graph *r)
{
    tw_id x = pick(r), y = pick(r);
    const int b_rows = at(r, y)->rows == at(r, x)->cols && chance(r, 70);
    const struct tw_tensor *a = at(r, x), *b = at(r, y);
    if (b->batch != 1 && b->batch != a->batch)
        return;
    if (!b_rows && b->cols != a->cols) {
        y = x;
        b = a;
    }
    const int64_t n = b_rows ? b->cols : b->rows, k = a->cols, rows = a->rows, batch = a->batch;
    const tw_id out = place(r, n, rows, batch, TW_F32, x, y);
    tw_graph_product(r->g, out, x, y, TW_NONE, (struct tw_product_options){.b_rows = b_rows});
    tw_graph_scale(r->g, out, out, 1 / (float)k);
}

static void add_attention(struct random_graph *r)
{
    static const int64_t widths[5] = {32, 64, 32, 96, 20};
    const tw_id x = pick(r), y = chance(r, 50) ? pick(r) : x;
    const int64_t width = widths[range(r, 0, 4)];
    const int32_t heads = (int32_t)range(r, 1, 3);
    if (at(r, x)->batch != 1 || at(r, y)->batch != 1)
        return;
    const tw_id q = tw_graph_temp(r->g, "q", TW_F32, heads * width, at(r, x)->rows, 1);
    const tw_id k = tw_graph_temp(r->g, "k", TW_F32, heads * width, at(r, y)->rows, 1);
    const tw_id v = tw_graph_temp(r->g, "v", TW_F32, heads * width, at(r, y)->rows, 1);
    linear_to(r, q, x, TW_NONE, 0);
    linear_to(r, k, y, TW_NONE, 0);
    linear_to(r, v, y, TW_NONE, 0);
    const tw_id out = tw_graph_temp(r->g, "mixed", TW_F32, heads * width, at(r, x)->rows, 1);
    const int is_causal = at(r, x)->rows <= at(r, y)->rows && chance(r, 20);
    tw_graph_attention(r->g, out, q, k, v, heads, 0.15f, is_causal, 0);
    if (chance(r, 50))
        tw_graph_keep_scores(r->g);
    keep(r, out);
    if (chance(r, 30))
        keep(r, v);
}

static void add_row_operation(struct random_graph *r)
{
    const tw_id x = pick(r);
    const struct tw_tensor *t = at(r, x);
    const int64_t cols = t->cols, rows = t->rows, batch = t->batch;
    const int in_place = !at(r, t->base)->constant && !tw_window_folded(t) && chance(r, 25);
    const tw_id out = in_place ? x : place_like(r, x, float_type(r));
    switch (range(r, 0, 5)) {
    case 0:
        tw_graph_gelu(r->g, out, x);
        break;
    case 1:
        tw_graph_scale(r->g, out, x, 0.9f);
        break;
    case 2:
        tw_graph_add(r->g, out, x, constant(r, TW_F32, cols, chance(r, 50) || batch > 1 ? 1 : rows, 0.5));
        break;
    case 3:
        tw_graph_softmax(r->g, out, x, 0.5f, 0, 0);
        tw_graph_scale(r->g, out, out, (float)cols);
        break;
    case 4:
        tw_graph_layer_norm(r->g, out, x, constant(r, TW_F32, cols, 1, 1), constant(r, TW_F32, cols, 1, 0.5), 1e-2f);
        break;
    default:
        if (!in_place)
            tw_graph_copy(r->g, out, x);
        else
            tw_graph_scale(r->g, out, x, -1);
    }
}

static void add_move(struct random_graph *r)
{
    const tw_id x = pick(r);
    const struct tw_tensor t = *at(r, x);
    const int32_t window = (int32_t)range(r, 1, 4), stride = (int32_t)range(r, 1, 3);
    if (chance(r, 40)) {
        const tw_id out = place(r, t.rows, t.cols, t.batch, float_type(r), x, x);
        tw_graph_transpose(r->g, out, x);
    } else if (t.cols * window < 200) {
        const int64_t rows = (t.rows - 1 + (window % 2 == 0)) / stride + 1;
        const tw_id out = place(r, t.cols * window, rows, t.batch, float_type(r), x, x);
        tw_graph_im2col(r->g, out, x, window, stride);
    }
}

static void add_gather(struct random_graph *r, int side)
{
    const tw_id table = pick(r);
    const struct tw_tensor t = *at(r, table);
    const int64_t n = range(r, 1, side);
    if (t.batch != 1)
        return;
    int32_t *rows = (int32_t *)(void *)block(r, TW_F32, n, 1, 1, 0);
    for (int64_t i = 0; i < n; i++)
        rows[i] = (int32_t)range(r, 0, t.rows - 1);
    memcpy(r->blocks[r->n_blocks - 1].before, rows, (size_t)n * sizeof *rows);
    const tw_id indices = tw_graph_constant(r->g, "indices", TW_I32, n, 1, 1, rows);
    tw_graph_gather(r->g, place(r, t.cols, n, 1, TW_F32, table, table), table, indices);
}

static tw_id part_of(struct random_graph *r, tw_id x)
{
    const struct tw_tensor t = *at(r, x);
    const int64_t cols = range(r, 1, t.cols), rows = range(r, 1, t.rows);
    const size_t size = tw_type_info(t.type)->bytes;
    const size_t offset = (size_t)range(r, 0, t.cols - cols) * size + (size_t)range(r, 0, t.rows - rows) * t.row_stride;
    return tw_graph_view(r->g, x, cols, rows, t.batch, offset, t.row_stride, t.batch_stride);
}

/* Windows: parts, columns as heads, matrices as rows, other widths of the same numbers, every second row. */
static void add_view(struct random_graph *r)
{
    const tw_id x = pick(r);
    const struct tw_tensor t = *at(r, x);
    const size_t size = tw_type_info(t.type)->bytes;
    const int is_dense = t.row_stride == (size_t)t.cols * size && t.batch_stride == (size_t)t.rows * t.row_stride;
    switch (range(r, 0, 4)) {
    case 0:
        keep(r, part_of(r, x));
        break;
    case 1:
        for (int64_t heads = 4; heads > 1; heads--)
            if (t.cols % heads == 0 && t.batch == 1) {
                keep(r, tw_graph_view(r->g, x, t.cols / heads, t.rows, heads, 0, t.row_stride,
                                      (size_t)(t.cols / heads) * size));
                break;
            }
        break;
    case 2:
        if (is_dense)
            keep(r, tw_graph_view(r->g, x, t.cols, t.rows * t.batch, 1, 0, t.row_stride, 0));
        break;
    case 3:
        if (is_dense && t.cols % 2 == 0)
            keep(r, tw_graph_view(r->g, x, t.cols / 2, t.rows * 2, t.batch, 0, t.row_stride / 2, t.batch_stride));
        break;
    default:
        if (t.rows > 1)
            keep(r, tw_graph_view(r->g, x, t.cols, t.rows / 2, t.batch, 0, 2 * t.row_stride, t.batch_stride));
    }
}

/* A copy of which a part is then written anew. */
static void add_part(struct random_graph *r)
{
    const tw_id x = pick(r), y = place_like(r, x, TW_F32);
    tw_graph_copy(r->g, y, x);
    const tw_id part = part_of(r, y), from = pick(r);
    if (at(r, from)->rows == at(r, part)->rows && at(r, from)->batch == at(r, part)->batch &&
        at(r, from)->base != at(r, part)->base && !tw_window_folded(at(r, part)))
        linear_to(r, part, from, TW_NONE, chance(r, 40));
}

/* Heads of one value times their own kind, to heads side by side: what attention does, written out. */
static void add_heads(struct random_graph *r)
{
    const int64_t width = chance(r, 50) ? 32 : range(r, 2, 40), heads = range(r, 2, 4);
    const tw_id x = pick(r);
    const int64_t rows = at(r, x)->rows;
    if (at(r, x)->batch != 1)
        return;
    const tw_id y = tw_graph_temp(r->g, "y", TW_F32, heads * width, rows, 1);
    linear_to(r, y, x, TW_NONE, 0);
    const size_t row = (size_t)(heads * width) * 4;
    const tw_id parts = tw_graph_view(r->g, y, width, rows, heads, 0, row, (size_t)width * 4);
    const tw_id scores = tw_graph_temp(r->g, "scores", float_type(r), rows, rows, heads);
    tw_graph_product(r->g, scores, parts, parts, TW_NONE, (struct tw_product_options){0});
    if (chance(r, 60))
        tw_graph_softmax(r->g, scores, scores, 0.2f, 0, 0);
    else
        tw_graph_scale(r->g, scores, scores, 1 / (float)width);
    const tw_id out = tw_graph_temp(r->g, "out", chance(r, 50) ? TW_F32 : TW_BF16, heads * width, rows, 1);
    const size_t size = tw_type_info(at(r, out)->type)->bytes;
    const tw_id to =
        tw_graph_view(r->g, out, width, rows, heads, 0, (size_t)(heads * width) * size, (size_t)width * size);
    tw_graph_product(r->g, to, scores, parts, TW_NONE, (struct tw_product_options){.b_rows = 1});
    keep(r, out);
}

static void add_one(struct random_graph *r, int side)
{
    /* Half of the graphs are little more than products, whose launches are long. */
    const int64_t which = r->is_network && chance(r, 75) ? range(r, 0, 39) : range(r, 0, 99);
    if (which < 30)
        add_linear(r, side);
    else if (which < 40)
        add_product(r);
    else if (which < 47)
        add_attention(r);
    else if (which < 65)
        add_row_operation(r);
    else if (which < 73)
        add_move(r);
    else if (which < 77)
        add_gather(r, side);
    else if (which < 90)
        add_view(r);
    else if (which < 95)
        add_part(r);
    else
        add_heads(r);
}

/* The latest can be seen at the end, and some of the others: those that cannot may be in bf16. */
static void add_results(struct random_graph *r)
{
    for (int i = r->n_values - 1; i >= 0 && r->n_blocks < GRAPH_BLOCKS; i--) {
        const struct tw_tensor t = *at(r, r->values[i]);
        if (at(r, t.base)->storage != TW_TEMP || (i < r->n_values - 2 && !chance(r, 20)))
            continue;
        unsigned char *to = block(r, TW_F32, t.cols, t.rows * t.batch, 1, 1);
        tw_graph_copy(r->g, tw_graph_bind(r->g, "seen", TW_F32, t.cols, t.rows, t.batch, to), r->values[i]);
    }
}

void random_graph_make(struct random_graph *r, uint64_t seed, int operations, int side)
{
    struct tw_error err = {0};
    *r = (struct random_graph){.g = tw_graph_create(), .random = {seed}, .is_network = seed % 2 == 0};
    assert_non_null(r->g);
    for (int i = 0; i < 3; i++) {
        const int64_t cols = range(r, 1, side), rows = range(r, 1, side), batch = chance(r, 25) ? range(r, 2, 3) : 1;
        const enum tw_type type = float_type(r);
        unsigned char *data = block(r, type, cols, rows * batch, 1, 0);
        keep(r, i == 0 ? tw_graph_constant(r->g, "given", type, cols, rows, batch, data)
                       : tw_graph_bind(r->g, "state", type, cols, rows, batch, data));
    }
    while (r->g->n_ops < operations && r->n_blocks < GRAPH_BLOCKS - 50)
        add_one(r, side);
    add_results(r);
    if (tw_graph_finish(r->g, &err) != TW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}
