#include "npu1/word_list.h"

#include "base/little_endian.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4096 };

static int make_room(struct tw_word_list *list)
{
    if (list->room - list->size >= 4)
        return 1;
    size_t room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
    unsigned char *bytes = room > list->room ? realloc(list->bytes, room) : NULL;
    if (bytes == NULL)
        return 0;
    list->bytes = bytes;
    list->room = room;
    return 1;
}

void tw_word_list_add(struct tw_word_list *list, uint32_t word)
{
    if (list->failed || !make_room(list)) {
        list->failed = 1;
        return;
    }
    tw_store_u32(list->bytes + list->size, word);
    list->size += 4;
}

void tw_word_list_add_all(struct tw_word_list *list, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tw_word_list_add(list, words[i]);
}

void tw_word_list_set(struct tw_word_list *list, size_t i, uint32_t word)
{
    if (!list->failed)
        tw_store_u32(list->bytes + 4 * i, word);
}

void tw_word_list_free(struct tw_word_list *list)
{
    free(list->bytes);
    *list = (struct tw_word_list){0};
}
