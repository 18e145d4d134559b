/* The client on the emulated kernel driver: it works on every kernel, and what is refused has a code and a sentence. */
#include "device/copy_program.h"
#include "device/device.h"
#include "device/job.h"
#include "emu/driver/driver.h"
#include "uapi/packet.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define NODE "/dev/accel/accel0"

enum { WORDS = 1024 };

struct machine {
    struct tw_emu_driver *driver;
    struct tw_device *device;
    struct tw_context *context;
    struct copy_job copy, hang;
    struct tw_error err;
};

static void machine_create(struct machine *m, const struct tw_emu_driver_options *options)
{
    *m = (struct machine){0};
    assert_int_equal(tw_emu_driver_create(options, &m->driver, &m->err), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m->driver), NODE, NULL, &m->device, &m->err), 0);
    assert_int_equal(copy_context(m->device, 1, &m->context, &m->err), 0);
    assert_int_equal(copy_job_create(&m->copy, m->device, m->context, WORDS, &m->err), 0);
    assert_int_equal(copy_job_create(&m->hang, m->device, m->context, 0, &m->err), 0);
}

static void machine_destroy(struct machine *m)
{
    copy_job_destroy(&m->copy);
    copy_job_destroy(&m->hang);
    tw_context_destroy(m->context);
    tw_device_close(m->device);
    tw_emu_driver_free(m->driver);
}

static int copies(struct machine *m, uint32_t seed)
{
    int code = copy_job_fill(&m->copy, seed, &m->err);
    if (code == 0)
        code = tw_job_run(m->copy.job, &m->err);
    return code < 0 ? code : copy_job_check(&m->copy, seed, &m->err);
}

#define COPIES(m, seed)                                                                                                \
    do {                                                                                                               \
        int code_ = copies(m, seed);                                                                                   \
        if (code_ != 0)                                                                                                \
            fail_msg("code or wrong words: %d (%s)", code_, (m)->err.text);                                            \
    } while (0)

static void test_kernels(void **state)
{
    static const struct tw_emu_driver_options machines[] = {
        {.kernel = TW_EMU_KERNEL_7_3},
        {.kernel = TW_EMU_KERNEL_7_1},
        {.kernel = TW_EMU_KERNEL_6_14},
        {.kernel = TW_EMU_KERNEL_OUT_OF_TREE},
        {.kernel = TW_EMU_KERNEL_OUT_OF_TREE, .no_syncobj = 1}, /* waits by WAIT */
        {.kernel = TW_EMU_KERNEL_7_3, .no_syncobj = 1},         /* waits by looking */
        {.kernel = TW_EMU_KERNEL_7_3, .old_firmware = 1},
        {.kernel = TW_EMU_KERNEL_7_3, .coherent = 1},
        {.kernel = TW_EMU_KERNEL_7_3, .lock_limit_zero = 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct machine m;
        machine_create(&m, &machines[i]);
        COPIES(&m, 1);
        COPIES(&m, 2);
        machine_destroy(&m);
    }
}

static int open_with(const struct tw_emu_driver_options *options, struct tw_error *err)
{
    struct tw_emu_driver *driver = NULL;
    struct tw_device *device = NULL;
    assert_int_equal(tw_emu_driver_create(options, &driver, err), 0);
    int code = tw_device_open_calls(tw_emu_driver_calls(driver), NODE, NULL, &device, err);
    tw_device_close(device);
    tw_emu_driver_free(driver);
    return code;
}

static void test_cannot_open(void **state)
{
    struct tw_error err = {0};
    (void)state;
    assert_int_equal(open_with(&(struct tw_emu_driver_options){.open_error = EACCES}, &err), TW_E_PERMISSION);
    assert_int_equal(open_with(&(struct tw_emu_driver_options){.open_error = ENOENT}, &err), TW_E_NO_DEVICE);
    assert_int_equal(open_with(&(struct tw_emu_driver_options){.node = "/dev/accel/accel7"}, &err), TW_E_NO_DEVICE);
    assert_int_equal(open_with(&(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_2024}, &err), TW_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "1.0"));
}

