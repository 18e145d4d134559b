/*
 * Reading and writing a PDI (programmable device image) without a boot header, as bootgen makes them for the array
 * alone: a table of contents, image headers and partition headers, and the partitions' data. Those of NPU1 hold one
 * image and one partition, which is a CDO (npu1/cdo.h).
 */
#ifndef TW_IMAGE_PDI_H
#define TW_IMAGE_PDI_H

#include "base/view.h"

enum tw_pdi_limit { TW_PDI_NAME_BYTES = 16 };

struct tw_pdi {
    struct tw_view view;
    uint32_t id_code; /* of the device that it is for */
    uint32_t pdi_id;
    uint32_t n_images, n_partitions;
    struct tw_view images, partitions; /* their headers */
};

struct tw_pdi_image {
    char name[TW_PDI_NAME_BYTES + 1];
    uint32_t id;
    uint32_t n_partitions;
};

struct tw_pdi_partition {
    struct tw_view data;
    uint32_t attributes;
};

/* Whether a PDI begins here. */
int tw_pdi_recognise(const struct tw_view *view);

/*
 * Checks the headers with their checksums, and that all partitions lie inside the view and have no more data than it.
 * Fails with TW_E_FORMAT, or TW_E_UNSUPPORTED for another version.
 */
int tw_pdi_open(const struct tw_view *view, struct tw_pdi *pdi, struct tw_error *err);

/* Image number i < n_images and partition number i < n_partitions of an opened PDI. */
void tw_pdi_image(const struct tw_pdi *pdi, uint32_t i, struct tw_pdi_image *image);
void tw_pdi_partition(const struct tw_pdi *pdi, uint32_t i, struct tw_pdi_partition *partition);

/*
 * Makes the PDI for NPU1 of one CDO, word for word as bootgen does. *bytes is to be freed with free(). Fails with what
 * tw_cdo_open says of the CDO, TW_E_LIMIT, TW_E_MEMORY.
 */
int tw_pdi_write(const struct tw_view *cdo, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
