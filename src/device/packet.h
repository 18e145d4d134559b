/* Command packets as the client writes them (uapi/packet.h). */
#ifndef TW_DEVICE_PACKET_H
#define TW_DEVICE_PACKET_H

#include "base/error.h"
#include "uapi/packet.h"

#include <stddef.h>

enum { TW_PACKET_WORDS = TW_CHAIN_WINDOW_BYTES / 4 };

/* One launch. */
struct tw_launch {
    enum tw_packet_opcode opcode; /* TW_PACKET_START_CU or TW_PACKET_START_NPU */
    unsigned cu;
    enum tw_xdna_kernel kernel;
    uint64_t code_address; /* of the control code, as the NPU sees it; 0: none */
    size_t code_bytes;
    const uint64_t *buffers; /* their addresses, as the NPU sees them */
    unsigned n_buffers;
};

/* Kernels compiled for this NPU declare five buffers; those that a job does not use are sent as address 0. */
enum { TW_LAUNCH_BUFFERS_MIN = 5 };

/* The most buffers that a launch with this opcode takes. */
unsigned tw_launch_buffers_max(enum tw_packet_opcode opcode);

/* What a launch takes of the driver's window of TW_CHAIN_WINDOW_BYTES. */
size_t tw_launch_slot_bytes(unsigned n_buffers);

/* Writes all words but the header and returns the header, which a submission writes last. */
uint32_t tw_packet_write_launch(const struct tw_launch *launch, uint32_t words[TW_PACKET_WORDS]);
uint32_t tw_packet_write_chain(const uint32_t *handles, unsigned n, uint32_t words[TW_PACKET_WORDS]);

#endif
