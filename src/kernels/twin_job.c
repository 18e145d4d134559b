#include "kernels/twin_job.h"

#include "kernels/twin_float.h"
#include "kernels/twin_gelu.h"

#include <string.h>

struct job {
    uint32_t m, n, steps, flags;
    const uint32_t *bias; /* NULL: none */
    const uint16_t *a, *b;
};

/* A number of D: fp32, as two halves in the stream of A. */
static uint32_t addend_of(const struct job *job, uint32_t before, uint32_t row, uint32_t column)
{
    const uint16_t *own = job->a + (job->steps + before) * TW_JOB_DEPTH * job->m;
    uint32_t number;

    memcpy(&number, own + 2 * tw_job_place_d(row, column, job->m), sizeof number);
    return number;
}

/* One number of C, before what is done to it at the end: the bias and the products of all steps. */
static uint32_t sum_of(const struct job *job, uint32_t row, uint32_t column)
{
    uint32_t sum = job->bias == NULL ? 0 : job->bias[column];
    int transposed = (job->flags & TW_JOB_TRANSPOSED) != 0;

    for (uint32_t step = 0; step < job->steps; step++)
        for (uint32_t first = 0; first < TW_JOB_DEPTH; first += TW_JOB_TILE_DEPTH) {
            const uint16_t *a = job->a + step * TW_JOB_DEPTH * job->m, *b = job->b + step * TW_JOB_DEPTH * job->n;
            uint16_t x[TW_TWIN_PAIRS], y[TW_TWIN_PAIRS];
            for (uint32_t k = 0; k < TW_TWIN_PAIRS; k++) {
                x[k] = a[tw_job_place_a(row, first + k, job->m)];
                y[k] = b[tw_job_place_b(first + k, column, job->n, transposed)];
            }
            sum = tw_twin_mac_bf16(sum, x, y);
        }
    return sum;
}

void tw_twin_job(const uint32_t *header, const uint16_t *a, const uint16_t *b, void *c)
{
    struct job job = {.m = header[TW_JOB_M] * TW_JOB_UNIT,
                      .n = header[TW_JOB_N] * TW_JOB_UNIT,
                      .steps = header[TW_JOB_STEPS],
                      .flags = header[TW_JOB_FLAGS],
                      .bias = (header[TW_JOB_FLAGS] & TW_JOB_ADD_BIAS) != 0 ? header + TW_JOB_BIAS : NULL,
                      .a = a,
                      .b = b};
    uint8_t *to = c;

    for (uint32_t row = 0; row < job.m; row++)
        for (uint32_t column = 0; column < job.n; column++) {
            uint32_t place = tw_job_place_c(row, column, job.n), sum = sum_of(&job, row, column);
            if ((job.flags & TW_JOB_GELU) != 0)
                sum = tw_twin_gelu(sum);
            if ((job.flags & TW_JOB_ADDEND) != 0)
                sum = tw_twin_add(sum, addend_of(&job, header[TW_JOB_BEFORE], row, column));
            uint16_t rounded = tw_twin_to_bf16(sum);
            if ((job.flags & TW_JOB_BF16) != 0)
                memcpy(to + place * sizeof rounded, &rounded, sizeof rounded);
            else
                memcpy(to + place * sizeof sum, &sum, sizeof sum);
        }
}
