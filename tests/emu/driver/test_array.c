/* The driver on the emulated array: shims that copy, what they may reach, and how failures look from outside. */
#include "emu/driver/rig.h"
#include "emu/firmware/make_control.h"
#include "image/make_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { WORDS = 256, BYTES = 4 * WORDS, BUFFERS = 7 };

struct bench {
    struct rig rig;
    char last_line[2000]; /* of the log */
    struct made pdi, control;
    struct rig_context context;
    struct rig_buffer command, code, buffers[BUFFERS];
};

/* Column 0: MM2S 0 to S2MM 0, tokens to the firmware. */
static void make_loop(struct made *pdi)
{
    struct made cdo = {0};
    size_t begin = cdo_begin(&cdo);
    CDO(&cdo, 0x103, 0x3f008, 0x80000000);
    CDO(&cdo, 0x103, 0x3f100, 0x80000000);
    CDO(&cdo, 0x103, 0x3f010, 0x80000005);
    CDO(&cdo, 0x103, 0x3f114, 0x80000000);
    CDO(&cdo, 0x102, 0x1f000, 0xcc00, 0x4400);
    CDO(&cdo, 0x102, 0x1f004, 0xf0, 0x50);
    cdo_end(&cdo, begin);
    make_pdi(pdi, &cdo);
    made_free(&cdo);
}

static void keep_line(void *arg, const char *sentence)
{
    struct bench *b = arg;
    strncpy(b->last_line, sentence, sizeof b->last_line - 1);
}

static void set_up(struct bench *b)
{
    memset(b, 0, sizeof *b);
    rig_on_array(&b->rig, &(struct tw_emu_driver_options){.log = keep_line, .log_arg = b});
    make_loop(&b->pdi);
    b->context = rig_context_of(&b->rig, 1, b->pdi.data, b->pdi.size);
    b->command = rig_buffer(&b->rig, TW_XDNA_COMMAND, 4096);
    b->code = rig_buffer(&b->rig, TW_XDNA_DEVICE, 4096);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        b->buffers[i] = rig_buffer(&b->rig, TW_XDNA_SHARE, BYTES);
        for (uint32_t k = 0; k < WORDS; k++)
            rig_set_word(&b->buffers[i], k, 0x10000 * (i + 1) + k);
        rig_flush(&b->rig, &b->buffers[i]);
    }
    control_begin(&b->control);
}

static void tear_down(struct bench *b)
{
    made_free(&b->pdi);
    made_free(&b->control);
    rig_unmap(&b->rig, &b->command);
    for (unsigned i = 0; i < BUFFERS; i++)
        rig_unmap(&b->rig, &b->buffers[i]);
    rig_free(&b->rig);
}

/* The whole of one buffer into another; addends as the control code has them. */
static void put_copy(struct bench *b, unsigned from, unsigned to, uint64_t from_addend, uint64_t to_addend)
{
    control_shim_descriptor(&b->control, 0x1d020, WORDS);
    control_patch(&b->control, 0x1d024, to, to_addend);
    control_write(&b->control, 0x1d204, 0x80000001);
    control_shim_descriptor(&b->control, 0x1d000, WORDS);
    control_patch(&b->control, 0x1d004, from, from_addend);
    control_write(&b->control, 0x1d214, 0);
    control_wait(&b->control, 0, 0, 1, 1, 0, 0);
}

/* With the first n buffers listed. */
static enum tw_packet_state run(struct bench *b, size_t n)
{
    control_end(&b->control);
    memcpy(b->code.host, b->control.data, b->control.size);
    rig_flush(&b->rig, &b->code);
    rig_packet(&b->command, &b->code, b->buffers, BUFFERS);
    enum tw_packet_state state = rig_do(&b->rig, &b->context, &b->command, b->buffers, n);
    for (unsigned i = 0; i < BUFFERS; i++)
        rig_flush(&b->rig, &b->buffers[i]);
    made_free(&b->control);
    control_begin(&b->control);
    return state;
}

static void a_copy(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    put_copy(&b, 0, 1, 0, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_COMPLETED);
    assert_memory_equal(b.buffers[1].host, b.buffers[0].host, BYTES);
    put_copy(&b, 1, 2, 0, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_COMPLETED);
    assert_memory_equal(b.buffers[2].host, b.buffers[0].host, BYTES);
    tear_down(&b);
}

/* The firmware adds 2 GiB to the first five addresses only; control code has to do it for the others. */
static void the_sixth_buffer(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    put_copy(&b, 5, 6, 0x80000000u, 0x80000000u);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_COMPLETED);
    assert_memory_equal(b.buffers[6].host, b.buffers[5].host, BYTES);
    put_copy(&b, 4, 6, 0, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_TIMEOUT);
    tear_down(&b);
}

static void out_of_reach(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    put_copy(&b, 0, 3, 0, 0);
    assert_int_equal(run(&b, 3), TW_PACKET_TIMEOUT); /* number 3 is not listed */
    assert_int_equal(rig_word(&b.buffers[3], 0), 0x40000);
    put_copy(&b, 0, 1, 4096 - BYTES + 4, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_TIMEOUT); /* one word past the buffer's page */
    put_copy(&b, 0, 1, 0, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_COMPLETED);
    tear_down(&b);
}

static void firmware_failures(void **state)
{
    static const uint32_t unknown[] = {0x7f, 0, 0, 16};
    struct bench b;
    (void)state;
    set_up(&b);
    control_words(&b.control, unknown, 4);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_ERROR);
    assert_non_null(strstr(b.last_line, "0x3000002"));
    rig_packet(&b.command, &b.code, NULL, 0);
    rig_set_word(&b.command, TW_PACKET_PAYLOAD + TW_MAP_OPCODE, TW_XDNA_KERNEL_TXN_OLD);
    assert_int_equal(rig_do(&b.rig, &b.context, &b.command, NULL, 0), TW_PACKET_ERROR);
    assert_non_null(strstr(b.last_line, "0x3000002"));
    assert_non_null(strstr(b.last_line, "not modelled"));
    control_wait(&b.control, 0, 0, 1, 1, 0, 0); /* of a task that nobody gave */
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_TIMEOUT);
    put_copy(&b, 0, 1, 0, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_COMPLETED);
    b.pdi.data[0x150] ^= 1; /* the CDO's first word */
    struct rig_context damaged = rig_context_of(&b.rig, 1, b.pdi.data, b.pdi.size);
    b.context = damaged;
    put_copy(&b, 0, 1, 0, 0);
    assert_int_equal(run(&b, BUFFERS), TW_PACKET_ERROR);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy),
        cmocka_unit_test(the_sixth_buffer),
        cmocka_unit_test(out_of_reach),
        cmocka_unit_test(firmware_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
