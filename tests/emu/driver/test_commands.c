/* Commands: submission, packets, chains, queue, waiting. */
#include "emu/driver/rig.h"

#include "base/little_endian.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

struct bench {
    struct rig rig;
    struct rig_context context;
    struct rig_buffer command, code, in, out;
    uint32_t handles[2];
};

static void set_up(struct bench *b, const struct tw_emu_driver_options *options)
{
    struct tw_emu_driver_options o = options != NULL ? *options : (struct tw_emu_driver_options){0};
    o.coherent = 1;
    rig_with_heap(&b->rig, &o);
    b->context = rig_context(&b->rig, 4);
    b->command = rig_buffer(&b->rig, TW_XDNA_COMMAND, 4096);
    b->in = rig_buffer(&b->rig, TW_XDNA_SHARE, 4096);
    b->out = rig_buffer(&b->rig, TW_XDNA_SHARE, 4096);
    b->code = rig_code(&b->rig, DO_COPY, 64);
    b->handles[0] = b->in.handle;
    b->handles[1] = b->out.handle;
    memset(b->in.host, 7, 64);
    rig_packet(&b->command, &b->code, (struct rig_buffer[]){b->in, b->out}, 2);
}

static void tear_down(struct bench *b)
{
    rig_unmap(&b->rig, &b->command);
    rig_unmap(&b->rig, &b->in);
    rig_unmap(&b->rig, &b->out);
    rig_free(&b->rig);
}

static enum tw_packet_state run(struct bench *b, uint32_t n_arguments)
{
    uint64_t sequence;
    assert_int_equal(rig_submit(&b->rig, b->context.handle, &b->command, b->handles, n_arguments, &sequence), 0);
    assert_int_equal(rig_wait(&b->rig, b->context.syncobj, sequence, INT64_MAX), 0);
    return tw_packet_state(rig_word(&b->command, 0));
}

static void a_command_runs(void **state)
{
    struct bench b;
    (void)state;
    for (int old = 0; old < 2; old++) {
        set_up(&b, &(struct tw_emu_driver_options){.old_firmware = old});
        uint32_t header = rig_word(&b.command, 0);
        assert_int_equal(run(&b, 2), TW_PACKET_COMPLETED);
        assert_int_equal(rig_word(&b.command, 0) >> 4, header >> 4);
        assert_memory_equal(b.in.host, b.out.host, 64);
        assert_int_equal(b.out.host[64], 0);
        tear_down(&b);
    }
}

/* The device reaches only what the command lists. */
static void unlisted_buffers(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    assert_int_equal(run(&b, 1), TW_PACKET_TIMEOUT);
    assert_int_equal(b.out.host[0], 0);
    tear_down(&b);
}

static void refused_submissions(void **state)
{
    struct bench b;
    uint32_t unknown[1] = {99};
    (void)state;
    set_up(&b, NULL);
    const struct tw_xdna_execute good = {.context = b.context.handle,
                                         .command = b.command.handle,
                                         .arguments = (uintptr_t)b.handles,
                                         .command_count = 1,
                                         .argument_count = 2};
    struct {
        struct tw_xdna_execute args;
        int expected;
    } rows[] = {
        {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL},
        {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -ENOENT}, {good, -EFAULT}, {good, 0},
    };
    rows[0].args.extension = 1;
    rows[1].args.extension_flags = 1;
    rows[2].args.kind = 1;
    rows[3].args.command_count = 0;
    rows[4].args.command_count = 2;
    rows[5].args.argument_count = 4096;
    rows[6].args.command = 0;
    rows[7].args.command = b.code.handle; /* in the heap */
    rows[8].args.context = b.context.handle + 1;
    rows[9].args.arguments = (uintptr_t)unknown;
    rows[10].args.arguments = 8;
    rows[9].args.argument_count = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rig_ioctl(&b.rig, TW_XDNA_EXECUTE, &rows[i].args) != rows[i].expected)
            fail_msg("row %zu", i);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 0, INT64_MAX), 0);
    tear_down(&b);
}

