#include "device/device.h"

#include <stdlib.h>

int tw_buffer_create(struct tw_device *device, size_t bytes, struct tw_buffer **buffer, struct tw_error *err)
{
    *buffer = NULL;
    if (bytes == 0)
        return tw_fail(err, TW_E_ARGUMENT, "a buffer of no bytes was asked for");
    struct tw_buffer *b = calloc(1, sizeof *b);
    if (b == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a buffer");
    int code = tw_kernel_buffer_create(&device->file, TW_XDNA_SHARE, bytes, &b->memory, err);
    if (code < 0) {
        free(b);
        return code;
    }
    atomic_init(&b->references, 1);
    b->device = tw_device_take(device);
    *buffer = b;
    return TW_OK;
}

void *tw_buffer_data(const struct tw_buffer *buffer)
{
    return buffer->memory.data;
}

size_t tw_buffer_size(const struct tw_buffer *buffer)
{
    return buffer->memory.bytes;
}

/* Lines that were written go to memory, and all are forgotten: the same serves both directions. */
static int flush(const struct tw_buffer *b, size_t offset, size_t size, struct tw_error *err)
{
    if (offset > b->memory.bytes || size > b->memory.bytes - offset)
        return tw_fail(err, TW_E_ARGUMENT, "%zu bytes from %zu on are not inside a buffer of %zu bytes", size, offset,
                       b->memory.bytes);
    return tw_kernel_buffer_flush(&b->device->file, &b->memory, offset, size, err);
}

int tw_buffer_to_npu(const struct tw_buffer *buffer, size_t offset, size_t size, struct tw_error *err)
{
    return flush(buffer, offset, size, err);
}

int tw_buffer_from_npu(const struct tw_buffer *buffer, size_t offset, size_t size, struct tw_error *err)
{
    return flush(buffer, offset, size, err);
}

struct tw_buffer *tw_buffer_take(struct tw_buffer *buffer)
{
    tw_reference_take(&buffer->references);
    return buffer;
}

void tw_buffer_destroy(struct tw_buffer *buffer)
{
    if (buffer == NULL || !tw_reference_drop(&buffer->references))
        return;
    tw_kernel_buffer_destroy(&buffer->device->file, &buffer->memory);
    tw_device_close(buffer->device);
    free(buffer);
}
