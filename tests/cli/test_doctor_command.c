/* tilewright doctor on machines that are made of files: the first check that fails, and what mends it. */
#include "cli/doctor.h"
#include "cli/folder.h"
#include "cli/program.h"
#include "device/fake_driver.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SLOT "sys/bus/pci/devices/0000:c5:00.1"
#define RELEASE "6.17.0-5-generic"
#define LIMITS(soft)                                                                                                   \
    "Limit                     Soft Limit           Hard Limit           Units     \n"                                 \
    "Max locked memory         " soft "              bytes     \n"

/* "PATH=TEXT" makes a file ("PATH=@GROUP" one that calls this process's group so), "PATH>TARGET" a link, "PATH!" takes
 * the group's rights, "PATH/" a folder, "-PATH" removes what was there. */
static const char *const healthy[] = {
    SLOT "/vendor=0x1022\n",
    SLOT "/device=0x1502\n",
    SLOT "/revision=0x00\n",
    SLOT "/driver>../../../../bus/pci/drivers/amdxdna",
    SLOT "/iommu_group>../../../../kernel/iommu_groups/21",
    "sys/bus/pci/devices/0000:00:00.0/vendor=0x1022\n",
    "sys/bus/pci/devices/0000:00:00.0/device=0x14e8\n",
    "sys/class/accel/accel0/device>../../../0000:c5:00.1",
    "sys/module/amdxdna/refcnt=0\n",
    "dev/accel/accel0=",
    "proc/sys/kernel/osrelease=" RELEASE "\n",
    "proc/self/limits=" LIMITS("unlimited            unlimited"),
    "proc/self/status=Name:\tdoctor\nCapEff:\t0000000000000000\n",
    "etc/os-release=PRETTY_NAME=\"Ubuntu\"\nID=ubuntu\n",
    "lib/firmware/amdnpu/1502_00/npu_7.sbin.zst=x",
    "lib/modules/" RELEASE "/modules.dep=kernel/drivers/accel/amdxdna/amdxdna.ko.zst: kernel/drivers/gpu/drm.ko\n",
    NULL};

enum { CHANGES = 8 };

struct machine {
    const char *name;
    const char *changes[CHANGES];
    void (*driver)(struct fake_driver *f);
    int first; /* TW_CHECK_PCI ..., -1: none */
    enum tw_check_state state;
    const char *text, *mend; /* parts of them */
};

static void denied(struct fake_driver *f)
{
    f->open_errno = EACCES;
}

static void gone(struct fake_driver *f)
{
    f->open_errno = ENODEV;
}

static void not_drm(struct fake_driver *f)
{
    f->fail[0].number = TW_DRM_NUMBER_VERSION;
    f->fail[0].errno_value = ENOTTY;
    f->fail[0].times = 1;
}

static void driver_of_2024(struct fake_driver *f)
{
    f->major = 1;
    f->minor = 0;
}

static void old_firmware(struct fake_driver *f)
{
    f->firmware = (struct tw_xdna_firmware){1, 4, 2, 7};
}

static void older_firmware(struct fake_driver *f)
{
    f->firmware = (struct tw_xdna_firmware){1, 5, 5, 336};
}

static void all_taken(struct fake_driver *f)
{
    f->contexts_taken = 6;
}

static void one_free(struct fake_driver *f)
{
    f->contexts_taken = 5;
}

#define LONG "................................................................"
#define NO_MODULE "-sys/module", "-" SLOT "/driver", "-sys/class/accel", "-dev/accel"
#define NOT_BOUND "-" SLOT "/driver", "-sys/class/accel", "-dev/accel"

