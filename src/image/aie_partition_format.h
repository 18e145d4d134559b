/* Byte offsets by XRT's xclbin.h. An array is its count and the offset of its entries in the section, 32 bits each. */
#ifndef TW_IMAGE_AIE_PARTITION_FORMAT_H
#define TW_IMAGE_AIE_PARTITION_FORMAT_H

enum aie_partition_format {
    AIE_HEADER_BYTES = 0xb8,
    AIE_HEADER_NAME = 0x04,
    AIE_HEADER_OPERATIONS = 0x08,
    AIE_HEADER_COLUMNS = 0x20,
    AIE_HEADER_START_COLUMNS = 0x28,
    AIE_HEADER_PDIS = 0x78,

    AIE_PDI_BYTES = 96,
    AIE_PDI_IMAGE = 16,
    AIE_PDI_GROUPS = 24,

    AIE_GROUP_BYTES = 96,
    AIE_GROUP_NAME = 0,
    AIE_GROUP_TYPE = 4,
    AIE_GROUP_PDI_ID = 8,
    AIE_GROUP_KERNELS = 16,

    /* Only written. */
    AIE_HEADER_FINGERPRINT = 0x10,
    AIE_HEADER_PRE_POST_FINGERPRINT = 0x18,
    AIE_HEADER_COMMIT_ID = 0x80,
    AIE_GROUP_PRE_GROUPS = 24,
    AIE_GROUP_PRIMARY = 1,
    AIE_ALIGN = 8
};

#endif
