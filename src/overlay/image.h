/* The overlay as a program of the NPU: one configuration for every product. */
#ifndef TW_OVERLAY_IMAGE_H
#define TW_OVERLAY_IMAGE_H

#include "base/view.h"

/* A piece of the core program, by the core's addresses: program memory from 0 on, own data memory from 0x70000 on. */
struct tw_overlay_piece {
    uint32_t address;
    struct tw_view bytes; /* a multiple of 4 */
};

/* What all cores run. */
struct tw_overlay_program {
    const struct tw_overlay_piece *pieces;
    size_t n_pieces;
};

/*
 * Makes the PDI: routes and the core program. Everything that a product needs beside them its control code sets
 * (overlay/launch.h), also the start of the cores. *bytes is to be freed with free(). Fails with TW_E_ARGUMENT for a
 * piece that lies in no memory of a core, TW_E_MEMORY.
 */
int tw_overlay_pdi(const struct tw_overlay_program *program, unsigned char **bytes, size_t *size, struct tw_error *err);

/* The name of the overlay's kernel in the xclbin, and how many buffers it takes. */
#define TW_OVERLAY_KERNEL "TILEWRIGHT"
enum { TW_OVERLAY_BUFFERS = 5 };

/* The same as an xclbin with one kernel for four columns. */
int tw_overlay_xclbin(const struct tw_overlay_program *program, unsigned char **bytes, size_t *size,
                      struct tw_error *err);

/*
 * Either of the two, made by tw_overlay_pdi or tw_overlay_xclbin, with the job program (kernels/job_program.h) in all
 * cores. Fails as that does, and as tw_job_program_make.
 */
typedef int tw_overlay_make(const struct tw_overlay_program *program, unsigned char **bytes, size_t *size,
                            struct tw_error *err);
int tw_overlay_job_image(tw_overlay_make *make, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