/* The device sees what was flushed, and so does the process. */
static void test_flushes_matter(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    COPIES(&m, 1);
    uint32_t *in = tw_buffer_data(m.copy.in), *out = tw_buffer_data(m.copy.out), first = in[0];
    in[0] = 77;
    assert_int_equal(tw_job_run(m.copy.job, &m.err), 0);
    assert_int_equal(copy_job_check(&m.copy, 1, &m.err), 0);
    assert_int_equal(tw_buffer_to_npu(m.copy.in, 0, 4, &m.err), 0);
    assert_int_equal(tw_job_run(m.copy.job, &m.err), 0);
    assert_int_equal(out[0], first);
    assert_int_equal(tw_buffer_from_npu(m.copy.out, 0, 4, &m.err), 0);
    assert_int_equal(out[0], 77);
    machine_destroy(&m);
}

static int no_flush(void *context, const void *address, size_t size)
{
    (void)context;
    (void)address;
    (void)size;
    return -EOPNOTSUPP;
}

/* Without the processor's instruction the driver flushes; its trap in one direction is not stepped on. */
static void test_flushing_by_the_driver(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    m.device->file.calls.flush = no_flush;
    COPIES(&m, 1);
    COPIES(&m, 2);
    struct tw_xdna_sync_buffer sync = {
        .handle = m.copy.in->memory.handle, .direction = TW_XDNA_FROM_DEVICE, .bytes = 4096};
    int result = tw_driver_call(&m.device->file, TW_XDNA_SYNC_BUFFER, &sync);
    assert_int_equal(result, -EINVAL);
    assert_int_equal(tw_driver_fail(&m.err, TW_XDNA_SYNC_BUFFER, result, "flushing"), TW_E_SYNC);
    assert_non_null(strstr(m.err.text, "debug buffers"));
    machine_destroy(&m);
}

static void test_hang(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    COPIES(&m, 1);
    assert_int_equal(tw_job_run(m.hang.job, &m.err), TW_E_TIMEOUT);
    COPIES(&m, 2);
    /* What waits behind it is dropped, and can be sent again. */
    tw_emu_driver_event(m.driver, TW_EMU_HANG);
    assert_int_equal(copy_job_fill(&m.copy, 3, &m.err), 0);
    assert_int_equal(tw_job_submit(m.hang.job, &m.err), 0);
    assert_int_equal(tw_job_submit(m.copy.job, &m.err), 0);
    assert_int_equal(tw_job_wait(m.hang.job, -1, &m.err), TW_E_TIMEOUT);
    int code = tw_job_wait(m.copy.job, -1, &m.err);
    assert_true(code == 0 || code == TW_E_ABORTED);
    COPIES(&m, 4);
    machine_destroy(&m);
}

static void test_does_not_recover(void **state)
{
    struct machine m;
    struct tw_context *another = NULL;
    (void)state;
    machine_create(&m, &(struct tw_emu_driver_options){.recovery = TW_EMU_STAYS_REFUSED});
    assert_int_equal(tw_job_run(m.hang.job, &m.err), TW_E_TIMEOUT);
    assert_int_equal(copies(&m, 1), TW_E_LOST);
    assert_int_equal(copy_context(m.device, 1, &another, &m.err), TW_E_LOST);
    assert_non_null(strstr(m.err.text, "modprobe amdxdna"));
    /* A reset heals the device. */
    tw_emu_driver_event(m.driver, TW_EMU_RESET);
    assert_int_equal(copy_context(m.device, 1, &another, &m.err), 0);
    tw_context_destroy(another);
    machine_destroy(&m);
}

static void test_suspend_and_remove(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    COPIES(&m, 1);
    tw_emu_driver_event(m.driver, TW_EMU_SUSPEND);
    COPIES(&m, 2);
    tw_emu_driver_event(m.driver, TW_EMU_REMOVE);
    assert_int_equal(tw_job_run(m.copy.job, &m.err), TW_E_LOST);
    machine_destroy(&m);
}

