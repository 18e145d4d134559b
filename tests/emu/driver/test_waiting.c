/* Waiting: for room in the queue, and for commands. */
#include "emu/driver/copy_bench.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>
#include <cmocka.h>

struct submitter {
    struct copy_bench *bench;
    int result;
    atomic_int back;
};

static void ignore(int signal)
{
    (void)signal;
}

static void *submit_one(void *arg)
{
    struct submitter *s = arg;
    uint64_t sequence;
    s->result =
        rig_submit(&s->bench->rig, s->bench->context.handle, &s->bench->command, s->bench->handles, 2, &sequence);
    atomic_store(&s->back, 1);
    return NULL;
}

/* The fifth submission waits; a signal ends that. */
static void the_fifth_waits(void **state)
{
    struct copy_bench b;
    uint64_t sequence;
    pthread_t thread;
    (void)state;
    copy_bench_create(&b, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore}, NULL);
    tw_emu_driver_event(b.rig.driver, TW_EMU_HANG);
    for (uint64_t i = 0; i < TW_XDNA_OUTSTANDING; i++) {
        assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
        assert_int_equal(sequence, i);
    }
    struct submitter s = {.bench = &b, .result = 1};
    pthread_create(&thread, NULL, submit_one, &s);
    /* A signal that comes before the thread waits changes nothing, so it is sent until the thread is back. */
    while (!atomic_load(&s.back)) {
        pthread_kill(thread, SIGUSR1);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    pthread_join(thread, NULL);
    assert_int_equal(s.result, -EINTR);
    copy_bench_free(&b);
}

static void waiting(void **state)
{
    struct copy_bench b;
    uint64_t sequence;
    (void)state;
    copy_bench_create(&b, NULL);
    uint32_t handles[2] = {b.context.syncobj, b.context.syncobj + 1};
    uint64_t points[2] = {0, 0};
    struct tw_drm_timeline_wait args = {
        .handles = (uintptr_t)handles, .points = (uintptr_t)points, .count = 1, .flags = TW_DRM_WAIT_FOR_SUBMIT};
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), -ETIME); /* nothing submitted, time is up */
    args.flags = 0;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), -EINVAL);
    args.flags = 64;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), -EINVAL);
    args.flags = 0;
    args.count = 2;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), -ENOENT);
    args.handles = 16;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), -EFAULT);
    args.count = 0;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
    assert_int_equal(sequence, 2);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 2, INT64_MAX), 0);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 0, 0), 0);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 3, 0), -ETIME);
    /* The timeline belongs to the file and outlives its context. */
    assert_int_equal(rig_destroy(&b.rig, b.context.handle), 0);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 2, 0), 0);
    copy_bench_free(&b);
}

static void *open_the_gate(void *arg)
{
    (void)arg;
    rig_open_gate();
    return NULL;
}

/* Time that is long enough is time: both ways of waiting sleep until the command is done, not until a moment is over.
 */
static void waiting_with_time_left(void **state)
{
    struct timespec now;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t deadline = ((int64_t)now.tv_sec + 600) * 1000000000;
    for (int by_call = 0; by_call < 2; by_call++) {
        struct copy_bench b;
        uint64_t sequence;
        pthread_t thread;
        copy_bench_create(&b, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_OUT_OF_TREE});
        struct rig_buffer gate = rig_code(&b.rig, DO_GATE, 0);
        rig_packet(&b.command, &gate, NULL, 0);
        assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, NULL, 0, &sequence), 0);
        assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 0, 1), -ETIME);
        struct tw_xdna_wait args = {.context = b.context.handle, .timeout_ms = 1};
        assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -ETIME);
        assert_int_equal(pthread_create(&thread, NULL, open_the_gate, NULL), 0);
        args.timeout_ms = 600000;
        if (by_call)
            assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), 0);
        else
            assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 0, deadline), 0);
        pthread_join(thread, NULL);
        assert_int_equal(tw_packet_state(rig_word(&b.command, 0)), TW_PACKET_COMPLETED);
        copy_bench_free(&b);
    }
}

static void of_several_timelines(void **state)
{
    struct copy_bench b;
    uint64_t sequence;
    (void)state;
    copy_bench_create(&b, NULL);
    struct rig_context other = rig_context(&b.rig, 4);
    uint32_t handles[2] = {other.syncobj, b.context.syncobj};
    uint64_t points[2] = {0, 0};
    struct tw_drm_timeline_wait args = {.handles = (uintptr_t)handles,
                                        .points = (uintptr_t)points,
                                        .count = 2,
                                        .deadline = INT64_MAX,
                                        .flags = TW_DRM_WAIT_FOR_SUBMIT};
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), 0);
    assert_int_equal(args.first, 1);
    args.deadline = 0;
    args.flags |= TW_DRM_WAIT_ALL;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), -ETIME);
    assert_int_equal(rig_submit(&b.rig, other.handle, &b.command, b.handles, 2, &sequence), 0);
    args.deadline = INT64_MAX;
    assert_int_equal(rig_ioctl(&b.rig, TW_DRM_TIMELINE_WAIT, &args), 0);
    copy_bench_free(&b);
}

static void wait_command(void **state)
{
    struct copy_bench b;
    uint64_t sequence;
    (void)state;
    copy_bench_create(&b, NULL);
    struct tw_xdna_wait args = {.context = b.context.handle};
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -EOPNOTSUPP);
    copy_bench_free(&b);
    copy_bench_create(&b, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_OUT_OF_TREE, .no_syncobj = 1});
    args.context = b.context.handle;
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -EINVAL);
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), 0);
    assert_int_equal(tw_packet_state(rig_word(&b.command, 0)), TW_PACKET_COMPLETED);
    args.context++;
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -EINVAL);
    copy_bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fifth_waits),        cmocka_unit_test(waiting),
        cmocka_unit_test(waiting_with_time_left), cmocka_unit_test(of_several_timelines),
        cmocka_unit_test(wait_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
