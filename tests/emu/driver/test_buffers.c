/* Buffer objects: what is refused, where they lie, how they are mapped. */
#include "emu/driver/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static void nodes_that_do_not_open(void **state)
{
    struct rig rig;
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(rig.calls->open(rig.calls->context, "/dev/accel/accel1", O_RDWR), -ENOENT);
    rig_free(&rig);
    rig_create(&rig, &(struct tw_emu_driver_options){.open_error = EACCES});
    assert_int_equal(rig.fd, -EACCES);
    rig_free(&rig);
    rig_create(&rig, &(struct tw_emu_driver_options){.node = "/tmp/npu"});
    assert_int_equal(rig.fd, -ENOENT);
    assert_true((rig.fd = rig.calls->open(rig.calls->context, "/tmp/npu", O_RDWR)) >= 0);
    rig_free(&rig);
}

static void descriptors(void **state)
{
    struct rig rig;
    struct tw_drm_version version = {0};
    (void)state;
    rig_create(&rig, NULL);
    void *context = rig.calls->context;
    assert_int_equal(rig.calls->ioctl(context, rig.fd + 1, TW_DRM_VERSION, &version), -EBADF);
    assert_int_equal(rig.calls->close(context, rig.fd + 1), -EBADF);
    assert_int_equal(rig.calls->close(context, rig.fd), 0);
    assert_int_equal(rig.calls->close(context, rig.fd), -EBADF);
    rig.fd = -1;
    rig_free(&rig);
}

/* Each row is one buffer asked of a fresh file with (or without) a mapped heap. */
static void refused_buffers(void **state)
{
    static const struct {
        const char *what;
        int heap; /* 0 none, 1 not mapped, 2 mapped */
        struct tw_xdna_create_buffer args;
        int expected;
    } rows[] = {
        {"flags", 0, {.kind = TW_XDNA_SHARE, .bytes = 4096, .flags = 1}, -EINVAL},
        {"no kind", 0, {.kind = 0, .bytes = 4096}, -EINVAL},
        {"kind 5", 0, {.kind = 5, .bytes = 4096}, -EINVAL},
        {"empty", 0, {.kind = TW_XDNA_SHARE, .bytes = 0}, -EINVAL},
        {"empty command", 0, {.kind = TW_XDNA_COMMAND, .bytes = 0}, -EINVAL},
        {"too large for any machine", 0, {.kind = TW_XDNA_SHARE, .bytes = UINT64_MAX}, -ENOMEM},
        {"empty heap", 0, {.kind = TW_XDNA_HEAP, .bytes = 0}, -EINVAL},
        {"heap of 63 MiB", 0, {.kind = TW_XDNA_HEAP, .bytes = 63 * MIB}, -EINVAL},
        {"heap of 48 MiB", 0, {.kind = TW_XDNA_HEAP, .bytes = 48 * MIB}, -EINVAL},
        {"heap of 128 MiB", 0, {.kind = TW_XDNA_HEAP, .bytes = 128 * MIB}, -ENOSPC},
        {"second heap", 1, {.kind = TW_XDNA_HEAP, .bytes = 64 * MIB}, -EOPNOTSUPP},
        {"device buffer without heap", 0, {.kind = TW_XDNA_DEVICE, .bytes = 4096}, -EAGAIN},
        {"device buffer before the heap is mapped", 1, {.kind = TW_XDNA_DEVICE, .bytes = 4096}, -EAGAIN},
        {"empty device buffer", 2, {.kind = TW_XDNA_DEVICE, .bytes = 0}, -EINVAL},
        {"device buffer larger than the heap", 2, {.kind = TW_XDNA_DEVICE, .bytes = 65 * MIB}, -EINVAL},
        {"user memory at no address", 0, {.kind = TW_XDNA_SHARE, .memory = 1, .bytes = 4096}, -EINVAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        struct tw_xdna_create_buffer args = rows[i].args;
        rig_create(&rig, NULL);
        if (rows[i].heap > 0)
            assert_int_equal(rig_new_buffer(&rig, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES, &rig.heap_handle), 0);
        if (rows[i].heap > 1)
            assert_int_equal(rig_map_heap(&rig, 0), 0);
        int r = rig_ioctl(&rig, TW_XDNA_CREATE_BUFFER, &args);
        if (r != rows[i].expected)
            fail_msg("%s: %d instead of %d", rows[i].what, r, rows[i].expected);
        rig_free(&rig);
    }
}

static void the_heap_fills_up(void **state)
{
    struct rig rig;
    uint32_t handle;
    uint32_t last = 0;
    unsigned n = 0;
    int r;
    (void)state;
    rig_with_heap(&rig, NULL);
    while ((r = rig_new_buffer(&rig, TW_XDNA_DEVICE, 4 * MIB, &handle)) == 0) {
        last = handle;
        n++;
    }
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(n, 16);
    rig_close_buffer(&rig, last);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_DEVICE, 4 * MIB, &handle), 0);
    rig_free(&rig);
}

