/* What each builder of an operation accepts and refuses: types, shapes, options, one case a rule. */
#include "graph/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static unsigned char memory[1 << 16];
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

static tw_id in(struct tw_graph *g, enum tw_type type, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_constant(g, "in", type, cols, rows, batch, memory);
}

static tw_id out(struct tw_graph *g, enum tw_type type, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_temp(g, "out", type, cols, rows, batch);
}

static void refused_call(struct tw_graph *g, int result, int code, const char *op, const char *part)
{
    struct tw_error err = {0};
    assert_int_equal(tw_graph_finish(g, &err), code);
    assert_int_equal(result, code);
    assert_int_equal(g->n_ops, 0);
    if (strstr(err.text, op) != err.text + strlen("operation 0, ") || strstr(err.text, part) == NULL)
        fail_msg("'%s' does not name '%s' and say '%s'", err.text, op, part);
    tw_graph_reset(g);
}

static void accepted_call(struct tw_graph *g, int result)
{
    struct tw_error err = {0};
    int code = tw_graph_finish(g, &err);
    if (code != TW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(result, TW_OK);
    assert_int_equal(g->n_ops, 1);
    tw_graph_reset(g);
}

#define I(...) in(g, __VA_ARGS__)
#define O(...) out(g, __VA_ARGS__)
#define REFUSED(code, op, part, call) refused_call(g, call, code, op, part)
#define ACCEPTED(call) accepted_call(g, call)

static void product(void **state)
{
    struct tw_graph *g = *state;
    const struct tw_product_options b_rows = {.b_rows = 1}, accumulate = {.accumulate = 1};
    for (enum tw_type w = TW_F32; w <= TW_Q8_0; w++)
        ACCEPTED(tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 64, 3, 1), I(w, 64, 5, 1), TW_NONE, plain));
    for (enum tw_type t = TW_F32; t <= TW_BF16; t++) {
        ACCEPTED(tw_graph_product(g, O(t, 5, 3, 1), I(TW_F32, 4, 3, 1), I(t, 4, 5, 1), I(TW_F32, 5, 1, 1), plain));
        ACCEPTED(tw_graph_product(g, O(TW_F32, 5, 3, 1), I(t, 4, 3, 1), I(t, 5, 4, 1), TW_NONE, b_rows));
    }
    ACCEPTED(tw_graph_product(g, O(TW_F32, 5, 3, 6), I(TW_F32, 4, 3, 6), I(TW_F32, 4, 5, 6), TW_NONE, plain));
    ACCEPTED(tw_graph_product(g, O(TW_F32, 5, 3, 6), I(TW_F32, 4, 3, 6), I(TW_F32, 4, 5, 1), TW_NONE, plain));

    REFUSED(TW_E_SHAPE, "product", "cols of a and of b",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 6, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_SHAPE, "product", "cols of a and rows of b",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 5, 6, 1), TW_NONE, b_rows));
    REFUSED(TW_E_SHAPE, "product", "rows of a",
            tw_graph_product(g, O(TW_F32, 5, 2, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_SHAPE, "product", "a column a row of b",
            tw_graph_product(g, O(TW_F32, 6, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_SHAPE, "product", "as many cols as b",
            tw_graph_product(g, O(TW_F32, 6, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 5, 4, 1), TW_NONE, b_rows));
    REFUSED(TW_E_SHAPE, "product", "batches",
            tw_graph_product(g, O(TW_F32, 5, 3, 2), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_SHAPE, "product", "batches",
            tw_graph_product(g, O(TW_F32, 5, 3, 4), I(TW_F32, 4, 3, 4), I(TW_F32, 4, 5, 2), TW_NONE, plain));
    REFUSED(TW_E_SHAPE, "product", "bias",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), I(TW_F32, 4, 1, 1), plain));
    REFUSED(TW_E_SHAPE, "product", "bias",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), I(TW_F32, 5, 3, 1), plain));
    REFUSED(TW_E_SHAPE, "product", "bias",
            tw_graph_product(g, O(TW_F32, 5, 3, 2), I(TW_F32, 4, 3, 2), I(TW_F32, 4, 5, 1), I(TW_F32, 5, 1, 2), plain));
    REFUSED(TW_E_ARGUMENT, "product", "bias must be f32",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), I(TW_F16, 5, 1, 1), plain));
    REFUSED(TW_E_ARGUMENT, "product", "a must be f32, f16 or bf16",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_Q8_0, 32, 3, 1), I(TW_F32, 32, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "b must be a type of weights",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_I32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "b must be f32, f16 or bf16",
            tw_graph_product(g, O(TW_F32, 32, 3, 1), I(TW_F32, 4, 3, 1), I(TW_Q5_0, 32, 4, 1), TW_NONE, b_rows));
    REFUSED(TW_E_ARGUMENT, "product", "output must be f32, f16 or bf16",
            tw_graph_product(g, I(TW_I32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "output must be f32",
            tw_graph_product(g, O(TW_F16, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, accumulate));
    REFUSED(TW_E_ARGUMENT, "product", "finite",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE,
                             (struct tw_product_options){.scale = NAN}));
    REFUSED(TW_E_ARGUMENT, "product", "output is missing",
            tw_graph_product(g, TW_NONE, I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "a is missing",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), TW_NONE, I(TW_F32, 4, 5, 1), TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "b is missing",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), TW_NONE, TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "bias is missing or not in",
            tw_graph_product(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), 99, plain));
}

