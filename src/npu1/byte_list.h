/* Bytes that grow, for writers of files; numbers are little-endian. A failure stays until it is asked for. */
#ifndef TW_NPU1_BYTE_LIST_H
#define TW_NPU1_BYTE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct tw_byte_list {
    unsigned char *bytes; /* to be freed with free() */
    size_t size, room;
    int failed; /* there was no memory; what was added since is lost */
};

void tw_byte_list_add(struct tw_byte_list *list, const void *bytes, size_t size);
void tw_byte_list_zeros(struct tw_byte_list *list, size_t size);
void tw_byte_list_word(struct tw_byte_list *list, uint32_t word);
void tw_byte_list_words(struct tw_byte_list *list, const uint32_t *words, size_t n);
/* Adds zeros up to a multiple of `to`. */
void tw_byte_list_align(struct tw_byte_list *list, size_t to);

/* Replace the bytes from `at` on, which are there unless the list has failed. */
void tw_byte_list_set(struct tw_byte_list *list, size_t at, const void *bytes, size_t size);
void tw_byte_list_set_u32(struct tw_byte_list *list, size_t at, uint32_t value);
void tw_byte_list_set_u64(struct tw_byte_list *list, size_t at, uint64_t value);

void tw_byte_list_free(struct tw_byte_list *list);

#endif
