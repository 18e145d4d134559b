/*
 * One operation of control code, the program that the NPU's firmware executes for a command: the same structure for
 * every form that control code comes in (control_code.h, dpu_sequence.h).
 */
#ifndef TW_NPU1_CONTROL_OP_H
#define TW_NPU1_CONTROL_OP_H

#include "base/view.h"
#include "npu1/dma.h"

/* The array sees the host's memory so many bytes above its own addresses. */
#define TW_CONTROL_HOST_OFFSET UINT64_C(0x80000000)
/* To so many buffers of a kernel, the first ones, the firmware adds that itself when it patches; to others their addend
 * must hold it. */
enum { TW_CONTROL_OFFSET_ARGUMENTS = 5 };

enum tw_control_op_kind {
    TW_CONTROL_OP_WRITE,       /* address, value */
    TW_CONTROL_OP_BLOCK_WRITE, /* address, words; is_patched: then the shim descriptor's address is set as by PATCH */
    TW_CONTROL_OP_MASK_WRITE,  /* address, mask, value */
    TW_CONTROL_OP_POLL,        /* address, mask, value: waits until (register & mask) == value */
    TW_CONTROL_OP_NOOP,
    TW_CONTROL_OP_WAIT,  /* wait: for a token of each of its tiles */
    TW_CONTROL_OP_PATCH, /* address: of a shim descriptor's word 1; patch */
    TW_CONTROL_OP_OTHER  /* the firmware of NPU1 is not known to take it; words: what is behind its first word */
};

struct tw_control_wait {
    uint8_t column, row, columns, rows; /* tiles from (column, row) on; columns and rows 0 count as 1 */
    struct tw_dma_channel channel;      /* its number may be anything up to 255 */
};

/* A shim descriptor's address becomes that of a buffer argument. */
struct tw_control_patch {
    uint64_t argument; /* counts the kernel's buffers: 0 is the first */
    uint64_t addend;   /* bytes from its beginning */
};

struct tw_control_op {
    enum tw_control_op_kind kind;
    uint8_t code;     /* as in the file */
    const char *name; /* "WRITE"; "?" for a code that has none */
    size_t offset;    /* of its first word behind the header */
    uint32_t address; /* npu1/tile.h */
    uint32_t value, mask;
    struct tw_view words;
    uint32_t n_words; /* in words */
    int is_patched;
    struct tw_control_wait wait;
    struct tw_control_patch patch;
};

#endif
