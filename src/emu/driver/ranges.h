/* A space of addresses from which pieces are taken: the device heap, and the memory behind an open file's buffers. */
#ifndef TW_EMU_DRIVER_RANGES_H
#define TW_EMU_DRIVER_RANGES_H

#include <stdint.h>

struct tw_range {
    uint64_t start, size;
    int used;
    struct tw_range *next;
};

struct tw_ranges {
    struct tw_range *first; /* in order of addresses, without gaps */
};

/* All of [0, size) is free. Returns 0 or -ENOMEM. */
int tw_ranges_create(struct tw_ranges *ranges, uint64_t size);
void tw_ranges_free(struct tw_ranges *ranges);

/* A piece (size > 0) at a multiple of align, in the smallest hole that it fits: returns 0, -ENOSPC or -ENOMEM. */
int tw_ranges_take(struct tw_ranges *ranges, uint64_t size, uint64_t align, uint64_t *start);
void tw_ranges_give(struct tw_ranges *ranges, uint64_t start);
/* The size of the piece that begins there, 0 for none. */
uint64_t tw_ranges_size(const struct tw_ranges *ranges, uint64_t start);

#endif
