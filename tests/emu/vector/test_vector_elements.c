/* Lane by lane arithmetic, and elements that move. */
#include "base/random.h"
#include "emu/vector/apply.h"
#include "emu/vector/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_rows_are_sound(void **state)
{
    (void)state;
    unsigned count;
    const struct tw_semantics *rows = tw_vector_semantics(&count);
    unsigned char seen[TW_I_COUNT] = {0};
    for (unsigned i = 0; i < count; i++) {
        const struct tw_instruction *info = &tw_instructions[rows[i].instruction];
        assert_false(seen[rows[i].instruction]++);
        assert_non_null(rows[i].function);
        assert_int_equal(rows[i].action == TW_ACTION_LOAD, (info->flags & TW_FLAG_LOAD) != 0);
        assert_int_equal(rows[i].action == TW_ACTION_STORE, (info->flags & TW_FLAG_STORE) != 0);
        assert_int_equal(rows[i].bytes, rows[i].action == TW_ACTION_COMPUTE ? 0 : 32);
    }
    /* All of slot vec but its nop. */
    for (unsigned i = 0; i < TW_I_COUNT; i++)
        if (tw_instructions[i].slot == TW_SLOT_VEC)
            assert_int_equal(seen[i], i != TW_I_NOPV);
}

static void test_add_and_compare(void **state)
{
    (void)state;
    const int8_t a[64] = {127, -128, 5, 0, -1}, b[64] = {1, -1, 5, -1, 1};
    int8_t d[64];
    uint64_t mask[1];
    assert_null(APPLY(TW_I_VADD_8, "d", d, VALUE("s1", a), VALUE("s2", b)));
    assert_true(d[0] == -128 && d[1] == 127 && d[2] == 10);
    assert_null(APPLY(TW_I_VLT_S8, "cmp", mask, VALUE("s1", a), VALUE("s2", b)));
    assert_true(mask[0] == (1 << 1 | 1 << 4));
    assert_null(APPLY(TW_I_VLT_D8, "cmp", mask, VALUE("s1", a), VALUE("s2", b)));
    assert_true(mask[0] == (1 << 1 | 1 << 3)); /* unsigned */
    assert_null(APPLY(TW_I_VGE_S8, "cmp", mask, VALUE("s1", a), VALUE("s2", b)));
    assert_true(mask[0] == ~(uint64_t)(1 << 1 | 1 << 4));
    assert_null(APPLY(TW_I_VEQZ_8, "cmp", mask, VALUE("s2", a)));
    assert_true(mask[0] == ~(uint64_t)(1 | 2 | 4 | 16));
    assert_null(APPLY(TW_I_VMAXDIFF_LT_S8, "d", d, VALUE("s1", a), VALUE("s2", b)));
    assert_true(d[0] == 126 && d[1] == 0 && d[3] == 1);
    assert_null(APPLY(TW_I_VMIN_GE_S8, "d", d, VALUE("s1", a), VALUE("s2", b)));
    assert_true(d[0] == 1 && d[1] == -128);
}

static void test_masks_of_32_bits(void **state)
{
    (void)state;
    const int32_t a[16] = {1, -1, INT32_MIN, 7}, b[16] = {2, -2, 3, 7};
    assert_int_equal(APPLY_SCALAR(TW_I_VLT_S32, "cmp", VALUE("s1", a), VALUE("s2", b)), 5);
    assert_int_equal(APPLY_SCALAR(TW_I_VGE_S32, "cmp", VALUE("s1", a), VALUE("s2", b)), 0xfffa);
    assert_int_equal(APPLY_SCALAR(TW_I_VABS_GTZ_S32, "cmp", VALUE("s1", a)), 9);
    int32_t d[16];
    assert_null(APPLY(TW_I_VABS_GTZ_S32, "d", d, VALUE("s1", a)));
    assert_true(d[1] == 1 && d[2] == INT32_MIN);
    assert_null(APPLY(TW_I_VBNEG_LTZ_S32, "d", d, VALUE("s1", a)));
    assert_true(d[0] == ~1 && d[1] == 0);
    assert_int_equal(APPLY_SCALAR(TW_I_VBNEG_LTZ_S32, "cmp", VALUE("s1", a)), 6);
    assert_null(APPLY(TW_I_VADDSUB_32, "d", d, VALUE("s1", a), VALUE("s2", b), SCALAR("sel", 2)));
    assert_true(d[0] == 3 && d[1] == 1);
    assert_null(APPLY(TW_I_VSEL_32, "d", d, VALUE("s1", a), VALUE("s2", b), SCALAR("sel", 2)));
    assert_true(d[0] == 1 && d[1] == -2);
}

