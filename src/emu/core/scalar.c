/* What scalar instructions compute. Facts: aie2-isa, section 8. */
#include "emu/core/scalar.h"

#include <string.h>

typedef const void *const inputs[TW_VALUES_MAX];
typedef void *const outputs[TW_VALUES_MAX];

static uint32_t get(inputs in, unsigned k)
{
    uint32_t value;
    memcpy(&value, in[k], sizeof value);
    return value;
}

static void put(outputs out, unsigned k, uint32_t value)
{
    memcpy(out[k], &value, sizeof value);
}

static int is_negative(uint32_t value)
{
    return (int)(value >> 31);
}

/* A function of d, a, b. */
#define BINARY(name, expression)                                                                                       \
    const char *tw_scalar_##name(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,   \
                                 outputs out)                                                                          \
    {                                                                                                                  \
        uint32_t a = get(in, 1), b = get(in, 2);                                                                       \
        (void)row;                                                                                                     \
        (void)kernels;                                                                                                 \
        put(out, 0, (expression));                                                                                     \
        return NULL;                                                                                                   \
    }

/* A function of d, a. */
#define UNARY(name, expression)                                                                                        \
    const char *tw_scalar_##name(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,   \
                                 outputs out)                                                                          \
    {                                                                                                                  \
        uint32_t a = get(in, 1);                                                                                       \
        (void)row;                                                                                                     \
        (void)kernels;                                                                                                 \
        put(out, 0, (expression));                                                                                     \
        return NULL;                                                                                                   \
    }

/* d, a, b, carry out and, as `c`, carry in where there is one. `result` has 33 bits. */
#define CARRYING(name, carry_in, carry_out, result)                                                                    \
    const char *tw_scalar_##name(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,   \
                                 outputs out)                                                                          \
    {                                                                                                                  \
        uint64_t a = get(in, 1), b = get(in, 2), c = (carry_in) ? get(in, 4) & 1 : 0;                                  \
        uint64_t sum = (result)&0x1ffffffffu;                                                                          \
        (void)row;                                                                                                     \
        (void)kernels;                                                                                                 \
        put(out, 3, (carry_out) ^ (uint32_t)(sum >> 32));                                                              \
        put(out, 0, (uint32_t)sum);                                                                                    \
        (void)c;                                                                                                       \
        return NULL;                                                                                                   \
    }

/* Shifts: by b & 31 to the left where b is not negative, else by -b & 31 to the right. */
static uint32_t shift_logical(uint32_t a, uint32_t b)
{
    return is_negative(b) ? a >> ((0 - b) & 31) : a << (b & 31);
}

static uint32_t shift_arithmetic(uint32_t a, uint32_t b)
{
    uint32_t n = (0 - b) & 31, fill = is_negative(a) && n > 0 ? UINT32_MAX << (32 - n) : 0;
    return is_negative(b) ? a >> n | fill : a << (b & 31);
}

/* Of 32 bits: as they are when a is 0. */
static uint32_t leading_zeros(uint32_t a)
{
    uint32_t n = 0;
    while (n < 32 && (a >> (31 - n) & 1) == 0)
        n++;
    return n;
}

static int less(uint32_t a, uint32_t b)
{
    return (a ^ 0x80000000u) < (b ^ 0x80000000u);
}

CARRYING(add, 0, 0, a + b)
CARRYING(adc, 1, 0, a + b + c)
CARRYING(sub, 0, 1, a - b)
CARRYING(sbc, 1, 1, a - b - 1 + c)
CARRYING(sub_borrow, 0, 0, a - b)
CARRYING(sbc_borrow, 1, 0, a - b - c)
BINARY(and, a &b)
BINARY(or, a | b)
BINARY(xor, a ^ b)
BINARY(eq, a == b)
BINARY(ne, a != b)
BINARY(lt, (uint32_t)less(a, b))
BINARY(ltu, a < b)
BINARY(ge, (uint32_t)!less(a, b))
BINARY(geu, a >= b)
BINARY(lshl, shift_logical(a, b))
BINARY(ashl, shift_arithmetic(a, b))
BINARY(mul, a *b)
BINARY(add_no_carry, a + b)
UNARY(clz, leading_zeros(a))
UNARY(clb, leading_zeros(is_negative(a) ? ~a : a))
UNARY(eqz, a == 0)
UNARY(nez, a != 0)

const char *tw_scalar_abs(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                          outputs out)
{
    uint32_t a = get(in, 1);

    (void)row;
    (void)kernels;
    put(out, 2, (uint32_t)is_negative(a));
    put(out, 0, is_negative(a) ? 0 - a : a);
    return NULL;
}

/* The low row->a bits of a value, with or without their sign. */
static uint32_t extend(const struct tw_semantics *row, uint32_t value)
{
    uint32_t sign = (uint32_t)1 << (row->a - 1), low = value & (2 * sign - 1);
    return row->b ? (low ^ sign) - sign : low;
}

const char *tw_scalar_extend(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                             outputs out)
{
    (void)kernels;
    put(out, 0, extend(row, get(in, 1)));
    return NULL;
}

const char *tw_scalar_load_part(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                                outputs out)
{
    uint32_t value = 0;

    (void)kernels;
    memcpy(&value, in[TW_VALUE_MEMORY], row->bytes);
    put(out, 0, extend(row, value));
    return NULL;
}

static void select_operand(inputs in, outputs out, int first)
{
    put(out, 0, get(in, first ? 1 : 2));
}

const char *tw_scalar_select_eqz(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                                 outputs out)
{
    (void)row;
    (void)kernels;
    select_operand(in, out, get(in, 3) == 0);
    return NULL;
}

const char *tw_scalar_select_nez(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                                 outputs out)
{
    (void)row;
    (void)kernels;
    select_operand(in, out, get(in, 3) != 0);
    return NULL;
}

/* One bit of a division: 32 steps from s = 0 and r31 = dividend give the quotient in r31 and the remainder in d. */
const char *tw_scalar_divide_step(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                                  outputs out)
{
    uint32_t quotient = get(in, 2), divisor = get(in, 4);
    uint32_t rest = get(in, 3) << 1 | quotient >> 31;
    int fits = rest >= divisor;

    (void)row;
    (void)kernels;
    put(out, 1, quotient << 1 | (uint32_t)fits);
    put(out, 0, fits ? rest - divisor : rest);
    return NULL;
}

const char *tw_scalar_count_down(const struct tw_semantics *row, const struct tw_vector_kernels *kernels, inputs in,
                                 outputs out)
{
    uint32_t count = get(in, 1);

    (void)row;
    (void)kernels;
    put(out, 3, count != 0);
    put(out, 0, count - 1);
    return NULL;
}

const char *tw_scalar_count_down_borrow(const struct tw_semantics *row, const struct tw_vector_kernels *kernels,
                                        inputs in, outputs out)
{
    uint32_t count = get(in, 1);

    (void)row;
    (void)kernels;
    put(out, 3, count == 0);
    put(out, 0, count - 1);
    return NULL;
}
