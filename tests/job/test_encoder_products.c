/*
 * The 74 products of whisper-tiny's encoder as one graph, without what the processor does between them: two
 * convolutions, and in each of four layers q, k, v, the scores of six heads, probabilities times values of six heads,
 * out, up and down. They take at most two commands of one context, and the overlay is loaded once. In short runs there
 * are fewer positions; with TILEWRIGHT_LONG in the environment all 1500, and numbers are compared with float64.
 */
#include "base/random.h"
#include "graph/type.h"
#include "job/executor.h"
#include "job/counting_machine.h"
#include "job/emulated_engine.h"
#include "job/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 4, HEADS = 6, WIDTH = 384, HEAD = WIDTH / HEADS, INNER = 4 * WIDTH, MELS = 80, TAPS = 3 };
enum { ALL_POSITIONS = 1500, FEW_POSITIONS = 44 /* no multiple of 32, as 1500 */, PRODUCTS = 74, STEPS_MAX = 40 };

/* ---- the graph */

/* Numbers in memory: bound ones, or a copy of a temporary that is made at the end. */
struct operand {
    tw_id id; /* in the graph */
    enum tw_type type;
    int64_t cols, rows;
    unsigned char *data; /* rows of cols numbers, or as many of them as there are heads */
};

/* out = a b, or gelu(a b); of each head with its columns of a, b and out, but for probabilities and scores. */
struct step {
    struct operand a, b, out;
    int heads, b_rows, gelu;
};

struct encoder {
    struct tw_graph *g;
    struct tw_random random;
    int64_t positions;
    struct step steps[STEPS_MAX];
    int n_steps;
};

static size_t bytes_of(const struct operand *x, int64_t matrices)
{
    return (size_t)(x->rows * matrices) * tw_row_bytes(x->type, x->cols);
}

/* As large that their product with numbers of about 1 stays so. */
static void fill(struct encoder *e, const struct operand *x, int64_t matrices)
{
    const float size = sqrtf(3.0f / (float)x->cols);
    float *line = malloc((size_t)x->cols * sizeof *line);
    assert_non_null(line);
    for (int64_t i = 0; i < x->rows * matrices; i++) {
        for (int64_t j = 0; j < x->cols; j++)
            line[j] = size * (float)(2 * tw_random_unit(&e->random) - 1);
        tw_row_from_f32(x->type, line, x->data + (size_t)i * tw_row_bytes(x->type, x->cols), x->cols);
    }
    free(line);
}

static struct operand input(struct encoder *e, enum tw_type type, int64_t cols, int64_t rows, int64_t matrices,
                            int is_constant)
{
    struct operand x = {.type = type, .cols = cols, .rows = rows};
    x.data = malloc(bytes_of(&x, matrices));
    assert_non_null(x.data);
    fill(e, &x, matrices);
    x.id = is_constant ? tw_graph_constant(e->g, "weights", type, cols, rows, matrices, x.data)
                       : tw_graph_bind(e->g, "input", type, cols, rows, matrices, x.data);
    return x;
}

static struct operand result(struct encoder *e, int64_t cols, int64_t rows, int64_t matrices)
{
    struct operand x = {.type = TW_BF16, .cols = cols, .rows = rows};
    x.data = malloc(bytes_of(&x, matrices));
    assert_non_null(x.data);
    memset(x.data, 0xff, bytes_of(&x, matrices));
    x.id = tw_graph_temp(e->g, "result", TW_BF16, cols, rows, matrices);
    return x;
}

static void keep(struct encoder *e, const struct step *step)
{
    assert_true(e->n_steps < STEPS_MAX);
    e->steps[e->n_steps++] = *step;
}

static struct operand layer(struct encoder *e, struct operand x, int64_t cols, int gelu)
{
    const struct step step = {
        .a = x, .b = input(e, TW_F16, x.cols, cols, 1, 1), .out = result(e, cols, x.rows, 1), .heads = 1, .gelu = gelu};
    tw_graph_product(e->g, step.out.id, x.id, step.b.id, TW_NONE, (struct tw_product_options){.gelu = gelu});
    keep(e, &step);
    return step.out;
}

