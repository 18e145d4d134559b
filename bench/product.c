/*
 * Speed of products and attention, on Whisper's shapes, for every table of kernels that this processor can run. All
 * tables take turns within one run, and the best of several rounds counts, so that a busy machine does not change the
 * ratio between them.
 *
 *     product [THREADS [KERNELS]]
 */
#include "host_tables.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 7
#define ROUND_SECONDS 0.02 /* a round repeats a short case for so long */

enum kind { PRODUCT, GELU_PRODUCT, ATTENTION };

struct bench_case {
    enum kind kind;
    enum tw_type type; /* of the weights; of keys and values */
    int64_t m, k, n;   /* attention: queries, dimensions of all heads, keys */
    int32_t heads;
};

static const struct bench_case cases[] = {
    /* base's encoder */
    {PRODUCT, TW_F16, 1500, 512, 512, 0},
    {GELU_PRODUCT, TW_F16, 1500, 512, 2048, 0},
    {PRODUCT, TW_F16, 1500, 2048, 512, 0},
    {GELU_PRODUCT, TW_F16, 3000, 240, 512, 0},
    {GELU_PRODUCT, TW_F16, 1500, 1536, 512, 0},
    {ATTENTION, TW_F32, 1500, 512, 1500, 8},
    /* one shape, every type */
    {PRODUCT, TW_F32, 1500, 512, 2048, 0},
    {PRODUCT, TW_F16, 1500, 512, 2048, 0},
    {PRODUCT, TW_BF16, 1500, 512, 2048, 0},
    {PRODUCT, TW_Q5_0, 1500, 512, 2048, 0},
    {PRODUCT, TW_Q8_0, 1500, 512, 2048, 0},
    /* the smallest and the largest model */
    {PRODUCT, TW_F16, 1500, 384, 1536, 0},
    {PRODUCT, TW_F16, 1500, 1280, 5120, 0},
    {PRODUCT, TW_F16, 1500, 5120, 1280, 0},
    /* a prompt, and the change from few rows to many */
    {PRODUCT, TW_F16, 224, 512, 2048, 0},
    {PRODUCT, TW_F16, 25, 512, 2048, 0},
    {PRODUCT, TW_F16, 24, 512, 2048, 0},
    {PRODUCT, TW_Q5_0, 17, 512, 2048, 0},
    {PRODUCT, TW_Q5_0, 16, 512, 2048, 0},
    /* a decoder's step: beam 5, then one row */
    {PRODUCT, TW_F16, 5, 512, 2048, 0},
    {PRODUCT, TW_F16, 5, 512, 51865, 0},
    {ATTENTION, TW_F16, 5, 512, 1500, 8},
    {PRODUCT, TW_F16, 1, 512, 2048, 0},
    {PRODUCT, TW_F32, 1, 512, 51865, 0},
    {PRODUCT, TW_F16, 1, 512, 51865, 0},
    {PRODUCT, TW_Q5_0, 1, 512, 51865, 0},
    {PRODUCT, TW_Q8_0, 1, 512, 51865, 0},
    {ATTENTION, TW_F16, 1, 512, 1500, 8},
    {ATTENTION, TW_F16, 1, 512, 224, 8},
};

struct memory {
    float *a, *out, *bias;
    void *b, *c;
};

static struct memory memory_of(const struct bench_case *c)
{
    int64_t out_cols = c->kind == ATTENTION ? c->k : c->n;
    struct memory m = {.a = random_floats(c->m * c->k), .out = random_floats(c->m * out_cols)};
    m.bias = random_floats(c->n);
    m.b = random_rows(c->type, c->k, c->n);
    m.c = c->kind == ATTENTION ? random_rows(c->type, c->k, c->n) : NULL;
    return m;
}

static void release(struct memory *m)
{
    free(m->a);
    free(m->out);
    free(m->bias);
    free(m->b);
    free(m->c);
}

static struct tw_graph *graph_of(const struct bench_case *c, const struct memory *m)
{
    struct tw_error err;
    struct tw_graph *g = tw_graph_create();
    if (g == NULL)
        exit(1);
    tw_id a = tw_graph_bind(g, "a", TW_F32, c->k, c->m, 1, m->a);
    tw_id b = tw_graph_constant(g, "b", c->type, c->k, c->n, 1, m->b);
    tw_id out = tw_graph_bind(g, "out", TW_F32, c->kind == ATTENTION ? c->k : c->n, c->m, 1, m->out);
    if (c->kind == ATTENTION) {
        tw_id v = tw_graph_constant(g, "v", c->type, c->k, c->n, 1, m->c);
        tw_graph_attention(g, out, a, b, v, c->heads, 0.125f, 0, 0);
    } else {
        tw_id bias = tw_graph_constant(g, "bias", TW_F32, c->n, 1, 1, m->bias);
        tw_graph_product(g, out, a, b, bias, (struct tw_product_options){.gelu = c->kind == GELU_PRODUCT});
    }
    if (tw_graph_finish(g, &err) < 0)
        give_up("product", &err);
    return g;
}

/* Seconds of one run, from at least one run and at least ROUND_SECONDS. */
static double time_round(struct tw_host *host, const struct tw_graph *g)
{
    struct tw_error err;
    double start = tw_seconds(), passed;
    int runs = 0;
    do {
        if (tw_host_run(host, g, &err) < 0)
            give_up("product", &err);
        runs++;
        passed = tw_seconds() - start;
    } while (passed < ROUND_SECONDS);
    return passed / runs;
}

static double operations(const struct bench_case *c)
{
    return (c->kind == ATTENTION ? 4.0 : 2.0) * (double)c->m * (double)c->k * (double)c->n;
}

static double weight_bytes(const struct bench_case *c)
{
    return (double)tw_row_bytes(c->type, c->k) * (double)c->n * (c->kind == ATTENTION ? 2 : 1);
}

static void run_case(const struct bench_case *c, const struct host_tables *t)
{
    static const char *const names[] = {"product", "product+gelu", "attention"};
    struct memory m = memory_of(c);
    struct tw_graph *g = graph_of(c, &m);
    double best[TABLES_MAX];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < t->n; i++) {
            double seconds = time_round(t->hosts[i], g);
            if (round == 0 || seconds < best[i])
                best[i] = seconds;
        }
    printf("%-12s %-5s %5lld x %5lld x %5lld ", names[c->kind], tw_type_info(c->type)->name, (long long)c->m,
           (long long)c->k, (long long)c->n);
    for (int i = 0; i < t->n; i++)
        printf(" | %-6s %9.1f us %6.1f GFLOPS %5.1f GB/s %5.2fx", tw_host_kernels(t->hosts[i]), best[i] * 1e6,
               operations(c) / best[i] * 1e-9, weight_bytes(c) / best[i] * 1e-9, best[t->n - 1] / best[i]);
    printf("\n");
    fflush(stdout);
    tw_graph_destroy(g);
    release(&m);
}

int main(int argc, char **argv)
{
    const unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    struct host_tables t = host_tables_open("product", threads, argc > 2 ? argv[2] : NULL);
    printf("%u threads; times, speeds, bytes of weights a second, and how much faster than the last table\n",
           tw_host_threads(t.hosts[0]));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], &t);
    host_tables_close(&t);
    return 0;
}
