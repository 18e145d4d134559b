/* What a record keeps of events, whoever sends them. */
#include "emu/trace/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct bench {
    struct tw_trace_record *record;
    struct tw_trace_hook hook;
    const struct tw_trace_entry *entries;
    size_t n;
};

static struct bench with_room(size_t most)
{
    struct bench b = {0};
    assert_int_equal(tw_trace_record_create(most, &b.record, NULL), 0);
    b.hook = tw_trace_record_hook(b.record);
    return b;
}

static void send(struct bench *b, struct tw_trace_event event)
{
    b->hook.event(b->hook.arg, &event);
}

#define SEND(b, kind_, what_, cycle_, ...)                                                                             \
    send(b, (struct tw_trace_event){.kind = TW_TRACE_##kind_, .what = TW_TRACE_##what_, .cycle = (cycle_), __VA_ARGS__})

static void finish(struct bench *b)
{
    b->entries = tw_trace_record_entries(b->record, &b->n);
}

static void assert_entry(const struct bench *b, size_t i, int what, uint64_t begin, uint64_t end)
{
    assert_true(i < b->n);
    assert_int_equal(b->entries[i].event.what, what);
    assert_int_equal(b->entries[i].event.cycle, begin);
    assert_int_equal(b->entries[i].end, end);
}

/* Two tracks whose events come mixed, one of them from the future. */
static void in_order_of_beginning(void **state)
{
    struct bench b = with_room(0);
    (void)state;
    SEND(&b, BEGIN, RUN, 90, .first = 100, .second = 7);
    SEND(&b, BEGIN, TASK, 10, .unit = TW_TRACE_S2MM);
    SEND(&b, BEGIN, DESCRIPTOR, 10, .unit = TW_TRACE_S2MM);
    SEND(&b, MOMENT, TOKEN, 20, .unit = TW_TRACE_TOKENS);
    SEND(&b, END, DESCRIPTOR, 40, .unit = TW_TRACE_S2MM);
    SEND(&b, END, TASK, 40, .unit = TW_TRACE_S2MM);
    SEND(&b, END, RUN, 95, .first = 105, .second = 9);
    finish(&b);
    assert_int_equal(b.n, 4);
    assert_entry(&b, 0, TW_TRACE_TASK, 10, 40);
    assert_entry(&b, 1, TW_TRACE_DESCRIPTOR, 10, 40);
    assert_entry(&b, 2, TW_TRACE_TOKEN, 20, 20);
    assert_entry(&b, 3, TW_TRACE_RUN, 90, 95);
    assert_int_equal(b.entries[3].event.first, 5);
    assert_int_equal(b.entries[3].event.second, 2);
    assert_false(b.entries[3].unfinished);
    SEND(&b, MOMENT, TOKEN, 99, .unit = TW_TRACE_TOKENS);
    finish(&b);
    assert_int_equal(b.n, 4);
    assert_int_equal(tw_trace_record_lost(b.record), 0);
    tw_trace_record_free(b.record);
}

/* What has not ended ends with the record, and says so; a reset ends all. */
static void what_does_not_end(void **state)
{
    struct bench b = with_room(0);
    (void)state;
    SEND(&b, BEGIN, TASK, 1, .unit = TW_TRACE_MM2S, .channel = 5);
    SEND(&b, BEGIN, DESCRIPTOR, 2, .unit = TW_TRACE_MM2S, .channel = 5);
    SEND(&b, BEGIN, TASK, 3, .unit = TW_TRACE_MM2S, .channel = 4);
    SEND(&b, BEGIN, DESCRIPTOR, 4, .unit = TW_TRACE_MM2S, .channel = 4);
    SEND(&b, END_ALL, TASK, 8, .unit = TW_TRACE_MM2S, .channel = 4);
    SEND(&b, END_ALL, TASK, 9, .unit = TW_TRACE_MM2S, .channel = 3);
    SEND(&b, END, TASK, 10, .unit = TW_TRACE_MM2S, .channel = 3); /* of nothing */
    SEND(&b, MOMENT, TOKEN, 30);
    finish(&b);
    assert_int_equal(b.n, 5);
    assert_entry(&b, 0, TW_TRACE_TASK, 1, 30);
    assert_entry(&b, 1, TW_TRACE_DESCRIPTOR, 2, 30);
    assert_true(b.entries[0].unfinished && b.entries[1].unfinished);
    assert_entry(&b, 2, TW_TRACE_TASK, 3, 8);
    assert_entry(&b, 3, TW_TRACE_DESCRIPTOR, 4, 8);
    assert_false(b.entries[2].unfinished || b.entries[3].unfinished);
    tw_trace_record_free(b.record);
}

/* What began before the record was full ends at its own time. */
static void full(void **state)
{
    struct bench b = with_room(3);
    (void)state;
    SEND(&b, BEGIN, COMMAND, 1, .unit = TW_TRACE_FIRMWARE);
    for (uint64_t i = 0; i < 10; i++) {
        SEND(&b, BEGIN, OPERATION, 10 * i + 2, .unit = TW_TRACE_FIRMWARE);
        SEND(&b, END, OPERATION, 10 * i + 3, .unit = TW_TRACE_FIRMWARE);
    }
    SEND(&b, END, COMMAND, 500, .unit = TW_TRACE_FIRMWARE);
    finish(&b);
    assert_int_equal(b.n, 3);
    assert_int_equal(tw_trace_record_lost(b.record), 8);
    assert_entry(&b, 0, TW_TRACE_COMMAND, 1, 500);
    assert_entry(&b, 1, TW_TRACE_OPERATION, 2, 3);
    assert_entry(&b, 2, TW_TRACE_OPERATION, 12, 13);
    tw_trace_record_free(b.record);
}

static void locks_that_change(void **state)
{
    static const int64_t values[] = {0, 0, 1, 1, 0, 2};
    struct bench b = with_room(0);
    (void)state;
    for (size_t i = 0; i < 6; i++)
        SEND(&b, VALUE, LOCK, i, .unit = TW_TRACE_LOCKS, .row = 3, .first = 15, .second = values[i]);
    SEND(&b, VALUE, LOCK, 9, .unit = TW_TRACE_LOCKS, .row = 4, .first = 15, .second = 2);
    finish(&b);
    assert_int_equal(b.n, 4);
    assert_entry(&b, 0, TW_TRACE_LOCK, 2, 2);
    assert_entry(&b, 1, TW_TRACE_LOCK, 4, 4);
    assert_entry(&b, 2, TW_TRACE_LOCK, 5, 5);
    assert_entry(&b, 3, TW_TRACE_LOCK, 9, 9);
    tw_trace_record_free(b.record);
}

/* Too deep, and from places that there are not. */
static void senseless_events(void **state)
{
    struct bench b = with_room(0);
    (void)state;
    for (uint64_t i = 0; i < 6; i++)
        SEND(&b, BEGIN, TASK, i, .unit = TW_TRACE_S2MM);
    for (uint64_t i = 0; i < 7; i++)
        SEND(&b, END, TASK, 10 + i, .unit = TW_TRACE_S2MM);
    SEND(&b, MOMENT, TOKEN, 50, .column = 200);
    SEND(&b, MOMENT, TOKEN, 50, .row = 6);
    SEND(&b, MOMENT, TOKEN, 50, .unit = TW_TRACE_UNITS);
    SEND(&b, MOMENT, WHATS, 50);
    send(&b, (struct tw_trace_event){.kind = 200, .cycle = 50});
    SEND(&b, MOMENT, TOKEN, 50, .channel = 99);
    SEND(&b, VALUE, LOCK, 50, .unit = TW_TRACE_LOCKS, .first = -1);
    finish(&b);
    assert_int_equal(b.n, 5);
    assert_int_equal(tw_trace_record_lost(b.record), 2);
    assert_entry(&b, 3, TW_TRACE_TASK, 3, 12);
    assert_entry(&b, 0, TW_TRACE_TASK, 0, 15);
    assert_entry(&b, 4, TW_TRACE_LOCK, 50, 50);
    tw_trace_record_free(b.record);
    tw_trace_record_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order_of_beginning), cmocka_unit_test(what_does_not_end), cmocka_unit_test(full),
        cmocka_unit_test(locks_that_change),     cmocka_unit_test(senseless_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
