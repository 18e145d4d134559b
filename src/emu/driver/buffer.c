/* Buffer objects: the heap, pieces of it, host memory, command packets. */
#include "emu/driver/state.h"
#include "emu/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tw_drv_buffer *tw_drv_buffer_find(const struct tw_drv_file *file, uint32_t handle)
{
    return handle != 0 && handle <= file->n_buffers ? file->buffers[handle - 1] : NULL;
}

static void count_use(struct tw_drv_buffer *buffer, int more)
{
    struct tw_drv_file *file = buffer->file;
    uint64_t bytes = more ? buffer->bytes : (uint64_t)0 - buffer->bytes;
    if (buffer->kind == TW_XDNA_DEVICE) {
        file->heap_bytes += bytes;
        return;
    }
    file->total_bytes += bytes;
    if (buffer->internal)
        file->internal_bytes += bytes;
}

static void free_host_memory(struct tw_drv_buffer *buffer)
{
    tw_drv_memory_free(buffer);
    if (buffer->host == NULL)
        return;
    munmap(buffer->host, (size_t)buffer->bytes);
    tw_ranges_give(&buffer->file->memory, buffer->place);
}

void tw_drv_buffer_put(struct tw_drv_buffer *buffer)
{
    if (buffer == NULL || --buffer->references > 0)
        return;
    struct tw_drv_file *file = buffer->file;
    count_use(buffer, 0);
    if (buffer->kind == TW_XDNA_DEVICE) {
        struct tw_drv_buffer *heap = file->heap;
        tw_ranges_give(&file->heap_space, buffer->place);
        free(buffer);
        tw_drv_buffer_put(heap);
    } else {
        free_host_memory(buffer);
        free(buffer);
    }
    tw_drv_file_release(file);
}

static struct tw_drv_buffer *new_buffer(struct tw_drv_file *file, enum tw_xdna_buffer_kind kind, uint64_t bytes)
{
    struct tw_drv_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    buffer->file = file;
    buffer->references = 1;
    buffer->internal = kind != TW_XDNA_SHARE;
    buffer->kind = kind == TW_XDNA_COMMAND ? TW_XDNA_SHARE : kind;
    buffer->bytes = bytes;
    buffer->host_address = TW_XDNA_NOWHERE;
    file->references++;
    return buffer;
}

/* Room in the file's memory, which is zero: it is a new end of the file, or is cleared. */
static int take_memory(struct tw_drv_buffer *buffer)
{
    struct tw_drv_file *file = buffer->file;
    if (tw_ranges_take(&file->memory, buffer->bytes, DRV_PAGE, &buffer->place) < 0)
        return -ENOMEM;
    uint64_t end = buffer->place + buffer->bytes;
    uint64_t old = file->memory_bytes;
    if (end > old && ftruncate(file->memory_fd, (off_t)end) == 0)
        file->memory_bytes = end;
    void *p = end > file->memory_bytes ? MAP_FAILED
                                       : mmap(NULL, (size_t)buffer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                              file->memory_fd, (off_t)buffer->place);
    if (p == MAP_FAILED) {
        tw_ranges_give(&file->memory, buffer->place);
        return -ENOMEM;
    }
    buffer->host = p;
    if (buffer->place < old)
        memset(buffer->host, 0, (size_t)(end < old ? buffer->bytes : old - buffer->place));
    return 0;
}

static int page_size(uint64_t bytes, uint64_t *pages)
{
    if (bytes == 0)
        return -EINVAL;
    if (bytes > DRV_BUFFER_MAX)
        return -ENOMEM;
    *pages = (bytes + DRV_PAGE - 1) / DRV_PAGE * DRV_PAGE;
    return 0;
}

static int create_host_buffer(struct tw_drv_file *file, enum tw_xdna_buffer_kind kind, uint64_t bytes,
                              struct tw_drv_buffer **made)
{
    uint64_t whole;
    int r = page_size(bytes, &whole);
    if (r < 0)
        return r;
    struct tw_drv_buffer *buffer = new_buffer(file, kind, whole);
    if (buffer == NULL)
        return -ENOMEM;
    count_use(buffer, 1);
    r = take_memory(buffer);
    if (r == 0)
        r = tw_drv_memory_create(buffer);
    if (r < 0) {
        tw_drv_buffer_put(buffer);
        return r;
    }
    *made = buffer;
    return 0;
}

