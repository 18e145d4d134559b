/* What there is to run: a kernel of an xclbin, or a PDI. */
#ifndef TW_CLI_EMU_PROGRAM_H
#define TW_CLI_EMU_PROGRAM_H

#include "base/file_map.h"
#include "base/view.h"

enum { TW_EMU_KERNEL_BYTES = 64 };

struct tw_emu_program {
    struct tw_file_map map;
    struct tw_view pdi;
    unsigned columns;
    char kernel[TW_EMU_KERNEL_BYTES]; /* "": a PDI of its own */
    int n_arguments;                  /* buffers that the kernel takes; -1: the file does not say */
};

/*
 * Opens an xclbin and finds the kernel's PDI in it (kernel NULL: the only one that has a PDI), or opens a PDI (kernel
 * NULL). *program is released with tw_emu_program_close in any case. Fails as a file does, with TW_E_FORMAT, with
 * TW_E_NOT_FOUND (no such kernel; the sentence lists those there are) or TW_E_UNSUPPORTED.
 */
int tw_emu_program_open(const char *path, const char *kernel, struct tw_emu_program *program, struct tw_error *err);
void tw_emu_program_close(struct tw_emu_program *program);

#endif
