/*
 * The public C API of Tilewright: error codes; the NPU as device, context, buffer and job; and what is computed with
 * it: graphs and matrix products.
 *
 * Every function that can fail returns 0 (or a count >= 0) on success and one of the negative codes below on
 * failure; the sentence for the user is in the struct tw_error that the caller passed, which may be NULL.
 *
 * Objects keep alive what they are made of: they may be given back in any order, and the driver sees the right one. All
 * functions may be called from several threads at once, but one job, and the data of one buffer, belong to one thread
 * at a time.
 */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION "0.1.0"

enum tw_code {
    TW_OK = 0,
    TW_E_ARGUMENT = -1,    /* the caller passed something that makes no sense */
    TW_E_MEMORY = -2,      /* memory could not be had */
    TW_E_IO = -3,          /* reading or writing failed in the operating system */
    TW_E_NOT_FOUND = -4,   /* a file, model or device of that name is not there */
    TW_E_FORMAT = -5,      /* a file is not what it should be, or damaged */
    TW_E_UNSUPPORTED = -6, /* a valid request that this version cannot serve */
    TW_E_LIMIT = -7,       /* a size is beyond what this program accepts */
    TW_E_SHAPE = -8,       /* operands of an operation do not fit together */
    TW_E_NETWORK = -9,     /* a download failed */
    TW_E_CANCELLED = -10,  /* the caller asked to stop */
    TW_E_STATE = -11,      /* called in the wrong order */
    TW_E_NO_DEVICE = -12,  /* there is no NPU that this program can use */
    TW_E_PERMISSION = -13, /* the operating system does not allow it */
    TW_E_BUSY = -14,       /* all contexts of the NPU are taken, or its columns by contexts of another width */
    TW_E_TIMEOUT = -15,    /* a command hung, and the driver stopped it */
    TW_E_ABORTED = -16,    /* a command was dropped, because an earlier one of its context hung */
    TW_E_DEVICE = -17,     /* the NPU's firmware refused a command or failed at it */
    TW_E_LOST = -18,       /* the NPU does not come back: load its driver anew or restart the machine */
    TW_E_REFUSED = -19,    /* the driver did not hand a command to the NPU */
    TW_E_HEAP = -20,       /* the NPU's heap is missing or full, or there is one already */
    TW_E_UNMAPPED = -21,   /* a buffer has no address that the NPU could use */
    TW_E_RUNNING = -22,    /* a command has not ended yet; wait again */
    TW_E_HEAP_SIZE = -23,  /* the NPU's heap was to have another size than the driver takes */
    TW_E_HEAP_PLACE = -24, /* the NPU's heap is mapped at another place than at a multiple of its size */
    TW_E_CONFIGURED = -25, /* a context has its programs already */
    TW_E_SYNC = -26,       /* the driver did not synchronise a buffer */
    TW_E_UNLISTED = -27,   /* the NPU reached for memory in no buffer of the command. Only the emulator can tell: with
                              the real driver such a command hangs */
    TW_E_CHECKSUM = -28    /* a product's sums prove it wrong */
};

/* What failed, with which input, and what to do, in one sentence. */
struct tw_error {
    int code;
    char text[1024];
};

/* The name of a code, "TW_E_IO" and so on; "TW_E_?" for an unknown one. Never NULL. */
const char *tw_code_name(int code);

/* Devices */

struct tw_device; /* an open NPU */

enum tw_device_kind {
    TW_DEVICE_AUTO, /* what the environment variable TILEWRIGHT_DEVICE names (auto, npu, emu); else as TW_DEVICE_NPU */
    TW_DEVICE_NPU,  /* silicon: the first NPU of the kind that this version knows, PCI 1022:1502 */
    TW_DEVICE_EMU   /* the emulator inside this library: the same results, never silently */
};

struct tw_device_options {
    enum tw_device_kind kind;
    const char *root;  /* where /sys and /dev are looked for, for tests and containers; NULL: the real ones */
    const char *trace; /* a new file that gets a line for each call to the driver; NULL: none */
    /* TW_DEVICE_EMU: 0: the emulated machine that all others of this process use too, with six contexts among them, as
     * if it were the real one; 1: a machine of its own */
    int alone;
};

/*
 * Opens the NPU. options may be NULL. Give the device back with tw_device_close. Fails with TW_E_NO_DEVICE (the
 * sentence says what is missing), TW_E_PERMISSION, TW_E_UNSUPPORTED (a driver that speaks another language), TW_E_HEAP,
 * TW_E_MEMORY or TW_E_IO.
 */
int tw_device_open(const struct tw_device_options *options, struct tw_device **device, struct tw_error *err);
void tw_device_close(struct tw_device *device);

