#include "device/kernel_buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static const char *kind_name(enum tw_xdna_buffer_kind kind)
{
    switch (kind) {
    case TW_XDNA_SHARE:
        return "a shared buffer";
    case TW_XDNA_HEAP:
        return "the NPU's heap";
    case TW_XDNA_DEVICE:
        return "a buffer in the NPU's heap";
    case TW_XDNA_COMMAND:
        return "a command buffer";
    }
    return "a buffer";
}

static int create(const struct tw_driver_file *file, enum tw_xdna_buffer_kind kind, size_t bytes,
                  struct tw_kernel_buffer *buffer, struct tw_error *err)
{
    *buffer = (struct tw_kernel_buffer){.bytes = bytes};
    struct tw_xdna_create_buffer create = {.bytes = bytes, .kind = kind};
    int result = tw_driver_call(file, TW_XDNA_CREATE_BUFFER, &create);
    if (result < 0 && kind == TW_XDNA_HEAP && bytes != TW_XDNA_HEAP_BYTES)
        return tw_fail(err, TW_E_HEAP_SIZE, "the NPU's heap has %d bytes, not %zu", TW_XDNA_HEAP_BYTES, bytes);
    if ((result == -EINVAL || result == -EOPNOTSUPP) && kind == TW_XDNA_HEAP)
        return tw_fail(err, TW_E_HEAP, "the driver gives no heap of %zu bytes; this open file may have one already",
                       bytes);
    if (result < 0)
        return tw_driver_fail(err, TW_XDNA_CREATE_BUFFER, result, "%s of %zu bytes cannot be made", kind_name(kind),
                              bytes);
    buffer->handle = create.handle;
    return TW_OK;
}

static int ask(const struct tw_driver_file *file, uint32_t handle, struct tw_xdna_buffer_info *info,
               struct tw_error *err)
{
    *info = (struct tw_xdna_buffer_info){.handle = handle};
    int result = tw_driver_call(file, TW_XDNA_BUFFER_INFO, info);
    if (result < 0)
        return tw_driver_fail(err, TW_XDNA_BUFFER_INFO, result, "the driver does not say where a buffer lies");
    return TW_OK;
}

/* Maps a buffer, at an address or (NULL) anywhere. Its address for the NPU is known only afterwards. */
static int map(const struct tw_driver_file *file, void *address, struct tw_kernel_buffer *buffer, struct tw_error *err)
{
    struct tw_xdna_buffer_info info;
    int code = ask(file, buffer->handle, &info, err);
    if (code < 0)
        return code;
    if (info.map_offset == TW_XDNA_NOWHERE)
        return tw_fail(err, TW_E_UNMAPPED, "the driver gives no place to map a buffer of %zu bytes from",
                       buffer->bytes);
    const struct tw_calls *calls = &file->calls;
    void *mapped = NULL;
    int flags = MAP_SHARED | (address != NULL ? MAP_FIXED : 0);
    int result = calls->mmap(calls->context, address, buffer->bytes, PROT_READ | PROT_WRITE, flags, file->fd,
                             info.map_offset, &mapped);
    if (result < 0)
        return tw_fail_errno(err, result == -EINVAL ? TW_E_UNMAPPED : TW_E_MEMORY, -result,
                             "a buffer of %zu bytes cannot be mapped", buffer->bytes);
    buffer->data = mapped;
    buffer->mapped = 1;
    code = ask(file, buffer->handle, &info, err);
    /* Drivers that share the page tables of the process may leave the address to us: it is the one just mapped. */
    buffer->device_address = info.device_address != TW_XDNA_NOWHERE ? info.device_address : (uint64_t)(uintptr_t)mapped;
    return code;
}

int tw_kernel_buffer_create(const struct tw_driver_file *file, enum tw_xdna_buffer_kind kind, size_t bytes,
                            struct tw_kernel_buffer *buffer, struct tw_error *err)
{
    int code = create(file, kind, bytes, buffer, err);
    if (code == 0)
        code = map(file, NULL, buffer, err);
    /* The kernel has zeroed the pages: lines still in a cache would later land on what the NPU has written. */
    if (code == 0 && kind == TW_XDNA_SHARE)
        code = tw_kernel_buffer_flush(file, buffer, 0, bytes, err);
    if (code < 0)
        tw_kernel_buffer_destroy(file, buffer);
    return code;
}

