/* The walk of a descriptor against plain loops over all its elements. */
#include "emu/array/address_pattern.h"

#include "base/random.h"
#include "emu/array/naive_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LENGTH_MAX = 3000 };

static void compare(const struct tw_bd *bd, unsigned n, struct tw_random *r)
{
    static int64_t expected[LENGTH_MAX];
    struct tw_address_pattern pattern;
    struct tw_address_run run;
    uint32_t at = 0;
    naive_addresses(bd, n, expected);
    tw_address_begin(&pattern, bd, n);
    while (tw_address_next(&pattern, (uint32_t)tw_random_range(r, 1, 40), &run)) {
        assert_in_range(run.words, 1, bd->length - at);
        for (uint32_t i = 0; i < run.words; i++)
            assert_true(expected[at + i] == (run.zeros ? NAIVE_NOWHERE : (int64_t)(run.address + i)));
        at += run.words;
    }
    assert_int_equal(at, bd->length);
}

static void random_patterns(void **state)
{
    struct tw_random r = {1};
    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        unsigned n = (unsigned)tw_random_range(&r, 3, 4);
        struct tw_bd bd = {.length = (uint32_t)tw_random_range(&r, 1, LENGTH_MAX),
                           .address = (uint64_t)tw_random_range(&r, 0, 1000) * 4};
        for (unsigned d = 0; d < n; d++) {
            bd.dimensions[d].step = (uint32_t)tw_random_range(&r, 1, d == 0 ? 3 : 300);
            bd.dimensions[d].wrap = (uint32_t)(tw_random_range(&r, 0, 5) == 0 ? 0 : tw_random_range(&r, 1, 12));
            if (n == 4 && d < 3 && tw_random_range(&r, 0, 1)) {
                bd.dimensions[d].zeros_before = (uint32_t)tw_random_range(&r, 0, 3);
                bd.dimensions[d].zeros_after = (uint32_t)tw_random_range(&r, 0, 3);
            }
        }
        bd.iteration.step = (uint32_t)tw_random_range(&r, 1, 50);
        bd.iteration.count = 7;
        bd.iteration.current = (uint32_t)tw_random_range(&r, 0, 6);
        compare(&bd, n, &r);
    }
}

/* The largest fields must not overflow anything. */
static void largest_fields(void **state)
{
    struct tw_bd bd = {.length = UINT32_MAX, .address = 0xfffffffffffc};
    struct tw_address_pattern pattern;
    struct tw_address_run run;
    (void)state;
    for (unsigned d = 0; d < TW_BD_DIMENSIONS_MAX; d++)
        bd.dimensions[d] = (struct tw_bd_dimension){.step = 1 << 20, .wrap = 0};
    bd.iteration.step = 1 << 20;
    bd.iteration.current = 63;
    tw_address_begin(&pattern, &bd, 3);
    assert_int_equal(tw_address_next(&pattern, UINT32_MAX, &run), 1);
    assert_int_equal(run.words, 1);
    assert_true(run.address == 0x3fffffffffff + ((uint64_t)63 << 20));
    assert_int_equal(tw_address_next(&pattern, 1, &run), 1);
    assert_true(run.address == 0x3fffffffffff + ((uint64_t)64 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(largest_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
