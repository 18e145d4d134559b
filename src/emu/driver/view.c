/*
 * What the device reaches of a process: the buffers that a command lists, where the process has them mapped. The array
 * sees the host's memory 2 GiB above its addresses.
 */
#include "emu/driver/state.h"

#include <errno.h>
#include <stdlib.h>

#define HOST_OFFSET ((uint64_t)0x80000000u)

static void add(struct tw_drv_context *context, uint64_t address, uint64_t bytes, unsigned char *device)
{
    context->views[context->n_views++] = (struct tw_drv_view){address, bytes, device};
}

/* A device buffer is seen through the mappings of its heap. */
static void add_mapping(struct tw_drv_context *context, const struct tw_drv_mapping *m, const struct tw_drv_buffer *b)
{
    uint64_t first = b->kind == TW_XDNA_DEVICE ? b->place : 0;
    const struct tw_drv_buffer *memory = b->kind == TW_XDNA_DEVICE ? b->file->heap : b;
    if (m->buffer == memory && first + b->bytes <= m->bytes)
        add(context, m->address + first, b->bytes, memory->device + first);
    else if (m->buffer == b)
        add(context, m->address, m->bytes, b->device);
}

int tw_drv_views_make(struct tw_drv_job *job)
{
    struct tw_drv_context *context = job->context;
    const struct tw_drv_mapping *mappings = context->file->driver->mappings;
    size_t n = 1;
    for (size_t i = 0; i < job->n_arguments; i++)
        n += job->arguments[i]->is_user_memory;
    for (const struct tw_drv_mapping *m = mappings; m != NULL; m = m->next)
        n += job->n_arguments;
    context->n_views = 0;
    context->views = calloc(n, sizeof *context->views);
    if (context->views == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < job->n_arguments; i++) {
        struct tw_drv_buffer *b = job->arguments[i];
        tw_drv_memory_before(b);
        if (b->is_user_memory)
            add(context, b->host_address, b->bytes, b->device);
        for (const struct tw_drv_mapping *m = mappings; m != NULL; m = m->next)
            add_mapping(context, m, b);
    }
    return 0;
}

void tw_drv_views_drop(struct tw_drv_context *context)
{
    free(context->views);
    context->views = NULL;
    context->n_views = 0;
}

/* Called while the lock is not held: nobody else touches the views of a running command. */
static unsigned char *find(void *arg, uint64_t address, uint64_t size, int write)
{
    const struct tw_drv_context *context = arg;
    (void)write;
    if (address < HOST_OFFSET)
        return NULL;
    address -= HOST_OFFSET;
    for (size_t i = 0; i < context->n_views; i++) {
        const struct tw_drv_view *v = &context->views[i];
        if (address >= v->address && address - v->address < v->bytes && size <= v->bytes - (address - v->address))
            return v->device + (address - v->address);
    }
    return NULL;
}

struct tw_host_memory tw_drv_views_memory(struct tw_drv_context *context)
{
    return (struct tw_host_memory){.arg = context, .find = find};
}
