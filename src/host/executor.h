/* What the operations of the CPU executor share: the executor itself, its memory, and operands as plain pointers. */
#ifndef TW_HOST_EXECUTOR_H
#define TW_HOST_EXECUTOR_H

#include "host/host.h"
#include "host/kernels.h"

/* Memory that grows and never shrinks; its contents do not outlive an operation. */
struct tw_area {
    unsigned char *data;
    size_t bytes;
};

struct tw_host {
    struct tw_pool *pool;
    unsigned threads;
    const struct tw_kernels *kernels;
    struct tw_area work;   /* temporary tensors; the one whose contents live through a run */
    unsigned char *temps;  /* where temporary tensors lie in this run: in work, or in memory of the caller */
    struct tw_area shared; /* what all threads of an operation read: packed operands */
    struct tw_area own;    /* a slice for each worker */
    size_t slice;          /* bytes of a slice */
};

/* A tensor, or one matrix of it, ready to be addressed. */
struct tw_operand {
    enum tw_type type;
    unsigned char *data;
    int64_t cols, rows, batch;
    size_t row_stride, batch_stride; /* bytes */
};

/* The operand of tensor id, which must not be TW_NONE, with the temporaries of h's run. */
struct tw_operand tw_operand_of(const struct tw_host *h, const struct tw_graph *g, tw_id id);
/* Matrix b of x; a tensor with a single matrix repeats it. */
struct tw_operand tw_operand_matrix(const struct tw_operand *x, int64_t b);

static inline unsigned char *tw_operand_row(const struct tw_operand *x, int64_t row)
{
    return x->data + (size_t)row * x->row_stride;
}

/* True when rows can be used as arrays of float where they lie. */
int tw_operand_direct(const struct tw_operand *x);
/* Row `row` as floats: in place when possible, else n numbers from column `col` (a block's first) widened into spare.
 */
const float *tw_row_read(const struct tw_kernels *k, const struct tw_operand *x, int64_t row, int64_t col, int64_t n,
                         float *spare);
/* Where to write n floats of a row, and the call that brings them home if that was spare. */
float *tw_row_target(const struct tw_operand *x, int64_t row, int64_t col, float *spare);
void tw_row_write(const struct tw_kernels *k, const struct tw_operand *x, int64_t row, int64_t col, int64_t n,
                  const float *values);

/* Make at least so many floats available, in common or to each worker; TW_E_MEMORY when there are none. */
int tw_shared_reserve(struct tw_host *h, size_t floats, struct tw_error *err);
int tw_own_reserve(struct tw_host *h, size_t floats, struct tw_error *err);

static inline float *tw_shared(const struct tw_host *h)
{
    return (float *)(void *)h->shared.data;
}

static inline float *tw_own(const struct tw_host *h, unsigned worker)
{
    return (float *)(void *)(h->own.data + worker * h->slice);
}

static inline int64_t tw_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t tw_round_up(int64_t a, int64_t b)
{
    return tw_ceil_div(a, b) * b;
}

static inline int64_t tw_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The operations. Shapes and types have been checked by tw_graph_finish. */
int tw_run_product(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);
int tw_run_attention(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);
int tw_run_rows(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);
int tw_run_transpose(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);
int tw_run_im2col(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);
int tw_run_gather(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err);

#endif
