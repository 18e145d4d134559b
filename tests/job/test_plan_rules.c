/* Plans of small graphs, one rule at a time: where launches end, what is in bf16, what is copied, what stays. */
#include "job/plan_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct tw_product_options plain = {0}, by_rows = {.b_rows = 1}, adding = {.accumulate = 1};

/* Graphs are not run: addresses only have to lie apart. */
static void *address(int number)
{
    return (void *)(((uintptr_t)number + 1) << 40);
}

static tw_id input(struct tw_graph *g, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_bind(g, "input", TW_F32, cols, rows, batch, address(1));
}

static tw_id output(struct tw_graph *g, int number, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_bind(g, "output", TW_F32, cols, rows, batch, address(2 + number));
}

static tw_id weights(struct tw_graph *g, int64_t cols, int64_t rows)
{
    return tw_graph_constant(g, "weights", TW_F16, cols, rows, 1, address(0));
}

static tw_id temp(struct tw_graph *g, const char *name, int64_t cols, int64_t rows, int64_t batch)
{
    return tw_graph_temp(g, name, TW_F32, cols, rows, batch);
}

/* x times weights, in a new temporary of `cols` columns. */
static tw_id linear(struct tw_graph *g, const char *name, tw_id x, int64_t cols)
{
    const struct tw_tensor t = g->tensors[x];
    const tw_id out = temp(g, name, cols, t.rows, t.batch);
    tw_graph_product(g, out, x, weights(g, t.cols, cols), TW_NONE, plain);
    return out;
}

/* Finishes and plans the graph, which the plan then outlives. */
static struct tw_plan *planned(struct tw_graph *g)
{
    struct tw_plan *plan = NULL;
    struct tw_error err = {0};
    if (tw_graph_finish(g, &err) != TW_OK || tw_plan_make(g, NULL, &plan, &err) != TW_OK)
        fail_msg("%s", err.text);
    plan_check(g, plan);
    return plan;
}

static void done(struct tw_graph *g, struct tw_plan *plan)
{
    tw_plan_free(plan);
    tw_graph_destroy(g);
}

static int count(const struct tw_plan *plan, enum tw_op_kind kind)
{
    int n = 0;
    for (int32_t i = 0; i < plan->graph->n_ops; i++)
        n += plan->graph->ops[i].kind == kind;
    return n;
}

/* The type of what the operation made for number `from` of the original, its last, writes. */
static enum tw_type out_type(const struct tw_plan *plan, int32_t from)
{
    enum tw_type type = TW_I32;
    for (int32_t i = 0; i < plan->graph->n_ops; i++)
        if (plan->from[i] == from)
            type = plan->graph->tensors[plan->graph->ops[i].out].type;
    return type;
}

static void expect(struct tw_graph *g, int launches, int copies)
{
    struct tw_plan *plan = planned(g);
    const int have_launches = plan_launches(plan), have_copies = count(plan, TW_OP_COPY);
    if (have_launches != launches || have_copies != copies) {
        tw_graph_print(plan->graph, stderr);
        fail_msg("%d launches and %d copies instead of %d and %d", have_launches, have_copies, launches, copies);
    }
    done(g, plan);
}

/* ---- Graphs without products, and single products */

static void no_operations(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    struct tw_plan *plan = planned(g);
    assert_int_equal(plan->n_steps, 0);
    assert_int_equal(plan->graph->n_ops, 0);
    done(g, plan);
}

static void no_products(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id x = input(g, 10, 7, 2), t = temp(g, "t", 10, 7, 2);
    tw_graph_scale(g, t, x, 2);
    tw_graph_gelu(g, t, t);
    tw_graph_copy(g, output(g, 0, 10, 7, 2), t);
    struct tw_plan *plan = planned(g);
    assert_int_equal(plan->n_steps, 1);
    assert_int_equal(plan->steps[0].kind, TW_STEP_HOST);
    /* Nothing of it is wider than it was, for the array reads none of it. */
    assert_int_equal(plan->graph->work_bytes, g->work_bytes);
    done(g, plan);
}

static void unfinished(void **state)
{
    (void)state;
    struct tw_error err = {0};
    struct tw_plan *plan = NULL;
    struct tw_graph *g = tw_graph_create();
    assert_int_equal(tw_plan_make(g, NULL, &plan, &err), TW_E_STATE);
    assert_null(plan);
    tw_graph_destroy(g);
    tw_plan_free(NULL);
}

