/* What the driver tells of itself, by kernel; and how ioctls of other sizes are taken. */
#include "emu/driver/rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int ask(const struct rig *rig, uint32_t query, void *room, uint32_t bytes)
{
    struct tw_xdna_info args = {.query = query, .bytes = bytes, .buffer = (uintptr_t)room};
    return rig_ioctl(rig, TW_XDNA_GET_INFO, &args);
}

static void versions(void **state)
{
    static const struct {
        enum tw_emu_kernel kernel;
        int major, minor;
    } rows[] = {{TW_EMU_KERNEL_7_3, 0, 10},
                {TW_EMU_KERNEL_7_1, 0, 8},
                {TW_EMU_KERNEL_6_14, 0, 0},
                {TW_EMU_KERNEL_OUT_OF_TREE, 0, 16},
                {TW_EMU_KERNEL_2024, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        char name[64] = "";
        struct tw_drm_version v = {.name = name, .name_bytes = 7};
        rig_create(&rig, &(struct tw_emu_driver_options){.kernel = rows[i].kernel});
        assert_int_equal(rig_ioctl(&rig, TW_DRM_VERSION, &v), 0);
        assert_int_equal(v.major, rows[i].major);
        assert_int_equal(v.minor, rows[i].minor);
        assert_int_equal(v.name_bytes, strlen(TW_XDNA_DRIVER_NAME));
        assert_string_equal(name, "amdxdna");
        assert_int_equal(rig_ioctl(&rig, TW_DRM_VERSION, &v), 0);
        assert_string_equal(name, TW_XDNA_DRIVER_NAME);
        rig_free(&rig);
    }
}

static void the_old_driver_is_another(void **state)
{
    struct rig rig;
    uint32_t handle;
    (void)state;
    rig_create(&rig, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_2024});
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_SHARE, 4096, &handle), -EINVAL);
    rig_free(&rig);
}

static void facts(void **state)
{
    struct rig rig;
    struct tw_xdna_aie_metadata metadata;
    struct tw_xdna_version version;
    struct tw_xdna_firmware firmware;
    struct tw_xdna_clocks clocks;
    struct tw_xdna_resources resources;
    struct tw_xdna_aie_status status = {0};
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_AIE_METADATA, &metadata, sizeof metadata), 0);
    assert_int_equal(metadata.columns, 5);
    assert_int_equal(metadata.rows, 6);
    assert_int_equal(metadata.core.row_start, 2);
    assert_int_equal(metadata.core.row_count, 4);
    assert_int_equal(metadata.memory.locks, 64);
    assert_int_equal(metadata.shim.dma_channels, 2);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_AIE_VERSION, &version, sizeof version), 0);
    assert_int_equal(version.major, 2);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_FIRMWARE, &firmware, sizeof firmware), 0);
    assert_int_equal(firmware.build, 391);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_CLOCKS, &clocks, sizeof clocks), 0);
    assert_string_equal(clocks.array.name, "H Clock");
    assert_string_equal(clocks.npu.name, "MP-NPU Clock");
    assert_int_equal(clocks.npu.mhz, 600);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_RESOURCES, &resources, sizeof resources), 0);
    assert_int_equal(resources.contexts_max, 6);
    assert_int_equal(resources.contexts_now, 0);
    assert_int_equal(resources.tops_max, 10);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_AIE_STATUS, &status, sizeof status), -EINVAL);
    for (uint32_t q = 0; q < 20; q++)
        if (q == TW_XDNA_QUERY_SENSORS || q == TW_XDNA_QUERY_TELEMETRY || q == 6 || q == 7 || q == 11 || q > 12)
            assert_int_equal(ask(&rig, q, &metadata, sizeof metadata), -EOPNOTSUPP);
    assert_int_equal(ask(&rig, 0x80000000u, &metadata, sizeof metadata), -EOPNOTSUPP);
    rig_free(&rig);
}

static void little_room(void **state)
{
    struct rig rig;
    uint32_t words[4] = {9, 9, 9, 9};
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_FIRMWARE, words, 8), 0);
    assert_int_equal(words[0], 1);
    assert_int_equal(words[1], 5);
    assert_int_equal(words[2], 9);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_FIRMWARE, NULL, 8), -EFAULT);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_FIRMWARE, NULL, 0), 0);
    rig_free(&rig);
}

static int set_mode(const struct rig *rig, uint8_t mode, uint8_t pad)
{
    struct tw_xdna_power power = {.mode = mode, .pad = {pad}};
    struct tw_xdna_info args = {.query = TW_XDNA_STATE_POWER_MODE, .bytes = sizeof power, .buffer = (uintptr_t)&power};
    return rig_ioctl(rig, TW_XDNA_SET_STATE, &args);
}

