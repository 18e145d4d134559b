/* Checks: may this process use the NPU, and with which firmware? */
#include "cli/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The oldest firmware with the message set that this program's facts come from, and the one they were seen on. */
static const uint32_t firmware_oldest[4] = {1, 5, 0, 0}, firmware_known[4] = {1, 5, 5, 391};

/* The name of a group by /etc/group of the machine; else its number. */
static void group_name(const struct tw_patient *patient, unsigned id, char *name, size_t size)
{
    char path[TW_PATH_BYTES], line[1024];
    snprintf(name, size, "%u", id);
    FILE *file = tw_machine_path(path, patient->root, "/etc/group") == 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char found[64];
        unsigned number;
        if (sscanf(line, "%63[^:]:%*[^:]:%u:", found, &number) == 2 && number == id)
            snprintf(name, size, "%s", found);
    }
    fclose(file);
}

static void not_allowed(const struct tw_patient *patient, const struct tw_findings *f, struct tw_check *c)
{
    struct stat st;
    char group[64] = "render";
    unsigned mode = 0660, id = 0;
    if (stat(f->npu.node, &st) == 0) {
        mode = (unsigned)st.st_mode & 0777;
        id = (unsigned)st.st_gid;
        group_name(patient, id, group, sizeof group);
    }
    const char *node = f->npu.node + strlen(patient->root);
    tw_check_set(c, TW_CHECK_FAILED, "%s (mode %04o, group %s) does not open: permission denied", node, mode, group);
    if (f->container)
        tw_check_mend(c, "docker run --device %s --group-add %u ...", node, id);
    else if (!(mode & 060) || strcmp(group, "root") == 0)
        /* As the kernel makes it: no rule of the system has given it to users. */
        tw_check_mend(c, "echo 'SUBSYSTEM==\"accel\", GROUP=\"render\", MODE=\"0660\"' | sudo tee "
                         "/etc/udev/rules.d/90-npu.rules && sudo udevadm control --reload && sudo udevadm trigger "
                         "--subsystem-match=accel");
    else
        tw_check_mend(c, "sudo usermod -aG %s $USER (then log in again)", group);
}

static void not_open(const struct tw_patient *patient, const struct tw_findings *f, const struct tw_error *err,
                     struct tw_check *c)
{
    switch (err->code) {
    case TW_E_PERMISSION:
        not_allowed(patient, f, c);
        break;
    case TW_E_UNSUPPORTED:
        tw_check_set(c, TW_CHECK_FAILED, "%s", err->text);
        tw_check_mend(c, "%s", f->distribution->kernel);
        break;
    default:
        tw_check_set(c, TW_CHECK_FAILED, "%s", err->text);
        tw_check_mend(c, "sudo rmmod amdxdna; sudo modprobe amdxdna");
    }
}

void tw_check_permission(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    struct tw_error err = {0};
    struct stat st;
    if (f->generation != TW_NPU_FIRST || f->npu.node[0] == '\0' || stat(f->npu.node, &st) != 0) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "no node, nothing to open");
    } else if (tw_driver_open(patient->calls, f->npu.node, &f->file, &err) < 0) {
        not_open(patient, f, &err, c);
    } else {
        tw_query_facts(&f->file, &f->facts);
        tw_check_set(c, TW_CHECK_OK, "%s opens, driver interface %d.%d", f->npu.node + strlen(patient->root),
                     f->file.major, f->file.minor);
    }
}

void tw_check_iommu(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    char path[TW_PATH_BYTES], line[16] = "";
    if (f->generation != TW_NPU_FIRST) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "no NPU to look at");
    } else if (!f->npu.iommu && f->file.fd >= 0) {
        tw_check_set(c, TW_CHECK_OK, "none; the driver works without");
    } else if (!f->npu.iommu) {
        int off = tw_doctor_find_line(patient, "/proc/cmdline", "iommu=off", NULL, 0);
        tw_check_set(c, TW_CHECK_FAILED, "the NPU is behind no IOMMU%s",
                     off ? ": the kernel's command line switches it off (iommu=off)" : "");
        tw_check_mend(c, off ? "sudo sed -i 's/[^ \"]*iommu=off//' /etc/default/grub && sudo update-grub && sudo reboot"
                             : "systemctl reboot --firmware-setup (and switch IOMMU on)");
    } else {
        int forced = tw_machine_path(path, patient->root, "/sys/module/amdxdna/parameters/force_iova") == 0 &&
                     tw_machine_line(path, line, sizeof line) > 0 && (line[0] == 'Y' || line[0] == '1');
        tw_check_set(c, TW_CHECK_OK,
                     forced ? "on; buffers are mapped for the NPU (force_iova)"
                            : "on; the NPU may share the process's page tables (SVA)");
    }
}

static int older(const struct tw_xdna_firmware *have, const uint32_t than[4])
{
    const uint32_t numbers[4] = {have->major, have->minor, have->patch, have->build};
    for (int i = 0; i < 4; i++)
        if (numbers[i] != than[i])
            return numbers[i] < than[i];
    return 0;
}

void tw_check_firmware(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    const struct tw_xdna_firmware *v = &f->facts.firmware;
    if (f->file.fd >= 0 && v->major != 0) {
        int too_old = older(v, firmware_oldest), unknown = older(v, firmware_known);
        tw_check_set(c,
                     too_old   ? TW_CHECK_FAILED
                     : unknown ? TW_CHECK_WARNING
                               : TW_CHECK_OK,
                     too_old   ? "%u.%u.%u.%u runs, which is too old (1.5 is needed)"
                     : unknown ? "%u.%u.%u.%u runs, older than what this program is known to work with (1.5.5.391)"
                               : "%u.%u.%u.%u runs",
                     v->major, v->minor, v->patch, v->build);
        if (too_old || unknown)
            tw_check_mend(c, "%s", f->distribution->firmware);
    } else if (f->file.fd >= 0) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "the driver does not tell its version");
    } else if (tw_doctor_has_firmware(patient)) {
        tw_check_set(c, TW_CHECK_OK, "amdnpu/1502_00 is installed");
    } else if (f->container || f->generation != TW_NPU_FIRST) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "not to be seen from here");
    } else {
        tw_check_set(c, TW_CHECK_FAILED, "amdnpu/1502_00/npu_7.sbin (or npu.sbin) is not in /lib/firmware");
        tw_check_mend(c, "%s", f->distribution->firmware);
    }
}