static void places_in_the_heap(void **state)
{
    struct rig rig;
    struct rig_buffer b[4];
    (void)state;
    rig_with_heap(&rig, NULL);
    for (unsigned i = 0; i < 4; i++) {
        b[i] = rig_buffer(&rig, TW_XDNA_DEVICE, i == 1 ? 3 * TW_XDNA_DEVICE_ALIGN : 100);
        assert_int_equal(b[i].address % TW_XDNA_DEVICE_ALIGN, 0);
        struct tw_xdna_buffer_info info = rig_info(&rig, b[i].handle);
        assert_int_equal(info.map_offset, TW_XDNA_NOWHERE);
        assert_int_equal(info.host_address, (uintptr_t)b[i].host);
    }
    assert_int_equal(b[0].address, TW_XDNA_HEAP_ADDRESS);
    assert_int_equal(b[2].address, TW_XDNA_HEAP_ADDRESS + 4 * TW_XDNA_DEVICE_ALIGN);
    /* The smallest hole that fits is taken, not the first: the second is larger than the third. */
    rig_close_buffer(&rig, b[1].handle);
    rig_close_buffer(&rig, b[2].handle);
    b[2] = rig_buffer(&rig, TW_XDNA_DEVICE, 2 * TW_XDNA_DEVICE_ALIGN);
    assert_int_equal(b[2].address, TW_XDNA_HEAP_ADDRESS + TW_XDNA_DEVICE_ALIGN);
    b[1] = rig_buffer(&rig, TW_XDNA_DEVICE, 4096);
    assert_int_equal(b[1].address, TW_XDNA_HEAP_ADDRESS + 3 * TW_XDNA_DEVICE_ALIGN);
    rig_free(&rig);
}

static void addresses_come_with_the_first_mapping(void **state)
{
    struct rig rig;
    uint32_t handle;
    void *first;
    void *second;
    (void)state;
    rig_create(&rig, NULL);
    void *context = rig.calls->context;
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_SHARE, 5000, &handle), 0);
    struct tw_xdna_buffer_info info = rig_info(&rig, handle);
    assert_int_equal(info.device_address, TW_XDNA_NOWHERE);
    assert_int_equal(info.host_address, TW_XDNA_NOWHERE);
    assert_int_equal(
        rig.calls->mmap(context, NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd, info.map_offset, &first), 0);
    assert_int_equal(
        rig.calls->mmap(context, NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd, info.map_offset, &second), 0);
    assert_ptr_not_equal(first, second);
    assert_int_equal(rig_info(&rig, handle).device_address, (uintptr_t)first);
    strcpy(first, "the same memory");
    assert_string_equal(second, "the same memory");
    assert_int_equal(rig.calls->munmap(context, first, 8192), 0);
    assert_int_equal(rig.calls->munmap(context, second, 8192), 0);
    assert_int_equal(rig_info(&rig, handle).device_address, TW_XDNA_NOWHERE);
    rig_free(&rig);
}

static void refused_mappings(void **state)
{
    struct rig rig;
    uint32_t handle;
    void *p;
    (void)state;
    rig_create(&rig, NULL);
    void *context = rig.calls->context;
    const int rw = PROT_READ | PROT_WRITE;
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_SHARE, 8192, &handle), 0);
    uint64_t at = rig_info(&rig, handle).map_offset;
    assert_int_equal(rig.calls->mmap(context, NULL, 12288, rw, MAP_SHARED, rig.fd, at, &p), -EINVAL);
    assert_int_equal(rig.calls->mmap(context, NULL, 4096, rw, MAP_SHARED, rig.fd, at + 4096, &p), -EINVAL);
    assert_int_equal(rig.calls->mmap(context, NULL, 4096, rw, MAP_PRIVATE, rig.fd, at, &p), -EINVAL);
    assert_int_equal(rig.calls->mmap(context, NULL, 0, rw, MAP_SHARED, rig.fd, at, &p), -EINVAL);
    assert_int_equal(rig.calls->mmap(context, NULL, 4096, rw, MAP_SHARED, rig.fd, 0, &p), -EINVAL);
    assert_int_equal(rig.calls->mmap(context, NULL, 4096, rw, MAP_SHARED, rig.fd + 1, at, &p), -EBADF);
    rig_free(&rig);
}

