#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "uapi/calls.h"

#include "uapi/flush.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int system_open(void *context, const char *path, int flags)
{
    (void)context;
    int fd = open(path, flags);
    return fd >= 0 ? fd : -errno;
}

static int system_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    (void)context;
    return ioctl(fd, (unsigned long)request, argument) >= 0 ? 0 : -errno;
}

static int system_mmap(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                       void **mapped)
{
    (void)context;
    if (fd < 0)
        flags |= MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(address, size, protection, flags, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return -errno;
    *mapped = p;
    return 0;
}

static int system_munmap(void *context, void *address, size_t size)
{
    (void)context;
    return munmap(address, size) == 0 ? 0 : -errno;
}

static int system_close(void *context, int fd)
{
    (void)context;
    return close(fd) == 0 ? 0 : -errno;
}

struct tw_calls tw_system_calls(void)
{
    return (struct tw_calls){
        .open = system_open,
        .ioctl = system_ioctl,
        .mmap = system_mmap,
        .munmap = system_munmap,
        .close = system_close,
        .flush = tw_flush_select(),
    };
}