/* What is wrong with a packet shows when it is handed over: no error, and the state stays NEW. */
static void packets_that_are_not_handed_over(void **state)
{
    static const struct {
        const char *what;
        uint32_t opcode, count, mask;
    } rows[] = {
        {"no CU", TW_PACKET_START_CU, 10, 0},
        {"past the buffer", TW_PACKET_START_CU, 1024, 1},
        {"empty", TW_PACKET_START_CU, 0, 1},
        {"mask only", TW_PACKET_START_CU, 1, 1},
        {"too long for the window", TW_PACKET_START_CU, 1015, 1},
        {"START_DPU", TW_PACKET_START_DPU, 10, 1},
        {"preemption", TW_PACKET_START_NPU_PREEMPT, 20, 1},
        {"ELF", TW_PACKET_START_NPU_ELF, 20, 1},
        {"unknown", 9, 10, 1},
        {"START_NPU cut short", TW_PACKET_START_NPU, 4, 1},
        {"START_NPU with too many arguments", TW_PACKET_START_NPU, 1 + 4 + 27, 1},
        {"chain cut short", TW_PACKET_CHAIN, 5, 1},
        {"chain with more commands than handles", TW_PACKET_CHAIN, 8, 2},
        {"chain of a buffer that is not there", TW_PACKET_CHAIN, 8, 1},
    };
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(b.command.host, 0, 4096);
        rig_set_word(&b.command, 0, tw_packet_header((enum tw_packet_opcode)rows[i].opcode, rows[i].count));
        rig_set_word(&b.command, 1, rows[i].mask);
        if (run(&b, 2) != TW_PACKET_NEW)
            fail_msg("%s: state %u", rows[i].what, rig_word(&b.command, 0) & 0xf);
        assert_int_equal(rig_word(&b.command, 900), 0); /* nothing is filled in */
    }
    tear_down(&b);
}

/* What the firmware refuses: ERROR, and all after the header is ones. */
static void commands_that_the_firmware_refuses(void **state)
{
    struct bench b;
    (void)state;
    for (unsigned kind = 0; kind < 5; kind++) {
        set_up(&b, NULL);
        if (kind == 0)
            rig_set_word(&b.command, TW_PACKET_CU_MASK, 2); /* not configured */
        else if (kind == 1)
            rig_set_word(&b.command, TW_PACKET_PAYLOAD + TW_MAP_INSTRUCTIONS, 0x1000); /* not in the heap */
        else if (kind == 2)
            memcpy(b.context.pdi.host, "bad!", 4);
        else if (kind == 3)
            rig_set_word(&b.code, 0, DO_FAIL);
        else
            rig_set_word(&b.code, 3, TW_XDNA_HEAP_BYTES);
        uint32_t header = rig_word(&b.command, 0);
        assert_int_equal(run(&b, 2), TW_PACKET_ERROR);
        assert_int_equal(rig_word(&b.command, 0) >> 4, header >> 4);
        for (size_t i = 1; i < 1024; i++)
            assert_int_equal(rig_word(&b.command, i), UINT32_MAX);
        tear_down(&b);
    }
}

static void after_an_error_the_next_one_runs(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    rig_set_word(&b.code, 0, DO_FAIL);
    assert_int_equal(run(&b, 2), TW_PACKET_ERROR);
    rig_set_word(&b.code, 0, DO_COPY);
    rig_packet(&b.command, &b.code, (struct rig_buffer[]){b.in, b.out}, 2);
    assert_int_equal(run(&b, 2), TW_PACKET_COMPLETED);
    tear_down(&b);
}

/* START_NPU: the control code's address is in front of the arguments. */
static void patched_packet(const struct bench *b, const struct rig_buffer *command)
{
    unsigned char *payload = command->host + 8;
    memset(command->host, 0, 4096);
    rig_set_word(command, 0, tw_packet_header(TW_PACKET_START_NPU, 1 + 4 + 9));
    rig_set_word(command, 1, 1);
    tw_store_u64(payload + 4 * TW_NPU_INSTRUCTIONS, b->code.address);
    tw_store_u32(payload + 4 * TW_NPU_BYTES, 16);
    tw_store_u32(payload + 4 * TW_NPU_ARGUMENTS, 3);
    tw_store_u64(payload + 4 * (TW_NPU_ARGUMENTS + TW_MAP_BUFFERS), b->in.address);
    tw_store_u64(payload + 4 * (TW_NPU_ARGUMENTS + TW_MAP_BUFFERS + 2), b->out.address);
}

