/*
 * Speed of what prepares and proves the array's products: weights put into the order of its stream, floats rounded to
 * bf16, and checksums. The last number of each table of kernels is the time of memcpy, on as many threads and for as
 * many bytes read and written together, over the time of the operation: 1 is what the memory allows. Operation and
 * memcpy take turns, and the fastest of several rounds counts.
 *
 *     pack [THREADS [KERNELS]]
 */
#include "host_tables.h"

#include "base/clock.h"
#include "host/checksum.h"
#include "host/pack.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 15

enum kind { PACK, PACK_ROWS, CONVERT, CHECK, CHECK_GELU };

struct bench_case {
    enum kind kind;
    enum tw_type type; /* of the weights; CHECK: and of C, f32 or bf16 */
    int64_t m, k, n;   /* PACK: k x n; CONVERT: n rows of k, m numbers from row to row; CHECK: all */
};

/* Weights of large-v3-turbo's and base's encoders. */
static const struct bench_case cases[] = {
    {PACK, TW_F32, 0, 1280, 5120},          {PACK, TW_F16, 0, 1280, 5120},
    {PACK, TW_BF16, 0, 1280, 5120},         {PACK, TW_Q8_0, 0, 1280, 5120},
    {PACK, TW_Q5_0, 0, 1280, 5120},         {PACK, TW_F32, 0, 5120, 1280},
    {PACK, TW_F16, 0, 5120, 1280},          {PACK, TW_BF16, 0, 5120, 1280},
    {PACK, TW_F16, 0, 512, 2048},           {PACK_ROWS, TW_F32, 0, 1280, 5120},
    {PACK_ROWS, TW_F16, 0, 1280, 5120},     {PACK_ROWS, TW_BF16, 0, 1280, 5120},
    {CONVERT, TW_F32, 5120, 5120, 1500},    {CONVERT, TW_F32, 1536, 1280, 1500},
    {CHECK, TW_F16, 1500, 1280, 5120},      {CHECK, TW_F32, 384, 1280, 1280},
    {CHECK, TW_F16, 384, 1280, 1280},       {CHECK, TW_BF16, 384, 1280, 1280},
    {CHECK, TW_Q8_0, 384, 1280, 1280},      {CHECK, TW_Q5_0, 384, 1280, 1280},
    {CHECK_GELU, TW_BF16, 1500, 512, 2048}, {CHECK_GELU, TW_BF16, 1500, 1280, 5120},
};

struct work {
    const struct bench_case *c;
    struct tw_host *host;
    unsigned char *a, *b, *out;
    size_t read, written; /* bytes */
    struct tw_graph *g;   /* CONVERT */
};

static struct tw_pack pack_of(const struct work *w)
{
    const struct bench_case *c = w->c;
    const int b_rows = c->kind == PACK_ROWS;
    const uint32_t block = 80;
    return (struct tw_pack){.type = c->type,
                            .data = w->b,
                            .row_stride = tw_row_bytes(c->type, b_rows ? c->n : c->k),
                            .b_rows = b_rows,
                            .k = c->k,
                            .n = c->n,
                            .block_columns = block,
                            .steps = (uint32_t)(c->k / 32),
                            .blocks = (uint32_t)((c->n + block - 1) / block)};
}

/* C is computed with GELU only: sums take as long when they are wrong. */
static struct tw_checksum checksum_of(const struct work *w)
{
    const struct bench_case *c = w->c;
    const enum tw_type out = c->type == TW_BF16 ? TW_BF16 : TW_F32;
    return (struct tw_checksum){.a_type = TW_BF16,
                                .a = w->a,
                                .a_stride = 2 * (size_t)c->k,
                                .b_type = c->type,
                                .b = w->b,
                                .b_stride = tw_row_bytes(c->type, c->k),
                                .gelu = c->kind == CHECK_GELU,
                                .out_type = out,
                                .out = w->out,
                                .out_stride = tw_row_bytes(out, c->n),
                                .m = c->m,
                                .k = c->k,
                                .n = c->n};
}

