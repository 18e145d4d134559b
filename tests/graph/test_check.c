/* What tw_graph_finish refuses: wrong order, constants written, outputs over operands, memory bound twice. */
#include "base/random.h"
#include "graph/graph.h"
#include "graph/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static _Alignas(64) unsigned char memory[1 << 16];
static const struct tw_product_options plain = {0};

static int make(void **state)
{
    *state = tw_graph_create();
    return *state == NULL;
}

static int unmake(void **state)
{
    tw_graph_destroy(*state);
    return 0;
}

static tw_id constant(struct tw_graph *g, const char *name, int64_t cols, int64_t rows)
{
    return tw_graph_constant(g, name, TW_F32, cols, rows, 1, memory);
}

static tw_id temp(struct tw_graph *g, const char *name, int64_t cols, int64_t rows)
{
    return tw_graph_temp(g, name, TW_F32, cols, rows, 1);
}

static void refused(struct tw_graph *g, int code, const char *part)
{
    struct tw_error err = {0};
    assert_int_equal(g->failure.code, TW_OK);
    assert_int_equal(tw_graph_finish(g, &err), code);
    if (strstr(err.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, part);
    /* It stays refused. */
    assert_false(g->finished);
    assert_int_equal(tw_graph_finish(g, NULL), code);
    tw_graph_reset(g);
}

static void accepted(struct tw_graph *g)
{
    struct tw_error err = {0};
    if (tw_graph_finish(g, &err) != TW_OK)
        fail_msg("%s", err.text);
    assert_true(g->finished);
    tw_graph_reset(g);
}

static void temporaries_are_written_before_they_are_read(void **state)
{
    struct tw_graph *g = *state;
    tw_id a = temp(g, "early", 4, 4), b = temp(g, "b", 4, 4);
    tw_graph_gelu(g, b, a);
    refused(g, TW_E_STATE, "operation 0, gelu of 'early' f32 4x4 to 'b' f32 4x4: 'early' is read before");
    /* Written later is too late. */
    a = temp(g, "early", 4, 4), b = temp(g, "b", 4, 4);
    tw_graph_add(g, b, constant(g, "c", 4, 4), a);
    tw_graph_gelu(g, a, constant(g, "c", 4, 4));
    refused(g, TW_E_STATE, "'early' is read before");
    /* Through a view, and as a third operand. */
    a = temp(g, "early", 4, 4), b = temp(g, "b", 4, 4);
    tw_graph_product(g, b, constant(g, "c", 4, 4), constant(g, "c", 4, 4), tw_graph_view(g, a, 4, 1, 1, 0, 0, 0),
                     plain);
    refused(g, TW_E_STATE, "'early' is read before");
    /* In place is a read too. */
    a = temp(g, "early", 4, 4);
    tw_graph_scale(g, a, a, 2);
    refused(g, TW_E_STATE, "'early' is read before");
    /* Accumulating reads the output. */
    a = temp(g, "sum", 4, 4);
    tw_graph_product(g, a, constant(g, "c", 4, 4), constant(g, "c", 4, 4), TW_NONE,
                     (struct tw_product_options){.accumulate = 1});
    refused(g, TW_E_STATE, "'sum' is read before");
    /* Filled through views and read whole; the caller's memory may be read at once. */
    a = temp(g, "a", 8, 4), b = temp(g, "b", 8, 4);
    tw_graph_gelu(g, tw_graph_view(g, a, 4, 4, 1, 0, 32, 0), constant(g, "c", 4, 4));
    tw_graph_gelu(g, tw_graph_view(g, a, 4, 4, 1, 16, 32, 0), constant(g, "c", 4, 4));
    tw_graph_gelu(g, b, a);
    tw_id io = tw_graph_bind(g, "io", TW_F32, 8, 4, 1, memory + 4096);
    tw_graph_add(g, io, io, b);
    accepted(g);
}

static void constants_are_not_written(void **state)
{
    struct tw_graph *g = *state;
    tw_id c = constant(g, "weights", 4, 4);
    tw_graph_gelu(g, c, c);
    refused(g, TW_E_ARGUMENT, "constant");
    c = constant(g, "weights", 4, 4);
    tw_graph_gelu(g, tw_graph_view(g, c, 4, 1, 1, 16, 0, 0), tw_graph_view(g, c, 4, 1, 1, 0, 0, 0));
    refused(g, TW_E_ARGUMENT, "'weights'");
}

/* x and out are two windows of a written temporary of 8 x 8. */
static struct windows {
    tw_id base, x, out;
} windows(struct tw_graph *g, size_t x_offset, size_t out_offset)
{
    struct windows w = {.base = temp(g, "base", 8, 8)};
    tw_graph_gelu(g, w.base, constant(g, "c", 8, 8));
    w.x = tw_graph_view(g, w.base, 4, 4, 1, x_offset, 32, 0);
    w.out = tw_graph_view(g, w.base, 4, 4, 1, out_offset, 32, 0);
    return w;
}

static void outputs_do_not_overlap_operands(void **state)
{
    struct tw_graph *g = *state;
    /* One row further, one column further: refused for in-place operations too. */
    struct windows w = windows(g, 0, 32);
    tw_graph_gelu(g, w.out, w.x);
    refused(g, TW_E_ARGUMENT, "operation 1, gelu");
    w = windows(g, 4, 0);
    tw_graph_scale(g, w.out, w.x, 2);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
    /* Side by side, above each other: fine. */
    w = windows(g, 0, 16);
    tw_graph_gelu(g, w.out, w.x);
    accepted(g);
    w = windows(g, 0, 128);
    tw_graph_transpose(g, w.out, w.x);
    accepted(g);
    /* The second and third operands. */
    w = windows(g, 0, 0);
    tw_graph_add(g, w.out, constant(g, "c", 4, 4), w.x);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
    w = windows(g, 0, 0);
    tw_graph_product(g, w.out, constant(g, "c", 4, 4), w.x, TW_NONE, plain);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
    w = windows(g, 0, 0);
    tw_graph_product(g, w.out, constant(g, "c", 4, 4), constant(g, "c", 4, 4),
                     tw_graph_view(g, w.base, 4, 1, 1, 0, 0, 0), plain);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
    w = windows(g, 0, 0);
    tw_id c = constant(g, "c", 4, 4);
    tw_graph_attention(g, w.out, c, c, w.x, 1, 1, 0, 0);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
    w = windows(g, 0, 0);
    tw_graph_layer_norm(g, w.out, w.x, tw_graph_view(g, w.base, 4, 1, 1, 96, 0, 0), constant(g, "c", 4, 1), 0);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
}

/* Each operation with out = x, by the same number and by an equal view. */
static void in_place_where_documented(void **state)
{
    struct tw_graph *g = *state;
    for (int same = 0; same <= 1; same++) {
        for (int kind = 0; kind < TW_OP_COUNT; kind++) {
            int allowed = kind == TW_OP_GELU || kind == TW_OP_SCALE || kind == TW_OP_ADD || kind == TW_OP_LAYER_NORM ||
                          kind == TW_OP_SOFTMAX;
            struct windows w = windows(g, 32, 32);
            tw_id c = constant(g, "c", 4, 4), row = constant(g, "row", 4, 1), out = same ? w.x : w.out;
            tw_id numbers = tw_graph_constant(g, "numbers", TW_I32, 4, 1, 1, memory);
            int code = kind == TW_OP_PRODUCT      ? tw_graph_product(g, out, w.x, c, TW_NONE, plain)
                       : kind == TW_OP_GELU       ? tw_graph_gelu(g, out, w.x)
                       : kind == TW_OP_SCALE      ? tw_graph_scale(g, out, w.x, 2)
                       : kind == TW_OP_ADD        ? tw_graph_add(g, out, w.x, c)
                       : kind == TW_OP_COPY       ? tw_graph_copy(g, out, w.x)
                       : kind == TW_OP_TRANSPOSE  ? tw_graph_transpose(g, out, w.x)
                       : kind == TW_OP_LAYER_NORM ? tw_graph_layer_norm(g, out, w.x, row, row, 0)
                       : kind == TW_OP_SOFTMAX    ? tw_graph_softmax(g, out, w.x, 1, 0, 0)
                       : kind == TW_OP_IM2COL     ? tw_graph_im2col(g, out, w.x, 1, 1)
                       : kind == TW_OP_GATHER     ? tw_graph_gather(g, out, w.x, numbers)
                                                  : tw_graph_attention(g, out, w.x, c, c, 1, 1, 0, 0);
            assert_int_equal(code, TW_OK);
            if (allowed)
                accepted(g);
            else
                refused(g, TW_E_ARGUMENT, "overlaps an operand");
        }
    }
}

static void accumulating_product_over_its_operand(void **state)
{
    struct tw_graph *g = *state;
    const struct tw_product_options accumulate = {.accumulate = 1};
    struct windows w = windows(g, 0, 0);
    tw_graph_product(g, w.out, w.x, constant(g, "c", 4, 4), TW_NONE, accumulate);
    refused(g, TW_E_ARGUMENT, "overlaps an operand");
    w = windows(g, 16, 0);
    tw_graph_product(g, w.out, w.x, constant(g, "c", 4, 4), TW_NONE, accumulate);
    accepted(g);
}

/* Onto the very output, onto other memory, and onto what only touches or partly covers the output. */
static void product_onto_an_addend(void **state)
{
    struct tw_graph *g = *state;
    static const struct {
        size_t out_at, addend_at, row_stride;
        int allowed;
    } cases[] = {{0, 0, 16, 1}, {0, 64, 16, 1}, {64, 0, 16, 1}, {0, 16, 32, 1},
                 {0, 4, 16, 0}, {0, 16, 16, 0}, {0, 60, 16, 0}, {0, 0, 32, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_id whole = tw_graph_bind(g, "whole", TW_F32, 64, 1, 1, memory + 4096), c = constant(g, "c", 4, 4);
        tw_id out = tw_graph_view(g, whole, 4, 4, 1, cases[i].out_at, i == 3 ? 32 : 16, 0);
        tw_id addend = tw_graph_view(g, whole, 4, 4, 1, cases[i].addend_at, cases[i].row_stride, 0);
        assert_int_equal(tw_graph_product_onto(g, out, c, c, TW_NONE, addend, (struct tw_product_options){.gelu = 1}),
                         TW_OK);
        if (cases[i].allowed)
            accepted(g);
        else
            refused(g, TW_E_ARGUMENT, "overlaps an operand");
    }
    tw_id unwritten = tw_graph_temp(g, "unwritten", TW_F32, 4, 4, 1), c = constant(g, "c", 4, 4);
    tw_graph_product_onto(g, unwritten, c, c, TW_NONE, unwritten, (struct tw_product_options){0});
    refused(g, TW_E_STATE, "read before");
}

static void written_memory_is_bound_once(void **state)
{
    struct tw_graph *g = *state;
    tw_id a = tw_graph_bind(g, "a", TW_F32, 16, 1, 1, memory), b = tw_graph_bind(g, "b", TW_F32, 16, 1, 1, memory + 64);
    /* Touching is not sharing. */
    tw_graph_gelu(g, b, a);
    accepted(g);
    a = tw_graph_bind(g, "a", TW_F32, 16, 1, 1, memory), b = tw_graph_bind(g, "b", TW_F32, 16, 1, 1, memory + 64);
    tw_graph_gelu(g, a, b);
    accepted(g);
    a = tw_graph_bind(g, "a", TW_F32, 16, 1, 1, memory), b = tw_graph_bind(g, "b", TW_F32, 16, 1, 1, memory + 64);
    tw_graph_gelu(g, a, a);
    tw_graph_gelu(g, b, b);
    accepted(g);
    a = tw_graph_bind(g, "a", TW_F32, 16, 1, 1, memory), b = tw_graph_bind(g, "b", TW_F32, 16, 1, 1, memory + 60);
    tw_graph_gelu(g, b, a);
    refused(g, TW_E_ARGUMENT, "'b' and 'a' were bound to overlapping memory and 'b' is written");
    a = tw_graph_bind(g, "a", TW_F32, 16, 1, 1, memory), b = tw_graph_bind(g, "b", TW_F32, 16, 1, 1, memory + 60);
    tw_graph_gelu(g, a, b);
    refused(g, TW_E_ARGUMENT, "'a' is written");
    /* Both written. */
    a = tw_graph_bind(g, "a", TW_F32, 16, 1, 1, memory), b = tw_graph_bind(g, "b", TW_F32, 16, 1, 1, memory);
    tw_graph_gelu(g, a, a);
    tw_graph_gelu(g, b, b);
    refused(g, TW_E_ARGUMENT, "'a' and 'b'");
    /* A constant inside written memory. */
    a = tw_graph_bind(g, "a", TW_F32, 64, 1, 1, memory), b = constant(g, "low", 4, 4);
    tw_id c = tw_graph_constant(g, "inside", TW_F32, 2, 1, 1, memory + 128);
    tw_graph_gelu(g, tw_graph_view(g, a, 2, 1, 1, 0, 0, 0), c);
    refused(g, TW_E_ARGUMENT, "'inside'");
    /* Read twice, or not used at all, is fine. */
    a = constant(g, "a", 4, 4), b = constant(g, "b", 4, 4);
    tw_graph_add(g, temp(g, "t", 4, 4), a, b);
    tw_graph_bind(g, "unused", TW_F32, 4, 1, 1, memory);
    tw_graph_gelu(g, tw_graph_bind(g, "out", TW_F32, 4, 4, 1, memory + 4096), a);
    tw_graph_bind(g, "unused too", TW_F32, 4, 1, 1, memory + 4096);
    accepted(g);
}

static void uses_are_numbered(void **state)
{
    struct tw_graph *g = *state;
    tw_id c = constant(g, "c", 4, 4), a = temp(g, "a", 4, 4), b = temp(g, "b", 4, 4), unused = temp(g, "unused", 4, 4);
    tw_id view = tw_graph_view(g, a, 4, 1, 1, 0, 0, 0), last = tw_graph_bind(g, "last", TW_F32, 4, 1, 1, memory + 4096);
    tw_graph_gelu(g, a, c);
    tw_graph_gelu(g, b, a);
    tw_graph_gelu(g, b, b);
    tw_graph_gelu(g, last, view);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    const tw_id ids[] = {c, a, b, unused, view, last};
    static const int expected[][3] = {{0, 0, 0}, {0, 3, 1}, {1, 2, 1}, {-1, -1, 0}, {3, 3, 0}, {3, 3, 1}};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_int_equal(g->tensors[ids[i]].first_use, expected[i][0]);
        assert_int_equal(g->tensors[ids[i]].last_use, expected[i][1]);
        assert_int_equal(g->tensors[ids[i]].written, expected[i][2]);
    }
}

enum { FIELD = 512 }; /* bytes of the base in the tests of windows */

/* Marks the bytes of t; returns nonzero when a byte is hit twice. */
static int mark(const struct tw_tensor *t, unsigned char *hit)
{
    int twice = 0;
    memset(hit, 0, FIELD);
    for (int64_t b = 0; b < t->batch; b++)
        for (int64_t r = 0; r < t->rows; r++)
            for (size_t i = 0; i < (size_t)t->cols * 4; i++)
                twice |= hit[t->offset + (size_t)b * t->batch_stride + (size_t)r * t->row_stride + i]++ > 0;
    return twice;
}

static tw_id random_view(struct tw_graph *g, struct tw_random *r, tw_id base)
{
    for (;;) {
        tw_id id = tw_graph_view(g, base, tw_random_range(r, 1, 6), tw_random_range(r, 1, 5), tw_random_range(r, 1, 3),
                                 4 * (size_t)tw_random_range(r, 0, 60), 4 * (size_t)tw_random_range(r, 0, 16),
                                 4 * (size_t)tw_random_range(r, 0, 40));
        if (id >= 0)
            return id;
        g->failure.code = TW_OK;
    }
}

/* Against marked bytes: an overlap is never missed, and the verdict is precise nearly always. */
static void windows_against_brute_force(void **state)
{
    struct tw_graph *g = *state;
    struct tw_random r = {21};
    unsigned char hit_a[FIELD], hit_b[FIELD];
    int apart = 0, apart_but_refused = 0, smooth = 0, smooth_but_folded = 0;
    for (int i = 0; i < 20000; i++) {
        tw_graph_reset(g);
        tw_id base = temp(g, "base", FIELD / 4, 1);
        tw_id id_a = random_view(g, &r, base), id_b = random_view(g, &r, base);
        const struct tw_tensor *a = &g->tensors[id_a], *b = &g->tensors[id_b];
        int twice = mark(a, hit_a), shared = 0;
        mark(b, hit_b);
        for (int j = 0; j < FIELD; j++)
            shared |= hit_a[j] && hit_b[j];
        if (shared)
            assert_true(tw_window_overlap(a, b));
        assert_int_equal(tw_window_overlap(a, b) != 0, tw_window_overlap(b, a) != 0);
        if (twice)
            assert_true(tw_window_folded(a));
        apart += !shared;
        apart_but_refused += !shared && tw_window_overlap(a, b);
        smooth += !twice;
        smooth_but_folded += !twice && tw_window_folded(a);
        assert_true(hit_a[a->offset + tw_window_extent(a) - 1] != 0);
        for (size_t j = a->offset + tw_window_extent(a); j < FIELD; j++)
            assert_int_equal(hit_a[j], 0);
    }
    assert_true(apart > 2000 && smooth > 5000);
    assert_true(apart_but_refused < apart / 4);
    assert_true(smooth_but_folded < smooth / 4);
}

/* Windows that networks use must be told apart exactly. */
static void usual_windows_are_told_apart(void **state)
{
    struct tw_graph *g = *state;
    tw_id base = temp(g, "qkv", 24, 8);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            tw_id a = tw_graph_view(g, base, 8, 8, 1, 32 * (size_t)i, 96, 0);
            tw_id heads = tw_graph_view(g, base, 2, 8, 4, 32 * (size_t)j, 96, 8);
            assert_int_equal(tw_window_overlap(&g->tensors[a], &g->tensors[heads]) != 0, i == j);
        }
    tw_id odd = tw_graph_view(g, base, 24, 4, 1, 96, 192, 0), even = tw_graph_view(g, base, 24, 4, 1, 0, 192, 0);
    assert_false(tw_window_overlap(&g->tensors[odd], &g->tensors[even]));
    /* The same position of each of 4 slots of 2 rows, against the other position. */
    tw_id one = tw_graph_view(g, base, 24, 1, 4, 0, 0, 192), two = tw_graph_view(g, base, 24, 4, 1, 96, 192, 0);
    assert_false(tw_window_overlap(&g->tensors[one], &g->tensors[two]));
    tw_id all = tw_graph_view(g, base, 24, 2, 4, 0, 96, 192);
    assert_true(tw_window_overlap(&g->tensors[all], &g->tensors[two]));
    assert_true(tw_window_same(&g->tensors[all], &g->tensors[all]));
    assert_false(tw_window_same(&g->tensors[all], &g->tensors[base]));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(temporaries_are_written_before_they_are_read),
        TEST(constants_are_not_written),
        TEST(outputs_do_not_overlap_operands),
        TEST(in_place_where_documented),
        TEST(accumulating_product_over_its_operand),
        TEST(product_onto_an_addend),
        TEST(written_memory_is_bound_once),
        TEST(uses_are_numbered),
        TEST(windows_against_brute_force),
        TEST(usual_windows_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
