#include "cli/gemm.h"

#include "base/half.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double tw_gemm_macs(const struct tw_gemm *g)
{
    return (double)g->rows * g->depth * g->columns * g->chain;
}

/* All memory of the operands, in the order in which they are made. */
struct need {
    size_t a, b[2], bias[2], addend[2], c;
};

/* *bytes = rows * cols numbers; the sum of all counts in *all, so that nothing is too large for its type. */
static size_t matrix_bytes(int64_t rows, int64_t cols, size_t size, double *all)
{
    *all += (double)rows * (double)cols * (double)size;
    size_t numbers, bytes;
    return tw_mul_size((size_t)rows, (size_t)cols, &numbers) || tw_mul_size(numbers, size, &bytes) ? 0 : bytes;
}

static double list_needs(const struct tw_gemm *g, struct need *n)
{
    const int32_t last = g->chain - 1;
    double all = 0;
    *n = (struct need){0};
    n->a = matrix_bytes(g->rows, g->depth, g->a_f32 ? sizeof(float) : sizeof(uint16_t), &all);
    n->c = matrix_bytes(g->rows, tw_gemm_columns(g, last), g->out_bf16 ? sizeof(uint16_t) : sizeof(float), &all);
    for (int32_t i = 0; i < 2 && i < g->chain; i++) {
        n->b[i] = matrix_bytes(tw_gemm_columns(g, i), tw_gemm_depth(g, i), sizeof(uint16_t), &all);
        n->bias[i] = g->bias ? matrix_bytes(1, tw_gemm_columns(g, i), sizeof(float), &all) : 0;
        n->addend[i] = g->add ? matrix_bytes(g->rows, tw_gemm_columns(g, i), sizeof(float), &all) : 0;
    }
    return all;
}

static int check_memory(double bytes, struct tw_error *err)
{
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (bytes <= there / 4) /* the array's copies and what the emulator keeps of them come on top */
        return TW_OK;
    return tw_fail(err, TW_E_LIMIT, "operands of %.1f GiB need more memory than this machine has, %.1f GiB",
                   bytes / (1 << 30), there / (1 << 30));
}

static float number(struct tw_random *r, float size)
{
    return size * (float)(2 * tw_random_unit(r) - 1);
}

static uint16_t *random_bf16(size_t bytes, float size, struct tw_random *r)
{
    uint16_t *to = bytes > 0 ? malloc(bytes) : NULL;
    for (size_t i = 0; to != NULL && i < bytes / sizeof *to; i++)
        to[i] = tw_f32_to_bf16(number(r, size));
    return to;
}

static float *random_f32(size_t bytes, float size, struct tw_random *r)
{
    float *to = bytes > 0 ? malloc(bytes) : NULL;
    for (size_t i = 0; to != NULL && i < bytes / sizeof *to; i++)
        to[i] = number(r, size);
    return to;
}

/* Sums of `depth` products then are as large as the numbers of A; GELU halves their squares at least. */
static float size_of_b(const struct tw_gemm *g, int32_t i)
{
    return (float)sqrt((g->gelu ? 6.0 : 3.0) / (double)tw_gemm_depth(g, i));
}

int tw_gemm_data_make(const struct tw_gemm *g, struct tw_gemm_data *d, struct tw_error *err)
{
    struct need n;
    struct tw_random r = {g->seed};
    *d = (struct tw_gemm_data){0};
    int code = check_memory(list_needs(g, &n), err);
    if (code < 0)
        return code;
    d->a = g->a_f32 ? (void *)random_f32(n.a, 1, &r) : (void *)random_bf16(n.a, 1, &r);
    int is_lost = d->a == NULL;
    for (int32_t i = 0; i < 2; i++) {
        d->b[i] = random_bf16(n.b[i], n.b[i] > 0 ? size_of_b(g, i) : 0, &r);
        d->bias[i] = random_f32(n.bias[i], 1, &r);
        d->addend[i] = random_f32(n.addend[i], 1, &r);
        is_lost |= (d->b[i] == NULL && n.b[i] > 0) || (d->bias[i] == NULL && n.bias[i] > 0) ||
                   (d->addend[i] == NULL && n.addend[i] > 0);
    }
    d->c = malloc(n.c);
    if (is_lost || d->c == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the operands of the product");
    memset(d->c, 0xff, n.c); /* a NaN in either type */
    return TW_OK;
}

void tw_gemm_data_free(struct tw_gemm_data *d)
{
    for (int i = 0; i < 2; i++) {
        free(d->b[i]);
        free(d->bias[i]);
        free(d->addend[i]);
    }
    free(d->a);
    free(d->c);
    *d = (struct tw_gemm_data){0};
}