static void product_onto(void **state)
{
    struct tw_graph *g = *state;
    const struct tw_product_options accumulate = {.accumulate = 1};
    for (enum tw_type t = TW_F32; t <= TW_BF16; t++)
        ACCEPTED(tw_graph_product_onto(g, O(t, 5, 3, 2), I(TW_F32, 4, 3, 2), I(t, 4, 5, 1), I(TW_F32, 5, 1, 1),
                                       I(TW_F32, 5, 3, 2), plain));
    ACCEPTED(
        tw_graph_product_onto(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, TW_NONE, plain));
    REFUSED(TW_E_ARGUMENT, "product", "choose one",
            tw_graph_product_onto(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE,
                                  I(TW_F32, 5, 3, 1), accumulate));
    REFUSED(TW_E_ARGUMENT, "product", "addend must be f32",
            tw_graph_product_onto(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE,
                                  I(TW_BF16, 5, 3, 1), plain));
    REFUSED(TW_E_ARGUMENT, "product", "addend is missing or not in",
            tw_graph_product_onto(g, O(TW_F32, 5, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 5, 1), TW_NONE, 99, plain));
    for (int wrong = 0; wrong < 3; wrong++)
        REFUSED(TW_E_SHAPE, "product", "addend must have the output's shape",
                tw_graph_product_onto(g, O(TW_F32, 5, 3, 2), I(TW_F32, 4, 3, 2), I(TW_F32, 4, 5, 1), TW_NONE,
                                      I(TW_F32, wrong == 0 ? 4 : 5, wrong == 1 ? 4 : 3, wrong == 2 ? 1 : 2), plain));
}

static void product_options(void **state)
{
    struct tw_graph *g = *state;
    const struct tw_product_options all = {.scale = 0.5f, .gelu = 7, .accumulate = -1, .b_rows = 2};
    tw_id x = I(TW_F32, 4, 4, 1), y = tw_graph_bind(g, "y", TW_F32, 4, 4, 1, memory + 4096);
    tw_graph_product(g, y, x, x, TW_NONE, plain);
    tw_graph_product(g, y, x, x, TW_NONE, all);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    assert_true(g->ops[0].scale == 1);
    assert_int_equal(g->ops[0].gelu + g->ops[0].accumulate + g->ops[0].b_rows, 0);
    assert_true(g->ops[1].scale == 0.5f);
    assert_int_equal(g->ops[1].gelu, 1);
    assert_int_equal(g->ops[1].accumulate, 1);
    assert_int_equal(g->ops[1].b_rows, 1);
    assert_int_equal(g->ops[1].in[2], TW_NONE);
    assert_int_equal(g->ops[1].in[3], TW_NONE);
}

