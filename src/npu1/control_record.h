/* Codes and lengths of control code's records in the transaction form, by the aie-rt driver (xaie_txn.h). */
#ifndef TW_NPU1_CONTROL_RECORD_H
#define TW_NPU1_CONTROL_RECORD_H

enum control_version { CONTROL_MINOR = 1 /* of the version that is written, 0.1 */ };

enum control_record {
    CONTROL_WRITE = 0,
    CONTROL_BLOCK_WRITE = 1,
    CONTROL_BLOCK_SET = 2,
    CONTROL_MASK_WRITE = 3,
    CONTROL_MASK_POLL = 4,
    CONTROL_NOOP = 5,
    CONTROL_PREEMPT = 6,
    CONTROL_MASK_POLL_BUSY = 7,
    CONTROL_LOAD_PDI = 8,
    CONTROL_LOAD_PM_START = 9,
    CONTROL_CUSTOM = 0x80, /* from here on word 1 is the size in bytes */
    CONTROL_WAIT = 0x80,
    CONTROL_PATCH = 0x81,
    CONTROL_READ_REGISTERS = 0x82,
    CONTROL_RECORD_TIMER = 0x83,
    CONTROL_MERGE_SYNC = 0x84
};

/* Words of a record of version 0.1, without the data of a block. */
enum control_words {
    CONTROL_WRITE_WORDS = 6,
    CONTROL_BLOCK_WRITE_WORDS = 4,
    CONTROL_MASK_WORDS = 7,
    CONTROL_LOAD_WORDS = 4,
    CONTROL_WAIT_WORDS = 4,
    CONTROL_PATCH_WORDS = 12
};

#endif
