/*
 * Speed of the operations that are no products, on the shapes of Whisper's encoder when its products run on the array:
 * base and large-v3-turbo. A copy of as many bytes as the operation reads and writes, by memcpy on as many threads, is
 * what the memory allows; its time over that of the operation is the last number. All tables of kernels take turns,
 * and the fastest run of several rounds counts.
 *
 *     rows [WORD [KERNELS]]    WORD: cases whose name has it; "." for all
 */
#include "host_tables.h"

#include "base/clock.h"
#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 2
#define ROUNDS 7
#define ROUND_SECONDS 0.02 /* a round repeats a short case for so long */

struct bench_case {
    const char *name;
    enum tw_op_kind kind;
    enum tw_type x, out;
    int64_t cols, rows, batch;
    int64_t pitch;  /* numbers from row to row of x and out; 0: cols */
    int32_t stride; /* IM2COL, with three taps */
    int in_place;
};

#define NORM TW_OP_LAYER_NORM
static const struct bench_case cases[] = {
    {"base softmax", TW_OP_SOFTMAX, TW_BF16, TW_BF16, 1500, 1500, 8, 1536, 0, 1},
    {"base layer norm", NORM, TW_F32, TW_BF16, 512, 1500, 1, 0, 0, 0},
    {"base layer norm", NORM, TW_F32, TW_F32, 512, 1500, 1, 0, 0, 0},
    {"base add", TW_OP_ADD, TW_F32, TW_F32, 512, 1500, 1, 0, 0, 1},
    {"base add", TW_OP_ADD, TW_BF16, TW_F32, 512, 1500, 1, 0, 0, 0},
    {"base add", TW_OP_ADD, TW_BF16, TW_BF16, 512, 1500, 1, 0, 0, 1},
    {"base copy", TW_OP_COPY, TW_F32, TW_BF16, 512, 1500, 1, 0, 0, 0},
    {"base copy", TW_OP_COPY, TW_F32, TW_BF16, 64, 1500, 8, 512, 0, 0},
    {"base copy", TW_OP_COPY, TW_BF16, TW_F32, 512, 1500, 1, 0, 0, 0},
    {"base copy", TW_OP_COPY, TW_F16, TW_BF16, 512, 1500, 1, 0, 0, 0},
    {"base copy", TW_OP_COPY, TW_BF16, TW_BF16, 512, 1500, 1, 544, 0, 0},
    {"base im2col 1", TW_OP_IM2COL, TW_F32, TW_BF16, 80, 3000, 1, 0, 1, 0},
    {"base im2col 2", TW_OP_IM2COL, TW_F32, TW_BF16, 512, 3000, 1, 0, 2, 0},
    {"base im2col 2", TW_OP_IM2COL, TW_BF16, TW_BF16, 512, 3000, 1, 0, 2, 0},
    {"base im2col 2", TW_OP_IM2COL, TW_F32, TW_F32, 512, 3000, 1, 0, 2, 0},
    {"base gelu", TW_OP_GELU, TW_F32, TW_F32, 2048, 1500, 1, 0, 0, 1},
    {"base gelu", TW_OP_GELU, TW_BF16, TW_BF16, 2048, 1500, 1, 0, 0, 1},
    {"base scale", TW_OP_SCALE, TW_BF16, TW_BF16, 2048, 1500, 1, 0, 0, 1},
    {"base transpose", TW_OP_TRANSPOSE, TW_F32, TW_F32, 1500, 512, 1, 0, 0, 0},
    {"base transpose", TW_OP_TRANSPOSE, TW_BF16, TW_BF16, 1500, 512, 1, 0, 0, 0},
    {"turbo softmax", TW_OP_SOFTMAX, TW_BF16, TW_BF16, 1500, 1500, 20, 1536, 0, 1},
    {"turbo layer norm", NORM, TW_F32, TW_BF16, 1280, 1500, 1, 0, 0, 0},
    {"turbo add", TW_OP_ADD, TW_F32, TW_F32, 1280, 1500, 1, 0, 0, 1},
    {"turbo copy", TW_OP_COPY, TW_F32, TW_BF16, 1280, 1500, 1, 0, 0, 0},
    {"turbo copy", TW_OP_COPY, TW_BF16, TW_F32, 1280, 1500, 1, 0, 0, 0},
    {"turbo im2col 1", TW_OP_IM2COL, TW_F32, TW_BF16, 128, 3000, 1, 0, 1, 0},
    {"turbo im2col 2", TW_OP_IM2COL, TW_F32, TW_BF16, 1280, 3000, 1, 0, 2, 0},
    {"turbo gelu", TW_OP_GELU, TW_BF16, TW_BF16, 5120, 1500, 1, 0, 0, 1},
    {"turbo transpose", TW_OP_TRANSPOSE, TW_BF16, TW_BF16, 1500, 1280, 1, 0, 0, 0},
};

