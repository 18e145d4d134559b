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
    TW_E_STATE = -11       /* called in the wrong order */
};

#endif
