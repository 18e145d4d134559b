/*
 * Multiply-accumulate: what the configuration word (operand c) says, which elements meet in which lane, and the exact
 * arithmetic. Element numbers follow from the modes' names in AMD's headers; recordings of the chip confirm most of
 * them.
 */
#ifndef TW_EMU_VECTOR_MAC_H
#define TW_EMU_VECTOR_MAC_H

#include <stdint.h>

/* Whole words: compilers put small fields together and then wait for them. */
struct tw_mac_word {
    unsigned zero_acc, shift16; /* acc1 reads as 0; acc1 << 16 */
    unsigned amode, bmode, variant;
    unsigned a_signed, b_signed;
    unsigned sub_mul, sub_acc1, sub_acc2;
    unsigned sub_mask; /* which products are negated, by mask_rule of the mode */
};
static inline unsigned tw_mac_bits(uint32_t c, unsigned low, unsigned count)
{
    return c >> low & ((1u << count) - 1);
}

static inline struct tw_mac_word tw_mac_word(uint32_t c)
{
    return (struct tw_mac_word){
        .zero_acc = tw_mac_bits(c, 0, 1),
        .amode = tw_mac_bits(c, 1, 2),
        .bmode = tw_mac_bits(c, 3, 2),
        .variant = tw_mac_bits(c, 5, 3),
        .b_signed = tw_mac_bits(c, 8, 1),
        .a_signed = tw_mac_bits(c, 9, 1),
        .shift16 = tw_mac_bits(c, 10, 1),
        .sub_mul = tw_mac_bits(c, 11, 1),
        .sub_acc1 = tw_mac_bits(c, 12, 1),
        .sub_acc2 = tw_mac_bits(c, 13, 1),
        .sub_mask = tw_mac_bits(c, 16, 8),
    };
}

/* Words that AMD's programs use most change nothing: no shift16, no sub bits; with TW_WORD_FLOAT_MASK they are a dense
 * float mode, 4x8x4 or, with TW_WORD_ELEMENTS, elementwise. */
#define TW_WORD_ZERO_ACC 0x1u
#define TW_WORD_CHANGES 0xff3c00u
#define TW_WORD_FLOAT_MASK 0xc4u
#define TW_WORD_FLOAT 0x04u
#define TW_WORD_ELEMENTS 0x20u

/* The accumulators as amode names them. */
enum { TW_AMODE_32, TW_AMODE_64, TW_AMODE_FLOAT, TW_AMODE_FLOAT_TOO };

/* Which elements A[f] and B[g] make term t of lane i; k is the number of terms, n the mode's number. */
enum tw_mac_pattern {
    TW_MAC_NONE,     /* not a mode: no products */
    TW_MAC_MATRIX,   /* f = k * (i / n) + t, g = n * t + i % n */
    TW_MAC_ELEMENTS, /* f = g = i + n * t */
    TW_MAC_CHANNELS, /* convolution, n channels: f = i + n * t, g = n * t + i % n */
    TW_MAC_PAIRS,    /* two matrices, interleaved: f = 8 (i / 8) + 2t + i % 2, g = 8t + i % 8 */
    TW_MAC_COMPLEX,  /* elements 2j, 2j + 1 are the parts of number j; terms 2, 3 are 16 elements further on */
    TW_MAC_SPARSE,   /* as MATRIX, B compressed by the mask */
    TW_MAC_UNKNOWN   /* a mode whose elements nobody has told */
};

/* Which bit of sub_mask negates term t of lane i. */
enum tw_mask_rule {
    TW_MASK_UNKNOWN,   /* only 0 is modelled */
    TW_MASK_4X4,       /* 4 (i % 2) + t % 4 */
    TW_MASK_4X4_PAIRS, /* 4 (i % 2) + t / 2 */
    TW_MASK_2X2,       /* 2 (i % 4) + t */
    TW_MASK_2X2_PAIRS, /* 2 (i % 4) + t / 2 */
    TW_MASK_BYTES,     /* 4 (i % 2) + 2 (t % 2) + t / 4 */
    TW_MASK_FIRST,     /* 4 (i % 2) */
    TW_MASK_TWO_HALVES /* a product is two: 4 (i % 2) + t and 4 (i % 2) + 2 + t, which must be alike */
};

struct tw_mac_mode {
    uint8_t pattern;   /* enum tw_mac_pattern */
    uint8_t lane_bits; /* 32 lanes of 32 or 16 of 64 */
    uint8_t a_bits, b_bits;
    uint8_t k, n;
    uint8_t mask_rule; /* enum tw_mask_rule */
};

/* The mode of an integer word in a dense or sparse instruction; pattern TW_MAC_NONE when it has no products. */
const struct tw_mac_mode *tw_mac_dense_mode(const struct tw_mac_word *word);
const struct tw_mac_mode *tw_mac_sparse_mode(const struct tw_mac_word *word);

void tw_mac_elements(const struct tw_mac_mode *mode, unsigned lane, unsigned term, unsigned *f, unsigned *g);
/* NULL, or why the sub_mask is not modelled. */
const char *tw_mac_mask_unknown(const struct tw_mac_mode *mode, unsigned sub_mask);
int tw_mac_negates(const struct tw_mac_mode *mode, unsigned sub_mask, unsigned lane, unsigned term);

/* The sums of products of a mode, lanes of mode->lane_bits: 128 bytes. */
void tw_mac_products(const struct tw_mac_mode *mode, const struct tw_mac_word *word, const void *a, const void *b,
                     void *out);
/* The same for a sparse mode; qx is 64 bytes of data, then 16 of mask. */
void tw_mac_sparse_products(const struct tw_mac_mode *mode, const struct tw_mac_word *word, const void *a,
                            const void *qx, void *out);

/*
 * The compressed row `term` of column n of a sparse B with k rows: which row of B it is, or -1 for none. Bits of the
 * mask are numbered as the bytes of the uncompressed column-major B, of element_bytes each.
 */
int tw_sparse_row(const unsigned char mask[16], unsigned element_bytes, unsigned k, unsigned n, unsigned term);

/* Products of bf16 are summed with two accumulators; inputs are bit patterns whose signs are final. */
#define TW_BF16_PAIRS_MAX 8
struct tw_bf16_lane {
    uint32_t acc1, acc2;
    unsigned pairs;
    uint16_t a[TW_BF16_PAIRS_MAX], b[TW_BF16_PAIRS_MAX];
    int keeps_sign_of_zero; /* underflow gives a zero with the sign of the sum: additions */
};
/* The sum; bits of srFPFlags are added to *flags. */
uint32_t tw_bf16_sum(const struct tw_bf16_lane *lane, unsigned *flags);

#endif