/* Finds a new buffer in the mapped heap. */
static int place_in_heap(const struct tw_driver_file *file, const struct tw_kernel_buffer *heap,
                         struct tw_kernel_buffer *buffer, struct tw_error *err)
{
    struct tw_xdna_buffer_info info;
    int code = ask(file, buffer->handle, &info, err);
    if (code < 0)
        return code;
    uint64_t offset = info.device_address - TW_XDNA_HEAP_ADDRESS;
    if (offset > TW_XDNA_HEAP_BYTES || buffer->bytes > TW_XDNA_HEAP_BYTES - offset)
        return tw_fail(err, TW_E_HEAP, "the driver says that a buffer of %zu bytes in the NPU's heap lies at 0x%llx",
                       buffer->bytes, (unsigned long long)info.device_address);
    buffer->device_address = info.device_address;
    buffer->data = heap->data + offset;
    return TW_OK;
}

int tw_kernel_buffer_upload(const struct tw_driver_file *file, const struct tw_kernel_buffer *heap, const void *data,
                            size_t bytes, struct tw_kernel_buffer *buffer, struct tw_error *err)
{
    int code = create(file, TW_XDNA_DEVICE, bytes, buffer, err);
    if (code == 0)
        code = place_in_heap(file, heap, buffer, err);
    if (code == 0) {
        memcpy(buffer->data, data, bytes);
        code = tw_kernel_buffer_flush(file, buffer, 0, bytes, err);
    }
    if (code < 0)
        tw_kernel_buffer_destroy(file, buffer);
    return code;
}

void tw_kernel_buffer_destroy(const struct tw_driver_file *file, struct tw_kernel_buffer *buffer)
{
    if (buffer->mapped)
        file->calls.munmap(file->calls.context, buffer->data, buffer->bytes);
    if (buffer->handle != 0) {
        struct tw_drm_gem_close close = {.handle = buffer->handle};
        tw_driver_call(file, TW_DRM_GEM_CLOSE, &close);
    }
    *buffer = (struct tw_kernel_buffer){0};
}

int tw_kernel_buffer_flush(const struct tw_driver_file *file, const struct tw_kernel_buffer *buffer, size_t offset,
                           size_t size, struct tw_error *err)
{
    if (size == 0)
        return TW_OK;
    int result = file->calls.flush(file->calls.context, buffer->data + offset, size);
    if (result != -EOPNOTSUPP)
        return result < 0 ? tw_fail_errno(err, TW_E_IO, -result, "%zu bytes cannot be flushed", size) : TW_OK;
    /* Always in the direction of the device: the other one flushes too, and then fails. */
    struct tw_xdna_sync_buffer sync = {
        .handle = buffer->handle, .direction = TW_XDNA_TO_DEVICE, .offset = offset, .bytes = size};
    result = tw_driver_call(file, TW_XDNA_SYNC_BUFFER, &sync);
    return result < 0 ? tw_driver_fail(err, TW_XDNA_SYNC_BUFFER, result, "%zu bytes cannot be flushed", size) : TW_OK;
}

/*
 * *aligned = address space for the heap at a multiple of its size: twice as much holds such a place, and what is around
 * it is given back at once.
 */
static int reserve(const struct tw_driver_file *file, void **aligned, struct tw_error *err)
{
    const struct tw_calls *calls = &file->calls;
    size_t bytes = (size_t)2 * TW_XDNA_HEAP_BYTES;
    void *reserved = NULL;
    int result = calls->mmap(calls->context, NULL, bytes, PROT_NONE, MAP_PRIVATE, -1, 0, &reserved);
    if (result < 0)
        return tw_fail_errno(err, TW_E_MEMORY, -result, "no %zu bytes of address space for the NPU's heap", bytes);
    size_t over = (uintptr_t)reserved % TW_XDNA_HEAP_BYTES;
    size_t before = over == 0 ? 0 : TW_XDNA_HEAP_BYTES - over;
    size_t after = bytes - before - TW_XDNA_HEAP_BYTES;
    unsigned char *first = reserved;
    if (before > 0)
        calls->munmap(calls->context, first, before);
    if (after > 0)
        calls->munmap(calls->context, first + before + TW_XDNA_HEAP_BYTES, after);
    *aligned = first + before;
    return TW_OK;
}

int tw_heap_create(const struct tw_driver_file *file, struct tw_kernel_buffer *heap, struct tw_error *err)
{
    void *aligned = NULL;
    int code = create(file, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES, heap, err);
    if (code == 0)
        code = reserve(file, &aligned, err);
    if (code == 0)
        code = map(file, aligned, heap, err);
    if (code < 0 && aligned != NULL && !heap->mapped)
        file->calls.munmap(file->calls.context, aligned, TW_XDNA_HEAP_BYTES);
    if (code < 0)
        tw_kernel_buffer_destroy(file, heap);
    return code;
}