/* Sign and magnitude: -0 is less than +0; NaN is neither less nor not. */
static void test_bf16_compares(void **state)
{
    (void)state;
    const uint16_t a[32] = {0x8000, 0x3f80, 0xbf80, 0x7fc0, 0x3f80}, b[32] = {0x0000, 0xbf80, 0x3f80, 0x3f80, 0x7fc0};
    assert_int_equal(APPLY_SCALAR(TW_I_VLT_BF16, "cmp", VALUE("s1", a), VALUE("s2", b)), 1 | 4);
    assert_int_equal(APPLY_SCALAR(TW_I_VGE_BF16, "cmp", VALUE("s1", a), VALUE("s2", b)), 0xffffffe2u);
    uint16_t d[32];
    assert_null(APPLY(TW_I_VMAX_LT_BF16, "d", d, VALUE("s1", a), VALUE("s2", b)));
    assert_true(d[0] == 0 && d[1] == 0x3f80 && d[2] == 0x3f80);
    assert_null(APPLY(TW_I_VMIN_GE_BF16, "d", d, VALUE("s1", a), VALUE("s2", b)));
    assert_true(d[0] == 0x8000 && d[1] == 0xbf80 && d[2] == 0xbf80);
}

static void test_bf16_order(void **state)
{
    (void)state;
    struct tw_random random = {7};
    for (int i = 0; i < 2000; i++) {
        uint16_t a[32], b[32];
        for (int k = 0; k < 32; k++) {
            a[k] = (uint16_t)tw_random_u64(&random);
            b[k] = k % 4 == 0 ? a[k] ^ 0x8000u : k % 4 == 1 ? a[k] : (uint16_t)tw_random_u64(&random);
        }
        uint32_t less = APPLY_SCALAR(TW_I_VLT_BF16, "cmp", VALUE("s1", a), VALUE("s2", b));
        uint32_t not_less = APPLY_SCALAR(TW_I_VGE_BF16, "cmp", VALUE("s1", a), VALUE("s2", b));
        for (int k = 0; k < 32; k++) {
            int unordered = tw_bf16_is_nan(a[k]) || tw_bf16_is_nan(b[k]);
            assert_int_equal(less >> k & 1u, tw_bf16_less(a[k], b[k]));
            assert_int_equal(not_less >> k & 1u, !unordered && !tw_bf16_less(a[k], b[k]));
        }
    }
}

static void numbered(unsigned char bytes[64], int first)
{
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(first + i);
}

static void shuffle(unsigned mode, const unsigned char a[64], const unsigned char b[64], unsigned char d[64])
{
    assert_null(apply(TW_I_VSHUFFLE, (const struct named[]){{"s1", a, 64}, {"s2", b, 64}, {"mod", &mode, sizeof mode}},
                      3, "dst", d, 64));
}

static void test_shuffles(void **state)
{
    (void)state;
    unsigned char a[64], b[64], low[64], high[64], d[64];
    numbered(a, 0);
    numbered(b, 64);
    shuffle(0, a, b, d); /* bytes of even number */
    for (int i = 0; i < 64; i++)
        assert_int_equal(d[i], 2 * i);
    /* Pairs of modes that undo each other: 64x2 and 2x64, 16x4 and 4x16 of 16 bits, and so on. */
    static const unsigned pairs[][2] = {{0, 20}, {2, 18}, {4, 16}, {6, 14}, {8, 12}, {24, 26}, {30, 32}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        shuffle(pairs[i][0], a, b, low);
        shuffle(pairs[i][0] + 1, a, b, high);
        shuffle(pairs[i][1], low, high, d);
        assert_memory_equal(d, a, 64);
        shuffle(pairs[i][1] + 1, low, high, d);
        assert_memory_equal(d, b, 64);
    }
    static const unsigned single[][2] = {{28, 29}, {35, 35}, {36, 37}, {38, 38}, {39, 39},
                                         {40, 41}, {42, 43}, {46, 47}, {34, 34}};
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        shuffle(single[i][0], a, b, low);
        shuffle(single[i][1], low, b, d);
        assert_memory_equal(d, a, 64);
    }
    shuffle(22, a, b, d);
    assert_memory_equal(d, a, 64);
    shuffle(64 + 23, a, b, d); /* six bits count */
    assert_memory_equal(d, b, 64);
    shuffle(48, b, a, d);
    assert_true(d[0] == 64 && d[1] == 0 && d[63] == 0);
}

