/* Instructions of the mv slot that compute lane by lane. */
#include "functions.h"
#include "lanes.h"
#include "plain.h"

#include <stdalign.h>
#include <string.h>

/* A mask register: 64 bits for lanes of 8 bits, else 32. */
static uint64_t load_mask(unsigned bits, const void *from)
{
    return bits == 8 ? tw_load_u64(from) : tw_scalar_value(from);
}

static void store_mask(unsigned bits, uint64_t mask, void *to)
{
    if (bits == 8)
        tw_store_u64(to, mask);
    else
        tw_set_scalar(to, (uint32_t)mask);
}

static uint64_t all_lanes(unsigned bits)
{
    return bits == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 512 / bits) - 1;
}

/* Signed lanes, or unsigned where crVaddSign, the only register used implicitly, is 0. */
static int lanes_signed(const struct tw_semantics *row, const void *const in[TW_VALUES_MAX])
{
    return row->b == TW_LANE_SIGNED || tw_scalar_value(in[tw_first_use(row)]) != 0;
}

/* bf16 numbers as integers in their order (tw_bf16_less), and their magnitudes, of which NaNs have the largest. */
static void order_bf16(const void *from, int16_t order[32], int16_t magnitude[32])
{
    uint16_t x[32];
    memcpy(x, from, sizeof x);
    for (unsigned i = 0; i < 32; i++) {
        unsigned low = x[i] & 0x7fffu;
        magnitude[i] = (int16_t)low;
        order[i] = (int16_t)(x[i] & 0x8000u ? -(int)low - 1 : (int)low);
    }
}

/* NaN makes less and not-less false. */
static uint64_t bf16_compare(const struct tw_vector_kernels *kernels, int not_less, const void *a, const void *b)
{
    alignas(64) int16_t order_a[32], order_b[32], magnitude_a[32], magnitude_b[32], infinity[32];
    order_bf16(a, order_a, magnitude_a);
    order_bf16(b, order_b, magnitude_b);
    for (unsigned i = 0; i < 32; i++)
        infinity[i] = 0x7f80;
    uint64_t nan = kernels->less(16, 1, infinity, magnitude_a) | kernels->less(16, 1, infinity, magnitude_b);
    uint64_t less = kernels->less(16, 1, order_a, order_b);
    return (not_less ? ~less : less) & ~nan & all_lanes(16);
}

/* The compare that an instruction writes: a < b, or its opposite. */
static uint64_t compare(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, int is_signed,
                        const void *a, const void *b)
{
    unsigned bits = (unsigned)row->a;
    if (row->b == TW_LANE_BF16)
        return bf16_compare(kernels, row->d, a, b);
    uint64_t less = kernels->less(bits, is_signed, a, b);
    return row->d ? ~less & all_lanes(bits) : less;
}

const char *tw_do_lanes(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                        const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    kernels->lanes((enum tw_lane_operation)row->c, (unsigned)row->a, 1, in[1], in[2], out[0]);
    return NULL;
}

const char *tw_do_lanes_compare(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    const void *a = in[2], *b = in[3];
    unsigned bits = (unsigned)row->a;
    int is_signed = row->b == TW_LANE_BF16 || lanes_signed(row, in);
    uint64_t mask = compare(row, kernels, is_signed, a, b);
    if (row->b == TW_LANE_BF16) /* the maximum takes b where a < b, the minimum b where a >= b */
        kernels->select(bits, mask, a, b, out[0]);
    else
        kernels->lanes((enum tw_lane_operation)row->c, bits, is_signed, a, b, out[0]);
    store_mask(bits, mask, out[1]);
    return NULL;
}

const char *tw_do_compare(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                          const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    int is_signed = row->b == TW_LANE_BF16 || lanes_signed(row, in);
    store_mask((unsigned)row->a, compare(row, kernels, is_signed, in[1], in[2]), out[0]);
    return NULL;
}

const char *tw_do_is_zero(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                          const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    uint64_t mask = 0;
    (void)kernels;
    for (unsigned i = 0; i < 512 / bits; i++)
        mask |= (uint64_t)(tw_lane(in[1], bits, i) == 0) << i;
    store_mask(bits, mask, out[0]);
    return NULL;
}

const char *tw_do_bits(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                       const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    uint64_t a[8], b[8];
    (void)kernels;
    memcpy(a, in[1], sizeof a);
    memcpy(b, in[2], sizeof b);
    for (unsigned i = 0; i < 8; i++)
        a[i] = row->d ? a[i] | b[i] : a[i] & b[i];
    memcpy(out[0], a, sizeof a);
    return NULL;
}

const char *tw_do_select(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                         const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    kernels->select(bits, load_mask(bits, in[3]), in[1], in[2], out[0]);
    return NULL;
}

/* Bit clear: a + b; set: a - b. */
const char *tw_do_add_or_subtract(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                  const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    unsigned char sums[TW_X_BYTES], differences[TW_X_BYTES];
    tw_plain_lanes(TW_LANES_ADD, bits, 1, in[1], in[2], sums);
    tw_plain_lanes(TW_LANES_SUB, bits, 1, in[1], in[2], differences);
    (void)kernels;
    tw_plain_select(bits, load_mask(bits, in[3]), sums, differences, out[0]);
    return NULL;
}

/* The mask says of each lane: absolute value and negation: it is above zero; complement: below. */
const char *tw_do_one(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                      const void *const in[TW_VALUES_MAX], void *const out[TW_VALUES_MAX])
{
    unsigned bits = (unsigned)row->a;
    int is_signed = lanes_signed(row, in);
    uint64_t mask = 0;
    (void)kernels;
    for (unsigned i = 0; i < 512 / bits; i++) {
        int64_t x = tw_lane_value(in[2], bits, i, is_signed);
        int64_t result = row->c == TW_ONE_COMPLEMENT ? ~x : row->c == TW_ONE_NEGATE || x < 0 ? -x : x;
        tw_set_lane(out[0], bits, i, (uint64_t)result);
        mask |= (uint64_t)(row->c == TW_ONE_COMPLEMENT ? x < 0 : x > 0) << i;
    }
    store_mask(bits, mask, out[1]);
    return NULL;
}