/* Two files of one process share the device and its six contexts. */
static void test_seventh_context(void **state)
{
    struct machine m;
    struct tw_device *second = NULL;
    struct tw_context *contexts[6] = {NULL};
    (void)state;
    machine_create(&m, NULL);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m.driver), NODE, NULL, &second, &m.err), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(copy_context(i % 2 ? m.device : second, 1, &contexts[i], &m.err), 0);
    assert_int_equal(copy_context(second, 1, &contexts[5], &m.err), TW_E_BUSY);
    assert_non_null(strstr(m.err.text, "pid "));
    tw_context_destroy(contexts[0]);
    assert_int_equal(copy_context(second, 1, &contexts[0], &m.err), 0);
    COPIES(&m, 1);
    for (int i = 0; i < 5; i++)
        tw_context_destroy(contexts[i]);
    tw_device_close(second);
    machine_destroy(&m);
}

/* The same by the public interface: one machine for all, unless one of its own is asked for. */
static void test_shared(void **state)
{
    struct tw_device_options options = {.kind = TW_DEVICE_EMU};
    struct tw_device *first = NULL, *second = NULL, *other = NULL;
    struct tw_context *contexts[7] = {NULL};
    struct tw_error err = {0};
    (void)state;
    assert_int_equal(tw_device_open(&options, &first, &err), 0);
    assert_int_equal(tw_device_open(&options, &second, &err), 0);
    options.alone = 1;
    assert_int_equal(tw_device_open(&options, &other, &err), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(copy_context(i % 2 ? first : second, 1, &contexts[i], &err), 0);
    assert_int_equal(copy_context(second, 1, &contexts[6], &err), TW_E_BUSY);
    assert_int_equal(copy_context(other, 1, &contexts[6], &err), 0);
    /* The machine goes with the last that uses it. */
    tw_device_close(first);
    tw_device_close(other);
    for (int i = 0; i < 7; i++)
        tw_context_destroy(contexts[i]);
    assert_int_equal(copy_context(second, 4, &contexts[0], &err), 0);
    struct copy_job job, hang;
    assert_int_equal(copy_job_create(&job, second, contexts[0], WORDS, &err), 0);
    assert_int_equal(copy_job_fill(&job, 1, &err), 0);
    assert_int_equal(tw_job_run(job.job, &err), 0);
    assert_int_equal(copy_job_check(&job, 1, &err), 0);
    /* When something fails, the emulator tells more than the driver. */
    assert_int_equal(copy_job_create(&hang, second, contexts[0], 0, &err), 0);
    assert_int_equal(tw_job_run(hang.job, &err), TW_E_TIMEOUT);
    assert_non_null(strstr(err.text, "operation 0 (TCT)"));
    copy_job_destroy(&hang);
    copy_job_destroy(&job);
    tw_context_destroy(contexts[0]);
    tw_device_close(second);
}

struct fifth {
    struct copy_job *job;
    atomic_int allowed, code, was_allowed;
};

static void *submit_fifth(void *arg)
{
    struct fifth *f = arg;
    struct tw_error err;
    atomic_store(&f->code, tw_job_submit(f->job->job, &err));
    atomic_store(&f->was_allowed, atomic_load(&f->allowed));
    return NULL;
}

/* Four commands stand behind one that never ends; the next submission waits until they are gone. */
static void test_fifth_command_waits(void **state)
{
    struct machine m;
    struct copy_job jobs[5];
    struct fifth fifth = {.job = &jobs[4]};
    pthread_t thread;
    (void)state;
    machine_create(&m, &(struct tw_emu_driver_options){.hangs_for_ever = 1});
    for (int i = 0; i < 5; i++)
        assert_int_equal(copy_job_create(&jobs[i], m.device, m.context, 0, &m.err), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tw_job_submit(jobs[i].job, &m.err), 0);
    assert_int_equal(tw_job_wait(jobs[0].job, 1, &m.err), TW_E_RUNNING);
    assert_int_equal(pthread_create(&thread, NULL, submit_fifth, &fifth), 0);
    assert_int_equal(tw_job_wait(jobs[0].job, 20, &m.err), TW_E_RUNNING);
    atomic_store(&fifth.allowed, 1);
    tw_emu_driver_event(m.driver, TW_EMU_RESET);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(fifth.code, 0);
    assert_int_equal(fifth.was_allowed, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tw_job_wait(jobs[i].job, -1, &m.err), TW_E_ABORTED);
    tw_emu_driver_event(m.driver, TW_EMU_RESET);
    tw_job_wait(jobs[4].job, -1, &m.err);
    for (int i = 0; i < 5; i++)
        copy_job_destroy(&jobs[i]);
    machine_destroy(&m);
}

/* A command that is not what the client writes, by hand. */
static int run_packet(struct machine *m, uint32_t header, uint32_t word1, const uint32_t *arguments, uint32_t n)
{
    struct tw_job *job = m->copy.job;
    uint32_t *words = (uint32_t *)(void *)job->command.data;
    tw_job_write_launch(job);
    words[1] = word1;
    atomic_store(tw_job_header(job), header);
    struct tw_xdna_execute execute = {.context = m->context->handle,
                                      .command = job->command.handle,
                                      .command_count = 1,
                                      .arguments = (uint64_t)(uintptr_t)arguments,
                                      .argument_count = n};
    int result = tw_driver_call(&m->device->file, TW_XDNA_EXECUTE, &execute);
    if (result < 0)
        return tw_driver_fail(&m->err, TW_XDNA_EXECUTE, result, "a command");
    job->sequence = execute.sequence;
    job->state = TW_JOB_SUBMITTED;
    return tw_job_wait(job, -1, &m->err);
}

static void test_packets(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    const struct tw_handle_list *listed = &m.copy.job->listed;
    uint32_t good = tw_packet_header(TW_PACKET_START_CU, 16);
    assert_int_equal(run_packet(&m, good, 1, listed->handles, listed->n), 0);
    /* Unknown opcode, no CU, a CU that is not there. */
    uint32_t unknown = tw_packet_header(TW_PACKET_START_NPU_PREEMPT, 16);
    assert_int_equal(run_packet(&m, unknown, 1, listed->handles, listed->n), TW_E_REFUSED);
    assert_int_equal(run_packet(&m, good, 0, listed->handles, listed->n), TW_E_REFUSED);
    assert_int_equal(run_packet(&m, good, 2, listed->handles, listed->n), TW_E_DEVICE);
    /* More words than the buffer has; more than a command may be. */
    uint32_t beyond = tw_packet_header(TW_PACKET_START_CU, 1024);
    assert_int_equal(run_packet(&m, beyond, 1, listed->handles, listed->n), TW_E_REFUSED);
    uint32_t large = tw_packet_header(TW_PACKET_START_CU, 1020);
    assert_int_equal(run_packet(&m, large, 1, listed->handles, listed->n), TW_E_REFUSED);
    /* A buffer that no one has heard of, and buffers that are not listed. */
    const uint32_t nobody = 12345;
    assert_int_equal(run_packet(&m, good, 1, &nobody, 1), TW_E_ARGUMENT);
    int code = run_packet(&m, good, 1, listed->handles, 1);
    assert_int_equal(code, TW_E_TIMEOUT); /* the driver does not know better; see test_unlisted_buffers */
    COPIES(&m, 1);
    machine_destroy(&m);
}

/* The device, not its own driver, knows why such a command hangs; and which did, also after others. */
static void test_unlisted_buffers(void **state)
{
    const struct tw_device_options options = {.kind = TW_DEVICE_EMU};
    struct machine m = {0};
    struct tw_buffer *small = NULL;
    (void)state;
    assert_int_equal(tw_device_open(&options, &m.device, &m.err), 0);
    assert_int_equal(copy_context(m.device, 1, &m.context, &m.err), 0);
    assert_int_equal(copy_job_create(&m.copy, m.device, m.context, 2 * WORDS, &m.err), 0);
    assert_int_equal(copy_job_create(&m.hang, m.device, m.context, 0, &m.err), 0);
    COPIES(&m, 1);
    uint32_t good = tw_packet_header(TW_PACKET_START_CU, 16);
    const struct tw_handle_list *listed = &m.copy.job->listed;
    assert_int_equal(run_packet(&m, good, 1, listed->handles, 1), TW_E_UNLISTED);
    assert_non_null(strstr(m.err.text, "in none of its buffers"));
    assert_non_null(strstr(m.err.text, "which is in no buffer that the command lists"));
    /* A hang of another kind. */
    assert_int_equal(tw_job_run(m.hang.job, &m.err), TW_E_TIMEOUT);
    COPIES(&m, 2);
    /* A buffer that is too short is the same. */
    assert_int_equal(tw_buffer_create(m.device, 4096, &small, &m.err), 0);
    assert_int_equal(tw_job_set_buffer(m.copy.job, 1, small, &m.err), 0);
    assert_int_equal(tw_job_run(m.copy.job, &m.err), TW_E_UNLISTED);
    assert_int_equal(tw_job_set_buffer(m.copy.job, 1, m.copy.out, &m.err), 0);
    COPIES(&m, 3);
    tw_buffer_destroy(small);
    machine_destroy(&m);
}

static void test_columns(void **state)
{
    struct machine m;
    struct tw_context *context = NULL;
    (void)state;
    machine_create(&m, NULL);
    assert_int_equal(copy_context(m.device, 5, &context, &m.err), TW_E_UNSUPPORTED);
    assert_non_null(strstr(m.err.text, "none of so many columns"));
    assert_int_equal(copy_context(m.device, 6, &context, &m.err), TW_E_ARGUMENT);
    machine_destroy(&m);
}

/* Contexts of other widths need columns of their own. */
static void test_columns_taken(void **state)
{
    struct machine m;
    struct tw_context *wide = NULL, *narrow = NULL;
    (void)state;
    machine_create(&m, NULL);
    assert_int_equal(copy_context(m.device, 4, &wide, &m.err), TW_E_BUSY);
    assert_non_null(strstr(m.err.text, "same width"));
    assert_int_equal(copy_context(m.device, 3, &wide, &m.err), 0);
    assert_int_equal(copy_context(m.device, 1, &narrow, &m.err), 0);
    assert_int_equal(copy_context(m.device, 2, &(struct tw_context *){NULL}, &m.err), TW_E_BUSY);
    /* One process has them all, and is named once. */
    const char *pid = strstr(m.err.text, "pid ");
    assert_non_null(pid);
    assert_null(strchr(pid, ','));
    tw_context_destroy(narrow);
    tw_context_destroy(wide);
    tw_emu_driver_event(m.driver, TW_EMU_REMOVE);
    assert_int_equal(copy_context(m.device, 4, &wide, &m.err), TW_E_LOST);
    machine_destroy(&m);
}

static void open_file(struct machine *m, struct tw_driver_file *file)
{
    *m = (struct machine){0};
    assert_int_equal(tw_emu_driver_create(NULL, &m->driver, &m->err), 0);
    assert_int_equal(tw_driver_open(tw_emu_driver_calls(m->driver), NODE, file, &m->err), 0);
}

static int create_context(const struct tw_driver_file *file, struct tw_error *err)
{
    struct tw_xdna_qos qos = {0};
    struct tw_xdna_create_context create = {.qos = (uint64_t)(uintptr_t)&qos, .tiles = 4};
    int result = tw_driver_call(file, TW_XDNA_CREATE_CONTEXT, &create);
    return result < 0 ? tw_driver_fail(err, TW_XDNA_CREATE_CONTEXT, result, "a context") : TW_OK;
}

static void test_unmapped_heap(void **state)
{
    struct machine m;
    struct tw_driver_file file;
    struct tw_kernel_buffer buffer, heap = {0};
    struct tw_xdna_create_buffer create = {.bytes = TW_XDNA_HEAP_BYTES, .kind = TW_XDNA_HEAP};
    (void)state;
    open_file(&m, &file);
    assert_int_equal(tw_driver_call(&file, TW_XDNA_CREATE_BUFFER, &create), 0);
    heap.handle = create.handle;
    assert_int_equal(tw_kernel_buffer_upload(&file, &heap, "pdi", 4, &buffer, &m.err), TW_E_HEAP);
    assert_int_equal(create_context(&file, &m.err), TW_E_HEAP);
    assert_non_null(strstr(m.err.text, "not mapped"));
    tw_kernel_buffer_destroy(&file, &heap);
    tw_driver_close(&file);
    tw_emu_driver_free(m.driver);
}

static void test_heap_rules(void **state)
{
    struct machine m;
    struct tw_driver_file file;
    struct tw_kernel_buffer buffer, heap = {0};
    (void)state;
    open_file(&m, &file);
    /* Without a heap: nothing inside it, and no context. */
    assert_int_equal(tw_kernel_buffer_upload(&file, &heap, "pdi", 4, &buffer, &m.err), TW_E_HEAP);
    assert_int_equal(create_context(&file, &m.err), TW_E_HEAP);
    /* Of another size; and a second one. */
    assert_int_equal(tw_kernel_buffer_create(&file, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES / 2, &buffer, &m.err),
                     TW_E_HEAP_SIZE);
    assert_int_equal(tw_kernel_buffer_create(&file, TW_XDNA_HEAP, 2 * TW_XDNA_HEAP_BYTES, &buffer, &m.err),
                     TW_E_HEAP_SIZE);
    assert_int_equal(tw_heap_create(&file, &heap, &m.err), 0);
    assert_int_equal(tw_kernel_buffer_create(&file, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES, &buffer, &m.err), TW_E_HEAP);
    assert_non_null(strstr(m.err.text, "may have one already"));
    assert_int_equal(create_context(&file, &m.err), 0);
    /* It is full some time. */
    static unsigned char large[TW_XDNA_HEAP_BYTES / 2];
    struct tw_kernel_buffer half;
    assert_int_equal(tw_kernel_buffer_upload(&file, &heap, large, sizeof large, &half, &m.err), 0);
    assert_int_equal(tw_kernel_buffer_upload(&file, &heap, large, sizeof large, &buffer, &m.err), TW_E_HEAP);
    tw_kernel_buffer_destroy(&file, &half);
    tw_kernel_buffer_destroy(&file, &heap);
    tw_driver_close(&file);
    tw_emu_driver_free(m.driver);
}

/* Firmware takes a heap only at a multiple of its size; here the client is given one that is mapped elsewhere. */
static void test_heap_place(void **state)
{
    struct machine m = {0};
    struct tw_context *context = NULL;
    struct tw_xdna_create_buffer create = {.bytes = TW_XDNA_HEAP_BYTES, .kind = TW_XDNA_HEAP};
    struct tw_xdna_buffer_info info = {0};
    void *space = NULL, *mapped = NULL;
    (void)state;
    assert_int_equal(tw_emu_driver_create(NULL, &m.driver, &m.err), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m.driver), NODE, NULL, &m.device, &m.err), 0);
    const struct tw_driver_file *file = &m.device->file;
    const struct tw_calls *calls = &file->calls;
    assert_int_equal(tw_driver_call(file, TW_XDNA_CREATE_BUFFER, &create), 0);
    info.handle = create.handle;
    assert_int_equal(tw_driver_call(file, TW_XDNA_BUFFER_INFO, &info), 0);
    size_t bytes = (size_t)3 * TW_XDNA_HEAP_BYTES;
    assert_int_equal(calls->mmap(calls->context, NULL, bytes, PROT_NONE, MAP_PRIVATE, -1, 0, &space), 0);
    unsigned char *wrong = (unsigned char *)space + TW_XDNA_HEAP_BYTES - (uintptr_t)space % TW_XDNA_HEAP_BYTES + 4096;
    assert_int_equal(calls->mmap(calls->context, wrong, TW_XDNA_HEAP_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_FIXED, file->fd, info.map_offset, &mapped),
                     0);
    m.device->heap = (struct tw_kernel_buffer){.handle = create.handle, .bytes = TW_XDNA_HEAP_BYTES, .data = mapped};
    assert_int_equal(copy_context(m.device, 1, &context, &m.err), TW_E_HEAP_PLACE);
    assert_non_null(strstr(m.err.text, "multiple"));
    calls->munmap(calls->context, space, bytes);
    tw_device_close(m.device);
    tw_emu_driver_free(m.driver);
}

