/* Inputs and outputs for tests of kernels: poisoned and guarded outputs, oddly placed weights, wild numbers. */
#ifndef TESTS_HOST_KERNEL_CASE_H
#define TESTS_HOST_KERNEL_CASE_H

#include "base/random.h"
#include "host/kernels.h"

#define NEAR 0x1p-20 /* agreed error, of the sum of magnitudes */

extern const enum tw_type all_types[];
#define N_TYPES 5

/* n floats, all poisoned, between guards. */
struct output {
    float *block;
    float *at;
    int64_t n;
};
struct output new_output(int64_t n);
int poisoned(const float *p);
/* Fails when a guard was touched; frees. */
void end_output(struct output *o);

float random_in(struct tw_random *r, float low, float high);
/* n floats from malloc. */
float *random_floats(struct tw_random *r, int64_t n, float low, float high);
/* Bytes without meaning make every stored number that there is, infinities and NaNs too. */
unsigned char *random_bytes(struct tw_random *r, size_t n);
/* An ordinary number, now and then an edge value, an infinity or a NaN. */
float wild(struct tw_random *r);

/* Rows of stored numbers from -2 to 2, at an odd address and an odd distance from each other; free(block). */
struct stored {
    unsigned char *block, *at;
    size_t stride;
};
struct stored random_stored(struct tw_random *r, enum tw_type type, int64_t cols, int64_t rows);

/* Both the same number bit for bit, or both some NaN. */
int same(float a, float b);
/* Within NEAR of size; infinities and NaNs must agree. */
int near(float a, float b, double size);

/* Runs check for every table of this processor, C's own included, from the same seed. */
void for_each_table(void (*check)(const struct tw_kernels *k, struct tw_random *r));

#endif
