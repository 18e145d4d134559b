/* The values of operands and the fields that hold them. */
#ifndef TW_ISA_OPERAND_H
#define TW_ISA_OPERAND_H

#include "isa/isa.h"

/* Cuts an operand's field out of a slot's word. */
static inline uint64_t tw_field_get(const struct tw_operand_info *o, uint64_t word)
{
    uint64_t field = word >> o->ranges[0].low;
    unsigned at = o->ranges[0].high - o->ranges[0].low + 1u;
    for (unsigned i = 1; i < o->n_ranges; i++) {
        field = (field & (((uint64_t)1 << at) - 1)) | word >> o->ranges[i].low << at;
        at += o->ranges[i].high - o->ranges[i].low + 1u;
    }
    return field & (((uint64_t)1 << o->bits) - 1);
}

/* The bits of a slot's word that hold a field. */
static inline uint64_t tw_field_put(const struct tw_operand_info *o, uint64_t field)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < o->n_ranges; i++) {
        unsigned n = o->ranges[i].high - o->ranges[i].low + 1u;
        word |= (field & (((uint64_t)1 << n) - 1)) << o->ranges[i].low;
        field >>= n;
    }
    return word;
}

/* The immediate that a field stands for. */
static inline int64_t tw_field_immediate(const struct tw_operand_info *o, uint64_t field)
{
    int64_t value = (int64_t)field;
    if (o->is_negative || (o->is_signed && (field >> (o->bits - 1) & 1) != 0))
        value -= (int64_t)1 << o->bits;
    return value * o->scale;
}

/* The field of a value that fits (tw_operand_fits). */
uint64_t tw_operand_field(const struct tw_operand_info *o, int64_t value);

#endif
