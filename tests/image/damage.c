#include "image/damage.h"

#include "base/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Reads a copy that ends where the view ends, and begins at an odd address. */
static int read_copy(const unsigned char *data, size_t size, damage_read *read)
{
    struct tw_error err = {0};
    unsigned char *copy = malloc(size + 1);
    assert_non_null(copy);
    if (size > 0)
        memcpy(copy + 1, data, size);
    int code = read(&(struct tw_view){copy + 1, size, "made", 0}, &err);
    free(copy);
    assert_true(code <= 0);
    assert_int_equal(code, err.code);
    assert_int_equal(code < 0, strncmp(err.text, "'made'", 6) == 0);
    return code;
}

void damage_truncate(const struct made *file, damage_read *read)
{
    assert_int_equal(read_copy(file->data, file->size, read), 0);
    for (size_t size = 0; size < file->size; size++)
        if (read_copy(file->data, size, read) == 0)
            fail_msg("%zu of %zu bytes were taken for the whole", size, file->size);
}

void damage_words(const struct made *file, damage_read *read, void (*sign)(unsigned char *file))
{
    static const uint32_t wild[] = {0, 1, 0x7f, 0x80, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
    struct made m = {0};
    made_bytes(&m, file->data, file->size);
    for (size_t at = 0; at + 4 <= m.size; at += 4)
        for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
            tw_store_u32(m.data + at, wild[i]);
            if (sign != NULL)
                sign(m.data);
            read_copy(m.data, m.size, read);
            memcpy(m.data, file->data, m.size);
        }
    made_free(&m);
}

void damage_refused(const struct made *file, damage_read *read, int code, const char *words)
{
    struct tw_error err = {0};
    struct tw_view view = made_view(file);
    int got = read(&view, &err);
    if (got != code || strncmp(err.text, "'made', byte 0x", 15) != 0 || strstr(err.text, words) == NULL)
        fail_msg("code %d instead of %d, or no '%s' in: %s", got, code, words, err.text);
}
