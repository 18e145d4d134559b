#include "whisper/cursor.h"

#include "base/little_endian.h"

#include <string.h>

int tw_cursor_take(struct tw_cursor *c, size_t n, const char *what, const unsigned char **bytes, struct tw_error *err)
{
    *bytes = NULL;
    if (n > c->size - c->at)
        return tw_fail(
            err, TW_E_FORMAT,
            "'%s' is damaged or cut short: %s takes %zu bytes from byte %zu on, but the file ends at byte %zu; "
            "fetch it again",
            c->file, what, n, c->at, c->size);
    *bytes = c->data + c->at;
    c->at += n;
    return TW_OK;
}

int tw_cursor_u8(struct tw_cursor *c, const char *what, uint8_t *value, struct tw_error *err)
{
    const unsigned char *p;
    int code = tw_cursor_take(c, 1, what, &p, err);
    *value = p == NULL ? 0 : p[0];
    return code;
}

int tw_cursor_u16(struct tw_cursor *c, const char *what, uint16_t *value, struct tw_error *err)
{
    const unsigned char *p;
    int code = tw_cursor_take(c, 2, what, &p, err);
    *value = p == NULL ? 0 : tw_load_u16(p);
    return code;
}

int tw_cursor_u32(struct tw_cursor *c, const char *what, uint32_t *value, struct tw_error *err)
{
    const unsigned char *p;
    int code = tw_cursor_take(c, 4, what, &p, err);
    *value = p == NULL ? 0 : tw_load_u32(p);
    return code;
}

int tw_cursor_i32(struct tw_cursor *c, const char *what, int32_t *value, struct tw_error *err)
{
    uint32_t bits;
    int code = tw_cursor_u32(c, what, &bits, err);
    memcpy(value, &bits, sizeof bits);
    return code;
}
