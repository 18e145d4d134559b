/* One measured matrix product, or a chain of them, on the array executor: its operands, its run, and its proof. */
#ifndef TW_CLI_GEMM_H
#define TW_CLI_GEMM_H

#include "job/executor.h"

/*
 * C = gelu?(A * B + bias) + D, A rows x depth, B depth x columns. In a chain C is A of the next product, whose B is
 * columns x depth, and so on: all products with even numbers share one B, bias and D, all others another.
 */
struct tw_gemm {
    int32_t rows, depth, columns, chain;
    int a_f32, out_bf16, bias, gelu, add;
    uint64_t seed;
    int32_t threads; /* 0: one for each processor */
    struct tw_device_options device;
};

/* Depth and columns of product i of the chain. */
static inline int64_t tw_gemm_depth(const struct tw_gemm *g, int32_t i)
{
    return i % 2 == 0 ? g->depth : g->columns;
}
static inline int64_t tw_gemm_columns(const struct tw_gemm *g, int32_t i)
{
    return i % 2 == 0 ? g->columns : g->depth;
}

/* Multiplications that are asked for; none of those that padding adds. */
double tw_gemm_macs(const struct tw_gemm *g);

struct tw_gemm_data {
    void *a;          /* fp32 or bf16 */
    uint16_t *b[2];   /* bf16, column after column */
    float *bias[2];   /* NULL: none */
    float *addend[2]; /* NULL: none */
    void *c;          /* fp32 or bf16; not numbers until it is computed */
};

/*
 * Fills A, B, bias and D with random numbers that keep the size of those in a chain about the same. *data is released
 * with tw_gemm_data_free in any case. Fails with TW_E_LIMIT for more memory than the machine has, or TW_E_MEMORY.
 */
int tw_gemm_data_make(const struct tw_gemm *g, struct tw_gemm_data *data, struct tw_error *err);
void tw_gemm_data_free(struct tw_gemm_data *data);

struct tw_gemm_figures {
    struct tw_executor_counts counts;
    const char *bound; /* of the launch that took the most cycles; NULL on silicon */
    int is_emulated;
    double seconds; /* of the run, on the wall */
};

/*
 * Computes C on the NPU. Fails as devices do, with TW_E_LIMIT for a product that the NPU does not take, and with
 * TW_E_DEVICE when a launch failed, so that figures would say nothing.
 */
int tw_gemm_run(const struct tw_gemm *g, struct tw_gemm_data *data, struct tw_gemm_figures *figures,
                struct tw_error *err);

/* How far C is from what float64 makes of the same operands, rounded to bf16 where the array rounds. */
struct tw_gemm_proof {
    double nmse;          /* sum of squared differences by sum of squares; infinite when C is no number somewhere */
    int32_t rows_checked; /* evenly spread; all, if that takes seconds only */
};

/* Fails with TW_E_MEMORY. */
int tw_gemm_check(const struct tw_gemm *g, const struct tw_gemm_data *data, struct tw_gemm_proof *proof,
                  struct tw_error *err);

#endif