/* Programs */

struct tw_context; /* some columns of the array, and the programs that may be loaded there */

/* A configuration of the array. */
struct tw_program {
    const void *pdi; /* a whole PDI */
    size_t bytes;
    unsigned function; /* "functional" of the kernel in an xclbin; 0 */
    const char *name;  /* for tw_context_find; NULL: none. Not kept. */
};

/*
 * Takes a context of `columns` columns with n_programs >= 1 programs; their bytes are copied. The NPU has six contexts
 * for all processes together, and those that share columns are of one width. Fails with TW_E_BUSY when they are taken,
 * TW_E_LOST when the NPU does not recover from a hang, TW_E_DEVICE, TW_E_ARGUMENT, TW_E_LIMIT, TW_E_HEAP or
 * TW_E_MEMORY.
 */
int tw_context_create(struct tw_device *device, unsigned columns, const struct tw_program *programs,
                      unsigned n_programs, struct tw_context **context, struct tw_error *err);

/*
 * The same with all programs of an xclbin, or the one PDI of a file. columns 0: as many as the file says; a PDI does
 * not say. Fails with TW_E_NOT_FOUND, TW_E_IO or TW_E_FORMAT too.
 */
int tw_context_load(struct tw_device *device, const char *path, unsigned columns, struct tw_context **context,
                    struct tw_error *err);

/* The number of the program with this name (the kernel's in an xclbin); NULL: of the only one. Fails with
 * TW_E_NOT_FOUND, and names what there is. */
int tw_context_find(const struct tw_context *context, const char *name, struct tw_error *err);

/* Gives the context back, as soon as no job of it is left. */
void tw_context_destroy(struct tw_context *context);

/* Buffers */

struct tw_buffer; /* memory that both the NPU and this process work on */

/*
 * bytes >= 1 of memory, zero at first. Fails with TW_E_ARGUMENT, TW_E_MEMORY, TW_E_PERMISSION, TW_E_UNMAPPED or
 * TW_E_IO.
 */
int tw_buffer_create(struct tw_device *device, size_t bytes, struct tw_buffer **buffer, struct tw_error *err);
void *tw_buffer_data(const struct tw_buffer *buffer); /* page-aligned; valid until the buffer is given back */
size_t tw_buffer_size(const struct tw_buffer *buffer);
void tw_buffer_destroy(struct tw_buffer *buffer);

/*
 * The NPU sees memory, this process sees its caches. After writing to a buffer, and before the job that reads it: call
 * tw_buffer_to_npu. After the job that writes it, and before reading: tw_buffer_from_npu. offset and size are in bytes.
 * Fail with TW_E_ARGUMENT for a range that is not inside, or TW_E_IO.
 */
int tw_buffer_to_npu(const struct tw_buffer *buffer, size_t offset, size_t size, struct tw_error *err);
int tw_buffer_from_npu(const struct tw_buffer *buffer, size_t offset, size_t size, struct tw_error *err);

/* Jobs */

struct tw_job; /* control code with its buffers: one launch */

/*
 * A job of program number `program`. The control code is copied: a transaction as compilers for this NPU write it, the
 * older word sequence, or an ELF file around a transaction; bytes 0: the program needs none. Fails with TW_E_ARGUMENT,
 * TW_E_FORMAT, TW_E_LIMIT, TW_E_HEAP or TW_E_MEMORY.
 */
int tw_job_create(struct tw_context *context, unsigned program, const void *code, size_t bytes, struct tw_job **job,
                  struct tw_error *err);

/* Buffer argument number index, from 0 on; NULL: none. The job keeps the buffer alive. Fails with TW_E_LIMIT,
 * TW_E_ARGUMENT for a buffer of another device, TW_E_STATE while the job runs, or TW_E_MEMORY. */
int tw_job_set_buffer(struct tw_job *job, unsigned index, struct tw_buffer *buffer, struct tw_error *err);

/*
 * Several jobs of one context as one launch, one after another; no submission of its parts is needed, and they must not
 * be running themselves. The chain keeps them alive. Fails with TW_E_LIMIT when they do not fit into one command
 * (36 jobs of up to 5 buffers do), TW_E_ARGUMENT or TW_E_MEMORY.
 */
int tw_chain_create(struct tw_job *const *jobs, unsigned n_jobs, struct tw_job **chain, struct tw_error *err);

/*
 * Queues the job (or chain). At most four commands of a context are outstanding; the next submission waits. The driver
 * stops what needs longer than 2 s. Fails with TW_E_STATE when the job runs already, TW_E_LOST, TW_E_LIMIT or
 * TW_E_MEMORY.
 */
int tw_job_submit(struct tw_job *job, struct tw_error *err);

