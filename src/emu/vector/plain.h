/* The plain C functions that define what the tables of vector_kernels.h compute. */
#ifndef TW_EMU_VECTOR_PLAIN_H
#define TW_EMU_VECTOR_PLAIN_H

#include "emu/vector_kernels.h"

/* Bits of srF2FFlags, srF2IFlags and srFPFlags, as AM025 names them. */
enum tw_float_flag {
    TW_FLOAT_ZERO = 1,
    TW_FLOAT_INFINITY = 2,
    TW_FLOAT_INVALID = 4,
    TW_FLOAT_TINY = 8,
    TW_FLOAT_HUGE = 16
};

/* Values of crRnd for srs; 4..7, 14 and 15 are reserved. bf16 conversion numbers the first four differently. */
enum tw_rounding {
    TW_ROUND_FLOOR = 0,
    TW_ROUND_CEIL = 1,
    TW_ROUND_TO_ZERO = 2,
    TW_ROUND_FROM_ZERO = 3,
    TW_ROUND_HALF_DOWN = 8,
    TW_ROUND_HALF_UP = 9,
    TW_ROUND_HALF_TO_ZERO = 10,
    TW_ROUND_HALF_AWAY = 11,
    TW_ROUND_HALF_EVEN = 12,
    TW_ROUND_HALF_ODD = 13
};
int tw_rounding_is_known(unsigned rounding);

/*
 * One lane of srs: x is the accumulator's value; the result is the lane's bit pattern in the low how->to bits. A
 * negative shift is one to the left, before anything is saturated. *overflow (which must be 0 before the first lane)
 * becomes 1 when the rounded value does not fit.
 */
uint64_t tw_srs_lane(const struct tw_resize *how, int64_t x, unsigned *overflow);
uint64_t tw_ups_lane(const struct tw_resize *how, int64_t x, unsigned *overflow);
/* Input lanes of a pack are signed; is_signed is of the output. */
uint64_t tw_pack_lane(const struct tw_resize *how, int64_t x);
unsigned tw_plain_srs(const struct tw_resize *how, const void *in, void *out);
unsigned tw_plain_ups(const struct tw_resize *how, const void *in, void *out);
void tw_plain_pack(const struct tw_resize *how, const void *in, void *out);
void tw_plain_unpack(const struct tw_resize *how, const void *in, void *out);

/* fp32 to bf16 by crRnd, with the flags raised added to *flags. */
uint16_t tw_fp32_to_bf16_lane(unsigned rounding, uint32_t x, unsigned *flags);
void tw_plain_bf16_to_fp32(const void *in, void *out);
unsigned tw_plain_fp32_to_bf16(unsigned rounding, const void *in, void *out);
/* floor(x * 2^shift) as int32, shift -32 .. 31. */
int32_t tw_floor_lane(int shift, uint16_t x, unsigned *flags);

#define TW_SHUFFLE_MODES 48
/* The one mode that is no transposition: neighbours of 16 bits change places. */
#define TW_SHUFFLE_SWAP 38
struct tw_shuffle {
    uint16_t bits; /* of an element; this and the next two are powers of two */
    uint8_t rows, columns;
    uint8_t high; /* the last 64 bytes of the result, not the first */
};
extern const struct tw_shuffle tw_shuffles[TW_SHUFFLE_MODES];
void tw_plain_shuffle(unsigned mode, const void *a, const void *b, void *out);

/* a < b; bf16 lanes order as sign and magnitude, a NaN is neither less nor greater. */
int tw_bf16_less(uint16_t a, uint16_t b);
int tw_bf16_is_nan(uint16_t a);
void tw_plain_lanes(enum tw_lane_operation operation, unsigned bits, int is_signed, const void *a, const void *b,
                    void *out);
uint64_t tw_plain_less(unsigned bits, int is_signed, const void *a, const void *b);
void tw_plain_select(unsigned bits, uint64_t mask, const void *a, const void *b, void *out);

/* Multiply-accumulate: mac.h. */
void tw_plain_products(const struct tw_mac_mode *mode, int a_signed, int b_signed, const void *a, const void *b,
                       void *out);
void tw_plain_accumulate(const struct tw_accumulate *how, const void *acc1, const void *acc2, const void *products,
                         void *out);
unsigned tw_plain_bf16_matrix(const void *acc1, const void *acc2, const void *a, const void *b, void *out);
unsigned tw_plain_bf16_elements(const void *acc1, const void *acc2, const void *a, const void *b, void *out);
unsigned tw_plain_fp32_add(const void *acc1, const void *acc2, void *out);

#endif