static void test_broadcasts(void **state)
{
    (void)state;
    uint16_t d[32];
    assert_null(APPLY(TW_I_VBCST_16, "dst", d, SCALAR("s0", 0x12345)));
    assert_true(d[0] == 0x2345 && d[31] == 0x2345);
    /* The other vector of the shuffle is zero. */
    assert_null(APPLY(TW_I_VBCSTSHFL_16, "dst", d, SCALAR("s0", 7), SCALAR("idx", 18)));
    assert_true(d[0] == 7 && d[1] == 0 && d[2] == 7);
    const uint32_t words[16] = {1, 2, 3};
    uint32_t e[16];
    assert_null(APPLY(TW_I_VEXTBCST_32_mRm, "dst", e, VALUE("src", words), SCALAR("idx", 16 + 2)));
    assert_true(e[0] == 3 && e[15] == 3);
}

static void test_extract_and_insert(void **state)
{
    (void)state;
    const int16_t a[32] = {-1, -2, 3};
    assert_int_equal(APPLY_SCALAR(TW_I_VEXTRACT_S16, "dst", VALUE("s1", a), SCALAR("idx", 33)), 0xfffffffeu);
    assert_int_equal(APPLY_SCALAR(TW_I_VEXTRACT_D16, "dst", VALUE("s1", a), SCALAR("idx", 1)), 0xfffe);
    assert_int_equal(APPLY_SCALAR(TW_I_VEXTRACT_D16, "dst", VALUE("s1", a), SCALAR("idx", 1), SCALAR("crVaddSign", 1)),
                     0xfffffffeu);
    int16_t d[32];
    assert_null(APPLY(TW_I_VINSERT_16, "dst", d, VALUE("s1", a), SCALAR("idx", 34), SCALAR("s0", 0x70009)));
    assert_true(d[0] == -1 && d[1] == -2 && d[2] == 9 && d[3] == 0);
    const uint64_t element[1] = {UINT64_C(0x0123456789abcdef)};
    uint64_t wide[8];
    assert_null(APPLY(TW_I_VPUSH_HI_64, "d", wide, VALUE("s2", element)));
    assert_true(wide[7] == element[0] && wide[0] == 0);
}

static void test_pushes_and_shifts(void **state)
{
    (void)state;
    unsigned char a[64], b[64], d[64];
    numbered(a, 0);
    numbered(b, 100);
    assert_null(APPLY(TW_I_VPUSH_LO_32, "d", d, SCALAR("s1", 0x04030201), VALUE("s2", a)));
    assert_true(d[0] == 1 && d[3] == 4 && d[4] == 0 && d[63] == 59);
    assert_null(APPLY(TW_I_VPUSH_HI_8, "d", d, VALUE("s1", a), SCALAR("s2", 200)));
    assert_true(d[0] == 1 && d[63] == 200);
    assert_null(APPLY(TW_I_VSHIFT, "d", d, VALUE("s1", a), VALUE("s2", b), SCALAR("shift", 3)));
    assert_true(d[0] == 3 && d[60] == 63 && d[61] == 100 && d[63] == 102);
    assert_null(APPLY(TW_I_VSHIFT, "d", d, VALUE("s1", a), VALUE("s2", b), SCALAR("shift", 64)));
    assert_memory_equal(d, b, 64);
    assert_non_null(APPLY(TW_I_VSHIFT, "d", d, SCALAR("shift", 65)));
    assert_null(APPLY(TW_I_VSHIFT, "d", d, VALUE("s1", a), VALUE("s2", b), SCALAR("shift", 0x80000001u)));
    assert_true(d[0] == 0 && d[1] == 0 && d[63] == 0);
    assert_null(APPLY(TW_I_VSHIFT_ALIGN, "d", d, VALUE("s1", a), SCALAR("pre", 2), VALUE("s2", b), SCALAR("shift", 4)));
    assert_true(d[0] == 8 && d[55] == 63 && d[56] == 0 && d[60] == 100);
    assert_non_null(APPLY(TW_I_VSHIFT_ALIGN, "d", d, SCALAR("pre", 5), SCALAR("shift", 4)));
}

static void test_loads_that_are_not_modelled(void **state)
{
    (void)state;
    unsigned char d[40];
    assert_non_null(APPLY(TW_I_VLDB_SPARSE_POP_8, "dst", d, SCALAR("ptr", 0)));
    assert_non_null(APPLY(TW_I_VLDB_COMPR_POP, "dst", d, SCALAR("ptr", 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_sound),
        cmocka_unit_test(test_add_and_compare),
        cmocka_unit_test(test_masks_of_32_bits),
        cmocka_unit_test(test_bf16_compares),
        cmocka_unit_test(test_bf16_order),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_broadcasts),
        cmocka_unit_test(test_extract_and_insert),
        cmocka_unit_test(test_pushes_and_shifts),
        cmocka_unit_test(test_loads_that_are_not_modelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
