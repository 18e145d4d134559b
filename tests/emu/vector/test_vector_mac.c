/* Multiply-accumulate of integers against sums written out here, mode by mode; signs, shifts, masks, sparse factors. */
#include "base/random.h"
#include "emu/vector/apply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SIGNED_BOTH 0x300u
#define ZERO_ACC 1u
#define SHIFT16 (1u << 10)
#define SUB_MUL (1u << 11)
#define SUB_ACC1 (1u << 12)
#define SUB_ACC2 (1u << 13)
#define MASK(bits) ((uint32_t)(bits) << 16)

static void fill(struct tw_random *random, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)tw_random_u64(random);
}

static void test_int8_matrix(void **state)
{
    (void)state;
    struct tw_random random = {1};
    int8_t a[4][8], b[8][8];
    int32_t c[4][8];
    fill(&random, a, sizeof a);
    fill(&random, b, sizeof b);
    assert_null(
        APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", b), SCALAR("c", 8 | SIGNED_BOTH)));
    for (int m = 0; m < 4; m++)
        for (int n = 0; n < 8; n++) {
            int32_t sum = 0;
            for (int k = 0; k < 8; k++)
                sum += a[m][k] * b[k][n];
            assert_int_equal(c[m][n], sum);
        }
}

/* Each sign bit is one factor's. */
static void test_signs_of_factors(void **state)
{
    (void)state;
    const int8_t a[64] = {-1}, b[64] = {-2};
    const struct {
        uint32_t bits;
        int32_t product;
    } cases[] = {{0, 255 * 254}, {0x100, 255 * -2}, {0x200, -254}, {0x300, 2}};
    for (unsigned i = 0; i < 4; i++) {
        int32_t c[32];
        assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", b),
                          SCALAR("c", 8 | cases[i].bits)));
        assert_int_equal(c[0], cases[i].product);
    }
}

static void test_int16_matrix_of_64_bit_lanes(void **state)
{
    (void)state;
    struct tw_random random = {2};
    int16_t a[2][4], b[4][8];
    int64_t c[2][8];
    fill(&random, a, sizeof a);
    fill(&random, b, sizeof b);
    assert_null(
        APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", b), SCALAR("c", 26 | SIGNED_BOTH)));
    for (int m = 0; m < 2; m++)
        for (int n = 0; n < 8; n++) {
            int64_t sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[m][k] * b[k][n];
            assert_true(c[m][n] == sum);
        }
}

static void test_nibbles_are_low_first(void **state)
{
    (void)state;
    int8_t a[64] = {0}, b[64] = {0};
    int32_t c[32];
    a[0] = 10;
    a[1] = 100;
    b[0] = 0x21; /* row 0: 1, 2 */
    b[4] = 0x43; /* row 1 begins behind 8 nibbles: 3, 4 */
    assert_null(
        APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", b), SCALAR("c", 0 | SIGNED_BOTH)));
    assert_int_equal(c[0], 310);
    assert_int_equal(c[1], 420);
}

static void test_elementwise_and_convolution(void **state)
{
    (void)state;
    struct tw_random random = {3};
    int16_t a[32], b[32];
    int64_t wide[16];
    int32_t c[32];
    fill(&random, a, sizeof a);
    fill(&random, b, sizeof b);
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", wide, VALUE("s1", a), VALUE("s2", b),
                      SCALAR("c", 90 | SIGNED_BOTH)));
    for (int i = 0; i < 16; i++)
        assert_true(wide[i] == (int64_t)a[i] * b[i] + (int64_t)a[i + 16] * b[i + 16]);
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", wide, VALUE("s1", a), VALUE("s2", b),
                      SCALAR("c", 122 | SIGNED_BOTH)));
    for (int i = 0; i < 16; i++) {
        int64_t sum = 0;
        for (int t = 0; t < 4; t++)
            sum += (int64_t)a[i + t] * b[t];
        assert_true(wide[i] == sum);
    }
    int8_t data[64], taps[64];
    fill(&random, data, sizeof data);
    fill(&random, taps, sizeof taps);
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", data), VALUE("s2", taps),
                      SCALAR("c", 104 | SIGNED_BOTH)));
    for (int i = 0; i < 32; i++) {
        int32_t sum = 0;
        for (int t = 0; t < 8; t++)
            sum += data[i + 4 * t] * taps[4 * t + i % 4];
        assert_int_equal(c[i], sum);
    }
}