/* The rules that all operations of one operand share. */
static int unary(struct tw_graph *g, enum tw_op_kind kind, tw_id to, tw_id x)
{
    switch (kind) {
    case TW_OP_GELU:
        return tw_graph_gelu(g, to, x);
    case TW_OP_SCALE:
        return tw_graph_scale(g, to, x, 0.5f);
    case TW_OP_COPY:
        return tw_graph_copy(g, to, x);
    default:
        return tw_graph_softmax(g, to, x, 1, 0, 0);
    }
}

static void unary_operations(void **state)
{
    struct tw_graph *g = *state;
    static const enum tw_op_kind kinds[] = {TW_OP_GELU, TW_OP_SCALE, TW_OP_COPY, TW_OP_SOFTMAX};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        enum tw_op_kind kind = kinds[i];
        const char *name = tw_op_name(kind);
        for (enum tw_type to = TW_F32; to <= TW_BF16; to++)
            for (enum tw_type from = TW_F32; from <= TW_BF16; from++)
                ACCEPTED(unary(g, kind, O(to, 4, 3, 2), I(from, 4, 3, 2)));
        REFUSED(TW_E_SHAPE, name, "same shape", unary(g, kind, O(TW_F32, 5, 3, 2), I(TW_F32, 4, 3, 2)));
        REFUSED(TW_E_SHAPE, name, "same shape", unary(g, kind, O(TW_F32, 4, 2, 2), I(TW_F32, 4, 3, 2)));
        REFUSED(TW_E_SHAPE, name, "same shape", unary(g, kind, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 2)));
        REFUSED(TW_E_ARGUMENT, name, "x must be", unary(g, kind, O(TW_F32, 32, 3, 1), I(TW_Q8_0, 32, 3, 1)));
        REFUSED(TW_E_ARGUMENT, name, "x must be", unary(g, kind, O(TW_F32, 4, 3, 1), I(TW_I32, 4, 3, 1)));
        REFUSED(TW_E_ARGUMENT, name, "output must be", unary(g, kind, I(TW_I32, 4, 3, 1), I(TW_F32, 4, 3, 1)));
        REFUSED(TW_E_ARGUMENT, name, "x is missing", unary(g, kind, O(TW_F32, 4, 3, 1), TW_NONE));
        REFUSED(TW_E_ARGUMENT, name, "output is missing", unary(g, kind, 12345, I(TW_F32, 4, 3, 1)));
    }
    REFUSED(TW_E_ARGUMENT, "scale", "finite", tw_graph_scale(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), INFINITY));
    REFUSED(TW_E_ARGUMENT, "softmax", "finite", tw_graph_softmax(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), NAN, 0, 0));
}

/* Outputs whose own rows lie on each other. */
static void folded_outputs(void **state)
{
    struct tw_graph *g = *state;
    REFUSED(TW_E_SHAPE, "gelu", "overlap each other",
            tw_graph_gelu(g, tw_graph_view(g, O(TW_F32, 8, 4, 1), 4, 2, 1, 0, 0, 0), I(TW_F32, 4, 2, 1)));
    REFUSED(TW_E_SHAPE, "gelu", "overlap each other",
            tw_graph_gelu(g, tw_graph_view(g, O(TW_F32, 8, 4, 1), 4, 2, 1, 0, 12, 0), I(TW_F32, 4, 2, 1)));
    REFUSED(TW_E_SHAPE, "gelu", "overlap each other",
            tw_graph_gelu(g, tw_graph_view(g, O(TW_F32, 8, 4, 1), 4, 2, 2, 0, 32, 16 * 0), I(TW_F32, 4, 2, 2)));
    REFUSED(TW_E_SHAPE, "gelu", "overlap each other",
            tw_graph_gelu(g, tw_graph_view(g, O(TW_F32, 8, 4, 1), 4, 3, 2, 0, 16, 32), I(TW_F32, 4, 3, 2)));
    /* Heads side by side as batches do not. */
    ACCEPTED(tw_graph_gelu(g, tw_graph_view(g, O(TW_F32, 8, 4, 1), 4, 4, 2, 0, 32, 16), I(TW_F32, 4, 4, 2)));
    /* Reading repeated rows is fine. */
    ACCEPTED(tw_graph_gelu(g, O(TW_F32, 4, 9, 1), tw_graph_view(g, I(TW_F32, 4, 1, 1), 4, 9, 1, 0, 0, 0)));
}

