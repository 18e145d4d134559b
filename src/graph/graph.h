/*
 * A graph: a plain list of operations over tensors, in the order they run. It says what is computed; an executor (the
 * CPU's in src/host, the array's in src/job) says how.
 *
 * Tensors have up to three dimensions: cols (contiguous), rows, batch. A tensor is either bound (the caller's memory:
 * weights, inputs, results, caches), temporary (planned by tw_graph_finish, memory of the executor, shared between
 * tensors whose lifetimes do not meet) or a view (a window with strides into one of the former).
 *
 * The functions that build a list are public (tilewright.h). What is here is the list itself, for executors.
 */
#ifndef TW_GRAPH_GRAPH_H
#define TW_GRAPH_GRAPH_H

#include "base/error.h"
#include "graph/type.h"
#include "tilewright.h"

#include <stdio.h>

enum tw_storage { TW_BOUND, TW_TEMP, TW_VIEW };

struct tw_tensor {
    enum tw_type type;
    enum tw_storage storage;
    uint8_t constant;            /* bound memory that is only read */
    uint8_t written;             /* after finish: an operation writes it, or a view of it */
    int64_t cols, rows, batch;   /* all >= 1 */
    size_t row_stride;           /* bytes from row to row; any value >= 0 that stays inside the base */
    size_t batch_stride;         /* bytes from matrix to matrix */
    tw_id base;                  /* the bound or temporary tensor that owns the memory (itself unless a view) */
    size_t offset;               /* bytes from the start of the base's memory; 0 unless a view */
    unsigned char *data;         /* bound tensors: the caller's memory, any alignment; others NULL */
    size_t bytes;                /* bound and temporary tensors: size of the memory */
    size_t place;                /* temporary tensors, after finish: offset in the executor's work area */
    int32_t first_use, last_use; /* operation numbers, after finish, stretched by holds; -1 when unused */
    int32_t hold;                /* temporary tensors: set by tw_graph_hold */
    char name[40];
};

enum tw_op_kind {
    TW_OP_PRODUCT,    /* out = gelu?(scale * (a x b) + bias)  (+ addend, or + out when accumulate) */
    TW_OP_GELU,       /* out = x/2 * (1 + erf(x / sqrt 2)) */
    TW_OP_SCALE,      /* out = scale * x */
    TW_OP_ADD,        /* out = x + y; y may have 1 row and/or 1 batch, then it is repeated */
    TW_OP_COPY,       /* out = x, converted to out's type (f32, f16, bf16) */
    TW_OP_TRANSPOSE,  /* out[c][r] = x[r][c] in each matrix */
    TW_OP_LAYER_NORM, /* out = (x - mean) / sqrt(variance + eps) * gain + shift, row by row */
    TW_OP_SOFTMAX,    /* out = softmax(scale * x) row by row; with causal: row r sees columns 0 .. past + r only */
    TW_OP_IM2COL,     /* one-dimensional convolution windows, see tw_graph_im2col */
    TW_OP_GATHER,     /* out row i = table row indices[i] */
    TW_OP_ATTENTION,  /* multi-head attention, see tw_graph_attention */
    TW_OP_COUNT
};

struct tw_op {
    enum tw_op_kind kind;
    tw_id out;
    tw_id in[4]; /* unused ones are TW_NONE. PRODUCT: a, b, bias, addend. LAYER_NORM: x, gain, shift. ATTENTION: q, k,
                    v */
    float scale;
    float eps;
    uint8_t gelu;
    uint8_t accumulate;
    uint8_t b_rows; /* PRODUCT: b is K x N row-major instead of the usual N rows of K (weights as stored) */
    uint8_t causal;
    uint8_t keep_scores; /* ATTENTION: in f32 */
    int32_t past;        /* causal: row 0 sees columns 0 .. past */
    int32_t heads;       /* ATTENTION */
    int32_t stride;      /* IM2COL */
    int32_t window;      /* IM2COL: taps */
};

struct tw_graph {
    struct tw_tensor *tensors;
    int32_t n_tensors, tensor_room;
    struct tw_op *ops;
    int32_t n_ops, op_room;
    size_t work_bytes; /* after finish: size of the area for temporary tensors, a multiple of 64 */
    int finished;
    struct tw_error failure; /* the first failure while building; code 0 when none */
    void *scratch;           /* work memory of tw_graph_finish, kept from graph to graph */
    size_t scratch_bytes;
};

/*
 * Keeps the memory of temporary id (of its base, when it is a view) to itself for longer than its uses need, for
 * executors that run several operations as one: until operation `op` has run. op may be any operation that is in the
 * list when it is finished; of several holds the longest counts. What is never used takes no memory all the same, and
 * bound memory is nobody else's anyway. Returns TW_OK, or a code that tw_graph_finish reports.
 */
int tw_graph_hold(struct tw_graph *g, tw_id id, int32_t op);

/* One line an operation with shapes, types, places and strides: for people and tests. */
void tw_graph_print(const struct tw_graph *g, FILE *to);

const char *tw_op_name(enum tw_op_kind kind);

/* First byte of tensor id, given the executor's work area of g->work_bytes (may be NULL when that is 0). */
unsigned char *tw_tensor_data(const struct tw_graph *g, tw_id id, unsigned char *work);

#endif
