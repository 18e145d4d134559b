/* Number formats: sizes, blocks worked out by hand, round trips. */
#include "base/half.h"
#include "base/random.h"
#include "graph/type.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void sizes(void **state)
{
    (void)state;
    static const struct {
        enum tw_type type;
        const char *name;
        size_t bytes_of_64;
    } types[] = {{TW_F32, "f32", 256},  {TW_F16, "f16", 128},  {TW_BF16, "bf16", 128},
                 {TW_Q5_0, "q5_0", 44}, {TW_Q8_0, "q8_0", 68}, {TW_I32, "i32", 256}};
    assert_int_equal(sizeof types / sizeof types[0], TW_TYPE_COUNT);
    for (int i = 0; i < TW_TYPE_COUNT; i++) {
        assert_string_equal(tw_type_info(types[i].type)->name, types[i].name);
        assert_int_equal(tw_row_bytes(types[i].type, 64), types[i].bytes_of_64);
        assert_int_equal(tw_row_bytes(types[i].type, 0), 0);
        assert_int_equal(tw_row_bytes(types[i].type, -64), 0);
    }
    assert_null(tw_type_info(TW_TYPE_COUNT));
    assert_null(tw_type_info((enum tw_type) - 1));
    assert_int_equal(tw_row_bytes(TW_TYPE_COUNT, 64), 0);
    assert_int_equal(tw_row_bytes(TW_Q5_0, 63), 0);
    assert_int_equal(tw_row_bytes(TW_Q8_0, 33), 0);
    assert_int_equal(tw_row_bytes(TW_F16, 33), 66);
}

/* -8, -7.5 … 7.5: the scale is 0.5 and number i is stored as the 5-bit number i. */
static void q5_0_by_hand(void **state)
{
    (void)state;
    static const unsigned char expected[22] = {0x00, 0x38, 0x00, 0x00, 0xff, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44,
                                               0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    float src[32], back[32];
    unsigned char block[22];
    for (int i = 0; i < 32; i++)
        src[i] = (float)(i - 16) * 0.5f;
    tw_row_from_f32(TW_Q5_0, src, block, 32);
    assert_memory_equal(block, expected, sizeof expected);
    tw_row_to_f32(TW_Q5_0, block, back, 32);
    for (int i = 0; i < 32; i++)
        assert_true(back[i] == src[i]);
}

/* Scale -0.25; nibbles 9 and 2 everywhere, high bits only for numbers 0 and 31. */
static void q5_0_high_bits(void **state)
{
    (void)state;
    unsigned char block[22] = {0x00, 0xb4, 0x01, 0x00, 0x00, 0x80};
    float back[32];
    memset(block + 6, 0x29, 16);
    tw_row_to_f32(TW_Q5_0, block, back, 32);
    assert_true(back[0] == -0.25f * (25 - 16));
    assert_true(back[31] == -0.25f * (18 - 16));
    for (int i = 1; i < 16; i++)
        assert_true(back[i] == -0.25f * (9 - 16));
    for (int i = 16; i < 31; i++)
        assert_true(back[i] == -0.25f * (2 - 16));
}

/* A largest magnitude of 127 makes the scale 1; halves round away from zero. */
static void q8_0_by_hand(void **state)
{
    (void)state;
    static const float start[] = {-127, 127, 0.4f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, -0.49f, 100.2f};
    static const int expected[] = {-127, 127, 0, 1, -1, 2, 3, -3, 0, 100};
    float src[32] = {0}, back[32];
    unsigned char block[34];
    memcpy(src, start, sizeof start);
    tw_row_from_f32(TW_Q8_0, src, block, 32);
    assert_int_equal(block[0] | block[1] << 8, 0x3c00);
    for (int i = 0; i < 32; i++)
        assert_int_equal((signed char)block[2 + i], i < 10 ? expected[i] : 0);
    block[0] = 0x00;
    block[1] = 0xc2; /* -3 */
    block[33] = 0x80;
    tw_row_to_f32(TW_Q8_0, block, back, 32);
    for (int i = 0; i < 10; i++)
        assert_true(back[i] == -3.0f * (float)expected[i]);
    assert_true(back[31] == 384);
}

static void fill(struct tw_random *r, float *x, int n, double size)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)((2 * tw_random_unit(r) - 1) * size);
}