static const struct machine machines[] = {
    {"healthy", {NULL}, NULL, -1, TW_CHECK_OK, "", ""},
    {"one context free", {NULL}, one_free, -1, TW_CHECK_OK, "", ""},
    {"no NPU", {"-" SLOT, NO_MODULE}, NULL, TW_CHECK_PCI, TW_CHECK_FAILED, "no NPU (1022:1502)", "--device emu"},
    {"switched off in the firmware setup",
     {"-" SLOT, NO_MODULE, "proc/cpuinfo=vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 117\n"},
     NULL,
     TW_CHECK_PCI,
     TW_CHECK_FAILED,
     "firmware setup",
     "--firmware-setup"},
    {"damaged list of processors",
     {"-" SLOT, NO_MODULE, "proc/cpuinfo=AuthenticAMD\ncpu family\t: 25\n" LONG LONG "model\t\t: 117\n"},
     NULL,
     TW_CHECK_PCI,
     TW_CHECK_FAILED,
     "no NPU (1022:1502)",
     "--device emu"},
    {"second generation", {SLOT "/device=0x17f0\n"}, NULL, TW_CHECK_PCI, TW_CHECK_FAILED, "1022:17f0", "--device emu"},
    {"no /sys", {"-sys"}, NULL, TW_CHECK_PCI, TW_CHECK_FAILED, "/sys/bus/pci", "mount -t sysfs"},
    {"no /sys in a container",
     {"-sys", ".dockerenv="},
     NULL,
     TW_CHECK_PCI,
     TW_CHECK_FAILED,
     "/sys",
     "docker run -v /sys"},
    {"kernel too old",
     {NO_MODULE, "proc/sys/kernel/osrelease=6.8.0-90-generic\n"},
     NULL,
     TW_CHECK_KERNEL,
     TW_CHECK_FAILED,
     "6.8.0-90-generic is older",
     "linux-generic-hwe"},
    {"kernel too old, Debian",
     {NO_MODULE, "proc/sys/kernel/osrelease=6.12.9-amd64\n", "etc/os-release=ID=debian\n"},
     NULL,
     TW_CHECK_KERNEL,
     TW_CHECK_FAILED,
     "older than 6.14",
     "trixie-backports"},
    {"driver from elsewhere on an old kernel",
     {"proc/sys/kernel/osrelease=6.8.0-90-generic\n"},
     NULL,
     TW_CHECK_KERNEL,
     TW_CHECK_WARNING,
     "comes from elsewhere",
     "linux-generic-hwe"},
    {"module not loaded", {NO_MODULE}, NULL, TW_CHECK_MODULE, TW_CHECK_FAILED, "not loaded", "sudo modprobe amdxdna"},
    {"kernel without the module",
     {NO_MODULE, "lib/modules/" RELEASE "/modules.dep=kernel/fs/ext4.ko:\n", "etc/os-release=ID=\"fedora\"\n"},
     NULL,
     TW_CHECK_MODULE,
     TW_CHECK_FAILED,
     "DRM_ACCEL_AMDXDNA",
     "dnf upgrade kernel"},
    {"no node", {"-dev/accel"}, NULL, TW_CHECK_NODE, TW_CHECK_FAILED, "not in /dev", "modprobe amdxdna"},
    {"container without node",
     {"-dev/accel", "run/.containerenv="},
     NULL,
     TW_CHECK_NODE,
     TW_CHECK_FAILED,
     "this container does not",
     "--device /dev/accel/accel0"},
    {"firmware not installed",
     {NOT_BOUND, "-lib/firmware", "etc/os-release=ID=arch\n"},
     NULL,
     TW_CHECK_NODE,
     TW_CHECK_FAILED,
     "firmware (amdnpu/1502_00) is not installed",
     "pacman -Syu linux-firmware"},
    {"no IOMMU",
     {NOT_BOUND, "-" SLOT "/iommu_group"},
     NULL,
     TW_CHECK_NODE,
     TW_CHECK_FAILED,
     "no IOMMU",
     "--firmware-setup"},
    {"not bound for another reason", {NOT_BOUND}, NULL, TW_CHECK_NODE, TW_CHECK_FAILED, "log says why", "dmesg"},
    {"no permission",
     {NULL},
     denied,
     TW_CHECK_PERMISSION,
     TW_CHECK_FAILED,
     "permission denied",
     "usermod -aG npu-users"},
    {"node of the group root",
     {"etc/group=@root"},
     denied,
     TW_CHECK_PERMISSION,
     TW_CHECK_FAILED,
     "group root",
     "GROUP=\"render\""},
    {"node as the kernel makes it",
     {"dev/accel/accel0!"},
     denied,
     TW_CHECK_PERMISSION,
     TW_CHECK_FAILED,
     "mode 0600",
     "GROUP=\"render\""},
    {"node of nothing", {NULL}, not_drm, TW_CHECK_PERMISSION, TW_CHECK_FAILED, "is no node", "modprobe amdxdna"},
    {"no permission in a container",
     {".dockerenv="},
     denied,
     TW_CHECK_PERMISSION,
     TW_CHECK_FAILED,
     "permission denied",
     "--group-add"},
    {"driver of 2024", {NULL}, driver_of_2024, TW_CHECK_PERMISSION, TW_CHECK_FAILED, "interface is 1.0", "apt install"},
    {"device gone", {NULL}, gone, TW_CHECK_PERMISSION, TW_CHECK_FAILED, "cannot be opened", "rmmod amdxdna"},
    {"firmware too old", {NULL}, old_firmware, TW_CHECK_FIRMWARE, TW_CHECK_FAILED, "1.4.2.7", "install linux-firmware"},
    {"firmware a little older",
     {NULL},
     older_firmware,
     TW_CHECK_FIRMWARE,
     TW_CHECK_WARNING,
     "1.5.5.336",
     "install linux-firmware"},
    {"little locked memory",
     {"proc/self/limits=" LIMITS("8388608              8388608  ")},
     NULL,
     TW_CHECK_MEMLOCK,
     TW_CHECK_WARNING,
     "only 8192 KiB",
     "limits.d"},
    {"no locked memory in a container",
     {"proc/self/limits=" LIMITS("0                    0        "), "run/systemd/container=docker\n"},
     NULL,
     TW_CHECK_MEMLOCK,
     TW_CHECK_WARNING,
     "only 0 KiB",
     "--ulimit memlock=-1"},
    {"little locked memory, but allowed to",
     {"proc/self/limits=" LIMITS("8388608              8388608  "), "proc/self/status=CapEff:\t0000000000004000\n"},
     NULL,
     -1,
     TW_CHECK_OK,
     "",
     ""},
    {"all contexts taken",
     {"proc/4002/comm=llama-server\n"},
     all_taken,
     TW_CHECK_CONTEXTS,
     TW_CHECK_FAILED,
     "llama-server (pid 4002)",
     "kill 4000 4001 4002 4003 4004 4005"},
    {"nothing at all", {"-sys", "-dev", "-proc", "-etc", "-lib"}, NULL, TW_CHECK_PCI, TW_CHECK_FAILED, "/sys", "sysfs"},
    {"damaged files",
     {SLOT "/vendor=\xff\xfe", "proc/self/limits=Max locked memory", "-etc/os-release", "etc/os-release/",
      "proc/sys/kernel/osrelease=", "-dev/accel/accel0", "dev/accel/accel0/"},
     NULL,
     TW_CHECK_PCI,
     TW_CHECK_FAILED,
     "no NPU",
     "--device emu"},
};