static int create_heap(struct tw_drv_file *file, uint64_t bytes, struct tw_drv_buffer **made)
{
    struct tw_emu_driver *driver = file->driver;
    if (bytes == 0 || bytes % TW_XDNA_HEAP_BYTES != 0) {
        tw_drv_log(driver, "a heap of %llu bytes: it must be 64 MiB", (unsigned long long)bytes);
        return -EINVAL;
    }
    if (file->heap != NULL) {
        tw_drv_log(driver, "a second heap: one file has one");
        return -EOPNOTSUPP;
    }
    if (bytes > TW_XDNA_HEAP_BYTES) {
        tw_drv_log(driver, "a heap of %llu bytes: it must be 64 MiB", (unsigned long long)bytes);
        return -ENOSPC;
    }
    int r = create_host_buffer(file, TW_XDNA_HEAP, bytes, made);
    if (r < 0)
        return r;
    file->heap = *made;
    file->heap->references++;
    return 0;
}

int tw_drv_buffer_in_heap(struct tw_drv_file *file, uint64_t bytes, struct tw_drv_buffer **made)
{
    uint64_t whole;
    uint64_t place;
    if (bytes > TW_XDNA_HEAP_BYTES || page_size(bytes, &whole) < 0)
        return -EINVAL;
    int r = tw_ranges_take(&file->heap_space, whole, TW_XDNA_DEVICE_ALIGN, &place);
    if (r < 0)
        return r;
    struct tw_drv_buffer *buffer = NULL;
    if (file->heap == NULL || file->heap->host_address == TW_XDNA_NOWHERE) {
        tw_drv_log(file->driver, "a device buffer before the heap is %s", file->heap == NULL ? "there" : "mapped");
        r = -EAGAIN;
    } else if ((buffer = new_buffer(file, TW_XDNA_DEVICE, whole)) == NULL) {
        r = -ENOMEM;
    }
    if (r < 0) {
        tw_ranges_give(&file->heap_space, place);
        return r;
    }
    buffer->place = place;
    buffer->host_address = file->heap->host_address + place;
    file->heap->references++;
    count_use(buffer, 1);
    *made = buffer;
    return 0;
}

/* Ranges of user memory; without an IOMMU's own addresses they have to follow each other. */
static int read_ranges(struct tw_emu_driver *driver, uint64_t at, uint32_t n, uint64_t *address, uint64_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct tw_xdna_user_range range;
        if (tw_drv_from_user(driver, &range, at + (uint64_t)i * sizeof range, sizeof range) < 0)
            return -EINVAL;
        if (range.address % DRV_PAGE != 0 || range.bytes % DRV_PAGE != 0 || range.bytes == 0)
            return -EINVAL;
        if (i == 0)
            *address = range.address;
        else if (range.address != *address + *bytes)
            return -EINVAL;
        if (range.bytes > DRV_BUFFER_MAX - *bytes)
            return -ENOMEM;
        *bytes += range.bytes;
    }
    return 0;
}

/* Whether every page can be read and written. */
static int probe(struct tw_emu_driver *driver, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; at != address + bytes; at += DRV_PAGE) {
        unsigned char byte;
        if (tw_drv_from_user(driver, &byte, at, 1) < 0 || tw_drv_to_user(driver, at, &byte, 1) < 0)
            return -EFAULT;
    }
    return 0;
}

static int create_user_buffer(struct tw_drv_file *file, const struct tw_xdna_create_buffer *args,
                              struct tw_drv_buffer **made)
{
    struct tw_emu_driver *driver = file->driver;
    struct tw_xdna_user_memory table;
    uint64_t address = 0;
    uint64_t bytes;
    if (tw_drv_from_user(driver, &table, args->memory, sizeof table) < 0)
        return -EINVAL;
    if (table.ranges == 0) {
        if (table.dma_buf < 0)
            return -EBADF;
        tw_drv_log(driver, "memory shared as a dma-buf is not modelled");
        return -EOPNOTSUPP;
    }
    if (driver->options.lock_limit_zero)
        return -EPERM;
    int r = read_ranges(driver, args->memory + sizeof table, table.ranges, &address, &bytes);
    if (r == 0)
        r = probe(driver, address, bytes);
    if (r < 0)
        return r;
    struct tw_drv_buffer *buffer = new_buffer(file, (enum tw_xdna_buffer_kind)args->kind, bytes);
    if (buffer == NULL)
        return -ENOMEM;
    count_use(buffer, 1);
    buffer->is_user_memory = 1;
    buffer->host_address = address;
    r = tw_drv_memory_create(buffer);
    if (r < 0) {
        tw_drv_buffer_put(buffer);
        return r;
    }
    *made = buffer;
    return 0;
}