static void add(void **state)
{
    struct tw_graph *g = *state;
    for (int rows = 1; rows <= 3; rows += 2)
        for (int batch = 1; batch <= 2; batch++)
            ACCEPTED(tw_graph_add(g, O(TW_F32, 4, 3, 2), I(TW_F16, 4, 3, 2), I(TW_BF16, 4, rows, batch)));
    REFUSED(TW_E_SHAPE, "add", "same shape",
            tw_graph_add(g, O(TW_F32, 4, 2, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 1, 1)));
    REFUSED(TW_E_SHAPE, "add", "y must", tw_graph_add(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 1, 3, 1)));
    REFUSED(TW_E_SHAPE, "add", "y must", tw_graph_add(g, O(TW_F32, 4, 4, 1), I(TW_F32, 4, 4, 1), I(TW_F32, 4, 2, 1)));
    REFUSED(TW_E_SHAPE, "add", "y must", tw_graph_add(g, O(TW_F32, 4, 3, 4), I(TW_F32, 4, 3, 4), I(TW_F32, 4, 3, 2)));
    REFUSED(TW_E_ARGUMENT, "add", "y must be f32",
            tw_graph_add(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_I32, 4, 3, 1)));
    REFUSED(TW_E_ARGUMENT, "add", "y is missing", tw_graph_add(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), TW_NONE));
    REFUSED(TW_E_ARGUMENT, "add", "x must be",
            tw_graph_add(g, O(TW_F32, 4, 3, 1), I(TW_I32, 4, 3, 1), I(TW_F32, 4, 3, 1)));
}

static void transpose(void **state)
{
    struct tw_graph *g = *state;
    ACCEPTED(tw_graph_transpose(g, O(TW_F16, 3, 4, 2), I(TW_F32, 4, 3, 2)));
    REFUSED(TW_E_SHAPE, "transpose", "exchanged", tw_graph_transpose(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1)));
    REFUSED(TW_E_SHAPE, "transpose", "exchanged", tw_graph_transpose(g, O(TW_F32, 3, 4, 1), I(TW_F32, 4, 3, 2)));
    REFUSED(TW_E_SHAPE, "transpose", "exchanged", tw_graph_transpose(g, O(TW_F32, 3, 5, 1), I(TW_F32, 4, 3, 1)));
    REFUSED(TW_E_ARGUMENT, "transpose", "x must be", tw_graph_transpose(g, O(TW_F32, 3, 32, 1), I(TW_Q5_0, 32, 3, 1)));
}

