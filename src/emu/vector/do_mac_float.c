/* Multiply-accumulate with fp32 accumulators, in all modes: signs, shifts, denormals, sparse factors. */
#include "mac_operands.h"
#include "plain.h"

#include <string.h>

#define BM_BYTES 64

#define FP32_SIGN 0x80000000u
#define BF16_SIGN 0x8000u

enum float_mode { FLOAT_NONE, FLOAT_MATRIX, FLOAT_ELEMENTS, FLOAT_SPARSE };

/* An accumulator with its shift and sign: where it is, or in `changed`. */
static const void *signed_accumulator(const void *acc, unsigned shift, int negates, void *changed)
{
    uint32_t lanes[16];
    if (shift == 0 && !negates)
        return acc;
    const uint32_t sign = negates ? FP32_SIGN : 0;
    memcpy(lanes, acc, sizeof lanes);
    for (unsigned i = 0; i < 16; i++)
        lanes[i] = (lanes[i] << shift) ^ sign;
    memcpy(changed, lanes, sizeof lanes);
    return changed;
}

/*
 * The second factor with the signs of the products, where it is or in `changed`: bit 4 (lane % 2) + term % 4 of the
 * mask negates a product.
 */
static const void *signed_factor(const struct tw_mac_operands *o, int columns, void *changed)
{
    uint16_t lanes[32];
    if (o->word.sub_mask == 0 && !o->how.negates_products)
        return o->b;
    memcpy(lanes, o->b, sizeof lanes);
    for (int i = 0; i < 32; i++) {
        int negates = (o->word.sub_mask >> (4 * (i % 2) + i / columns % 4) & 1) ^ o->how.negates_products;
        lanes[i] ^= negates ? BF16_SIGN : 0;
    }
    memcpy(changed, lanes, sizeof lanes);
    return changed;
}

static const void *without_denormals(const void *from, unsigned count, void *changed)
{
    for (unsigned i = 0; i < count; i++) {
        uint16_t x = (uint16_t)tw_lane(from, 16, i);
        tw_set_lane(changed, 16, i, (x & 0x7f80u) == 0 ? x & BF16_SIGN : x);
    }
    return changed;
}

static unsigned sparse_float(const void *acc1, const void *acc2, const void *a, unsigned rows, const void *b,
                             const unsigned char mask[16], void *out)
{
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct tw_bf16_lane lane = {.acc1 = (uint32_t)tw_lane(acc1, 32, i),
                                    .acc2 = acc2 != NULL ? (uint32_t)tw_lane(acc2, 32, i) : 0};
        for (unsigned t = 0; t < 8 && i / 4 < rows; t++) {
            int from = tw_sparse_row(mask, 2, 16, i % 4, t);
            if (from < 0)
                continue;
            lane.a[lane.pairs] = (uint16_t)tw_lane(a, 16, 16 * (i / 4) + (unsigned)from);
            lane.b[lane.pairs++] = (uint16_t)tw_lane(b, 16, 4 * t + i % 4);
        }
        tw_set_lane(out, 32, i, tw_bf16_sum(&lane, &flags));
    }
    return flags;
}

/*
 * What a float instruction multiplies. Float modes ignore the widths; modes of integers that have products give values
 * in float instructions that nobody has explained.
 */
static const char *float_mode(const struct tw_semantics *row, const struct tw_mac_word *word, enum float_mode *mode)
{
    static const enum float_mode modes[3] = {FLOAT_MATRIX, FLOAT_ELEMENTS, FLOAT_SPARSE};
    int sparse = row->c != TW_SHAPE_DENSE;
    *mode = FLOAT_NONE;
    if (word->amode >= TW_AMODE_FLOAT) {
        *mode = word->variant < 2u + (unsigned)sparse ? modes[word->variant] : FLOAT_NONE;
        return NULL;
    }
    /* A sparse mode in a dense instruction has no products; with two accumulators its sum is another all the same. */
    int listed = tw_mac_dense_mode(word)->pattern != TW_MAC_NONE ||
                 ((sparse || row->a == 2) && tw_mac_sparse_mode(word)->pattern != TW_MAC_NONE);
    return listed ? "an integer mode in a float multiply-accumulate is not modelled" : NULL;
}

static unsigned float_sum(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                          const struct tw_mac_operands *o, enum float_mode mode, const void *acc1, const void *acc2,
                          void *out)
{
    alignas(64) unsigned char changed_a[2 * TW_X_BYTES], signed_b[TW_X_BYTES], changed_b[TW_X_BYTES];
    const void *a = o->a, *b = signed_factor(o, mode == FLOAT_ELEMENTS ? 16 : 4, signed_b);
    if (kernels->denormals_are_zero) {
        a = without_denormals(a, row->c == TW_SHAPE_SPARSE_WIDE ? 64 : 32, changed_a);
        b = without_denormals(b, 32, changed_b);
    }
    if (mode == FLOAT_MATRIX)
        return kernels->bf16_matrix(acc1, acc2, a, b, out);
    if (mode == FLOAT_ELEMENTS)
        return kernels->bf16_elements(acc1, acc2, a, b, out);
    return sparse_float(acc1, acc2, a, row->c == TW_SHAPE_SPARSE_WIDE ? 4 : 2, b,
                        (const unsigned char *)o->b + TW_X_BYTES, out);
}

/* A multiply-accumulate whose mode has no products: the accumulators alone. */
static unsigned float_without_products(const void *acc1, const void *acc2, void *out)
{
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct tw_bf16_lane lane = {.acc1 = (uint32_t)tw_lane(acc1, 32, i),
                                    .acc2 = acc2 != NULL ? (uint32_t)tw_lane(acc2, 32, i) : 0};
        tw_set_lane(out, 32, i, tw_bf16_sum(&lane, &flags));
    }
    return flags;
}

const char *tw_do_any_mac_float(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    alignas(64) unsigned char changed1[BM_BYTES], changed2[BM_BYTES];
    struct tw_mac_operands o = tw_mac_operands(row, in);
    enum float_mode mode = FLOAT_NONE;
    const char *unknown = row->c != TW_SHAPE_NONE ? float_mode(row, &o.word, &mode) : NULL;
    if (unknown != NULL)
        return unknown;
    const void *acc1 = signed_accumulator(o.acc1, o.how.shift, o.how.negates_acc1, changed1);
    const void *acc2 = row->a > 1 ? signed_accumulator(o.acc2, 0, o.how.negates_acc2, changed2) : NULL;
    unsigned flags;
    if (row->c == TW_SHAPE_NONE)
        flags = kernels->fp32_add(acc1, acc2, out[0]);
    else if (mode == FLOAT_NONE)
        flags = float_without_products(acc1, acc2, out[0]);
    else
        flags = float_sum(row, kernels, &o, mode, acc1, acc2, out[0]);
    tw_set_scalar(out[tw_first_def(row)], flags);
    return NULL;
}
