/* Finding the NPU among the files of a machine, and programs in files. */
#include "cli/folder.h"
#include "device/copy_program.h"
#include "device/device.h"
#include "device/fake_driver.h"
#include "device/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void make_folder(const struct folder *root, const char *name)
{
    char path[2 * FOLDER_PATH];
    folder_path(root, name, path);
    for (char *slash = strchr(path + strlen(root->path) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    mkdir(path, 0755);
    assert_int_equal(access(path, X_OK), 0);
}

static void add_device(const struct folder *root, const char *slot, const char *vendor, const char *device)
{
    char name[FOLDER_PATH];
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s", slot);
    make_folder(root, name);
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/vendor", slot);
    folder_put(root, name, vendor, strlen(vendor));
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/device", slot);
    folder_put(root, name, device, strlen(device));
}

static void add_accelerator(const struct folder *root, const char *accelerator, const char *slot)
{
    char name[FOLDER_PATH], path[2 * FOLDER_PATH], target[FOLDER_PATH];
    snprintf(name, sizeof name, "sys/class/accel/%s", accelerator);
    make_folder(root, name);
    snprintf(name, sizeof name, "sys/class/accel/%s/device", accelerator);
    folder_path(root, name, path);
    snprintf(target, sizeof target, "../../../bus/pci/devices/%s", slot);
    assert_int_equal(symlink(target, path), 0);
}

static int open_device(const struct folder *root, struct tw_error *err)
{
    const struct tw_device_options options = {.kind = TW_DEVICE_NPU, .root = root->path};
    struct tw_device *device = NULL;
    int code = tw_device_open(&options, &device, err);
    assert_null(device);
    return code;
}

static void test_finding(void **state)
{
    struct folder root;
    struct tw_npu npu;
    struct tw_error err = {0};
    char node[2 * FOLDER_PATH];
    (void)state;
    folder_create(&root);
    assert_int_equal(tw_machine_find_npu(root.path, &npu), TW_NPU_NONE);
    assert_int_equal(open_device(&root, &err), TW_E_NO_DEVICE);
    assert_non_null(strstr(err.text, "--device emu"));

    /* The same numbers of another vendor; then a later generation. */
    add_device(&root, "0000:01:00.0", "0x10de\n", "0x1502\n");
    assert_int_equal(tw_machine_find_npu(root.path, &npu), TW_NPU_NONE);
    add_device(&root, "0000:02:00.0", "0x1022\n", "0x17f0\n");
    assert_int_equal(tw_machine_find_npu(root.path, &npu), TW_NPU_LATER);
    assert_int_equal(open_device(&root, &err), TW_E_NO_DEVICE);
    assert_non_null(strstr(err.text, "1022:17f0"));

    /* Both: the one that is known. Its node is not the first accelerator's. */
    add_device(&root, "0000:c5:00.1", "0x1022\n", "0x1502\n");
    assert_int_equal(tw_machine_find_npu(root.path, &npu), TW_NPU_FIRST);
    assert_string_equal(npu.slot, "0000:c5:00.1");
    assert_string_equal(npu.node, "");
    assert_int_equal(open_device(&root, &err), TW_E_NO_DEVICE);
    assert_non_null(strstr(err.text, "no node"));
    add_accelerator(&root, "accel0", "0000:02:00.0");
    add_accelerator(&root, "accel3", "0000:c5:00.1");
    assert_int_equal(tw_machine_find_npu(root.path, &npu), TW_NPU_FIRST);
    folder_path(&root, "dev/accel/accel3", node);
    assert_string_equal(npu.node, node);
    assert_int_equal(open_device(&root, &err), TW_E_NO_DEVICE);
    assert_non_null(strstr(err.text, "accel3"));
    make_folder(&root, "dev/accel");
    folder_put(&root, "dev/accel/accel3", "", 0);
    assert_int_equal(open_device(&root, &err), TW_E_NO_DEVICE); /* a file is no device */
    assert_non_null(strstr(err.text, "is no node of a driver"));
    folder_remove(&root);
}

static void test_choice(void **state)
{
    enum tw_device_kind kind;
    struct tw_error err = {0};
    (void)state;
    assert_int_equal(tw_device_kind_read("npu", &kind, &err), 0);
    assert_int_equal(kind, TW_DEVICE_NPU);
    assert_int_equal(tw_device_kind_read("emu", &kind, &err), 0);
    assert_int_equal(kind, TW_DEVICE_EMU);
    assert_int_equal(tw_device_kind_read("auto", &kind, &err), 0);
    assert_int_equal(kind, TW_DEVICE_AUTO);
    assert_int_equal(tw_device_kind_read("", &kind, &err), TW_E_ARGUMENT);
}

static int load(struct tw_device *device, const char *path, unsigned columns, struct tw_error *err)
{
    struct tw_context *context = NULL;
    int code = tw_context_load(device, path, columns, &context, err);
    tw_context_destroy(context);
    return code;
}

static void test_loading(void **state)
{
    struct fake_driver fake;
    struct folder folder;
    struct tw_device *device = NULL;
    struct tw_error err = {0};
    char path[2 * FOLDER_PATH];
    struct bytes pdi = copy_pdi();
    (void)state;
    folder_create(&folder);
    fake_driver_create(&fake);
    assert_int_equal(tw_device_open_calls(&fake.calls, "node", NULL, &device, &err), 0);
    folder_path(&folder, "program", path);
    assert_int_equal(load(device, path, 1, &err), TW_E_NOT_FOUND);
    folder_put(&folder, "program", "junk", 4);
    assert_int_equal(load(device, path, 1, &err), TW_E_FORMAT);
    folder_put(&folder, "program", "xclbin2", 8);
    assert_int_equal(load(device, path, 1, &err), TW_E_FORMAT);
    folder_put(&folder, "program", pdi.data, pdi.size - 16);
    assert_int_equal(load(device, path, 1, &err), TW_E_FORMAT);
    folder_put(&folder, "program", pdi.data, pdi.size);
    assert_int_equal(load(device, path, 0, &err), TW_E_ARGUMENT);
    assert_int_equal(load(device, path, 3, &err), 0);
    assert_int_equal(fake.context.tiles, 12);
    tw_device_close(device);
    assert_int_equal(fake_driver_leaks(&fake), 0);
    folder_remove(&folder);
    free(pdi.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
