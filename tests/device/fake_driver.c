#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "device/fake_driver.h"

#include "uapi/packet.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int fake_open(void *context, const char *path, int flags)
{
    struct fake_driver *f = context;
    (void)path;
    (void)flags;
    if (f->open_errno != 0)
        return -f->open_errno;
    f->closed = 0;
    return 1000;
}

static int fake_close(void *context, int fd)
{
    struct fake_driver *f = context;
    f->closed = fd == 1000;
    return 0;
}

static int version(struct fake_driver *f, struct tw_drm_version *v)
{
    size_t size = strlen(f->name) < v->name_bytes ? strlen(f->name) : v->name_bytes;
    memcpy(v->name, f->name, size);
    v->name_bytes = strlen(f->name);
    v->major = f->major;
    v->minor = f->minor;
    return 0;
}

static int create_buffer(struct fake_driver *f, struct tw_xdna_create_buffer *c)
{
    for (uint32_t handle = 1; handle < FAKE_BUFFERS; handle++) {
        struct fake_buffer *b = &f->buffers[handle];
        if (b->kind != 0)
            continue;
        *b = (struct fake_buffer){.kind = c->kind, .bytes = c->bytes, .open = 1, .address = TW_XDNA_NOWHERE};
        if (c->kind == TW_XDNA_DEVICE) {
            b->address = TW_XDNA_HEAP_ADDRESS + f->heap_used;
            b->data = (unsigned char *)f->heap + f->heap_used;
            f->heap_used += (c->bytes + TW_XDNA_DEVICE_ALIGN - 1) / TW_XDNA_DEVICE_ALIGN * TW_XDNA_DEVICE_ALIGN;
        }
        c->handle = handle;
        return 0;
    }
    return -ENOMEM;
}

static int buffer_info(struct fake_driver *f, struct tw_xdna_buffer_info *i)
{
    const struct fake_buffer *b = &f->buffers[i->handle];
    int inside = b->kind == TW_XDNA_DEVICE;
    i->map_offset = inside ? TW_XDNA_NOWHERE : (uint64_t)i->handle << 32;
    i->host_address = inside ? (uint64_t)(uintptr_t)b->data : 0;
    i->device_address = b->address;
    return 0;
}

static void give_back(struct fake_buffer *b)
{
    if (!b->open && !b->mapped)
        *b = (struct fake_buffer){0};
}

static int execute(struct fake_driver *f, struct tw_xdna_execute *e)
{
    struct fake_buffer *b = &f->buffers[e->command];
    f->n_arguments = e->argument_count < 256 ? e->argument_count : 256;
    if (f->n_arguments > 0)
        memcpy(f->arguments, (const void *)(uintptr_t)e->arguments, f->n_arguments * sizeof f->arguments[0]);
    memcpy(f->packet, b->data, sizeof f->packet);
    uint32_t *words = b->data;
    if (f->end_state >= TW_PACKET_ERROR)
        memset(words + 1, 0xff, 64);
    words[TW_CHAIN_ERROR_INDEX] = f->end_state == TW_PACKET_ERROR ? f->error_index : words[TW_CHAIN_ERROR_INDEX];
    words[0] = (words[0] & ~(uint32_t)TW_PACKET_STATE_MASK) | f->end_state;
    e->sequence = f->sequence++;
    return 0;
}

static int wait_for(struct fake_driver *f)
{
    return f->running > 0 && f->running-- > 0 ? -ETIME : 0;
}

static int get_info(struct fake_driver *f, struct tw_xdna_info *i)
{
    void *to = (void *)(uintptr_t)i->buffer;
    if (i->query == TW_XDNA_QUERY_AIE_METADATA) {
        struct tw_xdna_aie_metadata m = {.columns = (uint16_t)f->columns, .rows = 6};
        memcpy(to, &m, i->bytes < sizeof m ? i->bytes : sizeof m);
    } else if (i->query == TW_XDNA_QUERY_FIRMWARE) {
        memcpy(to, &f->firmware, i->bytes < sizeof f->firmware ? i->bytes : sizeof f->firmware);
    } else {
        return -EOPNOTSUPP;
    }
    return 0;
}

static int get_array(struct fake_driver *f, struct tw_xdna_array *a)
{
    struct tw_xdna_context_entry *entries = (void *)(uintptr_t)a->buffer;
    if (a->query != TW_XDNA_ARRAY_CONTEXTS)
        return -EOPNOTSUPP;
    for (int i = 0; i < f->contexts_taken; i++)
        entries[i] = (struct tw_xdna_context_entry){.pid = 4000 + i, .columns = 1};
    a->elements = (uint32_t)f->contexts_taken;
    return 0;
}

