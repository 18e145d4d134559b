/* Commands that hang, recovery, and what comes from outside: all in modelled time. */
#include "emu/driver/rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MS ((uint64_t)1000000)
enum { US_OF_MS = 1000 };

struct bench {
    struct rig rig;
    struct rig_context context;
    struct rig_buffer commands[TW_XDNA_OUTSTANDING], out;
    struct rig_buffer count, hang, nothing;
};

static void set_up(struct bench *b, const struct tw_emu_driver_options *options)
{
    struct tw_emu_driver_options o = options != NULL ? *options : (struct tw_emu_driver_options){0};
    o.coherent = 1;
    rig_with_heap(&b->rig, &o);
    b->context = rig_context(&b->rig, 4);
    for (unsigned i = 0; i < TW_XDNA_OUTSTANDING; i++)
        b->commands[i] = rig_buffer(&b->rig, TW_XDNA_COMMAND, 4096);
    b->out = rig_buffer(&b->rig, TW_XDNA_SHARE, 4096);
    b->count = rig_code(&b->rig, DO_COUNT, 0);
    b->hang = rig_code(&b->rig, DO_HANG, 0);
    b->nothing = rig_code(&b->rig, DO_NOTHING, 0);
}

static void tear_down(struct bench *b)
{
    for (unsigned i = 0; i < TW_XDNA_OUTSTANDING; i++)
        rig_unmap(&b->rig, &b->commands[i]);
    rig_unmap(&b->rig, &b->out);
    rig_free(&b->rig);
}

static enum tw_packet_state run_in(struct bench *b, const struct rig_context *context, const struct rig_buffer *code)
{
    rig_packet(&b->commands[0], code, &b->out, 1);
    return rig_do(&b->rig, context, &b->commands[0], &b->out, 1);
}

static enum tw_packet_state run(struct bench *b, const struct rig_buffer *code)
{
    return run_in(b, &b->context, code);
}

static uint64_t submit(struct bench *b, const struct rig_context *context, unsigned command,
                       const struct rig_buffer *code)
{
    uint64_t sequence;
    rig_packet(&b->commands[command], code, &b->out, 1);
    assert_int_equal(rig_submit(&b->rig, context->handle, &b->commands[command], &b->out.handle, 1, &sequence), 0);
    return sequence;
}

static enum tw_packet_state state_of(const struct bench *b, unsigned command)
{
    return tw_packet_state(rig_word(&b->commands[command], 0));
}

static void a_hang_costs_two_seconds(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED);
    uint64_t before = tw_emu_driver_time(b.rig.driver);
    assert_true(before < 10 * MS);
    assert_int_equal(run(&b, &b.hang), TW_PACKET_TIMEOUT);
    assert_int_equal(tw_emu_driver_time(b.rig.driver) - before, 2000 * MS);
    /* The firmware of NPU1 reports nothing about it. */
    for (size_t i = 1; i < 1024; i++)
        assert_int_equal(rig_word(&b.commands[0], i), UINT32_MAX);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED);
    tear_down(&b);
}

static void the_timer_can_be_set(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hang_ms = 5});
    struct rig_buffer quick = rig_code(&b.rig, DO_TAKE, 5 * US_OF_MS);
    struct rig_buffer slow = rig_code(&b.rig, DO_TAKE, 5 * US_OF_MS + 1);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED); /* loads the PDI, which takes a time of its own */
    assert_int_equal(run(&b, &quick), TW_PACKET_COMPLETED);
    assert_int_equal(run(&b, &slow), TW_PACKET_TIMEOUT);
    tear_down(&b);
}

