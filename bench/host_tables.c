#include "host_tables.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "host/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPY_PIECE 65536 /* bytes that one task of the copy moves */

_Noreturn void give_up(const char *program, const struct tw_error *err)
{
    fprintf(stderr, "%s: %s\n", program, err->text);
    exit(1);
}

struct host_tables host_tables_open(const char *program, unsigned threads, const char *name)
{
    struct tw_error err;
    struct host_tables t = {.n = 0};
    const struct tw_kernels *k;
    for (unsigned i = 0; t.n < TABLES_MAX && (k = tw_kernels_at(i)) != NULL; i++) {
        if (name != NULL && strcmp(name, k->name) != 0)
            continue;
        const struct tw_host_options options = {.threads = threads, .kernels = k->name};
        if (tw_host_create(&options, &t.hosts[t.n++], &err) < 0)
            give_up(program, &err);
    }
    if (t.n == 0) {
        fprintf(stderr, "%s: no kernels called '%s' here\n", program, name != NULL ? name : "");
        exit(1);
    }
    return t;
}

void host_tables_close(struct host_tables *t)
{
    for (int i = 0; i < t->n; i++)
        tw_host_destroy(t->hosts[i]);
}

static void *memory(size_t bytes)
{
    void *p = tw_alloc(bytes);
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

void *zeros(size_t bytes)
{
    return memset(memory(bytes), 0, bytes);
}

float *random_floats(int64_t n)
{
    struct tw_random random = {(uint64_t)n};
    float *p = memory((size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)(2 * tw_random_unit(&random) - 1);
    return p;
}

void *random_rows(enum tw_type type, int64_t cols, int64_t rows)
{
    const size_t bytes = tw_row_bytes(type, cols);
    float *row = random_floats(cols);
    unsigned char *p = memory(bytes * (size_t)rows);
    for (int64_t r = 0; r < rows; r++)
        tw_row_from_f32(type, row, p + (size_t)r * bytes, cols);
    free(row);
    return p;
}

struct copy copy_create(size_t bytes)
{
    return (struct copy){.from = zeros(bytes), .to = zeros(bytes), .bytes = bytes};
}

void copy_free(struct copy *c)
{
    free(c->from);
    free(c->to);
}

static void copy_piece(void *arg, size_t index, unsigned worker)
{
    const struct copy *c = arg;
    const size_t at = index * COPY_PIECE;
    (void)worker;
    memcpy(c->to + at, c->from + at, c->bytes - at < COPY_PIECE ? c->bytes - at : COPY_PIECE);
}

double copy_seconds(struct tw_host *host, const struct copy *c)
{
    struct copy work = *c;
    const double start = tw_seconds();
    tw_pool_run(tw_host_pool(host), (c->bytes + COPY_PIECE - 1) / COPY_PIECE, copy_piece, &work);
    return tw_seconds() - start;
}