/* A window of a temporary that is as large as can be, until its rows are moved apart for the array. */
static void room_beyond_memory(void **state)
{
    (void)state;
    struct tw_error err = {0};
    struct tw_plan *plan;
    struct tw_graph *g = tw_graph_create();
    const int64_t rows = INT64_C(1) << 58;
    const tw_id huge = temp(g, "huge", 2, rows, 1);
    const tw_id part = tw_graph_view(g, huge, 2, 32, 1, (size_t)(rows / 2) * 8, 8, 0);
    tw_graph_scale(g, part, input(g, 2, 32, 1), 2);
    tw_graph_gelu(g, output(g, 0, 8, 32, 1), linear(g, "out", part, 8));
    assert_int_equal(tw_graph_finish(g, &err), TW_OK);
    assert_int_equal(tw_plan_make(g, NULL, &plan, &err), TW_E_LIMIT);
    assert_null(plan);
    tw_graph_destroy(g);
}

static void single_products(void **state)
{
    (void)state;
    static const int64_t sides[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 383, 384, 385, 1500, 4032, 4199, 4200};
    const size_t n = sizeof sides / sizeof *sides;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const int64_t rows = sides[i], depth = sides[j], cols = sides[(i + 3 * j) % n];
            struct tw_graph *g = tw_graph_create();
            const tw_id a = input(g, depth, rows, 1), to = output(g, 0, cols, rows, 1);
            const int kind = (int)((i + j) % 4);
            const tw_id b = kind == 0   ? weights(g, depth, cols)
                            : kind == 1 ? tw_graph_bind(g, "b", TW_F32, depth, cols, 1, address(9))
                                        : tw_graph_bind(g, "b", TW_BF16, cols, depth, 1, address(9));
            tw_graph_product(g, to, a, b, TW_NONE,
                             kind == 3   ? (struct tw_product_options){0, 0, 1, 1}
                             : kind == 2 ? by_rows
                                         : plain);
            expect(g, 1, kind == 0 ? 2 : kind == 3 ? 4 : 3);
        }
}

/* All operands with rows apart, as columns of larger matrices, the result added to where it goes. */
static void strided_memory(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id a = tw_graph_view(g, input(g, 50 * 200, 1, 1), 100, 50, 1, 0, 800, 0);
    const tw_id flat = tw_graph_constant(g, "flat", TW_F32, 60 * 300, 1, 1, address(0));
    const tw_id b = tw_graph_view(g, flat, 100, 60, 1, 400, 1200, 0);
    const tw_id c = tw_graph_view(g, output(g, 0, 50 * 70, 1, 1), 60, 50, 1, 12, 280, 0);
    tw_graph_product_onto(g, c, a, b, TW_NONE, c, plain);
    expect(g, 1, 3);
}

/* ---- Where launches end */

static void chain(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    tw_id x = input(g, 100, 50, 1);
    for (int i = 0; i < 5; i++)
        x = linear(g, "hidden", x, 100);
    tw_graph_copy(g, output(g, 0, 100, 50, 1), x);
    /* The input is copied; the output is a copy in the original. */
    expect(g, 1, 2);
}

/* out = left x right of two products of one input; the second launch is needed when padding is garbage. */
static void two_operands(int64_t cols, int64_t rows, int is_by_rows, int launches)
{
    struct tw_graph *g = tw_graph_create();
    const tw_id x = input(g, 40, rows, 1);
    const tw_id left = linear(g, "left", x, is_by_rows ? rows : cols), right = linear(g, "right", x, cols);
    const tw_id out = temp(g, "out", is_by_rows ? cols : rows, rows, 1);
    tw_graph_product(g, out, left, right, TW_NONE, is_by_rows ? by_rows : plain);
    const tw_id last = linear(g, "last", out, 64);
    tw_graph_copy(g, output(g, 0, 64, rows, 1), last);
    expect(g, launches, 2);
}

static void padding_ends_launch(void **state)
{
    (void)state;
    two_operands(64, 64, 0, 1);
    two_operands(40, 64, 0, 1); /* packed weights leave zeros beside what they make */
    two_operands(64, 50, 0, 2); /* out has 50 columns, and beside them garbage */
    two_operands(64, 64, 1, 1);
    two_operands(40, 64, 1, 2);
    two_operands(64, 50, 1, 2); /* rows of `right` below 50 are not known to be numbers */
}

