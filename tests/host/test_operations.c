/* Each operation on every kernel table against float64: random shapes and types, views, batches, options, edge values.
 */
#include "host/operation_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct tw_product_options plain = {0};
static const double sizes[] = {1, 1e-6, 1e5};

static int64_t draw(struct operation_case *c, int64_t low, int64_t high)
{
    return tw_random_range(&c->random, low, high);
}

static int flip(struct operation_case *c)
{
    return (int)draw(c, 0, 1);
}

static enum tw_type draw_float(struct operation_case *c)
{
    return (enum tw_type)draw(c, TW_F32, TW_BF16);
}

/* Small, or a few around what vectors, register tiles and blocks hold. */
static int64_t draw_count(struct operation_case *c, int64_t most)
{
    static const int64_t usual[] = {1, 6, 8, 12, 14, 16, 32, 48, 64, 96, 128, 256};
    int64_t n = flip(c) ? usual[draw(c, 0, 11)] + draw(c, -1, 1) : draw(c, 1, 40);
    return n < 1 ? 1 : n > most ? most : n;
}

static void product(struct operation_case *c, int64_t m, int64_t n, int64_t k, int64_t batch, enum tw_type type,
                    struct tw_product_options options)
{
    int64_t b_batch = flip(c) ? batch : 1;
    int onto = options.accumulate ? 1 : draw(c, 0, 1) ? 0 : (int)draw(c, 1, 2); /* 1: onto out, 2: onto another */
    tw_id a = case_in(c, draw(c, 0, 3) == 0 ? draw_float(c) : TW_F32, k, m, batch);
    tw_id b = options.b_rows ? case_in(c, type, n, k, b_batch) : case_in(c, type, k, n, b_batch);
    tw_id bias = flip(c) ? case_in(c, TW_F32, n, 1, 1) : TW_NONE;
    tw_id addend = onto == 2 ? case_in(c, TW_F32, n, m, batch) : TW_NONE;
    tw_id out = case_out(c, onto == 1 || flip(c) ? TW_F32 : draw_float(c), n, m, batch, onto == 1);
    if (onto == 1 && !options.accumulate)
        addend = out;
    assert_int_equal(tw_graph_product_onto(c->g, out, a, b, bias, addend, options), TW_OK);
    case_run(c, 0);
}

static struct tw_product_options draw_options(struct operation_case *c, enum tw_type type)
{
    struct tw_product_options options = {.gelu = draw(c, 0, 2) == 0, .accumulate = draw(c, 0, 2) == 0};
    options.scale = flip(c) ? 0 : (float)(tw_random_unit(&c->random) - 0.5);
    options.b_rows = type <= TW_BF16 && draw(c, 0, 2) == 0;
    return options;
}

static void random_products(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 250; i++) {
        enum tw_type type = (enum tw_type)(i % 5);
        int64_t k = draw_count(c, 300);
        case_begin(c, sizes[draw(c, 0, 2)]);
        product(c, draw_count(c, 50), draw_count(c, 130), type > TW_BF16 ? (k + 31) / 32 * 32 : k, draw(c, 1, 3), type,
                draw_options(c, type));
    }
}

/* Few rows and many columns, as a decoder's steps are. */
static void skinny_products(void **state)
{
    struct operation_case *c = *state;
    for (int64_t m = 1; m <= 10; m++)
        for (int type = TW_F32; type <= TW_Q8_0; type++) {
            case_begin(c, 1);
            product(c, m, 330 + draw(c, 0, 40), 32 * draw(c, 1, 12), 1, (enum tw_type)type, plain);
        }
}

/* Beyond the blocks that a packed product keeps in the caches. */
static void large_products(void **state)
{
    struct operation_case *c = *state;
    for (int type = TW_F32; type <= TW_Q8_0; type++) {
        case_begin(c, 1);
        product(c, 100, 270, 544, 1, (enum tw_type)type, plain);
    }
    case_begin(c, 1);
    product(c, 30, 1100, 65, 1, TW_F16, (struct tw_product_options){.b_rows = 1});
    case_begin(c, 1);
    product(c, 400, 33, 150, 1, TW_F32, (struct tw_product_options){.gelu = 1, .accumulate = 1});
    case_begin(c, 1);
    product(c, 7, 20, 3000, 2, TW_F32, plain);
    /* Operands too large to be packed at once. */
    case_begin(c, 1);
    product(c, 97, 33, 22000, 1, TW_F16, plain);
}