static enum tw_packet_state run_chain(struct bench *b, const struct rig_buffer *commands, size_t n);

static void host_patched(void **state)
{
    struct bench b;
    (void)state;
    for (int old = 0; old < 2; old++) {
        set_up(&b, &(struct tw_emu_driver_options){.old_firmware = old});
        struct rig_buffer command = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
        patched_packet(&b, &b.command);
        assert_int_equal(run(&b, 2), TW_PACKET_COMPLETED);
        assert_memory_equal(b.in.host, b.out.host, 64);
        memset(b.out.host, 0, 64);
        patched_packet(&b, &command);
        assert_int_equal(run_chain(&b, (struct rig_buffer[]){command, command}, 2), TW_PACKET_COMPLETED);
        rig_unmap(&b.rig, &command);
        assert_memory_equal(b.in.host, b.out.host, 64);
        tear_down(&b);
    }
}

static enum tw_packet_state run_chain(struct bench *b, const struct rig_buffer *commands, size_t n)
{
    rig_chain(&b->command, commands, n);
    return run(b, 2);
}

enum { CHAIN_MAX = 40 };

static void chains(void **state)
{
    struct bench b;
    struct rig_buffer commands[CHAIN_MAX];
    struct rig_buffer five[5];
    (void)state;
    set_up(&b, NULL);
    for (size_t i = 0; i < 5; i++)
        five[i] = i == 0 ? b.in : b.out;
    for (size_t i = 0; i < CHAIN_MAX; i++) {
        commands[i] = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
        rig_packet(&commands[i], &b.code, five, 5);
    }
    /* A slot with five buffers is 112 bytes: 36 of them fit the window of 4 KiB. */
    assert_int_equal(run_chain(&b, commands, 36), TW_PACKET_COMPLETED);
    assert_int_equal(tw_packet_state(rig_word(&commands[0], 0)), TW_PACKET_NEW);
    assert_int_equal(run_chain(&b, commands, 37), TW_PACKET_NEW);
    assert_int_equal(run_chain(&b, commands, 0), TW_PACKET_COMPLETED);
    /* All of one kind. */
    rig_set_word(&commands[1], 0, tw_packet_header(TW_PACKET_START_NPU, 16));
    assert_int_equal(run_chain(&b, commands, 2), TW_PACKET_NEW);
    rig_set_word(&commands[0], 0, tw_packet_header(TW_PACKET_CHAIN, 16));
    assert_int_equal(run_chain(&b, commands, 1), TW_PACKET_NEW);
    for (size_t i = 0; i < CHAIN_MAX; i++)
        rig_unmap(&b.rig, &commands[i]);
    tear_down(&b);
}

static void old_chains_hold_more(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.old_firmware = 1});
    struct rig_buffer command = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
    struct rig_buffer many[100];
    rig_packet(&command, &b.code, (struct rig_buffer[]){b.in, b.out}, 2);
    for (size_t i = 0; i < 100; i++)
        many[i] = command;
    assert_int_equal(run_chain(&b, many, 93), TW_PACKET_COMPLETED); /* 8 + 36 bytes each */
    assert_int_equal(run_chain(&b, many, 94), TW_PACKET_NEW);
    assert_int_equal(run_chain(&b, many, 0), TW_PACKET_NEW);
    rig_unmap(&b.rig, &command);
    tear_down(&b);
}

