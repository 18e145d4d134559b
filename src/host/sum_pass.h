/* A pass over a matrix, whatever its format, on all threads of an executor: the sums that sum_kernels.h describes. */
#ifndef TW_HOST_SUM_PASS_H
#define TW_HOST_SUM_PASS_H

#include "host/host.h"
#include "host/kernels.h"
#include "host/sum_kernels.h"

/* n stored numbers at any address, rounded to bf16. line: spare memory for n floats. */
void tw_round_row(const struct tw_kernels *kernels, enum tw_type type, const unsigned char *x, int64_t n, uint16_t *to,
                  float *line);

/* Has each worker's own memory ready for matrices of up to n columns; TW_E_MEMORY. */
int tw_sum_pass_reserve(struct tw_host *host, int64_t n, struct tw_error *err);

/*
 * Overwrites what `sums` points to with the sums of the rows x n numbers at x, any alignment, rows `stride` bytes
 * apart. as_bf16: they count as rounded to bf16. Otherwise type is f32 or bf16.
 */
void tw_sum_pass(struct tw_host *host, enum tw_type type, int as_bf16, const void *x, size_t stride, int64_t rows,
                 int64_t n, struct tw_sums sums);

#endif
