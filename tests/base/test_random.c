/* The random generator: the published sequence, and ranges that keep their bounds. */
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void published_sequence(void **state)
{
    (void)state;
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
    struct tw_random r = {1234567};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(tw_random_u64(&r) == expected[i]);
}

static void unit_interval(void **state)
{
    (void)state;
    struct tw_random r = {1};
    double sum = 0, lowest = 1, highest = 0;
    for (int i = 0; i < 100000; i++) {
        double v = tw_random_unit(&r);
        assert_true(v >= 0 && v < 1);
        assert_true(v * 0x1p53 == (double)(uint64_t)(v * 0x1p53));
        sum += v;
        lowest = v < lowest ? v : lowest;
        highest = v > highest ? v : highest;
    }
    assert_true(sum > 49000 && sum < 51000);
    assert_true(lowest < 0.001 && highest > 0.999);
}

static void small_range_hits_every_value(void **state)
{
    (void)state;
    struct tw_random r = {2};
    int seen[7] = {0};
    for (int i = 0; i < 1000; i++) {
        int64_t v = tw_random_range(&r, -3, 3);
        assert_in_range(v + 3, 0, 6);
        seen[v + 3]++;
    }
    for (int i = 0; i < 7; i++)
        assert_true(seen[i] > 50);
}

static void extreme_ranges(void **state)
{
    (void)state;
    struct tw_random r = {3};
    int negative = 0, positive = 0;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tw_random_range(&r, 5, 5), 5);
        assert_true(tw_random_range(&r, INT64_MAX, INT64_MAX) == INT64_MAX);
        int64_t v = tw_random_range(&r, INT64_MIN, INT64_MAX);
        negative += v < 0;
        positive += v > 0;
    }
    assert_true(negative > 20 && positive > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_sequence),
        cmocka_unit_test(unit_interval),
        cmocka_unit_test(small_range_hits_every_value),
        cmocka_unit_test(extreme_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
