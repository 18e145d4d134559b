/* Conversions: roundings and saturations against arithmetic written out here. */
#include "base/half.h"
#include "base/random.h"
#include "emu/vector/apply.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* x / 2^shift, rounded: floor and the distance decide. Numbers are small enough for doubles. */
static double rounded(double x, int shift, unsigned rounding)
{
    double exact = ldexp(x, -shift), low = floor(exact), rest = exact - low;
    int up;
    switch (rounding) {
    case 0: /* floor */
        up = 0;
        break;
    case 1: /* ceiling */
        up = rest > 0;
        break;
    case 2: /* to zero */
        up = x < 0 && rest > 0;
        break;
    case 3: /* from zero */
        up = x > 0 && rest > 0;
        break;
    default: /* to the nearest; ties: 8 down, 9 up, 10 to zero, 11 from zero, 12 to even, 13 to odd */
        up = rest > 0.5;
        if (rest == 0.5) {
            int odd = fmod(low, 2) != 0;
            const int ties[] = {0, 1, x<0, x> 0, odd, !odd};
            up = ties[rounding - 8];
        }
    }
    return low + up;
}

static int32_t saturated(double x, double low, double high)
{
    return (int32_t)(x < low ? low : x > high ? high : x);
}

static void test_srs_rounds_and_saturates(void **state)
{
    (void)state;
    static const unsigned roundings[] = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13};
    struct tw_random random = {1};
    for (unsigned i = 0; i < 4000; i++) {
        int64_t acc[16];
        int16_t out[16];
        unsigned rounding = roundings[i % 10], shift = (unsigned)tw_random_range(&random, 0, 10);
        int symmetric = (int)(i / 10 % 2);
        for (unsigned k = 0; k < 16; k++)
            acc[k] = tw_random_range(&random, -3, 3) * (INT64_C(1) << tw_random_range(&random, 0, 24)) +
                     tw_random_range(&random, -8, 8);
        assert_null(APPLY(TW_I_VSRS_S16_S64_mv_w_srs, "dst", out, VALUE("src", acc), SCALAR("shft", shift),
                          SCALAR("crRnd", rounding), SCALAR("crSat", symmetric ? 3 : 1)));
        for (unsigned k = 0; k < 16; k++)
            assert_int_equal(out[k],
                             saturated(rounded((double)acc[k], (int)shift, rounding), -32768 + symmetric, 32767));
    }
}

static void test_srs_truncates_without_saturation(void **state)
{
    (void)state;
    const int32_t acc[32] = {0x12345, -0x12345, 255, 256, -1};
    const uint8_t expected[5] = {0x45, 0xbb, 0xff, 0, 0xff};
    uint8_t out[32];
    assert_null(APPLY(TW_I_VSRS_S8_S32_mv_w_srs, "dst", out, VALUE("src", acc)));
    assert_memory_equal(out, expected, sizeof expected);
}

static void test_srs_sign_by_control_register(void **state)
{
    (void)state;
    const int32_t acc[32] = {200, 300, -5, 100};
    const uint8_t as_unsigned[4] = {200, 255, 0, 100}, as_signed[4] = {127, 127, (uint8_t)-5, 100};
    uint8_t out[32];
    assert_null(APPLY(TW_I_VSRS_D8_S32_mv_w_srs, "dst", out, VALUE("src", acc), SCALAR("crSat", 1)));
    assert_memory_equal(out, as_unsigned, 4);
    assert_null(
        APPLY(TW_I_VSRS_D8_S32_mv_w_srs, "dst", out, VALUE("src", acc), SCALAR("crSat", 1), SCALAR("crSRSSign", 1)));
    assert_memory_equal(out, as_signed, 4);
}

static void test_srs_overflow_flag(void **state)
{
    (void)state;
    const int32_t fits[32] = {127, -128}, does_not[32] = {128};
    assert_int_equal(APPLY_SCALAR(TW_I_VSRS_S8_S32_mv_w_srs, "srSRS_of", VALUE("src", fits)), 0);
    assert_int_equal(APPLY_SCALAR(TW_I_VSRS_S8_S32_mv_w_srs, "srSRS_of", VALUE("src", does_not)), 1);
}

static void test_negative_shifts(void **state)
{
    (void)state;
    const int64_t acc[16] = {5, -7, INT64_C(1) << 40, -(INT64_C(1) << 62)};
    int32_t out[8];
    assert_null(
        APPLY(TW_I_VSRS_S32_S64_mv_w_srs, "dst", out, VALUE("src", acc), SCALAR("shft", 62), SCALAR("crSat", 1)));
    assert_int_equal(out[0], 20);
    assert_int_equal(out[1], -28);
    assert_int_equal(out[2], INT32_MAX);
    assert_int_equal(out[3], INT32_MIN);
    assert_non_null(APPLY(TW_I_VUPS_S32_S16_mv_ups_w2b, "dst", out, SCALAR("shft", 62)));
}

