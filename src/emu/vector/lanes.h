/* Lanes of vectors: the lowest lane lies in the lowest bits. For the definitions: clear, not fast. */
#ifndef TW_EMU_VECTOR_LANES_H
#define TW_EMU_VECTOR_LANES_H

#include "base/little_endian.h"

#include <stddef.h>
#include <stdint.h>

#define TW_X_BYTES 64 /* an x or bm register */
#define TW_W_BYTES 32
#define TW_CM_BYTES 128

/* Lane i of `bits` bits: 4, 8, 16, 32 or 64. */
static inline uint64_t tw_lane(const void *vector, unsigned bits, unsigned i)
{
    const unsigned char *bytes = vector;
    switch (bits) {
    case 4:
        return bytes[i / 2] >> 4 * (i % 2) & 15u;
    case 8:
        return bytes[i];
    case 16:
        return tw_load_u16(bytes + (size_t)2 * i);
    case 32:
        return tw_load_u32(bytes + (size_t)4 * i);
    default:
        return tw_load_u64(bytes + (size_t)8 * i);
    }
}

/* The low `bits` bits of a value as two's complement. */
static inline int64_t tw_sign_extend(uint64_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    uint64_t low = bits == 64 ? value : value & (2 * sign - 1);
    return (int64_t)((low ^ sign) - sign);
}

static inline int64_t tw_lane_value(const void *vector, unsigned bits, unsigned i, int is_signed)
{
    uint64_t lane = tw_lane(vector, bits, i);
    return is_signed ? tw_sign_extend(lane, bits) : (int64_t)lane;
}

static inline void tw_set_lane(void *vector, unsigned bits, unsigned i, uint64_t value)
{
    unsigned char *bytes = vector;
    unsigned at = 4 * (i % 2);
    switch (bits) {
    case 4:
        bytes[i / 2] = (unsigned char)((bytes[i / 2] & ~(15u << at)) | (value & 15u) << at);
        break;
    case 8:
        bytes[i] = (unsigned char)value;
        break;
    case 16:
        tw_store_u16(bytes + (size_t)2 * i, (uint16_t)value);
        break;
    case 32:
        tw_store_u32(bytes + (size_t)4 * i, (uint32_t)value);
        break;
    default:
        tw_store_u64(bytes + (size_t)8 * i, value);
        break;
    }
}

#endif
