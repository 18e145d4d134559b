#include "whisper/cursor.h"

#include <string.h>

int tw_cursor_take(struct tw_cursor *c, size_t n, const char *what, const unsigned char **bytes, struct tw_error *err)
{
    *bytes = NULL;
    if (n > c->size - c->at)
        return tw_fail(err, TW_E_FORMAT,
                       "'%s' is damaged or cut short: %s takes %zu bytes from byte %zu on, but the file ends at byte %zu; "
                       "fetch it again",
                       c->file, what, n, c->at, c->size);
    *bytes = c->data + c->at;
    c->at += n;
    return TW_OK;
}

/* An unsigned number of n bytes. */
static int number(struct tw_cursor *c, size_t n, const char *what, uint32_t *value, struct tw_error *err)
{
    const unsigned char *p;
    int code = tw_cursor_take(c, n, what, &p, err);
    *value = 0;
    if (p == NULL)
        return code;
    for (size_t i = 0; i < n; i++)
        *value |= (uint32_t)p[i] << 8 * i;
    return TW_OK;
}

int tw_cursor_u8(struct tw_cursor *c, const char *what, uint8_t *value, struct tw_error *err)
{
    uint32_t wide = 0;
    int code = number(c, 1, what, &wide, err);
    *value = (uint8_t)wide;
    return code;
}

int tw_cursor_u16(struct tw_cursor *c, const char *what, uint16_t *value, struct tw_error *err)
{
    uint32_t wide = 0;
    int code = number(c, 2, what, &wide, err);
    *value = (uint16_t)wide;
    return code;
}

int tw_cursor_u32(struct tw_cursor *c, const char *what, uint32_t *value, struct tw_error *err)
{
    return number(c, 4, what, value, err);
}

int tw_cursor_i32(struct tw_cursor *c, const char *what, int32_t *value, struct tw_error *err)
{
    uint32_t bits = 0;
    int code = number(c, 4, what, &bits, err);
    memcpy(value, &bits, sizeof bits);
    return code;
}
