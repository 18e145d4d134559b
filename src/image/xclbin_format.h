/* Byte offsets in the header and in a section's header. */
#ifndef TW_IMAGE_XCLBIN_FORMAT_H
#define TW_IMAGE_XCLBIN_FORMAT_H

enum xclbin_format {
    XCLBIN_HEADER_BYTES = 0x1c8,
    XCLBIN_HEADER_LENGTH = 0x130,
    XCLBIN_HEADER_TIMESTAMP = 0x138,
    XCLBIN_HEADER_PLATFORM = 0x160,
    XCLBIN_HEADER_UUID = 0x1a0,
    XCLBIN_HEADER_SECTIONS = 0x1c0,

    XCLBIN_SECTION_BYTES = 40,
    XCLBIN_SECTION_NAME = 4,
    XCLBIN_SECTION_OFFSET = 24,
    XCLBIN_SECTION_SIZE = 32
};

/* Only written. */
enum xclbin_written {
    XCLBIN_SIGNATURE_AT = 8, /* a length of -1, and no signature: all ones up to the unique id */
    XCLBIN_UNIQUE_ID = 0x128,
    XCLBIN_VERSION_MAJOR = 0x14a,
    XCLBIN_VERSION_MINOR = 0x14b,
    XCLBIN_MAJOR = 2,
    XCLBIN_MINOR = 23, /* of the XRT that this form is taken from */
    XCLBIN_ALIGN = 8
};

/* The first 8 bytes. */
#define XCLBIN_MAGIC "xclbin2"

#endif
