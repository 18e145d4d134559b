/* The smallest program that does something: one shim copies buffer 0 to buffer 1, without any core. */
#ifndef TESTS_DEVICE_COPY_PROGRAM_H
#define TESTS_DEVICE_COPY_PROGRAM_H

#include "tilewright.h"

struct bytes {
    unsigned char *data; /* to be freed */
    size_t size;
};

/* The routes of one column, as a PDI. */
struct bytes copy_pdi(void);

/* Control code that copies so many 32-bit words and waits for the end. */
struct bytes copy_code(uint32_t words);

/* Control code that waits for a token which never comes. */
struct bytes hang_code(void);

/* A context with the program. */
int copy_context(struct tw_device *device, unsigned columns, struct tw_context **context, struct tw_error *err);

/* A job of the program: its control code, and two buffers of so many words (0: none, and the job hangs). */
struct copy_job {
    uint32_t words;
    struct tw_buffer *in, *out;
    struct tw_job *job;
};
int copy_job_create(struct copy_job *j, struct tw_device *device, struct tw_context *context, uint32_t words,
                    struct tw_error *err);
/* Writes the input, and something else to the output. */
int copy_job_fill(struct copy_job *j, uint32_t seed, struct tw_error *err);
/* How many words are wrong; or a TW_E code. */
int copy_job_check(struct copy_job *j, uint32_t seed, struct tw_error *err);
void copy_job_destroy(struct copy_job *j);

#endif
