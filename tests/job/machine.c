#include "job/machine.h"

#include "device/device.h"
#include "emu/driver/driver.h"
#include "emu/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void open_plain(struct machine *m, const char *faults)
{
    const struct tw_device_options options = {.kind = TW_DEVICE_EMU, .alone = 1};
    if (faults != NULL)
        assert_int_equal(setenv(TW_FAULT_VARIABLE, faults, 1), 0);
    assert_int_equal(tw_device_open(&options, &m->device, NULL), 0);
    assert_int_equal(unsetenv(TW_FAULT_VARIABLE), 0);
}

static void open_bare(struct machine *m, const char *faults, enum machine_kind kind)
{
    assert_int_equal(tw_faults_create(faults, &m->faults, NULL), 0);
    const struct tw_emu_driver_options options = {
        .faults = m->faults, .recovery = kind == MACHINE_STAYS_REFUSED ? TW_EMU_STAYS_REFUSED : TW_EMU_RECOVERS};
    assert_int_equal(tw_emu_driver_create(&options, &m->driver, NULL), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m->driver), "/dev/accel/accel0", NULL, &m->device, NULL),
                     0);
}

void machine_create(struct machine *m, const char *faults, enum machine_kind kind)
{
    *m = (struct machine){0};
    if (kind == MACHINE_PLAIN)
        open_plain(m, faults);
    else
        open_bare(m, faults, kind);
}

void machine_destroy(struct machine *m)
{
    if (m->driver != NULL)
        tw_emu_driver_free(m->driver);
    tw_faults_free(m->faults);
}

void machine_remove(struct machine *m)
{
    tw_emu_driver_event(m->driver, TW_EMU_REMOVE);
}

void machine_hang(struct machine *m)
{
    tw_emu_driver_event(m->driver, TW_EMU_HANG);
}

void machine_suspend(struct machine *m)
{
    tw_emu_driver_event(m->driver, TW_EMU_SUSPEND);
}
