/* What the machine's /sys and /dev say of NPUs. */
#ifndef TW_DEVICE_MACHINE_H
#define TW_DEVICE_MACHINE_H

#include "base/error.h"

#include <stddef.h>

enum { TW_PATH_BYTES = 512 };

/* A device on the PCI bus. */
struct tw_npu {
    char slot[64]; /* "0000:c5:00.1" */
    unsigned vendor, device, revision;
    char driver[64];          /* bound to it; "": none */
    char node[TW_PATH_BYTES]; /* with the root in front; "": there is none */
    int iommu;                /* it is behind an IOMMU */
};

enum tw_npu_generation { TW_NPU_NONE, TW_NPU_FIRST, TW_NPU_LATER };

/*
 * Looks for NPUs below root ("" is the real machine): of the first generation, else of a later one, else none. Whatever
 * is not readable counts as not there.
 */
enum tw_npu_generation tw_machine_find_npu(const char *root, struct tw_npu *npu);

/* path = root followed by the format; returns 0, or nonzero when it is too long. */
int tw_machine_path(char path[TW_PATH_BYTES], const char *root, const char *fmt, ...) TW_PRINTF(3, 4);

/* The first line of a small file, without its end; returns its length, or -1 when it cannot be read. */
int tw_machine_line(const char *path, char *line, size_t size);

/* The last part of what a link points to; returns 0, or nonzero when there is no such link. */
int tw_machine_link(const char *path, char *name, size_t size);

#endif
