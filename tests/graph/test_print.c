/* The printed form of a graph, line by line. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static _Alignas(64) unsigned char memory[1 << 16];

static void expect_text(const struct tw_graph *g, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    tw_graph_print(g, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void every_operation(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    assert_non_null(g);
    tw_id mel = tw_graph_constant(g, "mel", TW_F32, 4, 6, 1, memory),
          w = tw_graph_constant(g, "w", TW_Q8_0, 32, 8, 1, memory);
    tw_id bias = tw_graph_constant(g, "bias", TW_F32, 8, 1, 1, memory),
          n = tw_graph_constant(g, "n", TW_I32, 6, 1, 1, memory);
    tw_id out = tw_graph_bind(g, "out", TW_F16, 8, 6, 2, memory + 4096);
    tw_id a = tw_graph_temp(g, "a", TW_F32, 12, 6, 1), b = tw_graph_temp(g, "b", TW_F32, 32, 6, 1);
    tw_id c = tw_graph_temp(g, "c", TW_F32, 8, 6, 1), d = tw_graph_temp(g, "d", TW_F32, 6, 8, 1);
    tw_id half = tw_graph_view(g, b, 8, 6, 1, 32, 128, 0);
    tw_graph_im2col(g, a, mel, 3, 1);
    tw_graph_gather(g, b, w, n);
    tw_graph_product(g, c, b, w, bias, (struct tw_product_options){.scale = 0.5f, .gelu = 1});
    tw_graph_product(g, c, b, w, TW_NONE, (struct tw_product_options){.accumulate = 1});
    tw_graph_layer_norm(g, c, c, bias, bias, 1e-5f);
    tw_graph_attention(g, c, half, half, half, 2, 0.25f, 1, 0);
    tw_graph_keep_scores(g);
    tw_graph_softmax(g, c, c, 1, 1, 2);
    tw_graph_transpose(g, d, c);
    tw_graph_gelu(g, c, half);
    tw_graph_scale(g, c, c, 1);
    tw_graph_add(g, c, c, bias);
    tw_graph_product(g, half, c, tw_graph_constant(g, "b", TW_BF16, 8, 8, 1, memory), TW_NONE,
                     (struct tw_product_options){.b_rows = 1});
    tw_graph_copy(g, tw_graph_view(g, out, 8, 6, 1, 96, 16, 0), c);
    tw_graph_product_onto(g, c, b, w, TW_NONE, c, (struct tw_product_options){0});
    static const char unplanned[] = "0 im2col 'a' f32 12x6 @work = 'mel' f32 4x6 @const window=3 stride=1\n"
                                    "1 gather 'b' f32 32x6 @work = 'w' q8_0 32x8 @const, 'n' i32 6x1 @const\n";
    char start[sizeof unplanned];
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    tw_graph_print(g, to);
    fclose(to);
    snprintf(start, sizeof start, "%s", text);
    free(text);
    assert_string_equal(start, unplanned);

    struct tw_error err = {0};
    if (tw_graph_finish(g, &err) != TW_OK)
        fail_msg("%s", err.text);
    expect_text(
        g, "0 im2col 'a' f32 12x6 @work+0 = 'mel' f32 4x6 @const window=3 stride=1\n"
           "1 gather 'b' f32 32x6 @work+0 = 'w' q8_0 32x8 @const, 'n' i32 6x1 @const\n"
           "2 product 'c' f32 8x6 @work+768 = 'b' f32 32x6 @work+0, 'w' q8_0 32x8 @const, 'bias' f32 8x1 @const "
           "scale=0.5 gelu\n"
           "3 product 'c' f32 8x6 @work+768 = 'b' f32 32x6 @work+0, 'w' q8_0 32x8 @const accumulate\n"
           "4 layer_norm 'c' f32 8x6 @work+768 = 'c' f32 8x6 @work+768, 'bias' f32 8x1 @const, 'bias' f32 8x1 @const "
           "eps=9.99999975e-06\n"
           "5 attention 'c' f32 8x6 @work+768 = 'b' f32 8x6 @work+0[32] strides 128 768, 'b' f32 8x6 @work+0[32] "
           "strides 128 768, 'b' f32 8x6 @work+0[32] strides 128 768 scale=0.25 heads=2 keep_scores causal past=0\n"
           "6 softmax 'c' f32 8x6 @work+768 = 'c' f32 8x6 @work+768 causal past=2\n"
           "7 transpose 'd' f32 6x8 @work+960 = 'c' f32 8x6 @work+768\n"
           "8 gelu 'c' f32 8x6 @work+768 = 'b' f32 8x6 @work+0[32] strides 128 768\n"
           "9 scale 'c' f32 8x6 @work+768 = 'c' f32 8x6 @work+768 scale=1\n"
           "10 add 'c' f32 8x6 @work+768 = 'c' f32 8x6 @work+768, 'bias' f32 8x1 @const\n"
           "11 product 'b' f32 8x6 @work+0[32] strides 128 768 = 'c' f32 8x6 @work+768, 'b' bf16 8x8 @const b_rows\n"
           "12 copy 'out' f16 8x6 @bound[96] = 'c' f32 8x6 @work+768\n"
           "13 product 'c' f32 8x6 @work+768 = 'b' f32 32x6 @work+0, 'w' q8_0 32x8 @const + 'c' f32 8x6 @work+768\n");
    tw_graph_destroy(g);
}

static void names_of_operations(void **state)
{
    (void)state;
    for (int kind = 0; kind < TW_OP_COUNT; kind++)
        assert_string_not_equal(tw_op_name((enum tw_op_kind)kind), "?");
    assert_string_equal(tw_op_name(TW_OP_ATTENTION), "attention");
    assert_string_equal(tw_op_name(TW_OP_COUNT), "?");
    assert_string_equal(tw_op_name((enum tw_op_kind) - 1), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation), cmocka_unit_test(names_of_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