/* AMD's words: 0x0a A * B, 0xa0 conj(A) * B. */
static void test_complex(void **state)
{
    (void)state;
    const int16_t a[32] = {3, 4}, b[32] = {5, 7};
    int64_t c[16];
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", b),
                      SCALAR("c", 154 | SIGNED_BOTH | MASK(0x0a))));
    assert_true(c[0] == 3 * 5 - 4 * 7 && c[1] == 3 * 7 + 4 * 5);
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", b),
                      SCALAR("c", 154 | SIGNED_BOTH | MASK(0xa0))));
    assert_true(c[0] == 3 * 5 + 4 * 7 && c[1] == 3 * 7 - 4 * 5);
}

static const int16_t ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Lane 0 of mode 56, whose product is 7, with accumulators 1000 and 20. */
static int32_t lane_of(uint16_t instruction, uint32_t bits)
{
    const int16_t seven[32] = {7};
    const int32_t acc1[32] = {1000}, acc2[32] = {20};
    int32_t c[32];
    const struct named all[] = {VALUE("acc1", acc1), VALUE("acc2", acc2), VALUE("s1", seven), VALUE("s2", ones),
                                SCALAR("c", 56 | SIGNED_BOTH | bits)};
    struct named values[5];
    size_t n = 0;
    for (unsigned i = 0; i < 5; i++) {
        int has = 0;
        for (unsigned k = 0; k < tw_instructions[instruction].n_operands; k++)
            has |= strcmp(tw_instructions[instruction].operands[k].name, all[i].name) == 0;
        if (has)
            values[n++] = all[i];
    }
    assert_null(apply(instruction, values, n, "dst", c, sizeof c));
    return c[0];
}

static void test_signs_of_terms(void **state)
{
    (void)state;
    const struct {
        uint16_t instruction;
        int32_t expected;
    } cases[] = {
        {TW_I_VMUL_vmac_cm_core_dense, 7},
        {TW_I_VNEGMUL_vmac_cm_core_dense, -7},
        {TW_I_VMAC_vmac_cm_core_dense, 1007},
        {TW_I_VMSC_vmac_cm_core_dense, 993},
        {TW_I_VNEGMAC_vmac_cm_core_dense, -1007},
        {TW_I_VNEGMSC_vmac_cm_core_dense, -993},
        {TW_I_VADDMAC_vmac_bm_core_dense, 1027},
        {TW_I_VADDMSC_vmac_bm_core_dense, 1013},
        {TW_I_VSUBMAC_vmac_bm_core_dense, 987},
        {TW_I_VSUBMSC_vmac_bm_core_dense, 973},
        {TW_I_VADD, 1020},
        {TW_I_VSUB, 980},
        {TW_I_VNEGADD, -1020},
        {TW_I_VNEGSUB, -980},
        {TW_I_VNEG, -1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(lane_of(cases[i].instruction, 0), cases[i].expected);
    assert_int_equal(lane_of(TW_I_VADDMAC_vmac_bm_core_dense, SUB_MUL), 1013);
    assert_int_equal(lane_of(TW_I_VADDMAC_vmac_bm_core_dense, SUB_ACC1), -973);
    assert_int_equal(lane_of(TW_I_VADDMAC_vmac_bm_core_dense, SUB_ACC2), 987);
    assert_int_equal(lane_of(TW_I_VADDMAC_vmac_bm_core_dense, ZERO_ACC), 27);
    assert_int_equal(lane_of(TW_I_VADDMAC_vmac_bm_core_dense, SHIFT16), (1000 << 16) + 27);
}

static void test_masks_negate_products(void **state)
{
    (void)state;
    const int16_t a[32] = {1, 2, 3, 4}; /* row 0 of 4x2x8: 1, 2; row 1: 3, 4 */
    int32_t c[32];
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", a), VALUE("s2", ones),
                      SCALAR("c", 24 | SIGNED_BOTH | MASK(0x06))));
    /* bit 1: lane 0, second term; bit 2: lane 1, first term */
    assert_int_equal(c[0], 1 - 2);
    assert_int_equal(c[1], -1 + 2);
    assert_int_equal(c[2], 1 + 2);
    assert_int_equal(c[8], 3 - 4);
}

