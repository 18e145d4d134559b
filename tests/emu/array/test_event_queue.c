/* The order of events against a plain search, and the locks against a plain model. */
#include "emu/array/event_queue.h"
#include "emu/array/lock_bank.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { ACTORS = 60 };

static void order(void **state)
{
    static struct tw_event_queue queue;
    uint64_t wanted[ACTORS];
    struct tw_random r = {5};
    (void)state;
    memset(wanted, 0xff, sizeof wanted);
    assert_true(tw_event_first(&queue) == UINT64_MAX);
    for (unsigned round = 0; round < 20000; round++) {
        if (tw_random_range(&r, 0, 9) < 5) {
            unsigned actor = (unsigned)tw_random_range(&r, 0, ACTORS - 1);
            uint64_t time = (uint64_t)tw_random_range(&r, 0, 40);
            tw_event_wake(&queue, actor, time);
            wanted[actor] = time < wanted[actor] ? time : wanted[actor];
            continue;
        }
        unsigned first = 0;
        for (unsigned i = 1; i < ACTORS; i++)
            if (wanted[i] < wanted[first])
                first = i;
        assert_true(tw_event_first(&queue) == wanted[first]);
        uint64_t time = 0;
        int actor = tw_event_next(&queue, &time);
        if (wanted[first] == UINT64_MAX) {
            assert_int_equal(actor, -1);
            continue;
        }
        assert_int_equal(actor, first);
        assert_true(time == wanted[first]);
        wanted[first] = UINT64_MAX;
    }
}

static void values(void **state)
{
    struct tw_lock_bank bank;
    (void)state;
    memset(&bank, 0, sizeof bank);
    assert_int_equal(tw_lock_try(&bank, 3, 0), 1); /* exactly 0 takes nothing */
    assert_int_equal(tw_lock_try(&bank, 3, -1), 0);
    assert_int_equal(tw_lock_add(&bank, 3, 63), 0);
    assert_int_equal(tw_lock_try(&bank, 3, 62), 0);
    assert_int_equal(tw_lock_try(&bank, 3, -60), 1);
    assert_int_equal(bank.values[3], 3);
    assert_int_equal(tw_lock_try(&bank, 3, 3), 1);
    assert_int_equal(bank.values[3], 0);
    assert_int_equal(tw_lock_add(&bank, 3, -1), -1);
    assert_true(bank.underflow == 1 << 3);
    assert_int_equal(tw_lock_add(&bank, 63, 63), 0);
    assert_int_equal(tw_lock_add(&bank, 63, 1), -1);
    assert_true(bank.overflow == UINT64_C(1) << 63);
    assert_int_equal(bank.values[63], 63);
    assert_int_equal(tw_lock_add(&bank, 63, -63), 0);
}

/* Who waits longest is first among those who can have the lock as it is. */
static void waiting(void **state)
{
    struct tw_lock_bank bank;
    (void)state;
    memset(&bank, 0, sizeof bank);
    assert_int_equal(tw_lock_wait(&bank, 10, 5, -3), 0);
    assert_int_equal(tw_lock_wait(&bank, 11, 5, -1), 0);
    assert_int_equal(tw_lock_wait(&bank, 12, 6, -1), 0);
    assert_int_equal(tw_lock_wait(&bank, 13, 5, 1), 0);
    tw_lock_add(&bank, 5, 2);
    assert_int_equal(tw_lock_grant(&bank, 5), 11);
    assert_int_equal(tw_lock_grant(&bank, 5), 13);
    assert_int_equal(tw_lock_grant(&bank, 5), -1);
    tw_lock_forget(&bank, 10);
    tw_lock_add(&bank, 5, 9);
    assert_int_equal(tw_lock_grant(&bank, 5), -1);
    tw_lock_add(&bank, 6, 1);
    assert_int_equal(tw_lock_grant(&bank, 6), 12);
    assert_int_equal(bank.n_waiters, 0);
    for (unsigned i = 0; i < TW_LOCK_WAITERS; i++)
        assert_int_equal(tw_lock_wait(&bank, i, 0, -1), 0);
    assert_int_equal(tw_lock_wait(&bank, 99, 0, -1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),
        cmocka_unit_test(values),
        cmocka_unit_test(waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
