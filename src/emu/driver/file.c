/* Open files of the node: each has buffers, contexts and time of its own. */
#include "base/shared_memory.h"
#include "emu/driver/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_node[] = "/dev/accel/accel0";

static void free_file(struct tw_drv_file *file)
{
    tw_ranges_free(&file->memory);
    tw_ranges_free(&file->heap_space);
    if (file->memory_fd >= 0)
        close(file->memory_fd);
    free(file->buffers);
    free(file->timelines);
    free(file);
}

static int new_file(struct tw_emu_driver *driver, struct tw_drv_file **made)
{
    struct tw_drv_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return -ENOMEM;
    file->driver = driver;
    file->references = 1;
    file->pid = getpid();
    file->memory_fd = tw_shared_memory_create(NULL);
    if (file->memory_fd < 0 || tw_ranges_create(&file->memory, DRV_MEMORY_SPACE) < 0 ||
        tw_ranges_create(&file->heap_space, TW_XDNA_HEAP_BYTES) < 0) {
        free_file(file);
        return -ENOMEM;
    }
    *made = file;
    return 0;
}

static int open_locked(struct tw_emu_driver *driver)
{
    struct tw_drv_file *file;
    int r = driver->removed ? -ENODEV : new_file(driver, &file);
    if (r < 0)
        return r;
    file->fd = DRV_FD_BASE + driver->last_fd++;
    file->next = driver->files;
    driver->files = file;
    return file->fd;
}

int tw_drv_open(void *context, const char *path, int flags)
{
    struct tw_emu_driver *driver = context;
    const char *node = driver->options.node != NULL ? driver->options.node : default_node;
    (void)flags;
    if (strcmp(path, node) != 0)
        return -ENOENT;
    if (driver->options.open_error != 0)
        return -driver->options.open_error;
    pthread_mutex_lock(&driver->lock);
    int r = open_locked(driver);
    pthread_mutex_unlock(&driver->lock);
    return r;
}

struct tw_drv_file *tw_drv_file_get(struct tw_emu_driver *driver, int fd)
{
    for (struct tw_drv_file *file = driver->files; file != NULL; file = file->next)
        if (file->fd == fd) {
            file->users++;
            return file;
        }
    return NULL;
}

void tw_drv_file_release(struct tw_drv_file *file)
{
    if (--file->references == 0)
        free_file(file);
}

/* As the kernel at the last close: contexts first, then what else the file holds. */
void tw_drv_file_close(struct tw_drv_file *file)
{
    struct tw_emu_driver *driver = file->driver;
    struct tw_drv_context *context = driver->contexts;
    while (context != NULL) {
        if (context->file == file) {
            tw_drv_context_destroy(context);
            context = driver->contexts; /* the list may have changed meanwhile */
        } else {
            context = context->next;
        }
    }
    for (size_t i = 0; i < file->n_timelines; i++)
        tw_drv_timeline_put(file->timelines[i]);
    file->n_timelines = 0;
    for (size_t i = 0; i < file->n_buffers; i++)
        tw_drv_buffer_put(file->buffers[i]);
    file->n_buffers = 0;
    tw_drv_buffer_put(file->heap);
    file->heap = NULL;
    tw_drv_file_release(file);
}

void tw_drv_file_put(struct tw_drv_file *file)
{
    if (--file->users == 0 && file->closing)
        tw_drv_file_close(file);
}

int tw_drv_close(void *context, int fd)
{
    struct tw_emu_driver *driver = context;
    pthread_mutex_lock(&driver->lock);
    struct tw_drv_file *file = tw_drv_file_get(driver, fd);
    if (file != NULL) {
        struct tw_drv_file **at = &driver->files;
        while (*at != file)
            at = &(*at)->next;
        *at = file->next;
        file->closing = 1;
        tw_drv_file_put(file);
    }
    pthread_mutex_unlock(&driver->lock);
    return file != NULL ? 0 : -EBADF;
}