static int dispatch(struct fake_driver *f, uint32_t number, void *argument)
{
    switch (number) {
    case TW_DRM_NUMBER_VERSION:
        return version(f, argument);
    case TW_DRM_NUMBER_GEM_CLOSE: {
        uint32_t handle = ((struct tw_drm_gem_close *)argument)->handle;
        struct fake_buffer *b = &f->buffers[handle];
        b->open = 0;
        if (f->n_gem_closed < FAKE_BUFFERS)
            f->gem_closed[f->n_gem_closed++] = handle;
        give_back(b);
        return 0;
    }
    case TW_DRM_NUMBER_TIMELINE_WAIT:
        return f->no_timeline ? -EOPNOTSUPP : wait_for(f);
    case TW_XDNA_NUMBER_WAIT:
        return f->no_wait ? -EOPNOTSUPP : wait_for(f);
    case TW_XDNA_NUMBER_CREATE_CONTEXT: {
        struct tw_xdna_create_context *c = argument;
        c->handle = ++f->contexts_open;
        c->syncobj = f->no_syncobj ? 0 : 40 + c->handle;
        f->context = *c;
        return 0;
    }
    case TW_XDNA_NUMBER_DESTROY_CONTEXT:
        f->contexts_open--;
        f->closed_before_context = f->n_gem_closed;
        return 0;
    case TW_XDNA_NUMBER_CONFIG_CONTEXT: {
        const struct tw_xdna_config_context *c = argument;
        memcpy(&f->cus, (const void *)(uintptr_t)c->value, c->bytes);
        return 0;
    }
    case TW_XDNA_NUMBER_CREATE_BUFFER:
        return create_buffer(f, argument);
    case TW_XDNA_NUMBER_BUFFER_INFO:
        return buffer_info(f, argument);
    case TW_XDNA_NUMBER_SYNC_BUFFER:
        f->syncs++;
        return 0;
    case TW_XDNA_NUMBER_EXECUTE:
        return execute(f, argument);
    case TW_XDNA_NUMBER_GET_INFO:
        return get_info(f, argument);
    case TW_XDNA_NUMBER_GET_ARRAY:
        return get_array(f, argument);
    default:
        return -ENOTTY;
    }
}

static int fake_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    struct fake_driver *f = context;
    uint32_t number = TW_IOCTL_NUMBER(request);
    (void)fd;
    if (f->interrupt > 0 && f->interrupt-- > 0)
        return -EINTR;
    if (f->n_log < FAKE_LOG)
        f->log[f->n_log++] = number;
    for (size_t i = 0; i < sizeof f->fail / sizeof f->fail[0]; i++) {
        if (f->fail[i].errno_value == 0 || f->fail[i].number != number)
            continue;
        if (f->fail[i].skip > 0)
            f->fail[i].skip--;
        else if (f->fail[i].times > 0 && f->fail[i].times-- > 0)
            return -f->fail[i].errno_value;
    }
    return dispatch(f, number, argument);
}

static int fake_mmap(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                     void **mapped)
{
    struct fake_driver *f = context;
    struct fake_buffer *b = fd >= 0 ? &f->buffers[offset >> 32] : NULL;
    flags = (flags & ~MAP_SHARED) | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(address, size, protection, flags, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    if (b != NULL) {
        b->data = p;
        b->mapped = 1;
        b->address = b->kind == TW_XDNA_HEAP ? TW_XDNA_HEAP_ADDRESS : (uint64_t)(uintptr_t)p;
        f->heap = b->kind == TW_XDNA_HEAP ? p : f->heap;
    }
    *mapped = p;
    return 0;
}

static int fake_munmap(void *context, void *address, size_t size)
{
    struct fake_driver *f = context;
    for (size_t i = 0; i < FAKE_BUFFERS; i++)
        if (f->buffers[i].mapped && f->buffers[i].data == address) {
            f->buffers[i].mapped = 0;
            give_back(&f->buffers[i]);
        }
    return munmap(address, size) == 0 ? 0 : -errno;
}

static int fake_flush(void *context, const void *address, size_t size)
{
    struct fake_driver *f = context;
    (void)address;
    (void)size;
    f->flushes++;
    return f->no_flush ? -EOPNOTSUPP : 0;
}

void fake_driver_create(struct fake_driver *f)
{
    *f = (struct fake_driver){.name = TW_XDNA_DRIVER_NAME,
                              .minor = 10,
                              .columns = TW_XDNA_COLUMNS,
                              .firmware = {1, 5, 5, 391},
                              .end_state = TW_PACKET_COMPLETED,
                              .closed = 1};
    f->calls = (struct tw_calls){.context = f,
                                 .open = fake_open,
                                 .ioctl = fake_ioctl,
                                 .mmap = fake_mmap,
                                 .munmap = fake_munmap,
                                 .close = fake_close,
                                 .flush = fake_flush};
}

unsigned fake_driver_leaks(const struct fake_driver *f)
{
    unsigned leaks = f->contexts_open + !f->closed;
    for (size_t i = 0; i < FAKE_BUFFERS; i++)
        leaks += f->buffers[i].kind != 0;
    return leaks;
}

unsigned fake_driver_count(const struct fake_driver *f, uint32_t number)
{
    unsigned n = 0;
    for (unsigned i = 0; i < f->n_log; i++)
        n += f->log[i] == number;
    return n;
}