static void a_failed_chain_says_where(void **state)
{
    struct bench b;
    struct rig_buffer commands[5];
    (void)state;
    set_up(&b, NULL);
    struct rig_buffer bad = rig_code(&b.rig, DO_FAIL, 1);
    for (size_t i = 0; i < 5; i++) {
        commands[i] = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
        rig_packet(&commands[i], i == 3 ? &bad : &b.code, (struct rig_buffer[]){b.in, b.out}, 2);
    }
    assert_int_equal(run_chain(&b, commands, 5), TW_PACKET_ERROR);
    assert_int_equal(rig_word(&b.command, TW_CHAIN_ERROR_INDEX), 3);
    assert_int_equal(rig_word(&b.command, TW_CHAIN_COUNT), 5);
    /* The details would be in the first one. */
    assert_int_equal(tw_packet_state(rig_word(&commands[0], 0)), TW_PACKET_NEW);
    assert_int_equal(rig_word(&commands[0], 1), UINT32_MAX);
    assert_int_equal(rig_word(&commands[0], 1023), UINT32_MAX);
    assert_int_equal(rig_word(&commands[3], 1), 1);
    for (size_t i = 0; i < 5; i++)
        rig_unmap(&b.rig, &commands[i]);
    tear_down(&b);
}

/* Of the CU mask the lowest bit counts, and of further mask words the first that is not zero. */
static void cu_masks(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, NULL);
    rig_set_word(&b.command, TW_PACKET_CU_MASK, 0x80000001u);
    assert_int_equal(run(&b, 2), TW_PACKET_COMPLETED);
    unsigned char payload[36];
    memcpy(payload, b.command.host + 8, sizeof payload);
    rig_set_word(&b.command, 0, tw_packet_header(TW_PACKET_START_CU, 3 + 9) | 2u << TW_PACKET_EXTRA_MASKS_SHIFT);
    rig_set_word(&b.command, 1, 0);
    rig_set_word(&b.command, 2, 1);
    rig_set_word(&b.command, 3, 0);
    memcpy(b.command.host + 16, payload, sizeof payload);
    assert_int_equal(run(&b, 2), TW_PACKET_COMPLETED);
    tear_down(&b);
}

struct submitter {
    struct bench *bench;
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
    struct bench b;
    uint64_t sequence;
    pthread_t thread;
    (void)state;
    set_up(&b, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
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
    tear_down(&b);
}

static void waiting(void **state)
{
    struct bench b;
    uint64_t sequence;
    (void)state;
    set_up(&b, NULL);
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
    tear_down(&b);
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
        struct bench b;
        uint64_t sequence;
        pthread_t thread;
        set_up(&b, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_OUT_OF_TREE});
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
        tear_down(&b);
    }
}

static void of_several_timelines(void **state)
{
    struct bench b;
    uint64_t sequence;
    (void)state;
    set_up(&b, NULL);
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
    tear_down(&b);
}

static void wait_command(void **state)
{
    struct bench b;
    uint64_t sequence;
    (void)state;
    set_up(&b, NULL);
    struct tw_xdna_wait args = {.context = b.context.handle};
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -EOPNOTSUPP);
    tear_down(&b);
    set_up(&b, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_OUT_OF_TREE, .no_syncobj = 1});
    args.context = b.context.handle;
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -EINVAL);
    assert_int_equal(rig_submit(&b.rig, b.context.handle, &b.command, b.handles, 2, &sequence), 0);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), 0);
    assert_int_equal(tw_packet_state(rig_word(&b.command, 0)), TW_PACKET_COMPLETED);
    args.context++;
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_WAIT, &args), -EINVAL);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_runs),
        cmocka_unit_test(unlisted_buffers),
        cmocka_unit_test(refused_submissions),
        cmocka_unit_test(packets_that_are_not_handed_over),
        cmocka_unit_test(commands_that_the_firmware_refuses),
        cmocka_unit_test(after_an_error_the_next_one_runs),
        cmocka_unit_test(host_patched),
        cmocka_unit_test(chains),
        cmocka_unit_test(old_chains_hold_more),
        cmocka_unit_test(a_failed_chain_says_where),
        cmocka_unit_test(cu_masks),
        cmocka_unit_test(the_fifth_waits),
        cmocka_unit_test(waiting),
        cmocka_unit_test(waiting_with_time_left),
        cmocka_unit_test(of_several_timelines),
        cmocka_unit_test(wait_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