static void make_folders(const char *path)
{
    char part[2 * FOLDER_PATH];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        size_t size = (size_t)(slash - path);
        memcpy(part, path, size);
        part[size] = '\0';
        if (mkdir(part, 0755) != 0)
            assert_int_equal(errno, EEXIST);
    }
}

static void apply(const struct folder *root, const char *change)
{
    char name[FOLDER_PATH], path[2 * FOLDER_PATH];
    if (change[0] == '-') {
        char command[3 * FOLDER_PATH];
        folder_path(root, change + 1, path);
        snprintf(command, sizeof command, "rm -rf '%s'", path);
        assert_int_equal(system(command), 0);
        return;
    }
    size_t size = strcspn(change, "=>!");
    assert_true(size < sizeof name);
    memcpy(name, change, size);
    name[size] = '\0';
    folder_path(root, name, path);
    make_folders(path);
    if (change[size] == '=' && change[size + 1] == '@') {
        char group[64];
        int bytes = snprintf(group, sizeof group, "%s:x:%u:\n", change + size + 2, (unsigned)getgid());
        folder_put(root, name, group, (size_t)bytes);
    } else if (change[size] == '!') {
        assert_int_equal(chmod(path, 0600), 0);
    } else if (change[size] == '=')
        folder_put(root, name, change + size + 1, strlen(change + size + 1));
    else if (change[size] == '>')
        assert_int_equal(symlink(change + size + 1, path), 0);
}

static void build(const struct folder *root, const char *const changes[CHANGES])
{
    char group[64];
    for (size_t i = 0; healthy[i] != NULL; i++)
        apply(root, healthy[i]);
    snprintf(group, sizeof group, "etc/group=root:x:99999:\nnpu-users:x:%u:me\n", (unsigned)getgid());
    apply(root, group);
    for (size_t i = 0; i < CHANGES && changes[i] != NULL; i++)
        apply(root, changes[i]);
}

