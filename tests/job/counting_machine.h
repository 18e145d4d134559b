/* An emulated machine that counts what its firmware does. */
#ifndef TW_TESTS_JOB_COUNTING_MACHINE_H
#define TW_TESTS_JOB_COUNTING_MACHINE_H

#include "tilewright.h"

#include <stdatomic.h>

struct counting_machine {
    struct tw_device *device;
    atomic_int contexts, commands, loads; /* loads: of a program into the array */
    struct tw_emu_firmware *firmware;
    void *port;
    struct tw_emu_driver *driver;
};

/* Never fails. It tells no modelled figures. */
void counting_machine_create(struct counting_machine *m);
/* After all that was made of its device. */
void counting_machine_destroy(struct counting_machine *m);

#endif
