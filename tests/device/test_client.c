/* The client against a driver that obeys: what it asks for, in which order, and what it makes of every refusal. */
#include "device/device.h"
#include "device/fake_driver.h"
#include "device/job.h"
#include "uapi/packet.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const unsigned char pdi[100] = {0xdd};

/* A transaction of one NOOP, as AMD's latency test has it. */
static const unsigned char noop[20] = {0, 1, 4, 6, 4, 1, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 5, 0, 0, 0};

struct bench {
    struct fake_driver fake;
    struct tw_device *device;
    struct tw_context *context;
    struct tw_job *job;
    struct tw_error err;
};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    const struct tw_program program = {.pdi = pdi, .bytes = sizeof pdi, .name = "add"};
    fake_driver_create(&b->fake);
    assert_int_equal(tw_device_open_calls(&b->fake.calls, "node", NULL, &b->device, &b->err), 0);
    assert_int_equal(tw_context_create(b->device, 4, &program, 1, &b->context, &b->err), 0);
    assert_int_equal(tw_job_create(b->context, 0, noop, sizeof noop, &b->job, &b->err), 0);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    tw_job_destroy(b->job);
    tw_context_destroy(b->context);
    tw_device_close(b->device);
    int leaks = (int)fake_driver_leaks(&b->fake);
    free(b);
    return leaks;
}

static void fail_next(struct bench *b, uint32_t number, int errno_value)
{
    b->fake.fail[0].number = number;
    b->fake.fail[0].errno_value = errno_value;
    b->fake.fail[0].skip = 0;
    b->fake.fail[0].times = 1;
}

static void test_sequence_of_calls(void **state)
{
    struct bench *b = *state;
    static const uint32_t expected[] = {
        TW_DRM_NUMBER_VERSION,         TW_XDNA_NUMBER_GET_INFO,      TW_XDNA_NUMBER_GET_INFO,
        TW_XDNA_NUMBER_CREATE_BUFFER,  TW_XDNA_NUMBER_BUFFER_INFO,   TW_XDNA_NUMBER_BUFFER_INFO, /* the heap */
        TW_XDNA_NUMBER_CREATE_CONTEXT, TW_XDNA_NUMBER_CREATE_BUFFER, TW_XDNA_NUMBER_BUFFER_INFO, /* the PDI */
        TW_XDNA_NUMBER_CONFIG_CONTEXT, TW_XDNA_NUMBER_CREATE_BUFFER, TW_XDNA_NUMBER_BUFFER_INFO,
        TW_XDNA_NUMBER_BUFFER_INFO,                                /* the command, mapped in between */
        TW_XDNA_NUMBER_CREATE_BUFFER,  TW_XDNA_NUMBER_BUFFER_INFO, /* control code */
        TW_XDNA_NUMBER_EXECUTE,        TW_DRM_NUMBER_TIMELINE_WAIT};
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    assert_int_equal(b->fake.n_log, sizeof expected / sizeof expected[0]);
    assert_memory_equal(b->fake.log, expected, sizeof expected);
    assert_int_equal(b->fake.context.tiles, 16);
    assert_int_equal(b->fake.cus.count, 1);
    assert_int_equal((uintptr_t)b->device->heap.data % TW_XDNA_HEAP_BYTES, 0);
}