static void test_words_without_products(void **state)
{
    (void)state;
    int32_t c[32];
    /* A reserved variant, and a sparse mode in a dense instruction. */
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", ones), VALUE("s2", ones),
                      SCALAR("c", 56 + 7 * 32 - 32)));
    assert_int_equal(c[0], 0);
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, VALUE("s1", ones), VALUE("s2", ones), SCALAR("c", 186)));
    assert_int_equal(c[0], 0);
}

static void test_what_is_not_modelled(void **state)
{
    (void)state;
    unsigned char c[128];
    const unsigned char qx[80] = {0};
    assert_non_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, SCALAR("c", 28)));
    assert_non_null(APPLY(TW_I_VMUL_F_vmac_bm_core_dense, "dst", c, SCALAR("c", 8)));
    assert_non_null(APPLY(TW_I_VADDMAC_F_vmac_bm_core_dense, "dst", c, SCALAR("c", 186)));
    assert_null(APPLY(TW_I_VMAC_F_vmac_bm_core_dense, "dst", c, SCALAR("c", 186)));
    assert_non_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, SCALAR("c", 56 | MASK(1))));
    assert_non_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, SCALAR("c", 34 | MASK(1))));
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_dense, "dst", c, SCALAR("c", 34 | MASK(5))));
    assert_non_null(APPLY(TW_I_VMUL_vmac_cm_core_sparse_wide, "dst", c, VALUE("qxs2", qx), SCALAR("c", 32)));
}

/* i16 x i16, 2x8x8: column 0 has its rows 1 and 2, column 1 only row 3, column 2 only row 0. */
static void test_sparse_factor(void **state)
{
    (void)state;
    const int16_t a[32] = {1, 10, 100, 1000};
    unsigned char qx[80] = {0};
    int16_t data[32] = {0};
    int64_t c[16];
    data[0] = 2;     /* row 0 of the compressed B: slot 0 */
    data[8] = 3;     /* row 1: slot 1 */
    data[8 + 1] = 5; /* column 1, slot 1 */
    data[2] = 7;     /* column 2, slot 0 */
    memcpy(qx, data, sizeof data);
    /* Bits are bytes of the column-major B: element (k, n) has bits 2 (8 n + k), + 1. */
    qx[64 + 0] = 1 << 2 | 1 << 5;
    qx[64 + 2] = 1 << 6;
    qx[64 + 4] = 1 << 0;
    assert_null(APPLY(TW_I_VMUL_vmac_cm_core_sparse_narrow, "dst", c, VALUE("xs1", a), VALUE("qxs2", qx),
                      SCALAR("c", 186 | SIGNED_BOTH)));
    assert_true(c[0] == 10 * 2 + 100 * 3);
    assert_true(c[1] == 1000 * 5);
    assert_true(c[2] == 1 * 7);
    assert_true(c[3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int8_matrix),
        cmocka_unit_test(test_signs_of_factors),
        cmocka_unit_test(test_int16_matrix_of_64_bit_lanes),
        cmocka_unit_test(test_nibbles_are_low_first),
        cmocka_unit_test(test_elementwise_and_convolution),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_signs_of_terms),
        cmocka_unit_test(test_masks_negate_products),
        cmocka_unit_test(test_words_without_products),
        cmocka_unit_test(test_what_is_not_modelled),
        cmocka_unit_test(test_sparse_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
