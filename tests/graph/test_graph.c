/* Tensors of a graph: binding, temporaries, views and their bounds, reset, and how failures are kept. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static unsigned char memory[1 << 16];

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

/* The call failed with code, the sentence is kept and tw_graph_finish reports it; then the graph is emptied. */
static void refused(struct tw_graph *g, int result, int code, const char *part)
{
    struct tw_error err = {0};
    assert_int_equal(result, code);
    assert_int_equal(tw_graph_finish(g, &err), code);
    assert_int_equal(err.code, code);
    if (strstr(err.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, part);
    assert_false(g->finished);
    tw_graph_reset(g);
}

static void tensors_are_dense(void **state)
{
    struct tw_graph *g = *state;
    tw_id id = tw_graph_bind(g, "mel", TW_F32, 80, 7, 3, memory + 1);
    assert_int_equal(id, 0);
    const struct tw_tensor *t = &g->tensors[id];
    assert_int_equal(t->storage, TW_BOUND);
    assert_int_equal(t->constant, 0);
    assert_int_equal(t->row_stride, 320);
    assert_int_equal(t->batch_stride, 2240);
    assert_int_equal(t->bytes, 6720);
    assert_int_equal(t->base, id);
    assert_int_equal(t->offset, 0);
    assert_int_equal(t->first_use, -1);
    assert_string_equal(t->name, "mel");
    id = tw_graph_constant(g, "w", TW_Q5_0, 64, 5, 1, memory);
    assert_int_equal(g->tensors[id].constant, 1);
    assert_int_equal(g->tensors[id].row_stride, 44);
    assert_int_equal(g->tensors[id].bytes, 220);
    id = tw_graph_temp(g, "h", TW_BF16, 3, 5, 1);
    assert_int_equal(g->tensors[id].storage, TW_TEMP);
    assert_int_equal(g->tensors[id].bytes, 30);
    assert_null(g->tensors[id].data);
    assert_ptr_equal(tw_tensor_data(g, 0, NULL), memory + 1);
}

static void names_are_cut(void **state)
{
    struct tw_graph *g = *state;
    char name[100];
    memset(name, 'n', 99);
    name[99] = '\0';
    tw_id id = tw_graph_temp(g, name, TW_F32, 1, 1, 1);
    assert_int_equal(strlen(g->tensors[id].name), sizeof g->tensors[id].name - 1);
    assert_memory_equal(g->tensors[id].name, name, sizeof g->tensors[id].name - 1);
    id = tw_graph_temp(g, NULL, TW_F32, 1, 1, 1);
    assert_string_equal(g->tensors[id].name, "");
}

static void impossible_tensors(void **state)
{
    struct tw_graph *g = *state;
    refused(g, tw_graph_bind(g, "x", TW_F32, 0, 1, 1, memory), TW_E_SHAPE, "'x'");
    refused(g, tw_graph_bind(g, "x", TW_F32, 1, 0, 1, memory), TW_E_SHAPE, "below 1");
    refused(g, tw_graph_bind(g, "x", TW_F32, 1, 1, -1, memory), TW_E_SHAPE, "below 1");
    refused(g, tw_graph_bind(g, "x", TW_TYPE_COUNT, 1, 1, 1, memory), TW_E_ARGUMENT, "unknown type");
    refused(g, tw_graph_bind(g, "x", TW_F32, 1, 1, 1, NULL), TW_E_ARGUMENT, "no memory");
    refused(g, tw_graph_constant(g, "x", TW_F32, 1, 1, 1, NULL), TW_E_ARGUMENT, "no memory");
    refused(g, tw_graph_constant(g, "x", TW_Q8_0, 33, 1, 1, memory), TW_E_SHAPE, "blocks of 32");
    refused(g, tw_graph_temp(g, "x", TW_Q8_0, 32, 1, 1), TW_E_ARGUMENT, "q8_0");
    refused(g, tw_graph_temp(g, "x", TW_Q5_0, 32, 1, 1), TW_E_ARGUMENT, "q5_0");
    refused(g, tw_graph_temp(g, "x", TW_I32, 32, 1, 1), TW_E_ARGUMENT, "i32");
    refused(g, tw_graph_temp(g, "x", (enum tw_type) - 1, 32, 1, 1), TW_E_ARGUMENT, "unknown type");
    refused(g, tw_graph_temp(g, "x", TW_F32, 32, 0, 1), TW_E_SHAPE, "below 1");
}

static void sizes_that_wrap_round(void **state)
{
    struct tw_graph *g = *state;
    refused(g, tw_graph_bind(g, "x", TW_F32, INT64_MAX, 1, 1, memory), TW_E_LIMIT, "too large");
    refused(g, tw_graph_bind(g, "x", TW_F32, (int64_t)1 << 61, 1, 1, memory), TW_E_LIMIT, "too large");
    refused(g, tw_graph_bind(g, "x", TW_F32, 4, (int64_t)1 << 60, 1, memory), TW_E_LIMIT, "too large");
    refused(g, tw_graph_bind(g, "x", TW_F32, 4, 1, (int64_t)1 << 60, memory), TW_E_LIMIT, "too large");
    refused(g, tw_graph_bind(g, "x", TW_F16, 1, INT64_MAX, 1, memory), TW_E_LIMIT, "too large");
    refused(g, tw_graph_bind(g, "x", TW_F32, (int64_t)1 << 31, (int64_t)1 << 31, (int64_t)1 << 31, memory), TW_E_LIMIT,
            "too large");
    refused(g, tw_graph_bind(g, "x", TW_Q8_0, INT64_MAX - 31, 1, 1, memory), TW_E_LIMIT, "too large");
}

static void views_resolve_to_the_base(void **state)
{
    struct tw_graph *g = *state;
    /* 4 rows of 3 x 8 numbers: queries, keys, values side by side. */
    tw_id x = tw_graph_bind(g, "qkv", TW_F32, 24, 4, 1, memory);
    tw_id k = tw_graph_view(g, x, 8, 4, 1, 32, 96, 0);
    assert_int_equal(g->tensors[k].storage, TW_VIEW);
    assert_int_equal(g->tensors[k].base, x);
    assert_int_equal(g->tensors[k].offset, 32);
    assert_int_equal(g->tensors[k].row_stride, 96);
    assert_int_equal(g->tensors[k].batch_stride, 4 * 96);
    assert_string_equal(g->tensors[k].name, "qkv");
    assert_ptr_equal(tw_tensor_data(g, k, NULL), memory + 32);
    /* Heads of 2 numbers of rows 1 and 2 of the keys, as batches. */
    tw_id heads = tw_graph_view(g, k, 2, 2, 4, 96, 96, 8);
    assert_int_equal(g->tensors[heads].base, x);
    assert_int_equal(g->tensors[heads].offset, 128);
    assert_int_equal(g->tensors[heads].row_stride, 96);
    assert_int_equal(g->tensors[heads].batch_stride, 8);
    assert_ptr_equal(tw_tensor_data(g, heads, NULL), memory + 128);
    /* One row of one matrix: strides say nothing and become those of dense memory. */
    tw_id row = tw_graph_view(g, x, 5, 1, 1, 4, 3, 7);
    assert_int_equal(g->tensors[row].row_stride, 20);
    assert_int_equal(g->tensors[row].batch_stride, 20);
    /* Windows may be wider than the base's rows, and rows may repeat. */
    assert_true(tw_graph_view(g, x, 96, 1, 1, 0, 0, 0) >= 0);
    assert_true(tw_graph_view(g, x, 24, 100, 7, 288, 0, 0) >= 0);
}

static void views_stay_inside(void **state)
{
    struct tw_graph *g = *state;
    for (int i = 0; i < 10; i++) {
        tw_id x = tw_graph_temp(g, "x", TW_F32, 10, 6, 2); /* 480 bytes */
        tw_id v = tw_graph_view(g, x, 10, 1, 1, 440, 0, 0);
        assert_true(v >= 0);
        switch (i) {
        case 0:
            refused(g, tw_graph_view(g, x, 10, 1, 1, 444, 0, 0), TW_E_SHAPE, "leaves the 480 bytes of tensor 'x'");
            break;
        case 1:
            refused(g, tw_graph_view(g, x, 10, 12, 1, 4, 40, 0), TW_E_SHAPE, "leaves");
            break;
        case 2:
            refused(g, tw_graph_view(g, x, 10, 6, 3, 0, 40, 240), TW_E_SHAPE, "leaves");
            break;
        case 3:
            refused(g, tw_graph_view(g, v, 1, 1, 1, 40, 0, 0), TW_E_SHAPE, "leaves");
            break;
        case 4:
            refused(g, tw_graph_view(g, x, 1, 1, 1, SIZE_MAX - 3, 0, 0), TW_E_SHAPE, "leaves");
            break;
        case 5:
            refused(g, tw_graph_view(g, v, 1, 1, 1, SIZE_MAX - 439, 0, 0), TW_E_SHAPE, "leaves");
            break;
        case 6:
            refused(g, tw_graph_view(g, x, 1, 2, 1, 0, SIZE_MAX - 3, 0), TW_E_SHAPE, "leaves");
            break;
        case 7:
            refused(g, tw_graph_view(g, x, 1, 1, 3, 0, 0, (size_t)1 << 63), TW_E_SHAPE, "leaves");
            break;
        case 8:
            refused(g, tw_graph_view(g, x, INT64_MAX, 1, 1, 0, 0, 0), TW_E_SHAPE, "leaves");
            break;
        default:
            refused(g, tw_graph_view(g, x, 1, INT64_MAX, INT64_MAX, 0, 4, 4), TW_E_SHAPE, "leaves");
            break;
        }
    }
}

static void views_of_whole_elements(void **state)
{
    struct tw_graph *g = *state;
    tw_id f = tw_graph_temp(g, "f", TW_F32, 16, 4, 2);
    refused(g, tw_graph_view(g, f, 4, 1, 1, 2, 0, 0), TW_E_SHAPE, "an element");
    f = tw_graph_temp(g, "f", TW_F32, 16, 4, 2);
    refused(g, tw_graph_view(g, f, 4, 2, 1, 0, 18, 0), TW_E_SHAPE, "an element");
    f = tw_graph_temp(g, "f", TW_F32, 16, 4, 2);
    refused(g, tw_graph_view(g, f, 4, 1, 2, 0, 0, 17), TW_E_SHAPE, "an element");
    f = tw_graph_temp(g, "f", TW_F32, 16, 4, 2);
    refused(g, tw_graph_view(g, f, 0, 1, 1, 0, 0, 0), TW_E_SHAPE, "below 1");
    tw_id q = tw_graph_constant(g, "q", TW_Q8_0, 64, 6, 1, memory);
    assert_true(tw_graph_view(g, q, 64, 3, 1, 68, 136, 0) >= 0);
    refused(g, tw_graph_view(g, q, 32, 1, 1, 0, 0, 0), TW_E_SHAPE, "a quantised row");
    q = tw_graph_constant(g, "q", TW_Q8_0, 64, 6, 1, memory);
    refused(g, tw_graph_view(g, q, 64, 1, 1, 34, 0, 0), TW_E_SHAPE, "a quantised row");
    q = tw_graph_constant(g, "q", TW_Q8_0, 64, 6, 1, memory);
    refused(g, tw_graph_view(g, q, 64, 2, 1, 0, 34, 0), TW_E_SHAPE, "a quantised row");
    q = tw_graph_constant(g, "q", TW_Q8_0, 64, 6, 1, memory);
    refused(g, tw_graph_view(g, q, 63, 2, 1, 0, 68, 0), TW_E_SHAPE, "blocks of 32");
}

static void failures_are_passed_on(void **state)
{
    struct tw_graph *g = *state;
    tw_id bad = tw_graph_temp(g, "first", TW_F32, 0, 1, 1);
    assert_int_equal(bad, TW_E_SHAPE);
    tw_id view = tw_graph_view(g, bad, 1, 1, 1, 0, 0, 0);
    assert_int_equal(view, TW_E_SHAPE);
    assert_int_equal(tw_graph_temp(g, "second", TW_I32, 1, 1, 1), TW_E_ARGUMENT);
    tw_id good = tw_graph_temp(g, "third", TW_F32, 1, 1, 1);
    assert_int_equal(tw_graph_gelu(g, good, view), TW_E_SHAPE);
    refused(g, tw_graph_gelu(g, bad, good), TW_E_SHAPE, "'first'");
    /* A negative number that no builder returned is a failure of its own. */
    good = tw_graph_temp(g, "x", TW_F32, 1, 1, 1);
    refused(g, tw_graph_gelu(g, good, TW_E_STATE), TW_E_STATE, "x is no tensor");
    refused(g, tw_graph_view(g, TW_E_IO, 1, 1, 1, 0, 0, 0), TW_E_IO, "not in the graph");
    refused(g, tw_graph_view(g, 0, 1, 1, 1, 0, 0, 0), TW_E_ARGUMENT, "not in the graph");
    refused(g, tw_graph_view(g, TW_NONE, 1, 1, 1, 0, 0, 0), TW_E_ARGUMENT, "not in the graph");
    /* The sentence is not needed. */
    assert_int_equal(tw_graph_temp(g, "x", TW_F32, 0, 1, 1), TW_E_SHAPE);
    assert_int_equal(tw_graph_finish(g, NULL), TW_E_SHAPE);
}

static void a_finished_graph_takes_no_more(void **state)
{
    struct tw_graph *g = *state;
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    assert_int_equal(g->work_bytes, 0);
    assert_int_equal(tw_graph_temp(g, "late", TW_F32, 1, 1, 1), TW_E_STATE);
    assert_int_equal(g->n_tensors, 0);
    tw_graph_reset(g);
    tw_id x = tw_graph_bind(g, "x", TW_F32, 1, 1, 1, memory);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    assert_int_equal(tw_graph_gelu(g, x, x), TW_E_STATE);
    assert_int_equal(g->n_ops, 0);
}

/* The same graph again after a reset needs no new memory. */
static void reset_keeps_memory(void **state)
{
    struct tw_graph *g = *state;
    const void *tensors = NULL, *ops = NULL, *scratch = NULL;
    for (int round = 0; round < 3; round++) {
        tw_graph_reset(g);
        assert_int_equal(g->n_tensors, 0);
        assert_int_equal(g->n_ops, 0);
        tw_id x = tw_graph_constant(g, "x", TW_F32, 4, 1, 1, memory);
        for (int i = 0; i < 3000; i++) {
            tw_id y = tw_graph_temp(g, "y", TW_F32, 4, 1, 1);
            assert_int_equal(tw_graph_gelu(g, y, x), TW_OK);
            x = y;
        }
        assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
        assert_int_equal(g->n_ops, 3000);
        if (round > 0) {
            assert_ptr_equal(g->tensors, tensors);
            assert_ptr_equal(g->ops, ops);
            assert_ptr_equal(g->scratch, scratch);
        }
        tensors = g->tensors;
        ops = g->ops;
        scratch = g->scratch;
    }
}

static void data_of_temporaries(void **state)
{
    struct tw_graph *g = *state;
    static unsigned char work[1024];
    tw_id in = tw_graph_constant(g, "in", TW_F32, 32, 1, 1, memory);
    tw_id a = tw_graph_temp(g, "a", TW_F32, 32, 1, 1);
    tw_id b = tw_graph_temp(g, "b", TW_F32, 32, 1, 1);
    tw_id v = tw_graph_view(g, b, 8, 1, 1, 16, 0, 0);
    tw_graph_gelu(g, a, in);
    tw_graph_gelu(g, b, a);
    assert_int_equal(tw_graph_finish(g, NULL), TW_OK);
    assert_int_equal(g->work_bytes, 256);
    assert_ptr_equal(tw_tensor_data(g, a, work), work + g->tensors[a].place);
    assert_ptr_equal(tw_tensor_data(g, v, work), work + g->tensors[b].place + 16);
    assert_int_not_equal(g->tensors[a].place, g->tensors[b].place);
    tw_graph_destroy(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tensors_are_dense),
        TEST(names_are_cut),
        TEST(impossible_tensors),
        TEST(sizes_that_wrap_round),
        TEST(views_resolve_to_the_base),
        TEST(views_stay_inside),
        TEST(views_of_whole_elements),
        TEST(failures_are_passed_on),
        TEST(a_finished_graph_takes_no_more),
        TEST(reset_keeps_memory),
        TEST(data_of_temporaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
