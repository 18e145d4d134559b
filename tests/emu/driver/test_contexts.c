/* Hardware contexts: what is refused, which columns they get, their CUs. */
#include "emu/driver/rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void refused_contexts(void **state)
{
    struct tw_xdna_qos none = {0};
    struct tw_xdna_qos greedy = {.gops = 10000, .frames_per_second = 1000};
    struct tw_xdna_qos hasty = {.gops = 100, .latency = 1};
    uint64_t qos = (uintptr_t)&none;
    const struct {
        const char *what;
        struct tw_xdna_create_context args;
        int expected;
    } rows[] = {
        {"extension", {.qos = qos, .tiles = 4, .extension = 1}, -EINVAL},
        {"extension flags", {.qos = qos, .tiles = 4, .extension_flags = 1}, -EINVAL},
        {"no quality of service", {.qos = 0, .tiles = 4}, -EFAULT},
        {"no tiles", {.qos = qos, .tiles = 0}, -EINVAL},
        {"less than a column", {.qos = qos, .tiles = 3}, -EINVAL},
        {"six columns", {.qos = qos, .tiles = 24}, -EINVAL},
        {"five columns", {.qos = qos, .tiles = 20}, -EOPNOTSUPP},
        {"more than the clock gives", {.qos = (uintptr_t)&greedy, .tiles = 4}, -EINVAL},
        {"too small a latency", {.qos = (uintptr_t)&hasty, .tiles = 4}, -EINVAL},
        {"a column and a rest", {.qos = qos, .tiles = 7}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        struct tw_xdna_create_context args = rows[i].args;
        rig_with_heap(&rig, NULL);
        int r = rig_ioctl(&rig, TW_XDNA_CREATE_CONTEXT, &args);
        if (r != rows[i].expected)
            fail_msg("%s: %d instead of %d", rows[i].what, r, rows[i].expected);
        rig_free(&rig);
    }
}

static void the_heap_comes_first(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(rig_try_context(&rig, 4, &made), -ENOENT);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES, &rig.heap_handle), 0);
    assert_int_equal(rig_try_context(&rig, 4, &made), -EAGAIN);
    rig_map_heap(&rig, 4096);
    assert_int_equal(rig_try_context(&rig, 4, &made), -EINVAL); /* mapped, but not at 64 MiB */
    rig_free(&rig);
}

static void full_heap(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    uint32_t handle;
    (void)state;
    rig_with_heap(&rig, NULL);
    /* The kernel takes four windows for each context. */
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_DEVICE, TW_XDNA_HEAP_BYTES - 7 * TW_XDNA_DEVICE_ALIGN, &handle), 0);
    assert_int_equal(rig_try_context(&rig, 4, &made), 0);
    assert_int_equal(rig_try_context(&rig, 4, &made), -ENOSPC);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(rig_new_buffer(&rig, TW_XDNA_DEVICE, 4096, &handle), 0);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_DEVICE, 4096, &handle), -ENOSPC);
    rig_free(&rig);
}

static void what_comes_back(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    (void)state;
    rig_with_heap(&rig, NULL);
    assert_int_equal(rig_try_context(&rig, 16, &made), 0);
    assert_int_equal(made.handle, 1);
    assert_int_equal(made.doorbell, UINT32_MAX);
    assert_int_not_equal(made.syncobj, 0);
    rig_free(&rig);
    rig_with_heap(&rig, &(struct tw_emu_driver_options){.no_syncobj = 1});
    assert_int_equal(rig_try_context(&rig, 16, &made), 0);
    assert_int_equal(made.syncobj, 0);
    rig_free(&rig);
}

/* Six in the whole system, whoever has them. */
static void the_seventh(void **state)
{
    struct rig a;
    struct rig b;
    struct tw_xdna_create_context made;
    uint32_t last = 0;
    (void)state;
    rig_with_heap(&a, NULL);
    rig_second(&b, &a);
    for (unsigned i = 0; i < TW_XDNA_CONTEXTS; i++) {
        assert_int_equal(rig_try_context(i % 2 ? &a : &b, 16, &made), 0);
        last = made.handle;
    }
    assert_int_equal(rig_try_context(&a, 16, &made), -EINVAL);
    assert_int_equal(rig_try_context(&b, 16, &made), -EINVAL);
    assert_int_equal(rig_destroy(&a, last), 0);
    assert_int_equal(rig_try_context(&b, 16, &made), 0);
    assert_int_equal(rig_try_context(&b, 16, &made), -EINVAL);
    rig_free(&b); /* closing gives them back */
    assert_int_equal(rig_try_context(&a, 16, &made), 0);
    rig_free(&a);
}