static void prepare(struct work *w)
{
    const struct bench_case *c = w->c;
    if (c->kind == CONVERT) {
        struct tw_error err;
        w->b = random_rows(TW_F32, c->m, c->n);
        w->out = zeros(2 * (size_t)(c->m * c->n));
        w->g = tw_graph_create();
        tw_id x = tw_graph_bind(w->g, "x", TW_F32, c->m, c->n, 1, w->b);
        tw_id y = tw_graph_bind(w->g, "y", TW_BF16, c->m, c->n, 1, w->out);
        tw_graph_copy(w->g, tw_graph_view(w->g, y, c->k, c->n, 1, 0, 2 * (size_t)c->m, 0),
                      tw_graph_view(w->g, x, c->k, c->n, 1, 0, 4 * (size_t)c->m, 0));
        if (tw_graph_finish(w->g, &err) < 0)
            give_up("pack", &err);
        w->read = 4 * (size_t)(c->k * c->n);
        w->written = w->read / 2;
        return;
    }
    w->b = c->kind == PACK_ROWS ? random_rows(c->type, c->n, c->k) : random_rows(c->type, c->k, c->n);
    w->read = tw_row_bytes(c->type, c->k) * (size_t)c->n;
    if (c->kind == CHECK || c->kind == CHECK_GELU) {
        w->a = random_rows(TW_BF16, c->k, c->m);
        w->out = random_rows(c->type == TW_BF16 ? TW_BF16 : TW_F32, c->n, c->m);
        /* A is read twice. */
        w->read += 4 * (size_t)(c->m * c->k) + (c->type == TW_BF16 ? 2 : 4) * (size_t)(c->m * c->n);
    } else {
        const struct tw_pack p = pack_of(w);
        w->written = tw_pack_bytes(&p);
        w->out = zeros(w->written);
    }
}

/* C as it should be. */
static void compute(const struct work *w)
{
    const struct bench_case *c = w->c;
    struct tw_error err;
    struct tw_graph *g = tw_graph_create();
    const tw_id a = tw_graph_constant(g, "a", TW_BF16, c->k, c->m, 1, w->a);
    const tw_id b = tw_graph_constant(g, "b", c->type, c->k, c->n, 1, w->b);
    const tw_id out = tw_graph_bind(g, "c", TW_BF16, c->n, c->m, 1, w->out);
    tw_graph_product(g, out, a, b, TW_NONE, (struct tw_product_options){.gelu = 1});
    if (tw_graph_finish(g, &err) < 0 || tw_host_run(w->host, g, &err) < 0)
        give_up("pack", &err);
    tw_graph_destroy(g);
}

static void release(struct work *w)
{
    free(w->a);
    free(w->b);
    free(w->out);
    tw_graph_destroy(w->g);
}

static void run(const struct work *w)
{
    struct tw_error err;
    int code;
    if (w->c->kind == CONVERT) {
        code = tw_host_run(w->host, w->g, &err);
    } else if (w->c->kind == CHECK || w->c->kind == CHECK_GELU) {
        const struct tw_checksum c = checksum_of(w);
        code = tw_host_check_product(w->host, &c, &err);
    } else {
        const struct tw_pack p = pack_of(w);
        code = tw_host_pack(w->host, &p, w->out, &err);
    }
    if (code < 0 && code != TW_E_CHECKSUM)
        give_up("pack", &err);
}

static double time_run(const struct work *w)
{
    const double start = tw_seconds();
    run(w);
    return tw_seconds() - start;
}

static void run_case(const struct bench_case *c, const struct host_tables *t)
{
    static const char *const names[] = {"pack", "pack rows", "to bf16", "check", "check gelu"};
    struct work w = {.c = c};
    double best[TABLES_MAX], best_copy = 0;
    prepare(&w);
    w.host = t->hosts[0];
    if (c->kind == CHECK_GELU)
        compute(&w);
    struct copy copy = copy_create((w.read + w.written) / 2);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < t->n; i++) {
            w.host = t->hosts[i];
            const double seconds = time_run(&w), t_copy = copy_seconds(t->hosts[i], &copy);
            best[i] = round == 0 || seconds < best[i] ? seconds : best[i];
            best_copy = (round == 0 && i == 0) || t_copy < best_copy ? t_copy : best_copy;
        }
    printf("%-10s %-5s %5lld x %5lld x %5lld  memcpy %5.1f GB/s", names[c->kind], tw_type_info(c->type)->name,
           (long long)c->m, (long long)c->k, (long long)c->n, (double)(w.read + w.written) / best_copy * 1e-9);
    for (int i = 0; i < t->n; i++)
        printf(" | %-6s %6.2f ms %5.2f", tw_host_kernels(t->hosts[i]), best[i] * 1e3, best_copy / best[i]);
    printf("\n");
    fflush(stdout);
    copy_free(&copy);
    release(&w);
}

int main(int argc, char **argv)
{
    const unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    struct host_tables t = host_tables_open("pack", threads, argc > 2 ? argv[2] : NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], &t);
    host_tables_close(&t);
    return 0;
}