static void test_packet(void **state)
{
    struct bench *b = *state;
    struct tw_buffer *one = NULL, *two = NULL;
    assert_int_equal(tw_buffer_create(b->device, 100, &one, &b->err), 0);
    assert_int_equal(tw_buffer_create(b->device, 200, &two, &b->err), 0);
    assert_int_equal(tw_job_set_buffer(b->job, 0, one, &b->err), 0);
    assert_int_equal(tw_job_set_buffer(b->job, 2, two, &b->err), 0);
    assert_int_equal(tw_job_set_buffer(b->job, 3, two, &b->err), 0);
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    const uint32_t *w = b->fake.packet;
    uint64_t code = b->job->code.device_address, a = one->memory.device_address, c = two->memory.device_address;
    const uint32_t expected[17] = {0x00010001,
                                   1,
                                   3,
                                   0,
                                   (uint32_t)code,
                                   (uint32_t)(code >> 32),
                                   5,
                                   (uint32_t)a,
                                   (uint32_t)(a >> 32),
                                   0,
                                   0,
                                   (uint32_t)c,
                                   (uint32_t)(c >> 32),
                                   (uint32_t)c,
                                   (uint32_t)(c >> 32),
                                   0,
                                   0};
    assert_memory_equal(w, expected, sizeof expected);
    /* Each buffer is listed once. */
    assert_int_equal(b->fake.n_arguments, 3);
    assert_int_equal(b->fake.arguments[0], b->job->code.handle);
    assert_int_equal(b->fake.arguments[1], one->memory.handle);
    assert_int_equal(b->fake.arguments[2], two->memory.handle);
    /* The job keeps them; the context is kept by the job. */
    tw_buffer_destroy(one);
    tw_buffer_destroy(two);
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
}

static void test_chain(void **state)
{
    struct bench *b = *state;
    struct tw_job *second = NULL, *chain = NULL;
    assert_int_equal(tw_job_create(b->context, 0, noop, sizeof noop, &second, &b->err), 0);
    struct tw_job *const jobs[] = {b->job, second, b->job};
    assert_int_equal(tw_chain_create(jobs, 3, &chain, &b->err), 0);
    assert_int_equal(tw_job_run(chain, &b->err), 0);
    uint32_t one = b->job->command.handle, two = second->command.handle;
    const uint32_t expected[] = {(uint32_t)19 << 23 | 12 << 12 | 1, 3, 0, 0, 0, 0, 0, one, 0, two, 0, one, 0};
    assert_memory_equal(b->fake.packet, expected, sizeof expected);
    assert_int_equal(b->fake.n_arguments, 4);

    b->fake.end_state = TW_PACKET_ERROR;
    b->fake.error_index = 1;
    assert_int_equal(tw_job_run(chain, &b->err), TW_E_DEVICE);
    assert_int_equal(tw_job_failed_part(chain), 1);
    b->fake.end_state = TW_PACKET_COMPLETED;
    assert_int_equal(tw_job_run(chain, &b->err), 0);
    assert_int_equal(tw_job_failed_part(chain), -1);
    assert_memory_equal(b->fake.packet, expected, sizeof expected);

    /* While the chain runs, its parts do not. */
    assert_int_equal(tw_job_submit(chain, &b->err), 0);
    assert_int_equal(tw_job_submit(second, &b->err), TW_E_STATE);
    assert_int_equal(tw_job_wait(second, -1, &b->err), TW_E_STATE);
    assert_int_equal(tw_job_set_buffer(second, 0, NULL, &b->err), TW_E_STATE);
    assert_int_equal(tw_job_wait(chain, -1, &b->err), 0);
    assert_int_equal(tw_job_run(second, &b->err), 0);
    tw_job_destroy(second);
    tw_job_destroy(chain);
}

