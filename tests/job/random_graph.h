/* Graphs of all operations in all the ways in which plans may have to deal with them, from a seed. */
#ifndef TW_TESTS_JOB_RANDOM_GRAPH_H
#define TW_TESTS_JOB_RANDOM_GRAPH_H

#include "base/random.h"
#include "graph/graph.h"

enum { GRAPH_BLOCKS = 160, GRAPH_VALUES = 96 };

/* Bound memory, with what it holds before a run. */
struct graph_block {
    unsigned char *now, *before;
    size_t bytes;
    enum tw_type type;
    int64_t numbers;
    int is_result; /* an operation may write it */
};

struct random_graph {
    struct tw_graph *g;
    struct tw_random random;
    int is_network; /* mostly products */
    struct graph_block blocks[GRAPH_BLOCKS];
    int n_blocks;
    tw_id values[GRAPH_VALUES]; /* tensors that hold numbers by now */
    int n_values;
};

/* A finished graph of about `operations` operations; sides of tensors are at most `side`. */
void random_graph_make(struct random_graph *r, uint64_t seed, int operations, int side);
void random_graph_free(struct random_graph *r);
/* Puts into all bound memory what it held at the beginning. */
void random_graph_restore(struct random_graph *r);

#endif
