/* An emulated machine whose memory is not coherent, for tests that look at the array's side only. */
#ifndef TW_TESTS_JOB_MACHINE_H
#define TW_TESTS_JOB_MACHINE_H

#include "tilewright.h"

enum machine_kind {
    MACHINE_PLAIN,        /* as tw_device_open makes it */
    MACHINE_BARE,         /* the same for machine_remove and machine_hang; it tells no modelled figures */
    MACHINE_STAYS_REFUSED /* the same, which gives no context any more after a hang */
};

struct machine {
    struct tw_device *device; /* for the caller to close */
    struct tw_faults *faults; /* these two not of a plain one */
    struct tw_emu_driver *driver;
};

/* faults: as in TILEWRIGHT_EMU_FAULT, or NULL. Never fails. */
void machine_create(struct machine *machine, const char *faults, enum machine_kind kind);
/* After all that was made of its device. */
void machine_destroy(struct machine *machine);
/* The driver is unloaded. */
void machine_remove(struct machine *machine);
/* The next command never ends. */
void machine_hang(struct machine *machine);
/* Asleep and awake again: what was in the array is lost. */
void machine_suspend(struct machine *machine);

#endif
