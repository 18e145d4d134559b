#include "device/driver_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What refusals mean: the first row that fits counts. Number 0 fits every call, and no call has the errno value 0. */
static const struct refusal {
    uint8_t number;
    int errno_value;
    int code;
    const char *reason;
} refusals[] = {
    {TW_XDNA_NUMBER_CREATE_BUFFER, EAGAIN, TW_E_HEAP, "the NPU's heap is not there or not mapped"},
    {TW_XDNA_NUMBER_CREATE_BUFFER, ENOSPC, TW_E_HEAP, "the NPU's heap is full, or a second one was asked for"},
    {TW_XDNA_NUMBER_CREATE_BUFFER, EPERM, TW_E_PERMISSION,
     "too little memory may be locked; raise the limit (ulimit -l unlimited)"},
    {TW_XDNA_NUMBER_CREATE_BUFFER, EINVAL, TW_E_ARGUMENT, "the driver takes no buffer of this kind and size"},
    {TW_XDNA_NUMBER_CREATE_CONTEXT, ENOENT, TW_E_HEAP, "the NPU's heap is not there"},
    {TW_XDNA_NUMBER_CREATE_CONTEXT, EAGAIN, TW_E_HEAP, "the NPU's heap is not mapped"},
    {TW_XDNA_NUMBER_CREATE_CONTEXT, EOPNOTSUPP, TW_E_UNSUPPORTED, "the driver has none of so many columns"},
    {TW_XDNA_NUMBER_CREATE_CONTEXT, EINVAL, TW_E_DEVICE, "the driver or the NPU's firmware refuses it"},
    {TW_XDNA_NUMBER_CONFIG_CONTEXT, E2BIG, TW_E_LIMIT, "too many programs"},
    {TW_XDNA_NUMBER_CONFIG_CONTEXT, EINVAL, TW_E_CONFIGURED, "it has its programs already, or they are none"},
    {TW_XDNA_NUMBER_EXECUTE, EINVAL, TW_E_ARGUMENT, "the driver does not know the context or a buffer"},
    {TW_XDNA_NUMBER_EXECUTE, ENOENT, TW_E_ARGUMENT, "the driver does not know the context or a buffer"},
    {TW_XDNA_NUMBER_EXECUTE, ETIME, TW_E_MEMORY, "memory of the caller cannot be brought in"},
    {TW_XDNA_NUMBER_SYNC_BUFFER, EINVAL, TW_E_SYNC,
     "the range is not inside the buffer, or the direction is from the NPU, which is for debug buffers only"},
    {TW_DRM_NUMBER_TIMELINE_WAIT, ETIME, TW_E_RUNNING, "it has not ended yet"},
    {TW_XDNA_NUMBER_WAIT, ETIME, TW_E_RUNNING, "it has not ended yet"},
    {0, EACCES, TW_E_PERMISSION, "not allowed"},
    {0, EPERM, TW_E_PERMISSION, "not allowed"},
    {0, ENOMEM, TW_E_MEMORY, "the kernel has no memory for it"},
    {0, ENOSPC, TW_E_HEAP, "the NPU's heap is full"},
    {0, ENODEV, TW_E_LOST, "the NPU is gone; load its driver anew (sudo rmmod amdxdna; sudo modprobe amdxdna)"},
    {0, EIO, TW_E_LOST, "the NPU does not answer; load its driver anew (sudo rmmod amdxdna; sudo modprobe amdxdna)"},
    {0, EOPNOTSUPP, TW_E_UNSUPPORTED, "this version of the driver has no such call"},
    {0, ENOTTY, TW_E_UNSUPPORTED, "this version of the driver has no such call"},
    {0, E2BIG, TW_E_LIMIT, "it is too large"},
};

static const struct refusal *find_refusal(uint32_t request, int errno_value)
{
    uint32_t number = TW_IOCTL_NUMBER(request);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        if ((r->number == 0 || r->number == number) && r->errno_value == errno_value)
            return r;
    }
    return NULL;
}

int tw_driver_fail(struct tw_error *err, uint32_t request, int negative_errno, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    const struct refusal *r = find_refusal(request, -negative_errno);
    if (r == NULL)
        return tw_fail_errno(err, TW_E_IO, -negative_errno, "%s", what);
    return tw_fail(err, r->code, "%s: %s", what, r->reason);
}

int tw_driver_call(const struct tw_driver_file *file, uint32_t request, void *argument)
{
    int result;
    do {
        result = file->calls.ioctl(file->calls.context, file->fd, request, argument);
    } while (result == -EINTR);
    return result;
}

static int open_failed(int negative_errno, const char *path, struct tw_error *err)
{
    switch (-negative_errno) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return tw_fail_errno(err, TW_E_NO_DEVICE, -negative_errno,
                             "'%s' cannot be opened (tilewright doctor says what to do)", path);
    case EACCES:
    case EPERM:
        return tw_fail_errno(err, TW_E_PERMISSION, -negative_errno,
                             "'%s' cannot be opened (join its group: sudo usermod -aG render $USER, then log in again)",
                             path);
    default:
        return tw_fail_errno(err, TW_E_IO, -negative_errno, "'%s' cannot be opened", path);
    }
}

/* Major 1 is a driver of 2024 from outside the kernel tree: the same name, but other numbers and structures. */
static int check_driver(struct tw_driver_file *file, const char *path, struct tw_error *err)
{
    char name[64] = "";
    struct tw_drm_version version = {.name = name, .name_bytes = sizeof name - 1};
    int result = tw_driver_call(file, TW_DRM_VERSION, &version);
    if (result == -ENOTTY)
        return tw_fail(err, TW_E_NO_DEVICE, "'%s' is no node of a driver of the kernel's DRM", path);
    if (result < 0)
        return tw_driver_fail(err, TW_DRM_VERSION, result, "'%s' does not say which driver it belongs to", path);
    if (strcmp(name, TW_XDNA_DRIVER_NAME) != 0)
        return tw_fail(err, TW_E_UNSUPPORTED, "'%s' belongs to the driver '%s', not to amdxdna", path, name);
    if (version.major != 0)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "'%s': the driver's interface is %d.%d, but this program speaks 0.x; use the driver of the "
                       "kernel, 6.14 or later",
                       path, (int)version.major, (int)version.minor);
    file->major = version.major;
    file->minor = version.minor;
    return TW_OK;
}

int tw_driver_open(const struct tw_calls *calls, const char *path, struct tw_driver_file *file, struct tw_error *err)
{
    *file = (struct tw_driver_file){.calls = *calls, .fd = -1};
    int fd;
    do {
        fd = calls->open(calls->context, path, O_RDWR | O_CLOEXEC);
    } while (fd == -EINTR);
    if (fd < 0)
        return open_failed(fd, path, err);
    file->fd = fd;
    int code = check_driver(file, path, err);
    if (code < 0)
        tw_driver_close(file);
    return code;
}

void tw_driver_close(struct tw_driver_file *file)
{
    if (file->fd >= 0)
        file->calls.close(file->calls.context, file->fd);
    file->fd = -1;
}
