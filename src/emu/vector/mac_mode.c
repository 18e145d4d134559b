/* The table of integer modes. */
#include "mac.h"

#include <stddef.h>

#define INTEGER_AMODES 2

/* By amode, bmode and variant: pattern, lane bits, a bits, b bits, k, n, mask rule. */
static const struct tw_mac_mode dense[INTEGER_AMODES][4][8] = {
    [0][0][0] = {TW_MAC_MATRIX, 32, 8, 4, 16, 8, TW_MASK_UNKNOWN},
    [0][1][0] = {TW_MAC_MATRIX, 32, 8, 8, 8, 8, TW_MASK_BYTES},
    [0][1][1] = {TW_MAC_ELEMENTS, 32, 8, 8, 2, 32, TW_MASK_FIRST},
    [0][1][2] = {TW_MAC_CHANNELS, 32, 8, 8, 4, 8, TW_MASK_UNKNOWN},
    [0][1][3] = {TW_MAC_CHANNELS, 32, 8, 8, 8, 4, TW_MASK_BYTES},
    [0][1][4] = {TW_MAC_CHANNELS, 32, 8, 8, 8, 1, TW_MASK_BYTES},
    [0][2][0] = {TW_MAC_MATRIX, 32, 16, 8, 4, 8, TW_MASK_2X2_PAIRS},
    [0][2][1] = {TW_MAC_PAIRS, 32, 16, 8, 4, 8, TW_MASK_2X2_PAIRS},
    [0][3][0] = {TW_MAC_MATRIX, 32, 16, 16, 2, 8, TW_MASK_2X2},
    [0][3][1] = {TW_MAC_ELEMENTS, 32, 16, 16, 1, 32, TW_MASK_UNKNOWN},
    [1][0][0] = {TW_MAC_MATRIX, 64, 32, 16, 2, 4, TW_MASK_UNKNOWN},
    [1][0][1] = {TW_MAC_COMPLEX, 64, 32, 16, 2, 16, TW_MASK_TWO_HALVES},
    [1][2][0] = {TW_MAC_MATRIX, 64, 16, 8, 8, 8, TW_MASK_4X4_PAIRS},
    [1][2][1] = {TW_MAC_MATRIX, 64, 16, 8, 8, 4, TW_MASK_4X4_PAIRS},
    [1][3][0] = {TW_MAC_MATRIX, 64, 16, 16, 4, 8, TW_MASK_4X4},
    [1][3][1] = {TW_MAC_MATRIX, 64, 16, 16, 4, 4, TW_MASK_4X4},
    [1][3][2] = {TW_MAC_ELEMENTS, 64, 16, 16, 2, 16, TW_MASK_4X4},
    [1][3][3] = {TW_MAC_CHANNELS, 64, 16, 16, 4, 1, TW_MASK_4X4},
    [1][3][4] = {TW_MAC_COMPLEX, 64, 16, 16, 4, 16, TW_MASK_4X4},
};

/* k is the number of rows of the uncompressed B. */
static const struct tw_mac_mode sparse[INTEGER_AMODES][4][8] = {
    [0][0][1] = {TW_MAC_UNKNOWN, 32, 8, 4, 32, 8, TW_MASK_UNKNOWN},
    [0][1][5] = {TW_MAC_SPARSE, 32, 8, 8, 16, 8, TW_MASK_UNKNOWN},
    [1][2][2] = {TW_MAC_SPARSE, 64, 16, 8, 16, 8, TW_MASK_4X4_PAIRS},
    [1][3][5] = {TW_MAC_SPARSE, 64, 16, 16, 8, 8, TW_MASK_4X4},
};

/* With 64-bit accumulators, widths 8x8 act as 16x16. */
static unsigned widths(const struct tw_mac_word *word)
{
    return word->amode == TW_AMODE_64 && word->bmode == 1 ? 3 : word->bmode;
}

const struct tw_mac_mode *tw_mac_dense_mode(const struct tw_mac_word *word)
{
    return &dense[word->amode & 1][widths(word)][word->variant];
}

const struct tw_mac_mode *tw_mac_sparse_mode(const struct tw_mac_word *word)
{
    const struct tw_mac_mode *mode = &sparse[word->amode & 1][widths(word)][word->variant];
    return mode->pattern != TW_MAC_NONE ? mode : tw_mac_dense_mode(word);
}

void tw_mac_elements(const struct tw_mac_mode *mode, unsigned lane, unsigned term, unsigned *f, unsigned *g)
{
    unsigned n = mode->n;
    switch (mode->pattern) {
    case TW_MAC_MATRIX:
        *f = mode->k * (lane / n) + term;
        *g = n * term + lane % n;
        break;
    case TW_MAC_ELEMENTS:
        *f = *g = lane + n * term;
        break;
    case TW_MAC_CHANNELS:
        *f = lane + n * term;
        *g = n * term + lane % n;
        break;
    case TW_MAC_PAIRS:
        *f = n * (lane / n) + 2 * term + lane % 2;
        *g = n * term + lane % n;
        break;
    default: /* TW_MAC_COMPLEX */
        *f = (lane & ~1u) + n * (term / 2) + term % 2;
        *g = (lane & ~1u) + n * (term / 2) + (term % 2 ^ lane % 2);
        break;
    }
}

static unsigned mask_bit(unsigned rule, unsigned lane, unsigned term)
{
    switch (rule) {
    case TW_MASK_4X4:
        return 4 * (lane % 2) + term % 4;
    case TW_MASK_4X4_PAIRS:
        return 4 * (lane % 2) + term / 2;
    case TW_MASK_2X2:
        return 2 * (lane % 4) + term;
    case TW_MASK_2X2_PAIRS:
        return 2 * (lane % 4) + term / 2;
    case TW_MASK_BYTES:
        return 4 * (lane % 2) + 2 * (term % 2) + term / 4;
    case TW_MASK_TWO_HALVES:
        return 4 * (lane % 2) + term;
    default:
        return 4 * (lane % 2);
    }
}

const char *tw_mac_mask_unknown(const struct tw_mac_mode *mode, unsigned sub_mask)
{
    if (mode->pattern == TW_MAC_NONE)
        return NULL;
    if (mode->mask_rule == TW_MASK_UNKNOWN && sub_mask != 0)
        return "a mask of negated products in this multiply-accumulate mode is not modelled";
    if (mode->mask_rule == TW_MASK_TWO_HALVES && ((sub_mask ^ sub_mask >> 2) & 0x33u) != 0)
        return "a mask that negates one half of a 32 x 16 bit product is not modelled";
    return NULL;
}

int tw_mac_negates(const struct tw_mac_mode *mode, unsigned sub_mask, unsigned lane, unsigned term)
{
    return mode->mask_rule != TW_MASK_UNKNOWN && (sub_mask >> mask_bit(mode->mask_rule, lane, term) & 1u) != 0;
}