/* A chain is one command to the timer. */
static void a_chain_as_a_whole(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hang_ms = 10});
    struct rig_buffer code = rig_code(&b.rig, DO_TAKE, 4 * US_OF_MS);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED);
    for (unsigned i = 1; i < 4; i++)
        rig_packet(&b.commands[i], &code, &b.out, 1);
    rig_chain(&b.commands[0], &b.commands[1], 2);
    assert_int_equal(rig_do(&b.rig, &b.context, &b.commands[0], &b.out, 1), TW_PACKET_COMPLETED);
    rig_chain(&b.commands[0], &b.commands[1], 3);
    assert_int_equal(rig_do(&b.rig, &b.context, &b.commands[0], &b.out, 1), TW_PACKET_TIMEOUT);
    assert_int_equal(rig_word(&b.commands[0], TW_CHAIN_ERROR_INDEX), 0);
    assert_int_equal(rig_word(&b.commands[1], 1), UINT32_MAX);
    assert_int_equal(rig_word(&b.commands[2], 1), 1);
    tear_down(&b);
}

/* What waits behind a hung command is aborted, unless it could not be handed over at all. */
static void the_queue_is_aborted(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    struct rig_buffer gate = rig_code(&b.rig, DO_GATE, 0);
    submit(&b, &b.context, 0, &gate);
    submit(&b, &b.context, 1, &b.hang);
    submit(&b, &b.context, 2, &b.nothing);
    uint64_t sequence;
    rig_packet(&b.commands[3], &b.nothing, &b.out, 1);
    rig_set_word(&b.commands[3], TW_PACKET_CU_MASK, 0);
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.commands[3], NULL, 0, &sequence), 0);
    rig_open_gate();
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, sequence, INT64_MAX), 0);
    assert_int_equal(state_of(&b, 0), TW_PACKET_COMPLETED);
    assert_int_equal(state_of(&b, 1), TW_PACKET_TIMEOUT);
    assert_int_equal(state_of(&b, 2), TW_PACKET_ABORT);
    assert_int_equal(rig_word(&b.commands[2], 1), UINT32_MAX);
    assert_int_equal(state_of(&b, 3), TW_PACKET_NEW);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED);
    tear_down(&b);
}

static void waiting_commands_are_aborted(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
    tw_emu_driver_event(b.rig.driver, TW_EMU_HANG);
    for (unsigned i = 0; i < 3; i++)
        submit(&b, &b.context, i, &b.nothing);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 0, 0), -ETIME);
    tw_emu_driver_event(b.rig.driver, TW_EMU_RESET);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 2, INT64_MAX), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(state_of(&b, i), TW_PACKET_ABORT);
        assert_int_equal(rig_word(&b.commands[i], 1), UINT32_MAX);
    }
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED);
    tear_down(&b);
}

/* Without the timer a long command just takes its time. */
static void no_timer(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
    struct rig_buffer long_one = rig_code(&b.rig, DO_TAKE, 1900 * US_OF_MS);
    assert_int_equal(run(&b, &long_one), TW_PACKET_COMPLETED);
    assert_int_equal(run(&b, &long_one), TW_PACKET_COMPLETED);
    assert_true(tw_emu_driver_time(b.rig.driver) >= 3800 * MS);
    tear_down(&b);
}

/* A hung command that nobody times out goes with its context. */
static void destruction_ends_a_hang(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
    submit(&b, &b.context, 0, &b.hang);
    submit(&b, &b.context, 1, &b.nothing);
    assert_int_equal(rig_destroy(&b.rig, b.context.handle), 0);
    assert_int_equal(state_of(&b, 0), TW_PACKET_ABORT);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 1, 0), 0);
    tear_down(&b);
}

/* It waits for as long as a command may take; what has not begun by then is dropped. */
static void destruction_waits_two_seconds(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hang_ms = 100000});
    struct rig_buffer code = rig_code(&b.rig, DO_TAKE, 1500 * US_OF_MS);
    for (unsigned i = 0; i < 4; i++)
        submit(&b, &b.context, i, &code);
    tw_emu_driver_event(b.rig.driver, TW_EMU_SUSPEND); /* nothing is between two states now */
    assert_int_equal(rig_destroy(&b.rig, b.context.handle), 0);
    unsigned completed = 0;
    while (completed < 4 && state_of(&b, completed) == TW_PACKET_COMPLETED)
        completed++;
    assert_true(completed >= 2);
    for (unsigned i = completed; i < 4; i++)
        assert_int_equal(state_of(&b, i), TW_PACKET_ABORT);
    tear_down(&b);
}