static void test_chain_limits(void **state)
{
    struct bench *b = *state;
    struct tw_job *jobs[40], *chain = NULL;
    for (size_t i = 0; i < 40; i++)
        jobs[i] = b->job;
    assert_int_equal(tw_chain_create(jobs, 36, &chain, &b->err), 0);
    assert_int_equal(tw_chain_create(jobs, 0, &(struct tw_job *){NULL}, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_chain_create(jobs, 37, &(struct tw_job *){NULL}, &b->err), TW_E_LIMIT);
    assert_int_equal(tw_chain_create(&chain, 1, &(struct tw_job *){NULL}, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_job_run(chain, &b->err), 0);
    /* With a sixth buffer the same chain is too large. */
    struct tw_buffer *buffer = NULL;
    assert_int_equal(tw_buffer_create(b->device, 64, &buffer, &b->err), 0);
    assert_int_equal(tw_job_set_buffer(b->job, 5, buffer, &b->err), 0);
    assert_int_equal(tw_job_run(chain, &b->err), TW_E_LIMIT);
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    /* Without it again, it fits again. */
    assert_int_equal(tw_job_set_buffer(b->job, 5, NULL, &b->err), 0);
    assert_int_equal(tw_job_run(chain, &b->err), 0);
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    assert_int_equal(b->fake.packet[0] >> 12 & 0x7ff, 16);
    assert_int_equal(tw_job_set_buffer(b->job, 503, buffer, &b->err), TW_E_LIMIT);
    tw_job_destroy(chain);
    tw_buffer_destroy(buffer);
}

static void test_states(void **state)
{
    static const struct {
        uint32_t state;
        int code;
    } ends[] = {
        {TW_PACKET_COMPLETED, 0},
        {TW_PACKET_NEW, TW_E_REFUSED},
        {TW_PACKET_ERROR, TW_E_DEVICE},
        {TW_PACKET_ABORT, TW_E_ABORTED},
        {TW_PACKET_NO_RESPONSE, TW_E_DEVICE},
        {TW_PACKET_COMPLETED, 0},
        {TW_PACKET_TIMEOUT, TW_E_TIMEOUT},
        {TW_PACKET_COMPLETED, 0},
        {TW_PACKET_NEW, TW_E_LOST},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        b->fake.end_state = ends[i].state;
        b->err.text[0] = '\0';
        assert_int_equal(tw_job_run(b->job, &b->err), ends[i].code);
        assert_int_equal(b->err.text[0] != '\0', ends[i].code != 0);
        /* The packet was whole each time, although a failure wipes it out. */
        assert_int_equal(b->fake.packet[1], 1);
        assert_int_equal(b->fake.packet[2], 3);
    }
}

static void test_order_of_use(void **state)
{
    struct bench *b = *state;
    assert_int_equal(tw_job_wait(b->job, 0, &b->err), TW_E_STATE);
    b->fake.end_state = TW_PACKET_RUNNING;
    assert_int_equal(tw_job_submit(b->job, &b->err), 0);
    assert_int_equal(tw_job_submit(b->job, &b->err), TW_E_STATE);
    assert_int_equal(tw_job_set_buffer(b->job, 0, NULL, &b->err), TW_E_STATE);
    b->fake.running = 2;
    assert_int_equal(tw_job_wait(b->job, 0, &b->err), TW_E_RUNNING);
    assert_int_equal(tw_job_wait(b->job, 1, &b->err), TW_E_RUNNING);
    *tw_job_header(b->job) = TW_PACKET_COMPLETED;
    assert_int_equal(tw_job_wait(b->job, -1, &b->err), 0);
    assert_int_equal(tw_job_wait(b->job, -1, &b->err), TW_E_STATE);
}

/* A context's first command has ended, but its point stands for whatever came last. */
static void test_first_command(void **state)
{
    static const struct {
        uint32_t state;
        int ms, code;
    } waits[] = {{TW_PACKET_RUNNING, 15, TW_E_RUNNING},
                 {TW_PACKET_COMPLETED, 0, 0},
                 {TW_PACKET_ABORT, 0, TW_E_RUNNING},
                 {TW_PACKET_ABORT, -1, TW_E_ABORTED}};
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        b->fake.sequence = 0;
        b->fake.end_state = waits[i].state;
        assert_int_equal(tw_job_submit(b->job, &b->err), 0);
        b->fake.running = 1 << 30;
        assert_int_equal(tw_job_wait(b->job, waits[i].ms, &b->err), waits[i].code);
        b->fake.running = 0;
        tw_job_wait(b->job, -1, &b->err);
    }
}

static void test_ways_to_wait(void **state)
{
    struct bench *b = *state;
    b->fake.no_timeline = 1;
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    /* The way that works is kept. */
    assert_int_equal(fake_driver_count(&b->fake, TW_DRM_NUMBER_TIMELINE_WAIT), 1);
    assert_int_equal(fake_driver_count(&b->fake, TW_XDNA_NUMBER_WAIT), 2);
    b->fake.no_wait = 1;
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    b->fake.end_state = TW_PACKET_RUNNING;
    assert_int_equal(tw_job_submit(b->job, &b->err), 0);
    assert_int_equal(tw_job_wait(b->job, 1, &b->err), TW_E_RUNNING);
    *tw_job_header(b->job) = TW_PACKET_COMPLETED;
    assert_int_equal(tw_job_wait(b->job, -1, &b->err), 0);
}

static void test_interrupted_calls_are_repeated(void **state)
{
    struct bench *b = *state;
    b->fake.interrupt = 3;
    assert_int_equal(tw_job_run(b->job, &b->err), 0);
    assert_int_equal(b->fake.interrupt, 0);
}

static void test_flushes(void **state)
{
    struct bench *b = *state;
    struct tw_buffer *buffer = NULL;
    unsigned before = b->fake.flushes;
    assert_int_equal(tw_buffer_create(b->device, 1000, &buffer, &b->err), 0);
    assert_int_equal(b->fake.flushes, before + 1);
    assert_int_equal(tw_buffer_to_npu(buffer, 0, 1000, &b->err), 0);
    assert_int_equal(tw_buffer_from_npu(buffer, 999, 1, &b->err), 0);
    assert_int_equal(b->fake.flushes, before + 3);
    assert_int_equal(tw_buffer_to_npu(buffer, 1000, 1, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_buffer_to_npu(buffer, 1, SIZE_MAX, &b->err), TW_E_ARGUMENT);
    /* A processor without the instruction: the driver does it. */
    b->fake.no_flush = 1;
    assert_int_equal(tw_buffer_from_npu(buffer, 0, 1000, &b->err), 0);
    assert_int_equal(b->fake.syncs, 1);
    tw_buffer_destroy(buffer);
}

static void test_refusals(void **state)
{
    struct bench *b = *state;
    struct tw_buffer *buffer = NULL;
    static const struct {
        uint32_t number;
        int errno_value, code;
    } buffers[] = {
        {TW_XDNA_NUMBER_CREATE_BUFFER, EAGAIN, TW_E_HEAP},
        {TW_XDNA_NUMBER_CREATE_BUFFER, ENOSPC, TW_E_HEAP},
        {TW_XDNA_NUMBER_CREATE_BUFFER, EINVAL, TW_E_ARGUMENT},
        {TW_XDNA_NUMBER_CREATE_BUFFER, EPERM, TW_E_PERMISSION},
        {TW_XDNA_NUMBER_CREATE_BUFFER, ENOMEM, TW_E_MEMORY},
        {TW_XDNA_NUMBER_CREATE_BUFFER, ENODEV, TW_E_LOST},
        {TW_XDNA_NUMBER_CREATE_BUFFER, ENOTTY, TW_E_UNSUPPORTED},
        {TW_XDNA_NUMBER_BUFFER_INFO, EBADF, TW_E_IO},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        fail_next(b, buffers[i].number, buffers[i].errno_value);
        assert_int_equal(tw_buffer_create(b->device, 64, &buffer, &b->err), buffers[i].code);
        assert_null(buffer);
    }
    static const struct {
        int errno_value, code;
    } commands[] = {{EINVAL, TW_E_ARGUMENT}, {ENODEV, TW_E_LOST}, {ENOMEM, TW_E_MEMORY}, {ETIME, TW_E_MEMORY}};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        fail_next(b, TW_XDNA_NUMBER_EXECUTE, commands[i].errno_value);
        assert_int_equal(tw_job_run(b->job, &b->err), commands[i].code);
        assert_int_equal(tw_job_run(b->job, &b->err), 0);
    }
}

static int create_context(struct bench *b, unsigned columns)
{
    const struct tw_program program = {.pdi = pdi, .bytes = sizeof pdi};
    struct tw_context *context = NULL;
    int code = tw_context_create(b->device, columns, &program, 1, &context, &b->err);
    tw_context_destroy(context);
    return code;
}

static void test_contexts_refused(void **state)
{
    struct bench *b = *state;
    assert_int_equal(create_context(b, 0), TW_E_ARGUMENT);
    assert_int_equal(create_context(b, 6), TW_E_ARGUMENT);
    assert_int_equal(create_context(b, 5), 0);
    fail_next(b, TW_XDNA_NUMBER_CREATE_CONTEXT, EINVAL);
    assert_int_equal(create_context(b, 4), TW_E_DEVICE);
    b->fake.contexts_taken = 6;
    fail_next(b, TW_XDNA_NUMBER_CREATE_CONTEXT, EINVAL);
    assert_int_equal(create_context(b, 4), TW_E_BUSY);
    assert_non_null(strstr(b->err.text, "pid 4000, 4001, 4002, 4003, 4004, 4005"));
    b->fake.contexts_taken = 2;
    fail_next(b, TW_XDNA_NUMBER_CREATE_CONTEXT, ENODEV);
    assert_int_equal(create_context(b, 4), TW_E_BUSY);
    b->fake.end_state = TW_PACKET_TIMEOUT;
    assert_int_equal(tw_job_run(b->job, &b->err), TW_E_TIMEOUT);
    fail_next(b, TW_XDNA_NUMBER_CREATE_CONTEXT, EINVAL);
    assert_int_equal(create_context(b, 4), TW_E_LOST);
    fail_next(b, TW_XDNA_NUMBER_CREATE_CONTEXT, ENOENT);
    assert_int_equal(create_context(b, 4), TW_E_HEAP);
    fail_next(b, TW_XDNA_NUMBER_CONFIG_CONTEXT, EINVAL);
    assert_int_equal(create_context(b, 4), TW_E_CONFIGURED);
    fail_next(b, TW_XDNA_NUMBER_CREATE_CONTEXT, EOPNOTSUPP);
    assert_int_equal(create_context(b, 4), TW_E_UNSUPPORTED);
    assert_non_null(strstr(b->err.text, "columns"));
    assert_int_equal(b->fake.contexts_open, 1);
}

static void test_programs(void **state)
{
    struct bench *b = *state;
    const struct tw_program two[] = {{.pdi = pdi, .bytes = sizeof pdi, .name = "one"},
                                     {.pdi = pdi, .bytes = sizeof pdi, .function = 1, .name = "two"}};
    struct tw_program many[33];
    struct tw_context *context = NULL;
    struct tw_job *job = NULL;
    assert_int_equal(tw_context_find(b->context, NULL, &b->err), 0);
    assert_int_equal(tw_context_create(b->device, 1, two, 2, &context, &b->err), 0);
    assert_int_equal(b->fake.cus.count, 2);
    assert_int_equal(b->fake.cus.cu[1].function, 1);
    /* One PDI, one buffer. */
    assert_int_equal(b->fake.cus.cu[1].buffer, b->fake.cus.cu[0].buffer);
    assert_int_equal(tw_context_find(context, "two", &b->err), 1);
    assert_int_equal(tw_context_find(context, NULL, &b->err), TW_E_NOT_FOUND);
    assert_int_equal(tw_context_find(context, "three", &b->err), TW_E_NOT_FOUND);
    assert_non_null(strstr(b->err.text, "one two"));
    assert_int_equal(tw_job_create(context, 2, noop, sizeof noop, &job, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_job_create(context, 1, noop, sizeof noop, &job, &b->err), 0);
    assert_int_equal(tw_job_run(job, &b->err), 0);
    assert_int_equal(b->fake.packet[1], 2);
    tw_context_destroy(context); /* the job keeps it */
    assert_int_equal(tw_job_run(job, &b->err), 0);
    tw_job_destroy(job);
    for (size_t i = 0; i < 33; i++)
        many[i] = two[0];
    assert_int_equal(tw_context_create(b->device, 1, many, 33, &context, &b->err), TW_E_LIMIT);
    assert_int_equal(tw_context_create(b->device, 1, many, 0, &context, &b->err), TW_E_ARGUMENT);
    many[1].bytes = 0;
    assert_int_equal(tw_context_create(b->device, 1, many, 2, &context, &b->err), TW_E_ARGUMENT);
    many[1] = (struct tw_program){.pdi = pdi, .bytes = sizeof pdi, .function = 256};
    assert_int_equal(tw_context_create(b->device, 1, many, 2, &context, &b->err), TW_E_ARGUMENT);
}

static void test_control_code(void **state)
{
    struct bench *b = *state;
    struct tw_job *job = NULL;
    static const char text[] = "06040100\n00000104 00000001\n00000014 00000005\n";
    unsigned char broken[sizeof noop];
    memcpy(broken, noop, sizeof broken);
    broken[12] = 24; /* longer than it is */
    assert_int_equal(tw_job_create(b->context, 0, broken, sizeof broken, &job, &b->err), TW_E_FORMAT);
    assert_int_equal(tw_job_create(b->context, 0, "junk", 4, &job, &b->err), TW_E_FORMAT);
    assert_int_equal(tw_job_create(b->context, 0, text, sizeof text - 1, &job, &b->err), 0);
    assert_memory_equal(job->code.data, noop, sizeof noop);
    tw_job_destroy(job);
    /* None at all. */
    assert_int_equal(tw_job_create(b->context, 0, NULL, 0, &job, &b->err), 0);
    assert_int_equal(tw_job_run(job, &b->err), 0);
    assert_int_equal(b->fake.packet[2], 1);
    assert_int_equal(b->fake.packet[4], 0);
    tw_job_destroy(job);
}

/* A transaction that writes a descriptor and has it patched to a buffer, number 1. */
static void test_named_buffers(void **state)
{
    struct bench *b = *state;
    static const uint32_t words[] = {0x06030100, 0x101, 1, 64, 0x81, 48, 0, 0, 0, 0, 0x1d004, 0, 1, 0, 0, 0};
    struct tw_job *job = NULL;
    struct tw_buffer *buffer = NULL;
    assert_int_equal(tw_job_create(b->context, 0, words, sizeof words, &job, &b->err), 0);
    assert_int_equal(tw_job_run(job, &b->err), TW_E_STATE);
    assert_non_null(strstr(b->err.text, "number 1"));
    assert_int_equal(tw_buffer_create(b->device, 64, &buffer, &b->err), 0);
    assert_int_equal(tw_job_set_buffer(job, 1, buffer, &b->err), 0);
    assert_int_equal(tw_job_run(job, &b->err), 0);
    assert_int_equal(tw_job_set_buffer(job, 1, NULL, &b->err), 0);
    assert_int_equal(tw_job_run(job, &b->err), TW_E_STATE);
    tw_buffer_destroy(buffer);
    tw_job_destroy(job);
}

static void test_opening(void **state)
{
    (void)state;
    static const struct {
        int open_errno, code;
    } errors[] = {{ENOENT, TW_E_NO_DEVICE},
                  {ENXIO, TW_E_NO_DEVICE},
                  {EACCES, TW_E_PERMISSION},
                  {EPERM, TW_E_PERMISSION},
                  {EMFILE, TW_E_IO}};
    struct fake_driver fake;
    struct tw_device *device = NULL;
    struct tw_error err;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        fake_driver_create(&fake);
        fake.open_errno = errors[i].open_errno;
        assert_int_equal(tw_device_open_calls(&fake.calls, "node", NULL, &device, &err), errors[i].code);
        assert_int_equal(fake_driver_leaks(&fake), 0);
    }
    fake_driver_create(&fake);
    fake.major = 1;
    fake.minor = 0;
    assert_int_equal(tw_device_open_calls(&fake.calls, "node", NULL, &device, &err), TW_E_UNSUPPORTED);
    assert_int_equal(fake_driver_leaks(&fake), 0);
    fake_driver_create(&fake);
    fake.name = "other";
    assert_int_equal(tw_device_open_calls(&fake.calls, "node", NULL, &device, &err), TW_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "other"));
    assert_int_equal(fake_driver_leaks(&fake), 0);
}

