/* Memory that processor and device see differently until it is flushed. */
#include "emu/driver/rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct bench {
    struct rig rig;
    struct rig_context context;
    struct rig_buffer command, code, buffers[2];
};

enum { IN, OUT };

static void set_up(struct bench *b, int coherent)
{
    rig_with_heap(&b->rig, &(struct tw_emu_driver_options){.coherent = coherent});
    b->context = rig_context(&b->rig, 1);
    b->command = rig_buffer(&b->rig, TW_XDNA_COMMAND, 4096);
    b->buffers[IN] = rig_buffer(&b->rig, TW_XDNA_SHARE, 8192);
    b->buffers[OUT] = rig_buffer(&b->rig, TW_XDNA_SHARE, 8192);
    b->code = rig_code(&b->rig, DO_COPY, 8192);
}

static void tear_down(struct bench *b)
{
    rig_unmap(&b->rig, &b->command);
    rig_unmap(&b->rig, &b->buffers[IN]);
    rig_unmap(&b->rig, &b->buffers[OUT]);
    rig_free(&b->rig);
}

static void run(struct bench *b)
{
    rig_packet(&b->command, &b->code, b->buffers, 2);
    assert_int_equal(rig_do(&b->rig, &b->context, &b->command, b->buffers, 2), TW_PACKET_COMPLETED);
}

static void to_the_device(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    unsigned char *in = b.buffers[IN].host;
    memset(in, 1, 8192);
    rig_flush(&b.rig, &b.buffers[IN]);
    run(&b);
    memset(in, 2, 8192); /* and no flush */
    run(&b);
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[0], 1);
    /* A part that is flushed is seen, in whole lines. */
    assert_int_equal(b.rig.calls->flush(b.rig.calls->context, in + 100, 1), 0);
    run(&b);
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[63], 1);
    assert_int_equal(b.buffers[OUT].host[64], 2);
    assert_int_equal(b.buffers[OUT].host[127], 2);
    assert_int_equal(b.buffers[OUT].host[128], 1);
    tear_down(&b);
}

static void from_the_device(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    memset(b.buffers[IN].host, 3, 8192);
    rig_flush(&b.rig, &b.buffers[IN]);
    run(&b);
    assert_int_equal(b.buffers[OUT].host[0], 0); /* the old line is still in the cache */
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[0], 3);
    assert_int_equal(b.buffers[OUT].host[8191], 3);
    tear_down(&b);
}

/* Lines that the process dirtied before the device wrote come back over its result. */
static void dirty_lines_win(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    memset(b.buffers[IN].host, 4, 8192);
    rig_flush(&b.rig, &b.buffers[IN]);
    b.buffers[OUT].host[70] = 9;
    run(&b);
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[63], 4);
    assert_int_equal(b.buffers[OUT].host[64], 0);
    assert_int_equal(b.buffers[OUT].host[70], 9);
    assert_int_equal(b.buffers[OUT].host[128], 4);
    tear_down(&b);
}

/* A fresh buffer is full of dirty zeros: without a flush before the command they end up over its result. */
static void fresh_buffers(void **state)
{
    struct bench b;
    uint32_t handle;
    void *mapped;
    (void)state;
    set_up(&b, 0);
    memset(b.buffers[IN].host, 5, 8192);
    rig_flush(&b.rig, &b.buffers[IN]);
    struct rig_buffer old = b.buffers[OUT];
    assert_int_equal(rig_new_buffer(&b.rig, TW_XDNA_SHARE, 8192, &handle), 0);
    assert_int_equal(b.rig.calls->mmap(b.rig.calls->context, NULL, 8192, 3, 1, b.rig.fd,
                                       rig_info(&b.rig, handle).map_offset, &mapped),
                     0);
    b.buffers[OUT] = (struct rig_buffer){handle, 8192, mapped, (uintptr_t)mapped};
    run(&b);
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[0], 0);
    run(&b);
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[0], 5);
    rig_unmap(&b.rig, &old);
    tear_down(&b);
}