static void products_of_edge_values(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 60; i++) {
        enum tw_type type = (enum tw_type)(i % 3);
        case_begin(c, 1);
        c->edges = 1;
        product(c, draw_count(c, 20), draw_count(c, 40), draw_count(c, 40), draw(c, 1, 2), type, draw_options(c, type));
    }
}

/* The same tensor as both operands, and a view as bias. */
static void product_with_itself(void **state)
{
    struct operation_case *c = *state;
    case_begin(c, 1);
    tw_id x = case_in(c, TW_F32, 50, 50, 1);
    tw_id row = tw_graph_view(c->g, x, 50, 1, 1, 0, 0, 0), all = tw_graph_view(c->g, x, 50, 30, 1, 0, 0, 0);
    tw_graph_product(c->g, case_out(c, TW_F32, 50, 50, 1, 0), x, x, row, plain);
    case_run(c, 0);
    /* All rows of a are the same one. */
    case_begin(c, 1);
    x = case_in(c, TW_F32, 50, 4, 1);
    all = tw_graph_view(c->g, x, 50, 30, 1, 0, 0, 0);
    tw_graph_product(c->g, case_out(c, TW_F32, 4, 30, 1, 0), all, x, TW_NONE, plain);
    case_run(c, 0);
}

static tw_id x_or_out(struct operation_case *c, int in_place, tw_id x)
{
    return in_place ? c->out : x;
}

static int build_row_operation(struct operation_case *c, enum tw_op_kind kind, tw_id x, int64_t cols, int64_t rows,
                               int64_t batch)
{
    int causal = rows <= cols && flip(c);
    float scale = (float)(3 * tw_random_unit(&c->random) - 1);
    switch (kind) {
    case TW_OP_GELU:
        return tw_graph_gelu(c->g, c->out, x);
    case TW_OP_SCALE:
        return tw_graph_scale(c->g, c->out, x, scale);
    case TW_OP_ADD:
        return tw_graph_add(c->g, c->out, x, case_in(c, draw_float(c), cols, flip(c) ? rows : 1, flip(c) ? batch : 1));
    case TW_OP_COPY:
        return tw_graph_copy(c->g, c->out, x);
    case TW_OP_LAYER_NORM:
        return tw_graph_layer_norm(c->g, c->out, x, case_in(c, TW_F32, cols, 1, 1), case_in(c, TW_F32, cols, 1, 1),
                                   1e-5f);
    default:
        return tw_graph_softmax(c->g, c->out, x, scale, causal, causal ? (int32_t)draw(c, 0, cols - rows) : 0);
    }
}

static void row_operations(struct operation_case *c, enum tw_op_kind kind, int cases, int edges)
{
    for (int i = 0; i < cases; i++) {
        int64_t cols = i % 50 == 49 ? draw(c, 1000, 5000) : draw_count(c, 260), rows = draw_count(c, 30);
        int64_t batch = draw(c, 1, 3);
        int in_place = kind != TW_OP_COPY && draw(c, 0, 3) == 0;
        /* Exponents of 1e5 leave one number standing; larger spreads say nothing more. */
        case_begin(c, kind == TW_OP_SOFTMAX ? (i % 3 == 0 ? 40 : 3) : sizes[i % 3]);
        c->edges = edges;
        case_out(c, i % 2 == 0 ? TW_F32 : draw_float(c), cols, rows, batch, in_place);
        tw_id x = case_in(c, i % 2 == 0 ? TW_F32 : draw_float(c), cols, rows, batch);
        assert_int_equal(build_row_operation(c, kind, x_or_out(c, in_place, x), cols, rows, batch), TW_OK);
        case_run(c, 0);
    }
}