/* What is mapped stays until it is unmapped, also when its handle and its file are gone. */
static void mappings_outlive_handles(void **state)
{
    struct rig rig;
    (void)state;
    rig_create(&rig, NULL);
    struct rig_buffer b = rig_buffer(&rig, TW_XDNA_SHARE, 4096);
    strcpy((char *)b.host, "still here");
    rig_close_buffer(&rig, b.handle);
    struct tw_xdna_buffer_info info = {.handle = b.handle};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_BUFFER_INFO, &info), -ENOENT);
    assert_int_equal(rig.calls->close(rig.calls->context, rig.fd), 0);
    rig.fd = -1;
    assert_string_equal(b.host, "still here");
    rig_unmap(&rig, &b);
    rig_free(&rig);
}

static void memory_that_comes_back_is_zero(void **state)
{
    struct rig rig;
    (void)state;
    rig_create(&rig, NULL);
    for (unsigned i = 0; i < 5; i++) {
        struct rig_buffer b = rig_buffer(&rig, TW_XDNA_SHARE, 4096 * (i % 3 + 1));
        for (size_t k = 0; k < b.bytes; k++)
            assert_int_equal(b.host[k], 0);
        memset(b.host, 0xa5, b.bytes);
        rig_flush(&rig, &b);
        rig_unmap(&rig, &b);
        rig_close_buffer(&rig, b.handle);
    }
    rig_free(&rig);
}

static void room_comes_back(void **state)
{
    struct rig rig;
    uint32_t handle;
    uint64_t places[2];
    (void)state;
    rig_create(&rig, NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(rig_new_buffer(&rig, TW_XDNA_SHARE, 65536, &handle), 0);
        places[i] = rig_info(&rig, handle).map_offset;
        rig_close_buffer(&rig, handle);
    }
    assert_int_equal(places[0], places[1]);
    rig_free(&rig);
}

/* Its handle may go; what lies in it and the context that works with it keep the heap. */
static void the_heap_outlives_its_handle(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    uint32_t handle;
    (void)state;
    rig_with_heap(&rig, NULL);
    rig_close_buffer(&rig, rig.heap_handle);
    struct rig_buffer b = rig_buffer(&rig, TW_XDNA_DEVICE, 4096);
    strcpy((char *)b.host, "here");
    assert_int_equal(rig_try_context(&rig, 4, &made), 0);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_HEAP, TW_XDNA_HEAP_BYTES, &handle), -EOPNOTSUPP);
    assert_string_equal(b.host, "here");
    rig_free(&rig);
}

static void count_line(void *arg, const char *sentence)
{
    unsigned *n = arg;
    assert_true(sentence[0] != 0);
    ++*n;
}

static void what_is_refused_is_logged(void **state)
{
    struct rig rig;
    struct tw_xdna_create_context made;
    unsigned lines = 0;
    uint32_t handle;
    (void)state;
    rig_create(&rig, &(struct tw_emu_driver_options){.log = count_line, .log_arg = &lines});
    assert_int_equal(rig_try_context(&rig, 4, &made), -ENOENT);
    assert_int_equal(lines, 1);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_DEVICE, 4096, &handle), -EAGAIN);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_HEAP, 4096, &handle), -EINVAL);
    assert_int_equal(lines, 3);
    rig_free(&rig);
}

static void handles(void **state)
{
    struct rig rig;
    struct tw_drm_gem_close args = {.handle = 1};
    struct tw_xdna_buffer_info info = {.handle = 1};
    struct tw_xdna_sync_buffer sync = {.handle = 1};
    uint32_t handle;
    (void)state;
    rig_create(&rig, NULL);
    assert_int_equal(rig_ioctl(&rig, TW_DRM_GEM_CLOSE, &args), -EINVAL);
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_BUFFER_INFO, &info), -ENOENT);
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SYNC_BUFFER, &sync), -ENOENT);
    assert_int_equal(rig_new_buffer(&rig, TW_XDNA_SHARE, 1, &handle), 0);
    assert_int_equal(handle, 1);
    info.pad = 1;
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_BUFFER_INFO, &info), -EINVAL);
    info = (struct tw_xdna_buffer_info){.handle = 1, .extension = 1};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_BUFFER_INFO, &info), -EINVAL);
    info = (struct tw_xdna_buffer_info){.handle = 1, .extension_flags = 1};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_BUFFER_INFO, &info), -EINVAL);
    rig_free(&rig);
}

