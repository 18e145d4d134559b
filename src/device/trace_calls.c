#include "device/trace_calls.h"

#include "device/trace_fields.h"
#include "uapi/amdxdna.h"
#include "uapi/packet.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS_MAX = 4096, COMMANDS_MAX = 64, PACKET_BYTES_MAX = 4096 };

/* A buffer that went by, so that addresses and handles can be told by what they belong to. */
struct seen_buffer {
    uint32_t handle; /* 0: none */
    uint64_t bytes, map_offset;
    const unsigned char *data; /* NULL: not mapped */
};

/* A command that was submitted, for its state after the wait. */
struct seen_command {
    uint32_t context;
    uint64_t sequence;
    const uint32_t *packet;
};

struct tw_trace {
    struct tw_calls inner;
    FILE *file;
    int failed; /* errno value of a line that could not be written; 0: none */
    pthread_mutex_t lock;
    struct seen_buffer buffers[BUFFERS_MAX];
    struct seen_command commands[COMMANDS_MAX];
    size_t n_commands;
    uint32_t context_of_syncobj[256]; /* by small handles, as the kernel gives them */
};

static struct seen_buffer *find_buffer(struct tw_trace *t, uint32_t handle)
{
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        if (t->buffers[i].handle == handle)
            return &t->buffers[i];
    return NULL;
}

static const struct seen_buffer *find_address(const struct tw_trace *t, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    const struct seen_buffer *best = NULL; /* the smallest: pieces of the heap lie inside it */
    for (size_t i = 0; i < BUFFERS_MAX; i++) {
        const struct seen_buffer *b = &t->buffers[i];
        int inside =
            b->handle != 0 && b->data != NULL && at >= (uintptr_t)b->data && at - (uintptr_t)b->data < b->bytes;
        if (inside && (best == NULL || b->bytes < best->bytes))
            best = b;
    }
    return best;
}

static void write_line(struct tw_trace *t, const struct tw_line *line)
{
    if ((fprintf(t->file, "%s\n", line->text) < 0 || fflush(t->file) != 0) && t->failed == 0)
        t->failed = errno != 0 ? errno : EIO;
}

