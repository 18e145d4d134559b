/*
 * The public C API of Tilewright: version and error codes.
 *
 * Every function that can fail returns 0 (or a count >= 0) on success and one of the negative codes below on
 * failure; the sentence for the user is in the struct tw_error that the caller passed.
 */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#define TW_VERSION "0.1.0"

enum tw_code {
    TW_OK = 0,
    TW_E_ARGUMENT = -1,    /* the caller passed something that makes no sense */
    TW_E_MEMORY = -2,      /* memory could not be had */
    TW_E_IO = -3,          /* reading or writing failed in the operating system */
    TW_E_NOT_FOUND = -4,   /* a file, model or device of that name is not there */
    TW_E_FORMAT = -5,      /* a file is not what it should be, or damaged */
    TW_E_UNSUPPORTED = -6, /* a valid request that this version cannot serve */
    TW_E_LIMIT = -7,       /* a size is beyond what this program accepts */
    TW_E_SHAPE = -8,       /* operands of an operation do not fit together */
    TW_E_NETWORK = -9,     /* a download failed */
    TW_E_CANCELLED = -10,  /* the caller asked to stop */
    TW_E_STATE = -11,      /* called in the wrong order */
    TW_E_NO_DEVICE = -12,  /* there is no NPU that this program can use */
    TW_E_PERMISSION = -13, /* the operating system does not allow it */
    TW_E_BUSY = -14,       /* all contexts of the NPU are taken */
    TW_E_TIMEOUT = -15,    /* a command hung, and the driver stopped it */
    TW_E_ABORTED = -16,    /* a command was dropped, because an earlier one of its context hung */
    TW_E_DEVICE = -17,     /* the NPU's firmware refused a command or failed at it */
    TW_E_LOST = -18,       /* the NPU does not come back: load its driver anew or restart the machine */
    TW_E_REFUSED = -19,    /* the driver did not hand a command to the NPU */
    TW_E_HEAP = -20,       /* the NPU's heap is missing, full, or not as it must be */
    TW_E_UNMAPPED = -21,   /* a buffer has no address that the NPU could use */
    TW_E_RUNNING = -22     /* a command has not ended yet; wait again */
};

#endif
