/* The AIE_PARTITION section of an xclbin: how many columns a program takes, and its PDIs with the kernels they are for.
 */
#ifndef TW_IMAGE_AIE_PARTITION_H
#define TW_IMAGE_AIE_PARTITION_H

#include "image/xclbin.h"

enum tw_aie_partition_limit { TW_AIE_PDIS_MAX = 256, TW_CDO_GROUPS_MAX = 256 /* of a PDI */ };

struct tw_aie_partition {
    struct tw_view view;
    const char *name;
    uint32_t operations_per_cycle;
    uint16_t columns;
    uint32_t n_start_columns; /* where the partition may begin, see tw_aie_partition_start */
    struct tw_view start_columns;
    uint32_t n_pdis;
    struct tw_view pdis;
};

struct tw_aie_pdi {
    unsigned char uuid[TW_UUID_BYTES];
    struct tw_view image; /* a PDI, see image/pdi.h */
    uint32_t n_groups;
    struct tw_view groups;
    struct tw_view partition; /* the whole section */
};

/* A group of kernels that a PDI serves. */
struct tw_cdo_group {
    const char *name;
    uint8_t type; /* 0 unknown, 1 primary, 2 lite, 3 pre- and postprocessing */
    uint64_t pdi_id;
    uint32_t n_kernels;
    struct tw_view kernels; /* their ids, 64 bits each */
};

/*
 * Checks the section: everything it names, down to the groups, lies inside, and PDIs do not share bytes: what a small
 * file may ask for stays small. Fails with TW_E_FORMAT, or TW_E_LIMIT for too many PDIs or groups.
 */
int tw_aie_partition_open(const struct tw_view *section, struct tw_aie_partition *p, struct tw_error *err);

/* Of an opened partition: column number i < n_start_columns, PDI number i < n_pdis, its group j < n_groups. */
uint16_t tw_aie_partition_start(const struct tw_aie_partition *p, uint32_t i);
void tw_aie_partition_pdi(const struct tw_aie_partition *p, uint32_t i, struct tw_aie_pdi *pdi);
void tw_aie_pdi_group(const struct tw_aie_pdi *pdi, uint32_t j, struct tw_cdo_group *group);

#endif
