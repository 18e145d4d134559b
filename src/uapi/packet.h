/*
 * What a command buffer holds: 32-bit words, the first a header. The layout is that of XRT's "ert" packets, as far as
 * the kernel's driver takes it for NPU1.
 */
#ifndef TW_UAPI_PACKET_H
#define TW_UAPI_PACKET_H

#include <stdint.h>

/* The header: bits. */
enum tw_packet_header {
    TW_PACKET_STATE_MASK = 0xf,       /* 3:0 */
    TW_PACKET_EXTRA_MASKS_SHIFT = 10, /* 11:10: further words of the CU mask */
    TW_PACKET_EXTRA_MASKS_MASK = 0x3,
    TW_PACKET_COUNT_SHIFT = 12, /* 22:12: words that follow the header */
    TW_PACKET_COUNT_MASK = 0x7ff,
    TW_PACKET_OPCODE_SHIFT = 23, /* 27:23 */
    TW_PACKET_OPCODE_MASK = 0x1f
};

enum tw_packet_opcode {
    TW_PACKET_START_CU = 0,           /* a kernel's register map; control code is one of its arguments */
    TW_PACKET_START_DPU = 18,         /* not served by mainline */
    TW_PACKET_CHAIN = 19,             /* other command buffers, one after another */
    TW_PACKET_START_NPU = 20,         /* control code that the host has patched */
    TW_PACKET_START_NPU_PREEMPT = 21, /* not for NPU1 */
    TW_PACKET_START_NPU_ELF = 22      /* not for NPU1 */
};

enum tw_packet_state {
    TW_PACKET_NEW = 1, /* written by the client; stays when the driver could not hand the command over */
    TW_PACKET_QUEUED = 2,
    TW_PACKET_RUNNING = 3,
    TW_PACKET_COMPLETED = 4, /* the only one that means success */
    TW_PACKET_ERROR = 5,     /* firmware refused or failed */
    TW_PACKET_ABORT = 6,     /* dropped, as an earlier command of the context hung */
    TW_PACKET_SUBMITTED = 7,
    TW_PACKET_TIMEOUT = 8, /* hung */
    TW_PACKET_NO_RESPONSE = 9
};

/* Word numbers. In all but a chain, word 1 is the CU mask: its lowest set bit names the CU. */
enum tw_packet_word {
    TW_PACKET_HEADER = 0,
    TW_PACKET_CU_MASK = 1,
    TW_PACKET_PAYLOAD = 2, /* after one word of mask */
    /* A chain: its payload begins at word 1. */
    TW_CHAIN_COUNT = 1,
    TW_CHAIN_SUBMIT_INDEX = 2, /* 0 */
    TW_CHAIN_ERROR_INDEX = 3,  /* out: which of them failed */
    TW_CHAIN_HANDLES = 7,      /* 64 bits each */
    TW_CHAIN_FIXED_WORDS = 6   /* in front of them, after the header */
};

/* START_CU: word offsets in the payload, the register map of a DPU kernel; 64-bit values are low word first. */
enum tw_register_map {
    TW_MAP_OPCODE = 0,       /* 64 bits: enum tw_xdna_kernel */
    TW_MAP_INSTRUCTIONS = 2, /* 64 bits: device address of the control code */
    TW_MAP_LENGTH = 4,       /* of the control code, in 32-bit words */
    TW_MAP_BUFFERS = 5       /* 64 bits each: device addresses of the kernel's buffers */
};

enum tw_xdna_kernel {
    TW_XDNA_KERNEL_SEQUENCE = 1, /* the oldest form */
    TW_XDNA_KERNEL_TXN_OLD = 2,
    TW_XDNA_KERNEL_TXN = 3 /* a transaction */
};

/* START_NPU: word offsets in the payload. */
enum tw_npu_words {
    TW_NPU_INSTRUCTIONS = 0, /* 64 bits: device address of the control code */
    TW_NPU_BYTES = 2,        /* its length in bytes */
    TW_NPU_PROPERTIES = 3,   /* 0 */
    TW_NPU_ARGUMENTS = 4     /* the kernel's register map as for START_CU, at most TW_NPU_ARGUMENT_WORDS_MAX words */
};

enum tw_packet_limit {
    TW_CHAIN_WINDOW_BYTES = 4096,  /* the driver's copy of a command, or of all commands of a chain, must fit */
    TW_NPU_SLOT_BYTES = 52,        /* in front of each command's payload, with firmware protocol 5.8 and later */
    TW_CF_SLOT_BYTES = 8,          /* the same for START_CU with older firmware */
    TW_NPU_ARGUMENT_WORDS_MAX = 26 /* of START_NPU, with firmware protocol 5.8 and later */
};

static inline uint32_t tw_packet_header(enum tw_packet_opcode opcode, uint32_t words)
{
    return (uint32_t)opcode << TW_PACKET_OPCODE_SHIFT | words << TW_PACKET_COUNT_SHIFT | TW_PACKET_NEW;
}

static inline enum tw_packet_state tw_packet_state(uint32_t header)
{
    return (enum tw_packet_state)(header & TW_PACKET_STATE_MASK);
}

static inline uint32_t tw_packet_opcode(uint32_t header)
{
    return header >> TW_PACKET_OPCODE_SHIFT & TW_PACKET_OPCODE_MASK;
}

static inline uint32_t tw_packet_count(uint32_t header)
{
    return header >> TW_PACKET_COUNT_SHIFT & TW_PACKET_COUNT_MASK;
}

#endif