static void test_reserved_roundings(void **state)
{
    (void)state;
    unsigned char out[32];
    for (unsigned rounding = 0; rounding < 16; rounding++) {
        int known = rounding < 4 || (rounding > 7 && rounding < 14);
        assert_int_equal(APPLY(TW_I_VSRS_S8_S32_mv_w_srs, "dst", out, SCALAR("crRnd", rounding)) == NULL, known);
        assert_int_equal(APPLY(TW_I_VCONV_BF16_FP32, "dst", out, SCALAR("crRnd", rounding)) == NULL, known);
    }
}

static void test_ups(void **state)
{
    (void)state;
    const int16_t in[16] = {1, -1, 32767, -32768};
    int32_t out[16];
    assert_null(APPLY(TW_I_VUPS_S32_S16_mv_ups_w2b, "dst", out, VALUE("src", in), SCALAR("shft", 4)));
    assert_int_equal(out[0], 16);
    assert_int_equal(out[1], -16);
    assert_null(
        APPLY(TW_I_VUPS_S32_S16_mv_ups_w2b, "dst", out, VALUE("src", in), SCALAR("shft", 17), SCALAR("crSat", 1)));
    assert_int_equal(out[2], INT32_MAX);
    assert_int_equal(out[3], INT32_MIN);
    assert_null(APPLY(TW_I_VUPS_S32_D16_mv_ups_w2b, "dst", out, VALUE("src", in)));
    assert_int_equal(out[1], 65535);
    assert_null(APPLY(TW_I_VUPS_S32_D16_mv_ups_w2b, "dst", out, VALUE("src", in), SCALAR("crUPSSign", 1)));
    assert_int_equal(out[1], -1);
    int64_t wide[16];
    assert_null(APPLY(TW_I_VUPS_S64_S16_mv_ups_w2c, "dst", wide, VALUE("src", in), SCALAR("shft", 31)));
    assert_true(wide[3] == -(INT64_C(1) << 46));
}

static void test_loads_and_stores_convert(void **state)
{
    (void)state;
    const int16_t in[16] = {-2, 3};
    int32_t acc[16];
    assert_null(APPLY(TW_I_VLDA_UPS_S32_S16_ag_idx_imm, "dst", acc, VALUE("memory", in), SCALAR("shft", 1)));
    assert_true(acc[0] == -4 && acc[1] == 6);
    int16_t stored[16];
    assert_null(APPLY(TW_I_VST_SRS_S16_S32_ag_pstm_nrm, "memory", stored, VALUE("src", acc), SCALAR("shft", 1)));
    assert_memory_equal(stored, in, sizeof in);
    const uint16_t numbers[16] = {0x3f80, 0xc000};
    uint32_t fp32[16];
    assert_null(APPLY(TW_I_VLDA_2D_CONV_FP32_BF16, "dst", fp32, VALUE("memory", numbers)));
    assert_true(fp32[0] == 0x3f800000 && fp32[1] == 0xc0000000);
    uint16_t bf16[16];
    assert_null(APPLY(TW_I_VST_CONV_BF16_FP32_ag_idx, "memory", bf16, VALUE("src", fp32)));
    assert_memory_equal(bf16, numbers, sizeof numbers);
    const uint8_t bytes[32] = {0x80, 0x7f};
    int16_t words[32];
    assert_null(APPLY(TW_I_VLDB_3D_UNPACK_S16_S8, "dst", words, VALUE("memory", bytes)));
    assert_true(words[0] == -128 && words[1] == 127);
    uint8_t packed[32];
    assert_null(APPLY(TW_I_VST_2D_PACK_S8_S16, "memory", packed, VALUE("src", words)));
    assert_memory_equal(packed, bytes, sizeof bytes);
}