static void gelu(void **state)
{
    row_operations(*state, TW_OP_GELU, 150, 0);
    row_operations(*state, TW_OP_GELU, 30, 1);
}

/* Every part of the curve, tails included, in steps. */
static void gelu_curve(void **state)
{
    struct operation_case *c = *state;
    for (double size = 0.01; size < 2000; size *= 3) {
        case_begin(c, size);
        tw_id out = case_out(c, TW_F32, 2000, 1, 1, 0);
        tw_graph_gelu(c->g, out, case_in(c, TW_F32, 2000, 1, 1));
        case_run(c, 0);
    }
}

static void scale(void **state)
{
    row_operations(*state, TW_OP_SCALE, 150, 0);
    row_operations(*state, TW_OP_SCALE, 30, 1);
}

static void add(void **state)
{
    row_operations(*state, TW_OP_ADD, 150, 0);
    row_operations(*state, TW_OP_ADD, 30, 1);
}

static void copy(void **state)
{
    row_operations(*state, TW_OP_COPY, 150, 0);
    row_operations(*state, TW_OP_COPY, 60, 1);
}

static void layer_norm(void **state)
{
    row_operations(*state, TW_OP_LAYER_NORM, 150, 0);
    row_operations(*state, TW_OP_LAYER_NORM, 30, 1);
}

/* A large mean and a small spread: the variance must not be the difference of two large numbers. */
static void layer_norm_far_from_zero(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 20; i++) {
        int64_t cols = draw_count(c, 260);
        case_begin(c, 1);
        tw_id x = case_in(c, TW_F32, cols, 3, 1), one = case_in(c, TW_F32, cols, 1, 1);
        unsigned char *data = tw_tensor_data(c->g, x, NULL);
        for (int64_t row = 0; row < 3; row++)
            for (int64_t col = 0; col < cols; col++) {
                float v = 1000 + (float)(col % 7) * 0.01f * (float)row;
                memcpy(data + (size_t)row * c->g->tensors[x].row_stride + (size_t)col * 4, &v, sizeof v);
            }
        tw_graph_layer_norm(c->g, case_out(c, TW_F32, cols, 3, 1, 0), x, one, one, 1e-5f);
        case_run(c, 0);
    }
}

static void softmax(void **state)
{
    row_operations(*state, TW_OP_SOFTMAX, 200, 0);
    row_operations(*state, TW_OP_SOFTMAX, 40, 1);
}

/* Masked entries, more and more of them, but never all. */
static void softmax_of_masked_rows(void **state)
{
    struct operation_case *c = *state;
    for (int64_t masked = 0; masked < 70; masked++) {
        case_begin(c, 5);
        tw_id x = case_in(c, TW_F32, 70, 2, 1);
        float minus = -INFINITY;
        unsigned char *data = tw_tensor_data(c->g, x, NULL);
        for (int64_t i = 0; i < masked; i++) {
            memcpy(data + (size_t)i * 4, &minus, sizeof minus);
            memcpy(data + c->g->tensors[x].row_stride + (size_t)(69 - i) * 4, &minus, sizeof minus);
        }
        tw_graph_softmax(c->g, case_out(c, TW_F32, 70, 2, 1, 0), x, 0.5f, 0, 0);
        case_run(c, 0);
    }
}

static void transpose(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 150; i++) {
        int64_t cols = i % 10 == 9 ? draw(c, 250, 600) : draw_count(c, 150);
        int64_t rows = draw_count(c, 150), batch = draw(c, 1, 3);
        case_begin(c, 1);
        c->edges = i % 5 == 0;
        tw_id out = case_out(c, flip(c) ? TW_F32 : draw_float(c), rows, cols, batch, 0);
        tw_graph_transpose(c->g, out, case_in(c, flip(c) ? TW_F32 : draw_float(c), cols, rows, batch));
        case_run(c, 0);
    }
}

