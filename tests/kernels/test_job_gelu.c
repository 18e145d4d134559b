/* How far GELU as the job program has it is from the true one; that the program is bit for bit its twin shows test_job.
 */
#include "base/half.h"
#include "kernels/twin_float.h"
#include "kernels/twin_gelu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint32_t pattern(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double true_gelu(double x)
{
    return x / 2 * erfc(-x / sqrt(2));
}

/* bf16 patterns to numbers that follow each other as the values do. */
static int order(uint16_t pattern_16)
{
    return (pattern_16 & 0x8000) != 0 ? -(pattern_16 & 0x7fff) : pattern_16;
}

/* Every 4,661st float of 2^-40 to 2^6, and bf16 numbers beyond. */
enum { FIRST = 0x2b800000, LAST = 0x42800000, STEP = 4661, BEYOND_LAST = 0x7f00 };

static void a_unit_in_the_last_place(void **state)
{
    int greatest = 0;
    double error = 0, part = 0;

    (void)state;
    for (uint32_t bits = FIRST; bits < LAST; bits += STEP)
        for (uint32_t sign = 0; sign < 2; sign++) {
            float x = value_of(bits | sign << 31);
            double is = value_of(tw_twin_gelu(pattern(x))), should = true_gelu(x);
            if (x < -5.5f) {
                assert_true(fabs(is - should) <= ldexp(-(double)x, -32));
                continue;
            }
            double tail = fabs((double)x) / 2 * erfc(fabs((double)x) / sqrt(2));
            assert_true(fabs(is - should) <= (double)TW_GELU_ERROR * tail + ldexp(fabs((double)x), -24));
            part = fmax(part, (fabs(is - should) - ldexp(fabs((double)x), -24)) / tail);
            int away = abs(order(tw_twin_to_bf16(pattern((float)is))) - order(tw_twin_to_bf16(pattern((float)should))));
            greatest = away > greatest ? away : greatest;
            error = fmax(error, fabs(is - should));
        }
    print_message("at most %d unit in the last place of bf16; in fp32 at most %.2g\n", greatest, error);
    assert_true(greatest <= 1);
    assert_true(error <= 0.0008);
    print_message("at most %.2g of |x| Q(|x|)\n", part);
}

static void special_numbers(void **state)
{
    (void)state;
    assert_int_equal(tw_twin_gelu(0), 0);
    assert_int_equal(tw_twin_gelu(0x80000000) & 0x7fffffff, 0);
    assert_true(isnan(value_of(tw_twin_gelu(0x7fc00000))));
    assert_true(isnan(value_of(tw_twin_gelu(0xffc00000))));
    assert_true(isnan(value_of(tw_twin_gelu(0xff800001))));
    for (uint32_t bits = LAST >> 16; bits < BEYOND_LAST; bits++) {
        assert_int_equal(tw_twin_gelu(bits << 16), bits << 16);
        float x = -value_of(bits << 16), y = value_of(tw_twin_gelu(pattern(x)));
        assert_true(y <= 0 && y >= ldexpf(x, -32));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_unit_in_the_last_place), cmocka_unit_test(special_numbers)};
    return cmocka_run_group_tests_name("job_gelu", tests, NULL, NULL);
}
