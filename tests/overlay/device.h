/* The overlay on an emulated device: loading it, running launches, and products compared with float64. */
#ifndef TESTS_OVERLAY_DEVICE_H
#define TESTS_OVERLAY_DEVICE_H

#include "emu/buffers.h"
#include "emu/firmware.h"
#include "isa/assembler.h"
#include "kernels/job_program.h"
#include "overlay/image.h"
#include "overlay/launch.h"

/* A program of one section, until program_free: assembled from a text, or the real one. */
struct program {
    struct tw_job_program *job;
    struct tw_assembly *assembly;
    struct tw_overlay_piece piece;
    unsigned char *text;
    struct tw_overlay_program program;
};
void program_assemble(struct program *p, const char *text);
void program_job(struct program *p);
void program_free(struct program *p);

struct device {
    unsigned char *pdi;
    size_t pdi_size;
    struct tw_buffers *buffers;
    struct tw_firmware *firmware;
    uint64_t addresses[TW_BUFFERS_MAX]; /* of buffers, which are numbered as arguments */
    unsigned char *bytes[TW_BUFFERS_MAX];
    unsigned n_buffers;
    struct tw_command_report report; /* of the last command */
};

/*
 * Fails the test when something goes wrong, as all functions here. Cores are strict with the real program: what the
 * exposed pipeline does not forgive fails.
 */
void device_open(struct device *d, const struct program *program);
void device_close(struct device *d);

/* A new buffer of zeros; returns its number. */
unsigned device_buffer(struct device *d, uint64_t size);

/* Gives all buffers back. */
void device_forget(struct device *d);

/* Ends the launch and runs it. */
void device_run(struct device *d, struct tw_overlay_launch *launch);

#endif