/* A head's columns, as one matrix of a batch. */
static tw_id heads_of(struct encoder *e, const struct operand *x)
{
    return tw_graph_view(e->g, x->id, HEAD, x->rows, HEADS, 0, 2 * WIDTH, 2 * HEAD);
}

static void scores(struct encoder *e, struct operand q, struct operand k)
{
    const struct step step = {.a = q, .b = k, .out = result(e, k.rows, q.rows, HEADS), .heads = HEADS};
    tw_graph_product(e->g, step.out.id, heads_of(e, &q), heads_of(e, &k), TW_NONE, (struct tw_product_options){0});
    keep(e, &step);
}

static struct operand attend(struct encoder *e, struct operand p, struct operand v)
{
    const struct step step = {.a = p, .b = v, .out = result(e, WIDTH, p.rows, 1), .heads = HEADS, .b_rows = 1};
    tw_graph_product(e->g, heads_of(e, &step.out), p.id, heads_of(e, &v), TW_NONE,
                     (struct tw_product_options){.b_rows = 1});
    keep(e, &step);
    return step.out;
}

static void copy_results(struct encoder *e)
{
    for (int i = 0; i < e->n_steps; i++) {
        const struct operand *x = &e->steps[i].out;
        const int64_t matrices = e->g->tensors[x->id].batch;
        tw_graph_copy(e->g, tw_graph_bind(e->g, "copy", x->type, x->cols, x->rows, matrices, x->data), x->id);
    }
}

static void make_encoder(struct encoder *e, int64_t positions)
{
    struct operand v[LAYERS];
    struct tw_error err = {0};
    *e = (struct encoder){.g = tw_graph_create(), .random = {74}, .positions = positions};
    assert_non_null(e->g);
    layer(e, input(e, TW_F32, MELS * TAPS, 2 * positions, 1, 0), WIDTH, 1);
    const struct operand x = layer(e, input(e, TW_F32, WIDTH * TAPS, positions, 1, 0), WIDTH, 1);
    for (int i = 0; i < LAYERS; i++) {
        const struct operand q = layer(e, x, WIDTH, 0), k = layer(e, x, WIDTH, 0);
        v[i] = layer(e, x, WIDTH, 0);
        scores(e, q, k);
    }
    for (int i = 0; i < LAYERS; i++) {
        const struct operand p = input(e, TW_BF16, positions, positions, HEADS, 0);
        layer(e, layer(e, layer(e, attend(e, p, v[i]), WIDTH, 0), INNER, 1), WIDTH, 0);
    }
    copy_results(e);
    if (tw_graph_finish(e->g, &err) != 0)
        fail_msg("%s", err.text);
}

static int is_result(const struct encoder *e, const unsigned char *data)
{
    for (int i = 0; i < e->n_steps; i++)
        if (e->steps[i].out.data == data)
            return 1;
    return 0;
}

static void free_encoder(struct encoder *e)
{
    for (int i = 0; i < e->n_steps; i++) {
        if (!is_result(e, e->steps[i].a.data))
            free(e->steps[i].a.data);
        if (!is_result(e, e->steps[i].b.data))
            free(e->steps[i].b.data);
    }
    for (int i = 0; i < e->n_steps; i++)
        free(e->steps[i].out.data);
    tw_graph_destroy(e->g);
}

/* ---- comparison */

/* Rows of a head: its columns of each row, or its own matrix. */
static float *widen(const struct operand *x, int heads, int head, int is_own)
{
    const int64_t cols = heads > 1 && !is_own ? HEAD : x->cols, from = is_own ? 0 : head * HEAD;
    float *all = malloc((size_t)(cols * x->rows) * sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; i < x->rows; i++) {
        const size_t row = (size_t)(is_own ? head * x->rows + i : i) * tw_row_bytes(x->type, x->cols);
        tw_row_to_f32(x->type, x->data + row + tw_row_bytes(x->type, from), all + i * cols, cols);
    }
    return all;
}

static float *turn(float *columns, int64_t k, int64_t n)
{
    float *rows = malloc((size_t)(k * n) * sizeof *rows);
    assert_non_null(rows);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < k; i++)
            rows[i * n + j] = columns[j * k + i];
    free(columns);
    return rows;
}

