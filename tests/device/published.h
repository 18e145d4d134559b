/* Published programs (tests/corpus/README.md) as jobs of the client, with what their operations define as results. */
#ifndef TESTS_DEVICE_PUBLISHED_H
#define TESTS_DEVICE_PUBLISHED_H

#include "tilewright.h"

#include <stddef.h>
#include <stdint.h>

enum { PUBLISHED_BUFFERS = 4 };

struct published {
    const char *name, *program, *control, *kernel;
    unsigned columns;                /* 0: as the file says */
    size_t sizes[PUBLISHED_BUFFERS]; /* bytes; 0: none */
    unsigned out;                    /* which buffer is the result */
    /* From inputs; expected has the result's size. */
    void (*fill)(void *const data[PUBLISHED_BUFFERS], uint64_t seed);
    void (*expect)(void *const data[PUBLISHED_BUFFERS], void *expected);
    /* Changes control code before use (NULL: as it is); size bytes. */
    void (*change)(unsigned char *code, size_t size);
};

extern const struct published published[];
extern const size_t n_published;

/* One job of a published program with buffers of its own. */
struct published_job {
    const struct published *what;
    struct tw_buffer *buffers[PUBLISHED_BUFFERS];
    struct tw_job *job;
};

/* A context for a program. Skips the test when the files are not there. */
struct tw_context *published_load(struct tw_device *device, const struct published *p);

/* Return 0 or a TW_E code; they do not use the test's functions, so any thread may call them. */
int published_job_create(struct published_job *j, struct tw_device *device, struct tw_context *context,
                         const struct published *p, struct tw_error *err);
int published_job_fill(struct published_job *j, uint64_t seed, struct tw_error *err);
/* TW_E_SHAPE when the result is not what was expected. */
int published_job_check(struct published_job *j, struct tw_error *err);
void published_job_destroy(struct published_job *j);

#endif
