/* Multiply-accumulate and accumulator instructions: configuration word, signs, accumulators. */
#include "functions.h"
#include "lanes.h"
#include "mac.h"
#include "plain.h"

#include <stdalign.h>
#include <string.h>

#define BM_BYTES 64

/* What an instruction of these works on; acc2 NULL: there is none. */
struct mac_operands {
    struct tw_mac_word word;
    const void *acc1, *acc2, *a, *b;
    struct tw_accumulate how;
};

static const alignas(64) unsigned char zeros[TW_CM_BYTES] = {0};

static inline struct mac_operands operands(const struct tw_semantics *row, const void *const in[TW_VALUES_MAX])
{
    unsigned at = 1; /* after the output */
    struct mac_operands o = {.acc1 = row->a > 0 ? in[at++] : zeros};
    o.acc2 = row->a > 1 ? in[at++] : NULL;
    if (row->c != TW_SHAPE_NONE) {
        o.a = in[at++];
        o.b = in[at++];
    }
    o.word = tw_mac_word(tw_scalar_value(in[at]));
    if (o.word.zero_acc)
        o.acc1 = zeros;
    o.how.lane_bits = o.word.amode == TW_AMODE_64 ? 64 : 32;
    o.how.shift = o.word.shift16 ? 16 : 0;
    o.how.negates_products = ((row->b & TW_SIGN_PRODUCT) != 0) ^ o.word.sub_mul;
    o.how.negates_acc1 = ((row->b & TW_SIGN_ACC1) != 0) ^ o.word.sub_acc1;
    o.how.negates_acc2 = ((row->b & TW_SIGN_ACC2) != 0) ^ o.word.sub_acc2;
    return o;
}

/* Integer accumulators */

static const char *integer_products(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                    const struct mac_operands *o, void *products)
{
    const struct tw_mac_word *word = &o->word;
    unsigned float_variants = row->c == TW_SHAPE_DENSE ? 2 : 3;
    if (word->amode >= TW_AMODE_FLOAT) {
        memset(products, 0, TW_CM_BYTES);
        return word->variant < float_variants ? "a float mode in an integer multiply-accumulate is not modelled" : NULL;
    }
    const struct tw_mac_mode *mode = row->c == TW_SHAPE_DENSE ? tw_mac_dense_mode(word) : tw_mac_sparse_mode(word);
    const char *unknown = tw_mac_mask_unknown(mode, word->sub_mask);
    if (unknown != NULL)
        return unknown;
    switch (mode->pattern) {
    case TW_MAC_NONE:
        memset(products, 0, TW_CM_BYTES);
        break;
    case TW_MAC_UNKNOWN:
        return "a sparse product of 8 by 4 bits is not modelled";
    case TW_MAC_SPARSE:
        tw_mac_sparse_products(mode, word, o->a, o->b, products);
        break;
    default:
        if (word->sub_mask == 0)
            kernels->products(mode, word->a_signed, word->b_signed, o->a, o->b, products);
        else
            tw_mac_products(mode, word, o->a, o->b, products);
        break;
    }
    return NULL;
}

/* The way of nearly all calls: a dense integer mode without shifts and signs, at most one accumulator. 0: it is not. */
static inline int usual_mac(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                            const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    alignas(64) unsigned char products[TW_CM_BYTES];
    unsigned at = 1 + (unsigned)row->a; /* of the first factor */
    uint32_t c = row->c == TW_SHAPE_DENSE ? tw_scalar_value(in[at + 2]) : 0;
    if (row->c != TW_SHAPE_DENSE || (c & (TW_WORD_CHANGES | TW_WORD_FLOAT)) != 0 || row->b != 0 || row->a > 1)
        return 0;
    const struct tw_mac_word word = tw_mac_word(c);
    const struct tw_mac_mode *mode = tw_mac_dense_mode(&word);
    if (mode->pattern == TW_MAC_NONE)
        return 0;
    int adds = row->a == 1 && !word.zero_acc;
    kernels->products(mode, word.a_signed != 0, word.b_signed != 0, in[at], in[at + 1], adds ? products : out[0]);
    if (adds) {
        const struct tw_accumulate how = {.lane_bits = mode->lane_bits};
        kernels->accumulate(&how, in[1], NULL, products, out[0]);
    }
    return 1;
}

const char *tw_do_mac(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                      const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    if (usual_mac(row, kernels, in, out))
        return NULL;
    alignas(64) unsigned char products[TW_CM_BYTES];
    struct mac_operands o = operands(row, in);
    const char *unknown = NULL;
    if (row->c != TW_SHAPE_NONE)
        unknown = integer_products(row, kernels, &o, products);
    else
        memset(products, 0, sizeof products);
    if (unknown != NULL)
        return unknown;
    kernels->accumulate(&o.how, o.acc1, o.acc2, products, out[0]);
    return NULL;
}

/* fp32 accumulators */

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
static const void *signed_factor(const struct mac_operands *o, int columns, void *changed)
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
                          const struct mac_operands *o, enum float_mode mode, const void *acc1, const void *acc2,
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

/*
 * The way of nearly all calls: a dense float mode without shifts and signs, at most one accumulator. Returns 0 when it
 * is something else.
 */
static inline int usual_float_mac(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                  const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned at = 1 + (unsigned)row->a; /* of the first factor */
    uint32_t c = row->c == TW_SHAPE_DENSE ? tw_scalar_value(in[at + 2]) : 0;
    if ((c & (TW_WORD_CHANGES | TW_WORD_FLOAT_MASK)) != TW_WORD_FLOAT || row->b != 0 || row->a > 1 ||
        kernels->denormals_are_zero)
        return 0;
    const void *acc = row->a == 0 || (c & TW_WORD_ZERO_ACC) ? zeros : in[1];
    tw_set_scalar(out[tw_first_def(row)], c & TW_WORD_ELEMENTS
                                              ? kernels->bf16_elements(acc, NULL, in[at], in[at + 1], out[0])
                                              : kernels->bf16_matrix(acc, NULL, in[at], in[at + 1], out[0]));
    return 1;
}

const char *tw_do_mac_float(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                            const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    if (usual_float_mac(row, kernels, in, out))
        return NULL;
    alignas(64) unsigned char changed1[BM_BYTES], changed2[BM_BYTES];
    struct mac_operands o = operands(row, in);
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

const char *tw_do_copy(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                       const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)kernels;
    memcpy(out[0], in[1], (size_t)row->a);
    return NULL;
}

const char *tw_do_clear(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                        const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)kernels, (void)in;
    memset(out[0], 0, (size_t)row->a);
    if (row->b)
        tw_set_scalar(out[tw_first_def(row)], TW_FLOAT_ZERO);
    return NULL;
}