static void im2col(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 150; i++) {
        int64_t channels = draw_count(c, 90), rows = draw_count(c, 60), batch = draw(c, 1, 2);
        int32_t window = (int32_t)draw(c, 1, i % 2 == 0 ? 3 : 20), stride = (int32_t)draw(c, 1, 4);
        case_begin(c, 1);
        tw_id x = case_in(c, flip(c) ? TW_F32 : draw_float(c), channels, rows, batch);
        int64_t windows = (rows + 2 * (window / 2) - window) / stride + 1;
        tw_id out = case_out(c, flip(c) ? TW_F32 : draw_float(c), channels * window, windows, batch, 0);
        assert_int_equal(tw_graph_im2col(c->g, out, x, window, stride), TW_OK);
        case_run(c, 0);
    }
}

static void gather(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 100; i++) {
        enum tw_type type = (enum tw_type)(i % 5);
        int64_t cols = type > TW_BF16 ? 32 * draw(c, 1, 8) : draw_count(c, 260);
        int64_t rows = draw_count(c, 90), n = draw_count(c, 60);
        case_begin(c, 1);
        tw_id table = case_in(c, type, cols, rows, 1);
        tw_graph_gather(c->g, case_out(c, TW_F32, cols, n, 1, 0), table, case_indices(c, n, rows));
        case_run(c, 0);
    }
}

static void gather_outside_the_table(void **state)
{
    struct operation_case *c = *state;
    static const int32_t outside[] = {-1, 10, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        case_begin(c, 1);
        tw_id indices = case_indices(c, 5, 10);
        memcpy(tw_tensor_data(c->g, indices, NULL) + (size_t)i * 4, &outside[i], 4);
        tw_graph_gather(c->g, case_out(c, TW_F32, 8, 5, 1, 0), case_in(c, TW_F32, 8, 10, 1), indices);
        case_refused(c, TW_E_ARGUMENT);
    }
}

static void attention_case(struct operation_case *c, int64_t queries, int64_t keys, int32_t heads, int64_t width)
{
    int64_t batch = draw(c, 1, 3), shared = flip(c) ? batch : 1;
    enum tw_type type = flip(c) ? TW_F32 : TW_F16;
    /* What a row does not see may be multiplied by 0, which infinities survive. */
    int causal = queries <= keys && !c->edges && flip(c);
    tw_id q = case_in(c, TW_F32, heads * width, queries, batch);
    tw_id k = case_in(c, type, heads * width, keys, shared), v = case_in(c, type, heads * width, keys, shared);
    tw_id out = case_out(c, TW_F32, heads * width, queries, batch, 0);
    assert_int_equal(tw_graph_attention(c->g, out, q, k, v, heads, 1 / sqrtf((float)width), causal,
                                        causal ? (int32_t)draw(c, 0, keys - queries) : 0),
                     TW_OK);
    case_run(c, 0);
}

static void attention(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 150; i++) {
        /* Large scores overflow where the largest one is not subtracted. */
        case_begin(c, i % 3 == 0 ? 25 : 1);
        attention_case(c, draw_count(c, 100), draw_count(c, 260), (int32_t)draw(c, 1, 4),
                       flip(c) ? 64 : draw_count(c, 80));
    }
}

/* A decoder's steps: one to a few queries, many keys. */
static void attention_of_few_queries(void **state)
{
    struct operation_case *c = *state;
    for (int64_t queries = 1; queries <= 9; queries++) {
        case_begin(c, 2);
        attention_case(c, queries, 1500, 3, 64);
    }
}

static void attention_over_edge_values(void **state)
{
    struct operation_case *c = *state;
    for (int i = 0; i < 20; i++) {
        case_begin(c, 1);
        c->edges = i % 2;
        attention_case(c, draw_count(c, 20), draw_count(c, 40), 2, 8);
    }
}

