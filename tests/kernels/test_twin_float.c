/* The operations of twins give what the vector unit's definitions do, for numbers of every size. */
#include "base/random.h"
#include "emu/vector_kernels.h"
#include "kernels/twin_float.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SIZES = 520, ROUNDS = 20, LANES = 16 };

struct lanes {
    alignas(64) uint16_t a[2 * LANES];
    alignas(64) uint16_t b[2 * LANES];
    alignas(64) uint32_t acc[LANES];
    alignas(64) uint32_t other[LANES];
    alignas(64) uint32_t expected[LANES];
};

/* Of 16 numbers one is zero or a denormal, and one has the largest exponent. */
static unsigned exponent_near(struct tw_random *random, int exponent, int spread)
{
    uint64_t u = tw_random_u64(random);
    int e = (int)tw_random_range(random, exponent - spread, exponent + spread);
    if ((u & 15) < 2)
        return (u & 15) == 0 ? 0 : 255;
    return (unsigned)(e < 0 ? 0 : e > 254 ? 254 : e);
}

static uint32_t number(struct tw_random *random, int exponent, int spread, uint32_t mask)
{
    uint64_t u = tw_random_u64(random);
    uint32_t mantissa = (u >> 32 & 3) == 0 ? 0 : (uint32_t)u & 0x7fffff;
    return (((uint32_t)u & 0x80000000u) | exponent_near(random, exponent, spread) << 23 | mantissa) & mask;
}

/* Numbers whose sums have exponents about `size`, as the definition counts them. */
static void fill(struct tw_random *random, int size, struct lanes *l)
{
    int spread = tw_random_range(random, 0, 1) ? 4 : 40, a = (int)tw_random_range(random, 1, 254);
    for (unsigned i = 0; i < 2 * LANES; i++) {
        l->a[i] = (uint16_t)(number(random, a, spread, 0xffff0000u) >> 16);
        l->b[i] = (uint16_t)(number(random, size - a, spread, 0xffff0000u) >> 16);
    }
    for (unsigned i = 0; i < LANES; i++) {
        l->acc[i] = number(random, size - 128, 2 * spread, UINT32_MAX);
        l->other[i] = number(random, size - 128, 2 * spread, UINT32_MAX);
        if (tw_random_range(random, 0, 7) == 0)
            l->other[i] = l->acc[i] ^ (0x80000000u | (uint32_t)tw_random_range(random, 0, 1));
    }
}

static int is_nan(uint32_t x)
{
    return (x & 0x7fffffff) > 0x7f800000;
}

static void compare(uint32_t expected, uint32_t got)
{
    if (is_nan(expected))
        assert_true(is_nan(got));
    else
        assert_int_equal(got, expected);
}

static void check(const struct tw_vector_kernels *plain, struct lanes *l)
{
    plain->bf16_elements(l->acc, NULL, l->a, l->b, l->expected);
    for (unsigned i = 0; i < LANES; i++)
        compare(l->expected[i], tw_twin_mac_pair(l->acc[i], l->a[i], l->b[i], l->a[i + LANES], l->b[i + LANES]));
    plain->fp32_add(l->acc, l->other, l->expected);
    for (unsigned i = 0; i < LANES; i++)
        compare(l->expected[i], tw_twin_add(l->acc[i], l->other[i]));
    plain->bf16_matrix(l->acc, NULL, l->a, l->b, l->expected);
    for (unsigned i = 0; i < LANES; i++) {
        uint16_t column[TW_TWIN_PAIRS];
        for (unsigned t = 0; t < TW_TWIN_PAIRS; t++)
            column[t] = l->b[4 * t + i % 4];
        compare(l->expected[i], tw_twin_mac_bf16(l->acc[i], l->a + 8 * (i / 4), column));
    }
}

static void test_sums_of_all_sizes(void **state)
{
    (void)state;
    struct tw_random random = {20};
    struct lanes l;
    for (int i = 0; i < SIZES * ROUNDS; i++) {
        fill(&random, i % SIZES, &l);
        check(tw_vector_kernels_of(TW_KERNELS_C, 0), &l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_of_all_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
