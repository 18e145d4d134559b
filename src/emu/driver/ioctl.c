/*
 * From ioctl numbers to what they do. As in DRM's core, the number alone chooses; a shorter structure is taken as if
 * zeros followed, and results go back even when the call failed.
 */
#include "emu/driver/state.h"

#include <errno.h>
#include <string.h>

enum { TYPE_SHIFT = 8, TYPE_MASK = 0xff, DIRECTION_SHIFT = 30, READS = 2, ARGUMENT_MAX = 1 << 14 };

struct ioctl {
    uint32_t request;
    int (*function)(struct tw_drv_file *file, void *argument);
};

static const struct ioctl ioctls[] = {
    {TW_DRM_VERSION, tw_drv_version},
    {TW_DRM_GEM_CLOSE, tw_drv_gem_close},
    {TW_DRM_TIMELINE_WAIT, tw_drv_timeline_wait},
    {TW_XDNA_CREATE_CONTEXT, tw_drv_create_context},
    {TW_XDNA_DESTROY_CONTEXT, tw_drv_destroy_context},
    {TW_XDNA_CONFIG_CONTEXT, tw_drv_config_context},
    {TW_XDNA_CREATE_BUFFER, tw_drv_create_buffer},
    {TW_XDNA_BUFFER_INFO, tw_drv_buffer_info},
    {TW_XDNA_SYNC_BUFFER, tw_drv_sync_buffer},
    {TW_XDNA_EXECUTE, tw_drv_execute},
    {TW_XDNA_GET_INFO, tw_drv_get_info},
    {TW_XDNA_SET_STATE, tw_drv_set_state},
    {TW_XDNA_WAIT, tw_drv_wait_command},
    {TW_XDNA_GET_ARRAY, tw_drv_get_array},
};

/* What this kernel does not have, and what only root may. Returns 0 or -errno. */
static int allowed(const struct tw_emu_driver *driver, uint32_t number)
{
    const struct tw_drv_personality *has = tw_drv_personality(driver);
    if (driver->removed)
        return -ENODEV;
    if (has->major != 0 && number != TW_DRM_NUMBER_VERSION)
        return -EINVAL; /* its numbers mean other things: not modelled */
    if (number == TW_XDNA_NUMBER_GET_ARRAY && !has->get_array)
        return -EINVAL;
    if (number == TW_XDNA_NUMBER_SET_STATE && !driver->options.root)
        return -EACCES;
    return 0;
}

static const struct ioctl *find_ioctl(uint32_t request)
{
    for (size_t i = 0; i < sizeof ioctls / sizeof *ioctls; i++)
        if (TW_IOCTL_NUMBER(ioctls[i].request) == TW_IOCTL_NUMBER(request))
            return &ioctls[i];
    return NULL;
}

static uint32_t bytes_in_direction(uint32_t request, uint32_t known, uint32_t direction)
{
    return request >> DIRECTION_SHIFT & known >> DIRECTION_SHIFT & direction ? TW_IOCTL_BYTES(request) : 0;
}

static int do_ioctl(struct tw_drv_file *file, uint32_t request, uint64_t argument)
{
    struct tw_emu_driver *driver = file->driver;
    _Alignas(16) unsigned char bytes[ARGUMENT_MAX]; /* no more fits the number's field for it */
    const struct ioctl *known = find_ioctl(request);
    if ((request >> TYPE_SHIFT & TYPE_MASK) != 'd')
        return -ENOTTY;
    if (known == NULL)
        return -EINVAL;
    int r = allowed(driver, TW_IOCTL_NUMBER(request));
    if (r < 0)
        return r;
    uint32_t in = bytes_in_direction(request, known->request, TW_DRM_WRITES);
    uint32_t out = bytes_in_direction(request, known->request, READS);
    uint32_t all = TW_IOCTL_BYTES(known->request);
    memset(bytes, 0, all > out ? all : out);
    if (tw_drv_from_user(driver, bytes, argument, in) < 0)
        return -EFAULT;
    r = known->function(file, bytes);
    if (tw_drv_to_user(driver, argument, bytes, out) < 0)
        return -EFAULT;
    return r;
}

int tw_drv_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    struct tw_emu_driver *driver = context;
    int r = -EBADF;
    pthread_mutex_lock(&driver->lock);
    struct tw_drv_file *file = tw_drv_file_get(driver, fd);
    if (file != NULL) {
        r = do_ioctl(file, request, (uintptr_t)argument);
        tw_drv_file_put(file);
    }
    pthread_mutex_unlock(&driver->lock);
    return r;
}
