/*
 * Lowering: the original graph's operations are read into bases and windows, written anew so that products suit the
 * array, put into an order that has few launches, and written out as a graph.
 *
 * A base is memory: a bound tensor, or what a temporary holds from one operation that writes it whole to the next (so
 * that a temporary used again and again becomes several). A window is a part of a base that an operation names.
 */
#ifndef TW_JOB_LOWER_H
#define TW_JOB_LOWER_H

#include "job/plan.h"

/* Whole steps along the dimensions of a base. */
struct lower_spot {
    int64_t matrix, row, col;
};

/* Where a window begins, and how it goes from row to row and from matrix to matrix. */
struct lower_form {
    int is_known; /* it has such a form: it does not depend on how the base's rows lie */
    struct lower_spot at, row_step, batch_step;
};

struct lower_base {
    tw_id original;   /* tensor of the original graph, or TW_NONE */
    const char *name; /* lives as long as the original graph */
    enum tw_type type;
    int keeps; /* its layout: it is bound, or has windows without form */
    int64_t cols, rows, batch;
    int64_t pitch, height; /* numbers from row to row, rows from matrix to matrix; as cols and rows, or with room */
    int32_t copies;        /* the latest of its copies that still hold what it does, or -1 */
    tw_id id;              /* in the lowered graph, once made */
};

struct lower_window {
    int32_t base;
    int64_t cols, rows, batch;
    struct lower_form form;
    tw_id original; /* the tensor that says where it lies in a base that keeps its layout */
    tw_id id;
};

/* A temporary that holds the numbers of a window in another type or with room around. */
struct lower_copy {
    int32_t of, window, next;
};

struct lower_op {
    struct tw_op op; /* operands are windows */
    int32_t from;    /* operation of the original graph */
    int is_launched;
    uint64_t cycles; /* of all its matrices, if launched */
};

/* The bases that an operation of the original graph reads and writes. */
struct lower_use {
    int32_t in[4], out;
    int32_t before; /* what out's tensor held before, if it accumulates */
    int on_array;
};

struct lower {
    const struct tw_graph *g;
    int apart;
    struct lower_form *forms; /* of each tensor of g */
    struct lower_use *uses;   /* of each operation of g */
    struct lower_base *bases;
    struct lower_window *windows;
    struct lower_copy *copies;
    struct lower_op *ops;
    int32_t n_bases, n_windows, n_copies, n_ops;
    int32_t *order; /* numbers of ops in the order in which they are to run */
    struct tw_step *steps;
    int32_t n_steps;
};

/* What an operation of the original graph adds at most, so that all memory is there from the beginning. */
enum lower_most { LOWER_OPS = 8, LOWER_WINDOWS = 20, LOWER_BASES = 6, LOWER_COPIES = 3 };

enum lower_limit {
    /*
     * Of a launch: control code grows by up to 18 KB with each product and 2 KB with each further matrix of it, and has
     * to fit into the device's heap of 64 MiB.
     */
    LOWER_PRODUCTS = 1024,
    LOWER_MATRICES = 4096,
    LOWER_PITCH = 4 << 20, /* bytes that the overlay can step over */
    LOWER_ZEROED = 32      /* who runs a launch zeroes operands up to a multiple of this */
};

static inline int64_t lower_round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* ---- lower_choice.c: what the array takes */

/* How B of a product of the original graph comes: a constant of one matrix is packed, as weights are. */
enum tw_overlay_order lower_order_of_b(const struct tw_graph *g, const struct tw_op *op);
/* Nonzero when an operation of the original graph, product or attention, goes to the array. */
int lower_takes(const struct tw_graph *g, const struct tw_op *op);

/* ---- lower_read.c: fills forms, uses and the first bases. */
void lower_read(struct lower *l);

/* ---- lower_window.c: windows and the room around them */

/* The window of tensor id in a base. */
int32_t lower_window_of(struct lower *l, int32_t base, tw_id id);
/* A temporary, and the window that is all of it. */
int32_t lower_fresh(struct lower *l, const char *name, enum tw_type type, int64_t cols, int64_t rows, int64_t batch);
/* Window w cut into `heads` matrices side by side. */
int32_t lower_split(struct lower *l, int32_t w, int32_t heads);
/*
 * Nonzero when the array can read window w where it lies, `cols` numbers from the beginning of each of its rows, and
 * what is zeroed around it is free.
 */
int lower_can_read(const struct lower *l, const struct lower_window *w, uint32_t cols);
/* Nonzero when the array can write it there: it is all of its base, so that nothing else is hit. */
int lower_can_write(const struct lower *l, const struct lower_window *w, uint32_t cols);
/* Gives the base so much room. */
void lower_make_room(struct lower *l, const struct lower_window *w, uint32_t rows, uint32_t cols);

/* ---- lower_emit.c: writes ops. Fails as tw_overlay_choose, which only a fault in lower_choice.c can cause. */
int lower_emit(struct lower *l, struct tw_error *err);

/* ---- lower_order.c: fills order and steps; memory for marks is taken and given back. Fails with TW_E_MEMORY. */
int lower_order(struct lower *l, struct tw_error *err);

/* ---- lower_write.c: the graph, finished; NULL and the reason otherwise. */
struct tw_graph *lower_write(struct lower *l, struct tw_error *err);

#endif
