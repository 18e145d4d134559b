/* Fields of register words; a field is a TW_FIELD_* of the generated npu1_registers.h: low bit | width << 8. */
#ifndef TW_NPU1_BITS_H
#define TW_NPU1_BITS_H

#include <stdint.h>

static inline unsigned tw_bits_low(int field)
{
    return (unsigned)field & 0xff;
}

static inline unsigned tw_bits_width(int field)
{
    return (unsigned)field >> 8;
}

/* The largest value of a field of at most 32 bits. */
static inline uint32_t tw_bits_top(int field)
{
    return UINT32_MAX >> (32 - tw_bits_width(field));
}

static inline uint32_t tw_bits_mask(int field)
{
    return tw_bits_top(field) << tw_bits_low(field);
}

static inline uint32_t tw_bits_get(uint32_t word, int field)
{
    return word >> tw_bits_low(field) & tw_bits_top(field);
}

/* The word with nothing but a field; what does not fit is cut off. */
static inline uint32_t tw_bits_put(uint32_t value, int field)
{
    return (value & tw_bits_top(field)) << tw_bits_low(field);
}

#endif