static unsigned start_column(const struct rig *rig, uint32_t handle)
{
    struct tw_xdna_context_info infos[TW_XDNA_CONTEXTS] = {{0}};
    struct tw_xdna_info args = {.query = TW_XDNA_QUERY_CONTEXTS, .bytes = sizeof infos, .buffer = (uintptr_t)infos};
    assert_int_equal(rig_ioctl(rig, TW_XDNA_GET_INFO, &args), 0);
    for (unsigned i = 0; i < TW_XDNA_CONTEXTS; i++)
        if (infos[i].context == handle)
            return infos[i].start_column;
    fail_msg("context %u is not listed", handle);
    return 0;
}

static uint32_t placed(const struct rig *rig, unsigned columns, unsigned expected)
{
    struct tw_xdna_create_context made;
    assert_int_equal(rig_try_context(rig, 4 * columns, &made), 0);
    assert_int_equal(start_column(rig, made.handle), expected);
    return made.handle;
}

static void columns(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    (void)state;
    rig_with_heap(&rig, NULL);
    placed(&rig, 1, 1);
    uint32_t second = placed(&rig, 1, 2);
    uint32_t wide = placed(&rig, 2, 3);
    placed(&rig, 1, 1); /* no free column: shared with the one that was first */
    placed(&rig, 1, 2); /* that one has two now */
    assert_int_equal(rig_try_context(&rig, 16, &made), -ENODEV); /* the others are narrower */
    assert_int_equal(rig_try_context(&rig, 12, &made), -ENODEV);
    placed(&rig, 2, 3);
    assert_int_equal(rig_destroy(&rig, wide), 0);
    placed(&rig, 2, 3);
    assert_int_equal(rig_destroy(&rig, second), 0);
    placed(&rig, 1, 2); /* shared by one again, the first column by two */
    rig_free(&rig);
}

static void four_columns_share(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    (void)state;
    rig_with_heap(&rig, NULL);
    placed(&rig, 4, 1);
    placed(&rig, 4, 1);
    assert_int_equal(rig_try_context(&rig, 4, &made), -ENODEV);
    rig_free(&rig);
}

static void handles_go_round(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    (void)state;
    rig_with_heap(&rig, NULL);
    for (uint32_t i = 0; i < 600; i++) {
        assert_int_equal(rig_try_context(&rig, 4, &made), 0);
        assert_int_equal(made.handle, i % 255 + 1);
        assert_int_equal(rig_destroy(&rig, made.handle), 0);
    }
    rig_free(&rig);
}

static void refused_destruction(void **state)
{
    struct rig rig;
    struct rig other;
    struct tw_xdna_create_context made;
    (void)state;
    rig_with_heap(&rig, NULL);
    rig_second(&other, &rig);
    assert_int_equal(rig_try_context(&rig, 4, &made), 0);
    struct tw_xdna_destroy_context args = {.handle = made.handle, .pad = 1};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_DESTROY_CONTEXT, &args), -EINVAL);
    assert_int_equal(rig_destroy(&other, made.handle), -EINVAL);
    assert_int_equal(rig_destroy(&rig, made.handle + 1), -EINVAL);
    assert_int_equal(rig_destroy(&rig, made.handle), 0);
    assert_int_equal(rig_destroy(&rig, made.handle), -EINVAL);
    rig_free(&other);
    rig_free(&rig);
}