static void power_modes(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    struct tw_xdna_clocks clocks;
    struct tw_xdna_power power;
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(set_mode(&rig, TW_XDNA_POWER_LOW, 0), -EACCES);
    rig_free(&rig);
    rig_with_heap(&rig, &(struct tw_emu_driver_options){.root = 1});
    assert_int_equal(set_mode(&rig, TW_XDNA_POWER_LOW, 0), 0);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_CLOCKS, &clocks, sizeof clocks), 0);
    assert_int_equal(clocks.array.mhz, 800);
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_POWER_MODE, &power, sizeof power), 0);
    assert_int_equal(power.mode, TW_XDNA_POWER_LOW);
    assert_int_equal(set_mode(&rig, 5, 0), -EINVAL);
    assert_int_equal(set_mode(&rig, TW_XDNA_POWER_HIGH, 1), -EINVAL);
    assert_int_equal(set_mode(&rig, TW_XDNA_POWER_TURBO, 0), 0);
    assert_int_equal(set_mode(&rig, TW_XDNA_POWER_DEFAULT, 0), 0);
    assert_int_equal(rig_try_context(&rig, 4, &made), 0);
    assert_int_equal(set_mode(&rig, TW_XDNA_POWER_TURBO, 0), -EINVAL);
    struct tw_xdna_info args = {.query = 3};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SET_STATE, &args), -EOPNOTSUPP);
    args = (struct tw_xdna_info){.query = TW_XDNA_STATE_POWER_MODE};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SET_STATE, &args), -EFAULT);
    rig_free(&rig);
}

static int ask_array(const struct rig *rig, uint32_t query, void *room, uint32_t bytes, uint32_t *n)
{
    struct tw_xdna_array args = {.query = query, .element_bytes = bytes, .elements = *n, .buffer = (uintptr_t)room};
    int r = rig_ioctl(rig, TW_XDNA_GET_ARRAY, &args);
    *n = args.elements;
    return r;
}

static void contexts_listed(void **state)
{
    struct rig rig;
    struct tw_xdna_context_entry entries[3];
    uint32_t n = 3;
    (void)state;
    rig_with_heap(&rig, NULL);
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, entries, sizeof *entries, &n), 0);
    assert_int_equal(n, 0);
    struct rig_context c = rig_context(&rig, 2);
    rig_context(&rig, 1);
    struct rig_buffer command = rig_buffer(&rig, TW_XDNA_COMMAND, 4096);
    struct rig_buffer code = rig_code(&rig, DO_NOTHING, 0);
    rig_packet(&command, &code, NULL, 0);
    rig_do(&rig, &c, &command, NULL, 0);
    n = 3;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, entries, sizeof *entries, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(entries[0].context, c.handle);
    assert_int_equal(entries[0].handle, 5); /* the firmware counts down from 5 */
    assert_int_equal(entries[1].handle, 4);
    assert_int_equal(entries[0].columns, 2);
    assert_int_equal(entries[1].start_column, 3);
    assert_int_equal(entries[0].pid, getpid());
    assert_int_equal(entries[0].submissions, 1);
    assert_int_equal(entries[0].completions, 1);
    assert_int_equal(entries[0].state, 0);
    assert_int_equal(entries[0].errors, 0);
    code = rig_code(&rig, DO_FAIL, 1);
    rig_packet(&command, &code, NULL, 0);
    rig_do(&rig, &c, &command, NULL, 0);
    tw_emu_driver_event(rig.driver, TW_EMU_SUSPEND);
    n = 1;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, entries, sizeof *entries, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(entries[0].errors, 1);
    assert_int_equal(entries[0].completions, 2);
    assert_int_equal(entries[0].suspensions, 1);
    n = 0;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, entries, sizeof *entries, &n), -EINVAL);
    n = 1;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, entries, 0, &n), -EINVAL);
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, entries, 5000, &n), -EINVAL);
    n = 1;
    assert_int_equal(ask_array(&rig, 1, entries, sizeof *entries, &n), -EOPNOTSUPP);
    rig_unmap(&rig, &command);
    rig_free(&rig);
}