/*
 * Waits for a submitted job, for at most `ms` milliseconds; negative: until it ends. Returns 0 when it has completed.
 * Fails with TW_E_RUNNING when the time is up (wait again), TW_E_TIMEOUT when it hung and was stopped, TW_E_ABORTED
 * when it was dropped with another that hung, TW_E_DEVICE, TW_E_UNLISTED, TW_E_REFUSED, TW_E_LOST, or TW_E_STATE when
 * it is not submitted. But for TW_E_RUNNING, the job can be submitted again.
 */
int tw_job_wait(struct tw_job *job, int ms, struct tw_error *err);

/* Both. */
int tw_job_run(struct tw_job *job, struct tw_error *err);

/* What the emulated NPU did for a job or a chain. All figures are modelled: none was measured on a chip. */
struct tw_modelled {
    uint64_t cycles;        /* of the array's clock, from having the command to the end of its last operation */
    uint64_t launch_cycles; /* of these, before the first operation of control code and after the last wait */
    uint64_t wait_cycles;   /* of these, waiting for the array; what is left is control code */
    uint64_t read_bytes, write_bytes; /* of the host's memory */
    const char *bound; /* what took the most time: "launch", "control code", "DDR", "stream", "core" or "locks" */
};

/*
 * The figures of the last run of a job, which tw_job_wait has told to be complete; of a chain the sums, with the bound
 * of the job that took the most cycles. Fails with TW_E_UNSUPPORTED on silicon, TW_E_STATE when the job was not
 * submitted itself, has not completed yet or failed, or TW_E_LIMIT when the wait came after so many later commands
 * (256) of its context that its figures are gone.
 */
int tw_job_modelled(const struct tw_job *job, struct tw_modelled *modelled, struct tw_error *err);

/* After a chain failed: which of its jobs did, from 0 on; -1: not known. */
int tw_job_failed_part(const struct tw_job *job);

/* Waits for a running job first. */
void tw_job_destroy(struct tw_job *job);

/* Graphs */

/* How numbers are stored. Quantised ones lie in blocks along a row, as ggml has them. */
enum tw_type {
    TW_F32,
    TW_F16,
    TW_BF16,
    TW_Q5_0, /* 32 numbers: half scale d, 32 high bits, 32 nibbles; value = d * (5-bit number - 16) */
    TW_Q8_0, /* 32 numbers: half scale d, 32 signed bytes; value = d * byte */
    TW_I32,
    TW_TYPE_COUNT
};

struct tw_graph; /* a list of operations on matrices, in the order they run */

typedef int32_t tw_id;             /* a tensor of a graph, or negative */
#define TW_NONE ((tw_id)INT32_MAX) /* no operand here */

/*
 * A tensor has up to three dimensions: cols (numbers that lie side by side), rows, batch (matrices). It is either bound
 * (the caller's memory: weights, inputs, results), temporary (memory of the engine, shared between tensors that are not
 * needed at the same time) or a view (a window with strides into one of the former).
 *
 *     struct tw_graph *g = tw_graph_create();
 *     tw_id x = tw_graph_bind(g, "x", TW_F32, 512, 1500, 1, input), y = tw_graph_bind(...);
 *     tw_id w = tw_graph_constant(g, "w", TW_F16, 512, 2048, 1, weights), h = tw_graph_temp(g, "h", TW_F32, ...);
 *     tw_graph_product(g, h, x, w, TW_NONE, (struct tw_product_options){.gelu = 1});
 *     tw_graph_layer_norm(g, y, h, ...);
 *     if (tw_graph_finish(g, &err) == 0)
 *         tw_engine_run(engine, g, &err);
 *
 * The functions below return a tensor's number, or a negative code; those that add an operation return TW_OK. A
 * negative number given as an operand is passed on, and the first failure is kept with its sentence: so a whole network
 * can be written down before tw_graph_finish is asked, which reports it. One graph belongs to one thread while it is
 * built.
 */

/*
 * An empty graph, or NULL when there is no memory; the other functions need one. Bound memory stays the caller's and
 * must outlive the runs.
 */
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
 * The scores q k^T of the attention that was added last stay f32 on the NPU too, which otherwise rounds them to bf16:
 * to 2^-9 of themselves, which is too much where the largest ones, times scale, are beyond 10 or so. Costs twice the
 * memory traffic of the scores. Fails with TW_E_STATE when the last operation is no attention.
 */
int tw_graph_keep_scores(struct tw_graph *g);

