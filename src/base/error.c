#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void store(struct tw_error *err, int code, const char *fmt, va_list args)
{
    if (err == NULL)
        return;
    err->code = code;
    vsnprintf(err->text, sizeof err->text, fmt, args);
}

int tw_fail(struct tw_error *err, int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    store(err, code, fmt, args);
    va_end(args);
    return code;
}

int tw_fail_errno(struct tw_error *err, int code, int errno_value, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    store(err, code, fmt, args);
    va_end(args);
    if (err != NULL) {
        size_t used = strlen(err->text);
        char reason[128] = "unknown error";
        /* POSIX strerror_r: fills the buffer, unlike strerror safe with threads. */
        if (strerror_r(errno_value, reason, sizeof reason) != 0)
            snprintf(reason, sizeof reason, "error %d", errno_value);
        snprintf(err->text + used, sizeof err->text - used, ": %s", reason);
    }
    return code;
}

const char *tw_code_name(int code)
{
    static const char *const names[] = {
        "TW_OK",           "TW_E_ARGUMENT",    "TW_E_MEMORY",    "TW_E_IO",         "TW_E_NOT_FOUND",
        "TW_E_FORMAT",     "TW_E_UNSUPPORTED", "TW_E_LIMIT",     "TW_E_SHAPE",      "TW_E_NETWORK",
        "TW_E_CANCELLED",  "TW_E_STATE",       "TW_E_NO_DEVICE", "TW_E_PERMISSION", "TW_E_BUSY",
        "TW_E_TIMEOUT",    "TW_E_ABORTED",     "TW_E_DEVICE",    "TW_E_LOST",       "TW_E_REFUSED",
        "TW_E_HEAP",       "TW_E_UNMAPPED",    "TW_E_RUNNING",   "TW_E_HEAP_SIZE",  "TW_E_HEAP_PLACE",
        "TW_E_CONFIGURED", "TW_E_SYNC",        "TW_E_UNLISTED",  "TW_E_CHECKSUM",
    };
    if (code > 0 || -code >= (int)(sizeof names / sizeof names[0]))
        return "TW_E_?";
    return names[-code];
}
