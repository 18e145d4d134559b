/* The twins of the product kernels against plain arithmetic, and the multiplier's corner cases. */
#include "base/half.h"
#include "base/random.h"
#include "kernels/twin_float.h"
#include "kernels/twin_product.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { SIZE = TW_PRODUCT_SIZE, BLOCK = SIZE * SIZE };

static uint16_t bf16(float f)
{
    return tw_f32_to_bf16(f);
}

/* acc + the products of up to eight pairs. */
static uint32_t mac(uint32_t acc, unsigned n, const float (*pairs)[2])
{
    uint16_t a[8] = {0}, b[8] = {0};

    for (unsigned i = 0; i < n; i++) {
        a[i] = bf16(pairs[i][0]);
        b[i] = bf16(pairs[i][1]);
    }
    return tw_twin_mac_bf16(acc, a, b);
}

static void sums_that_need_no_rounding(void **state)
{
    struct tw_random random = {3};

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint16_t a[8], b[8];
        float acc = (float)tw_random_range(&random, -5000, 5000);
        double exact = acc;
        for (int i = 0; i < 8; i++) {
            float x = (float)tw_random_range(&random, -128, 127), y = (float)tw_random_range(&random, -128, 127) / 64;
            a[i] = bf16(x);
            b[i] = bf16(y);
            exact += (double)x * y;
        }
        assert_int_equal(tw_twin_mac_bf16(tw_float_bits(acc), a, b), tw_float_bits((float)exact));
    }
}

/* Each term is rounded where the greatest ends: 2^-24 of it is lost, even if it is there many times. */
static void terms_are_rounded_before_they_are_added(void **state)
{
    static const float small[8][2] = {{0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f},
                                      {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f},
                                      {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f}};
    static const float half[1][2] = {{0x1.8p-12f, 0x1p-12f}};

    (void)state;
    /* The point of products lies one binary digit further left than that of the accumulator 1. */
    assert_int_equal(mac(tw_float_bits(4), 8, small), tw_float_bits(4));
    assert_int_equal(mac(tw_float_bits(1), 1, half), tw_float_bits(1 + 0x1p-23f));
}

static void special_values(void **state)
{
    const float inf = INFINITY;
    const float plus[1][2] = {{inf, 1}}, both[2][2] = {{inf, 1}, {inf, -1}}, times_zero[1][2] = {{inf, 0}};
    const float large[1][2] = {{0x1p127f, -4}}, tiny[1][2] = {{0x1p-126f, 0x1p-126f}}, cancel[2][2] = {{3, 5}, {-3, 5}};

    (void)state;
    assert_int_equal(mac(0, 1, plus), 0x7f800000);
    assert_int_equal(mac(0xff800000, 1, plus), 0x7f800001 | 0); /* opposite infinities */
    assert_int_equal(mac(0, 2, both) & 0x7f800001, 0x7f800001);
    assert_int_equal(mac(0, 1, times_zero), 0x7f800001);
    assert_int_equal(mac(0x7fc00000, 0, NULL) & 0x7f800001, 0x7f800001);
    assert_int_equal(mac(0, 1, large), 0xff800000);
    assert_int_equal(mac(0, 1, tiny), 0);
    assert_int_equal(mac(0, 2, cancel), 0);
    assert_int_equal(mac(0x80000000, 0, NULL), 0); /* a zero is +0 */
    assert_int_equal(mac(1, 0, NULL), 0);          /* denormal results are zero */
    assert_int_equal(mac(0x80800000, 0, NULL), 0x80800000);
}

static void layouts_use_every_place_once(void **state)
{
    (void)state;
    for (unsigned tiles = 2; tiles <= 4; tiles += 2) {
        uint8_t a[BLOCK] = {0}, b[2][BLOCK / 2] = {{0}}, c[BLOCK] = {0};
        for (unsigned i = 0; i < SIZE; i++)
            for (unsigned j = 0; j < SIZE; j++) {
                int last;
                unsigned place = tw_product_place_b(i, j, tiles, &last);
                assert_in_range(place, 0, BLOCK / 2 - 1);
                b[last][place]++;
                a[tw_product_place_a(i, j)]++;
                c[tw_product_place_c(i, j, tiles)]++;
            }
        for (unsigned i = 0; i < BLOCK; i++)
            assert_true(a[i] == 1 && c[i] == 1 && b[i % 2][i / 2] == 1);
    }
}

static void int8_is_the_product(void **state)
{
    static int8_t a[SIZE][SIZE], b[SIZE][SIZE], pa[BLOCK], pb[2][BLOCK / 2];
    static uint32_t c[BLOCK];
    struct tw_random random = {4};

    (void)state;
    for (unsigned i = 0; i < SIZE; i++)
        for (unsigned j = 0; j < SIZE; j++) {
            int last;
            unsigned place = tw_product_place_b(i, j, 2, &last);
            a[i][j] = (int8_t)tw_random_range(&random, -128, 127);
            b[i][j] = (int8_t)tw_random_range(&random, -128, 127);
            pa[tw_product_place_a(i, j)] = a[i][j];
            pb[last][place] = b[i][j];
            c[tw_product_place_c(i, j, 2)] = 0xfffffff0u + i - j;
        }
    tw_twin_product_int8(pa, pb[0], pb[1], c);
    for (unsigned i = 0; i < SIZE; i++)
        for (unsigned j = 0; j < SIZE; j++) {
            uint32_t sum = 0xfffffff0u + i - j;
            for (unsigned k = 0; k < SIZE; k++)
                sum += (uint32_t)(a[i][k] * b[k][j]);
            assert_int_equal(c[tw_product_place_c(i, j, 2)], sum);
        }
}

static void bf16_is_near_the_product(void **state)
{
    static float a[SIZE][SIZE], b[SIZE][SIZE];
    static uint16_t pa[BLOCK], pb[2][BLOCK / 2];
    static uint32_t c[BLOCK];
    struct tw_random random = {5};

    (void)state;
    for (unsigned i = 0; i < SIZE; i++)
        for (unsigned j = 0; j < SIZE; j++) {
            int last;
            unsigned place = tw_product_place_b(i, j, 4, &last);
            a[i][j] = tw_bf16_to_f32(bf16((float)tw_random_unit(&random) - 0.5f));
            b[i][j] = tw_bf16_to_f32(bf16((float)tw_random_unit(&random) - 0.5f));
            pa[tw_product_place_a(i, j)] = bf16(a[i][j]);
            pb[last][place] = bf16(b[i][j]);
            c[tw_product_place_c(i, j, 4)] = tw_float_bits((float)i - (float)j);
        }
    tw_twin_product_bf16(pa, pb[0], pb[1], c);
    for (unsigned i = 0; i < SIZE; i++)
        for (unsigned j = 0; j < SIZE; j++) {
            double sum = (double)i - (double)j, size = fabs(sum);
            for (unsigned k = 0; k < SIZE; k++) {
                sum += (double)a[i][k] * b[k][j];
                size += fabs((double)a[i][k] * b[k][j]);
            }
            assert_true(fabs(tw_bits_float(c[tw_product_place_c(i, j, 4)]) - sum) <= 0x1p-19 * size);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_that_need_no_rounding),
        cmocka_unit_test(terms_are_rounded_before_they_are_added),
        cmocka_unit_test(special_values),
        cmocka_unit_test(layouts_use_every_place_once),
        cmocka_unit_test(int8_is_the_product),
        cmocka_unit_test(bf16_is_near_the_product),
    };
    return cmocka_run_group_tests_name("twin_product", tests, NULL, NULL);
}