static void layer_norm(void **state)
{
    struct tw_graph *g = *state;
    ACCEPTED(
        tw_graph_layer_norm(g, O(TW_BF16, 4, 3, 2), I(TW_F32, 4, 3, 2), I(TW_F32, 4, 1, 1), I(TW_F32, 4, 1, 1), 0));
    REFUSED(
        TW_E_SHAPE, "layer_norm", "same shape",
        tw_graph_layer_norm(g, O(TW_F32, 4, 2, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 1, 1), I(TW_F32, 4, 1, 1), 1e-5f));
    REFUSED(
        TW_E_SHAPE, "layer_norm", "gain and shift",
        tw_graph_layer_norm(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 3, 1, 1), I(TW_F32, 4, 1, 1), 1e-5f));
    REFUSED(
        TW_E_SHAPE, "layer_norm", "gain and shift",
        tw_graph_layer_norm(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 1, 1), I(TW_F32, 4, 3, 1), 1e-5f));
    REFUSED(
        TW_E_ARGUMENT, "layer_norm", "gain must be f32",
        tw_graph_layer_norm(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F16, 4, 1, 1), I(TW_F32, 4, 1, 1), 1e-5f));
    REFUSED(TW_E_ARGUMENT, "layer_norm", "shift is missing",
            tw_graph_layer_norm(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 1, 1), TW_NONE, 1e-5f));
    REFUSED(TW_E_ARGUMENT, "layer_norm", "not negative",
            tw_graph_layer_norm(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 1, 1), I(TW_F32, 4, 1, 1), -1));
    REFUSED(
        TW_E_ARGUMENT, "layer_norm", "finite",
        tw_graph_layer_norm(g, O(TW_F32, 4, 3, 1), I(TW_F32, 4, 3, 1), I(TW_F32, 4, 1, 1), I(TW_F32, 4, 1, 1), NAN));
}

static void softmax_causal(void **state)
{
    struct tw_graph *g = *state;
    ACCEPTED(tw_graph_softmax(g, O(TW_F32, 7, 3, 2), I(TW_F32, 7, 3, 2), 1, 1, 4));
    ACCEPTED(tw_graph_softmax(g, O(TW_F32, 7, 7, 2), I(TW_F32, 7, 7, 2), 1, 1, 0));
    /* Without causal, past is not looked at. */
    ACCEPTED(tw_graph_softmax(g, O(TW_F32, 7, 3, 2), I(TW_F32, 7, 3, 2), 1, 0, -9));
    REFUSED(TW_E_SHAPE, "softmax", "do not fit", tw_graph_softmax(g, O(TW_F32, 7, 3, 2), I(TW_F32, 7, 3, 2), 1, 1, 5));
    REFUSED(TW_E_SHAPE, "softmax", "do not fit", tw_graph_softmax(g, O(TW_F32, 7, 3, 2), I(TW_F32, 7, 3, 2), 1, 1, -1));
    REFUSED(TW_E_SHAPE, "softmax", "do not fit", tw_graph_softmax(g, O(TW_F32, 7, 8, 2), I(TW_F32, 7, 8, 2), 1, 1, 0));
    REFUSED(TW_E_SHAPE, "softmax", "do not fit",
            tw_graph_softmax(g, O(TW_F32, 7, 3, 2), I(TW_F32, 7, 3, 2), 1, 1, INT32_MAX));
}

