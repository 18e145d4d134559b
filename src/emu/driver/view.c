/*
 * What the device reaches of a process: the buffers that a command lists, where the process has them mapped. The array
 * sees the host's memory 2 GiB above its addresses.
 */
#include "emu/driver/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define HOST_OFFSET ((uint64_t)0x80000000u)

static void add(struct tw_drv_context *context, uint64_t address, uint64_t bytes, unsigned char *device)
{
    context->views[context->n_views++] = (struct tw_drv_view){address, bytes, device};
}

/* A device buffer is seen where its heap is mapped. */
static struct tw_drv_buffer *memory_of(struct tw_drv_buffer *buffer)
{
    return buffer->kind == TW_XDNA_DEVICE ? buffer->file->heap : buffer;
}

static size_t count_views(const struct tw_drv_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_arguments; i++) {
        n += (size_t)(job->arguments[i]->is_user_memory != 0);
        for (const struct tw_drv_mapping *m = memory_of(job->arguments[i])->mappings; m != NULL; m = m->next_of_buffer)
            n++;
    }
    return n;
}

static void add_buffer(struct tw_drv_context *context, struct tw_drv_buffer *buffer)
{
    const struct tw_drv_buffer *memory = memory_of(buffer);
    uint64_t first = buffer == memory ? 0 : buffer->place;
    if (buffer->is_user_memory)
        add(context, buffer->host_address, buffer->bytes, buffer->device);
    for (const struct tw_drv_mapping *m = memory->mappings; m != NULL; m = m->next_of_buffer)
        if (first < m->bytes) {
            uint64_t part = m->bytes - first < buffer->bytes ? m->bytes - first : buffer->bytes;
            add(context, m->address + first, part, memory->device + first);
        }
}

int tw_drv_views_make(struct tw_drv_job *job)
{
    struct tw_drv_context *context = job->context;
    context->n_views = 0;
    context->views = calloc(count_views(job) + 1, sizeof *context->views);
    if (context->views == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < job->n_arguments; i++) {
        tw_drv_memory_before(job->arguments[i]);
        add_buffer(context, job->arguments[i]);
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

/* Called for an access that fails, as find is. */
static void describe(void *arg, uint64_t address, char *text, size_t size)
{
    struct tw_drv_context *context = arg;
    (void)address;
    context->reached_beyond = 1;
    snprintf(text, size, "which is in no buffer that the command lists");
}

struct tw_host_memory tw_drv_views_memory(struct tw_drv_context *context)
{
    return (struct tw_host_memory){.arg = context, .find = find, .describe = describe};
}
