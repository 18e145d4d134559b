/* Byte offsets and values by bootgen's format of Versal images. Places and sizes in the headers are words of 4 bytes.
 */
#ifndef TW_IMAGE_PDI_FORMAT_H
#define TW_IMAGE_PDI_FORMAT_H

enum pdi_format {
    PDI_MARKER_BYTES = 16, /* tells the loading port how wide the bus is */

    PDI_TABLE_AT = 0x10,
    PDI_TABLE_BYTES = 128,
    PDI_TABLE_VERSION = 0x00,
    PDI_TABLE_IMAGES = 0x04,
    PDI_TABLE_FIRST_IMAGE = 0x08,
    PDI_TABLE_PARTITIONS = 0x0c,
    PDI_TABLE_FIRST_PARTITION = 0x10,
    PDI_TABLE_ID_CODE = 0x18,
    PDI_TABLE_PDI_ID = 0x20,
    PDI_TABLE_IDENTIFICATION = 0x28,

    PDI_IMAGE_BYTES = 64,
    PDI_IMAGE_PARTITIONS = 0x04,
    PDI_IMAGE_NAME = 0x10,
    PDI_IMAGE_ID = 0x20,

    PDI_PARTITION_BYTES = 128,
    PDI_PARTITION_UNENCRYPTED = 0x04, /* words of data */
    PDI_PARTITION_TOTAL = 0x08,       /* with padding */
    PDI_PARTITION_DATA = 0x20,
    PDI_PARTITION_ATTRIBUTES = 0x24,

    PDI_VERSION = 0x00040000,
    PDI_IDENTIFICATION = 0x50504449 /* "IDPP" */
};

/* Of what the writer makes: one image of one partition, each header behind the one before. */
enum pdi_written {
    PDI_IMAGE_AT = PDI_TABLE_AT + PDI_TABLE_BYTES,
    PDI_PARTITION_AT = PDI_IMAGE_AT + PDI_IMAGE_BYTES,
    PDI_DATA_AT = PDI_PARTITION_AT + PDI_PARTITION_BYTES,
    PDI_DATA_ALIGN = 16,

    PDI_TABLE_HEADER_SIZES = 0x2c, /* words of the three headers, a byte each */
    PDI_TABLE_META_WORDS = 0x30,
    PDI_TABLE_EXTENDED_ID = 0x44,
    PDI_IMAGE_FIRST_PARTITION = 0x00,
    PDI_IMAGE_PCR = 0x38,
    PDI_PARTITION_ENCRYPTED = 0x00, /* words of data with padding */
    PDI_PARTITION_LOAD = 0x18,      /* 64 bits, all ones: nowhere */
    PDI_PARTITION_SECTIONS = 0x28,

    PDI_HEADER_SIZES = PDI_TABLE_BYTES / 4 | PDI_IMAGE_BYTES / 4 << 8 | PDI_PARTITION_BYTES / 4 << 16,
    PDI_META_WORDS = 0x30,
    PDI_EXTENDED_ID = 1,
    PDI_IMAGE_ID_AIE = 0x1c000000,
    PDI_ATTRIBUTES_AIE = 0x02000006
};

/* The words in front of the headers. */
#define PDI_MARKER                                                                                                     \
    {                                                                                                                  \
        0x000000dd, 0x11223344, 0x55667788, 0x99aabbcc                                                                 \
    }

#endif