/* last = (x right + addend) W: beside the sum are zeros where they are beside both of its parts. */
static void sum_of(int64_t cols, int is_packed, int is_addend_packed, int launches)
{
    struct tw_graph *g = tw_graph_create();
    const tw_id x = input(g, 64, 50, 1), sum = temp(g, "sum", cols, 50, 1);
    const tw_id right = tw_graph_bind(g, "right", TW_F32, 64, cols, 1, address(9)), addend = temp(g, "d", cols, 50, 1);
    tw_graph_product(g, addend, x, is_addend_packed ? weights(g, 64, cols) : right, TW_NONE, plain);
    tw_graph_product_onto(g, sum, x, is_packed ? weights(g, 64, cols) : right, TW_NONE, addend, plain);
    const tw_id last = linear(g, "last", sum, 64);
    tw_graph_copy(g, output(g, 0, 64, 50, 1), last);
    expect(g, launches, is_packed && is_addend_packed ? 2 : 3);
}

static void padding_of_sums(void **state)
{
    (void)state;
    sum_of(64, 0, 0, 1);
    sum_of(65, 1, 1, 1);
    sum_of(65, 1, 0, 2);
    sum_of(65, 0, 1, 2);
}

/* What is added comes from memory that is zeroed around before the launch. */
static void sums_with_inputs(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    tw_id x = input(g, 65, 50, 1);
    for (int i = 0; i < 4; i++) {
        const tw_id sum = temp(g, "sum", 65, 50, 1);
        const tw_id addend = tw_graph_bind(g, "addend", TW_F32, 65, 50, 1, address(10 + i));
        tw_graph_product_onto(g, sum, x, weights(g, 65, 65), TW_NONE, addend, plain);
        x = sum;
    }
    tw_graph_copy(g, output(g, 0, 65, 50, 1), x);
    expect(g, 1, 6);
}

/* Matrices side by side: padding of the last may not reach as far as that of the whole. */
static void heads_leave_garbage(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id x = input(g, 40, 50, 3), out = temp(g, "out", 3 * 62, 50, 1);
    const tw_id parts = tw_graph_view(g, out, 62, 50, 3, 0, 3 * 62 * 4, 62 * 4);
    tw_graph_product(g, parts, x, weights(g, 40, 62), TW_NONE, plain);
    const tw_id last = linear(g, "last", out, 64);
    tw_graph_copy(g, output(g, 0, 64, 50, 1), last);
    expect(g, 2, 2);
}

/* Columns from the 98th on of 100: what is beyond them does not end where their padding does. */
static void part_of_written(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id h = linear(g, "hidden", input(g, 40, 50, 1), 100);
    const tw_id part = tw_graph_view(g, h, 2, 50, 1, (size_t)98 * 4, 400, 0);
    tw_graph_copy(g, output(g, 0, 64, 50, 1), linear(g, "last", part, 64));
    expect(g, 2, 2);
}

static void length_of_launch(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    tw_id x = input(g, 4096, 4096, 1);
    for (int i = 0; i < 24; i++)
        x = linear(g, "hidden", x, 4096);
    tw_graph_copy(g, output(g, 0, 4096, 4096, 1), x);
    struct tw_plan *plan = planned(g);
    assert_true(plan_launches(plan) > 1 && plan_launches(plan) < 8);
    done(g, plan);
}

/* Products so small that only their control code counts. */
static void number_of_products(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id x = input(g, 8, 4, 1), w = weights(g, 8, 8);
    for (int i = 0; i < 1025; i++)
        tw_graph_product(g, temp(g, "out", 8, 4, 1), x, w, TW_NONE, plain);
    expect(g, 2, 1);
}

/* An accumulating chain: each sum is a temporary of its own, so that the launch can run again. */
static void sums_are_renamed(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id in = input(g, 64, 50, 1), x = temp(g, "x", 64, 50, 1);
    tw_graph_copy(g, x, in);
    for (int i = 0; i < 3; i++)
        tw_graph_product(g, x, in, weights(g, 64, 64), TW_NONE, adding);
    tw_graph_copy(g, output(g, 0, 64, 50, 1), x);
    expect(g, 1, 3);
}

/* Copies home wait for the end of the launch; what the CPU does on its own comes before it. */
static void cpu_work_moves_aside(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id in = input(g, 64, 50, 1), other = temp(g, "other", 64, 50, 1);
    tw_graph_product(g, output(g, 0, 64, 50, 1), in, weights(g, 64, 64), TW_NONE, plain);
    tw_graph_scale(g, other, in, 2);
    tw_graph_product(g, output(g, 1, 64, 50, 1), other, weights(g, 64, 64), TW_NONE, plain);
    struct tw_plan *plan = planned(g);
    assert_int_equal(plan->n_steps, 3);
    assert_int_equal(plan->steps[1].kind, TW_STEP_LAUNCH);
    assert_int_equal(plan->steps[1].count, 2);
    done(g, plan);
}

