/*
 * A range of bytes of a file that lies in memory. Readers of containers cut views out of views; each knows its place in
 * the file, so that a message about something deep inside still says where to look.
 */
#ifndef TW_BASE_VIEW_H
#define TW_BASE_VIEW_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tw_view {
    const unsigned char *data; /* the caller's memory */
    size_t size;
    const char *file; /* for messages */
    uint64_t at;      /* where data lies in the file */
};

/*
 * Fails with a sentence that begins with the file and a place in it, "'FILE', byte 0x1c0: "; offset counts from the
 * beginning of the view.
 */
int tw_view_fail(const struct tw_view *v, uint64_t offset, int code, struct tw_error *err, const char *fmt, ...)
    TW_PRINTF(5, 6);

/*
 * *part = size bytes from offset on; `what` says in messages what they are. Fails with TW_E_FORMAT when they are not
 * all inside. v and part may be the same.
 */
int tw_view_part(const struct tw_view *v, uint64_t offset, uint64_t size, const char *what, struct tw_view *part,
                 struct tw_error *err);

/* As tw_view_part, for count entries of entry_size bytes each. */
int tw_view_table(const struct tw_view *v, uint64_t offset, uint64_t count, uint32_t entry_size, const char *what,
                  struct tw_view *part, struct tw_error *err);

enum { TW_VIEW_STRING_MAX = 4096 }; /* keeps a search through a large file short */

/* *text = the string at offset; its NUL is inside the view and among TW_VIEW_STRING_MAX bytes, or TW_E_FORMAT. */
int tw_view_string(const struct tw_view *v, uint64_t offset, const char *what, const char **text, struct tw_error *err);

#endif
