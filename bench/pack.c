/*
 * Speed of what prepares and proves the array's products: weights put into the order of its stream, floats rounded to
 * bf16, and checksums. The last number of each table of kernels is the time of memcpy, on as many threads and for as
 * many bytes read and written together, over the time of the operation: 1 is what the memory allows. Operation and
 * memcpy take turns, and the fastest of several rounds counts.
 *
 *     pack [THREADS [KERNELS]]
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "host/checksum.h"
#include "host/kernels.h"
#include "host/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES 4
#define ROUNDS 15
#define COPY_PIECE 65536 /* bytes that one task of memcpy moves */

enum kind { PACK, PACK_ROWS, CONVERT, CHECK, CHECK_GELU };

struct bench_case {
    enum kind kind;
    enum tw_type type; /* of the weights; CHECK: and of C, f32 or bf16 */
    int64_t m, k, n;   /* PACK: k x n; CONVERT: n rows of k, m numbers from row to row; CHECK: all */
};

/* Weights of large-v3-turbo's and base's encoders. */
static const struct bench_case cases[] = {
    {PACK, TW_F32, 0, 1280, 5120},          {PACK, TW_F16, 0, 1280, 5120},       {PACK, TW_BF16, 0, 1280, 5120},
    {PACK, TW_Q8_0, 0, 1280, 5120},         {PACK, TW_Q5_0, 0, 1280, 5120},      {PACK, TW_F32, 0, 5120, 1280},
    {PACK, TW_F16, 0, 5120, 1280},          {PACK, TW_BF16, 0, 5120, 1280},      {PACK, TW_F16, 0, 512, 2048},
    {PACK_ROWS, TW_F32, 0, 1280, 5120},     {PACK_ROWS, TW_F16, 0, 1280, 5120},  {PACK_ROWS, TW_BF16, 0, 1280, 5120},
    {CONVERT, TW_F32, 5120, 5120, 1500},    {CONVERT, TW_F32, 1536, 1280, 1500}, {CHECK, TW_F16, 1500, 1280, 5120},
    {CHECK, TW_F32, 384, 1280, 1280},       {CHECK, TW_F16, 384, 1280, 1280},    {CHECK, TW_BF16, 384, 1280, 1280},
    {CHECK, TW_Q8_0, 384, 1280, 1280},      {CHECK, TW_Q5_0, 384, 1280, 1280},   {CHECK_GELU, TW_F16, 1500, 512, 2048},
    {CHECK_GELU, TW_F16, 1500, 1280, 5120},
};

struct work {
    const struct bench_case *c;
    struct tw_host *host;
    unsigned char *a, *b, *out;
    size_t read, written; /* bytes */
    struct tw_graph *g;   /* CONVERT */
};

static void give_up(const struct tw_error *err)
{
    fprintf(stderr, "pack: %s\n", err->text);
    exit(1);
}

static unsigned char *memory(size_t bytes)
{
    unsigned char *p = tw_alloc(bytes);
    if (p == NULL)
        exit(1);
    memset(p, 0, bytes);
    return p;
}

static unsigned char *weights(enum tw_type type, int64_t cols, int64_t rows)
{
    struct tw_random random = {(uint64_t)cols};
    float *line = tw_alloc((size_t)cols * sizeof *line);
    const size_t bytes = tw_row_bytes(type, cols);
    unsigned char *p = memory(bytes * (size_t)rows);
    for (int64_t r = 0; line != NULL && r < rows; r++) {
        for (int64_t i = 0; r % 64 == 0 && i < cols; i++)
            line[i] = (float)(tw_random_unit(&random) - 0.5);
        tw_row_from_f32(type, line, p + (size_t)r * bytes, cols);
    }
    free(line);
    return p;
}

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