/*
 * Checks the whole list (shapes, types, temporaries written before they are read, outputs that overlap an operand which
 * the operation still reads) and plans where temporary tensors lie. An output may be the very same window as x for
 * GELU, SCALE, ADD, LAYER_NORM and SOFTMAX, or as the addend of a PRODUCT, and is read too for an accumulating PRODUCT.
 * A temporary counts as written once any part of it is: who fills it through views fills all that is read later. After
 * it the graph is read-only.
 */
int tw_graph_finish(struct tw_graph *g, struct tw_error *err);

/* Engines: graphs and products on the NPU, and on the processor */

/*
 * What runs graphs: threads of the processor, and the NPU with memory for packed weights, if there is one. Products go
 * to the NPU, all else to the processor. On the NPU operands of a product are rounded to bf16 and sums are kept in
 * fp32; the processor computes in fp32. Whatever fails on the NPU is computed by the processor within the same call.
 */
struct tw_engine;

/* Which products of the NPU are proved: by checksums, which takes the processor little time, and with GELU by computing
 * them again there. */
enum tw_verify {
    TW_VERIFY_FIRST, /* those of the first run */
    TW_VERIFY_ALL,
    TW_VERIFY_NONE
};

struct tw_engine_options {
    unsigned threads;      /* 0: one for each processor */
    uint64_t weight_bytes; /* how much memory packed weights may take; 0: 4 GiB */
    enum tw_verify verify;
    /* Gets a sentence when the processor takes over; may be called by several threads at once. NULL: to stderr. */
    void (*warn)(void *arg, const char *sentence);
    void *arg;
};

/*
 * device NULL: the processor alone. The device may be closed afterwards. options may be NULL. An engine takes one
 * context of the NPU. Fails as tw_context_create does, or with TW_E_ARGUMENT or TW_E_MEMORY.
 */
int tw_engine_open(struct tw_device *device, const struct tw_engine_options *options, struct tw_engine **engine,
                   struct tw_error *err);
/* After its last run. Harmless on NULL. */
void tw_engine_close(struct tw_engine *engine);

/*
 * Runs a finished graph. Engines may share a graph that writes to no bound memory. Several threads may use one engine:
 * they wait for each other. What was made for a graph is kept for when the same one comes again. Fails with
 * TW_E_ARGUMENT, TW_E_STATE when the graph is not finished, or TW_E_MEMORY; never because of the NPU.
 */
int tw_engine_run(struct tw_engine *engine, const struct tw_graph *g, struct tw_error *err);

/*
 * Constants in that memory are gone or change now. Without it, an engine that has packed them would go on using what it
 * packed when other constants of the same size come to lie there. Harmless on NULL.
 */
void tw_engine_forget(struct tw_engine *engine, const void *from, size_t bytes);

/* Since the engine was opened. */
struct tw_engine_counts {
    uint64_t runs;                            /* graphs and products */
    uint64_t launches;                        /* on the NPU */
    uint64_t products_on_npu;                 /* matrices */
    uint64_t products_on_host;                /* operations */
    uint64_t fallbacks;                       /* launches, or graphs, that failed and were left to the processor */
    uint64_t mismatches;                      /* of these, launches with a result that a proof found wrong */
    uint64_t cycles, read_bytes, write_bytes; /* of the NPU, modelled by the emulator; 0 on silicon */
};
/* All 0 of the engine NULL; harmless when counts is NULL. */
void tw_engine_counts(struct tw_engine *engine, struct tw_engine_counts *counts);

/*
 * One product: C[m x n] = gelu?(A[m x k] * B[k x n] + bias) + addend. Matrices lie in the caller's memory at any
 * alignment, row after row; strides are in numbers from one row to the next, 0: the rows lie side by side. C shares no
 * number with A, B and bias.
 */
struct tw_product {
    int64_t m, k, n;
    const void *a;       /* m rows of k: TW_F32, TW_BF16 or TW_F16 */
    const void *b;       /* k rows of n, or with b_columns n rows of k (B column after column): the same types */
    void *c;             /* m rows of n: TW_F32 or TW_BF16 */
    const float *bias;   /* n numbers, or NULL */
    const float *addend; /* m rows of n, or NULL; c itself if that is TW_F32, or none of its memory */
    enum tw_type a_type, b_type, c_type;
    int64_t a_stride, b_stride, c_stride, addend_stride;
    int b_columns;
    int b_constant; /* b and bias do not change until tw_engine_forget: they are packed for the NPU only once */
    int gelu;       /* x/2 * (1 + erf(x / sqrt 2)) */
};

/* Fails with TW_E_ARGUMENT, TW_E_SHAPE, TW_E_LIMIT or TW_E_MEMORY; never because of the NPU. */
int tw_product_run(struct tw_engine *engine, const struct tw_product *product, struct tw_error *err);

#ifdef __cplusplus
}
#endif

#endif
