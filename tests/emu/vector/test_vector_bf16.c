/* bf16 sums: exact cases, alignment and rounding, the edges of the range, NaN and infinity. */
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

#define MODE_4X8X4 28u
#define MODE_ELEMENTS 60u

/* acc + a[0] * b[0] + ..., by lane 0 of a 4x8x4 product. */
static float sum_of(float acc, const float *a, const float *b, unsigned n)
{
    uint16_t x[32] = {0}, y[32] = {0};
    float in[16] = {acc}, out[16];
    for (unsigned i = 0; i < n; i++) {
        x[i] = tw_f32_to_bf16(a[i]);
        y[4 * i] = tw_f32_to_bf16(b[i]);
    }
    assert_null(APPLY(TW_I_VMAC_F_vmac_bm_core_dense, "dst", out, VALUE("acc1", in), VALUE("s1", x), VALUE("s2", y),
                      SCALAR("c", MODE_4X8X4)));
    return out[0];
}

static uint32_t bits_of_sum(uint32_t acc, uint16_t a, uint16_t b)
{
    uint16_t x[32] = {a}, y[32] = {b};
    uint32_t in[16] = {acc}, out[16];
    assert_null(APPLY(TW_I_VMAC_F_vmac_bm_core_dense, "dst", out, VALUE("acc1", in), VALUE("s1", x), VALUE("s2", y),
                      SCALAR("c", MODE_4X8X4)));
    return out[0];
}

static void test_exact_sums(void **state)
{
    (void)state;
    const float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    assert_true(sum_of(0, a, b, 8) == 120.0f);
    assert_true(sum_of(-20.5f, a, b, 8) == 99.5f);
    assert_true(sum_of(0, a, b, 0) == 0.0f);
}

static void test_matrix_and_elements(void **state)
{
    (void)state;
    struct tw_random random = {5};
    uint16_t a[32], b[32];
    float out[16];
    for (int i = 0; i < 32; i++) { /* small whole numbers: sums are exact */
        a[i] = tw_f32_to_bf16((float)tw_random_range(&random, -15, 15));
        b[i] = tw_f32_to_bf16((float)tw_random_range(&random, -15, 15));
    }
    assert_null(
        APPLY(TW_I_VMUL_F_vmac_bm_core_dense, "dst", out, VALUE("s1", a), VALUE("s2", b), SCALAR("c", MODE_4X8X4)));
    for (int i = 0; i < 16; i++) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += tw_bf16_to_f32(a[8 * (i / 4) + k]) * tw_bf16_to_f32(b[4 * k + i % 4]);
        assert_true(out[i] == sum);
    }
    assert_null(APPLY(TW_I_VNEGMUL_F_vmac_bm_core_dense, "dst", out, VALUE("s1", a), VALUE("s2", b),
                      SCALAR("c", MODE_ELEMENTS)));
    for (int i = 0; i < 16; i++)
        assert_true(out[i] == -(tw_bf16_to_f32(a[i]) * tw_bf16_to_f32(b[i]) +
                                tw_bf16_to_f32(a[i + 16]) * tw_bf16_to_f32(b[i + 16])));
}

/* Not a chain of fused multiply-adds: what lies more than 23 bits below the largest term is rounded away first. */
static void test_terms_are_aligned_to_the_largest(void **state)
{
    (void)state;
    const float a[3] = {1024, -1024, 1}, b[3] = {1024, 1024, 0.125f};
    assert_true(sum_of(0, a, b, 3) == 0.125f); /* one unit beside 2^20 */
    const float half[3] = {1024, 1024, 0.0625f}, more[3] = {1024, 1024, 0.09375f};
    assert_true(sum_of(0, a, half, 3) == 0.0f); /* half a unit: to even */
    assert_true(sum_of(0, a, more, 3) == 0.125f);
}

/* Sums of 20,000 random lanes stay within the error that alignment allows. */
static void test_error_bound(void **state)
{
    (void)state;
    struct tw_random random = {6};
    for (int i = 0; i < 20000; i++) {
        float a[8], b[8], acc = (float)(tw_random_unit(&random) - 0.5) * 4;
        double exact = acc, largest = fabsf(acc);
        for (int k = 0; k < 8; k++) {
            a[k] = tw_bf16_to_f32(tw_f32_to_bf16((float)(tw_random_unit(&random) - 0.5) * 4));
            b[k] = tw_bf16_to_f32(tw_f32_to_bf16((float)(tw_random_unit(&random) - 0.5) * 4));
            exact += (double)a[k] * b[k];
            largest = fmax(largest, fabs((double)a[k] * b[k]));
        }
        double error = fabs((double)sum_of(acc, a, b, 8) - exact);
        assert_true(error <= 9 * largest * 0x1p-23 + fabs(exact) * 0x1p-23);
    }
}

static void test_edges_of_the_range(void **state)
{
    (void)state;
    assert_int_equal(bits_of_sum(0, 0x7f7f, 0x7f7f), 0x7f800000); /* overflow */
    assert_int_equal(bits_of_sum(0, 0xff7f, 0x7f7f), 0xff800000);
    assert_int_equal(bits_of_sum(0, 0x0080, 0x3f00), 0);          /* no denormal results */
    assert_int_equal(bits_of_sum(0, 0x0080, 0x3f80), 0x00800000); /* the smallest number */
    assert_int_equal(bits_of_sum(0x80000000, 0x8000, 0x3f80), 0); /* all zeros: plus zero */
    assert_int_equal(bits_of_sum(0x3f800000, 0xbf80, 0x3f80), 0); /* cancellation: plus zero */
}