static void tiles_forget(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
        assert_int_equal(rig_word(&b.out, 0), i);
    }
    tw_emu_driver_event(b.rig.driver, TW_EMU_SUSPEND);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 1);
    assert_int_equal(run(&b, &b.hang), TW_PACKET_TIMEOUT);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 1);
    tw_emu_driver_event(b.rig.driver, TW_EMU_RESET);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 1);
    /* Another context of the same columns overwrites them; one beside them does not. */
    struct rig_context other = rig_context(&b.rig, 4);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 2);
    assert_int_equal(run_in(&b, &other, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 1);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 1);
    tear_down(&b);
}

static void neighbours_keep_their_tiles(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    assert_int_equal(rig_destroy(&b.rig, b.context.handle), 0);
    struct rig_context left = rig_context(&b.rig, 2);
    struct rig_context right = rig_context(&b.rig, 2);
    assert_int_equal(run_in(&b, &left, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(run_in(&b, &right, &b.hang), TW_PACKET_TIMEOUT);
    assert_int_equal(run_in(&b, &left, &b.count), TW_PACKET_COMPLETED);
    assert_int_equal(rig_word(&b.out, 0), 2);
    tear_down(&b);
}

/* The driver names the PDIs again by their handles when it wakes. */
static void a_closed_pdi_is_missed_later(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    rig_close_buffer(&b.rig, b.context.pdi.handle);
    assert_int_equal(run(&b, &b.count), TW_PACKET_COMPLETED);
    tw_emu_driver_event(b.rig.driver, TW_EMU_SUSPEND);
    /* The channel is gone: the wait ends, and the packet is as it was written. */
    assert_int_equal(run(&b, &b.count), TW_PACKET_NEW);
    assert_int_equal(rig_word(&b.out, 0), 2);
    tear_down(&b);
}

static void no_recovery(void **state)
{
    struct bench b;
    struct tw_xdna_create_context made;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.recovery = TW_EMU_STAYS_REFUSED});
    assert_int_equal(run(&b, &b.hang), TW_PACKET_TIMEOUT);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_NEW);
    assert_int_equal(rig_try_context(&b.rig, 16, &made), -EINVAL);
    tw_emu_driver_event(b.rig.driver, TW_EMU_RESET);
    assert_int_equal(run(&b, &b.nothing), TW_PACKET_COMPLETED);
    assert_int_equal(rig_try_context(&b.rig, 16, &made), 0);
    tear_down(&b);
}

/* While another context gets on, the driver does not take a long command for hung. */
static void progress_elsewhere(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hang_ms = 10});
    assert_int_equal(rig_destroy(&b.rig, b.context.handle), 0);
    struct rig_context left = rig_context(&b.rig, 2);
    struct rig_context right = rig_context(&b.rig, 2);
    struct rig_buffer length = rig_code(&b.rig, DO_TAKE, 15 * US_OF_MS);
    struct rig_buffer half = rig_code(&b.rig, DO_TAKE, 8 * US_OF_MS);
    assert_int_equal(run_in(&b, &left, &b.nothing), TW_PACKET_COMPLETED);
    assert_int_equal(run_in(&b, &right, &b.nothing), TW_PACKET_COMPLETED);
    assert_int_equal(run_in(&b, &left, &length), TW_PACKET_TIMEOUT);
    /* Both wait behind a command that ends when both are submitted, so that nothing depends on threads. */
    assert_int_equal(run_in(&b, &left, &b.nothing), TW_PACKET_COMPLETED);
    assert_int_equal(run_in(&b, &right, &b.nothing), TW_PACKET_COMPLETED);
    uint64_t last = submit(&b, &right, 1, &half);
    last = submit(&b, &right, 2, &half);
    submit(&b, &left, 0, &length);
    assert_int_equal(rig_wait(&b.rig, right.syncobj, last, INT64_MAX), 0);
    assert_int_equal(rig_wait(&b.rig, left.syncobj, 3, INT64_MAX), 0);
    assert_int_equal(state_of(&b, 1), TW_PACKET_COMPLETED);
    assert_int_equal(state_of(&b, 2), TW_PACKET_COMPLETED);
    assert_int_equal(state_of(&b, 0), TW_PACKET_COMPLETED);
    tear_down(&b);
}

