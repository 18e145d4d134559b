/*
 * Copies from and to a process whose addresses cannot be trusted. The system checks them: a write to a file fails with
 * EFAULT where a load would end the process. The file is memory, mapped here.
 */
#include "base/shared_memory.h"
#include "emu/driver/state.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 16 };

int tw_drv_user_create(struct tw_emu_driver *driver, struct tw_error *err)
{
    driver->copy_fd = tw_shared_memory_create(err);
    if (driver->copy_fd < 0)
        return driver->copy_fd;
    if (ftruncate(driver->copy_fd, COPY_BYTES) < 0)
        return tw_fail_errno(err, TW_E_IO, errno, "cannot get shared memory from the system");
    void *p = mmap(NULL, COPY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, driver->copy_fd, 0);
    if (p == MAP_FAILED)
        return tw_fail_errno(err, TW_E_MEMORY, errno, "cannot map shared memory");
    driver->copy = p;
    return 0;
}

void tw_drv_user_free(struct tw_emu_driver *driver)
{
    if (driver->copy != NULL)
        munmap(driver->copy, COPY_BYTES);
    if (driver->copy_fd >= 0)
        close(driver->copy_fd);
}

static const void *pointer(uint64_t address)
{
    return (const void *)(uintptr_t)address; /* NOLINT: an address as an ioctl carries it */
}

int tw_drv_from_user(struct tw_emu_driver *driver, void *to, uint64_t from, size_t bytes)
{
    unsigned char *at = to;
    int r = 0;
    pthread_mutex_lock(&driver->copy_lock);
    while (bytes > 0 && r == 0) {
        size_t part = bytes < COPY_BYTES ? bytes : COPY_BYTES;
        if (pwrite(driver->copy_fd, pointer(from), part, 0) != (ssize_t)part) {
            r = -EFAULT;
        } else {
            memcpy(at, driver->copy, part);
            at += part;
            from += part;
            bytes -= part;
        }
    }
    pthread_mutex_unlock(&driver->copy_lock);
    return r;
}

int tw_drv_to_user(struct tw_emu_driver *driver, uint64_t to, const void *from, size_t bytes)
{
    const unsigned char *at = from;
    int r = 0;
    pthread_mutex_lock(&driver->copy_lock);
    while (bytes > 0 && r == 0) {
        size_t part = bytes < COPY_BYTES ? bytes : COPY_BYTES;
        memcpy(driver->copy, at, part);
        if (pread(driver->copy_fd, (void *)(uintptr_t)to, part, 0) != (ssize_t)part)
            r = -EFAULT;
        at += part;
        to += part;
        bytes -= part;
    }
    pthread_mutex_unlock(&driver->copy_lock);
    return r;
}