/* The CPU writes half of a tensor that an operation before it, which has to wait for the launch, reads and writes. */
static void order_of_put_off(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id in = input(g, 64, 50, 1), y = output(g, 0, 64, 50, 1);
    const tw_id made = linear(g, "made", in, 64);
    tw_graph_copy(g, y, made);
    tw_graph_scale(g, tw_graph_view(g, y, 32, 50, 1, 0, 256, 0), tw_graph_view(g, in, 32, 50, 1, 0, 256, 0), 2);
    const tw_id more = linear(g, "more", in, 64);
    tw_graph_copy(g, output(g, 1, 64, 50, 1), more);
    struct tw_plan *plan = planned(g);
    assert_int_equal(plan_launches(plan), 1);
    int32_t copied = -1, scaled = -1;
    for (int32_t i = 0; i < plan->graph->n_ops; i++) {
        copied = plan->from[i] == 1 ? i : copied;
        scaled = plan->from[i] == 2 ? i : scaled;
    }
    assert_true(copied < scaled);
    done(g, plan);
}

/* ---- Types */

static void bf16_where_nobody_sees(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id in = input(g, 64, 50, 1), n = temp(g, "n", 64, 50, 1), moved = temp(g, "moved", 192, 50, 1);
    const tw_id seen = temp(g, "seen", 64, 50, 1);
    tw_graph_scale(g, n, in, 2); /* read by what only moves it to where bf16 will do */
    tw_graph_im2col(g, moved, n, 3, 1);
    tw_graph_product(g, seen, moved, weights(g, 192, 64), TW_NONE, plain); /* read by the CPU */
    tw_graph_gelu(g, output(g, 0, 64, 50, 1), seen);
    struct tw_plan *plan = planned(g);
    assert_int_equal(out_type(plan, 0), TW_BF16);
    assert_int_equal(out_type(plan, 1), TW_BF16);
    assert_int_equal(out_type(plan, 2), TW_F32);
    assert_int_equal(count(plan, TW_OP_COPY), 0);
    done(g, plan);
}

/* A product and a copy to f32 read the same: it stays as exact as it was, and a copy is made for the product. */
static void f32_where_it_is_seen(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id in = input(g, 64, 50, 1), n = temp(g, "n", 64, 50, 1);
    tw_graph_scale(g, n, in, 2);
    tw_graph_copy(g, output(g, 0, 64, 50, 1), n);
    const tw_id a = linear(g, "a", n, 64), b = linear(g, "b", n, 64);
    tw_graph_copy(g, output(g, 1, 64, 50, 1), a);
    tw_graph_copy(g, output(g, 2, 64, 50, 1), b);
    struct tw_plan *plan = planned(g);
    assert_int_equal(out_type(plan, 0), TW_F32);
    assert_int_equal(count(plan, TW_OP_COPY), 4);
    done(g, plan);
}

/* ---- What the array can address */

/* Windows of what is otherwise in place: which of them need a copy. */
static void window_of_hidden(int64_t col, int64_t row, int64_t cols, int64_t rows, size_t step, int is_copied)
{
    struct tw_graph *g = tw_graph_create();
    const tw_id n = temp(g, "n", 200, 100, 1);
    tw_graph_scale(g, n, input(g, 200, 100, 1), 2);
    const tw_id part = tw_graph_view(g, n, cols, rows, 1, ((size_t)row * 200 + (size_t)col) * 4, step * 800, 0);
    tw_graph_copy(g, output(g, 0, 64, rows, 1), linear(g, "last", part, 64));
    expect(g, 1, 1 + is_copied);
}

static void windows(void **state)
{
    (void)state;
    window_of_hidden(0, 0, 200, 100, 1, 0);
    window_of_hidden(100, 36, 100, 64, 1, 0);
    window_of_hidden(64, 0, 64, 32, 1, 0);
    window_of_hidden(64, 50, 64, 50, 1, 0);
    window_of_hidden(0, 0, 100, 100, 1, 1);  /* zeros beside it would be in its columns */
    window_of_hidden(0, 0, 200, 50, 1, 1);   /* ... in its rows */
    window_of_hidden(101, 0, 64, 100, 1, 1); /* begins inside a word */
    window_of_hidden(0, 0, 200, 32, 2, 1);   /* every second row */
}

