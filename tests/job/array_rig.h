/*
 * An emulated machine with an array on it, a runner, and small networks with random weights to run: the frame of the
 * tests of the array executor.
 */
#ifndef TW_TESTS_JOB_ARRAY_RIG_H
#define TW_TESTS_JOB_ARRAY_RIG_H

#include "base/random.h"
#include "job/executor.h"
#include "job/machine.h"

#include <stdatomic.h>

struct rig {
    struct machine machine;
    struct tw_executor *array; /* NULL when it could not be opened */
    struct tw_host *host;
    struct tw_runner *runner;
    atomic_int warnings;
    char sentence[1200]; /* the last warning */
    struct tw_error err;
};

/* Options with which every product is proved. */
extern const struct tw_executor_options verify_all;

/* faults: as in TILEWRIGHT_EMU_FAULT, or NULL. options may be NULL. Returns what tw_executor_open did. */
int rig_open(struct rig *rig, const char *faults, const struct tw_executor_options *options, enum machine_kind kind);
void rig_close(struct rig *rig);
struct tw_executor_counts rig_counts(const struct rig *rig);

/* A graph with its bound memory. */
struct net {
    struct tw_graph *g;
    struct tw_random random;
    void *blocks[64];
    int n_blocks;
    tw_id in, out;       /* bound, f32 */
    tw_id weights, bias; /* of the first product */
    float *want;         /* out, by the CPU executor from the original graph */
};

/* Numbers in [-1, 1), and a tensor of them in memory that the net owns. */
tw_id net_bind(struct net *n, enum tw_type type, int64_t cols, int64_t rows, int is_constant);
tw_id net_temp(struct net *n, int64_t cols, int64_t rows);
/* out = x W (+ bias), to a new temporary; weights of a random type, about 1 / sqrt(K). */
tw_id net_linear(struct net *n, tw_id x, int64_t cols, int has_bias, int gelu);

void net_begin(struct net *n, uint64_t seed);
/* Copies x to the bound output and finishes the graph. */
void net_end(struct net *n, tw_id x);
void net_free(struct net *n);
/* New numbers in the input. */
void net_fill(struct net *n);

/* Two layers with GELU between them, on rows x cols numbers. */
void net_simple(struct net *n, uint64_t seed, int64_t rows, int64_t cols);
/* A random list of operations of all kinds. */
void net_random(struct net *n, uint64_t seed);

/* Runs it by the runner, the output poisoned before, and expects success. */
void net_run(struct net *n, struct tw_runner *runner);
/* Computes n->want, and expects of the output that it is as near as bf16 operands let it be. */
void net_check(struct net *n, struct tw_host *host);
/* All three: new numbers in the input, a run, and the expected output. */
void net_again(struct net *n, struct tw_runner *runner, struct tw_host *host);

#endif
