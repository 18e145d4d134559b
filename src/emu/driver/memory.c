/*
 * Two views of one memory, as the NPU has them: the processor sees its cache, the device what has been written back. A
 * line is dirty when it no longer holds what it held when both last agreed, or when the kernel has only just zeroed it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "emu/driver/state.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Zeros that take no room until they are touched: most of a heap never is. NULL: there is no memory. */
static unsigned char *take_zeros(uint64_t bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

static void give_zeros(unsigned char *memory, uint64_t bytes)
{
    if (memory != NULL)
        munmap(memory, (size_t)bytes);
}

static uint64_t marks(const struct tw_drv_buffer *buffer)
{
    return buffer->bytes / DRV_LINE / 8 + 1;
}

int tw_drv_memory_create(struct tw_drv_buffer *buffer)
{
    if (buffer->file->driver->options.coherent && !buffer->is_user_memory) {
        buffer->device = buffer->host;
        return 0;
    }
    buffer->device = take_zeros(buffer->bytes);
    buffer->clean = take_zeros(buffer->bytes);
    buffer->settled = take_zeros(marks(buffer));
    if (buffer->device == NULL || buffer->clean == NULL || buffer->settled == NULL)
        return -ENOMEM;
    return 0;
}

void tw_drv_memory_free(struct tw_drv_buffer *buffer)
{
    if (buffer->device != buffer->host)
        give_zeros(buffer->device, buffer->bytes);
    give_zeros(buffer->clean, buffer->bytes);
    give_zeros(buffer->settled, marks(buffer));
}

/* One line, `host` being the processor's bytes of it. Returns whether these have changed. */
static int flush_line(struct tw_drv_buffer *buffer, uint64_t offset, unsigned char *host)
{
    uint64_t line = offset / DRV_LINE;
    unsigned char *mark = &buffer->settled[line / 8];
    unsigned char bit = (unsigned char)(1u << line % 8);
    unsigned char *device = buffer->device + offset;
    unsigned char *clean = buffer->clean + offset;
    int changed = 0;
    int is_new = !(*mark & bit) && !buffer->is_user_memory;
    if (is_new || memcmp(host, clean, DRV_LINE) != 0) {
        memcpy(device, host, DRV_LINE);
    } else if (memcmp(host, device, DRV_LINE) != 0) {
        memcpy(host, device, DRV_LINE);
        changed = 1;
    }
    *mark |= bit;
    memcpy(clean, device, DRV_LINE);
    return changed;
}

static int flush_user_page(struct tw_drv_buffer *buffer, uint64_t page, uint64_t first, uint64_t end)
{
    struct tw_emu_driver *driver = buffer->file->driver;
    unsigned char bytes[DRV_PAGE];
    int r = tw_drv_from_user(driver, bytes, buffer->host_address + page, DRV_PAGE);
    if (r < 0)
        return r;
    for (uint64_t line = first; line < end; line += DRV_LINE) {
        unsigned char *host = bytes + (line - page);
        if (flush_line(buffer, line, host))
            r = tw_drv_to_user(driver, buffer->host_address + line, host, DRV_LINE);
        if (r < 0)
            return r;
    }
    return 0;
}

int tw_drv_memory_flush(struct tw_drv_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    if (buffer->clean == NULL || bytes == 0)
        return 0;
    uint64_t first = offset / DRV_LINE * DRV_LINE;
    uint64_t end = (offset + bytes + DRV_LINE - 1) / DRV_LINE * DRV_LINE; /* buffers are whole pages */
    if (!buffer->is_user_memory) {
        for (uint64_t line = first; line < end; line += DRV_LINE)
            flush_line(buffer, line, buffer->host + line);
        return 0;
    }
    while (first < end) {
        uint64_t page = first / DRV_PAGE * DRV_PAGE;
        uint64_t stop = page + DRV_PAGE < end ? page + DRV_PAGE : end;
        int r = flush_user_page(buffer, page, first, stop);
        if (r < 0)
            return r;
        first = stop;
    }
    return 0;
}

void tw_drv_memory_store(struct tw_drv_buffer *buffer, uint64_t offset, const void *from, size_t bytes)
{
    memcpy(buffer->host + offset, from, bytes);
    tw_drv_memory_flush(buffer, offset, bytes);
}

/*
 * User memory that both see the same: the device works on a copy, as pages cannot be held here, and what it changed
 * goes back when the command is over. Addresses that have gone meanwhile are nobody's any more.
 */
static void exchange(struct tw_drv_buffer *buffer)
{
    if (buffer->is_user_memory && buffer->file->driver->options.coherent)
        (void)tw_drv_memory_flush(buffer, 0, buffer->bytes);
}

void tw_drv_memory_before(struct tw_drv_buffer *buffer)
{
    exchange(buffer);
}

void tw_drv_memory_after(struct tw_drv_buffer *buffer)
{
    exchange(buffer);
}
