/* The kernels of an xclbin and their arguments: section EMBEDDED_METADATA, an XML text. */
#ifndef TW_IMAGE_KERNEL_METADATA_H
#define TW_IMAGE_KERNEL_METADATA_H

#include "image/aie_partition.h"

enum tw_kernel_limit { TW_KERNELS_MAX = 256, TW_KERNEL_ARGUMENTS_MAX = 64, TW_KERNEL_NAME_BYTES = 256 };

struct tw_kernel_argument {
    char name[TW_KERNEL_NAME_BYTES], type[TW_KERNEL_NAME_BYTES]; /* "bo0", "void*" */
    uint32_t id;
    int is_buffer;         /* address qualifier 1; else it is passed by value */
    uint32_t offset, size; /* bytes in the kernel's block of arguments */
};

struct tw_kernel {
    char name[TW_KERNEL_NAME_BYTES];
    char instance[TW_KERNEL_NAME_BYTES]; /* the first one's; "" when there is none */
    int is_dpu;                          /* it has a dpu_id: one for the array */
    uint64_t dpu_id;
    uint32_t n_arguments;
    struct tw_kernel_argument *arguments; /* by id: 0, 1, ... */
};

struct tw_kernel_metadata {
    uint32_t n_kernels;
    struct tw_kernel *kernels;
};

/*
 * Reads the section. Fails with TW_E_FORMAT, TW_E_LIMIT, TW_E_MEMORY; then *metadata is empty. Release with
 * tw_kernel_metadata_free, also harmless on a zeroed structure.
 */
int tw_kernel_metadata_read(const struct tw_view *section, struct tw_kernel_metadata *metadata, struct tw_error *err);
void tw_kernel_metadata_free(struct tw_kernel_metadata *metadata);

/* The kernel of a name (NULL: the first one for the array), or NULL. */
const struct tw_kernel *tw_kernel_find(const struct tw_kernel_metadata *metadata, const char *name);

/*
 * *pdi = the number of the first PDI with a group that lists the kernel, as the driver chooses. Fails with
 * TW_E_NOT_FOUND when there is none.
 */
int tw_kernel_pdi(const struct tw_kernel *kernel, const struct tw_aie_partition *partition, uint32_t *pdi,
                  struct tw_error *err);

#endif
