/* Instructions of the mv slot that move elements: broadcast, extract, insert, push, shift, shuffle. */
#include "functions.h"
#include "lanes.h"
#include "plain.h"

#include <stdalign.h>
#include <string.h>

/* An element in r or, 64 bits, in l. */
static uint64_t load_element(unsigned bits, const void *from)
{
    return bits == 64 ? tw_load_u64(from) : tw_scalar_value(from);
}

static void fill(unsigned bits, uint64_t element, void *out)
{
    for (unsigned i = 0; i < 512 / bits; i++)
        tw_set_lane(out, bits, i, element);
}

const char *tw_do_broadcast(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                            const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)kernels;
    fill((unsigned)row->a, load_element((unsigned)row->a, in[1]), out[0]);
    return NULL;
}

/* Six bits of the mode count. Those that are no mode keep one byte (seen for 48, 49, 50, 53, 55 and 58). */
static void shuffle(const struct tw_vector_kernels *kernels, uint32_t mode, const void *a, const void *b, void *out)
{
    mode %= 64;
    if (mode < TW_SHUFFLE_MODES) {
        kernels->shuffle(mode, a, b, out);
        return;
    }
    memset(out, 0, TW_X_BYTES);
    memcpy(out, a, 1);
}

/* The second vector of the shuffle is zero: recordings of modes that read both show it. */
const char *tw_do_broadcast_shuffle(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                    const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    static const alignas(64) unsigned char zeros[TW_X_BYTES] = {0};
    alignas(64) unsigned char filled[TW_X_BYTES];
    fill((unsigned)row->a, load_element((unsigned)row->a, in[1]), filled);
    shuffle(kernels, tw_scalar_value(in[2]), filled, zeros, out[0]);
    return NULL;
}

const char *tw_do_shuffle(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                          const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)row;
    shuffle(kernels, tw_scalar_value(in[3]), in[1], in[2], out[0]);
    return NULL;
}

/* The element that an index names, modulo the number of lanes. */
static uint64_t element(unsigned bits, const void *vector, uint32_t index)
{
    return tw_lane(vector, bits, index % (512 / bits));
}

const char *tw_do_extract_broadcast(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                    const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)kernels;
    fill((unsigned)row->a, element((unsigned)row->a, in[1], tw_scalar_value(in[2])), out[0]);
    return NULL;
}

const char *tw_do_extract(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                          const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    uint64_t value = element(bits, in[1], tw_scalar_value(in[2]));
    (void)kernels;
    if (bits == 64) {
        tw_store_u64(out[0], value);
        return NULL;
    }
    int is_signed = row->b == TW_LANE_SIGNED || tw_scalar_value(in[tw_first_use(row)]) != 0;
    tw_set_scalar(out[0], (uint32_t)(is_signed ? (uint64_t)tw_sign_extend(value, bits) : value));
    return NULL;
}

const char *tw_do_insert(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                         const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    (void)kernels;
    memcpy(out[0], in[1], TW_X_BYTES);
    tw_set_lane(out[0], bits, tw_scalar_value(in[2]) % (512 / bits), load_element(bits, in[3]));
    return NULL;
}

/* All elements one place up, the new one lowest. */
const char *tw_do_push_low(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                           const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    (void)kernels;
    memcpy((unsigned char *)out[0] + bits / 8, in[2], TW_X_BYTES - bits / 8);
    tw_set_lane(out[0], bits, 0, load_element(bits, in[1]));
    return NULL;
}

/* All elements one place down, the new one highest. */
const char *tw_do_push_high(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                            const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    (void)kernels;
    memcpy(out[0], (const unsigned char *)in[1] + bits / 8, TW_X_BYTES - bits / 8);
    tw_set_lane(out[0], bits, 512 / bits - 1, load_element(bits, in[2]));
    return NULL;
}

/*
 * Shifts by 128 bytes and more give zeros, whatever their low bits (recorded for 24 large numbers); between 64 and 128
 * nobody knows.
 */
static const char shift_unknown[] = "a vector shift by 65 .. 127 bytes is not modelled";

const char *tw_do_shift(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                        const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    uint32_t shift = tw_scalar_value(in[3]);
    (void)row, (void)kernels;
    if (shift >= 2 * TW_X_BYTES) {
        memset(out[0], 0, TW_X_BYTES);
        return NULL;
    }
    if (shift > TW_X_BYTES)
        return shift_unknown;
    memcpy(out[0], (const unsigned char *)in[1] + shift, TW_X_BYTES - shift);
    memcpy((unsigned char *)out[0] + TW_X_BYTES - shift, in[2], shift);
    return NULL;
}

/* The first vector is moved down by 0, 4, 8, 16 or 32 bytes, zeros follow; the second enters above, from its start. */
const char *tw_do_shift_align(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                              const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    static const unsigned char steps[] = {0, 4, 8, 16, 32};
    unsigned char moved[2 * TW_X_BYTES] = {0}, *to = out[0];
    uint32_t step = tw_scalar_value(in[2]), shift = tw_scalar_value(in[4]);
    (void)row, (void)kernels;
    if (shift >= 2 * TW_X_BYTES) {
        memset(to, 0, TW_X_BYTES);
        return NULL;
    }
    if (shift > TW_X_BYTES)
        return shift_unknown;
    if (step >= sizeof steps)
        return "a vshift.align step above 4 is not modelled";
    memcpy(moved, in[1], TW_X_BYTES);
    memcpy(to, moved + (step == 0 ? shift : steps[step]), TW_X_BYTES - shift);
    memcpy(to + TW_X_BYTES - shift, in[3], shift);
    return NULL;
}