/* Matrices of a batch that are rows of one, or do not fill it. */
static void batches(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    const tw_id n = temp(g, "n", 64, 96, 1), out = temp(g, "out", 64, 96, 1);
    tw_graph_scale(g, n, input(g, 64, 96, 1), 2);
    const tw_id parts = tw_graph_view(g, n, 64, 32, 3, 0, 256, 32 * 256);
    tw_graph_product(g, tw_graph_view(g, out, 64, 32, 3, 0, 256, 32 * 256), parts, weights(g, 64, 64), TW_NONE, plain);
    tw_graph_gelu(g, output(g, 0, 64, 96, 1), out);
    expect(g, 1, 2);
}

/* A result that is only a part of a temporary goes there by a copy. */
static void part_of_temporary(void **state)
{
    (void)state;
    static const int64_t parts[3][2] = {{64, 50}, {128, 20}, {64, 20}};
    for (int i = 0; i < 3; i++) {
        struct tw_graph *g = tw_graph_create();
        const tw_id in = input(g, 128, 50, 1), y = temp(g, "y", 128, 50, 1);
        tw_graph_scale(g, y, in, 3);
        const tw_id from = tw_graph_view(g, in, 128, parts[i][1], 1, 0, 512, 0);
        const tw_id to = tw_graph_view(g, y, parts[i][0], parts[i][1], 1, 0, 512, 0);
        tw_graph_product(g, to, from, weights(g, 128, parts[i][0]), TW_NONE, plain);
        tw_graph_gelu(g, output(g, 0, 128, 50, 1), y);
        expect(g, 1, 2);
    }
}

/* Matrices side by side that leave columns out: beside the last, or between them. */
static void heads_with_gaps(void **state)
{
    (void)state;
    for (int64_t cols = 60; cols <= 64; cols += 4) {
        struct tw_graph *g = tw_graph_create();
        const tw_id y = temp(g, "y", 200, 50, 1);
        tw_graph_scale(g, y, tw_graph_bind(g, "y", TW_F32, 200, 50, 1, address(9)), 3);
        const tw_id to = tw_graph_view(g, y, cols, 50, 3, 0, 800, 256);
        tw_graph_product(g, to, input(g, 40, 50, 3), weights(g, 40, cols), TW_NONE, plain);
        tw_graph_gelu(g, output(g, 0, 200, 50, 1), y);
        expect(g, 1, 2);
    }
}

/* Constants with several matrices are no weights; and those that cannot be copied stay on the CPU. */
static void constants_in_batches(void **state)
{
    (void)state;
    static const enum tw_type types[2] = {TW_F16, TW_Q8_0};
    for (int i = 0; i < 2; i++) {
        struct tw_graph *g = tw_graph_create();
        const tw_id x = input(g, 64, 50, 2), b = tw_graph_constant(g, "b", types[i], 64, 64, 2, address(0));
        tw_graph_product(g, output(g, 0, 64, 50, 2), x, b, TW_NONE, plain);
        expect(g, i == 0, i == 0 ? 3 : 0);
    }
}

/* ---- What stays on the CPU */

static void expect_none(struct tw_graph *g)
{
    struct tw_plan *plan = planned(g);
    assert_int_equal(plan_launches(plan), 0);
    assert_int_equal(plan->graph->n_ops, g->n_ops);
    done(g, plan);
}

static void stays_on_cpu(void **state)
{
    (void)state;
    struct tw_graph *g = tw_graph_create();
    tw_graph_product(g, output(g, 0, 8, 8, 5000), input(g, 8, 8, 5000), weights(g, 8, 8), TW_NONE, plain);
    expect_none(g);

    g = tw_graph_create();
    tw_graph_product(g, output(g, 0, 8, 8, 1), input(g, 8, 8, 1), weights(g, 8, 8), TW_NONE,
                     (struct tw_product_options){.scale = 0.5f});
    expect_none(g);

    g = tw_graph_create();
    const tw_id bias = temp(g, "bias", 8, 1, 1);
    tw_graph_scale(g, bias, tw_graph_constant(g, "c", TW_F32, 8, 1, 1, address(0)), 2);
    tw_graph_product(g, output(g, 0, 8, 8, 1), input(g, 8, 8, 1), weights(g, 8, 8), bias, plain);
    expect_none(g);

    g = tw_graph_create();
    const int64_t wide = (1 << 20) + 1;
    tw_graph_product(g, output(g, 0, 8, 1, 1), input(g, wide, 1, 1), weights(g, wide, 8), TW_NONE, plain);
    expect_none(g);

    g = tw_graph_create();
    tw_graph_product(g, output(g, 0, 20000, 20000, 1), input(g, 20000, 20000, 1), weights(g, 20000, 20000), TW_NONE,
                     plain);
    expect_none(g);
}

