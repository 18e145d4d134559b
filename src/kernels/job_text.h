/* The sources of the job program, put into the library while building (embed.cmake). */
#ifndef TW_KERNELS_JOB_TEXT_H
#define TW_KERNELS_JOB_TEXT_H

#include <stddef.h>

struct tw_job_text {
    const char *name; /* as .include has it */
    const char *text; /* of size bytes; does not end with a NUL */
    size_t size;
};

extern const struct tw_job_text tw_job_texts[];
extern const size_t tw_job_text_count;

#endif
