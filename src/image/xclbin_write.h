/*
 * Writing an xclbin for NPU1 with one configuration and one kernel: the sections, in the order, that mlir-aie's tools
 * write and that run on hardware.
 */
#ifndef TW_IMAGE_XCLBIN_WRITE_H
#define TW_IMAGE_XCLBIN_WRITE_H

#include "image/pdi.h"

/* Kernel ids begin here in files made by compilers. */
#define TW_KERNEL_ID 0x901

struct tw_xclbin_contents {
    struct tw_view pdi;
    unsigned columns; /* of the partition, 1 to 5 */
    const char *kernel,
        *instance;      /* letters, digits, '_', '-' and '.'; "KERNEL:INSTANCE" has less than 64 characters */
    unsigned kernel_id; /* 1 to 0xfff; usually TW_KERNEL_ID */
    /* Names of the kernel's buffers. In front of them a kernel always has opcode, instr (control code) and ninstr (its
     * length in words). */
    const char *const *buffers;
    unsigned n_buffers; /* at most 61 */
    uint64_t timestamp; /* seconds since 1970; 0: none */
};

/*
 * Makes the file; its uuid comes from its contents. *bytes is to be freed with free(). Fails with TW_E_ARGUMENT for
 * names, numbers or a PDI that it cannot take, TW_E_MEMORY.
 */
int tw_xclbin_write(const struct tw_xclbin_contents *contents, unsigned char **bytes, size_t *size,
                    struct tw_error *err);

#endif
