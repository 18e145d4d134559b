/* Faults as a client of the driver meets them: an errno value, a command's state, or a wrong bit; and the next try. */
#include "emu/driver/rig.h"
#include "emu/fault.h"
#include "emu/firmware.h"
#include "emu/firmware/make_control.h"
#include "image/make_image.h"
#include "isa/assembler.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { WORDS = 64, BYTES = 4 * WORDS };

/* Allocations of a bench until its first command makes the array: heap, context, PDI, command, code, two buffers. */
enum { ALLOCATIONS = 7 };

struct bench {
    struct tw_faults *faults;
    struct rig rig;
    char last_line[2000]; /* of the log */
    struct made pdi, control;
    struct rig_context context;
    struct rig_buffer command, code, in, out;
};

/* A core that takes lock 0 of its own, gives it back and is done. */
static void put_core_program(struct made *cdo)
{
    static const char text[] = ".foreign\n.text\n mova r1, #-1\n mova r2, #1\n acq #48, r1\n nop\n rel #48, r2\n nop\n"
                               " done\n nop\n nop\n nop\n nop\n nop\n";
    struct tw_assembly *assembly = NULL;
    struct tw_error err = {0};
    unsigned char program[1024] = {0};
    if (tw_assemble("test.s", text, strlen(text), NULL, &assembly, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(assembly->n_sections, 1);
    assert_true(assembly->sections[0].size <= sizeof program);
    memcpy(program, assembly->sections[0].bytes, assembly->sections[0].size);
    cdo_dma_write(cdo, 0x220000, program, sizeof program);
    tw_assembly_free(assembly);
}

/* Column 0: MM2S 0 to S2MM 0, tokens to the firmware, and a core that runs as soon as its lock is set. */
static void make_program(struct made *pdi)
{
    struct made cdo = {0};
    size_t begin = cdo_begin(&cdo);
    CDO(&cdo, 0x103, 0x3f008, 0x80000000);
    CDO(&cdo, 0x103, 0x3f100, 0x80000000);
    CDO(&cdo, 0x103, 0x3f010, 0x80000005);
    CDO(&cdo, 0x103, 0x3f114, 0x80000000);
    CDO(&cdo, 0x102, 0x1f000, 0xcc00, 0x4400);
    CDO(&cdo, 0x102, 0x1f004, 0xf0, 0x50);
    put_core_program(&cdo);
    CDO(&cdo, 0x103, 0x21f000, 1); /* lock 0 */
    CDO(&cdo, 0x103, 0x232000, 1);
    cdo_end(&cdo, begin);
    make_pdi(pdi, &cdo);
    made_free(&cdo);
}

static void keep_line(void *arg, const char *sentence)
{
    struct bench *b = arg;
    snprintf(b->last_line, sizeof b->last_line, "%s", sentence);
}

/* Only a driver with a heap. */
static void set_up_driver(struct bench *b, const char *faults)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(tw_faults_create(faults, &b->faults, NULL), 0);
    rig_on_array(&b->rig, &(struct tw_emu_driver_options){.log = keep_line, .log_arg = b, .faults = b->faults});
}

static void set_up(struct bench *b, const char *faults)
{
    set_up_driver(b, faults);
    make_program(&b->pdi);
    b->context = rig_context_of(&b->rig, 1, b->pdi.data, b->pdi.size);
    b->command = rig_buffer(&b->rig, TW_XDNA_COMMAND, 4096);
    b->code = rig_buffer(&b->rig, TW_XDNA_DEVICE, 4096);
    b->in = rig_buffer(&b->rig, TW_XDNA_SHARE, BYTES);
    b->out = rig_buffer(&b->rig, TW_XDNA_SHARE, BYTES);
    for (uint32_t i = 0; i < WORDS; i++)
        rig_set_word(&b->in, i, 0x10000 + i);
    rig_flush(&b->rig, &b->in);
}

static void tear_down(struct bench *b)
{
    made_free(&b->pdi);
    struct rig_buffer *const mapped[] = {&b->command, &b->in, &b->out};
    for (size_t i = 0; i < 3 && b->command.host != NULL; i++)
        rig_unmap(&b->rig, mapped[i]);
    rig_free(&b->rig);
    tw_faults_free(b->faults);
}

/* Waits for the core to be done, copies one buffer into the other, and waits for the token. */
static enum tw_packet_state run(struct bench *b)
{
    enum { CORE_STATUS = 0x232004, DONE = 1 << 20 };
    struct rig_buffer buffers[2] = {b->in, b->out};
    control_begin(&b->control);
    control_poll(&b->control, CORE_STATUS, DONE, DONE);
    control_shim_descriptor(&b->control, 0x1d020, WORDS);
    control_patch(&b->control, 0x1d024, 1, 0);
    control_write(&b->control, 0x1d204, 0x80000001);
    control_shim_descriptor(&b->control, 0x1d000, WORDS);
    control_patch(&b->control, 0x1d004, 0, 0);
    control_write(&b->control, 0x1d214, 0);
    control_wait(&b->control, 0, 0, 1, 1, 0, 0);
    control_end(&b->control);
    memcpy(b->code.host, b->control.data, b->control.size);
    made_free(&b->control);
    rig_flush(&b->rig, &b->code);
    rig_packet(&b->command, &b->code, buffers, 2);
    enum tw_packet_state state = rig_do(&b->rig, &b->context, &b->command, buffers, 2);
    rig_flush(&b->rig, &b->out);
    return state;
}

static void assert_copied(struct bench *b)
{
    assert_int_equal(run(b), TW_PACKET_COMPLETED);
    assert_memory_equal(b->out.host, b->in.host, BYTES);
}

static void assert_log(const struct bench *b, const char *sentence)
{
    if (strstr(b->last_line, sentence) == NULL)
        fail_msg("'%s' is not in: %s", sentence, b->last_line);
}

static void nothing_goes_wrong(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "token:100");
    assert_copied(&b);
    assert_copied(&b);
    tear_down(&b);
}