static void test_configuring_twice(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    struct tw_xdna_cus cus = {.count = 1, .cu = {{.buffer = m.context->programs[0].handle}}};
    struct tw_xdna_config_context config = {
        .handle = m.context->handle, .value = (uint64_t)(uintptr_t)&cus, .bytes = 16};
    int result = tw_driver_call(&m.device->file, TW_XDNA_CONFIG_CONTEXT, &config);
    assert_int_equal(tw_driver_fail(&m.err, TW_XDNA_CONFIG_CONTEXT, result, "programs"), TW_E_CONFIGURED);
    COPIES(&m, 1);
    machine_destroy(&m);
}

/* Shared memory has no address for the NPU before it is mapped; the client never hands such a one out. */
static void test_address_before_mapping(void **state)
{
    struct machine m;
    (void)state;
    machine_create(&m, NULL);
    struct tw_xdna_create_buffer create = {.bytes = 4096, .kind = TW_XDNA_SHARE};
    assert_int_equal(tw_driver_call(&m.device->file, TW_XDNA_CREATE_BUFFER, &create), 0);
    struct tw_xdna_buffer_info info = {.handle = create.handle};
    assert_int_equal(tw_driver_call(&m.device->file, TW_XDNA_BUFFER_INFO, &info), 0);
    assert_true(info.device_address == TW_XDNA_NOWHERE);
    struct tw_kernel_buffer buffer = {.handle = create.handle};
    tw_kernel_buffer_destroy(&m.device->file, &buffer);
    assert_true(m.copy.in->memory.device_address != TW_XDNA_NOWHERE);
    /* A piece of the heap cannot be mapped at all. */
    assert_int_equal(tw_kernel_buffer_create(&m.device->file, TW_XDNA_DEVICE, 4096, &buffer, &m.err), TW_E_UNMAPPED);
    machine_destroy(&m);
}

