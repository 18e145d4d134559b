/*
 * One operation, run by every kernel table with 1 and 2 threads and compared with float64: the frame around the cases
 * of test_operations.c. Operands lie at odd addresses in memory of their exact size, behind views with NaN around them.
 */
#ifndef TW_TESTS_HOST_OPERATION_CASE_H
#define TW_TESTS_HOST_OPERATION_CASE_H

#include "base/random.h"
#include "graph/graph.h"

enum { CASE_BLOCKS = 8 };

struct operation_case {
    struct tw_graph *g;
    struct tw_random random;
    double size;               /* magnitude of the numbers that fill operands */
    int edges;                 /* sprinkle infinities, NaN, denormals and zeros of both signs */
    void *blocks[CASE_BLOCKS]; /* memory of the tensors of the running case */
    int n_blocks;
    tw_id out; /* what is compared, and its base's memory */
    unsigned char *out_memory;
};

/* For cmocka: executors of all kernel tables that this processor can run, and a graph. */
int operation_case_open(void **state);
int operation_case_close(void **state);

/* Begins a case: an empty graph, and numbers of about this size. */
void case_begin(struct operation_case *c, double size);

/* An operand with random numbers, dense or seen through a view. */
tw_id case_in(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows, int64_t batch);
/* Row numbers in [0, limit). */
tw_id case_indices(struct operation_case *c, int64_t n, int64_t limit);
/* The output, filled with NaN, or with random numbers when the operation reads it too. One a case. */
tw_id case_out(struct operation_case *c, enum tw_type type, int64_t cols, int64_t rows, int64_t batch, int is_read);

/*
 * Runs the list on every executor. Checks that each number of the output is within the bound of its operation (see
 * operation_bounds.h) of the float64 executor, that no byte beside the output changes, and that 1 and 2 threads give
 * the same bits. The list has one operation, or tolerance > 0 is the bound relative to the largest number of the
 * output.
 */
void case_run(struct operation_case *c, double tolerance);
/* Expects that every executor refuses to run the list with this code. */
void case_refused(struct operation_case *c, int code);

#endif