/* Every call fails once, at every place of the whole way: nothing is left behind. */
static void test_no_failure_leaks(void **state)
{
    (void)state;
    static const int errors[] = {EINVAL, ENOMEM, ENODEV};
    unsigned n_calls = 1;
    for (unsigned at = 0; at < n_calls; at++) {
        for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
            struct fake_driver fake;
            struct tw_device *device = NULL;
            struct tw_context *context = NULL;
            struct tw_buffer *buffer = NULL;
            struct tw_job *job = NULL;
            struct tw_error err;
            const struct tw_program program = {.pdi = pdi, .bytes = sizeof pdi};
            fake_driver_create(&fake);
            static const uint32_t numbers[] = {TW_DRM_NUMBER_VERSION,         TW_XDNA_NUMBER_GET_INFO,
                                               TW_XDNA_NUMBER_CREATE_BUFFER,  TW_XDNA_NUMBER_BUFFER_INFO,
                                               TW_XDNA_NUMBER_EXECUTE,        TW_XDNA_NUMBER_CREATE_CONTEXT,
                                               TW_XDNA_NUMBER_CONFIG_CONTEXT, TW_DRM_NUMBER_TIMELINE_WAIT};
            n_calls = 8 * sizeof numbers / sizeof numbers[0];
            fake.fail[0].number = numbers[at / 8];
            fake.fail[0].errno_value = errors[e];
            fake.fail[0].skip = (int)(at % 8);
            fake.fail[0].times = 1;
            int code = tw_device_open_calls(&fake.calls, "node", NULL, &device, &err);
            if (code == 0)
                code = tw_buffer_create(device, 4096, &buffer, &err);
            if (code == 0)
                code = tw_context_create(device, 1, &program, 1, &context, &err);
            if (code == 0)
                code = tw_job_create(context, 0, noop, sizeof noop, &job, &err);
            if (code == 0)
                code = tw_job_set_buffer(job, 0, buffer, &err);
            if (code == 0)
                tw_job_run(job, &err);
            /* In the wrong order, which is as good as any. */
            tw_device_close(device);
            tw_buffer_destroy(buffer);
            tw_context_destroy(context);
            tw_job_destroy(job);
            assert_int_equal(fake_driver_leaks(&fake), 0);
        }
    }
}