static void test_chain(void **state)
{
    struct machine m;
    struct copy_job second;
    struct tw_job *chain = NULL;
    (void)state;
    machine_create(&m, NULL);
    assert_int_equal(copy_job_create(&second, m.device, m.context, 64, &m.err), 0);
    assert_int_equal(copy_job_fill(&m.copy, 5, &m.err), 0);
    assert_int_equal(copy_job_fill(&second, 6, &m.err), 0);
    struct tw_job *const jobs[] = {m.copy.job, second.job};
    assert_int_equal(tw_chain_create(jobs, 2, &chain, &m.err), 0);
    assert_int_equal(tw_job_run(chain, &m.err), 0);
    assert_int_equal(copy_job_check(&m.copy, 5, &m.err), 0);
    assert_int_equal(copy_job_check(&second, 6, &m.err), 0);
    /* One that hangs, and then once more. */
    tw_emu_driver_event(m.driver, TW_EMU_HANG);
    assert_int_equal(tw_job_run(chain, &m.err), TW_E_TIMEOUT);
    assert_int_equal(tw_job_run(chain, &m.err), 0);
    tw_job_destroy(chain);
    copy_job_destroy(&second);
    machine_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_cannot_open),
        cmocka_unit_test(test_flushes_matter),
        cmocka_unit_test(test_flushing_by_the_driver),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_does_not_recover),
        cmocka_unit_test(test_suspend_and_remove),
        cmocka_unit_test(test_seventh_context),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_fifth_command_waits),
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_unlisted_buffers),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_columns_taken),
        cmocka_unit_test(test_unmapped_heap),
        cmocka_unit_test(test_heap_rules),
        cmocka_unit_test(test_heap_place),
        cmocka_unit_test(test_configuring_twice),
        cmocka_unit_test(test_address_before_mapping),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
