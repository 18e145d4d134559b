/*
 * The addresses of one transfer, in order: a walk over up to four dimensions with zero padding around the inner ones,
 * cut into runs that lie side by side. By AM020's description of the descriptors.
 */
#ifndef TW_EMU_ARRAY_ADDRESS_PATTERN_H
#define TW_EMU_ARRAY_ADDRESS_PATTERN_H

#include "npu1/buffer_descriptor.h"

#include <stdint.h>

struct tw_address_pattern {
    struct tw_bd_dimension dimensions[TW_BD_DIMENSIONS_MAX];
    unsigned n;
    int is_padded;
    uint64_t address;                        /* words: of the present place, also where that lies in padding */
    uint64_t left;                           /* words of the transfer that are still to come */
    uint64_t position[TW_BD_DIMENSIONS_MAX]; /* in the padded dimension, what is before included */
};

/* Words one after the other in memory, or zeros that lie nowhere. */
struct tw_address_run {
    uint64_t address; /* words */
    uint32_t words;
    int zeros;
};

/* Begins an execution of a descriptor that has `n` dimensions, at its iteration's present place. */
void tw_address_begin(struct tw_address_pattern *pattern, const struct tw_bd *bd, unsigned n);
/* The next run of at most `limit` words (1 or more). Returns 0 when all words have been named. */
int tw_address_next(struct tw_address_pattern *pattern, uint32_t limit, struct tw_address_run *run);

#endif
