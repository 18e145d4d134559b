#include "device/machine.h"

#include "uapi/amdxdna.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tw_machine_path(char path[TW_PATH_BYTES], const char *root, const char *fmt, ...)
{
    int used = snprintf(path, TW_PATH_BYTES, "%s", root);
    if (used < 0 || used >= TW_PATH_BYTES)
        return -1;
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(path + used, (size_t)(TW_PATH_BYTES - used), fmt, args);
    va_end(args);
    return more < 0 || more >= TW_PATH_BYTES - used ? -1 : 0;
}

int tw_machine_line(const char *path, char *line, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, line, size - 1);
    close(fd);
    if (got < 0)
        return -1;
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return (int)strlen(line);
}

int tw_machine_link(const char *path, char *name, size_t size)
{
    char target[TW_PATH_BYTES];
    ssize_t got = readlink(path, target, sizeof target - 1);
    if (got < 0)
        return -1;
    target[got] = '\0';
    const char *slash = strrchr(target, '/');
    const char *last = slash != NULL ? slash + 1 : target;
    if (strlen(last) >= size)
        return -1;
    strcpy(name, last);
    return 0;
}

/* A number in hexadecimal, as files of PCI devices hold it; 0 when there is none. */
static unsigned read_hex(const char *folder, const char *name)
{
    char path[TW_PATH_BYTES], line[32];
    if (tw_machine_path(path, folder, "/%s", name) != 0 || tw_machine_line(path, line, sizeof line) < 0)
        return 0;
    return (unsigned)strtoul(line, NULL, 16);
}

/* The node of the accelerator at a place on the PCI bus; there may be others. */
static void find_node(const char *root, const char *slot, char node[TW_PATH_BYTES])
{
    char folder[TW_PATH_BYTES], path[TW_PATH_BYTES], at[64];
    node[0] = '\0';
    DIR *accelerators = tw_machine_path(folder, root, "/sys/class/accel") == 0 ? opendir(folder) : NULL;
    if (accelerators == NULL)
        return;
    for (const struct dirent *e; node[0] == '\0' && (e = readdir(accelerators)) != NULL;) {
        int there = e->d_name[0] != '.' && tw_machine_path(path, folder, "/%s/device", e->d_name) == 0 &&
                    tw_machine_link(path, at, sizeof at) == 0 && strcmp(at, slot) == 0;
        if (there && tw_machine_path(node, root, "/dev/accel/%s", e->d_name) != 0)
            node[0] = '\0';
    }
    closedir(accelerators);
}

static enum tw_npu_generation generation(unsigned vendor, unsigned device)
{
    if (vendor != TW_XDNA_PCI_VENDOR)
        return TW_NPU_NONE;
    return device == TW_XDNA_PCI_NPU1 ? TW_NPU_FIRST : device == TW_XDNA_PCI_LATER ? TW_NPU_LATER : TW_NPU_NONE;
}

/* The slot's name has room. */
static void describe(const char *root, const char *folder, const char *slot, struct tw_npu *npu)
{
    char path[TW_PATH_BYTES], group[64];
    *npu = (struct tw_npu){0};
    memcpy(npu->slot, slot, strlen(slot));
    npu->vendor = read_hex(folder, "vendor");
    npu->device = read_hex(folder, "device");
    npu->revision = read_hex(folder, "revision");
    if (tw_machine_path(path, folder, "/driver") == 0 && tw_machine_link(path, npu->driver, sizeof npu->driver) != 0)
        npu->driver[0] = '\0';
    npu->iommu = tw_machine_path(path, folder, "/iommu_group") == 0 && tw_machine_link(path, group, sizeof group) == 0;
    find_node(root, slot, npu->node);
}

enum tw_npu_generation tw_machine_find_npu(const char *root, struct tw_npu *npu)
{
    char bus[TW_PATH_BYTES], folder[TW_PATH_BYTES];
    enum tw_npu_generation best = TW_NPU_NONE;
    *npu = (struct tw_npu){0};
    DIR *devices = tw_machine_path(bus, root, "/sys/bus/pci/devices") == 0 ? opendir(bus) : NULL;
    if (devices == NULL)
        return best;
    for (const struct dirent *e; best != TW_NPU_FIRST && (e = readdir(devices)) != NULL;) {
        if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof npu->slot ||
            tw_machine_path(folder, bus, "/%s", e->d_name) != 0)
            continue;
        enum tw_npu_generation found = generation(read_hex(folder, "vendor"), read_hex(folder, "device"));
        if (found == TW_NPU_NONE || (best != TW_NPU_NONE && found != TW_NPU_FIRST))
            continue;
        describe(root, folder, e->d_name, npu);
        best = found;
    }
    closedir(devices);
    return best;
}
