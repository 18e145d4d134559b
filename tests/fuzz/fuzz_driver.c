/*
 * The emulated driver under random calls: ioctls with wild structures and wild pointers, mappings, packets, events,
 * several files. Each must come back, with whatever error. The first byte chooses the options, the second whether the
 * first file begins with all that a command needs.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/little_endian.h"
#include "emu/driver/driver.h"
#include "uapi/amdxdna.h"
#include "uapi/packet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HOST_OFFSET ((uint64_t)0x80000000u)

enum { PAGE = 4096, FILES = 2, MAPPINGS = 12, CALLS_MAX = 400, SCRATCH_PAGES = 4, BUFFER_MAX = 1 << 20, ADDRESSES = 8 };

struct input {
    const uint8_t *data;
    size_t size;
};

struct mapped {
    void *at;
    size_t bytes;
};

struct world {
    struct input in;
    struct tw_emu_driver *driver;
    const struct tw_calls *calls;
    int fds[FILES];
    struct mapped mappings[MAPPINGS];
    uint64_t addresses[ADDRESSES]; /* of buffers, as the device sees them */
    unsigned char *scratch;        /* pages that can be used, then one that cannot */
};

static uint8_t byte(struct input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

static uint32_t word(struct input *in)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 4; i++)
        v |= (uint32_t)byte(in) << 8 * i;
    return v;
}

/* The firmware's part: what the control code's first byte says. */
static int create(void *arg, unsigned columns, const struct tw_host_memory *host, void **context, struct tw_error *err)
{
    struct tw_host_memory *h = malloc(sizeof *h);
    (void)arg;
    (void)columns;
    if (h == NULL)
        return tw_fail(err, TW_E_MEMORY, "out of memory");
    *h = *host;
    *context = h;
    return 0;
}

static int add_program(void *context, const unsigned char *pdi, size_t bytes, struct tw_error *err)
{
    (void)context;
    return bytes > 0 && pdi[bytes - 1] == 1 ? tw_fail(err, TW_E_FORMAT, "no PDI") : 0;
}

static int run(void *context, const struct tw_emu_work *work, struct tw_emu_result *result, struct tw_error *err)
{
    const struct tw_host_memory *host = context;
    unsigned what = work->code_bytes > 0 ? work->code[0] % 4 : 0;
    result->end = what == 3 ? TW_EMU_HUNG : what == 2 ? TW_EMU_FAILED : TW_EMU_DONE;
    result->figures.cycles = work->code_bytes * 1000;
    result->status = 1;
    for (size_t i = 0; i < work->n_buffers; i++) {
        unsigned char *p = host->find(host->arg, work->buffers[i] + HOST_OFFSET, work->code_bytes, 1);
        if (p != NULL)
            memset(p, 0x5a, work->code_bytes);
    }
    return result->end == TW_EMU_DONE ? 0 : tw_fail(err, TW_E_STATE, "as asked");
}

static const struct tw_emu_firmware firmware = {
    .create = create, .destroy = free, .add_program = add_program, .run = run};

/* A pointer of some kind: into usable pages, across their end, and nowhere. */
static uint64_t pointer(struct world *w)
{
    uint64_t scratch = (uintptr_t)w->scratch;
    const uint64_t end = SCRATCH_PAGES * PAGE;
    switch (byte(&w->in) % 8) {
    case 0:
        return 0;
    case 1:
        return byte(&w->in);
    case 2:
        return scratch + end - byte(&w->in) % 64;
    case 3:
        return scratch + end;
    case 4:
        return UINT64_MAX - byte(&w->in);
    default:
        return scratch + word(&w->in) % end;
    }
}

/* An ioctl, and where its structure holds pointers and sizes of memory (0: none). */
struct known {
    uint32_t request;
    uint8_t pointers[3];
    uint8_t size;
};

static const struct known known[] = {
    {TW_DRM_VERSION, {24, 40, 56}, 0},
    {TW_DRM_GEM_CLOSE, {0}, 0},
    {TW_DRM_TIMELINE_WAIT, {0}, 0},
    {TW_XDNA_CREATE_CONTEXT, {16}, 0},
    {TW_XDNA_DESTROY_CONTEXT, {0}, 0},
    {TW_XDNA_CONFIG_CONTEXT, {8}, 0},
    {TW_XDNA_CREATE_BUFFER, {0}, 16},
    {TW_XDNA_BUFFER_INFO, {0}, 0},
    {TW_XDNA_SYNC_BUFFER, {0}, 0},
    {TW_XDNA_EXECUTE, {32}, 0},
    {TW_XDNA_GET_INFO, {8}, 0},
    {TW_XDNA_SET_STATE, {8}, 0},
    {TW_XDNA_WAIT, {0}, 0},
    {TW_XDNA_GET_ARRAY, {16}, 0},
};