/* Two that hang side by side do not wait for each other. */
static void two_hang(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    assert_int_equal(rig_destroy(&b.rig, b.context.handle), 0);
    struct rig_context left = rig_context(&b.rig, 2);
    struct rig_context right = rig_context(&b.rig, 2);
    uint64_t first = submit(&b, &left, 0, &b.hang);
    uint64_t second = submit(&b, &right, 1, &b.hang);
    assert_int_equal(rig_wait(&b.rig, left.syncobj, first, INT64_MAX), 0);
    assert_int_equal(rig_wait(&b.rig, right.syncobj, second, INT64_MAX), 0);
    assert_int_equal(state_of(&b, 0), TW_PACKET_TIMEOUT);
    assert_int_equal(state_of(&b, 1), TW_PACKET_TIMEOUT);
    tear_down(&b);
}

static void an_unmapped_heap(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    rig_packet(&b.commands[0], &b.nothing, &b.out, 1);
    assert_int_equal(b.rig.calls->munmap(b.rig.calls->context, b.rig.heap, TW_XDNA_HEAP_BYTES), 0);
    assert_int_equal(rig_do(&b.rig, &b.context, &b.commands[0], &b.out, 1), TW_PACKET_TIMEOUT);
    tear_down(&b);
}

static void removal(void **state)
{
    struct bench b;
    struct tw_drm_version version = {0};
    uint64_t sequence;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
    submit(&b, &b.context, 0, &b.hang);
    tw_emu_driver_event(b.rig.driver, TW_EMU_REMOVE);
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_VERSION, &version), -ENODEV);
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.commands[0], NULL, 0, &sequence), -ENODEV);
    assert_int_equal(b.rig.calls->open(b.rig.calls->context, rig_node, 0), -ENODEV);
    tear_down(&b);
}

/* Closing the file with all of it in use. */
static void closing_in_the_middle(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    submit(&b, &b.context, 0, &b.nothing);
    submit(&b, &b.context, 1, &b.hang);
    submit(&b, &b.context, 2, &b.nothing);
    assert_int_equal(b.rig.calls->close(b.rig.calls->context, b.rig.fd), 0);
    b.rig.fd = -1;
    assert_int_equal(state_of(&b, 0), TW_PACKET_COMPLETED);
    assert_int_equal(state_of(&b, 1), TW_PACKET_TIMEOUT);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hang_costs_two_seconds),
        cmocka_unit_test(the_timer_can_be_set),
        cmocka_unit_test(a_chain_as_a_whole),
        cmocka_unit_test(the_queue_is_aborted),
        cmocka_unit_test(waiting_commands_are_aborted),
        cmocka_unit_test(no_timer),
        cmocka_unit_test(destruction_ends_a_hang),
        cmocka_unit_test(destruction_waits_two_seconds),
        cmocka_unit_test(tiles_forget),
        cmocka_unit_test(neighbours_keep_their_tiles),
        cmocka_unit_test(a_closed_pdi_is_missed_later),
        cmocka_unit_test(no_recovery),
        cmocka_unit_test(progress_elsewhere),
        cmocka_unit_test(two_hang),
        cmocka_unit_test(an_unmapped_heap),
        cmocka_unit_test(removal),
        cmocka_unit_test(closing_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
