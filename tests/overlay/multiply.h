/* Random products on the overlay, and what they must be. */
#ifndef TESTS_OVERLAY_MULTIPLY_H
#define TESTS_OVERLAY_MULTIPLY_H

#include "base/random.h"
#include "overlay/device.h"

/* A product with its operands in buffers of the device, everything around them poisoned. */
struct multiply {
    struct tw_overlay_product product;
    unsigned flags;
    uint16_t *b; /* as it was before packing, [depth][columns] */
    float *bias; /* or NULL */
};

struct multiply_options {
    unsigned flags;              /* of TW_JOB_ADD_BIAS, TW_JOB_GELU, TW_JOB_BF16, TW_JOB_ADDEND */
    uint32_t m, n;               /* 0: chosen */
    enum tw_overlay_order order; /* of B */
    uint32_t gap, gap_a, gap_d;  /* more numbers between rows of C, of A, of the addend */
    const struct multiply *a_of; /* A is the result of this one, which is bf16; NULL: random numbers */
    const struct multiply *d_of; /* the addend is the result of this one: fp32, the same size; NULL: random numbers */
};

void multiply_make(struct multiply *x, struct device *d, struct tw_random *random, uint32_t rows, uint32_t depth,
                   uint32_t columns, const struct multiply_options *options);
void multiply_free(struct multiply *x);

/* Writes other numbers than any result's over C. */
void multiply_poison(const struct multiply *x, struct device *d);
/* Fails the test when C is not what float64 makes of A and B. */
void multiply_check(const struct multiply *x, const struct device *d);

#endif