static double check_head(const struct step *s, int head, struct tw_pool *pool)
{
    const int of_scores = s->heads > 1 && !s->b_rows, of_values = s->heads > 1 && s->b_rows;
    struct reference x = {.m = s->a.rows,
                          .k = of_scores ? HEAD : s->a.cols,
                          .n = of_values ? HEAD : s->b.rows,
                          .a = widen(&s->a, s->heads, head, of_values),
                          .b = widen(&s->b, s->heads, head, 0),
                          .found = widen(&s->out, s->heads, head, of_scores),
                          .gelu = s->gelu,
                          .bf16_out = 1};
    if (!s->b_rows)
        x.b = turn(x.b, x.k, x.n);
    reference_round(x.a, x.m * x.k);
    reference_round(x.b, x.k * x.n);
    const double worst = reference_check(&x, pool, "encoder");
    free(x.a);
    free(x.b);
    free(x.found);
    return worst;
}

static void check_numbers(const struct encoder *e)
{
    struct tw_pool *pool;
    double worst = 0;
    int products = 0;
    assert_int_equal(tw_pool_create(0, &pool, NULL), 0);
    for (int i = 0; i < e->n_steps; i++)
        for (int head = 0; head < e->steps[i].heads; head++, products++)
            worst = fmax(worst, check_head(&e->steps[i], head, pool));
    assert_int_equal(products, PRODUCTS);
    print_message("largest error of %d products: %.3f of what is allowed\n", products, worst);
    tw_pool_destroy(pool);
}

/* ---- the run */

static void run_and_count(struct counting_machine *m, struct encoder *e)
{
    const struct tw_executor_options options = {.verify = TW_VERIFY_NONE};
    struct tw_executor *array = NULL;
    struct tw_host *host = NULL;
    struct tw_runner *runner = NULL;
    struct tw_executor_counts c;
    struct tw_error err = {0};
    assert_int_equal(tw_executor_open(m->device, &options, &array, NULL), 0);
    assert_int_equal(tw_host_create(NULL, &host, NULL), 0);
    assert_int_equal(tw_runner_create(array, host, &runner, NULL), 0);
    if (tw_runner_run(runner, e->g, &err) != 0)
        fail_msg("%s", err.text);
    tw_runner_counts(runner, &c);
    assert_int_equal(c.products_on_array, PRODUCTS);
    assert_true(c.products_on_host == 0 && c.fallbacks == 0);
    assert_true(c.launches <= 2 && c.contexts == 1);
    assert_int_equal(m->commands, c.launches);
    assert_true(m->contexts == 1 && m->loads == 1);
    print_message("%d positions: %d products in %d commands, %d context, %d load; control code %.0f us\n",
                  (int)e->positions, PRODUCTS, m->commands, m->contexts, m->loads, 1e6 * c.control_seconds);
    tw_runner_destroy(runner);
    tw_host_destroy(host);
    tw_executor_close(array);
}

static int64_t positions(void)
{
    return getenv("TILEWRIGHT_LONG") != NULL ? ALL_POSITIONS : FEW_POSITIONS;
}

static void two_commands(void **state)
{
    struct counting_machine m;
    struct encoder e;
    (void)state;
    counting_machine_create(&m);
    make_encoder(&e, positions());
    run_and_count(&m, &e);
    check_numbers(&e);
    free_encoder(&e);
    counting_machine_destroy(&m);
}

/* Through the public functions, with what the model says of it. */
static void modelled(void **state)
{
    struct tw_engine *engine = emulated_engine(0, TW_VERIFY_NONE);
    struct tw_error err = {0};
    struct encoder e;
    (void)state;
    make_encoder(&e, positions());
    if (tw_engine_run(engine, e.g, &err) != 0)
        fail_msg("%s", err.text);
    const struct tw_engine_counts c = engine_expect_clean(engine);
    assert_int_equal(c.products_on_npu, PRODUCTS);
    assert_true(c.launches <= 2);
    print_message("modelled: %llu cycles, %.1f MB read, %.1f MB written\n", (unsigned long long)c.cycles,
                  1e-6 * (double)c.read_bytes, 1e-6 * (double)c.write_bytes);
    free_encoder(&e);
    tw_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_commands), cmocka_unit_test(modelled)};
    return cmocka_run_group_tests_name("encoder_products", tests, NULL, NULL);
}
