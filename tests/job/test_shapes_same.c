/*
 * The same product gives the same bits: on any number of threads, whatever ran before, in a chain or alone; and each
 * link of a chain is right. (That it does not depend on how it is cut into blocks shows tests/overlay.) With
 * TILEWRIGHT_LONG in the environment more and larger ones.
 */
#include "job/emulated_engine.h"
#include "job/reference.h"
#include "job/sample.h"

#include "graph/type.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SAMPLES = 6, LINKS_MAX = 6 };

static int is_long(void)
{
    return getenv("TILEWRIGHT_LONG") != NULL;
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    assert_non_null(p);
    memset(p, 0xff, bytes);
    return p;
}

/* ---- threads, and what ran before */

static void make_samples(struct sample s[SAMPLES])
{
    struct tw_random r = {21};
    const int64_t side = is_long() ? 1500 : 120;
    for (int i = 0; i < SAMPLES; i++) {
        const int64_t m = sample_side(&r, 4, side), k = sample_side(&r, 4, side), n = sample_side(&r, 4, side);
        sample_make(&s[i], &r, m, k, n);
    }
}

static void free_samples(struct sample s[SAMPLES])
{
    for (int i = 0; i < SAMPLES; i++)
        sample_free(&s[i]);
}

static void keep(const struct sample *s, unsigned char **results)
{
    *results = memory(s->c_bytes);
    memcpy(*results, s->c, s->c_bytes);
}

static void run_and_compare(struct sample *s, struct tw_engine *engine, const unsigned char *results)
{
    sample_run(s, engine, "again");
    assert_memory_equal(s->c, results, s->c_bytes);
}

static void any_number_of_threads(void **state)
{
    static const unsigned threads[] = {2, 8, 3};
    struct tw_engine *one = emulated_engine(1, TW_VERIFY_NONE);
    struct sample s[SAMPLES];
    unsigned char *results[SAMPLES];
    (void)state;
    make_samples(s);
    for (int i = 0; i < SAMPLES; i++) {
        sample_run(&s[i], one, "one thread");
        keep(&s[i], &results[i]);
    }
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        struct tw_engine *other = emulated_engine(threads[t], TW_VERIFY_NONE);
        for (int i = 0; i < SAMPLES; i++)
            run_and_compare(&s[i], other, results[i]);
        assert_int_equal(engine_expect_clean(other).cycles, engine_counts(one).cycles);
        tw_engine_close(other);
    }
    engine_expect_clean(one);
    for (int i = 0; i < SAMPLES; i++)
        free(results[i]);
    free_samples(s);
    tw_engine_close(one);
}

/* Each pair, one after the other; with weights that are there already and such as are packed anew. */
static void whatever_ran_before(void **state)
{
    struct tw_engine *engine = emulated_engine(0, TW_VERIFY_NONE);
    struct sample s[SAMPLES];
    unsigned char *results[SAMPLES];
    (void)state;
    make_samples(s);
    for (int i = 0; i < SAMPLES; i++) {
        struct tw_engine *fresh = emulated_engine(0, TW_VERIFY_NONE);
        sample_run(&s[i], fresh, "first");
        keep(&s[i], &results[i]);
        tw_engine_close(fresh);
    }
    for (int i = 0; i < SAMPLES; i++)
        for (int k = 0; k < SAMPLES; k++) {
            if ((i + k) % 3 == 0)
                sample_forget(&s[i], engine);
            run_and_compare(&s[i], engine, results[i]);
            run_and_compare(&s[k], engine, results[k]);
        }
    engine_expect_clean(engine);
    for (int i = 0; i < SAMPLES; i++)
        free(results[i]);
    free_samples(s);
    tw_engine_close(engine);
}

/* ---- chains */

/* y = gelu?(x W + bias) + addend, where x is the y of the link before. */
struct link {
    int64_t cols;
    enum tw_type type; /* of y */
    enum tw_type weight_type;
    void *weights; /* cols rows of the x's length */
    float *bias;
    int gelu, addend; /* addend: of which link the y is added; -1: of none */
    void *y;
};

struct chain {
    int64_t rows;
    int n;
    struct link links[LINKS_MAX + 1]; /* the first one is the input: only cols, type and y */
};

static size_t bytes_of(const struct chain *c, int i)
{
    return (size_t)c->rows * tw_row_bytes(c->links[i].type, c->links[i].cols);
}

