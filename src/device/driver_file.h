/* An open file of the kernel's driver, and what its refusals mean. */
#ifndef TW_DEVICE_DRIVER_FILE_H
#define TW_DEVICE_DRIVER_FILE_H

#include "base/error.h"
#include "uapi/amdxdna.h"
#include "uapi/calls.h"

struct tw_driver_file {
    struct tw_calls calls;
    int fd;
    int major, minor; /* of the driver's interface; grows with features, which are found by trying all the same */
};

/*
 * Opens a node ("/dev/accel/accel0") and asks whose it is. Fails with TW_E_NO_DEVICE, TW_E_PERMISSION, TW_E_IO, or
 * TW_E_UNSUPPORTED for another driver or an interface whose numbers are not those of uapi/amdxdna.h.
 */
int tw_driver_open(const struct tw_calls *calls, const char *path, struct tw_driver_file *file, struct tw_error *err);
void tw_driver_close(struct tw_driver_file *file);

/* One call, again when a signal interrupted it. Returns 0 or a negative errno value. */
int tw_driver_call(const struct tw_driver_file *file, uint32_t request, void *argument);

/*
 * Turns what tw_driver_call returned into a code and the sentence "WHAT: why", where the format says what failed.
 * Returns the code.
 */
int tw_driver_fail(struct tw_error *err, uint32_t request, int negative_errno, const char *fmt, ...) TW_PRINTF(4, 5);

#endif
