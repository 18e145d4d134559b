#include "emu/buffers.h"

#include "emu/firmware.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Where the first buffer lies: a place among a process's mappings, since the driver uses virtual addresses of the
 * process. The 2 GiB that are added carry into the high word of a descriptor's address.
 */
#define FIRST_ADDRESS UINT64_C(0x7f34c0000000)
#define ADDRESS_END UINT64_C(0x800000000000)

enum { PAGE_BYTES = 4096 };

struct buffer {
    uint64_t address, size;
    unsigned char *bytes;
};

struct tw_buffers {
    size_t n;
    uint64_t next;
    struct buffer list[TW_BUFFERS_MAX]; /* by address */
};

int tw_buffers_create(struct tw_buffers **buffers, struct tw_error *err)
{
    struct tw_buffers *b = calloc(1, sizeof *b);
    *buffers = b;
    if (b == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the list of buffers");
    b->next = FIRST_ADDRESS;
    return TW_OK;
}

void tw_buffers_free(struct tw_buffers *buffers)
{
    if (buffers == NULL)
        return;
    for (size_t i = 0; i < buffers->n; i++)
        free(buffers->list[i].bytes);
    free(buffers);
}

int tw_buffers_add(struct tw_buffers *buffers, uint64_t size, uint64_t *address, unsigned char **bytes,
                   struct tw_error *err)
{
    if (size == 0)
        return tw_fail(err, TW_E_ARGUMENT, "a buffer cannot be empty");
    if (buffers->n == TW_BUFFERS_MAX)
        return tw_fail(err, TW_E_LIMIT, "there are %d buffers already, and no more can be had", TW_BUFFERS_MAX);
    if (size > ADDRESS_END - buffers->next - 2 * PAGE_BYTES || size > SIZE_MAX)
        return tw_fail(err, TW_E_LIMIT, "no addresses are left for a buffer of %" PRIu64 " bytes", size);
    unsigned char *memory = calloc(1, (size_t)size);
    if (memory == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a buffer of %" PRIu64 " bytes", size);
    buffers->list[buffers->n++] = (struct buffer){buffers->next, size, memory};
    *address = buffers->next;
    *bytes = memory;
    uint64_t pages = (size + PAGE_BYTES - 1) / PAGE_BYTES + 1; /* and one that is nobody's */
    buffers->next += pages * PAGE_BYTES;
    return TW_OK;
}

/* The last buffer that begins at or before an address. */
static const struct buffer *buffer_at(const struct tw_buffers *b, uint64_t address)
{
    size_t low = 0, high = b->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &b->list[low - 1] : NULL;
}

/* A tw_host_memory's find. */
static unsigned char *find(void *arg, uint64_t address, uint64_t size, int write)
{
    (void)write; /* the driver maps all buffers for both */
    if (address < TW_HOST_OFFSET)
        return NULL;
    const struct buffer *b = buffer_at(arg, address - TW_HOST_OFFSET);
    if (b == NULL)
        return NULL;
    uint64_t offset = address - TW_HOST_OFFSET - b->address;
    return offset <= b->size && size <= b->size - offset ? b->bytes + offset : NULL;
}

/* A tw_host_memory's describe: most such addresses lie behind a buffer that is too short. */
static void describe(void *arg, uint64_t address, char *text, size_t size)
{
    const struct buffer *b = address < TW_HOST_OFFSET ? NULL : buffer_at(arg, address - TW_HOST_OFFSET);
    if (b == NULL)
        snprintf(text, size, "before all buffers");
    else
        snprintf(text, size, "byte %" PRIu64 " of a buffer of %" PRIu64 " bytes", address - TW_HOST_OFFSET - b->address,
                 b->size);
}

struct tw_host_memory tw_buffers_host(struct tw_buffers *buffers)
{
    return (struct tw_host_memory){buffers, find, describe};
}
