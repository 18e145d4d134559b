/* Error reports: a negative code and one sentence that says what failed, with which input, and what to do. */
#ifndef TW_BASE_ERROR_H
#define TW_BASE_ERROR_H

#include "tilewright.h"

#if defined(__GNUC__)
#define TW_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TW_PRINTF(fmt, args)
#endif

/*
 * Stores code and sentence in *err (err may be NULL) and returns code, so that callers write
 * `return tw_fail(err, TW_E_FORMAT, "...")`. A text that does not fit is cut.
 */
int tw_fail(struct tw_error *err, int code, const char *fmt, ...) TW_PRINTF(3, 4);

/* As tw_fail, and appends ": " and the operating system's text for errno_value. */
int tw_fail_errno(struct tw_error *err, int code, int errno_value, const char *fmt, ...) TW_PRINTF(4, 5);

#endif