static int call(struct world *w, uint32_t request, void *argument)
{
    return w->calls->ioctl(w->calls->context, w->fds[byte(&w->in) % FILES], request, argument);
}

static void fill(struct world *w, const struct known *k, unsigned char *bytes, size_t n)
{
    size_t step = byte(&w->in) % 2 ? 1 : 4; /* small numbers, or any */
    for (size_t i = 0; i < n; i += step)
        bytes[i] = byte(&w->in);
    for (unsigned i = 0; i < 3; i++)
        if (k->pointers[i] != 0)
            tw_store_u64(bytes + k->pointers[i], pointer(w));
    if (k->size != 0)
        tw_store_u64(bytes + k->size, tw_load_u64(bytes + k->size) % BUFFER_MAX);
}

/* Anything in any field. Waits are not to wait: nobody might come. */
static void wild_ioctl(struct world *w)
{
    const struct known *k = &known[byte(&w->in) % (sizeof known / sizeof *known)];
    unsigned char bytes[256] = {0};
    uint32_t request = k->request;
    fill(w, k, bytes, TW_IOCTL_BYTES(request));
    if (request == TW_DRM_TIMELINE_WAIT) {
        tw_store_u64(bytes, pointer(w));
        tw_store_u64(bytes + 8, pointer(w));
        tw_store_u64(bytes + 16, 1);
    }
    if (request == TW_XDNA_CREATE_BUFFER && byte(&w->in) % 2)
        tw_store_u64(bytes + 8, 0);
    else if (request == TW_XDNA_CREATE_BUFFER)
        tw_store_u64(bytes + 8, pointer(w));
    if (byte(&w->in) % 8 == 0)
        request = (request & ~(0x3fffu << 16)) | (uint32_t)byte(&w->in) << 16;
    (void)call(w, request, bytes);
}

static void make_buffer(struct world *w)
{
    struct tw_xdna_create_buffer args = {.kind = byte(&w->in) % 5u, .bytes = 1 + word(&w->in) % BUFFER_MAX};
    if (args.kind == TW_XDNA_HEAP)
        args.bytes = TW_XDNA_HEAP_BYTES;
    (void)call(w, TW_XDNA_CREATE_BUFFER, &args);
}

static void make_context(struct world *w)
{
    struct tw_xdna_qos qos = {0};
    struct tw_xdna_create_context args = {.qos = (uintptr_t)&qos, .tiles = byte(&w->in) % 24u};
    struct tw_xdna_cus cus = {.count = 1, .cu = {{.buffer = byte(&w->in) % 16u}}};
    (void)call(w, TW_XDNA_CREATE_CONTEXT, &args);
    struct tw_xdna_config_context config = {.handle = args.handle, .value = (uintptr_t)&cus, .bytes = 16};
    (void)call(w, TW_XDNA_CONFIG_CONTEXT, &config);
}

static int map_at(struct world *w, struct mapped *m, int fd, uint32_t handle, size_t bytes)
{
    struct tw_xdna_buffer_info info = {.handle = handle};
    void *mapped;
    if (m->at != NULL || w->calls->ioctl(w->calls->context, fd, TW_XDNA_BUFFER_INFO, &info) < 0)
        return -1;
    if (w->calls->mmap(w->calls->context, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, info.map_offset,
                       &mapped) < 0)
        return -1;
    *m = (struct mapped){mapped, bytes};
    return 0;
}

/* At a multiple of 64 MiB, inside a reservation that is unmapped as a whole. */
static void map_heap(struct world *w, struct mapped *m, int fd, uint32_t handle)
{
    const size_t bytes = TW_XDNA_HEAP_BYTES;
    struct tw_xdna_buffer_info info = {.handle = handle};
    void *mapped;
    if (m->at != NULL || w->calls->ioctl(w->calls->context, fd, TW_XDNA_BUFFER_INFO, &info) < 0)
        return;
    if (w->calls->mmap(w->calls->context, NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE, -1, 0, &m->at) < 0)
        return;
    m->bytes = 2 * bytes;
    void *at = (void *)(((uintptr_t)m->at + bytes - 1) / bytes * bytes);
    (void)w->calls->mmap(w->calls->context, at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                         info.map_offset, &mapped);
}

