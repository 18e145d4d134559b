#include "whisper/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* /var/tmp is on a disk where /tmp may be memory. */
static const char *folder(void)
{
    const char *dir = getenv("TMPDIR");
    if (dir != NULL && dir[0] != '\0')
        return dir;
    return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

int tw_temp_file_open(struct tw_error *err)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/tilewright-XXXXXX", folder());
    if (length < 0 || (size_t)length >= sizeof path)
        return tw_fail(err, TW_E_IO, "the name of the folder for temporary files is too long; set TMPDIR");
    int fd = mkstemp(path);
    if (fd < 0)
        return tw_fail_errno(err, TW_E_IO, errno, "cannot make a temporary file in '%s' (TMPDIR names the folder)",
                             folder());
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

int tw_temp_file_write(int fd, int64_t offset, const void *data, size_t size, struct tw_error *err)
{
    const char *from = data;
    while (size > 0) {
        ssize_t n = pwrite(fd, from, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return tw_fail_errno(err, TW_E_IO, n < 0 ? errno : ENOSPC,
                                 "cannot write a temporary file in '%s' (TMPDIR names the folder)", folder());
        from += n;
        offset += n;
        size -= (size_t)n;
    }
    return TW_OK;
}

int tw_temp_file_read(int fd, int64_t offset, void *data, size_t size, struct tw_error *err)
{
    char *to = data;
    while (size > 0) {
        ssize_t n = pread(fd, to, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tw_fail_errno(err, TW_E_IO, errno, "cannot read back a temporary file");
        if (n == 0)
            return tw_fail(err, TW_E_IO, "a temporary file has become shorter");
        to += n;
        offset += n;
        size -= (size_t)n;
    }
    return TW_OK;
}