static void refused_cus(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    (void)state;
    rig_with_heap(&rig, NULL);
    struct rig_buffer pdi = rig_buffer(&rig, TW_XDNA_DEVICE, 4096);
    struct rig_buffer share = rig_buffer(&rig, TW_XDNA_SHARE, 4096);
    struct tw_xdna_cus good = {.count = 1, .cu = {{.buffer = pdi.handle}}};
    struct tw_xdna_cus none = {.count = 0};
    struct tw_xdna_cus many = {.count = 33};
    struct tw_xdna_cus wrong = {.count = 1, .cu = {{.buffer = share.handle}}};
    struct tw_xdna_cus missing = {.count = 1, .cu = {{.buffer = 77}}};
    struct tw_xdna_cus padded = {.count = 1, .pad = {0, 0, 1}, .cu = {{.buffer = pdi.handle}}};
    static unsigned char page[8192];
    assert_int_equal(rig_try_context(&rig, 4, &made), 0);
    assert_int_equal(rig_config(&rig, made.handle, &none, 8), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, &many, sizeof many), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, &wrong, 16), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, &missing, 16), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, &padded, 16), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, &good, 15), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, (void *)page, 4097), -E2BIG);
    assert_int_equal(rig_config(&rig, made.handle, NULL, 16), -EFAULT);
    assert_int_equal(rig_config(&rig, made.handle + 1, &good, 16), -EINVAL);
    assert_int_equal(rig_config(&rig, made.handle, &good, 16), 0);
    assert_int_equal(rig_config(&rig, made.handle, &good, 16), -EINVAL); /* only once */
    struct tw_xdna_config_context args = {.handle = made.handle, .kind = 3};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_CONFIG_CONTEXT, &args), -EINVAL);
    args = (struct tw_xdna_config_context){.handle = made.handle, .kind = TW_XDNA_CONFIG_CUS, .pad = 1};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_CONFIG_CONTEXT, &args), -EINVAL);
    rig_unmap(&rig, &share);
    rig_free(&rig);
}

static int debug(const struct rig *rig, uint32_t context, uint32_t kind, uint32_t buffer)
{
    struct tw_xdna_config_context args = {.handle = context, .kind = kind, .value = buffer};
    return rig_ioctl(rig, TW_XDNA_CONFIG_CONTEXT, &args);
}

/* Debug buffers are the only ones that may be synchronised from the device. */
static void debug_buffers(void **state)
{
    struct rig rig;
    (void)state;
    rig_with_heap(&rig, NULL);
    struct rig_context c = rig_context(&rig, 1);
    struct rig_context other = rig_context(&rig, 1);
    struct rig_buffer b = rig_buffer(&rig, TW_XDNA_DEVICE, 4096);
    struct tw_xdna_sync_buffer sync = {.handle = b.handle, .direction = TW_XDNA_FROM_DEVICE, .bytes = 4096};
    assert_int_equal(debug(&rig, c.handle, TW_XDNA_CONFIG_DEBUG_OFF, b.handle), -EINVAL);
    assert_int_equal(debug(&rig, c.handle, TW_XDNA_CONFIG_DEBUG_ON, 99), -EINVAL);
    assert_int_equal(debug(&rig, c.handle, TW_XDNA_CONFIG_DEBUG_ON, b.handle), 0);
    assert_int_equal(debug(&rig, other.handle, TW_XDNA_CONFIG_DEBUG_ON, b.handle), -EBUSY);
    assert_int_equal(debug(&rig, other.handle, TW_XDNA_CONFIG_DEBUG_OFF, b.handle), -EINVAL);
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SYNC_BUFFER, &sync), 0);
    assert_int_equal(debug(&rig, c.handle, TW_XDNA_CONFIG_DEBUG_OFF, b.handle), 0);
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SYNC_BUFFER, &sync), -EINVAL);
    rig_free(&rig);
    rig_with_heap(&rig, &(struct tw_emu_driver_options){.kernel = TW_EMU_KERNEL_6_14});
    c = rig_context(&rig, 1);
    b = rig_buffer(&rig, TW_XDNA_DEVICE, 4096);
    assert_int_equal(debug(&rig, c.handle, TW_XDNA_CONFIG_DEBUG_ON, b.handle), -EOPNOTSUPP);
    sync.handle = b.handle;
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SYNC_BUFFER, &sync), 0);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_contexts),    cmocka_unit_test(the_heap_comes_first),
        cmocka_unit_test(full_heap),           cmocka_unit_test(what_comes_back),
        cmocka_unit_test(the_seventh),         cmocka_unit_test(columns),
        cmocka_unit_test(four_columns_share),  cmocka_unit_test(handles_go_round),
        cmocka_unit_test(refused_destruction), cmocka_unit_test(refused_cus),
        cmocka_unit_test(debug_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
