/* What the first words of packets and tokens have in common: bit 31 makes the number of ones odd, 27:21 column, 20:16
 * row. */
#ifndef TW_NPU1_PACKET_H
#define TW_NPU1_PACKET_H

#include <stdint.h>

enum packet {
    PACKET_ROW_SHIFT = 16,
    PACKET_ROW_TOP = 0x1f,
    PACKET_COLUMN_SHIFT = 21,
    PACKET_COLUMN_TOP = 0x7f,
    PACKET_PARITY_SHIFT = 31
};

static inline uint32_t packet_source(unsigned column, unsigned row)
{
    return (column & PACKET_COLUMN_TOP) << PACKET_COLUMN_SHIFT | (row & PACKET_ROW_TOP) << PACKET_ROW_SHIFT;
}

/* The word with its parity bit; it is 0 in `word`. */
static inline uint32_t packet_parity(uint32_t word)
{
    uint32_t ones = word;
    for (unsigned shift = 16; shift > 0; shift /= 2)
        ones ^= ones >> shift;
    return word | (~ones & 1) << PACKET_PARITY_SHIFT;
}

#endif
