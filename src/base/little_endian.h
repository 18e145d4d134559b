/* Little-endian numbers at any address. */
#ifndef TW_BASE_LITTLE_ENDIAN_H
#define TW_BASE_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint16_t tw_load_u16(const unsigned char *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t tw_load_u32(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint64_t tw_load_u64(const unsigned char *from)
{
    return tw_load_u32(from) | (uint64_t)tw_load_u32(from + 4) << 32;
}

static inline void tw_store_u16(unsigned char *to, uint16_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

static inline void tw_store_u32(unsigned char *to, uint32_t value)
{
    tw_store_u16(to, (uint16_t)value);
    tw_store_u16(to + 2, (uint16_t)(value >> 16));
}

static inline void tw_store_u64(unsigned char *to, uint64_t value)
{
    tw_store_u32(to, (uint32_t)value);
    tw_store_u32(to + 4, (uint32_t)(value >> 32));
}

#endif
