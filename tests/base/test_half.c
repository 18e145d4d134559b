/* Conversions of half-precision numbers against their definition: every bit pattern, and every point between two of
 * them. */
#include "base/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A 16-bit format: exponent bits and fraction bits below the sign. */
struct format {
    int exponent_bits, fraction_bits;
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
};

static const struct format f16 = {5, 10, tw_f16_to_f32, tw_f32_to_f16};
static const struct format bf16 = {8, 7, tw_bf16_to_f32, tw_f32_to_bf16};

static unsigned infinity_of(const struct format *f)
{
    return ((1u << f->exponent_bits) - 1) << f->fraction_bits;
}

/* What IEEE 754 says a finite pattern is worth. */
static double worth(const struct format *f, unsigned bits)
{
    int bias = (1 << (f->exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> f->fraction_bits) & ((1 << f->exponent_bits) - 1);
    int fraction = (int)bits & ((1 << f->fraction_bits) - 1);
    double value = exponent == 0 ? ldexp(fraction, 1 - bias - f->fraction_bits)
                                 : ldexp(fraction + (1 << f->fraction_bits), exponent - bias - f->fraction_bits);
    return bits & 0x8000u ? -value : value;
}

static void check_every_pattern(const struct format *f)
{
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        unsigned magnitude = bits & 0x7fffu;
        float wide = f->widen((uint16_t)bits);
        assert_int_equal(signbit(wide) != 0, bits >> 15);
        if (magnitude > infinity_of(f)) {
            assert_true(isnan(wide));
            assert_true((f->narrow(wide) & 0x7fffu) > infinity_of(f));
            continue;
        }
        if (magnitude == infinity_of(f))
            assert_true(isinf(wide));
        else
            assert_true((double)wide == worth(f, bits));
        assert_int_equal(f->narrow(wide), bits);
    }
}

/* Around the middle between each pattern and the next: below goes down, above up, the middle to the even one. */
static void check_every_rounding(const struct format *f)
{
    for (unsigned sign = 0; sign <= 0x8000u; sign += 0x8000u) {
        for (unsigned low = 0; low < infinity_of(f); low++) {
            /* The pattern of infinity stands for the number that would follow the largest finite one. */
            double middle = (worth(f, low) + worth(f, low + 1)) / 2;
            float at = (float)(sign ? -middle : middle);
            assert_true(fabs((double)at) == middle);
            float away = sign ? -INFINITY : INFINITY;
            assert_int_equal(f->narrow(at), sign | (low % 2 == 0 ? low : low + 1));
            assert_int_equal(f->narrow(nextafterf(at, 0)), sign | low);
            assert_int_equal(f->narrow(nextafterf(at, away)), sign | (low + 1));
        }
    }
}

static void every_f16_pattern(void **state)
{
    (void)state;
    check_every_pattern(&f16);
}

static void every_bf16_pattern(void **state)
{
    (void)state;
    check_every_pattern(&bf16);
}

static void every_f16_rounding(void **state)
{
    (void)state;
    check_every_rounding(&f16);
}

static void every_bf16_rounding(void **state)
{
    (void)state;
    check_every_rounding(&bf16);
}

static void known_values(void **state)
{
    (void)state;
    assert_int_equal(tw_f32_to_f16(1.0f), 0x3c00);
    assert_int_equal(tw_f32_to_f16(-2.0f), 0xc000);
    assert_int_equal(tw_f32_to_f16(0.1f), 0x2e66);
    assert_int_equal(tw_f32_to_f16(65504.0f), 0x7bff);
    assert_int_equal(tw_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(tw_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(tw_f32_to_f16(-1e30f), 0xfc00);
    assert_int_equal(tw_f32_to_f16(0x1p-24f), 0x0001);
    assert_int_equal(tw_f32_to_f16(0x1p-25f), 0x0000);
    assert_int_equal(tw_f32_to_f16(0x1.000002p-25f), 0x0001);
    assert_int_equal(tw_f32_to_f16(-0x1p-149f), 0x8000);
    assert_int_equal(tw_f32_to_bf16(1.0f), 0x3f80);
    assert_int_equal(tw_f32_to_bf16(0x1.01p0f), 0x3f80);
    assert_int_equal(tw_f32_to_bf16(0x1.03p0f), 0x3f82);
    assert_int_equal(tw_f32_to_bf16(3.4028235e38f), 0x7f80);
    /* A NaN whose payload lies in the low bits only must not become an infinity. */
    assert_true(isnan(tw_bf16_to_f32(tw_f32_to_bf16(tw_bits_float(0x7f800001u)))));
    assert_true(isnan(tw_f16_to_f32(tw_f32_to_f16(tw_bits_float(0xff800001u)))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_pattern),  cmocka_unit_test(every_bf16_pattern),
        cmocka_unit_test(every_f16_rounding), cmocka_unit_test(every_bf16_rounding),
        cmocka_unit_test(known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