static void map(struct world *w)
{
    struct mapped *m = &w->mappings[byte(&w->in) % MAPPINGS];
    int fd = w->fds[byte(&w->in) % FILES];
    uint32_t handle = byte(&w->in) % 16u;
    if (byte(&w->in) % 2)
        map_heap(w, m, fd, handle);
    else
        (void)map_at(w, m, fd, handle, (size_t)(1 + byte(&w->in)) * 512);
}

static void unmap(struct world *w, struct mapped *m)
{
    if (m->at != NULL)
        w->calls->munmap(w->calls->context, m->at, m->bytes);
    m->at = NULL;
}

enum { LARGEST_WRITE = 192 };

/* Memory that can be written whole: a mapping of the process's own. */
static unsigned char *writable(struct world *w)
{
    const struct mapped *m = &w->mappings[byte(&w->in) % MAPPINGS];
    return m->at != NULL && m->bytes >= LARGEST_WRITE && m->bytes < TW_XDNA_HEAP_BYTES ? m->at : NULL;
}

static void write_bytes(struct world *w)
{
    unsigned char *to = writable(w);
    size_t n = byte(&w->in) % LARGEST_WRITE;
    for (size_t i = 0; i < n && to != NULL; i++)
        to[i] = byte(&w->in);
}

static uint64_t some_address(struct world *w)
{
    return w->addresses[byte(&w->in) % ADDRESSES] + byte(&w->in) % 4 * 2048u;
}

static void write_packet(struct world *w)
{
    static const uint8_t opcodes[] = {TW_PACKET_START_CU, TW_PACKET_START_CU, TW_PACKET_CHAIN, TW_PACKET_START_NPU};
    unsigned char *to = writable(w);
    unsigned kind = byte(&w->in) % 4u;
    uint32_t words = byte(&w->in) % 32u;
    if (to == NULL)
        return;
    tw_store_u32(to, tw_packet_header((enum tw_packet_opcode)opcodes[kind], words));
    tw_store_u32(to + 4, 1 + byte(&w->in) % 4u);
    unsigned char *payload = to + 8 + (kind == 3 ? 16 : 0);
    tw_store_u64(to + 8, some_address(w));
    tw_store_u64(to + 16, 16);
    tw_store_u64(payload, byte(&w->in) % 4u);
    tw_store_u64(payload + 8, some_address(w));
    tw_store_u32(payload + 16, byte(&w->in));
    for (unsigned i = 0; i < 12; i++)
        tw_store_u64(payload + 20 + 8 * (size_t)i, kind == 2 ? byte(&w->in) % 16u : some_address(w));
}

static void execute(struct world *w)
{
    uint32_t handles[8];
    struct tw_xdna_execute args = {.context = byte(&w->in) % 8u,
                                   .command = byte(&w->in) % 16u,
                                   .arguments = (uintptr_t)handles,
                                   .command_count = 1,
                                   .argument_count = byte(&w->in) % 8u};
    for (unsigned i = 0; i < 8; i++)
        handles[i] = byte(&w->in) % 16u;
    (void)call(w, TW_XDNA_EXECUTE, &args);
}

static void flush(struct world *w)
{
    const struct mapped *m = &w->mappings[byte(&w->in) % MAPPINGS];
    if (byte(&w->in) % 4 == 0)
        (void)w->calls->flush(w->calls->context, (void *)(uintptr_t)pointer(w), word(&w->in));
    else if (m->at != NULL)
        (void)w->calls->flush(w->calls->context, m->at, m->bytes < BUFFER_MAX ? m->bytes : BUFFER_MAX);
}

static void reopen(struct world *w)
{
    int *fd = &w->fds[byte(&w->in) % FILES];
    (void)w->calls->close(w->calls->context, *fd);
    *fd = w->calls->open(w->calls->context, "/dev/accel/accel0", 0);
}

static void step(struct world *w)
{
    switch (byte(&w->in) % 12) {
    case 0:
        make_buffer(w);
        break;
    case 1:
        make_context(w);
        break;
    case 2:
    case 3:
        map(w);
        break;
    case 4:
        unmap(w, &w->mappings[byte(&w->in) % MAPPINGS]);
        break;
    case 5:
        if (byte(&w->in) % 4 == 0)
            write_bytes(w);
        else
            write_packet(w);
        break;
    case 6:
    case 7:
        execute(w);
        break;
    case 8:
        flush(w);
        break;
    case 9:
        if (byte(&w->in) % 8 == 0)
            reopen(w);
        else
            tw_emu_driver_event(w->driver, (enum tw_emu_event)(byte(&w->in) % 3));
        break;
    default:
        wild_ioctl(w);
    }
}