/* Heads of a multiple of 32 columns, not causal, in one batch, become products; else the CPU mixes them, in f32. */
static void attention(int64_t width, int32_t heads, int causal, int64_t batch, int is_lowered)
{
    struct tw_graph *g = tw_graph_create();
    const tw_id x = input(g, width * heads, 40, batch);
    const tw_id q = linear(g, "q", x, width * heads), k = linear(g, "k", x, width * heads);
    const tw_id v = linear(g, "v", x, width * heads), mixed = temp(g, "mixed", width * heads, 40, batch);
    tw_graph_attention(g, mixed, q, k, v, heads, 0.2f, causal, 0);
    tw_graph_copy(g, output(g, 0, width * heads, 40, batch), linear(g, "last", mixed, width * heads));
    struct tw_plan *plan = planned(g);
    assert_int_equal(plan_launches(plan), 2);
    assert_int_equal(count(plan, TW_OP_ATTENTION), !is_lowered);
    assert_int_equal(count(plan, TW_OP_SOFTMAX), is_lowered);
    assert_int_equal(count(plan, TW_OP_COPY), is_lowered ? 2 : 3);
    done(g, plan);
}

/* Scores in f32 have weights in memory of their own, bf16 ones are replaced by theirs. */
static void kept_scores(void **state)
{
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct tw_graph *g = tw_graph_create();
        const tw_id x = input(g, 64, 40, 1), mixed = temp(g, "mixed", 64, 40, 1);
        tw_graph_attention(g, mixed, linear(g, "q", x, 64), linear(g, "k", x, 64), linear(g, "v", x, 64), 2, 0.2f, 0,
                           0);
        if (keep)
            tw_graph_keep_scores(g);
        tw_graph_copy(g, output(g, 0, 64, 40, 1), linear(g, "last", mixed, 64));
        struct tw_plan *plan = planned(g);
        assert_int_equal(count(plan, TW_OP_SOFTMAX), 1);
        for (int32_t i = 0; i < plan->graph->n_ops; i++) {
            const struct tw_op *op = &plan->graph->ops[i];
            if (op->kind != TW_OP_SOFTMAX)
                continue;
            assert_int_equal(plan->graph->tensors[op->in[0]].type, keep ? TW_F32 : TW_BF16);
            assert_int_equal(plan->graph->tensors[op->out].type, TW_BF16);
            assert_int_equal(op->in[0] == op->out, !keep);
        }
        done(g, plan);
    }
}

static void attentions(void **state)
{
    (void)state;
    attention(32, 3, 0, 1, 1);
    attention(64, 1, 0, 1, 1);
    attention(96, 2, 0, 1, 1);
    attention(20, 3, 0, 1, 0);
    attention(32, 3, 1, 1, 0);
    attention(32, 3, 0, 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_operations),
        cmocka_unit_test(no_products),
        cmocka_unit_test(unfinished),
        cmocka_unit_test(room_beyond_memory),
        cmocka_unit_test(single_products),
        cmocka_unit_test(strided_memory),
        cmocka_unit_test(chain),
        cmocka_unit_test(padding_ends_launch),
        cmocka_unit_test(padding_of_sums),
        cmocka_unit_test(sums_with_inputs),
        cmocka_unit_test(heads_leave_garbage),
        cmocka_unit_test(part_of_written),
        cmocka_unit_test(length_of_launch),
        cmocka_unit_test(number_of_products),
        cmocka_unit_test(sums_are_renamed),
        cmocka_unit_test(cpu_work_moves_aside),
        cmocka_unit_test(order_of_put_off),
        cmocka_unit_test(bf16_where_nobody_sees),
        cmocka_unit_test(f32_where_it_is_seen),
        cmocka_unit_test(windows),
        cmocka_unit_test(batches),
        cmocka_unit_test(part_of_temporary),
        cmocka_unit_test(heads_with_gaps),
        cmocka_unit_test(constants_in_batches),
        cmocka_unit_test(stays_on_cpu),
        cmocka_unit_test(attentions),
        cmocka_unit_test(kept_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