static void add_result(struct tw_line *line, int result)
{
    char reason[128];
    if (result >= 0)
        return;
    if (strerror_r(-result, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", -result);
    tw_line_add(line, " (%s)", reason);
}

static int trace_open(void *context, const char *path, int flags)
{
    struct tw_trace *t = context;
    struct tw_line line = {.used = 0};
    int result = t->inner.open(t->inner.context, path, flags);
    pthread_mutex_lock(&t->lock);
    tw_line_add(&line, "open(%s) = %d", path, result);
    add_result(&line, result);
    write_line(t, &line);
    pthread_mutex_unlock(&t->lock);
    return result;
}

/* Before the call, as it shows what the kernel is about to change. */
static void add_command(struct tw_trace *t, struct tw_line *line, const struct tw_xdna_execute *e)
{
    const struct seen_buffer *b = find_buffer(t, (uint32_t)e->command);
    if (b != NULL && b->data != NULL)
        tw_trace_add_packet(line, (const uint32_t *)(const void *)b->data,
                            (size_t)(b->bytes < PACKET_BYTES_MAX ? b->bytes : PACKET_BYTES_MAX) / 4);
}

static void remember(struct tw_trace *t, uint32_t request, const void *argument)
{
    struct seen_buffer *b = NULL;
    if (request == TW_XDNA_CREATE_BUFFER && (b = find_buffer(t, 0)) != NULL) {
        const struct tw_xdna_create_buffer *create = argument;
        *b = (struct seen_buffer){.handle = create->handle, .bytes = create->bytes};
    } else if (request == TW_XDNA_BUFFER_INFO) {
        const struct tw_xdna_buffer_info *info = argument;
        if ((b = find_buffer(t, info->handle)) == NULL)
            return;
        b->map_offset = info->map_offset;
        if (info->map_offset == TW_XDNA_NOWHERE)
            b->data = (const unsigned char *)(uintptr_t)info->host_address;
    } else if (request == TW_XDNA_CREATE_CONTEXT) {
        const struct tw_xdna_create_context *create = argument;
        t->context_of_syncobj[create->syncobj % 256] = create->handle;
    } else if (request == TW_XDNA_EXECUTE) {
        const struct tw_xdna_execute *e = argument;
        b = find_buffer(t, (uint32_t)e->command);
        t->commands[t->n_commands++ % COMMANDS_MAX] =
            (struct seen_command){e->context, e->sequence, b != NULL ? (const uint32_t *)(const void *)b->data : NULL};
    }
}

static void forget(struct tw_trace *t, uint32_t handle)
{
    struct seen_buffer *b = find_buffer(t, handle);
    if (b == NULL)
        return;
    for (size_t i = 0; i < COMMANDS_MAX; i++)
        if (t->commands[i].packet == (const uint32_t *)(const void *)b->data)
            t->commands[i].packet = NULL;
    *b = (struct seen_buffer){0};
}

static void add_state(const struct tw_trace *t, struct tw_line *line, const struct tw_drm_timeline_wait *w)
{
    uint32_t syncobj = *(const uint32_t *)(uintptr_t)w->handles;
    uint64_t point = *(const uint64_t *)(uintptr_t)w->points;
    for (size_t i = 0; i < COMMANDS_MAX; i++) {
        const struct seen_command *c = &t->commands[i];
        if (c->packet == NULL || c->context != t->context_of_syncobj[syncobj % 256] || c->sequence != point)
            continue;
        uint32_t header = atomic_load((const _Atomic uint32_t *)(const void *)c->packet);
        tw_line_add(line, " state=%u(%s)", (unsigned)(header & TW_PACKET_STATE_MASK), tw_trace_state_name(header));
    }
}

static int trace_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    struct tw_trace *t = context;
    struct tw_line line = {.used = 0};
    const char *name = tw_trace_request_name(request);
    tw_line_add(&line, "ioctl(%d, ", fd);
    tw_line_add(&line, name != NULL ? "%s" : "?", name);
    tw_line_add(&line, " 0x%08x)", (unsigned)request);
    pthread_mutex_lock(&t->lock);
    tw_trace_add_fields(&line, request, argument, TW_TRACE_IN);
    tw_trace_add_pointed(&line, request, argument, TW_TRACE_IN);
    if (request == TW_XDNA_EXECUTE)
        add_command(t, &line, argument);
    if (request == TW_DRM_GEM_CLOSE)
        forget(t, ((const struct tw_drm_gem_close *)argument)->handle);
    pthread_mutex_unlock(&t->lock);
    int result = t->inner.ioctl(t->inner.context, fd, request, argument);
    tw_line_add(&line, " = %d", result);
    add_result(&line, result);
    pthread_mutex_lock(&t->lock);
    if (result == 0) {
        tw_trace_add_fields(&line, request, argument, TW_TRACE_OUT);
        tw_trace_add_pointed(&line, request, argument, TW_TRACE_OUT);
        remember(t, request, argument);
    }
    if (result == 0 && request == TW_DRM_TIMELINE_WAIT)
        add_state(t, &line, argument);
    write_line(t, &line);
    pthread_mutex_unlock(&t->lock);
    return result;
}

static void map_seen(struct tw_trace *t, uint64_t offset, const void *data)
{
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        if (t->buffers[i].handle != 0 && t->buffers[i].map_offset == offset)
            t->buffers[i].data = data;
}

static int trace_mmap(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                      void **mapped)
{
    struct tw_trace *t = context;
    struct tw_line line = {.used = 0};
    int result = t->inner.mmap(t->inner.context, address, size, protection, flags, fd, offset, mapped);
    pthread_mutex_lock(&t->lock);
    if (result == 0 && fd >= 0)
        map_seen(t, offset, *mapped);
    tw_line_add(&line, "mmap(%p, %zu, prot=%d, flags=0x%x, fd=%d, offset=0x%llx) = ", address, size, protection,
                (unsigned)flags, fd, (unsigned long long)offset);
    tw_line_add(&line, result == 0 ? "%p" : "error %p", result == 0 ? *mapped : NULL);
    add_result(&line, result);
    write_line(t, &line);
    pthread_mutex_unlock(&t->lock);
    return result;
}

static int trace_munmap(void *context, void *address, size_t size)
{
    struct tw_trace *t = context;
    struct tw_line line = {.used = 0};
    pthread_mutex_lock(&t->lock);
    tw_line_add(&line, "munmap(%p, %zu)", address, size);
    write_line(t, &line);
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        if (t->buffers[i].data == address) {
            t->buffers[i].map_offset = TW_XDNA_NOWHERE;
            forget(t, t->buffers[i].handle);
        }
    pthread_mutex_unlock(&t->lock);
    return t->inner.munmap(t->inner.context, address, size);
}

static int trace_close(void *context, int fd)
{
    struct tw_trace *t = context;
    struct tw_line line = {.used = 0};
    pthread_mutex_lock(&t->lock);
    tw_line_add(&line, "close(%d)", fd);
    write_line(t, &line);
    pthread_mutex_unlock(&t->lock);
    return t->inner.close(t->inner.context, fd);
}

static int trace_flush(void *context, const void *address, size_t size)
{
    struct tw_trace *t = context;
    struct tw_line line = {.used = 0};
    int result = t->inner.flush(t->inner.context, address, size);
    pthread_mutex_lock(&t->lock);
    const struct seen_buffer *b = find_address(t, address);
    tw_line_add(&line, "flush(%p, %zu)", address, size);
    if (b != NULL)
        tw_line_add(&line, " handle=%u offset=%zu", (unsigned)b->handle,
                    (size_t)((uintptr_t)address - (uintptr_t)b->data));
    add_result(&line, result);
    write_line(t, &line);
    pthread_mutex_unlock(&t->lock);
    return result;
}

int tw_trace_create(const char *path, const struct tw_calls *inner, struct tw_trace **trace, struct tw_error *err)
{
    struct tw_trace *t = calloc(1, sizeof *t);
    *trace = NULL;
    if (t == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a trace");
    t->inner = *inner;
    t->file = fopen(path, "we");
    if (t->file == NULL) {
        int reason = errno;
        free(t);
        return tw_fail_errno(err, TW_E_IO, reason, "the trace '%s' cannot be written", path);
    }
    pthread_mutex_init(&t->lock, NULL);
    *trace = t;
    return TW_OK;
}

struct tw_calls tw_trace_calls(struct tw_trace *trace)
{
    return (struct tw_calls){.context = trace,
                             .open = trace_open,
                             .ioctl = trace_ioctl,
                             .mmap = trace_mmap,
                             .munmap = trace_munmap,
                             .close = trace_close,
                             .flush = trace_flush};
}

int tw_trace_check(struct tw_trace *trace, struct tw_error *err)
{
    pthread_mutex_lock(&trace->lock);
    int failed = trace->failed;
    pthread_mutex_unlock(&trace->lock);
    return failed != 0 ? tw_fail_errno(err, TW_E_IO, failed, "the trace of calls cannot be written") : TW_OK;
}

void tw_trace_free(struct tw_trace *trace)
{
    if (trace == NULL)
        return;
    fclose(trace->file);
    pthread_mutex_destroy(&trace->lock);
    free(trace);
}
