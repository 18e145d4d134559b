/* The functions of the rows in rows.c: what each reads in the row's a, b, c, d stands with it. */
#ifndef TW_EMU_VECTOR_FUNCTIONS_H
#define TW_EMU_VECTOR_FUNCTIONS_H

#include "emu/semantics.h"

#include <string.h>

/*
 * Multiply-accumulate and accumulator arithmetic. a: number of accumulators read; b: enum tw_mac_sign bits; c: enum
 * tw_mac_shape. The configuration word is the last operand.
 */
enum tw_mac_sign { TW_SIGN_PRODUCT = 1, TW_SIGN_ACC1 = 2, TW_SIGN_ACC2 = 4 };
enum tw_mac_shape { TW_SHAPE_NONE, TW_SHAPE_DENSE, TW_SHAPE_SPARSE, TW_SHAPE_SPARSE_WIDE };
tw_semantic_function tw_do_mac, tw_do_mac_float;
tw_semantic_function tw_do_copy;  /* a: bytes */
tw_semantic_function tw_do_clear; /* a: bytes; b: it has float flags */

/* Resizes: a, b: bits of an input and an output lane; c: lanes; d: 1 signed, 0 as the control register says. */
tw_semantic_function tw_do_srs, tw_do_ups, tw_do_pack, tw_do_unpack;
tw_semantic_function tw_do_bf16_to_fp32, tw_do_fp32_to_bf16, tw_do_floor;

/* Lanes: a: bits; b: enum tw_lane_sign; c, d: what the function does with them. */
enum tw_lane_sign { TW_LANE_BY_CONTROL, TW_LANE_SIGNED, TW_LANE_BF16 };
tw_semantic_function tw_do_lanes;         /* c: enum tw_lane_operation; no compare */
tw_semantic_function tw_do_lanes_compare; /* c: enum tw_lane_operation; d: 1: compare a >= b, 0: a < b */
tw_semantic_function tw_do_compare;       /* d: as above */
tw_semantic_function tw_do_is_zero;
tw_semantic_function tw_do_bits; /* d: 0 and, 1 or */
tw_semantic_function tw_do_select, tw_do_add_or_subtract;
tw_semantic_function tw_do_one; /* one operand and its compare; c: enum tw_one_operation */
enum tw_one_operation { TW_ONE_ABSOLUTE, TW_ONE_NEGATE, TW_ONE_COMPLEMENT };

/* Elements: a: bits. */
tw_semantic_function tw_do_broadcast, tw_do_broadcast_shuffle, tw_do_extract_broadcast;
tw_semantic_function tw_do_extract; /* b: enum tw_lane_sign */
tw_semantic_function tw_do_insert, tw_do_push_low, tw_do_push_high;
tw_semantic_function tw_do_shuffle, tw_do_shift, tw_do_shift_align;

tw_semantic_function tw_do_sparse_load, tw_do_compressed_load; /* not modelled */

/* The value of a scalar operand, and the numbers of the implicit definitions and uses. */
static inline uint32_t tw_scalar_value(const void *value)
{
    uint32_t number;
    memcpy(&number, value, sizeof number);
    return number;
}

static inline void tw_set_scalar(void *value, uint32_t number)
{
    memcpy(value, &number, sizeof number);
}

static inline unsigned tw_first_def(const struct tw_semantics *row)
{
    return tw_instructions[row->instruction].n_operands;
}

static inline unsigned tw_first_use(const struct tw_semantics *row)
{
    return tw_instructions[row->instruction].n_operands + tw_instructions[row->instruction].n_defs;
}

#endif