/* From an odd address to an odd address, several blocks at once. */
static void halves_and_floats_round_trip(void **state)
{
    (void)state;
    struct tw_random r = {11};
    enum { N = 96 };
    float src[N], back[N + 1];
    unsigned char bytes[N * 4 + 1];
    fill(&r, src, N, 1000);
    tw_row_from_f32(TW_F32, src, bytes + 1, N);
    tw_row_to_f32(TW_F32, bytes + 1, back, N);
    assert_memory_equal(src, back, sizeof src);
    tw_row_from_f32(TW_F16, src, bytes + 1, N);
    tw_row_to_f32(TW_F16, bytes + 1, back, N);
    for (int i = 0; i < N; i++)
        assert_true(back[i] == tw_f16_to_f32(tw_f32_to_f16(src[i])));
    tw_row_from_f32(TW_BF16, src, bytes + 1, N);
    tw_row_to_f32(TW_BF16, bytes + 1, back, N);
    for (int i = 0; i < N; i++)
        assert_true(back[i] == tw_bf16_to_f32(tw_f32_to_bf16(src[i])));
}

static float largest_of(const float *x, int n)
{
    float largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    return largest;
}

/* Errors in steps of the scale: rounding of the number, of the scale to a half, and for q5_0 the missing +16. */
static void quantised_round_trip(void **state)
{
    (void)state;
    struct tw_random r = {12};
    for (int round = 0; round < 300; round++) {
        float src[64], back[65];
        unsigned char bytes[2 * 34 + 1];
        double size = ldexp(1, (int)tw_random_range(&r, -8, 12));
        fill(&r, src, 64, size);
        for (int type = TW_Q5_0; type <= TW_Q8_0; type++) {
            double levels = type == TW_Q5_0 ? 16 : 127, slack = type == TW_Q5_0 ? 1 : 0.5;
            back[64] = 77;
            tw_row_from_f32((enum tw_type)type, src, bytes + 1, 64);
            tw_row_to_f32((enum tw_type)type, bytes + 1, back, 64);
            for (int i = 0; i < 64; i++) {
                double step = (double)largest_of(src + i / 32 * 32, 32) / levels;
                double scale_error = levels * fmax(step * 0x1p-11, 0x1p-25); /* a small scale is a denormal half */
                assert_true(fabs((double)src[i] - (double)back[i]) <= step * (slack + 1e-3) + scale_error);
            }
            assert_true(back[64] == 77);
        }
    }
}

static void extreme_numbers_quantise_to_something(void **state)
{
    (void)state;
    static const float extremes[] = {0, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, FLT_TRUE_MIN, -FLT_MIN};
    float src[32], back[32];
    unsigned char bytes[34];
    for (size_t e = 0; e < sizeof extremes / sizeof extremes[0]; e++) {
        for (int i = 0; i < 32; i++)
            src[i] = i % 3 == 0 ? extremes[e] : (float)i;
        tw_row_from_f32(TW_Q5_0, src, bytes, 32);
        tw_row_from_f32(TW_Q8_0, src, bytes, 32);
        for (int i = 0; i < 32; i++)
            src[i] = extremes[e];
        tw_row_from_f32(TW_Q5_0, src, bytes, 32);
        tw_row_to_f32(TW_Q5_0, bytes, back, 32);
        assert_true(fabsf(extremes[e]) > 1 || isnan(extremes[e]) || back[5] == 0);
        tw_row_from_f32(TW_Q8_0, src, bytes, 32);
        tw_row_to_f32(TW_Q8_0, bytes, back, 32);
        assert_true(fabsf(extremes[e]) > 1 || isnan(extremes[e]) || back[5] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(q5_0_by_hand),
        cmocka_unit_test(q5_0_high_bits),
        cmocka_unit_test(q8_0_by_hand),
        cmocka_unit_test(halves_and_floats_round_trip),
        cmocka_unit_test(quantised_round_trip),
        cmocka_unit_test(extreme_numbers_quantise_to_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
