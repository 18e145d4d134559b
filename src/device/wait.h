/* Waiting for a command of a context. */
#ifndef TW_DEVICE_WAIT_H
#define TW_DEVICE_WAIT_H

#include "device/device.h"

#include <stdatomic.h>

/*
 * Waits until command number `sequence` has ended, for at most ms milliseconds; negative: without limit (the driver has
 * one). header is the packet's first word, which the kernel changes. Fails with TW_E_RUNNING when the time is up,
 * TW_E_LOST or TW_E_IO. How it ended is in the packet (tw_end_of_command).
 */
int tw_wait_for_command(struct tw_context *context, uint64_t sequence, const _Atomic uint32_t *header, int ms,
                        struct tw_error *err);

/*
 * What the header of command number `sequence`, which has ended, says: TW_OK, TW_E_TIMEOUT, TW_E_ABORTED, TW_E_DEVICE,
 * TW_E_REFUSED or TW_E_LOST; TW_E_UNLISTED where the emulator knows why it hung. Notes a hang with the device.
 */
int tw_end_of_command(struct tw_context *context, uint64_t sequence, uint32_t header, struct tw_error *err);

#endif