static void check_machine(const struct machine *m)
{
    struct folder root;
    struct fake_driver driver;
    struct tw_diagnosis d;
    folder_create(&root);
    fake_driver_create(&driver);
    build(&root, m->changes);
    if (m->driver != NULL)
        m->driver(&driver);
    const struct tw_patient patient = {.root = root.path, .calls = &driver.calls};
    tw_doctor_examine(&patient, &d);
    assert_true(driver.closed);
    folder_remove(&root);

    if (d.first != m->first)
        fail_msg("%s: first is %s (%s)", m->name, d.first < 0 ? "none" : d.checks[d.first].name,
                 d.first < 0 ? "" : d.checks[d.first].text);
    assert_int_equal(tw_doctor_healthy(&d), m->first < 0 || m->state == TW_CHECK_WARNING);
    for (int i = 0; i < TW_CHECKS; i++) {
        assert_true(d.checks[i].text[0] != '\0');
        assert_int_equal(d.checks[i].mend[0] != '\0',
                         d.checks[i].state == TW_CHECK_FAILED || d.checks[i].state == TW_CHECK_WARNING);
    }
    if (m->first < 0)
        return;
    const struct tw_check *c = &d.checks[m->first];
    if (c->state != m->state || strstr(c->text, m->text) == NULL || strstr(c->mend, m->mend) == NULL)
        fail_msg("%s: state %d, '%s', mend '%s'", m->name, (int)c->state, c->text, c->mend);
}

static void test_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        check_machine(&machines[i]);
}

/* The command itself, on a machine whose module is not loaded. */
static void test_command(void **state)
{
    static const char *const no_module[CHANGES] = {NO_MODULE};
    struct folder root, scratch;
    (void)state;
    folder_create(&root);
    folder_create(&scratch);
    build(&root, no_module);
    struct finished f =
        program_run(&scratch, (struct streams){0}, (const char *[]){"doctor", "--root", root.path, NULL});
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.out, "failed   module"));
    assert_non_null(strstr(f.out, "mend: sudo modprobe amdxdna"));
    assert_non_null(strstr(f.out, "Mend first: module."));
    assert_string_equal(f.err, "");
    program_release(&f);

    f = program_run(&scratch, (struct streams){0}, (const char *[]){"doctor", "--json", "--root", root.path, NULL});
    assert_int_equal(f.code, 1);
    json_t *all = json_loads(f.out, 0, NULL);
    assert_non_null(all);
    assert_false(json_is_true(json_object_get(all, "ok")));
    assert_string_equal(json_string_value(json_object_get(all, "first")), "module");
    json_t *checks = json_object_get(all, "checks");
    assert_int_equal(json_array_size(checks), TW_CHECKS);
    assert_string_equal(json_string_value(json_object_get(json_array_get(checks, 0), "state")), "ok");
    assert_string_equal(json_string_value(json_object_get(json_array_get(checks, 2), "mend")), "sudo modprobe amdxdna");
    json_decref(all);
    program_release(&f);
    folder_remove(&root);
    folder_remove(&scratch);
}

/* Wherever this runs, it does not crash. */
static void test_this_machine(void **state)
{
    struct folder scratch;
    (void)state;
    folder_create(&scratch);
    struct finished f = program_run(&scratch, (struct streams){0}, (const char *[]){"doctor", NULL});
    assert_true(f.code == 0 || f.code == 1);
    program_release(&f);
    for (int json = 0; json < 2; json++) {
        const char *const arguments[] = {"doctor", json ? "--json" : NULL, NULL};
        f = program_run(&scratch, (struct streams){.out = "/dev/full"}, arguments);
        assert_int_equal(f.code, 1);
        assert_non_null(strstr(f.err, "standard output"));
        program_release(&f);
    }
    f = program_run(&scratch, (struct streams){0}, (const char *[]){"doctor", "extra", NULL});
    assert_int_equal(f.code, 2);
    program_release(&f);
    f = program_run(&scratch, (struct streams){0}, (const char *[]){"doctor", "--help", NULL});
    assert_int_equal(f.code, 0);
    assert_non_null(strstr(f.out, "Usage: tilewright doctor"));
    program_release(&f);
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