static void *random_numbers(struct tw_random *r, enum tw_type type, int64_t cols, int64_t rows, float size)
{
    float *line = memory((size_t)cols * sizeof *line);
    unsigned char *all = memory((size_t)rows * tw_row_bytes(type, cols));
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            line[j] = size * (float)(2 * tw_random_unit(r) - 1);
        tw_row_from_f32(type, line, all + (size_t)i * tw_row_bytes(type, cols), cols);
    }
    free(line);
    return all;
}

/* An earlier y of the same shape in f32, if there is one. */
static int find_addend(const struct chain *c, int i)
{
    for (int k = i - 1; k > 0; k--)
        if (c->links[k].cols == c->links[i].cols && c->links[k].type == TW_F32)
            return k;
    return -1;
}

static void make_link(struct chain *c, int i, struct tw_random *r, int64_t side)
{
    static const enum tw_type types[] = {TW_F32, TW_F16, TW_BF16, TW_Q8_0, TW_Q5_0};
    struct link *l = &c->links[i];
    const int64_t k = c->links[i - 1].cols;
    l->cols = i > 2 && tw_random_range(r, 0, 1) ? c->links[i - 2].cols : sample_side(r, 2, side);
    l->type = tw_random_range(r, 0, 1) ? TW_F32 : TW_BF16;
    l->weight_type = types[tw_random_range(r, 0, k % 32 == 0 ? 4 : 2)];
    l->weights = random_numbers(r, l->weight_type, k, l->cols, sqrtf(3.0f / (float)k));
    l->bias = tw_random_range(r, 0, 1) ? random_numbers(r, TW_F32, l->cols, 1, 1) : NULL;
    l->gelu = tw_random_range(r, 0, 2) == 0;
    l->addend = tw_random_range(r, 0, 1) ? find_addend(c, i) : -1;
    l->y = memory(bytes_of(c, i));
}

static void make_chain(struct chain *c, uint64_t seed)
{
    struct tw_random r = {seed};
    const int64_t side = is_long() ? 1000 : 100;
    *c = (struct chain){.rows = sample_side(&r, 2, side), .n = (int)tw_random_range(&r, 2, LINKS_MAX)};
    c->links[0].cols = tw_random_range(&r, 0, 1) ? 32 * tw_random_range(&r, 1, side / 32) : sample_side(&r, 2, side);
    c->links[0].type = tw_random_range(&r, 0, 1) ? TW_F32 : TW_BF16;
    c->links[0].y = random_numbers(&r, c->links[0].type, c->links[0].cols, c->rows, 1);
    for (int i = 1; i <= c->n; i++)
        make_link(c, i, &r, side);
}

static void free_chain(struct chain *c)
{
    for (int i = 0; i <= c->n; i++) {
        free(c->links[i].weights);
        free(c->links[i].bias);
        free(c->links[i].y);
    }
}

static tw_id bind_y(struct tw_graph *g, const struct chain *c, int i, void *y)
{
    return tw_graph_bind(g, "y", c->links[i].type, c->links[i].cols, c->rows, 1, y);
}

static void add_link(struct tw_graph *g, const struct chain *c, int i, tw_id x, tw_id y, tw_id addend)
{
    const struct link *l = &c->links[i];
    const int64_t k = c->links[i - 1].cols;
    const tw_id w = tw_graph_constant(g, "W", l->weight_type, k, l->cols, 1, l->weights);
    const tw_id bias = l->bias != NULL ? tw_graph_constant(g, "bias", TW_F32, l->cols, 1, 1, l->bias) : TW_NONE;
    tw_graph_product_onto(g, y, x, w, bias, addend, (struct tw_product_options){.gelu = l->gelu});
}

static void run_graph(struct tw_graph *g, struct tw_engine *engine)
{
    struct tw_error err = {0};
    if (tw_graph_finish(g, &err) != 0 || tw_engine_run(engine, g, &err) != 0)
        fail_msg("%s", err.text);
    tw_graph_destroy(g);
}

/* Only the last y is kept, in `last`; or with `all` each, in its link, whatever is in `last`. */
static void run_chain(struct chain *c, struct tw_engine *engine, int all, void *last)
{
    struct tw_graph *g = tw_graph_create();
    tw_id y[LINKS_MAX + 1];
    assert_non_null(g);
    y[0] = bind_y(g, c, 0, c->links[0].y);
    for (int i = 1; i <= c->n; i++) {
        const struct link *l = &c->links[i];
        y[i] = i == c->n && !all ? bind_y(g, c, i, last) : tw_graph_temp(g, "t", l->type, l->cols, c->rows, 1);
        add_link(g, c, i, y[i - 1], y[i], l->addend < 0 ? TW_NONE : y[l->addend]);
    }
    for (int i = 1; all && i <= c->n; i++)
        tw_graph_copy(g, bind_y(g, c, i, c->links[i].y), y[i]);
    run_graph(g, engine);
}