static void test_pack_and_unpack(void **state)
{
    (void)state;
    const int16_t in[32] = {300, -300, -5, 200};
    int8_t out[32];
    assert_null(APPLY(TW_I_VPACK_S8_S16, "dst", out, VALUE("src", in), SCALAR("crSat", 1)));
    assert_true(out[0] == 127 && out[1] == -128 && out[2] == -5);
    assert_null(APPLY(TW_I_VPACK_S8_S16, "dst", out, VALUE("src", in), SCALAR("crSat", 3)));
    assert_int_equal(out[1], -127);
    assert_null(APPLY(TW_I_VPACK_S8_S16, "dst", out, VALUE("src", in)));
    assert_int_equal(out[0], 300 - 256);
    assert_null(APPLY(TW_I_VPACK_D8_D16, "dst", out, VALUE("src", in), SCALAR("crSat", 1)));
    assert_true((uint8_t)out[0] == 255 && out[1] == 0 && (uint8_t)out[3] == 200);
    const int8_t nibbles[64] = {1, -1, 9, -9};
    assert_null(APPLY(TW_I_VPACK_S4_S8, "dst", out, VALUE("src", nibbles), SCALAR("crSat", 1)));
    assert_true((uint8_t)out[0] == 0xf1 && (uint8_t)out[1] == 0x87);
    int8_t wide[64];
    assert_null(APPLY(TW_I_VUNPACK_S8_S4, "dst", wide, VALUE("src", out)));
    assert_true(wide[0] == 1 && wide[1] == -1 && wide[2] == 7 && wide[3] == -8);
    assert_null(APPLY(TW_I_VUNPACK_D8_D4, "dst", wide, VALUE("src", out)));
    assert_int_equal(wide[1], 15);
}

/* Nearest even is what base/half.h does; the others lie beside it. */
static void test_fp32_to_bf16(void **state)
{
    (void)state;
    struct tw_random random = {2};
    for (int i = 0; i < 5000; i++) {
        uint32_t in[16];
        uint16_t out[16], low[16], high[16];
        for (int k = 0; k < 16; k++)
            in[k] = (uint32_t)tw_random_u64(&random) & (k % 2 ? 0xffffffffu : 0xffff8000u);
        assert_null(APPLY(TW_I_VCONV_BF16_FP32, "dst", out, VALUE("src", in), SCALAR("crRnd", 12)));
        assert_null(APPLY(TW_I_VCONV_BF16_FP32, "dst", low, VALUE("src", in), SCALAR("crRnd", 0)));
        assert_null(APPLY(TW_I_VCONV_BF16_FP32, "dst", high, VALUE("src", in), SCALAR("crRnd", 1)));
        for (int k = 0; k < 16; k++) {
            float x = tw_bits_float(in[k]);
            if (isnan(x)) {
                assert_true(isnan(tw_bf16_to_f32(out[k])));
                continue;
            }
            assert_int_equal(out[k], tw_f32_to_bf16(x));
            assert_true(tw_bf16_to_f32(low[k]) <= x && x <= tw_bf16_to_f32(high[k]));
        }
    }
}

static void test_nan_stays_nan(void **state)
{
    (void)state;
    const uint32_t in[16] = {0x7f800001, 0xff80ffff, 0x7fc00000};
    uint16_t out[16];
    assert_null(APPLY(TW_I_VCONV_BF16_FP32, "dst", out, VALUE("src", in), SCALAR("crRnd", 3)));
    assert_true(out[0] == 0x7f81 && out[1] == 0xff81 && out[2] == 0x7fc0);
}

static void test_floor(void **state)
{
    (void)state;
    struct tw_random random = {3};
    for (int i = 0; i < 3000; i++) {
        uint16_t in[16];
        int32_t out[16];
        int shift = (int)tw_random_range(&random, -32, 31);
        for (int k = 0; k < 16; k++)
            in[k] = (uint16_t)tw_random_u64(&random);
        assert_null(APPLY(TW_I_VFLOOR_S32_BF16_mFl2FxSrc_W, "dst", out, VALUE("src", in),
                          SCALAR("shft", (uint32_t)shift & 63)));
        for (int k = 0; k < 16; k++) {
            double x = floor(ldexp((double)tw_bf16_to_f32(in[k]), shift));
            int32_t expected = isnan(x) ? INT32_MAX : saturated(x, INT32_MIN, INT32_MAX);
            assert_int_equal(out[k], expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_srs_rounds_and_saturates),
        cmocka_unit_test(test_srs_truncates_without_saturation),
        cmocka_unit_test(test_srs_sign_by_control_register),
        cmocka_unit_test(test_srs_overflow_flag),
        cmocka_unit_test(test_negative_shifts),
        cmocka_unit_test(test_reserved_roundings),
        cmocka_unit_test(test_ups),
        cmocka_unit_test(test_loads_and_stores_convert),
        cmocka_unit_test(test_pack_and_unpack),
        cmocka_unit_test(test_fp32_to_bf16),
        cmocka_unit_test(test_nan_stays_nan),
        cmocka_unit_test(test_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
