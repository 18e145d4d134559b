/* Sums of integer products: exact, modulo the lane's width. */
#include "lanes.h"
#include "mac.h"
#include "plain.h"

/* A product of a 32 and a 16 bit number, and a sum of such, fit easily; wider sums wrap as the lanes do. */
static uint64_t product(int64_t a, int64_t b, int negated)
{
    uint64_t p = (uint64_t)a * (uint64_t)b;
    return negated ? -p : p;
}

void tw_mac_products(const struct tw_mac_mode *mode, const struct tw_mac_word *word, const void *a, const void *b,
                     void *out)
{
    for (unsigned i = 0; i < 8 * TW_CM_BYTES / mode->lane_bits; i++) {
        uint64_t sum = 0;
        for (unsigned t = 0; t < mode->k; t++) {
            unsigned f, g;
            tw_mac_elements(mode, i, t, &f, &g);
            sum +=
                product(tw_lane_value(a, mode->a_bits, f, word->a_signed),
                        tw_lane_value(b, mode->b_bits, g, word->b_signed), tw_mac_negates(mode, word->sub_mask, i, t));
        }
        tw_set_lane(out, mode->lane_bits, i, sum);
    }
}

void tw_plain_products(const struct tw_mac_mode *mode, int a_signed, int b_signed, const void *a, const void *b,
                       void *out)
{
    struct tw_mac_word word = {.a_signed = (unsigned)a_signed, .b_signed = (unsigned)b_signed};
    tw_mac_products(mode, &word, a, b, out);
}

void tw_plain_accumulate(const struct tw_accumulate *how, const void *acc1, const void *acc2, const void *products,
                         void *out)
{
    for (unsigned i = 0; i < 8 * TW_CM_BYTES / how->lane_bits; i++) {
        uint64_t x = tw_lane(acc1, how->lane_bits, i) << how->shift;
        uint64_t y = acc2 != NULL ? tw_lane(acc2, how->lane_bits, i) : 0;
        uint64_t p = tw_lane(products, how->lane_bits, i);
        tw_set_lane(out, how->lane_bits, i,
                    (how->negates_acc1 ? -x : x) + (how->negates_acc2 ? -y : y) + (how->negates_products ? -p : p));
    }
}

/* Groups of four rows; two slots a group. One element alone lies in the slot of its half of the group. */
int tw_sparse_row(const unsigned char mask[16], unsigned element_bytes, unsigned k, unsigned n, unsigned term)
{
    unsigned group = term / 2, slot = term % 2, found = 0, at[4];
    for (unsigned p = 0; p < 4; p++) {
        unsigned bit = element_bytes * (k * n + 4 * group + p), any = 0;
        for (unsigned byte = 0; byte < element_bytes; byte++)
            any |= mask[(bit + byte) / 8] >> (bit + byte) % 8 & 1u;
        if (any)
            at[found++] = p;
    }
    if (found == 2)
        return (int)(4 * group + at[slot]);
    if (found == 1 && at[0] / 2 == slot)
        return (int)(4 * group + at[0]);
    return -1;
}

void tw_mac_sparse_products(const struct tw_mac_mode *mode, const struct tw_mac_word *word, const void *a,
                            const void *qx, void *out)
{
    const unsigned char *mask = (const unsigned char *)qx + TW_X_BYTES;
    for (unsigned i = 0; i < 8 * TW_CM_BYTES / mode->lane_bits; i++) {
        unsigned row = i / mode->n, column = i % mode->n;
        uint64_t sum = 0;
        for (unsigned t = 0; t < mode->k / 2u; t++) {
            int from = tw_sparse_row(mask, mode->b_bits / 8u, mode->k, column, t);
            if (from >= 0)
                sum += product(tw_lane_value(a, mode->a_bits, mode->k * row + (unsigned)from, word->a_signed),
                               tw_lane_value(qx, mode->b_bits, mode->n * t + column, word->b_signed),
                               tw_mac_negates(mode, word->sub_mask, i, t));
        }
        tw_set_lane(out, mode->lane_bits, i, sum);
    }
}