/* Link i of what earlier links have left in memory. */
static void run_alone(const struct chain *c, int i, struct tw_engine *engine, void *y)
{
    struct tw_graph *g = tw_graph_create();
    const int addend = c->links[i].addend;
    assert_non_null(g);
    const tw_id x = bind_y(g, c, i - 1, c->links[i - 1].y);
    const tw_id d = addend < 0 ? TW_NONE : addend == i - 1 ? x : bind_y(g, c, addend, c->links[addend].y);
    add_link(g, c, i, x, bind_y(g, c, i, y), d);
    run_graph(g, engine);
}

static float *widened(enum tw_type type, const void *rows, int64_t cols, int64_t n)
{
    float *all = memory((size_t)(cols * n) * sizeof *all);
    for (int64_t i = 0; i < n; i++)
        tw_row_to_f32(type, (const unsigned char *)rows + (size_t)i * tw_row_bytes(type, cols), all + i * cols, cols);
    return all;
}

static double check_link(const struct chain *c, int i, struct tw_pool *pool)
{
    const struct link *l = &c->links[i], *before = &c->links[i - 1];
    const int64_t k = before->cols;
    float *w = widened(l->weight_type, l->weights, k, l->cols);
    struct reference x = {.m = c->rows,
                          .k = k,
                          .n = l->cols,
                          .a = widened(before->type, before->y, k, c->rows),
                          .b = memory((size_t)(k * l->cols) * sizeof(float)),
                          .bias = l->bias,
                          .found = widened(l->type, l->y, l->cols, c->rows),
                          .gelu = l->gelu,
                          .bf16_out = l->type == TW_BF16};
    for (int64_t j = 0; j < l->cols; j++)
        for (int64_t p = 0; p < k; p++)
            x.b[p * l->cols + j] = w[j * k + p];
    if (l->addend >= 0)
        x.addend = widened(TW_F32, c->links[l->addend].y, l->cols, c->rows);
    reference_round(x.a, c->rows * k);
    reference_round(x.b, k * l->cols);
    const double worst = reference_check(&x, pool, "link of a chain");
    free(w);
    free(x.a);
    free(x.b);
    free(x.found);
    free(x.addend);
    return worst;
}

static void check_chain(struct chain *c, struct tw_engine *engine, struct tw_pool *pool)
{
    run_chain(c, engine, 1, NULL);
    void *last = memory(bytes_of(c, c->n));
    run_chain(c, engine, 0, last);
    assert_memory_equal(last, c->links[c->n].y, bytes_of(c, c->n));
    free(last);
    for (int i = 1; i <= c->n; i++) {
        void *alone = memory(bytes_of(c, i));
        check_link(c, i, pool);
        run_alone(c, i, engine, alone);
        assert_memory_equal(alone, c->links[i].y, bytes_of(c, i));
        free(alone);
    }
}

static void in_a_chain_or_alone(void **state)
{
    struct tw_engine *engine = emulated_engine(0, TW_VERIFY_NONE);
    struct tw_pool *pool;
    const int chains = is_long() ? 60 : 12;
    uint64_t products = 0;
    (void)state;
    assert_int_equal(tw_pool_create(0, &pool, NULL), 0);
    for (int i = 0; i < chains; i++) {
        struct chain c;
        make_chain(&c, 100 + (uint64_t)i);
        check_chain(&c, engine, pool);
        products += 3 * (uint64_t)c.n;
        for (int k = 0; k <= c.n; k++)
            if (c.links[k].weights != NULL) {
                tw_engine_forget(engine, c.links[k].weights, 1);
                tw_engine_forget(engine, c.links[k].bias, c.links[k].bias != NULL);
            }
        free_chain(&c);
    }
    const struct tw_engine_counts counts = engine_expect_clean(engine);
    assert_int_equal(counts.products_on_npu, products);
    print_message("%d chains, %llu products in %llu launches\n", chains, (unsigned long long)counts.products_on_npu,
                  (unsigned long long)counts.launches);
    tw_pool_destroy(pool);
    tw_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(whatever_ran_before),
        cmocka_unit_test(in_a_chain_or_alone),
    };
    return cmocka_run_group_tests_name("shapes_same", tests, NULL, NULL);
}