static void sync(void **state)
{
    struct rig rig;
    (void)state;
    rig_with_heap(&rig, NULL);
    struct rig_buffer b = rig_buffer(&rig, TW_XDNA_SHARE, 8192);
    struct rig_buffer d = rig_buffer(&rig, TW_XDNA_DEVICE, 8192);
    const struct {
        struct tw_xdna_sync_buffer args;
        int expected;
    } rows[] = {
        {{b.handle, TW_XDNA_TO_DEVICE, 0, 8192}, 0},         {{b.handle, TW_XDNA_TO_DEVICE, 4096, 99999}, 0},
        {{b.handle, TW_XDNA_TO_DEVICE, 8192, 1}, -EINVAL},   {{b.handle, TW_XDNA_TO_DEVICE, 1, UINT64_MAX}, -EINVAL},
        {{d.handle, TW_XDNA_TO_DEVICE, 0, 8192}, 0},         {{d.handle, TW_XDNA_TO_DEVICE, 8192, 1}, -EINVAL},
        {{b.handle, TW_XDNA_FROM_DEVICE, 0, 8192}, -EINVAL}, /* it has flushed, and says so like this */
        {{d.handle, TW_XDNA_FROM_DEVICE, 0, 8192}, -EINVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tw_xdna_sync_buffer args = rows[i].args;
        assert_int_equal(rig_ioctl(&rig, TW_XDNA_SYNC_BUFFER, &args), rows[i].expected);
    }
    rig_unmap(&rig, &b);
    rig_free(&rig);
}

struct user_memory {
    struct tw_xdna_user_memory table;
    struct tw_xdna_user_range ranges[2];
};

static void user_memory(void **state)
{
    struct rig rig;
    struct tw_xdna_create_buffer args = {.kind = TW_XDNA_SHARE};
    unsigned char *pages = aligned_alloc(4096, 16384);
    unsigned char *read_only = aligned_alloc(4096, 4096);
    assert_int_equal(mprotect(read_only, 4096, PROT_READ), 0);
    uint64_t at = (uintptr_t)pages;
    const struct {
        struct user_memory memory;
        int expected;
    } rows[] = {
        {{{-1, 0}, {{0, 0}}}, -EBADF},
        {{{5, 0}, {{0, 0}}}, -EOPNOTSUPP},
        {{{-1, 1}, {{at + 1, 4096}}}, -EINVAL},
        {{{-1, 1}, {{at, 4095}}}, -EINVAL},
        {{{-1, 1}, {{at, 0}}}, -EINVAL},
        {{{-1, 2}, {{at, 4096}, {at + 8192, 4096}}}, -EINVAL},
        {{{-1, 1}, {{4096, 4096}}}, -EFAULT},
        {{{-1, 1}, {{(uintptr_t)read_only, 4096}}}, -EFAULT},
        {{{-1, 1}, {{(uint64_t)0 - 8192, 16384}}}, -EFAULT},
        {{{-1, 2}, {{at, 4096}, {at + 4096, 8192}}}, 0},
    };
    (void)state;
    memset(pages, 1, 16384);
    rig_create(&rig, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        args.memory = (uintptr_t)&rows[i].memory;
        assert_int_equal(rig_ioctl(&rig, TW_XDNA_CREATE_BUFFER, &args), rows[i].expected);
    }
    assert_int_equal(rig_info(&rig, args.handle).device_address, at);
    struct tw_xdna_sync_buffer sync_args = {.handle = args.handle, .bytes = 12288};
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_SYNC_BUFFER, &sync_args), -EOPNOTSUPP);
    rig_free(&rig);
    rig_create(&rig, &(struct tw_emu_driver_options){.lock_limit_zero = 1});
    assert_int_equal(rig_ioctl(&rig, TW_XDNA_CREATE_BUFFER, &args), -EPERM);
    rig_free(&rig);
    mprotect(read_only, 4096, PROT_READ | PROT_WRITE);
    free(read_only);
    free(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_do_not_open),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(refused_buffers),
        cmocka_unit_test(the_heap_fills_up),
        cmocka_unit_test(places_in_the_heap),
        cmocka_unit_test(addresses_come_with_the_first_mapping),
        cmocka_unit_test(refused_mappings),
        cmocka_unit_test(mappings_outlive_handles),
        cmocka_unit_test(memory_that_comes_back_is_zero),
        cmocka_unit_test(room_comes_back),
        cmocka_unit_test(the_heap_outlives_its_handle),
        cmocka_unit_test(what_is_refused_is_logged),
        cmocka_unit_test(handles),
        cmocka_unit_test(sync),
        cmocka_unit_test(user_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
