/* What a multiply-accumulate works on, by its operands and its configuration word. */
#ifndef TW_EMU_VECTOR_MAC_OPERANDS_H
#define TW_EMU_VECTOR_MAC_OPERANDS_H

#include "emu/vector_kernels.h"
#include "functions.h"
#include "lanes.h"
#include "mac.h"

#include <stdalign.h>

/* What an instruction of these works on; acc2 NULL: there is none. */
struct tw_mac_operands {
    struct tw_mac_word word;
    const void *acc1, *acc2, *a, *b;
    struct tw_accumulate how;
};

extern const alignas(64) unsigned char tw_mac_zeros[TW_CM_BYTES]; /* an accumulator */

static inline struct tw_mac_operands tw_mac_operands(const struct tw_semantics *row,
                                                     const void *const in[TW_VALUES_MAX])
{
    unsigned at = 1; /* after the output */
    struct tw_mac_operands o = {.acc1 = row->a > 0 ? in[at++] : tw_mac_zeros};
    o.acc2 = row->a > 1 ? in[at++] : NULL;
    if (row->c != TW_SHAPE_NONE) {
        o.a = in[at++];
        o.b = in[at++];
    }
    o.word = tw_mac_word(tw_scalar_value(in[at]));
    if (o.word.zero_acc)
        o.acc1 = tw_mac_zeros;
    o.how.lane_bits = o.word.amode == TW_AMODE_64 ? 64 : 32;
    o.how.shift = o.word.shift16 ? 16 : 0;
    o.how.negates_products = ((row->b & TW_SIGN_PRODUCT) != 0) ^ o.word.sub_mul;
    o.how.negates_acc1 = ((row->b & TW_SIGN_ACC1) != 0) ^ o.word.sub_acc1;
    o.how.negates_acc2 = ((row->b & TW_SIGN_ACC2) != 0) ^ o.word.sub_acc2;
    return o;
}

/* What tw_do_mac_float does where it has no short way (do_mac_float.c). */
tw_semantic_function tw_do_any_mac_float;

#endif
