#include "job/array_rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How far the output may be from what the CPU computes from unrounded operands, by the largest number of the output. */
#define TOLERANCE 0.04

/* ---- The machine */

const struct tw_executor_options verify_all = {.verify = TW_VERIFY_ALL};

static void warn(void *arg, const char *sentence)
{
    struct rig *rig = arg;
    snprintf(rig->sentence, sizeof rig->sentence, "%s", sentence);
    atomic_fetch_add(&rig->warnings, 1);
}

int rig_open(struct rig *rig, const char *faults, const struct tw_executor_options *options, enum machine_kind kind)
{
    struct tw_executor_options o = options != NULL ? *options : (struct tw_executor_options){0};
    *rig = (struct rig){0};
    machine_create(&rig->machine, faults, kind);
    assert_int_equal(tw_host_create(&(struct tw_host_options){.threads = 2}, &rig->host, &rig->err), 0);
    o.warn = warn;
    o.arg = rig;
    int code = tw_executor_open(rig->machine.device, &o, &rig->array, &rig->err);
    assert_int_equal(tw_runner_create(rig->array, rig->host, &rig->runner, NULL), 0);
    return code;
}

void rig_close(struct rig *rig)
{
    tw_device_close(rig->machine.device);
    tw_runner_destroy(rig->runner);
    tw_executor_close(rig->array);
    tw_host_destroy(rig->host);
    machine_destroy(&rig->machine);
}

struct tw_executor_counts rig_counts(const struct rig *rig)
{
    struct tw_executor_counts counts;
    tw_runner_counts(rig->runner, &counts);
    return counts;
}

/* ---- Networks */

static float number(struct net *n)
{
    return (float)(2 * tw_random_unit(&n->random) - 1);
}

static void fill(struct net *n, enum tw_type type, void *data, int64_t cols, int64_t rows, float size)
{
    float *row = calloc((size_t)cols, sizeof *row);
    assert_non_null(row);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++)
            row[c] = size * number(n);
        tw_row_from_f32(type, row, (unsigned char *)data + (size_t)r * tw_row_bytes(type, cols), cols);
    }
    free(row);
}

static tw_id bind(struct net *n, enum tw_type type, int64_t cols, int64_t rows, int is_constant, float size)
{
    void *data = calloc((size_t)rows, tw_row_bytes(type, cols));
    assert_non_null(data);
    assert_true(n->n_blocks < (int)(sizeof n->blocks / sizeof n->blocks[0]));
    n->blocks[n->n_blocks++] = data;
    fill(n, type, data, cols, rows, size);
    return is_constant ? tw_graph_constant(n->g, "constant", type, cols, rows, 1, data)
                       : tw_graph_bind(n->g, "bound", type, cols, rows, 1, data);
}

tw_id net_bind(struct net *n, enum tw_type type, int64_t cols, int64_t rows, int is_constant)
{
    return bind(n, type, cols, rows, is_constant, 1);
}

tw_id net_temp(struct net *n, int64_t cols, int64_t rows)
{
    return tw_graph_temp(n->g, "temporary", TW_F32, cols, rows, 1);
}

static enum tw_type weight_type(struct net *n, int64_t cols)
{
    static const enum tw_type types[] = {TW_F32, TW_F16, TW_BF16, TW_Q8_0};
    return types[tw_random_range(&n->random, 0, cols % 32 == 0 ? 3 : 2)];
}

tw_id net_linear(struct net *n, tw_id x, int64_t cols, int has_bias, int gelu)
{
    const int64_t k = n->g->tensors[x].cols;
    const tw_id w = bind(n, weight_type(n, k), k, cols, 1, sqrtf(3.0f / (float)k));
    const tw_id bias = has_bias ? net_bind(n, TW_F32, cols, 1, 1) : TW_NONE;
    const tw_id out = net_temp(n, cols, n->g->tensors[x].rows);
    tw_graph_product(n->g, out, x, w, bias, (struct tw_product_options){.gelu = gelu});
    if (n->weights == TW_NONE) {
        n->weights = w;
        n->bias = bias;
    }
    return out;
}

void net_begin(struct net *n, uint64_t seed)
{
    *n = (struct net){.g = tw_graph_create(), .random = {seed}, .weights = TW_NONE, .bias = TW_NONE};
    assert_non_null(n->g);
}

void net_end(struct net *n, tw_id x)
{
    struct tw_error err = {0};
    const int64_t cols = n->g->tensors[x].cols, rows = n->g->tensors[x].rows;
    n->out = net_bind(n, TW_F32, cols, rows, 0);
    tw_graph_copy(n->g, n->out, x);
    if (tw_graph_finish(n->g, &err) != 0)
        fail_msg("%s", err.text);
    n->want = calloc((size_t)(rows * cols), sizeof(float));
    assert_non_null(n->want);
}

void net_free(struct net *n)
{
    tw_graph_destroy(n->g);
    for (int i = 0; i < n->n_blocks; i++)
        free(n->blocks[i]);
    free(n->want);
}

void net_fill(struct net *n)
{
    const struct tw_tensor *t = &n->g->tensors[n->in];
    fill(n, TW_F32, t->data, t->cols, t->rows, 1);
}

void net_simple(struct net *n, uint64_t seed, int64_t rows, int64_t cols)
{
    net_begin(n, seed);
    n->in = net_bind(n, TW_F32, cols, rows, 0);
    const tw_id middle = net_linear(n, n->in, 2 * cols, 1, 1);
    net_end(n, net_linear(n, middle, cols, 1, 0));
}