static void test_denormal_factors_keep_their_mantissa(void **state)
{
    (void)state;
    /* 2^-133 * 2^100 */
    assert_int_equal(bits_of_sum(0, 0x0001, (100 + 127) << 7), (uint32_t)(127 - 33) << 23);
    uint16_t x[32] = {0x0001}, y[32] = {(100 + 127) << 7};
    uint32_t out[16];
    assert_null(
        APPLY(TW_I_VMUL_F_vmac_bm_core_dense, "dst", out, VALUE("s1", x), VALUE("s2", y), SCALAR("c", MODE_4X8X4)));
    assert_int_equal(out[0], (uint32_t)(127 - 33) << 23);
}

static void test_nan_and_infinity(void **state)
{
    (void)state;
    const uint32_t infinity = 0x7f800000;
    assert_int_equal(bits_of_sum(0, 0x7f80, 0x3f80), infinity);
    assert_int_equal(bits_of_sum(0, 0x7f80, 0xbf80), infinity | 0x80000000);
    assert_true(isnan(tw_bits_float(bits_of_sum(0, 0x7f80, 0))));
    assert_true(isnan(tw_bits_float(bits_of_sum(0, 0x7fc0, 0x3f80))));
    assert_true(isnan(tw_bits_float(bits_of_sum(infinity, 0xff80, 0x3f80))));
    assert_int_equal(bits_of_sum(infinity, 0xbf80, 0x3f80), infinity);
    assert_int_equal(bits_of_sum(0x7fc00000, 0, 0), 0x7f800001);  /* as recorded: the mantissa of a sum out of range */
    assert_int_equal(bits_of_sum(0, 0x7fa0, 0x2f80), 0x7fa00001); /* of one in range, | 1 */
}

static void test_additions(void **state)
{
    (void)state;
    const uint32_t a[16] = {0x3f800000, 0x80800000, 0x00800000, 0x80000000, 0x40400000};
    const uint32_t b[16] = {0x3f800000, 0x00900000, 0x80900000, 0x80000000, 0x3f800000};
    uint32_t out[16];
    assert_null(APPLY(TW_I_VADD_F, "dst", out, VALUE("acc1", a), VALUE("acc2", b), SCALAR("c", MODE_ELEMENTS)));
    assert_int_equal(out[0], 0x40000000);
    assert_int_equal(out[1], 0); /* too small a sum: a zero with the sum's sign */
    assert_int_equal(out[2], 0x80000000);
    assert_int_equal(out[3], 0);
    assert_null(APPLY(TW_I_VSUB_F, "dst", out, VALUE("acc1", a), VALUE("acc2", b), SCALAR("c", MODE_ELEMENTS)));
    assert_int_equal(out[4], 0x40000000);
    assert_null(APPLY(TW_I_VNEGADD_F, "dst", out, VALUE("acc1", a), VALUE("acc2", b), SCALAR("c", MODE_ELEMENTS)));
    assert_int_equal(out[4], 0xc0800000);
    assert_null(APPLY(TW_I_VNEG_F, "dst", out, VALUE("acc1", a), SCALAR("c", MODE_ELEMENTS)));
    assert_int_equal(out[0], 0xbf800000);
}

/* 4x16x4: the wide form reads four rows of 16. */
static void test_sparse(void **state)
{
    (void)state;
    uint16_t a[64] = {0}, data[32] = {0};
    unsigned char qx[80] = {0};
    float out[16];
    a[16 + 2] = tw_f32_to_bf16(3); /* row 1, column 2 of A */
    data[4] = tw_f32_to_bf16(5);   /* column 0, second slot of the first group */
    memcpy(qx, data, sizeof data);
    qx[64] = 1 << 4; /* row 2 of column 0 */
    assert_null(
        APPLY(TW_I_VMUL_F_vmac_bm_core_sparse_wide, "dst", out, VALUE("ys1", a), VALUE("qxs2", qx), SCALAR("c", 92)));
    assert_true(out[4] == 15.0f && out[0] == 0.0f && out[8] == 0.0f);
    a[48 + 2] = tw_f32_to_bf16(4);
    assert_null(
        APPLY(TW_I_VMUL_F_vmac_bm_core_sparse_wide, "dst", out, VALUE("ys1", a), VALUE("qxs2", qx), SCALAR("c", 92)));
    assert_true(out[12] == 20.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_sums),
        cmocka_unit_test(test_matrix_and_elements),
        cmocka_unit_test(test_terms_are_aligned_to_the_largest),
        cmocka_unit_test(test_error_bound),
        cmocka_unit_test(test_edges_of_the_range),
        cmocka_unit_test(test_denormal_factors_keep_their_mantissa),
        cmocka_unit_test(test_nan_and_infinity),
        cmocka_unit_test(test_additions),
        cmocka_unit_test(test_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
