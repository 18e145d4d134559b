/* Mapping of buffers into the process: the first place that one gets is its address for the device. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "emu/driver/state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static int overlaps(const struct tw_drv_mapping *m, uint64_t address, uint64_t bytes)
{
    return m->address < address + bytes && address < m->address + m->bytes;
}

static void unlink_from_buffer(struct tw_drv_mapping *m)
{
    struct tw_drv_mapping **at = &m->buffer->mappings;
    while (*at != m)
        at = &(*at)->next_of_buffer;
    *at = m->next_of_buffer;
    if (m->buffer->mappings == NULL)
        m->buffer->host_address = TW_XDNA_NOWHERE;
}

/* The device loses what it saw through the mappings that lie there. */
static void forget(struct tw_emu_driver *driver, uint64_t address, uint64_t bytes)
{
    bytes = (bytes + DRV_PAGE - 1) / DRV_PAGE * DRV_PAGE;
    struct tw_drv_mapping **at = &driver->mappings;
    while (*at != NULL) {
        struct tw_drv_mapping *m = *at;
        if (!overlaps(m, address, bytes)) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        unlink_from_buffer(m);
        tw_drv_buffer_put(m->buffer);
        free(m);
    }
}

static void link_mapping(struct tw_emu_driver *driver, struct tw_drv_mapping *m)
{
    struct tw_drv_buffer *buffer = m->buffer;
    if (buffer->mappings == NULL)
        buffer->host_address = m->address;
    m->next_of_buffer = buffer->mappings;
    buffer->mappings = m;
    buffer->references++;
    m->next = driver->mappings;
    driver->mappings = m;
}

static int map_memory(void *address, size_t size, int protection, int flags, int fd, uint64_t offset, void **mapped)
{
    void *p = mmap(address, size, protection, flags, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return -errno;
    *mapped = p;
    return 0;
}

/* A buffer is mapped from its first byte on or not at all. */
static struct tw_drv_buffer *at_offset(const struct tw_drv_file *file, uint64_t offset)
{
    for (size_t i = 0; i < file->n_buffers; i++) {
        struct tw_drv_buffer *b = file->buffers[i];
        if (b != NULL && b->kind != TW_XDNA_DEVICE && !b->is_user_memory && DRV_MAP_OFFSET + b->place == offset)
            return b;
    }
    return NULL;
}

static int map_buffer(struct tw_drv_file *file, void *address, size_t size, int protection, int flags, uint64_t offset,
                      void **mapped)
{
    struct tw_emu_driver *driver = file->driver;
    struct tw_drv_buffer *buffer = at_offset(file, offset);
    if (buffer == NULL || size == 0 || size > buffer->bytes || !(flags & MAP_SHARED))
        return -EINVAL;
    struct tw_drv_mapping *m = malloc(sizeof *m);
    if (m == NULL)
        return -ENOMEM;
    int r = map_memory(address, size, protection, flags, file->memory_fd, buffer->place, mapped);
    if (r < 0) {
        free(m);
        return r;
    }
    uint64_t pages =
        (size + (uint64_t)DRV_PAGE - 1) / DRV_PAGE * DRV_PAGE; /* as buffers are: the system maps no less */
    *m = (struct tw_drv_mapping){.address = (uintptr_t)*mapped, .bytes = pages, .buffer = buffer};
    forget(driver, m->address, m->bytes);
    link_mapping(driver, m);
    return 0;
}

int tw_drv_mmap(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                void **mapped)
{
    struct tw_emu_driver *driver = context;
    int r;
    pthread_mutex_lock(&driver->lock);
    struct tw_drv_file *file = tw_drv_file_get(driver, fd);
    if (fd < 0) {
        r = map_memory(address, size, protection, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, offset, mapped);
        if (r == 0)
            forget(driver, (uintptr_t)*mapped, size);
    } else if (file == NULL) {
        r = -EBADF;
    } else {
        r = driver->removed ? -ENODEV : map_buffer(file, address, size, protection, flags, offset, mapped);
    }
    if (file != NULL)
        tw_drv_file_put(file);
    pthread_mutex_unlock(&driver->lock);
    return r;
}

int tw_drv_munmap(void *context, void *address, size_t size)
{
    struct tw_emu_driver *driver = context;
    pthread_mutex_lock(&driver->lock);
    int r = munmap(address, size) == 0 ? 0 : -errno;
    if (r == 0)
        forget(driver, (uintptr_t)address, size);
    pthread_mutex_unlock(&driver->lock);
    return r;
}

/* The part of [address, address + bytes) that lies at `at`. Returns whether there is one. */
static int common(uint64_t address, uint64_t bytes, uint64_t at, uint64_t room, uint64_t *offset, uint64_t *part)
{
    uint64_t first = address > at ? address : at;
    uint64_t end = address + bytes < at + room ? address + bytes : at + room;
    if (first >= end)
        return 0;
    *offset = first - at;
    *part = end - first;
    return 1;
}

static void flush_user_buffers(struct tw_emu_driver *driver, uint64_t address, uint64_t bytes)
{
    uint64_t offset;
    uint64_t part;
    for (struct tw_drv_file *file = driver->files; file != NULL; file = file->next)
        for (size_t i = 0; i < file->n_buffers; i++) {
            struct tw_drv_buffer *b = file->buffers[i];
            if (b != NULL && b->is_user_memory && common(address, bytes, b->host_address, b->bytes, &offset, &part))
                (void)tw_drv_memory_flush(b, offset, part);
        }
}

int tw_drv_flush(void *context, const void *address, size_t size)
{
    struct tw_emu_driver *driver = context;
    uint64_t from = (uintptr_t)address;
    uint64_t offset;
    uint64_t part;
    if (driver->options.coherent)
        return 0;
    if (size > UINT64_MAX - from)
        return -EINVAL;
    pthread_mutex_lock(&driver->lock);
    for (struct tw_drv_mapping *m = driver->mappings; m != NULL; m = m->next)
        if (common(from, size, m->address, m->bytes, &offset, &part))
            tw_drv_memory_flush(m->buffer, offset, part);
    flush_user_buffers(driver, from, size);
    pthread_mutex_unlock(&driver->lock);
    return 0;
}