/* Numbers of a normal size, a few thousand different ones over and over. */
static void *random_matrix(enum tw_type type, int64_t n)
{
    enum { PERIOD = 4093 };
    float numbers[PERIOD];
    struct tw_random random = {(uint64_t)n};
    unsigned char *p = zeros(tw_row_bytes(type, n));
    for (int i = 0; i < PERIOD; i++)
        numbers[i] = (float)(4 * tw_random_unit(&random) - 2);
    for (int64_t i = 0; i < n; i += PERIOD)
        tw_row_from_f32(type, numbers, p + tw_row_bytes(type, i), n - i < PERIOD ? n - i : PERIOD);
    return p;
}

struct shape {
    int64_t cols, rows;
};

static struct shape out_shape(const struct bench_case *c)
{
    if (c->kind == TW_OP_TRANSPOSE)
        return (struct shape){c->rows, c->cols};
    if (c->kind == TW_OP_IM2COL)
        return (struct shape){3 * c->cols, (c->rows - 1) / c->stride + 1};
    return (struct shape){c->cols, c->rows};
}

/* A matrix whose rows lie c->pitch numbers apart; batches side by side in a row when they fit, else one after another.
 */
static tw_id operand(struct tw_graph *g, const struct bench_case *c, enum tw_type type, struct shape s, void *data)
{
    if (c->pitch == 0)
        return tw_graph_bind(g, "matrix", type, s.cols, s.rows, c->batch, data);
    int beside = c->pitch == c->cols * c->batch;
    size_t row = tw_row_bytes(type, c->pitch), matrix = beside ? tw_row_bytes(type, s.cols) : row * (size_t)s.rows;
    tw_id all = tw_graph_bind(g, "memory", type, c->pitch, s.rows, beside ? 1 : c->batch, data);
    return tw_graph_view(g, all, s.cols, s.rows, c->batch, 0, row, matrix);
}

static void add_operation(struct tw_graph *g, const struct bench_case *c, tw_id out, tw_id x, void *vectors)
{
    tw_id gain = tw_graph_constant(g, "gain", TW_F32, c->cols, 1, 1, vectors);
    switch (c->kind) {
    case TW_OP_SOFTMAX:
        tw_graph_softmax(g, out, x, 0.125f, 0, 0);
        break;
    case TW_OP_LAYER_NORM:
        tw_graph_layer_norm(g, out, x, gain, gain, 1e-5f);
        break;
    case TW_OP_COPY:
        tw_graph_copy(g, out, x);
        break;
    case TW_OP_IM2COL:
        tw_graph_im2col(g, out, x, 3, c->stride);
        break;
    case TW_OP_GELU:
        tw_graph_gelu(g, out, x);
        break;
    case TW_OP_SCALE:
        tw_graph_scale(g, out, x, -1);
        break;
    case TW_OP_TRANSPOSE:
        tw_graph_transpose(g, out, x);
        break;
    default: /* ADD: what is added has the type of x */
        tw_graph_add(g, out, x, tw_graph_bind(g, "y", c->x, c->cols, c->rows, c->batch, vectors));
    }
}

