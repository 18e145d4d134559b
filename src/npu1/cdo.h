/*
 * Reading a CDO (configuration data object): the list of register and memory writes that sets the array up. Version 2,
 * as bootgen and the aie-rt driver write it: words of 32 bits, little-endian; a header of five, then commands of one
 * word with identifier and length, and their payload.
 */
#ifndef TW_NPU1_CDO_H
#define TW_NPU1_CDO_H

#include "base/view.h"

enum tw_cdo_header {
    TW_CDO_HEADER_WORDS = 5,
    TW_CDO_HEADER_REST = 4,   /* word 0: the words of the header behind it */
    TW_CDO_MAGIC = 0x4f4443,  /* word 1: "CDO" */
    TW_CDO_VERSION = 0x200,   /* word 2; word 3: words behind the header; word 4: complement of the sum of 0 to 3 */
    TW_CDO_LONG_LENGTH = 0xff /* a command of this length has its real one in a word of its own */
};

/* Commands, by bootgen's names. NPU1 configurations use MASK_WRITE, WRITE, DMA_WRITE and NOP. */
enum tw_cdo_id {
    TW_CDO_END_MARK = 0x100,
    TW_CDO_MASK_POLL = 0x101,
    TW_CDO_MASK_WRITE = 0x102,
    TW_CDO_WRITE = 0x103,
    TW_CDO_DELAY = 0x104,
    TW_CDO_DMA_WRITE = 0x105,
    TW_CDO_MASK_POLL64 = 0x106,
    TW_CDO_MASK_WRITE64 = 0x107,
    TW_CDO_WRITE64 = 0x108,
    TW_CDO_DMA_XFER = 0x109,
    TW_CDO_INIT_SEQ = 0x10a,
    TW_CDO_CFI_READ = 0x10b,
    TW_CDO_SET = 0x10c,
    TW_CDO_DMA_WRITE_KEYHOLE = 0x10d,
    TW_CDO_NOP = 0x111,
    TW_CDO_MARKER = 0x119
};

struct tw_cdo {
    struct tw_view commands;
};

/* What a command says, the 32- and 64-bit forms alike. */
struct tw_cdo_command {
    uint16_t id;
    const char *name;
    size_t offset;        /* of its first word in tw_cdo.commands */
    uint64_t address;     /* that it writes or polls; DMA_XFER: its destination */
    uint32_t mask;        /* MASK_WRITE, MASK_POLL */
    uint32_t value;       /* MASK_WRITE, WRITE, SET; MASK_POLL: the expected one; DELAY: microseconds */
    uint32_t n_words;     /* that it writes from address on; 0 when it does not write. KEYHOLE: all to one address */
    struct tw_view words; /* DMA_WRITE, KEYHOLE: what it writes; other commands: their whole payload */
};

/* Whether a CDO begins here. */
int tw_cdo_recognise(const struct tw_view *view);

/*
 * Checks the header of the CDO that begins at the view's first byte and fills the rest of it, but for up to three words
 * of zeros at the end. Fails with TW_E_FORMAT, or TW_E_UNSUPPORTED for another version.
 */
int tw_cdo_open(const struct tw_view *view, struct tw_cdo *cdo, struct tw_error *err);

/*
 * Reads the command at *at (0 for the first) and moves *at behind it. Returns 1, or 0 at the end or behind an END_MARK.
 * Fails with TW_E_FORMAT for a command that is cut short or too short for its kind, or that does not exist.
 */
int tw_cdo_next(const struct tw_cdo *cdo, size_t *at, struct tw_cdo_command *command, struct tw_error *err);

#endif
