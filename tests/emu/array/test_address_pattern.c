/* The walk of a descriptor against plain loops over all its elements. */
#include "emu/array/address_pattern.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LENGTH_MAX = 3000, NOWHERE = -1 };

static uint64_t extent(const struct tw_bd_dimension *d)
{
    return d->wrap == 0 ? LENGTH_MAX : (uint64_t)d->zeros_before + d->wrap + d->zeros_after;
}

static int is_data(const struct tw_bd_dimension *d, uint64_t i)
{
    return i >= d->zeros_before && (d->wrap == 0 || i < (uint64_t)d->zeros_before + d->wrap);
}

/* The address of each word, by the definition. */
static void naive(const struct tw_bd *bd, unsigned n, int64_t *addresses)
{
    struct tw_bd_dimension d[TW_BD_DIMENSIONS_MAX] = {{0}};
    for (unsigned i = 0; i < TW_BD_DIMENSIONS_MAX; i++)
        d[i] = i < n ? bd->dimensions[i] : (struct tw_bd_dimension){.wrap = 1};
    d[n - 1].wrap = 0;
    uint32_t at = 0;
    int64_t base = (int64_t)(bd->address / 4) + (int64_t)bd->iteration.step * bd->iteration.current;
    for (uint64_t i3 = 0; i3 < extent(&d[3]) && at < bd->length; i3++)
        for (uint64_t i2 = 0; i2 < extent(&d[2]) && at < bd->length; i2++)
            for (uint64_t i1 = 0; i1 < extent(&d[1]) && at < bd->length; i1++)
                for (uint64_t i0 = 0; i0 < extent(&d[0]) && at < bd->length; i0++) {
                    const uint64_t i[] = {i0, i1, i2, i3};
                    int64_t address = base;
                    int data = 1;
                    for (unsigned k = 0; k < n; k++) {
                        data &= is_data(&d[k], i[k]);
                        address += (int64_t)((i[k] - d[k].zeros_before) * d[k].step);
                    }
                    addresses[at++] = data ? address : NOWHERE;
                }
}

static void compare(const struct tw_bd *bd, unsigned n, struct tw_random *r)
{
    static int64_t expected[LENGTH_MAX];
    struct tw_address_pattern pattern;
    struct tw_address_run run;
    uint32_t at = 0;
    naive(bd, n, expected);
    tw_address_begin(&pattern, bd, n);
    while (tw_address_next(&pattern, (uint32_t)tw_random_range(r, 1, 40), &run)) {
        assert_in_range(run.words, 1, bd->length - at);
        for (uint32_t i = 0; i < run.words; i++)
            assert_true(expected[at + i] == (run.zeros ? NOWHERE : (int64_t)(run.address + i)));
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