static void keep_best(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

/* Seconds of the fastest run, of at least one and of what fits ROUND_SECONDS. */
static double time_graph(struct tw_host *host, const struct tw_graph *g)
{
    struct tw_error err;
    double first = tw_seconds(), start = first, best = 0;
    while (best == 0 || start - first < ROUND_SECONDS) {
        if (tw_host_run(host, g, &err) < 0)
            give_up("rows", &err);
        double end = tw_seconds();
        keep_best(&best, end - start);
        start = end;
    }
    return best;
}

static double time_copy(struct tw_host *host, const struct copy *c)
{
    double first = tw_seconds(), best = 0;
    while (best == 0 || tw_seconds() - first < ROUND_SECONDS)
        keep_best(&best, copy_seconds(host, c));
    return best;
}

/* Bytes that the operation reads and writes at least. */
static double bytes_of(const struct bench_case *c)
{
    struct shape s = out_shape(c);
    int operands = c->kind == TW_OP_ADD ? 2 : 1;
    return (double)c->batch *
           ((double)tw_row_bytes(c->x, c->cols * c->rows) * operands + (double)tw_row_bytes(c->out, s.cols * s.rows));
}

static void print_case(const struct bench_case *c, const struct host_tables *tables, double (*best)[THREADS],
                       const double *copies)
{
    for (int i = 0; i < tables->n; i++) {
        printf("%-16s %4s -> %-4s %2lld x %4lld x %4lld  %-6s", c->name, tw_type_info(c->x)->name,
               tw_type_info(c->out)->name, (long long)c->batch, (long long)c->rows, (long long)c->cols,
               tw_host_kernels(tables->hosts[i]));
        for (int t = 0; t < THREADS; t++)
            printf(" | %8.3f ms %5.1f GB/s %4.0f %%", best[i][t] * 1e3, bytes_of(c) / best[i][t] * 1e-9,
                   100 * copies[t] / best[i][t]);
        printf("\n");
    }
    fflush(stdout);
}

static struct tw_graph *graph_of(const struct bench_case *c, void *x, void *out, void *vectors)
{
    struct tw_error err;
    struct tw_graph *g = tw_graph_create();
    if (g == NULL)
        exit(1);
    tw_id from = operand(g, c, c->x, (struct shape){c->cols, c->rows}, x);
    add_operation(g, c, c->in_place ? from : operand(g, c, c->out, out_shape(c), out), from, vectors);
    if (tw_graph_finish(g, &err) < 0)
        give_up("rows", &err);
    return g;
}

/* tables[t] has t + 1 threads. */
static void run_case(const struct bench_case *c, const struct host_tables *tables)
{
    struct shape s = out_shape(c);
    int64_t pitch = c->pitch == 0 ? c->cols : c->pitch, out_pitch = c->pitch == 0 ? s.cols : c->pitch;
    void *x = random_matrix(c->x, pitch * c->rows * c->batch);
    void *out = random_matrix(c->out, out_pitch * s.rows * c->batch);
    void *vectors = random_matrix(TW_F32, c->cols * (c->kind == TW_OP_ADD ? c->rows * c->batch : 1));
    struct copy copy = copy_create((size_t)bytes_of(c) / 2);
    struct tw_graph *g = graph_of(c, x, out, vectors);
    double best[TABLES_MAX][THREADS] = {{0}}, copies[THREADS] = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (int t = 0; t < THREADS; t++) {
            keep_best(&copies[t], time_copy(tables[t].hosts[0], &copy));
            for (int i = 0; i < tables[t].n; i++)
                keep_best(&best[i][t], time_graph(tables[t].hosts[i], g));
        }
    print_case(c, tables, best, copies);
    tw_graph_destroy(g);
    free(x);
    free(out);
    free(vectors);
    copy_free(&copy);
}

int main(int argc, char **argv)
{
    struct host_tables tables[THREADS];
    for (unsigned t = 0; t < THREADS; t++)
        tables[t] = host_tables_open("rows", t + 1, argc > 2 ? argv[2] : NULL);
    printf("matrices x rows x columns of the input; for 1 and 2 threads: time, speed, and speed as part of memcpy's\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 2 || strcmp(argv[1], ".") == 0 || strstr(cases[i].name, argv[1]) != NULL)
            run_case(&cases[i], tables);
    for (int t = 0; t < THREADS; t++)
        host_tables_close(&tables[t]);
    return 0;
}
