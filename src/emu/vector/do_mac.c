/* Multiply-accumulate and accumulator instructions: configuration word, signs, accumulators. */
#include "mac_operands.h"
#include "plain.h"

#include <stdalign.h>
#include <string.h>

const alignas(64) unsigned char tw_mac_zeros[TW_CM_BYTES] = {0};

/* Integer accumulators */

static const char *integer_products(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                    const struct tw_mac_operands *o, void *products)
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
    struct tw_mac_operands o = tw_mac_operands(row, in);
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
    const void *acc = row->a == 0 || (c & TW_WORD_ZERO_ACC) ? tw_mac_zeros : in[1];
    unsigned flags_at = at + 3; /* behind the word comes the first of the implicit values */
    tw_set_scalar(out[flags_at], c & TW_WORD_ELEMENTS ? kernels->bf16_elements(acc, NULL, in[at], in[at + 1], out[0])
                                                      : kernels->bf16_matrix(acc, NULL, in[at], in[at + 1], out[0]));
    return 1;
}

const char *tw_do_mac_float(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                            const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    return usual_float_mac(row, kernels, in, out) ? NULL : tw_do_any_mac_float(row, kernels, in, out);
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
