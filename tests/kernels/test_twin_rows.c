/* The twins of the kernels that are no products, against double precision and against other ways to say the same. */
#include "base/half.h"
#include "base/random.h"
#include "kernels/twin_filter_int16.h"
#include "kernels/twin_float.h"
#include "kernels/twin_softmax_row.h"
#include "kernels/twin_strided_copy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { ROW = 2048, BLOCKS = ROW / TW_SOFTMAX_BLOCK };

/* ---- single operations */

static void sums_are_near_and_often_exact(void **state)
{
    struct tw_random random = {1};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        float a = (float)tw_random_range(&random, -100000, 100000), b = (float)tw_random_range(&random, -99, 99) / 64;
        uint32_t sum = tw_twin_add(tw_float_bits(a), tw_float_bits(b));
        assert_true(fabs((double)tw_bits_float(sum) - ((double)a + (double)b)) <= 0x1p-23 * (fabs(a) + fabs(b)));
        b = (float)tw_random_range(&random, -100000, 100000);
        assert_int_equal(tw_twin_sub(tw_float_bits(a), tw_float_bits(b)), tw_float_bits(a - b));
    }
    assert_int_equal(tw_twin_add(0x80000000, 0x80000000), 0);
    assert_int_equal(tw_twin_add(0x00800001, 0x80800000), 0);          /* too small */
    assert_int_equal(tw_twin_sub(0x00800000, 0x00800001), 0x80000000); /* and negative */
    assert_int_equal(tw_twin_add(0x7f800000, 0x3f800000), 0x7f800000);
    assert_true((tw_twin_add(0x7f800000, 0xff800000) & 0x7fffffff) > 0x7f800000);
    /* a half of the last bit is lost before the sum, not after it */
    assert_int_equal(tw_twin_add(tw_float_bits(0x1p24f), tw_float_bits(1)), tw_float_bits(0x1p24f));
    assert_int_equal(tw_twin_add(tw_float_bits(0x1p24f), tw_float_bits(3)), tw_float_bits(0x1p24f + 4));
}

static void pairs_are_short_sums(void **state)
{
    struct tw_random random = {2};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint16_t a[8] = {0}, b[8] = {0};
        uint32_t acc = (uint32_t)tw_random_u64(&random);
        for (int k = 0; k < 2; k++) {
            a[k] = (uint16_t)tw_random_u64(&random);
            b[k] = (uint16_t)tw_random_u64(&random);
        }
        assert_int_equal(tw_twin_mac_pair(acc, a[0], b[0], a[1], b[1]), tw_twin_mac_bf16(acc, a, b));
        assert_int_equal(tw_twin_msc_pair(acc, a[0], b[0], a[1], b[1]),
                         tw_twin_mac_pair(acc, a[0], b[0] ^ 0x8000, a[1], b[1] ^ 0x8000));
    }
    assert_int_equal(tw_twin_msc_pair(tw_float_bits(7), tw_f32_to_bf16(2), tw_f32_to_bf16(3), 0, 0), tw_float_bits(1));
}

static void conversions_and_order(void **state)
{
    struct tw_random random = {3};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)tw_random_u64(&random);
        float value = tw_bits_float(bits);
        uint16_t other = (uint16_t)tw_random_u64(&random);
        if (isnan(value))
            assert_true((tw_twin_to_bf16(bits) & 0x7fff) > 0x7f80);
        else
            assert_int_equal(tw_twin_to_bf16(bits), tw_f32_to_bf16(value));
        float x = tw_bf16_to_f32((uint16_t)bits), y = tw_bf16_to_f32(other);
        assert_int_equal(tw_twin_less_bf16((uint16_t)bits, other), x < y);
    }
    assert_int_equal(tw_twin_to_bf16(0x7f800001), 0x7f81);
    assert_int_equal(tw_twin_to_bf16(0x7fffffff), 0x7fff);
    assert_int_equal(tw_twin_to_bf16(0x7f7fffff), 0x7f80);
    assert_int_equal(tw_twin_less_bf16(0x8000, 0), 1);
    assert_int_equal(tw_twin_less_bf16(0, 0x8000), 0);
}

/* ---- softmax */

/* Compares a row with double precision; *worst gets the greatest relative error. */
static void check_softmax(const uint16_t *in, double *worst)
{
    static uint16_t out[ROW];
    double max = -INFINITY, sum = 0;

    for (unsigned i = 0; i < ROW; i++)
        max = fmax(max, (double)tw_bf16_to_f32(in[i]));
    for (unsigned i = 0; i < ROW; i++)
        sum += exp((double)tw_bf16_to_f32(in[i]) - max);
    tw_twin_softmax_row(in, out, BLOCKS);
    for (unsigned i = 0; i < ROW; i++) {
        double x = (double)tw_bf16_to_f32(in[i]), exact = exp(x - max) / sum, is = (double)tw_bf16_to_f32(out[i]);
        if (exact < 0x1p-86 && is >= 0 && is < 0x1p-86)
            continue;
        double error = fabs(is - exact) / exact;
        if (!(error <= 0x1p-6))
            fail_msg("%g of a row with the greatest %g: %g instead of %g", x, max, is, exact);
        *worst = fmax(*worst, error);
    }
}

