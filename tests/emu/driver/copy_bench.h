/* A context whose command copies 64 bytes from one buffer into another, in memory that both sides see the same. */
#ifndef TESTS_EMU_DRIVER_COPY_BENCH_H
#define TESTS_EMU_DRIVER_COPY_BENCH_H

#include "emu/driver/rig.h"

struct copy_bench {
    struct rig rig;
    struct rig_context context;
    struct rig_buffer command, code, in, out;
    uint32_t handles[2]; /* of in and out */
};

void copy_bench_create(struct copy_bench *b, const struct tw_emu_driver_options *options);
void copy_bench_free(struct copy_bench *b);
/* Submits the command with so many of the handles, waits, and gives its state. */
enum tw_packet_state copy_bench_run(struct copy_bench *b, uint32_t n_arguments);

#endif
