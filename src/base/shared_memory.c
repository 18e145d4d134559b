#define _GNU_SOURCE /* memfd_create: shm_open is bounded by a small /dev/shm in containers */
#include "base/shared_memory.h"

#include <errno.h>
#include <sys/mman.h>

int tw_shared_memory_create(struct tw_error *err)
{
    int fd = memfd_create("tilewright", MFD_CLOEXEC);
    return fd >= 0 ? fd : tw_fail_errno(err, TW_E_IO, errno, "cannot get shared memory from the system");
}
