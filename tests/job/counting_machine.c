#include "job/counting_machine.h"

#include "device/device.h"
#include "emu/driver/driver.h"
#include "emu/driver/firmware_port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* What the firmware calls its context. */
struct counted {
    struct counting_machine *machine;
    void *context;
};

static int create(void *arg, unsigned columns, const struct tw_host_memory *host, void **context, struct tw_error *err)
{
    struct counting_machine *m = arg;
    struct counted *c = malloc(sizeof *c);
    if (c == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory");
    c->machine = m;
    atomic_fetch_add(&m->contexts, 1);
    *context = c;
    return m->firmware->create(m->firmware->arg, columns, host, &c->context, err);
}

static void destroy(void *context)
{
    struct counted *c = context;
    c->machine->firmware->destroy(c->context);
    free(c);
}

static int add_program(void *context, const unsigned char *pdi, size_t bytes, struct tw_error *err)
{
    struct counted *c = context;
    return c->machine->firmware->add_program(c->context, pdi, bytes, err);
}

static int run(void *context, const struct tw_emu_work *work, struct tw_emu_result *result, struct tw_error *err)
{
    struct counted *c = context;
    int code = c->machine->firmware->run(c->context, work, result, err);
    atomic_fetch_add(&c->machine->commands, 1);
    atomic_fetch_add(&c->machine->loads, result->loaded != 0);
    return code;
}

void counting_machine_create(struct counting_machine *m)
{
    *m = (struct counting_machine){.firmware = calloc(1, sizeof *m->firmware)};
    assert_non_null(m->firmware);
    assert_int_equal(tw_drv_port_create(&(struct tw_emu_driver_options){0}, &m->port, m->firmware, NULL), 0);
    const struct tw_emu_firmware counting = {
        .arg = m, .create = create, .destroy = destroy, .add_program = add_program, .run = run};
    const struct tw_emu_driver_options options = {.firmware = &counting};
    assert_int_equal(tw_emu_driver_create(&options, &m->driver, NULL), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m->driver), "/dev/accel/accel0", NULL, &m->device, NULL),
                     0);
}

void counting_machine_destroy(struct counting_machine *m)
{
    tw_device_close(m->device);
    tw_emu_driver_free(m->driver);
    tw_drv_port_free(m->port);
    free(m->firmware);
}
