/*
 * A graph: a plain list of operations over tensors, in the order they run. It says what is computed; an executor (the
 * CPU's in src/host, the array's in src/job) says how.
 *
 * Tensors have up to three dimensions: cols (contiguous), rows, batch. A tensor is either bound (the caller's memory:
 * weights, inputs, results, caches), temporary (planned by tw_graph_finish, memory of the executor, shared between
 * tensors whose lifetimes do not meet) or a view (a window with strides into one of the former).
 *
 * Building: the functions below return a tensor's number, or a negative code. A negative number given as an operand is
 * passed on, and the first failure is kept with its sentence; so a builder may write a whole network and look only at
 * tw_graph_finish, which reports it. Builders of operations return TW_OK.
 */
#ifndef TW_GRAPH_GRAPH_H
#define TW_GRAPH_GRAPH_H

#include "base/error.h"
#include "graph/type.h"

#include <stdio.h>

typedef int32_t tw_id;             /* a tensor of a graph, or negative */
#define TW_NONE ((tw_id)INT32_MAX) /* no operand here */

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
    int32_t hold_from, hold;     /* temporary tensors: set by tw_graph_hold_from and tw_graph_hold */
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
    int32_t past;   /* causal: row 0 sees columns 0 .. past */
    int32_t heads;  /* ATTENTION */
    int32_t stride; /* IM2COL */
    int32_t window; /* IM2COL: taps */
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

/* An empty graph, or NULL when there is no memory. Bound memory stays the caller's and must outlive the runs. */
struct tw_graph *tw_graph_create(void);
void tw_graph_destroy(struct tw_graph *g);
/* Empties the graph for the next one, keeping its memory (a decoder builds one per step). */
void tw_graph_reset(struct tw_graph *g);

/*
 * A tensor in the caller's memory, densely packed. name is for messages and printing; it is copied and cut. Memory may
 * be bound twice only when no operation writes to it: take views otherwise, so that the list shows what depends on
 * what.
 */
tw_id tw_graph_bind(struct tw_graph *g, const char *name, enum tw_type type, int64_t cols, int64_t rows, int64_t batch,
                    void *data);
/* As tw_graph_bind, for memory that operations only read; writing to it is refused by tw_graph_finish. */
tw_id tw_graph_constant(struct tw_graph *g, const char *name, enum tw_type type, int64_t cols, int64_t rows,
                        int64_t batch, const void *data);
/* A temporary tensor (f32, f16 or bf16). */
tw_id tw_graph_temp(struct tw_graph *g, const char *name, enum tw_type type, int64_t cols, int64_t rows, int64_t batch);
/*
 * A window into a tensor: `cols` numbers starting at byte `offset` of `of`, rows and matrices at the given strides in
 * bytes. It must stay inside the base's memory; offset and strides are whole elements, of quantised tensors whole rows.
 * The stride of a single row or matrix does not matter and is stored as if dense. Views of views are resolved to the
 * base. A view whose own rows overlap can only be read.
 */
tw_id tw_graph_view(struct tw_graph *g, tw_id of, int64_t cols, int64_t rows, int64_t batch, size_t offset,
                    size_t row_stride, size_t batch_stride);

/*
 * a: M rows of K, f32 (bf16 and f16 too). b: N rows of K of any type but i32, or with b_rows K rows of N (f32, f16 or
 * bf16). bias: 1 row of N, f32, or TW_NONE. out: M rows of N, f32, f16 or bf16. Batches: a and out agree; b agrees or
 * has 1. Sums are kept in f32 at least, over all of K. With accumulate (out f32) the result is added to what out holds,
 * after GELU.
 */
struct tw_product_options {
    float scale; /* 0 counts as 1 */
    int gelu, accumulate, b_rows;
};
int tw_graph_product(struct tw_graph *g, tw_id out, tw_id a, tw_id b, tw_id bias, struct tw_product_options options);
/*
 * The same, and `addend` is added after GELU and before rounding to out's type: f32, of out's shape, the very same
 * window as out or none of its memory. TW_NONE: nothing is added. Not together with accumulate.
 */