static void control_code_and_pdis(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    /* Written, but not flushed: the firmware still copies. */
    rig_set_word(&b.code, 0, DO_FAIL);
    run(&b);
    rig_flush(&b.rig, &b.code);
    rig_packet(&b.command, &b.code, b.buffers, 2);
    assert_int_equal(rig_do(&b.rig, &b.context, &b.command, b.buffers, 2), TW_PACKET_ERROR);
    /* A PDI that is not flushed is not there. */
    struct tw_xdna_create_context made;
    struct rig_context c = b.context;
    assert_int_equal(rig_try_context(&b.rig, 4, &made), 0);
    c.handle = made.handle;
    c.syncobj = made.syncobj;
    c.pdi = rig_buffer(&b.rig, TW_XDNA_DEVICE, 4096);
    memcpy(c.pdi.host, "good", 4);
    struct tw_xdna_cus cus = {.count = 1, .cu = {{.buffer = c.pdi.handle}}};
    assert_int_equal(rig_config(&b.rig, c.handle, &cus, 16), 0);
    rig_set_word(&b.code, 0, DO_COPY);
    rig_flush(&b.rig, &b.code);
    rig_packet(&b.command, &b.code, b.buffers, 2);
    assert_int_equal(rig_do(&b.rig, &c, &b.command, b.buffers, 2), TW_PACKET_ERROR);
    tear_down(&b);
}

/* The driver's own call does the same, in both directions; from the device it complains afterwards. */
static void by_ioctl(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    struct tw_xdna_sync_buffer in = {b.buffers[IN].handle, TW_XDNA_TO_DEVICE, 0, 8192};
    struct tw_xdna_sync_buffer out = {b.buffers[OUT].handle, TW_XDNA_FROM_DEVICE, 0, 8192};
    struct tw_xdna_sync_buffer code = {b.code.handle, TW_XDNA_TO_DEVICE, 0, 16};
    memset(b.buffers[IN].host, 6, 8192);
    rig_set_word(&b.code, 1, 4096);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_SYNC_BUFFER, &in), 0);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_SYNC_BUFFER, &code), 0);
    run(&b);
    assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_SYNC_BUFFER, &out), -EINVAL);
    assert_int_equal(b.buffers[OUT].host[4095], 6);
    assert_int_equal(b.buffers[OUT].host[4096], 0);
    tear_down(&b);
}

static void coherent(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 1);
    memset(b.buffers[IN].host, 7, 8192);
    run(&b);
    assert_int_equal(b.buffers[OUT].host[8191], 7);
    tear_down(&b);
}

/* Memory of the process as an argument, seen the same or not. */
static void user_memory(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct bench b;
        unsigned char *pages = aligned_alloc(4096, 8192);
        struct {
            struct tw_xdna_user_memory table;
            struct tw_xdna_user_range range;
        } memory = {{-1, 1}, {(uintptr_t)pages, 8192}};
        struct tw_xdna_create_buffer args = {.kind = TW_XDNA_SHARE, .memory = (uintptr_t)&memory};
        set_up(&b, same);
        memset(pages, 0, 8192);
        memset(b.buffers[IN].host, 8, 8192);
        rig_flush(&b.rig, &b.buffers[IN]);
        assert_int_equal(rig_ioctl(&b.rig, TW_XDNA_CREATE_BUFFER, &args), 0);
        struct rig_buffer old = b.buffers[OUT];
        b.buffers[OUT] = (struct rig_buffer){args.handle, 8192, pages, (uintptr_t)pages};
        run(&b);
        assert_int_equal(pages[8191], same ? 8 : 0);
        rig_flush(&b.rig, &b.buffers[OUT]);
        assert_int_equal(pages[8191], 8);
        /* And as input. */
        memset(pages, 9, 8192);
        rig_flush(&b.rig, &b.buffers[OUT]);
        struct rig_buffer in = b.buffers[IN];
        b.buffers[IN] = b.buffers[OUT];
        b.buffers[OUT] = old;
        run(&b);
        rig_flush(&b.rig, &b.buffers[OUT]);
        assert_int_equal(b.buffers[OUT].host[0], 9);
        b.buffers[IN] = in;
        tear_down(&b);
        free(pages);
    }
}

/* A device buffer as an argument lies in the process where the heap is mapped. */
static void device_buffers_as_arguments(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    struct rig_buffer piece = rig_buffer(&b.rig, TW_XDNA_DEVICE, 8192);
    piece.address = (uintptr_t)piece.host;
    memset(piece.host, 10, 8192);
    rig_flush(&b.rig, &piece);
    struct rig_buffer in = b.buffers[IN];
    b.buffers[IN] = piece;
    run(&b);
    rig_flush(&b.rig, &b.buffers[OUT]);
    assert_int_equal(b.buffers[OUT].host[8191], 10);
    b.buffers[IN] = in;
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_the_device),
        cmocka_unit_test(from_the_device),
        cmocka_unit_test(dirty_lines_win),
        cmocka_unit_test(fresh_buffers),
        cmocka_unit_test(control_code_and_pdis),
        cmocka_unit_test(by_ioctl),
        cmocka_unit_test(coherent),
        cmocka_unit_test(user_memory),
        cmocka_unit_test(device_buffers_as_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
