#include "whisper/input.h"

#include "whisper/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe up to this size stays in memory: four minutes of 16 kHz speech. */
#define SPOOL_MEMORY ((size_t)8 << 20)
#define SPOOL_FIRST ((size_t)256 << 10)

struct tw_input {
    char name[300];
    const unsigned char *memory; /* of all bytes, or NULL */
    unsigned char *owned;        /* memory that we allocated */
    int fd;                      /* -1: none */
    int close_fd;
    int forward;   /* fd is a pipe that is read as it comes */
    int64_t start; /* offset in the file of our byte 0: standard input may have been read from already */
    int64_t size;
};

/* read() that a signal does not disturb. */
static int64_t read_some(struct tw_input *in, void *dst, size_t size, struct tw_error *err)
{
    for (;;) {
        ssize_t n = read(in->fd, dst, size);
        if (n >= 0)
            return n;
        if (errno == EISDIR)
            return tw_fail(err, TW_E_FORMAT, "%s is a directory, not a file", in->name);
        if (errno != EINTR)
            return tw_fail_errno(err, TW_E_IO, errno, "cannot read %s", in->name);
    }
}

/* Moves what memory holds to a temporary file and adds all that still comes; the file then takes the pipe's place. */
static int spool_to_file(struct tw_input *in, unsigned char *buffer, struct tw_error *err)
{
    int file = tw_temp_file_open(err);
    if (file < 0)
        return file;
    size_t filled = (size_t)in->size;
    int64_t written = 0;
    int rc;
    do {
        rc = tw_temp_file_write(file, written, buffer, filled, err);
        if (rc < 0)
            break;
        written += (int64_t)filled;
        int64_t n = read_some(in, buffer, SPOOL_MEMORY, err);
        rc = n < 0 ? (int)n : TW_OK;
        filled = n < 0 ? 0 : (size_t)n;
    } while (filled > 0);
    if (rc < 0) {
        close(file);
        return rc;
    }
    if (in->close_fd)
        close(in->fd);
    in->fd = file;
    in->close_fd = 1;
    in->size = written;
    return TW_OK;
}

/* Reads the pipe to its end. */
static int spool(struct tw_input *in, struct tw_error *err)
{
    size_t room = SPOOL_FIRST, filled = 0;
    unsigned char *buffer = malloc(room);
    while (buffer != NULL) {
        int64_t n = read_some(in, buffer + filled, room - filled, err);
        if (n <= 0) {
            in->memory = in->owned = buffer;
            in->size = (int64_t)filled;
            return (int)n;
        }
        filled += (size_t)n;
        if (filled < room)
            continue;
        if (room == SPOOL_MEMORY) {
            in->size = (int64_t)filled;
            int rc = spool_to_file(in, buffer, err);
            free(buffer);
            return rc;
        }
        room *= 2;
        unsigned char *larger = realloc(buffer, room);
        if (larger == NULL)
            free(buffer);
        buffer = larger;
    }
    return tw_fail(err, TW_E_MEMORY, "no memory to read %s", in->name);
}

static int open_path(struct tw_input *in, const char *path, struct tw_error *err)
{
    if (strcmp(path, "-") == 0) {
        snprintf(in->name, sizeof in->name, "standard input");
        in->fd = STDIN_FILENO;
        return TW_OK;
    }
    snprintf(in->name, sizeof in->name, "'%s'", path);
    in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    in->close_fd = 1;
    if (in->fd >= 0)
        return TW_OK;
    int code = errno == ENOENT || errno == ENOTDIR ? TW_E_NOT_FOUND : TW_E_IO;
    return tw_fail_errno(err, code, errno, "cannot open %s", in->name);
}

/* Finds out what fd is; a regular file is read in place, everything else is a pipe. */
static int inspect(struct tw_input *in, int *is_pipe, struct tw_error *err)
{
    struct stat st;
    if (fstat(in->fd, &st) != 0)
        return tw_fail_errno(err, TW_E_IO, errno, "cannot read %s", in->name);
    if (S_ISDIR(st.st_mode))
        return tw_fail(err, TW_E_FORMAT, "%s is a directory, not a file", in->name);
    if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && in->close_fd))
        return tw_fail(err, TW_E_FORMAT, "%s is a device, not a file", in->name);
    off_t start = lseek(in->fd, 0, SEEK_CUR);
    /* Files that the kernel makes up, as in /proc, say that they have no bytes. */
    *is_pipe = !S_ISREG(st.st_mode) || st.st_size == 0 || start < 0;
    if (!*is_pipe) {
        in->start = start;
        in->size = st.st_size > start ? st.st_size - start : 0;
    }
    return TW_OK;
}

static struct tw_input *new_input(struct tw_error *err)
{
    struct tw_input *in = calloc(1, sizeof *in);
    if (in == NULL)
        tw_fail(err, TW_E_MEMORY, "no memory to open an input");
    else
        in->fd = -1;
    return in;
}

int tw_input_open(const char *path, enum tw_input_order order, struct tw_input **input, struct tw_error *err)
{
    *input = NULL;
    struct tw_input *in = new_input(err);
    if (in == NULL)
        return TW_E_MEMORY;
    int is_pipe = 0;
    int rc = open_path(in, path, err);
    if (rc == TW_OK)
        rc = inspect(in, &is_pipe, err);
    if (rc == TW_OK && is_pipe && order == TW_INPUT_FORWARD) {
        in->forward = 1;
        in->size = -1;
    } else if (rc == TW_OK && is_pipe) {
        rc = spool(in, err);
    }
    if (rc < 0) {
        tw_input_close(in);
        return rc;
    }
    *input = in;
    return TW_OK;
}

int tw_input_open_memory(const void *data, size_t size, const char *name, struct tw_input **input, struct tw_error *err)
{
    *input = NULL;
    struct tw_input *in = new_input(err);
    if (in == NULL)
        return TW_E_MEMORY;
    snprintf(in->name, sizeof in->name, "'%s'", name);
    in->memory = data;
    in->size = (int64_t)size;
    *input = in;
    return TW_OK;
}

void tw_input_close(struct tw_input *in)
{
    if (in == NULL)
        return;
    if (in->fd >= 0 && in->close_fd)
        close(in->fd);
    free(in->owned);
    free(in);
}

const char *tw_input_name(const struct tw_input *in)
{
    return in->name;
}

int64_t tw_input_size(const struct tw_input *in)
{
    return in->size;
}

static int64_t read_at(struct tw_input *in, int64_t offset, void *dst, size_t size, struct tw_error *err)
{
    for (;;) {
        ssize_t n = pread(in->fd, dst, size, (off_t)(in->start + offset));
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return tw_fail_errno(err, TW_E_IO, errno, "cannot read %s", in->name);
    }
}

int64_t tw_input_read(struct tw_input *in, int64_t offset, void *dst, size_t size, struct tw_error *err)
{
    if (in->size >= 0) {
        if (offset >= in->size)
            return 0;
        if ((uint64_t)(in->size - offset) < size)
            size = (size_t)(in->size - offset);
    }
    if (in->memory != NULL) {
        memcpy(dst, in->memory + offset, size);
        return (int64_t)size;
    }
    size_t got = 0;
    while (got < size) {
        char *to = (char *)dst + got;
        int64_t n =
            in->forward ? read_some(in, to, size - got, err) : read_at(in, offset + (int64_t)got, to, size - got, err);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (int64_t)got;
}
