/* Random products of all kinds with their memory, to run on an engine and to compare with float64. */
#ifndef TW_TESTS_JOB_SAMPLE_H
#define TW_TESTS_JOB_SAMPLE_H

#include "base/random.h"
#include "base/thread_pool.h"
#include "tilewright.h"

/*
 * B may be of a quantised type too, which a product alone does not take: it then runs as a graph. Numbers between rows
 * and around matrices are NaN; C is at first.
 */
struct sample {
    struct tw_product p;
    unsigned char *a, *b, *c, *addend; /* blocks of memory that the matrices lie in */
    size_t a_bytes, b_bytes, c_bytes;
    float *bias;
    unsigned char *before; /* c's block before it runs */
    int is_exact;
    int is_rough;       /* magnitudes of the operands are far apart */
    struct tw_graph *g; /* of a quantised B, made when it runs first */
};

/* Types, strides and what is added are random; the sides are given, but k may come out as the next multiple of 32. */
void sample_make(struct sample *s, struct tw_random *r, int64_t m, int64_t k, int64_t n);
/*
 * The same of numbers whose products and sums are exact in fp32, if sides are below 1000: the processor and the NPU
 * differ only by what they make of GELU.
 */
void sample_make_exact(struct sample *s, struct tw_random *r, int64_t m, int64_t k, int64_t n);
void sample_free(struct sample *s);

/* Runs it with C as it was at first; returns what the engine does. */
int sample_try(struct sample *s, struct tw_engine *engine, struct tw_error *err);
/* Runs it and expects success. */
void sample_run(struct sample *s, struct tw_engine *engine, const char *where);
/* The engine need not keep what it packed of it. */
void sample_forget(const struct sample *s, struct tw_engine *engine);

/* Expects the right numbers in C and all else in its block as it was. Returns the largest error, as reference_check. */
double sample_check(const struct sample *s, struct tw_pool *pool, const char *where);

/* The same of a result with a flipped bit that checksums have let pass: reference_check_passed. */
void sample_check_passed(const struct sample *s, const char *where);

/* Between low and high; each size as often as twice that size. */
int64_t sample_side(struct tw_random *r, int64_t low, int64_t high);

#endif