/* C is not computed: its sums take as long when they are wrong. */
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
                                .gelu_error = 1e30F,
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
        w->b = weights(TW_F32, c->m, c->n);
        w->out = memory(2 * (size_t)(c->m * c->n));
        w->g = tw_graph_create();
        tw_id x = tw_graph_bind(w->g, "x", TW_F32, c->m, c->n, 1, w->b);
        tw_id y = tw_graph_bind(w->g, "y", TW_BF16, c->m, c->n, 1, w->out);
        tw_graph_copy(w->g, tw_graph_view(w->g, y, c->k, c->n, 1, 0, 2 * (size_t)c->m, 0),
                      tw_graph_view(w->g, x, c->k, c->n, 1, 0, 4 * (size_t)c->m, 0));
        if (tw_graph_finish(w->g, &err) < 0)
            give_up(&err);
        w->read = 4 * (size_t)(c->k * c->n);
        w->written = w->read / 2;
        return;
    }
    w->b = c->kind == PACK_ROWS ? weights(c->type, c->n, c->k) : weights(c->type, c->k, c->n);
    w->read = tw_row_bytes(c->type, c->k) * (size_t)c->n;
    if (c->kind == CHECK || c->kind == CHECK_GELU) {
        w->a = weights(TW_BF16, c->k, c->m);
        w->out = weights(c->type == TW_BF16 ? TW_BF16 : TW_F32, c->n, c->m);
        /* A is read twice. */
        w->read += 4 * (size_t)(c->m * c->k) + (c->type == TW_BF16 ? 2 : 4) * (size_t)(c->m * c->n);
    } else {
        const struct tw_pack p = pack_of(w);
        w->written = tw_pack_bytes(&p);
        w->out = memory(w->written);
    }
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
        give_up(&err);
}

struct copy {
    unsigned char *from, *to;
    size_t bytes;
};

static void copy_piece(void *arg, size_t index, unsigned worker)
{
    const struct copy *c = arg;
    const size_t at = index * COPY_PIECE;
    (void)worker;
    memcpy(c->to + at, c->from + at, c->bytes - at < COPY_PIECE ? c->bytes - at : COPY_PIECE);
}

static double time_copy(struct tw_host *host, struct copy *c)
{
    const double start = tw_seconds();
    tw_pool_run(tw_host_pool(host), (c->bytes + COPY_PIECE - 1) / COPY_PIECE, copy_piece, c);
    return tw_seconds() - start;
}

static double time_run(const struct work *w)
{
    const double start = tw_seconds();
    run(w);
    return tw_seconds() - start;
}

static void run_case(const struct bench_case *c, struct tw_host **hosts, int n)
{
    static const char *const names[] = {"pack", "pack rows", "to bf16", "check", "check gelu"};
    struct work w = {.c = c};
    double best[TABLES], best_copy = 0;
    prepare(&w);
    struct copy copy = {.bytes = (w.read + w.written) / 2};
    copy.from = memory(copy.bytes);
    copy.to = memory(copy.bytes);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < n; i++) {
            w.host = hosts[i];
            const double t = time_run(&w), t_copy = time_copy(hosts[i], &copy);
            best[i] = round == 0 || t < best[i] ? t : best[i];
            best_copy = (round == 0 && i == 0) || t_copy < best_copy ? t_copy : best_copy;
        }
    printf("%-10s %-5s %5lld x %5lld x %5lld  memcpy %5.1f GB/s", names[c->kind], tw_type_info(c->type)->name,
           (long long)c->m, (long long)c->k, (long long)c->n, (double)(w.read + w.written) / best_copy * 1e-9);
    for (int i = 0; i < n; i++)
        printf(" | %-6s %6.2f ms %5.2f", tw_host_kernels(hosts[i]), best[i] * 1e3, best_copy / best[i]);
    printf("\n");
    fflush(stdout);
    free(copy.from);
    free(copy.to);
    release(&w);
}

int main(int argc, char **argv)
{
    struct tw_error err;
    struct tw_host *hosts[TABLES];
    struct tw_host_options options = {.threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0};
    int n = 0;
    const struct tw_kernels *k;
    for (unsigned i = 0; n < TABLES && (k = tw_kernels_at(i)) != NULL; i++) {
        options.kernels = k->name;
        if (argc > 2 && strcmp(argv[2], k->name) != 0)
            continue;
        if (tw_host_create(&options, &hosts[n++], &err) < 0)
            give_up(&err);
    }
    if (n == 0) {
        fprintf(stderr, "pack: no kernels called '%s' here\n", argv[2]);
        return 1;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], hosts, n);
    for (int i = 0; i < n; i++)
        tw_host_destroy(hosts[i]);
    return 0;
}
