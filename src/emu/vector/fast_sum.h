/*
 * Sums of bf16 products in single floats. When the largest exponent of a lane's terms (mac_bf16.c) lies in the range
 * below, a product of two bf16 numbers is an exact float unless it is far too small to count; scaled to units of the
 * sum and converted to an integer it is rounded as the definition says, the integers add up without overflow, and the
 * sum's conversion back is the final rounding. What lies outside, and NaN and infinity, are left to the definition.
 * Rounding of the processor must be to nearest, and denormals on, as a program begins with.
 */
#ifndef TW_EMU_VECTOR_FAST_SUM_H
#define TW_EMU_VECTOR_FAST_SUM_H

enum {
    SUM_ZERO_EXPONENT = -1024,  /* of a zero factor: no partner makes it a positive sum */
    SUM_ACCUMULATOR_BIAS = 128, /* an accumulator's exponent counts as one of two bf16 factors */
    /*
     * Above the minimum, terms that floats hold inexactly or not at all (below 2^-126) are less than 2^-18 units; below
     * the maximum, no product reaches 2^128 and 2^-102 is a normal scale.
     */
    SUM_EXPONENT_MIN = 170,
    SUM_EXPONENT_MAX = 380,
    SUM_NOTHING_MAX = 2, /* exponents of a lane without terms; a term's is at least 3 */
    /* One unit of the sum is 2^(exponent - 278): the biased exponent of its inverse; the patterns of both add up so. */
    SUM_SCALE_BIAS = 278 + 127,
    SUM_INVERSE_BITS = 254 << 23
};

/* The table of a set: its own functions by their names, loops for the rest. */
#define FAST_TABLE(set, zero)                                                                                          \
    {                                                                                                                  \
        .name = set, .denormals_are_zero = zero, .bf16_matrix = bf16_matrix, .bf16_elements = bf16_elements,           \
        .fp32_add = fp32_add, .products = products, .accumulate = loop_accumulate, .srs = loop_srs, .ups = loop_ups,   \
        .pack = loop_pack, .unpack = loop_unpack, .shuffle = shuffle, .bf16_to_fp32 = loop_bf16_to_fp32,               \
        .fp32_to_bf16 = loop_fp32_to_bf16, .lanes = loop_lanes, .less = less, .select = select_lanes,                  \
    }

#endif
