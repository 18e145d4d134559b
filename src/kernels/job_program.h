/*
 * The program in each core of the overlay: assembled at start-up from sources in the library. job.h says what it
 * expects in memory and of locks.
 *
 *     struct tw_job_program *program = NULL;
 *     if (tw_job_program_make(&program, &err) == 0)
 *         put program->size bytes of program->bytes into program memory from address 0
 *     tw_job_program_free(program);
 */
#ifndef TW_KERNELS_JOB_PROGRAM_H
#define TW_KERNELS_JOB_PROGRAM_H

#include "base/error.h"
#include "isa/assembler.h"

#include <stddef.h>
#include <stdint.h>

struct tw_job_program {
    const uint8_t *bytes; /* for address 0 of program memory; a multiple of 4, zeros at the end */
    size_t size;
    /* Bundles that read registers out of their time on purpose: what tw_core_expect_old of an emulated core takes. */
    const struct tw_as_old *old;
    size_t n_old;
    const struct tw_assembly *assembly; /* reports of loops, symbols */
};

/*
 * Execution begins at address 0 after a reset of the core, which leaves control registers at 0. All other registers and
 * data memory may hold anything: the program sets up what it needs.
 * Fails with TW_E_MEMORY, or with what the assembler says about a source that is wrong (which tests exclude).
 */
int tw_job_program_make(struct tw_job_program **program, struct tw_error *err);
void tw_job_program_free(struct tw_job_program *program); /* NULL is allowed */

#endif
