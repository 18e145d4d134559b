#include "base/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int tw_file_map_open(const char *path, struct tw_file_map *map, struct tw_error *err)
{
    map->data = NULL;
    map->size = 0;
    /* O_NONBLOCK: a pipe that nobody writes to is refused below instead of waited for. Files do not care. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        int code = errno == ENOENT || errno == ENOTDIR ? TW_E_NOT_FOUND : TW_E_IO;
        return tw_fail_errno(err, code, errno, "cannot open '%s'", path);
    }
    struct stat st;
    int result = TW_OK;
    if (fstat(fd, &st) != 0) {
        result = tw_fail_errno(err, TW_E_IO, errno, "cannot read the size of '%s'", path);
    } else if (!S_ISREG(st.st_mode)) {
        result = tw_fail(err, TW_E_FORMAT, "'%s' is %s, not a file", path,
                         S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
    } else if ((uintmax_t)st.st_size > SIZE_MAX) {
        result = tw_fail(err, TW_E_LIMIT, "'%s' is too large for this machine's address space", path);
    } else if (st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            result = tw_fail_errno(err, TW_E_IO, errno, "cannot map '%s' into memory", path);
        } else {
            map->data = data;
            map->size = (size_t)st.st_size;
        }
    }
    close(fd);
    return result;
}

void tw_file_map_close(struct tw_file_map *map)
{
    if (map->data != NULL)
        munmap((void *)(uintptr_t)map->data, map->size);
    map->data = NULL;
    map->size = 0;
}