static void a_token(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "token:2");
    assert_copied(&b);
    assert_int_equal(run(&b), TW_PACKET_TIMEOUT);
    assert_copied(&b);
    tear_down(&b);
}

static void a_core(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "core:2");
    assert_int_equal(run(&b), TW_PACKET_TIMEOUT);
    assert_copied(&b);
    tear_down(&b);
}

/* The command has succeeded, as far as driver and firmware know. */
static void a_bit(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "bit:5:seed=3");
    assert_int_equal(run(&b), TW_PACKET_COMPLETED);
    assert_log(&b, "flipped, a fault on purpose");
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t wrong = rig_word(&b.out, i) ^ rig_word(&b.in, i);
        assert_true(i == 4 ? wrong != 0 && (wrong & (wrong - 1)) == 0 : wrong == 0);
    }
    assert_copied(&b);
    tear_down(&b);
}

static void a_context(void **state)
{
    struct tw_xdna_create_context made;
    struct bench b;
    (void)state;
    set_up_driver(&b, "context:2");
    assert_int_equal(rig_try_context(&b.rig, 4, &made), 0);
    assert_int_equal(rig_try_context(&b.rig, 4, &made), -EINVAL);
    assert_log(&b, "refuses a context, a fault on purpose");
    assert_int_equal(rig_try_context(&b.rig, 4, &made), 0);
    tear_down(&b);
}

static void memory_of_buffers_and_contexts(void **state)
{
    static const enum tw_xdna_buffer_kind kinds[] = {TW_XDNA_SHARE, TW_XDNA_DEVICE, TW_XDNA_COMMAND};
    struct tw_xdna_create_context made;
    struct bench b;
    uint32_t handle;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        set_up_driver(&b, "memory:2");
        assert_int_equal(rig_new_buffer(&b.rig, kinds[i], 4096, &handle), -ENOMEM);
        assert_log(&b, "no memory for a buffer of 4096 bytes, a fault on purpose");
        assert_int_equal(rig_new_buffer(&b.rig, kinds[i], 4096, &handle), 0);
        tear_down(&b);
    }
    set_up_driver(&b, "memory:2");
    assert_int_equal(rig_try_context(&b.rig, 4, &made), -ENOMEM);
    assert_int_equal(rig_try_context(&b.rig, 4, &made), 0);
    tear_down(&b);
}

static void memory_of_the_array(void **state)
{
    char text[16];
    struct bench b;
    (void)state;
    snprintf(text, sizeof text, "memory:%d", ALLOCATIONS + 1);
    set_up(&b, text);
    assert_int_equal(run(&b), TW_PACKET_ERROR);
    assert_log(&b, "no memory for the array, a fault on purpose");
    assert_copied(&b);
    tear_down(&b);
}

/* Without faults of the caller's own those of the variable count. */
static void the_variable(void **state)
{
    struct tw_emu_driver *driver = NULL;
    struct tw_error err = {0};
    struct tw_xdna_create_context made;
    struct rig rig;
    (void)state;
    setenv(TW_FAULT_VARIABLE, "context:1", 1);
    rig_on_array(&rig, &(struct tw_emu_driver_options){.coherent = 1});
    assert_int_equal(rig_try_context(&rig, 4, &made), -EINVAL);
    assert_int_equal(rig_try_context(&rig, 4, &made), 0);
    rig_free(&rig);
    setenv(TW_FAULT_VARIABLE, "context", 1);
    assert_int_equal(tw_emu_driver_create(NULL, &driver, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, TW_FAULT_VARIABLE));
    unsetenv(TW_FAULT_VARIABLE);
}

static int create_firmware(const char *text, int is_admitted, struct tw_error *err)
{
    struct tw_faults *faults = NULL;
    struct tw_firmware *firmware = NULL;
    assert_int_equal(tw_faults_create(text, &faults, NULL), 0);
    const struct tw_firmware_options options = {.columns = 1, .faults = faults, .is_admitted = is_admitted};
    int code = tw_firmware_create(&options, &firmware, err);
    assert_true((firmware != NULL) == (code == 0));
    if (firmware != NULL)
        assert_ptr_equal(tw_firmware_faults(firmware), faults);
    tw_firmware_free(firmware);
    tw_faults_free(faults);
    return code;
}

/* A firmware without a driver refuses contexts itself. */
static void firmware_alone(void **state)
{
    struct tw_error err = {0};
    (void)state;
    assert_int_equal(create_firmware("context:1", 0, &err), TW_E_BUSY);
    assert_non_null(strstr(err.text, "a fault on purpose"));
    assert_int_equal(create_firmware("context:1", 1, &err), 0);
    assert_int_equal(create_firmware("memory:1", 1, &err), TW_E_MEMORY);
    assert_int_equal(create_firmware("memory:2", 0, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_goes_wrong),
        cmocka_unit_test(a_token),
        cmocka_unit_test(a_core),
        cmocka_unit_test(a_bit),
        cmocka_unit_test(a_context),
        cmocka_unit_test(memory_of_buffers_and_contexts),
        cmocka_unit_test(memory_of_the_array),
        cmocka_unit_test(the_variable),
        cmocka_unit_test(firmware_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
