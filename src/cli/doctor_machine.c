/* What the checks need to know of a machine: its kernel, its distribution, whether this is a container. */
#include "cli/doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The last row is for all others. Debian has the firmware in one or the other, depending on its version. */
static const struct tw_distribution distributions[] = {
    {"debian", "sudo apt install -t trixie-backports linux-image-amd64",
     "sudo apt install firmware-misc-nonfree firmware-amd-graphics"},
    {"ubuntu", "sudo apt install linux-generic-hwe-24.04", "sudo apt install linux-firmware"},
    {"fedora", "sudo dnf upgrade kernel", "sudo dnf upgrade linux-firmware"},
    {"arch", "sudo pacman -Syu linux", "sudo pacman -Syu linux-firmware"},
    {"opensuse-tumbleweed", "sudo zypper install kernel-default", "sudo zypper install kernel-firmware-all"},
    {NULL, "install a kernel of version 6.14 or later and restart",
     "install your distribution's linux-firmware and restart"},
};

static const struct tw_distribution *find_distribution(const char *id)
{
    const struct tw_distribution *d = distributions;
    while (d->id != NULL && strcmp(d->id, id) != 0)
        d++;
    return d;
}

int tw_doctor_exists(const struct tw_patient *patient, const char *fmt, ...)
{
    char name[TW_PATH_BYTES], path[TW_PATH_BYTES];
    struct stat st;
    va_list args;
    va_start(args, fmt);
    int size = vsnprintf(name, sizeof name, fmt, args);
    va_end(args);
    return size > 0 && size < TW_PATH_BYTES && tw_machine_path(path, patient->root, "%s", name) == 0 &&
           stat(path, &st) == 0;
}

int tw_doctor_find_line(const struct tw_patient *patient, const char *name, const char *text, char *line, size_t size)
{
    char path[TW_PATH_BYTES], buffer[1024];
    int found = 0;
    FILE *file = tw_machine_path(path, patient->root, "%s", name) == 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return 0;
    while (!found && fgets(buffer, sizeof buffer, file) != NULL) {
        buffer[strcspn(buffer, "\n")] = '\0';
        found = strstr(buffer, text) != NULL;
    }
    if (found && line != NULL)
        snprintf(line, size, "%s", buffer);
    fclose(file);
    return found;
}

int tw_doctor_has_firmware(const struct tw_patient *patient)
{
    static const char *const folders[] = {"/lib/firmware/updates", "/lib/firmware", "/usr/lib/firmware"};
    static const char *const files[] = {"npu_7.sbin", "npu.sbin"};
    static const char *const ends[] = {"", ".zst", ".xz"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        for (size_t k = 0; k < sizeof files / sizeof files[0]; k++)
            for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++)
                if (tw_doctor_exists(patient, "%s/amdnpu/1502_00/%s%s", folders[i], files[k], ends[e]))
                    return 1;
    return 0;
}

/* ID=debian or ID="debian" */
static const struct tw_distribution *read_distribution(const struct tw_patient *patient)
{
    char path[TW_PATH_BYTES], line[256], id[64] = "";
    FILE *file = tw_machine_path(path, patient->root, "/etc/os-release") == 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return find_distribution("");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "ID=", 3) == 0 && sscanf(line + 3, "%*1[\"]%63[^\"\n]", id) != 1)
            sscanf(line + 3, "%63[^\"\n]", id);
    fclose(file);
    return find_distribution(id);
}

/* The driver is in the kernel since 6.14. */
static int is_old(const char *release)
{
    char *end = NULL;
    long major = strtol(release, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major < 6 || (major == 6 && minor < 14);
}

static int is_container(const struct tw_patient *patient)
{
    return tw_doctor_exists(patient, "/.dockerenv") || tw_doctor_exists(patient, "/run/.containerenv") ||
           tw_doctor_exists(patient, "/run/systemd/container");
}

void tw_doctor_look_around(const struct tw_patient *patient, struct tw_findings *f)
{
    char path[TW_PATH_BYTES];
    f->generation = tw_machine_find_npu(patient->root, &f->npu);
    if (tw_machine_path(path, patient->root, "/proc/sys/kernel/osrelease") != 0 ||
        tw_machine_line(path, f->kernel, sizeof f->kernel) < 0)
        f->kernel[0] = '\0';
    f->kernel_old = f->kernel[0] != '\0' && is_old(f->kernel);
    f->module_loaded = tw_doctor_exists(patient, "/sys/module/amdxdna");
    f->container = is_container(patient);
    f->distribution = read_distribution(patient);
}
