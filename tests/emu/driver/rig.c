#include "emu/driver/rig.h"

#include "base/little_endian.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <cmocka.h>

#define HOST_OFFSET ((uint64_t)0x80000000u)

const char rig_node[] = "/dev/accel/accel0";

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opened = PTHREAD_COND_INITIALIZER;
static unsigned gates_open;

void rig_open_gate(void)
{
    pthread_mutex_lock(&gate_lock);
    gates_open++;
    pthread_cond_broadcast(&gate_opened);
    pthread_mutex_unlock(&gate_lock);
}

static void pass_gate(void)
{
    pthread_mutex_lock(&gate_lock);
    while (gates_open == 0)
        pthread_cond_wait(&gate_opened, &gate_lock);
    gates_open--;
    pthread_mutex_unlock(&gate_lock);
}

struct scripted {
    struct tw_host_memory host;
    int n_programs;
    int loaded;
    uint32_t counter; /* what the tiles remember */
};

static int create(void *arg, unsigned columns, const struct tw_host_memory *host, void **context, struct tw_error *err)
{
    (void)arg;
    (void)columns;
    (void)err;
    struct scripted *s = calloc(1, sizeof *s);
    *s = (struct scripted){.host = *host, .loaded = -1};
    *context = s;
    return 0;
}

static void destroy(void *context)
{
    free(context);
}

static int add_program(void *context, const unsigned char *pdi, size_t bytes, struct tw_error *err)
{
    struct scripted *s = context;
    if (bytes < 4 || memcmp(pdi, "good", 4) != 0)
        return tw_fail(err, TW_E_FORMAT, "no PDI");
    return s->n_programs++;
}

static int copy(const struct scripted *s, const struct tw_emu_work *work, uint32_t bytes)
{
    if (work->n_buffers < 2)
        return -1;
    const unsigned char *from = s->host.find(s->host.arg, work->buffers[0] + HOST_OFFSET, bytes, 0);
    unsigned char *to = s->host.find(s->host.arg, work->buffers[1] + HOST_OFFSET, bytes, 1);
    if (from == NULL || to == NULL)
        return -1;
    memcpy(to, from, bytes);
    return 0;
}

static int count(struct scripted *s, const struct tw_emu_work *work)
{
    unsigned char *to = work->n_buffers < 1 ? NULL : s->host.find(s->host.arg, work->buffers[0] + HOST_OFFSET, 4, 1);
    if (to == NULL)
        return -1;
    tw_store_u32(to, ++s->counter);
    return 0;
}

static void do_action(struct scripted *s, const struct tw_emu_work *work, struct tw_emu_result *result)
{
    uint32_t word = tw_load_u32(work->code + 4);
    int r = 0;
    result->end = TW_EMU_DONE;
    result->figures.cycles = 1000;
    switch ((enum action)tw_load_u32(work->code)) {
    case DO_NOTHING:
        break;
    case DO_COPY:
        r = copy(s, work, word);
        break;
    case DO_WORK:
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        result->figures.cycles = (uint64_t)word * 1000;
        break;
    case DO_GATE:
        pass_gate();
        break;
    case DO_TAKE:
        result->figures.cycles = (uint64_t)word * 1000;
        break;
    case DO_FAIL:
        result->end = TW_EMU_FAILED;
        result->status = word;
        break;
    case DO_COUNT:
        r = count(s, work);
        break;
    default:
        r = -1;
    }
    if (r < 0)
        result->end = TW_EMU_HUNG;
}

static int run(void *context, const struct tw_emu_work *work, struct tw_emu_result *result, struct tw_error *err)
{
    struct scripted *s = context;
    result->loaded = s->loaded != work->program;
    s->loaded = work->program;
    if (work->code_bytes == 0) {
        result->end = TW_EMU_DONE;
        return 0;
    }
    if (work->code_bytes < 16)
        return tw_fail(err, TW_E_FORMAT, "control code of %zu bytes", work->code_bytes);
    do_action(s, work, result);
    return result->end == TW_EMU_DONE ? 0 : tw_fail(err, TW_E_STATE, "as the script says");
}

const struct tw_emu_firmware rig_firmware = {
    .create = create, .destroy = destroy, .add_program = add_program, .run = run};

static void create_with(struct rig *rig, const struct tw_emu_driver_options *options,
                        const struct tw_emu_firmware *chosen)
{
    struct tw_emu_driver_options o = options != NULL ? *options : (struct tw_emu_driver_options){0};
    struct tw_error err;
    *rig = (struct rig){.fd = -1};
    o.firmware = chosen;
    assert_int_equal(tw_emu_driver_create(&o, &rig->driver, &err), 0);
    rig->calls = tw_emu_driver_calls(rig->driver);
    rig->fd = rig->calls->open(rig->calls->context, rig_node, O_RDWR | O_CLOEXEC);
}

void rig_create(struct rig *rig, const struct tw_emu_driver_options *options)
{
    create_with(rig, options, &rig_firmware);
}

static void add_heap(struct rig *rig)
{
    assert_int_equal(rig_new_buffer(rig, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES, &rig->heap_handle), 0);
    assert_int_equal(rig_map_heap(rig, 0), 0);
}