/* ---- Random networks */

static tw_id unary(struct net *n, tw_id x)
{
    const struct tw_tensor t = n->g->tensors[x];
    const tw_id out = net_temp(n, t.cols, t.rows);
    switch (tw_random_range(&n->random, 0, 3)) {
    case 0:
        tw_graph_layer_norm(n->g, out, x, net_bind(n, TW_F32, t.cols, 1, 1), net_bind(n, TW_F32, t.cols, 1, 1), 1e-5f);
        break;
    case 1:
        tw_graph_scale(n->g, out, x, 0.75f);
        break;
    case 2:
        tw_graph_gelu(n->g, out, x);
        break;
    default:
        tw_graph_add(n->g, out, x, net_bind(n, TW_F32, t.cols, t.rows, 1));
        break;
    }
    return out;
}

/* x + W gelu(x) and the like. */
static tw_id residual(struct net *n, tw_id x)
{
    const int64_t cols = n->g->tensors[x].cols, rows = n->g->tensors[x].rows;
    const tw_id middle = net_linear(n, x, tw_random_range(&n->random, 1, 100), 1, 1);
    const int64_t k = n->g->tensors[middle].cols;
    const tw_id w = bind(n, weight_type(n, k), k, cols, 1, sqrtf(3.0f / (float)k)), out = net_temp(n, cols, rows);
    tw_graph_product_onto(n->g, out, middle, w, TW_NONE, x, (struct tw_product_options){0});
    return out;
}

static tw_id attend(struct net *n, tw_id x)
{
    const int32_t heads = (int32_t)tw_random_range(&n->random, 1, 3);
    const int64_t rows = n->g->tensors[x].rows, cols = (int64_t)heads * 32;
    const tw_id q = net_linear(n, x, cols, 1, 0), k = net_linear(n, x, cols, 0, 0), v = net_linear(n, x, cols, 1, 0);
    const tw_id out = net_temp(n, cols, rows);
    tw_graph_attention(n->g, out, q, k, v, heads, 0.2f, (int)tw_random_range(&n->random, 0, 3) == 0, 0);
    if (tw_random_range(&n->random, 0, 1))
        tw_graph_keep_scores(n->g);
    return out;
}

/* (x W)(x W')^T, or with rows of B instead of columns (x W)(x W')^T x */
static tw_id of_temporaries(struct net *n, tw_id x)
{
    const int64_t rows = n->g->tensors[x].rows, k = tw_random_range(&n->random, 1, 70);
    const tw_id a = net_linear(n, x, k, 0, 0), b = net_linear(n, x, k, 0, 0), scores = net_temp(n, rows, rows);
    tw_graph_product(n->g, scores, a, b, TW_NONE, (struct tw_product_options){.scale = 0.25f});
    if (tw_random_range(&n->random, 0, 1) == 0)
        return scores;
    const tw_id soft = net_temp(n, rows, rows), out = net_temp(n, n->g->tensors[x].cols, rows);
    tw_graph_softmax(n->g, soft, scores, 1, 0, 0);
    tw_graph_product(n->g, out, soft, x, TW_NONE, (struct tw_product_options){.b_rows = 1});
    return out;
}

static tw_id step(struct net *n, tw_id x)
{
    switch (tw_random_range(&n->random, 0, 5)) {
    case 0:
        return unary(n, x);
    case 1:
        return residual(n, x);
    case 2:
        return attend(n, x);
    case 3:
        return of_temporaries(n, x);
    default:
        return net_linear(n, x, tw_random_range(&n->random, 1, 140), (int)tw_random_range(&n->random, 0, 1),
                          (int)tw_random_range(&n->random, 0, 1));
    }
}

void net_random(struct net *n, uint64_t seed)
{
    net_begin(n, seed);
    n->in = net_bind(n, TW_F32, tw_random_range(&n->random, 1, 120), tw_random_range(&n->random, 1, 90), 0);
    tw_id x = net_linear(n, n->in, tw_random_range(&n->random, 1, 120), 1, 0);
    for (int64_t i = tw_random_range(&n->random, 1, 4); i > 0; i--)
        x = step(n, x);
    net_end(n, x);
}

/* ---- Running */

void net_run(struct net *n, struct tw_runner *runner)
{
    struct tw_error err = {0};
    const struct tw_tensor *out = &n->g->tensors[n->out];
    memset(out->data, 0xff, out->bytes);
    if (tw_runner_run(runner, n->g, &err) != 0)
        fail_msg("%s", err.text);
}

void net_check(struct net *n, struct tw_host *host)
{
    const struct tw_tensor *t = &n->g->tensors[n->out];
    const size_t count = (size_t)(t->rows * t->cols);
    float *got = malloc(t->bytes), largest = 0;
    assert_non_null(got);
    memcpy(got, t->data, t->bytes);
    assert_int_equal(tw_host_run(host, n->g, NULL), 0);
    memcpy(n->want, t->data, t->bytes);
    for (size_t i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(n->want[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - n->want[i]) <= TOLERANCE * largest))
            fail_msg("number %zu of %zu is %g instead of %g, the largest is %g", i, count, (double)got[i],
                     (double)n->want[i], (double)largest);
    free(got);
}

void net_again(struct net *n, struct tw_runner *runner, struct tw_host *host)
{
    net_fill(n);
    net_run(n, runner);
    net_check(n, host);
}
