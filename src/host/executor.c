#include "host/executor.h"

#include "base/memory.h"

#include <stdlib.h>

static int reserve(struct tw_area *area, size_t bytes, struct tw_error *err)
{
    if (bytes <= area->bytes)
        return TW_OK;
    free(area->data);
    area->bytes = 0;
    area->data = tw_alloc(bytes);
    if (area->data == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu bytes of the executor's work area", bytes);
    area->bytes = bytes;
    return TW_OK;
}

/* The bytes of so many floats in whole cache lines; 0 when that is more than can be addressed. */
static size_t bytes_of(size_t floats)
{
    if (floats > SIZE_MAX / sizeof(float) - TW_ALIGN)
        return 0;
    return (floats * sizeof(float) + TW_ALIGN - 1) / TW_ALIGN * TW_ALIGN;
}

static int too_large(size_t floats, struct tw_error *err)
{
    return tw_fail(err, TW_E_LIMIT, "an operation needs %zu numbers of scratch memory, more than can be addressed",
                   floats);
}

int tw_shared_reserve(struct tw_host *h, size_t floats, struct tw_error *err)
{
    size_t bytes = bytes_of(floats);
    if (bytes == 0 && floats > 0)
        return too_large(floats, err);
    return reserve(&h->shared, bytes, err);
}

int tw_own_reserve(struct tw_host *h, size_t floats, struct tw_error *err)
{
    size_t bytes = bytes_of(floats), all;
    if ((bytes == 0 && floats > 0) || tw_mul_size(bytes, h->threads, &all))
        return too_large(floats, err);
    int rc = reserve(&h->own, all, err);
    if (rc == TW_OK)
        h->slice = bytes;
    return rc;
}

struct tw_operand tw_operand_of(const struct tw_host *h, const struct tw_graph *g, tw_id id)
{
    const struct tw_tensor *t = &g->tensors[id];
    return (struct tw_operand){
        .type = t->type,
        .data = tw_tensor_data(g, id, h->temps),
        .cols = t->cols,
        .rows = t->rows,
        .batch = t->batch,
        .row_stride = t->row_stride,
        .batch_stride = t->batch_stride,
    };
}

struct tw_operand tw_operand_matrix(const struct tw_operand *x, int64_t b)
{
    struct tw_operand m = *x;
    if (x->batch > 1)
        m.data += (size_t)b * x->batch_stride;
    m.batch = 1;
    return m;
}

/* Strides are whole elements; only the caller's memory may lie oddly. */
int tw_operand_direct(const struct tw_operand *x)
{
    return x->type == TW_F32 && (uintptr_t)x->data % sizeof(float) == 0;
}

const float *tw_row_read(const struct tw_kernels *k, const struct tw_operand *x, int64_t row, int64_t col, int64_t n,
                         float *spare)
{
    const unsigned char *p = tw_operand_row(x, row) + tw_row_bytes(x->type, col);
    if (tw_operand_direct(x))
        return (const float *)(const void *)p;
    k->widen(x->type, p, spare, n);
    return spare;
}

float *tw_row_target(const struct tw_operand *x, int64_t row, int64_t col, float *spare)
{
    if (tw_operand_direct(x))
        return (float *)(void *)tw_operand_row(x, row) + col;
    return spare;
}

void tw_row_write(const struct tw_kernels *k, const struct tw_operand *x, int64_t row, int64_t col, int64_t n,
                  const float *values)
{
    if (tw_row_target(x, row, col, NULL) != values)
        k->narrow(x->type, values, tw_operand_row(x, row) + tw_row_bytes(x->type, col), n);
}

int tw_host_create(const struct tw_host_options *options, struct tw_host **host, struct tw_error *err)
{
    *host = NULL;
    const char *name = options != NULL ? options->kernels : NULL;
    const struct tw_kernels *kernels = tw_kernels_find(name);
    if (kernels == NULL)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "kernels '%s' are not there or cannot run on this processor; known are avx512, avx2 and c",
                       name);
    struct tw_host *h = calloc(1, sizeof *h);
    if (h == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for an executor");
    int rc = tw_pool_create(options != NULL ? options->threads : 0, &h->pool, err);
    if (rc < 0) {
        free(h);
        return rc;
    }
    h->kernels = kernels;
    h->threads = tw_pool_size(h->pool);
    *host = h;
    return TW_OK;
}

void tw_host_destroy(struct tw_host *h)
{
    if (h == NULL)
        return;
    tw_pool_destroy(h->pool);
    free(h->work.data);
    free(h->shared.data);
    free(h->own.data);
    free(h);
}

typedef int run_op(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);

static run_op *const runners[TW_OP_COUNT] = {
    [TW_OP_PRODUCT] = tw_run_product, [TW_OP_GELU] = tw_run_rows,           [TW_OP_SCALE] = tw_run_rows,
    [TW_OP_ADD] = tw_run_rows,        [TW_OP_COPY] = tw_run_rows,           [TW_OP_TRANSPOSE] = tw_run_transpose,
    [TW_OP_LAYER_NORM] = tw_run_rows, [TW_OP_SOFTMAX] = tw_run_rows,        [TW_OP_IM2COL] = tw_run_im2col,
    [TW_OP_GATHER] = tw_run_gather,   [TW_OP_ATTENTION] = tw_run_attention,
};

int tw_host_run(struct tw_host *h, const struct tw_graph *g, struct tw_error *err)
{
    return tw_host_run_some(h, g, 0, g->n_ops, NULL, err);
}

int tw_host_run_some(struct tw_host *h, const struct tw_graph *g, int32_t first, int32_t count, unsigned char *work,
                     struct tw_error *err)
{
    if (!g->finished)
        return tw_fail(err, TW_E_STATE, "a graph can run only after tw_graph_finish has accepted it");
    if (first < 0 || count < 0 || first > g->n_ops - count)
        return tw_fail(err, TW_E_ARGUMENT, "operations %d to %lld were to run, but the graph has %d", first,
                       (long long)first + count - 1, g->n_ops);
    if ((uintptr_t)work % TW_ALIGN != 0)
        return tw_fail(err, TW_E_ARGUMENT, "the memory for temporary tensors is not aligned to %d bytes", TW_ALIGN);
    int rc = work == NULL ? reserve(&h->work, g->work_bytes, err) : TW_OK;
    h->temps = work == NULL ? h->work.data : work;
    for (int32_t i = first; rc >= 0 && i < first + count; i++)
        rc = runners[g->ops[i].kind](h, g, &g->ops[i], err);
    return rc < 0 ? rc : TW_OK;
}

unsigned tw_host_threads(const struct tw_host *h)
{
    return h->threads;
}

const char *tw_host_kernels(const struct tw_host *h)
{
    return h->kernels->name;
}

struct tw_pool *tw_host_pool(struct tw_host *h)
{
    return h->pool;
}
