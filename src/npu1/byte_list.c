#include "npu1/byte_list.h"

#include "base/little_endian.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

/* The place of `size` more bytes, or NULL. */
static unsigned char *extend(struct tw_byte_list *list, size_t size)
{
    if (list->failed || size > SIZE_MAX / 4 || list->size > SIZE_MAX / 4) {
        list->failed = 1;
        return NULL;
    }
    if (list->room - list->size < size) {
        size_t room = 2 * list->room + size + FIRST_ROOM;
        unsigned char *bytes = realloc(list->bytes, room);
        if (bytes == NULL) {
            list->failed = 1;
            return NULL;
        }
        list->bytes = bytes;
        list->room = room;
    }
    list->size += size;
    return list->bytes + list->size - size;
}

void tw_byte_list_add(struct tw_byte_list *list, const void *bytes, size_t size)
{
    unsigned char *to = extend(list, size);
    if (to != NULL && size > 0)
        memcpy(to, bytes, size);
}

void tw_byte_list_zeros(struct tw_byte_list *list, size_t size)
{
    unsigned char *to = extend(list, size);
    if (to != NULL && size > 0)
        memset(to, 0, size);
}

void tw_byte_list_word(struct tw_byte_list *list, uint32_t word)
{
    unsigned char *to = extend(list, 4);
    if (to != NULL)
        tw_store_u32(to, word);
}

void tw_byte_list_words(struct tw_byte_list *list, const uint32_t *words, size_t n)
{
    unsigned char *to = n <= SIZE_MAX / 4 ? extend(list, 4 * n) : NULL;
    if (to == NULL) {
        list->failed = 1;
        return;
    }
    for (size_t i = 0; i < n; i++)
        tw_store_u32(to + 4 * i, words[i]);
}

void tw_byte_list_align(struct tw_byte_list *list, size_t to)
{
    tw_byte_list_zeros(list, (to - list->size % to) % to);
}

void tw_byte_list_set(struct tw_byte_list *list, size_t at, const void *bytes, size_t size)
{
    if (!list->failed && size > 0)
        memcpy(list->bytes + at, bytes, size);
}

void tw_byte_list_set_u32(struct tw_byte_list *list, size_t at, uint32_t value)
{
    if (!list->failed)
        tw_store_u32(list->bytes + at, value);
}

void tw_byte_list_set_u64(struct tw_byte_list *list, size_t at, uint64_t value)
{
    if (!list->failed)
        tw_store_u64(list->bytes + at, value);
}

void tw_byte_list_free(struct tw_byte_list *list)
{
    free(list->bytes);
    *list = (struct tw_byte_list){0};
}
