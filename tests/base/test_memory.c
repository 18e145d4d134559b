/* Aligned memory, and products of sizes that must not wrap round. */
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void memory_is_aligned_and_usable(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = tw_alloc(sizes[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % TW_ALIGN, 0);
        memset(p, 0xa5, sizes[i]);
        free(p);
    }
}

static void impossible_sizes_give_null(void **state)
{
    (void)state;
    /* Rounding these up to the alignment would wrap round to a small size. */
    assert_null(tw_alloc(SIZE_MAX));
    assert_null(tw_alloc(SIZE_MAX - TW_ALIGN + 1));
}

static void products(void **state)
{
    (void)state;
    size_t p = 7;
    assert_int_equal(tw_mul_size(0, SIZE_MAX, &p), 0);
    assert_true(p == 0);
    assert_int_equal(tw_mul_size(SIZE_MAX, 0, &p), 0);
    assert_true(p == 0);
    assert_int_equal(tw_mul_size(SIZE_MAX, 1, &p), 0);
    assert_true(p == SIZE_MAX);
    assert_int_equal(tw_mul_size(SIZE_MAX / 3, 3, &p), 0);
    assert_true(p == SIZE_MAX / 3 * 3);
    assert_int_not_equal(tw_mul_size(SIZE_MAX / 3 + 1, 3, &p), 0);
    assert_int_not_equal(tw_mul_size(SIZE_MAX / 2 + 1, 2, &p), 0);
    assert_int_not_equal(tw_mul_size(SIZE_MAX, SIZE_MAX, &p), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_usable),
        cmocka_unit_test(impossible_sizes_give_null),
        cmocka_unit_test(products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