static uint32_t bytes_told(enum tw_emu_kernel kernel, uint32_t room, int expected)
{
    struct rig rig;
    struct tw_xdna_context_info infos[4];
    rig_with_heap(&rig, &(struct tw_emu_driver_options){.kernel = kernel});
    struct rig_context c = rig_context(&rig, 1);
    rig_context(&rig, 1);
    struct tw_xdna_info args = {
        .query = TW_XDNA_QUERY_CONTEXTS, .bytes = room * (uint32_t)sizeof *infos, .buffer = (uintptr_t)infos};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_GET_INFO, &args), expected);
    if (expected == 0)
        assert_int_equal(infos[0].context, c.handle);
    rig_free(&rig);
    return args.bytes;
}

/* The old way of asking, whose answer has changed its meaning. */
static void contexts_listed_of_old(void **state)
{
    const uint32_t size = sizeof(struct tw_xdna_context_info);
    (void)state;
    assert_int_equal(bytes_told(TW_EMU_KERNEL_6_14, 4, 0), 2 * size);
    assert_int_equal(bytes_told(TW_EMU_KERNEL_7_3, 3, 0), size);
    assert_int_equal(bytes_told(TW_EMU_KERNEL_7_3, 1, 0), 0);
    bytes_told(TW_EMU_KERNEL_6_14, 1, -EINVAL);
}

static void last_error_and_memory(void **state)
{
    struct rig rig;
    struct tw_xdna_async_error error;
    struct tw_xdna_memory_use use = {.pid = getpid()};
    uint32_t n = 1;
    (void)state;
    rig_with_heap(&rig, NULL);
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_LAST_ERROR, &error, sizeof error, &n), 0);
    assert_int_equal(n, 0);
    struct rig_buffer b = rig_buffer(&rig, TW_XDNA_SHARE, 8192);
    rig_code(&rig, DO_NOTHING, 0);
    n = 1;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_MEMORY, &use, sizeof use, &n), 0);
    assert_int_equal(use.total, TW_XDNA_HEAP_BYTES + 8192);
    assert_int_equal(use.internal, TW_XDNA_HEAP_BYTES);
    assert_int_equal(use.heap, 4096);
    use.pid = -1;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_MEMORY, &use, sizeof use, &n), -EINVAL);
    n = 2;
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_MEMORY, &use, sizeof use, &n), -EINVAL);
    rig_unmap(&rig, &b);
    rig_free(&rig);
}

static void what_old_kernels_lack(void **state)
{
    struct rig rig;
    struct tw_xdna_resources resources;
    struct tw_xdna_context_entry entry;
    uint32_t n = 1;
    (void)state;
    rig_create(&rig, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_6_14});
    assert_int_equal(ask(&rig, TW_XDNA_QUERY_RESOURCES, &resources, sizeof resources), -EOPNOTSUPP);
    assert_int_equal(ask_array(&rig, TW_XDNA_ARRAY_CONTEXTS, &entry, sizeof entry, &n), -EINVAL);
    rig_free(&rig);
}

static void ioctl_numbers(void **state)
{
    struct rig rig;
    unsigned char room[256] = {0};
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(rig_ioctl(&rig, 0xc0386540u, room), -ENOTTY); /* another type */
    assert_int_equal(rig_ioctl(&rig, 0xc038644bu, room), -EINVAL);
    assert_int_equal(rig_ioctl(&rig, 0xc0386401u, room), -EINVAL);
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_CREATE_BUFFER, NULL), -EFAULT);
    /* Shorter and longer structures: what is not there counts as zero, what is too much comes back as zero. */
    struct tw_xdna_create_buffer args = {.kind = TW_XDNA_SHARE, .bytes = 4096};
    memcpy(room, &args, sizeof args);
    room[100] = 1;
    assert_int_equal(rig_ioctl(&rig, (TW_XDNA_CREATE_BUFFER & ~(0x3fffu << 16)) | 128u << 16, room), 0);
    assert_int_equal(room[100], 1);
    struct tw_drm_gem_close close = {.handle = 1, .pad = 5};
    assert_int_equal(rig_ioctl(&rig, (TW_DRM_GEM_CLOSE & ~(0x3fffu << 16)) | 4u << 16, &close), 0);
    /* WAIT has two numbers in the world, which differ in direction only. */
    struct tw_xdna_wait wait = {.context = 1};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_WAIT, &wait), -EOPNOTSUPP);
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_WAIT | 3u << 30, &wait), -EOPNOTSUPP);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(the_old_driver_is_another),
        cmocka_unit_test(facts),
        cmocka_unit_test(little_room),
        cmocka_unit_test(power_modes),
        cmocka_unit_test(contexts_listed),
        cmocka_unit_test(contexts_listed_of_old),
        cmocka_unit_test(last_error_and_memory),
        cmocka_unit_test(what_old_kernels_lack),
        cmocka_unit_test(ioctl_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