void rig_with_heap(struct rig *rig, const struct tw_emu_driver_options *options)
{
    create_with(rig, options, &rig_firmware);
    add_heap(rig);
}

void rig_on_array(struct rig *rig, const struct tw_emu_driver_options *options)
{
    create_with(rig, options, NULL);
    add_heap(rig);
}

void rig_second(struct rig *rig, const struct rig *first)
{
    *rig = (struct rig){.driver = first->driver, .calls = first->calls, .fd_is_shared = 1};
    rig->fd = rig->calls->open(rig->calls->context, rig_node, O_RDWR | O_CLOEXEC);
    assert_true(rig->fd >= 0);
    add_heap(rig);
}

void rig_free(struct rig *rig)
{
    if (rig->fd >= 0)
        assert_int_equal(rig->calls->close(rig->calls->context, rig->fd), 0);
    if (rig->reserved != NULL)
        rig->calls->munmap(rig->calls->context, rig->reserved, 2 * TW_XDNA_HEAP_BYTES);
    if (!rig->fd_is_shared)
        tw_emu_driver_free(rig->driver);
}

int rig_ioctl(const struct rig *rig, uint32_t request, void *argument)
{
    return rig->calls->ioctl(rig->calls->context, rig->fd, request, argument);
}

int rig_new_buffer(const struct rig *rig, enum tw_xdna_buffer_kind kind, uint64_t bytes, uint32_t *handle)
{
    struct tw_xdna_create_buffer args = {.kind = kind, .bytes = bytes};
    int r = rig_ioctl(rig, TW_XDNA_CREATE_BUFFER, &args);
    *handle = args.handle;
    return r;
}

struct tw_xdna_buffer_info rig_info(const struct rig *rig, uint32_t handle)
{
    struct tw_xdna_buffer_info info = {.handle = handle};
    assert_int_equal(rig_ioctl(rig, TW_XDNA_BUFFER_INFO, &info), 0);
    return info;
}

void rig_close_buffer(const struct rig *rig, uint32_t handle)
{
    struct tw_drm_gem_close args = {.handle = handle};
    assert_int_equal(rig_ioctl(rig, TW_DRM_GEM_CLOSE, &args), 0);
}

int rig_map_heap(struct rig *rig, size_t shift)
{
    void *context = rig->calls->context;
    void *mapped;
    assert_int_equal(
        rig->calls->mmap(context, NULL, 2 * TW_XDNA_HEAP_BYTES, PROT_NONE, MAP_PRIVATE, -1, 0, &rig->reserved), 0);
    uintptr_t at = ((uintptr_t)rig->reserved + TW_XDNA_HEAP_BYTES - 1) / TW_XDNA_HEAP_BYTES * TW_XDNA_HEAP_BYTES;
    int r = rig->calls->mmap(context, (void *)(at + shift), TW_XDNA_HEAP_BYTES - shift, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED, rig->fd, rig_info(rig, rig->heap_handle).map_offset, &mapped);
    rig->heap = r == 0 ? mapped : NULL;
    return r;
}

struct rig_buffer rig_buffer(const struct rig *rig, enum tw_xdna_buffer_kind kind, size_t bytes)
{
    struct rig_buffer b = {.bytes = bytes};
    assert_int_equal(rig_new_buffer(rig, kind, bytes, &b.handle), 0);
    struct tw_xdna_buffer_info info = rig_info(rig, b.handle);
    if (kind == TW_XDNA_DEVICE) {
        b.address = info.device_address;
        b.host = rig->heap + (info.device_address - TW_XDNA_HEAP_ADDRESS);
        return b;
    }
    void *mapped;
    assert_int_equal(rig->calls->mmap(rig->calls->context, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd,
                                      info.map_offset, &mapped),
                     0);
    b.host = mapped;
    b.address = rig_info(rig, b.handle).device_address;
    if (kind == TW_XDNA_SHARE)
        rig_flush(rig, &b); /* zeros that the kernel wrote must not come later */
    return b;
}

void rig_unmap(const struct rig *rig, struct rig_buffer *buffer)
{
    assert_int_equal(rig->calls->munmap(rig->calls->context, buffer->host, buffer->bytes), 0);
    buffer->host = NULL;
}

void rig_flush(const struct rig *rig, const struct rig_buffer *buffer)
{
    assert_int_equal(rig->calls->flush(rig->calls->context, buffer->host, buffer->bytes), 0);
}

int rig_try_context(const struct rig *rig, uint32_t tiles, struct tw_xdna_create_context *made)
{
    struct tw_xdna_qos qos = {0};
    *made = (struct tw_xdna_create_context){.qos = (uintptr_t)&qos, .tiles = tiles};
    return rig_ioctl(rig, TW_XDNA_CREATE_CONTEXT, made);
}

