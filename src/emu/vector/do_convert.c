/* Instructions that convert: from registers, from what a load found, or into what a store writes. */
#include "functions.h"
#include "lanes.h"
#include "plain.h"

/* Where the values of a conversion are; shift and flags stay unused where the instruction has none. */
struct conversion {
    const void *data, *shift;
    void *result;
    const void *const *uses;
    void *flags;
};

static struct conversion conversion(const struct tw_semantics *row, int has_shift, const void *const in[TW_VALUES_MAX],
                                    void *const out[TW_VALUES_MAX])
{
    unsigned n = tw_first_def(row);
    struct conversion c = {.uses = in + tw_first_use(row), .flags = out[n]};
    switch (row->action) {
    case TW_ACTION_LOAD: /* ..., shift, pointer, modifier */
        c.data = in[TW_VALUE_MEMORY];
        c.shift = in[n - 3];
        c.result = out[0];
        break;
    case TW_ACTION_STORE: /* ..., data, shift */
        c.data = in[has_shift ? n - 2 : n - 1];
        c.shift = in[n - 1];
        c.result = out[TW_VALUE_MEMORY];
        break;
    default:
        c.data = in[1];
        c.shift = in[2];
        c.result = out[0];
        break;
    }
    return c;
}

/* The shift registers hold numbers of six bits with a sign. */
static int shift_value(const struct conversion *c)
{
    return (int)tw_sign_extend(tw_scalar_value(c->shift), 6);
}

static struct tw_resize resize(const struct tw_semantics *row, uint32_t saturation, int shift)
{
    return (struct tw_resize){.from = (uint8_t)row->a,
                              .to = (uint8_t)row->b,
                              .lanes = (uint8_t)row->c,
                              .shift = (int8_t)shift,
                              .saturate = (uint8_t)saturation,
                              .is_signed = 1};
}

/* A negative shift is one to the left: a program of AMD's scales table indices so. */
const char *tw_do_srs(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                      const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    struct conversion c = conversion(row, 1, in, out);
    uint32_t rounding = tw_scalar_value(c.uses[1]);
    if (!tw_rounding_is_known(rounding))
        return "a reserved rounding mode (crRnd) is not modelled";
    struct tw_resize how = resize(row, tw_scalar_value(c.uses[0]), shift_value(&c));
    how.rounding = (uint8_t)rounding;
    how.is_signed = row->d || tw_scalar_value(c.uses[2]) != 0;
    tw_set_scalar(c.flags, kernels->srs(&how, c.data, c.result));
    return NULL;
}

const char *tw_do_ups(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                      const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    struct conversion c = conversion(row, 1, in, out);
    int shift = shift_value(&c);
    if (shift < 0)
        return "an upshift by a negative number is not modelled";
    struct tw_resize how = resize(row, tw_scalar_value(c.uses[0]), shift);
    how.is_signed = row->d || tw_scalar_value(c.uses[1]) != 0;
    tw_set_scalar(c.flags, kernels->ups(&how, c.data, c.result));
    return NULL;
}

const char *tw_do_pack(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                       const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    struct conversion c = conversion(row, 0, in, out);
    struct tw_resize how = resize(row, tw_scalar_value(c.uses[0]), 0);
    how.is_signed = row->d || tw_scalar_value(c.uses[1]) != 0;
    kernels->pack(&how, c.data, c.result);
    return NULL;
}

const char *tw_do_unpack(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                         const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    struct conversion c = conversion(row, 0, in, out);
    struct tw_resize how = resize(row, 0, 0);
    how.is_signed = row->d || tw_scalar_value(c.uses[0]) != 0;
    kernels->unpack(&how, c.data, c.result);
    return NULL;
}

const char *tw_do_bf16_to_fp32(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                               const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    struct conversion c = conversion(row, 0, in, out);
    kernels->bf16_to_fp32(c.data, c.result);
    return NULL;
}

const char *tw_do_fp32_to_bf16(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                               const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    struct conversion c = conversion(row, 0, in, out);
    uint32_t rounding = tw_scalar_value(c.uses[1]);
    if (!tw_rounding_is_known(rounding))
        return "a reserved rounding mode (crRnd) is not modelled";
    tw_set_scalar(c.flags, kernels->fp32_to_bf16(rounding, c.data, c.result));
    return NULL;
}

/* 16 lanes; the shift is a signed number of six bits. */
const char *tw_do_floor(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                        const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)kernels;
    struct conversion c = conversion(row, 1, in, out);
    int shift = shift_value(&c);
    unsigned flags = 0;
    for (unsigned i = 0; i < 16; i++)
        tw_set_lane(c.result, 32, i, (uint32_t)tw_floor_lane(shift, (uint16_t)tw_lane(c.data, 16, i), &flags));
    tw_set_scalar(c.flags, flags);
    return NULL;
}

const char *tw_do_sparse_load(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                              const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)row, (void)kernels, (void)in, (void)out;
    return "the format of sparse loads is not modelled";
}

const char *tw_do_compressed_load(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                  const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    (void)row, (void)kernels, (void)in, (void)out;
    return "the format of decompressing loads is not modelled";
}
