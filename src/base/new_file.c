#define _GNU_SOURCE /* O_TMPFILE */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX_ROOM 32 /* ".new-PID-TRY" and a zero */
#define TRIES 100      /* names that killed processes of the same number may have left behind */

static void release(struct tw_new_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->temporary);
    *f = (struct tw_new_file){.fd = -1};
}

/* The unnamed file under /proc, which linkat follows to it. */
static void proc_name(int fd, char name[64])
{
    snprintf(name, 64, "/proc/self/fd/%d", fd);
}

static void set_temporary(struct tw_new_file *f, int attempt)
{
    snprintf(f->temporary, strlen(f->path) + SUFFIX_ROOM, "%s.new-%ld-%d", f->path, (long)getpid(), attempt);
}

/* The folder of path: allocated, or NULL without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* A file without a name vanishes with the process, however that ends. Not every file system has them. */
static int open_unnamed(const char *path)
{
    char *folder = folder_of(path);
    if (folder == NULL)
        return -1;
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(folder);
    char self[64];
    proc_name(fd, self);
    if (fd >= 0 && access(self, F_OK) != 0) { /* no /proc here: it could never get its name */
        close(fd);
        return -1;
    }
    return fd;
}

static int open_named(struct tw_new_file *f)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        set_temporary(f, i);
        fd = open(f->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    f->named = fd >= 0;
    return fd;
}

int tw_new_file_open(const char *path, struct tw_new_file *f, struct tw_error *err)
{
    *f = (struct tw_new_file){.fd = -1};
    f->path = strdup(path);
    f->temporary = malloc(strlen(path) + SUFFIX_ROOM);
    if (f->path == NULL || f->temporary == NULL) {
        release(f);
        return tw_fail(err, TW_E_MEMORY, "no memory to begin the file '%s'", path);
    }
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* a rename would replace a device for everybody */
        release(f);
        return tw_fail(err, TW_E_IO, "cannot write '%s': it is there and not a file", path);
    }
    f->fd = open_unnamed(path);
    if (f->fd < 0)
        f->fd = open_named(f);
    if (f->fd < 0) {
        int reason = errno;
        release(f);
        return tw_fail_errno(err, reason == ENOENT ? TW_E_NOT_FOUND : TW_E_IO, reason, "cannot write '%s'", path);
    }
    return TW_OK;
}

int tw_new_file_write(struct tw_new_file *f, const void *data, size_t size, struct tw_error *err)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = write(f->fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tw_fail_errno(err, TW_E_IO, errno, "cannot write '%s'", f->path);
        p += n;
        size -= (size_t)n;
    }
    return TW_OK;
}

/* Links the unnamed file as `name`; returns 0, or the error's number. */
static int give_name(const struct tw_new_file *f, const char *name)
{
    char self[64];
    proc_name(f->fd, self);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* Moves the complete file to its place; returns 0, or the error's number. */
static int put_in_place(struct tw_new_file *f)
{
    if (!f->named) {
        int failed = give_name(f, f->path);
        if (failed != EEXIST)
            return failed;
        /* A link cannot replace a file, a rename can. */
        for (int i = 0; i < TRIES && failed == EEXIST; i++) {
            set_temporary(f, i);
            failed = give_name(f, f->temporary);
        }
        if (failed != 0)
            return failed;
        f->named = 1;
    }
    if (rename(f->temporary, f->path) != 0)
        return errno;
    f->named = 0;
    return 0;
}

/* Without this a crash of the machine soon after may forget the name. A file system that cannot is not an error. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

int tw_new_file_finish(struct tw_new_file *f, struct tw_error *err)
{
    int reason = fsync(f->fd) == 0 ? 0 : errno;
    if (reason == 0)
        reason = put_in_place(f);
    int result = TW_OK;
    if (reason != 0)
        result = tw_fail_errno(err, TW_E_IO, reason, "cannot write '%s'", f->path);
    else
        sync_folder(f->path);
    tw_new_file_abandon(f);
    return result;
}

void tw_new_file_abandon(struct tw_new_file *f)
{
    if (f->named)
        unlink(f->temporary);
    release(f);
}
