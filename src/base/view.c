#include "base/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tw_view_fail(const struct tw_view *v, uint64_t offset, int code, struct tw_error *err, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list arguments;

    va_start(arguments, fmt);
    vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    return tw_fail(err, code, "'%s', byte 0x%" PRIx64 ": %s", v->file, v->at + offset, text);
}

int tw_view_part(const struct tw_view *v, uint64_t offset, uint64_t size, const char *what, struct tw_view *part,
                 struct tw_error *err)
{
    if (offset > v->size || size > v->size - offset)
        return tw_view_fail(v, offset, TW_E_FORMAT, err,
                            "%s: 0x%" PRIx64 " bytes are expected here, but what holds them ends at byte 0x%" PRIx64
                            "; the file is damaged or cut short",
                            what, size, v->at + v->size);
    struct tw_view found = *v;
    if (offset > 0)
        found.data += offset; /* data may be NULL in an empty view */
    found.size = (size_t)size;
    found.at += offset;
    *part = found;
    return TW_OK;
}

int tw_view_table(const struct tw_view *v, uint64_t offset, uint64_t count, uint32_t entry_size, const char *what,
                  struct tw_view *part, struct tw_error *err)
{
    if (count > v->size / entry_size)
        return tw_view_fail(v, offset, TW_E_FORMAT, err,
                            "%s: %" PRIu64 " entries of %" PRIu32
                            " bytes are more than the 0x%zx bytes that hold them; the file is damaged or cut short",
                            what, count, entry_size, v->size);
    return tw_view_part(v, offset, count * entry_size, what, part, err);
}

int tw_view_string(const struct tw_view *v, uint64_t offset, const char *what, const char **text, struct tw_error *err)
{
    uint64_t left = offset < v->size ? v->size - offset : 0;
    size_t most = left < TW_VIEW_STRING_MAX ? (size_t)left : TW_VIEW_STRING_MAX;
    *text = NULL;
    if (most == 0 || memchr(v->data + offset, 0, most) == NULL)
        return tw_view_fail(v, offset, TW_E_FORMAT, err, "%s: no text that ends among the next %zu bytes", what, most);
    *text = (const char *)(v->data + offset);
    return TW_OK;
}