int tw_graph_product_onto(struct tw_graph *g, tw_id out, tw_id a, tw_id b, tw_id bias, tw_id addend,
                          struct tw_product_options options);
/*
 * Row operations. x and out have the same shape (transpose: cols and rows exchanged), y in add the same cols. x, y and
 * out are f32, f16 or bf16, each on its own; gain and shift are 1 row of f32. Inside, numbers are f32.
 */
int tw_graph_gelu(struct tw_graph *g, tw_id out, tw_id x);
int tw_graph_scale(struct tw_graph *g, tw_id out, tw_id x, float scale);
int tw_graph_add(struct tw_graph *g, tw_id out, tw_id x, tw_id y);
int tw_graph_copy(struct tw_graph *g, tw_id out, tw_id x);
int tw_graph_transpose(struct tw_graph *g, tw_id out, tw_id x);
int tw_graph_layer_norm(struct tw_graph *g, tw_id out, tw_id x, tw_id gain, tw_id shift, float eps);
/* With causal, what row r does not see becomes 0; past + rows must not exceed cols. */
int tw_graph_softmax(struct tw_graph *g, tw_id out, tw_id x, float scale, int causal, int32_t past);
/*
 * x: T rows (time) of C channels. out: (T + 2*pad - window)/stride + 1 rows of C*window columns, pad = window/2
 * (zeros), where out[t][c*window + j] = x[t*stride + j - pad][c]: the order in which convolution weights [out][in][tap]
 * lie. x and out: f32, f16 or bf16.
 */
int tw_graph_im2col(struct tw_graph *g, tw_id out, tw_id x, int32_t window, int32_t stride);
/* table: rows of any type but i32. indices: i32, 1 row of n, each in [0, table rows) (checked when run). out: n rows
 * f32. */
int tw_graph_gather(struct tw_graph *g, tw_id out, tw_id table, tw_id indices);
/*
 * q, out: Tq rows of heads*D; k: Tk rows of heads*D; v likewise; f32 (k and v may both be f16); batches of q and out
 * agree, those of k and v agree with them or are 1. Head h uses columns h*D .. h*D+D-1:
 * out = softmax(scale * q k^T) v. With causal, query row r sees key rows 0 .. past + r; past + Tq must not exceed Tk,
 * and what a row does not see must be finite, because an executor may multiply it by 0.
 */
int tw_graph_attention(struct tw_graph *g, tw_id out, tw_id q, tw_id k, tw_id v, int32_t heads, float scale, int causal,
                       int32_t past);

/*
 * Keep the memory of temporary id (of its base, when it is a view) to itself for longer than its uses need, for
 * executors that run several operations as one: until operation `op` has run, or already when operation `op` begins.
 * op may be any operation that is in the list when it is finished; several holds add up. What is never used takes no
 * memory all the same, and bound memory is nobody else's anyway. Return TW_OK, or a code that tw_graph_finish reports.
 */
int tw_graph_hold(struct tw_graph *g, tw_id id, int32_t op);
int tw_graph_hold_from(struct tw_graph *g, tw_id id, int32_t op);

/*
 * Checks the whole list (shapes, types, temporaries written before they are read, outputs that overlap an operand which
 * the operation still reads) and plans where temporary tensors lie. An output may be the very same window as x for
 * GELU, SCALE, ADD, LAYER_NORM and SOFTMAX, or as the addend of a PRODUCT, and is read too for an accumulating PRODUCT.
 * A temporary counts as written once any part of it is: who fills it through views fills all that is read later. After
 * it the graph is read-only.
 */
int tw_graph_finish(struct tw_graph *g, struct tw_error *err);

/* One line an operation with shapes, types, places and strides: for people and tests. */
void tw_graph_print(const struct tw_graph *g, FILE *to);

const char *tw_op_name(enum tw_op_kind kind);

/* First byte of tensor id, given the executor's work area of g->work_bytes (may be NULL when that is 0). */
unsigned char *tw_tensor_data(const struct tw_graph *g, tw_id id, unsigned char *work);

#endif