static uint32_t new_buffer(struct world *w, uint32_t kind, uint64_t bytes)
{
    struct tw_xdna_create_buffer args = {.kind = kind, .bytes = bytes};
    (void)w->calls->ioctl(w->calls->context, w->fds[0], TW_XDNA_CREATE_BUFFER, &args);
    return args.handle;
}

static uint64_t address_of(struct world *w, uint32_t handle)
{
    struct tw_xdna_buffer_info info = {.handle = handle};
    (void)w->calls->ioctl(w->calls->context, w->fds[0], TW_XDNA_BUFFER_INFO, &info);
    return info.device_address;
}

/* Heap 1, PDI 2, control code 3, commands 4 and 5, memory 6 and 7; context 1. */
static void prepare(struct world *w)
{
    struct tw_xdna_qos qos = {0};
    struct tw_xdna_create_context context = {.qos = (uintptr_t)&qos, .tiles = 4};
    struct tw_xdna_cus cus = {.count = 1, .cu = {{.buffer = 2}}};
    struct tw_xdna_config_context config = {.handle = 1, .value = (uintptr_t)&cus, .bytes = 16};
    map_heap(w, &w->mappings[0], w->fds[0], new_buffer(w, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES));
    if (w->mappings[0].at == NULL)
        return; /* a driver with other numbers */
    new_buffer(w, TW_XDNA_DEVICE, PAGE);
    w->addresses[0] = address_of(w, new_buffer(w, TW_XDNA_DEVICE, PAGE));
    for (unsigned i = 1; i < 5; i++) {
        uint32_t handle = new_buffer(w, i < 3 ? TW_XDNA_COMMAND : TW_XDNA_SHARE, PAGE);
        (void)map_at(w, &w->mappings[i], w->fds[0], handle, PAGE);
        w->addresses[i] = address_of(w, handle);
    }
    (void)w->calls->ioctl(w->calls->context, w->fds[0], TW_XDNA_CREATE_CONTEXT, &context);
    (void)w->calls->ioctl(w->calls->context, w->fds[0], TW_XDNA_CONFIG_CONTEXT, &config);
    unsigned char *heap = (unsigned char *)(uintptr_t)(((uintptr_t)w->mappings[0].at + TW_XDNA_HEAP_BYTES - 1) /
                                                       TW_XDNA_HEAP_BYTES * TW_XDNA_HEAP_BYTES);
    unsigned char *code = heap + (w->addresses[0] - TW_XDNA_HEAP_ADDRESS);
    code[0] = byte(&w->in);
    code[12] = 16;
    (void)w->calls->flush(w->calls->context, code, 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.in = {data, size}};
    uint8_t choice = byte(&w.in);
    struct tw_emu_driver_options options = {
        .kernel = (enum tw_emu_kernel)(choice % TW_EMU_KERNELS),
        .coherent = choice >> 3 & 1,
        .old_firmware = choice >> 4 & 1,
        .recovery = (enum tw_emu_recovery)(choice >> 5 & 1),
        .root = choice >> 6 & 1,
        .no_syncobj = choice >> 7,
        .firmware = &firmware,
    };
    if (tw_emu_driver_create(&options, &w.driver, NULL) < 0)
        return 0;
    w.calls = tw_emu_driver_calls(w.driver);
    w.scratch = mmap(NULL, (SCRATCH_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(w.scratch + SCRATCH_PAGES * PAGE, PAGE, PROT_NONE);
    for (unsigned i = 0; i < FILES; i++)
        w.fds[i] = w.calls->open(w.calls->context, "/dev/accel/accel0", 0);
    if (byte(&w.in) % 2)
        prepare(&w);
    for (unsigned i = 0; i < CALLS_MAX && w.in.size > 0; i++)
        step(&w);
    for (unsigned i = 0; i < MAPPINGS; i++)
        unmap(&w, &w.mappings[i]);
    tw_emu_driver_free(w.driver);
    munmap(w.scratch, (SCRATCH_PAGES + 1) * PAGE);
    return 0;
}
