/*
 * What the benchmarks of src/host have in common: an executor for each table of kernels that this processor can run,
 * memory to work on, and a copy by memcpy, which is what the memory allows. They are programs that measure: where
 * something fails, they say so and end.
 */
#ifndef TW_BENCH_HOST_TABLES_H
#define TW_BENCH_HOST_TABLES_H

#include "host/host.h"

enum { TABLES_MAX = 4 };

struct host_tables {
    struct tw_host *hosts[TABLES_MAX]; /* from the fastest table to the one in C */
    int n;
};

/* Says "program: what failed" and ends the program. */
_Noreturn void give_up(const char *program, const struct tw_error *err);

/* Executors with so many threads (0: as many as there are processors) for all tables, or for the named one alone.
 * name may be NULL. Ends the program when there is none of that name. */
struct host_tables host_tables_open(const char *program, unsigned threads, const char *name);
void host_tables_close(struct host_tables *t);

/* Zeros, written once, so that no page is new when the measurement comes to it. Released with free, as all below. */
void *zeros(size_t bytes);
/* n numbers in [-1, 1). */
float *random_floats(int64_t n);
/* rows of cols such numbers, all rows alike: what is measured takes as long for any numbers. */
void *random_rows(enum tw_type type, int64_t cols, int64_t rows);

struct copy {
    unsigned char *from, *to;
    size_t bytes;
};

struct copy copy_create(size_t bytes);
void copy_free(struct copy *c);
/* Seconds of one copy on the executor's threads. */
double copy_seconds(struct tw_host *host, const struct copy *c);

#endif
