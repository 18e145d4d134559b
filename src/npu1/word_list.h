/* A list of little-endian words that grows, for writers; a failure stays until it is asked for. */
#ifndef TW_NPU1_WORD_LIST_H
#define TW_NPU1_WORD_LIST_H

#include <stddef.h>
#include <stdint.h>

struct tw_word_list {
    unsigned char *bytes;
    size_t size, room;
    int failed; /* there was no memory; what was added since is lost */
};

void tw_word_list_add(struct tw_word_list *list, uint32_t word);
void tw_word_list_add_all(struct tw_word_list *list, const uint32_t *words, size_t n);
/* Replaces word number i, which is there unless the list has failed. */
void tw_word_list_set(struct tw_word_list *list, size_t i, uint32_t word);
void tw_word_list_free(struct tw_word_list *list);

#endif