/* Gives back what a setup has made, in one of the 24 orders. */
static void give_back(struct bench *b, struct tw_buffer *buffer, int order)
{
    int left[4] = {0, 1, 2, 3};
    for (int n = 4; n > 0; order /= n, n--) {
        int what = left[order % n];
        left[order % n] = left[n - 1];
        if (what == 0)
            tw_device_close(b->device);
        else if (what == 1)
            tw_context_destroy(b->context);
        else if (what == 2)
            tw_buffer_destroy(buffer);
        else
            tw_job_destroy(b->job);
    }
}

static unsigned when_closed(const struct fake_driver *f, uint32_t handle)
{
    for (unsigned i = 0; i < f->n_gem_closed; i++)
        if (f->gem_closed[i] == handle)
            return i;
    fail_msg("buffer %u is not given back", handle);
    return 0;
}

/* However objects are given back, the driver sees a job's buffers go, then the context, then its PDI, then the heap. */
static void test_order_of_clean_up(void **state)
{
    (void)state;
    for (int order = 0; order < 24; order++) {
        void *made = NULL;
        struct tw_buffer *buffer = NULL;
        setup(&made);
        struct bench *b = made;
        assert_int_equal(tw_buffer_create(b->device, 64, &buffer, &b->err), 0);
        assert_int_equal(tw_job_set_buffer(b->job, 0, buffer, &b->err), 0);
        uint32_t heap = b->device->heap.handle, program = b->context->programs[0].handle;
        uint32_t code = b->job->code.handle, command = b->job->command.handle;
        give_back(b, buffer, order);
        assert_int_equal(fake_driver_leaks(&b->fake), 0);
        assert_true(when_closed(&b->fake, code) < b->fake.closed_before_context);
        assert_true(when_closed(&b->fake, command) < b->fake.closed_before_context);
        assert_true(when_closed(&b->fake, program) >= b->fake.closed_before_context);
        assert_int_equal(when_closed(&b->fake, heap), b->fake.n_gem_closed - 1);
        free(b);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_sequence_of_calls),
        CASE(test_packet),
        CASE(test_chain),
        CASE(test_chain_limits),
        CASE(test_states),
        CASE(test_order_of_use),
        CASE(test_first_command),
        CASE(test_ways_to_wait),
        CASE(test_interrupted_calls_are_repeated),
        CASE(test_flushes),
        CASE(test_refusals),
        CASE(test_contexts_refused),
        CASE(test_programs),
        CASE(test_control_code),
        CASE(test_named_buffers),
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_no_failure_leaks),
        cmocka_unit_test(test_order_of_clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
