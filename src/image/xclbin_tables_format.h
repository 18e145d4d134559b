/* By XRT's xclbin.h. The entries begin aligned to their largest number: behind the count, or behind four more bytes. */
#ifndef TW_IMAGE_XCLBIN_TABLES_FORMAT_H
#define TW_IMAGE_XCLBIN_TABLES_FORMAT_H

enum xclbin_tables_format {
    MEMORY_BYTES = 40,
    MEMORY_KIB = 8,
    MEMORY_BASE = 16,
    MEMORY_TAG = 24,

    IP_BYTES = 80,
    IP_PROPERTIES = 4,
    IP_BASE = 8,
    IP_NAME = 16,

    CONNECTION_BYTES = 12,

    /* Only written. */
    MEMORY_USED = 1,
    MEMORY_TYPE_DRAM = 2,
    IP_PS_KERNEL = 7,
    IP_SUBTYPE_DPU = 1,
    IP_ID_SHIFT = 16
};

#endif