static int new_handle(struct tw_drv_file *file, struct tw_drv_buffer *buffer, uint32_t *handle)
{
    size_t i = 0;
    while (i < file->n_buffers && file->buffers[i] != NULL)
        i++;
    if (i == file->n_buffers) {
        struct tw_drv_buffer **more = realloc(file->buffers, (i + 1) * sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        file->buffers = more;
        file->n_buffers++;
    }
    file->buffers[i] = buffer;
    *handle = (uint32_t)i + 1;
    return 0;
}

int tw_drv_create_buffer(struct tw_drv_file *file, void *argument)
{
    struct tw_xdna_create_buffer *args = argument;
    struct tw_drv_buffer *buffer = NULL;
    int r;
    if (args->flags != 0)
        return -EINVAL;
    if (tw_fault_hits(file->driver->options.faults, TW_FAULT_MEMORY)) {
        tw_drv_log(file->driver, "no memory for a buffer of %llu bytes, a fault on purpose",
                   (unsigned long long)args->bytes);
        return -ENOMEM;
    }
    switch (args->kind) {
    case TW_XDNA_SHARE:
    case TW_XDNA_COMMAND:
        r = args->memory != 0 ? create_user_buffer(file, args, &buffer)
                              : create_host_buffer(file, (enum tw_xdna_buffer_kind)args->kind, args->bytes, &buffer);
        break;
    case TW_XDNA_HEAP:
        r = create_heap(file, args->bytes, &buffer);
        break;
    case TW_XDNA_DEVICE:
        r = tw_drv_buffer_in_heap(file, args->bytes, &buffer);
        break;
    default:
        return -EINVAL;
    }
    if (r < 0)
        return r;
    r = new_handle(file, buffer, &args->handle);
    if (r < 0)
        tw_drv_buffer_put(buffer);
    return r;
}

uint64_t tw_drv_device_address(const struct tw_drv_buffer *buffer)
{
    switch (buffer->kind) {
    case TW_XDNA_HEAP:
        return TW_XDNA_HEAP_ADDRESS;
    case TW_XDNA_DEVICE:
        return TW_XDNA_HEAP_ADDRESS + buffer->place;
    default:
        return buffer->host_address; /* the device walks the process's page tables */
    }
}

int tw_drv_buffer_info(struct tw_drv_file *file, void *argument)
{
    struct tw_xdna_buffer_info *args = argument;
    if (args->extension != 0 || args->extension_flags != 0 || args->pad != 0)
        return -EINVAL;
    const struct tw_drv_buffer *buffer = tw_drv_buffer_find(file, args->handle);
    if (buffer == NULL)
        return -ENOENT;
    int mappable = buffer->kind != TW_XDNA_DEVICE && !buffer->is_user_memory;
    args->map_offset = mappable ? DRV_MAP_OFFSET + buffer->place : TW_XDNA_NOWHERE;
    args->host_address = buffer->host_address;
    args->device_address = tw_drv_device_address(buffer);
    return 0;
}

static int flush_part(struct tw_drv_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    if (buffer->is_user_memory)
        return -EOPNOTSUPP;
    if (offset >= buffer->bytes || bytes > UINT64_MAX - offset)
        return -EINVAL;
    if (bytes > buffer->bytes - offset)
        bytes = buffer->bytes - offset;
    if (buffer->kind == TW_XDNA_DEVICE)
        return tw_drv_memory_flush(buffer->file->heap, buffer->place + offset, bytes);
    return tw_drv_memory_flush(buffer, offset, bytes);
}

/* From the device it flushes as well, and then asks the firmware for a debug buffer: all others fail here. Drivers that
 * know no debug buffers do not ask. */
int tw_drv_sync_buffer(struct tw_drv_file *file, void *argument)
{
    const struct tw_xdna_sync_buffer *args = argument;
    struct tw_drv_buffer *buffer = tw_drv_buffer_find(file, args->handle);
    if (buffer == NULL)
        return -ENOENT;
    int r = flush_part(buffer, args->offset, args->bytes);
    if (r < 0 || args->direction != TW_XDNA_FROM_DEVICE || !tw_drv_personality(file->driver)->debug_buffers)
        return r;
    struct tw_drv_context *context = tw_drv_context_find(file, buffer->debug_context);
    if (context == NULL)
        return -EINVAL;
    tw_drv_context_count(context);
    return 0;
}

int tw_drv_gem_close(struct tw_drv_file *file, void *argument)
{
    const struct tw_drm_gem_close *args = argument;
    struct tw_drv_buffer *buffer = tw_drv_buffer_find(file, args->handle);
    if (buffer == NULL)
        return -EINVAL;
    file->buffers[args->handle - 1] = NULL;
    tw_drv_buffer_put(buffer);
    return 0;
}