/* A network in small: temporaries that share places, a residual stream, a cache written and read through views. */
static void a_layer_of_a_decoder(void **state)
{
    struct operation_case *c = *state;
    const int64_t width = 64, tokens = 5, past = 7;
    const struct tw_product_options accumulate = {.accumulate = 1}, with_gelu = {.gelu = 1};
    case_begin(c, 0.3);
    struct tw_graph *g = c->g;
    /* One block of memory for all weights of the layer. */
    tw_id weights = case_in(c, TW_F16, width, 14 * width, 1), vectors = case_in(c, TW_F32, width, 8, 1);
    tw_id out = case_out(c, TW_F32, width, 2 * (past + tokens) + tokens, 1, 1);
    tw_id x = tw_graph_temp(g, "x", TW_F32, width, tokens, 1), w[14], vector[8], cache[2];
    const struct tw_tensor *wt = &g->tensors[weights], *vt = &g->tensors[vectors], *ot = &g->tensors[out];
    size_t w_stride = wt->row_stride, v_stride = vt->row_stride, o_stride = ot->row_stride;
    for (int i = 0; i < 14; i++)
        w[i] = tw_graph_view(g, weights, width, width, 1, (size_t)(i * width) * w_stride, w_stride, 0);
    for (int i = 0; i < 8; i++)
        vector[i] = tw_graph_view(g, vectors, width, 1, 1, (size_t)i * v_stride, 0, 0);
    for (int i = 0; i < 2; i++)
        cache[i] =
            tw_graph_view(g, out, width, past + tokens, 1, (size_t)(i * (past + tokens)) * o_stride, o_stride, 0);
    tw_graph_copy(g, x, tw_graph_view(g, out, width, tokens, 1, (size_t)(2 * (past + tokens)) * o_stride, o_stride, 0));
    for (int layer = 0; layer < 3; layer++) {
        tw_id n = tw_graph_temp(g, "n", TW_F32, width, tokens, 1), q = tw_graph_temp(g, "q", TW_F32, width, tokens, 1);
        tw_id mixed = tw_graph_temp(g, "mixed", TW_F32, width, tokens, 1);
        tw_id hidden = tw_graph_temp(g, "hidden", TW_F16, width, tokens, 1);
        tw_graph_layer_norm(g, n, x, vector[0], vector[1], 1e-5f);
        tw_graph_product(g, q, n, w[4 * layer], vector[2], plain);
        for (int i = 0; i < 2; i++) {
            tw_id rows = tw_graph_view(g, cache[i], width, tokens, 1, (size_t)past * o_stride, o_stride, 0);
            tw_graph_product(g, rows, n, w[4 * layer + 1 + i], TW_NONE, plain);
        }
        tw_graph_attention(g, mixed, q, cache[0], cache[1], 4, 0.25f, 1, (int32_t)past);
        tw_graph_product(g, x, mixed, w[4 * layer + 3], vector[3], accumulate);
        tw_graph_layer_norm(g, n, x, vector[4], vector[5], 1e-5f);
        tw_graph_product(g, hidden, n, w[12], vector[6], with_gelu);
        tw_graph_product(g, x, hidden, w[13], vector[7], accumulate);
        tw_graph_scale(g, x, x, 0.5f);
    }
    tw_graph_copy(g, tw_graph_view(g, out, width, tokens, 1, (size_t)(2 * (past + tokens)) * o_stride, o_stride, 0), x);
    /* The halves between the two products round to 2^-11. */
    case_run(c, 0x1p-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_products),
        cmocka_unit_test(skinny_products),
        cmocka_unit_test(large_products),
        cmocka_unit_test(products_of_edge_values),
        cmocka_unit_test(product_with_itself),
        cmocka_unit_test(gelu),
        cmocka_unit_test(gelu_curve),
        cmocka_unit_test(scale),
        cmocka_unit_test(add),
        cmocka_unit_test(copy),
        cmocka_unit_test(layer_norm),
        cmocka_unit_test(layer_norm_far_from_zero),
        cmocka_unit_test(softmax),
        cmocka_unit_test(softmax_of_masked_rows),
        cmocka_unit_test(transpose),
        cmocka_unit_test(im2col),
        cmocka_unit_test(gather),
        cmocka_unit_test(gather_outside_the_table),
        cmocka_unit_test(attention),
        cmocka_unit_test(attention_of_few_queries),
        cmocka_unit_test(attention_over_edge_values),
        cmocka_unit_test(a_layer_of_a_decoder),
    };
    return cmocka_run_group_tests(tests, operation_case_open, operation_case_close);
}
