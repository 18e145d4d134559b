/* Checks: is there an NPU, and does the kernel's driver have it? */
#include "cli/doctor.h"

#include <stdlib.h>
#include <string.h>

static const char in_emulator[] = "tilewright run --device emu FILE ... (the emulator needs no NPU)";

/* Family 25, models 0x70 to 0x7f: processors that exist with this NPU; the firmware setup may have switched it off. */
static int processor_may_have_one(const struct tw_patient *patient)
{
    char line[128];
    if (!tw_doctor_find_line(patient, "/proc/cpuinfo", "AuthenticAMD", NULL, 0) ||
        !tw_doctor_find_line(patient, "/proc/cpuinfo", "cpu family\t: 25", NULL, 0) ||
        !tw_doctor_find_line(patient, "/proc/cpuinfo", "model\t\t: ", line, sizeof line))
        return 0;
    const char *colon = strchr(line, ':'); /* a damaged line is longer than what was kept of it */
    long model = colon != NULL ? strtol(colon + 1, NULL, 10) : 0;
    return model >= 0x70 && model <= 0x7f;
}

void tw_check_pci(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    const struct tw_npu *npu = &f->npu;
    if (f->generation == TW_NPU_FIRST) {
        tw_check_set(c, TW_CHECK_OK, "NPU %04x:%04x, revision %u, at %s", npu->vendor, npu->device, npu->revision,
                     npu->slot);
    } else if (f->generation == TW_NPU_LATER) {
        tw_check_set(c, TW_CHECK_FAILED,
                     "the NPU at %s is %04x:%04x, of a later generation than this program is for (1022:1502)",
                     npu->slot, npu->vendor, npu->device);
        tw_check_mend(c, "%s", in_emulator);
    } else if (!tw_doctor_exists(patient, "/sys/bus/pci/devices")) {
        tw_check_set(c, TW_CHECK_FAILED, "/sys/bus/pci/devices is not there, so no device can be seen");
        tw_check_mend(c, "%s", f->container ? "docker run -v /sys:/sys:ro ..." : "sudo mount -t sysfs sysfs /sys");
    } else if (processor_may_have_one(patient)) {
        tw_check_set(
            c, TW_CHECK_FAILED,
            "no NPU (1022:1502) on the PCI bus, though processors of this family exist with one: look for IPU, "
            "NPU or AMD Ryzen AI in the firmware setup");
        tw_check_mend(c, "systemctl reboot --firmware-setup");
    } else {
        tw_check_set(c, TW_CHECK_FAILED, "no NPU (1022:1502) on the PCI bus");
        tw_check_mend(c, "%s", in_emulator);
    }
}

void tw_check_kernel(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    (void)patient;
    if (f->kernel[0] == '\0') {
        tw_check_set(c, TW_CHECK_UNKNOWN, "/proc does not say which kernel this is");
    } else if (!f->kernel_old) {
        tw_check_set(c, TW_CHECK_OK, "%s, which has the driver amdxdna (since 6.14)", f->kernel);
    } else if (f->module_loaded) {
        tw_check_set(c, TW_CHECK_WARNING, "%s is older than 6.14; its driver amdxdna comes from elsewhere", f->kernel);
        tw_check_mend(c, "%s", f->distribution->kernel);
    } else {
        tw_check_set(c, TW_CHECK_FAILED, "%s is older than 6.14 and has no driver amdxdna", f->kernel);
        tw_check_mend(c, "%s", f->distribution->kernel);
    }
}

void tw_check_module(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    char modules[TW_PATH_BYTES];
    if (f->module_loaded) {
        tw_check_set(c, TW_CHECK_OK, "amdxdna is loaded");
        return;
    }
    if (f->generation != TW_NPU_FIRST) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "no NPU to load amdxdna for");
        return;
    }
    int known = f->kernel[0] != '\0' && tw_machine_path(modules, "/lib/modules/", "%s/modules.dep", f->kernel) == 0 &&
                tw_doctor_exists(patient, "%s", modules);
    if (!known || tw_doctor_find_line(patient, modules, "amdxdna", NULL, 0)) {
        tw_check_set(c, TW_CHECK_FAILED, "the kernel's module amdxdna is not loaded");
        tw_check_mend(c, "sudo modprobe amdxdna");
    } else {
        tw_check_set(c, TW_CHECK_FAILED, "kernel %s has no module amdxdna (DRM_ACCEL_AMDXDNA is off)", f->kernel);
        tw_check_mend(c, "%s", f->distribution->kernel);
    }
}

/* The module is there and has not taken the device: why. */
static void not_bound(const struct tw_patient *patient, const struct tw_findings *f, struct tw_check *c)
{
    if (!f->npu.iommu) {
        tw_check_set(c, TW_CHECK_FAILED, "the driver has not taken the NPU at %s, which is behind no IOMMU",
                     f->npu.slot);
        tw_check_mend(c, "systemctl reboot --firmware-setup (and switch IOMMU on)");
    } else if (!f->container && !tw_doctor_has_firmware(patient)) {
        tw_check_set(c, TW_CHECK_FAILED,
                     "the driver has not taken the NPU at %s, as its firmware (amdnpu/1502_00) is not installed",
                     f->npu.slot);
        tw_check_mend(c, "%s", f->distribution->firmware);
    } else {
        tw_check_set(c, TW_CHECK_FAILED, "the driver has not taken the NPU at %s; the kernel's log says why",
                     f->npu.slot);
        tw_check_mend(c, "sudo dmesg | grep amdxdna");
    }
}

void tw_check_node(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    const char *node = f->npu.node + (f->npu.node[0] != '\0' ? strlen(patient->root) : 0);
    if (f->generation != TW_NPU_FIRST)
        tw_check_set(c, TW_CHECK_UNKNOWN, "no NPU, no node");
    else if (!f->module_loaded && node[0] == '\0')
        tw_check_set(c, TW_CHECK_UNKNOWN, "no module, no node");
    else if (node[0] == '\0')
        not_bound(patient, f, c);
    else if (tw_doctor_exists(patient, "%s", node))
        tw_check_set(c, TW_CHECK_OK, "%s", node);
    else if (f->container) {
        tw_check_set(c, TW_CHECK_FAILED, "the host has %s, but this container does not", node);
        tw_check_mend(c, "docker run --device %s ...", node);
    } else {
        tw_check_set(c, TW_CHECK_FAILED, "the kernel has made %s, but it is not in /dev", node);
        tw_check_mend(c, "sudo rmmod amdxdna; sudo modprobe amdxdna");
    }
}