static void im2col(void **state)
{
    struct tw_graph *g = *state;
    /* rows, window, stride and what (T + 2*(window/2) - window)/stride + 1 gives */
    static const int cases[][4] = {{10, 3, 1, 10}, {10, 3, 2, 5}, {9, 3, 2, 5}, {1, 3, 1, 1},    {10, 1, 1, 10},
                                   {10, 4, 1, 11}, {10, 4, 3, 4}, {1, 2, 1, 2}, {10, 5, 100, 1}, {2, 9, 1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int *c = cases[i];
        ACCEPTED(tw_graph_im2col(g, O(TW_F32, 6 * c[1], c[3], 2), I(TW_F32, 6, c[0], 2), c[1], c[2]));
        REFUSED(TW_E_SHAPE, "im2col", "rows",
                tw_graph_im2col(g, O(TW_F32, 6 * c[1], c[3] + 1, 2), I(TW_F32, 6, c[0], 2), c[1], c[2]));
        if (c[3] > 1)
            REFUSED(TW_E_SHAPE, "im2col", "rows",
                    tw_graph_im2col(g, O(TW_F32, 6 * c[1], c[3] - 1, 2), I(TW_F32, 6, c[0], 2), c[1], c[2]));
    }
    REFUSED(TW_E_SHAPE, "im2col", "3 times", tw_graph_im2col(g, O(TW_F32, 17, 10, 1), I(TW_F32, 6, 10, 1), 3, 1));
    REFUSED(TW_E_SHAPE, "im2col", "3 times", tw_graph_im2col(g, O(TW_F32, 19, 10, 1), I(TW_F32, 6, 10, 1), 3, 1));
    REFUSED(TW_E_SHAPE, "im2col", "3 times", tw_graph_im2col(g, O(TW_F32, 18, 10, 1), I(TW_F32, 6, 10, 2), 3, 1));
    REFUSED(TW_E_ARGUMENT, "im2col", "at least 1", tw_graph_im2col(g, O(TW_F32, 18, 10, 1), I(TW_F32, 6, 10, 1), 0, 1));
    REFUSED(TW_E_ARGUMENT, "im2col", "at least 1", tw_graph_im2col(g, O(TW_F32, 18, 10, 1), I(TW_F32, 6, 10, 1), 3, 0));
    REFUSED(TW_E_ARGUMENT, "im2col", "x must be",
            tw_graph_im2col(g, O(TW_F32, 96, 10, 1), I(TW_Q8_0, 32, 10, 1), 3, 1));
}

static void gather(void **state)
{
    struct tw_graph *g = *state;
    for (enum tw_type t = TW_F32; t <= TW_Q8_0; t++)
        ACCEPTED(tw_graph_gather(g, O(TW_F32, 32, 3, 1), I(t, 32, 10, 1), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_SHAPE, "gather", "a row an index",
            tw_graph_gather(g, O(TW_F32, 32, 4, 1), I(TW_F32, 32, 10, 1), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_SHAPE, "gather", "a row an index",
            tw_graph_gather(g, O(TW_F32, 31, 3, 1), I(TW_F32, 32, 10, 1), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_SHAPE, "gather", "one row",
            tw_graph_gather(g, O(TW_F32, 32, 3, 1), I(TW_F32, 32, 10, 1), I(TW_I32, 3, 2, 1)));
    REFUSED(TW_E_SHAPE, "gather", "batches",
            tw_graph_gather(g, O(TW_F32, 32, 3, 1), I(TW_F32, 32, 10, 1), I(TW_I32, 3, 1, 2)));
    REFUSED(TW_E_SHAPE, "gather", "batches",
            tw_graph_gather(g, O(TW_F32, 32, 3, 1), I(TW_F32, 32, 10, 2), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_SHAPE, "gather", "batches",
            tw_graph_gather(g, O(TW_F32, 32, 3, 2), I(TW_F32, 32, 10, 1), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_ARGUMENT, "gather", "output must be f32",
            tw_graph_gather(g, O(TW_F16, 32, 3, 1), I(TW_F32, 32, 10, 1), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_ARGUMENT, "gather", "table must be",
            tw_graph_gather(g, O(TW_F32, 32, 3, 1), I(TW_I32, 32, 10, 1), I(TW_I32, 3, 1, 1)));
    REFUSED(TW_E_ARGUMENT, "gather", "indices must be i32",
            tw_graph_gather(g, O(TW_F32, 32, 3, 1), I(TW_F32, 32, 10, 1), I(TW_F32, 3, 1, 1)));
}

#define F32(...) I(TW_F32, __VA_ARGS__)
#define OUT(...) O(TW_F32, __VA_ARGS__)

static void attention(void **state)
{
    struct tw_graph *g = *state;
    ACCEPTED(tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 4, 1, 0, 0));
    ACCEPTED(tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 1), F32(12, 5, 1), 12, 1, 1, 2));
    ACCEPTED(tw_graph_attention(g, OUT(12, 3, 1), F32(12, 3, 1), I(TW_F16, 12, 5, 1), I(TW_F16, 12, 5, 1), 1, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "output and queries",
            tw_graph_attention(g, OUT(12, 4, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "keys and values",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 4, 2), 4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "keys and values",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 1), 4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "keys and values",
            tw_graph_attention(g, OUT(12, 3, 1), F32(12, 3, 1), F32(12, 5, 1), I(TW_F16, 12, 5, 1), 4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "queries and keys",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(8, 5, 2), F32(8, 5, 2), 4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "batches",
            tw_graph_attention(g, OUT(12, 3, 4), F32(12, 3, 4), F32(12, 5, 2), F32(12, 5, 2), 4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "5 heads",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 5, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "0 heads",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 0, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "-4 heads",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), -4, 1, 0, 0));
    REFUSED(TW_E_SHAPE, "attention", "do not fit",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 4, 1, 1, 3));
    REFUSED(TW_E_SHAPE, "attention", "do not fit",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 4, 1, 1, -1));
    REFUSED(TW_E_ARGUMENT, "attention", "finite",
            tw_graph_attention(g, OUT(12, 3, 2), F32(12, 3, 2), F32(12, 5, 2), F32(12, 5, 2), 4, INFINITY, 0, 0));
    REFUSED(TW_E_ARGUMENT, "attention", "queries must be f32",
            tw_graph_attention(g, OUT(12, 3, 1), I(TW_F16, 12, 3, 1), F32(12, 5, 1), F32(12, 5, 1), 4, 1, 0, 0));
    REFUSED(TW_E_ARGUMENT, "attention", "keys must be f32 or f16",
            tw_graph_attention(g, OUT(12, 3, 1), F32(12, 3, 1), I(TW_BF16, 12, 5, 1), F32(12, 5, 1), 4, 1, 0, 0));
    REFUSED(TW_E_ARGUMENT, "attention", "values must be f32 or f16",
            tw_graph_attention(g, OUT(12, 3, 1), F32(12, 3, 1), F32(12, 5, 1), I(TW_I32, 12, 5, 1), 4, 1, 0, 0));
    REFUSED(TW_E_ARGUMENT, "attention", "output must be f32",
            tw_graph_attention(g, O(TW_BF16, 12, 3, 1), F32(12, 3, 1), F32(12, 5, 1), F32(12, 5, 1), 4, 1, 0, 0));
}

static void kept_scores(void **state)
{
    struct tw_graph *g = *state;
    struct tw_error err = {0};
    assert_int_equal(tw_graph_attention(g, OUT(12, 3, 1), F32(12, 3, 1), F32(12, 5, 1), F32(12, 5, 1), 4, 1, 0, 0),
                     TW_OK);
    assert_int_equal(g->ops[0].keep_scores, 0);
    assert_int_equal(tw_graph_keep_scores(g), TW_OK);
    assert_int_equal(g->ops[0].keep_scores, 1);
    assert_int_equal(tw_graph_scale(g, OUT(12, 3, 1), F32(12, 3, 1), 2), TW_OK);
    assert_int_equal(tw_graph_keep_scores(g), TW_E_STATE);
    assert_int_equal(tw_graph_finish(g, &err), TW_E_STATE);
    assert_non_null(strstr(err.text, "attention"));
    tw_graph_reset(g);
    assert_int_equal(tw_graph_keep_scores(g), TW_E_STATE);
}

static void messages_name_the_tensors(void **state)
{
    struct tw_graph *g = *state;
    struct tw_error err;
    tw_id x = tw_graph_constant(g, "mel", TW_F32, 80, 3000, 1, memory);
    tw_id w = tw_graph_constant(g, "conv1", TW_F16, 240, 512, 1, memory);
    tw_id y = tw_graph_temp(g, "hidden", TW_F32, 512, 3000, 2);
    tw_graph_product(g, y, x, w, TW_NONE, plain);
    assert_int_equal(tw_graph_finish(g, &err), TW_E_SHAPE);
    assert_string_equal(err.text, "operation 0, product of 'mel' f32 80x3000, 'conv1' f16 240x512 to "
                                  "'hidden' f32 512x3000x2: cols of a and of b must agree");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(product),         TEST(product_onto),
        TEST(product_options), TEST(unary_operations),
        TEST(folded_outputs),  TEST(add),
        TEST(transpose),       TEST(layer_norm),
        TEST(softmax_causal),  TEST(im2col),
        TEST(gather),          TEST(attention),
        TEST(kept_scores),     TEST(messages_name_the_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
