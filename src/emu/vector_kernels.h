/*
 * The inner functions of the vector unit that take the emulator's time, as one table for each instruction set of the
 * host: plain C, which defines the right answer, and faster ones that equal it bit for bit on every input.
 */
#ifndef TW_EMU_VECTOR_KERNELS_H
#define TW_EMU_VECTOR_KERNELS_H

#include <stdint.h>

struct tw_mac_mode; /* vector/mac.h */

enum tw_kernel_set { TW_KERNELS_C, TW_KERNELS_AVX2, TW_KERNELS_AVX512, TW_KERNEL_SETS };

/* A shift-round-saturate, a pack, an upshift or an unpack: lanes of `from` bits to lanes of `to` bits. */
struct tw_resize {
    uint8_t from, to, lanes;
    int8_t shift;      /* srs: right by -32 .. 31; ups: left by 0 .. 31 */
    uint8_t rounding;  /* crRnd: srs only */
    uint8_t saturate;  /* crSat: bit 0 saturate, bit 1 symmetric */
    uint8_t is_signed; /* input and output */
};

/* What becomes of the terms of an integer sum; lanes of 32 or 64 bits, 128 bytes in all. */
struct tw_accumulate {
    unsigned lane_bits;
    unsigned shift; /* of acc1, to the left */
    unsigned negates_acc1, negates_acc2, negates_products;
};

/* 512-bit operations on lanes of 8, 16 or 32 bits that give a vector. */
enum tw_lane_operation {
    TW_LANES_ADD,
    TW_LANES_SUB,
    TW_LANES_MAX,
    TW_LANES_MIN,
    TW_LANES_MAXDIFF, /* max(a - b, 0) */
    TW_LANES_OPERATIONS
};

/*
 * Vectors are byte strings as in semantics.h: 64 bytes for x, w 32, bm 64, cm 128; results never overlap inputs. All
 * pointers are aligned to 32 bytes or more.
 */
struct tw_vector_kernels {
    const char *name;
    int denormals_are_zero; /* bf16 multiply-accumulate reads denormals as zeros (unknown.h) */

    /*
     * acc1 + acc2 + products, 16 lanes of fp32, signs already in the inputs: a 4x8 by 8x4 product, or two elementwise
     * ones. acc2 may be NULL: there is none. Returns the bits of srFPFlags.
     */
    unsigned (*bf16_matrix)(const void *acc1, const void *acc2, const void *a, const void *b, void *out);
    unsigned (*bf16_elements)(const void *acc1, const void *acc2, const void *a, const void *b, void *out);
    /* acc1 + acc2 (or NULL); a sum too small for a number is a zero that keeps its sign. */
    unsigned (*fp32_add)(const void *acc1, const void *acc2, void *out);

    /* The sums of products of a dense integer mode with no product negated: 32 lanes of 32 bits or 16 of 64. */
    void (*products)(const struct tw_mac_mode *mode, int a_signed, int b_signed, const void *a, const void *b,
                     void *out);

    /* +-(acc1 << shift) +- acc2 +- products, modulo the lane's width; acc2 may be NULL: there is none. */
    void (*accumulate)(const struct tw_accumulate *how, const void *acc1, const void *acc2, const void *products,
                       void *out);

    /* Shift-round-saturate and upshift; both return whether a lane overflowed. */
    unsigned (*srs)(const struct tw_resize *how, const void *in, void *out);
    unsigned (*ups)(const struct tw_resize *how, const void *in, void *out);
    void (*pack)(const struct tw_resize *how, const void *in, void *out);   /* 64 bytes to 32 */
    void (*unpack)(const struct tw_resize *how, const void *in, void *out); /* 32 bytes to 64 */

    void (*shuffle)(unsigned mode, const void *a, const void *b, void *out); /* mode 0 .. 47 */

    void (*bf16_to_fp32)(const void *in, void *out);                        /* 16 lanes */
    unsigned (*fp32_to_bf16)(unsigned rounding, const void *in, void *out); /* returns the bits of srF2FFlags */

    /* Lanes of `bits` bits. compare: bit k of the result tells of lane k whether a < b. */
    void (*lanes)(enum tw_lane_operation operation, unsigned bits, int is_signed, const void *a, const void *b,
                  void *out);
    uint64_t (*less)(unsigned bits, int is_signed, const void *a, const void *b);
    void (*select)(unsigned bits, uint64_t mask, const void *a, const void *b, void *out); /* bit set: b */
};

/* The table of a set; NULL when this build or this processor has it not. */
const struct tw_vector_kernels *tw_vector_kernels_of(enum tw_kernel_set set, int denormals_are_zero);
/* The fastest table that this processor runs. */
const struct tw_vector_kernels *tw_vector_kernels_best(int denormals_are_zero);

#endif