static void random_rows(void **state)
{
    static const float spreads[] = {0, 0x1p-10f, 0.1f, 1, 5, 30, 100, 1000};
    static uint16_t in[ROW];
    struct tw_random random = {4};
    double worst = 0;

    (void)state;
    for (size_t s = 0; s < sizeof spreads / sizeof spreads[0]; s++)
        for (int round = 0; round < 6; round++) {
            float middle = (float)(tw_random_unit(&random) * 40 - 20);
            for (unsigned i = 0; i < ROW; i++) {
                float x = middle + spreads[s] * (float)(2 * tw_random_unit(&random) - 1);
                in[i] = tw_f32_to_bf16(x > 1024 ? 1024 : x < -1024 ? -1024 : x);
            }
            check_softmax(in, &worst);
        }
    print_message("random rows: relative error up to %.5f\n", worst);
    assert_true(worst < 0x1.1p-7);
}

/* Every number that may stand beside a greatest one, in rows of their own: no exponential is left out. */
static void every_exponential(void **state)
{
    static const float greatest[] = {0, 1, -0.3f, 3.140625f, -77, 250, 1024, -1000};
    static uint16_t in[ROW];
    double worst = 0;

    (void)state;
    for (size_t g = 0; g < sizeof greatest / sizeof greatest[0]; g++) {
        uint16_t max = tw_f32_to_bf16(greatest[g]);
        unsigned n = 1;
        in[0] = max;
        for (uint32_t pattern = 0; pattern <= 0xffff; pattern++) {
            float x = tw_bf16_to_f32((uint16_t)pattern);
            if (x >= -1024 && x <= tw_bf16_to_f32(max))
                in[n++] = (uint16_t)pattern;
            if (n < ROW && pattern < 0xffff)
                continue;
            while (n < ROW)
                in[n++] = 0xff80; /* minus infinity */
            check_softmax(in, &worst);
            n = 1;
        }
    }
    print_message("every exponential: relative error up to %.5f\n", worst);
    assert_true(worst < 0x1.1p-7);
}

static void edges_of_rows(void **state)
{
    static uint16_t in[ROW], out[ROW];
    double worst = 0;

    (void)state;
    /* the greatest in each lane once, among what is too small to count */
    for (unsigned i = 0; i < 64; i++) {
        for (unsigned k = 0; k < ROW; k++)
            in[k] = 0xff80;
        in[i] = tw_f32_to_bf16(-5);
        tw_twin_softmax_row(in, out, BLOCKS);
        for (unsigned k = 0; k < ROW; k++)
            assert_true(k == i ? out[k] == 0x3f80 : out[k] < tw_f32_to_bf16(0x1p-86f));
    }
    for (unsigned k = 0; k < ROW; k++)
        in[k] = k % 2 == 0 ? 0x8000 : 0; /* -0 and 0 */
    check_softmax(in, &worst);
    assert_true(worst < 0x1p-8);
}

/* ---- filter */

static void filter_is_the_sum(void **state)
{
    enum { BLOCK_COUNT = 20, N = BLOCK_COUNT * TW_FILTER_BLOCK };
    static int16_t in[N + TW_FILTER_BLOCK], out[N];
    struct tw_random random = {5};
    unsigned saturated = 0;

    (void)state;
    for (unsigned shift = 0; shift < 32; shift++) {
        int16_t taps[TW_FILTER_TAPS];
        for (unsigned t = 0; t < TW_FILTER_TAPS; t++)
            taps[t] = (int16_t)tw_random_range(&random, -32768, 32767);
        for (unsigned i = 0; i < N + TW_FILTER_BLOCK; i++)
            in[i] = (int16_t)(i % 7 == 0 ? -32768 : tw_random_range(&random, -32768, 32767));
        tw_twin_filter_int16(in, taps, out, BLOCK_COUNT, shift);
        for (unsigned i = 0; i < N; i++) {
            double sum = 0;
            for (unsigned t = 0; t < TW_FILTER_TAPS; t++)
                sum += (double)taps[t] * in[i + t];
            double expected = floor(ldexp(sum, -(int)shift) + (shift > 0 ? 0.5 : 0));
            saturated += fabs(expected) > 32768;
            assert_int_equal(out[i], (int)fmax(-32768, fmin(32767, expected)));
        }
    }
    assert_true(saturated > 0);
}

/* ---- copy */

static void copy_walks_through_rows(void **state)
{
    enum { ROWS = 5, COLUMNS = 3, APART = 4 };
    static uint8_t from[ROWS * COLUMNS * APART * TW_COPY_PIECE], to[ROWS * COLUMNS * TW_COPY_PIECE];
    struct tw_random random = {6};

    (void)state;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)tw_random_u64(&random);
    /* Column after column of a matrix of pieces that lie APART pieces from each other. */
    int32_t piece = APART * TW_COPY_PIECE, row = COLUMNS * piece;
    tw_twin_strided_copy(from, to, ROWS * COLUMNS, ROWS - 1, row, piece - (ROWS - 1) * row);
    for (unsigned c = 0; c < COLUMNS; c++)
        for (unsigned r = 0; r < ROWS; r++)
            assert_memory_equal(to + (c * ROWS + r) * TW_COPY_PIECE, from + (size_t)r * (size_t)row + c * (size_t)piece,
                                TW_COPY_PIECE);
    /* rows of one piece */
    tw_twin_strided_copy(from, to, 4, 0, -12345, piece);
    for (unsigned i = 0; i < 4; i++)
        assert_memory_equal(to + i * TW_COPY_PIECE, from + i * (size_t)piece, TW_COPY_PIECE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_near_and_often_exact),
        cmocka_unit_test(pairs_are_short_sums),
        cmocka_unit_test(conversions_and_order),
        cmocka_unit_test(random_rows),
        cmocka_unit_test(every_exponential),
        cmocka_unit_test(edges_of_rows),
        cmocka_unit_test(filter_is_the_sum),
        cmocka_unit_test(copy_walks_through_rows),
    };
    return cmocka_run_group_tests_name("twin_rows", tests, NULL, NULL);
}
