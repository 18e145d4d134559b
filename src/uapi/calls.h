/*
 * All that the client of the driver asks of its surroundings, as one table: system calls on a real machine, an emulated
 * kernel driver elsewhere. The client does not know which.
 */
#ifndef TW_UAPI_CALLS_H
#define TW_UAPI_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * As the system calls of the same names, but for failures: they return the negative errno value instead of setting it.
 * All may be called from several threads at once.
 */
struct tw_calls {
    void *context; /* the first argument of each */
    /* Returns a file descriptor. flags: O_RDWR | O_CLOEXEC. */
    int (*open)(void *context, const char *path, int flags);
    /* Interrupted calls return -EINTR. */
    int (*ioctl)(void *context, int fd, uint32_t request, void *argument);
    /*
     * *mapped gets the address. protection and flags by <sys/mman.h>; fd -1 gives memory of no file (MAP_ANONYMOUS need
     * not be set), which is how address space is reserved (PROT_NONE, MAP_PRIVATE).
     */
    int (*mmap)(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                void **mapped);
    int (*munmap)(void *context, void *address, size_t size);
    int (*close)(void *context, int fd);
    /*
     * Writes the cache lines that hold these bytes back to memory and forgets them: before the device reads what the
     * processor wrote, and before the processor reads what the device wrote. Returns -EOPNOTSUPP on a processor without
     * such an instruction; the driver's SYNC_BUFFER does the same more slowly.
     */
    int (*flush)(void *context, const void *address, size_t size);
};

/* The table that makes system calls. */
struct tw_calls tw_system_calls(void);

#endif