struct rig_context rig_context_of(const struct rig *rig, unsigned columns, const void *pdi, size_t bytes)
{
    struct tw_xdna_create_context made;
    struct rig_context c;
    assert_int_equal(rig_try_context(rig, columns * TW_XDNA_CORE_ROWS, &made), 0);
    c.handle = made.handle;
    c.syncobj = made.syncobj;
    c.pdi = rig_buffer(rig, TW_XDNA_DEVICE, bytes);
    memcpy(c.pdi.host, pdi, bytes);
    rig_flush(rig, &c.pdi);
    struct tw_xdna_cus cus = {.count = 1, .cu = {{.buffer = c.pdi.handle}}};
    assert_int_equal(rig_config(rig, c.handle, &cus, 16), 0);
    return c;
}

struct rig_context rig_context(const struct rig *rig, unsigned columns)
{
    return rig_context_of(rig, columns, "good", 4);
}

int rig_destroy(const struct rig *rig, uint32_t handle)
{
    struct tw_xdna_destroy_context args = {.handle = handle};
    return rig_ioctl(rig, TW_XDNA_DESTROY_CONTEXT, &args);
}

int rig_config(const struct rig *rig, uint32_t handle, const struct tw_xdna_cus *cus, uint32_t bytes)
{
    struct tw_xdna_config_context args = {
        .handle = handle, .kind = TW_XDNA_CONFIG_CUS, .value = (uintptr_t)cus, .bytes = bytes};
    return rig_ioctl(rig, TW_XDNA_CONFIG_CONTEXT, &args);
}

uint32_t rig_word(const struct rig_buffer *buffer, size_t word)
{
    return tw_load_u32(buffer->host + 4 * word);
}

void rig_set_word(const struct rig_buffer *buffer, size_t word, uint32_t value)
{
    tw_store_u32(buffer->host + 4 * word, value);
}

struct rig_buffer rig_code(const struct rig *rig, enum action action, uint32_t word)
{
    struct rig_buffer b = rig_buffer(rig, TW_XDNA_DEVICE, 4096);
    rig_set_word(&b, 0, (uint32_t)action);
    rig_set_word(&b, 1, word);
    rig_set_word(&b, 2, 0);
    rig_set_word(&b, 3, 16);
    rig_flush(rig, &b);
    return b;
}

void rig_packet(const struct rig_buffer *command, const struct rig_buffer *code, const struct rig_buffer *buffers,
                size_t n)
{
    uint32_t words = 1 + TW_MAP_BUFFERS + 2 * (uint32_t)n;
    unsigned char *payload = command->host + 4 * TW_PACKET_PAYLOAD;
    rig_set_word(command, 0, tw_packet_header(TW_PACKET_START_CU, words));
    rig_set_word(command, TW_PACKET_CU_MASK, 1);
    tw_store_u64(payload + 4 * TW_MAP_OPCODE, 3);
    tw_store_u64(payload + 4 * TW_MAP_INSTRUCTIONS, code->address);
    tw_store_u32(payload + 4 * TW_MAP_LENGTH, 4);
    for (size_t i = 0; i < n; i++)
        tw_store_u64(payload + 4 * (TW_MAP_BUFFERS + 2 * i), buffers[i].address);
}

void rig_chain(const struct rig_buffer *chain, const struct rig_buffer *commands, size_t n)
{
    memset(chain->host, 0, 4 * TW_CHAIN_HANDLES);
    rig_set_word(chain, 0, tw_packet_header(TW_PACKET_CHAIN, TW_CHAIN_FIXED_WORDS + 2 * (uint32_t)n));
    rig_set_word(chain, TW_CHAIN_COUNT, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        tw_store_u64(chain->host + 4 * (TW_CHAIN_HANDLES + 2 * i), commands[i].handle);
}

int rig_submit(const struct rig *rig, uint32_t context, const struct rig_buffer *command, const uint32_t *arguments,
               uint32_t n, uint64_t *sequence)
{
    struct tw_xdna_execute args = {.context = context,
                                   .command = command->handle,
                                   .arguments = (uintptr_t)arguments,
                                   .command_count = 1,
                                   .argument_count = n};
    int r = rig_ioctl(rig, TW_XDNA_EXECUTE, &args);
    *sequence = args.sequence;
    return r;
}

int rig_wait(const struct rig *rig, uint32_t syncobj, uint64_t sequence, int64_t deadline)
{
    struct tw_drm_timeline_wait args = {.handles = (uintptr_t)&syncobj,
                                        .points = (uintptr_t)&sequence,
                                        .deadline = deadline,
                                        .count = 1,
                                        .flags = TW_DRM_WAIT_FOR_SUBMIT};
    return rig_ioctl(rig, TW_DRM_TIMELINE_WAIT, &args);
}

enum tw_packet_state rig_do(const struct rig *rig, const struct rig_context *context, const struct rig_buffer *command,
                            const struct rig_buffer *buffers, size_t n)
{
    uint32_t handles[8];
    uint64_t sequence;
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++)
        handles[i] = buffers[i].handle;
    assert_int_equal(rig_submit(rig, context->handle, command, handles, (uint32_t)n, &sequence), 0);
    assert_int_equal(rig_wait(rig, context->syncobj, sequence, INT64_MAX), 0);
    return tw_packet_state(rig_word(command, 0));
}
