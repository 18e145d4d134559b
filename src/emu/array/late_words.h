/*
 * Words that DMA brings into a core's memory while the core is simulated ahead: they are written when that is over, so
 * that the core sees none of them before, whichever thread simulates it and whenever.
 */
#ifndef TW_EMU_ARRAY_LATE_WORDS_H
#define TW_EMU_ARRAY_LATE_WORDS_H

#include <stdint.h>

enum { TW_LATE_WORDS = 8192 };

struct tw_late_words {
    unsigned n;
    uint32_t words[TW_LATE_WORDS]; /* runs: the address in words, how many there are, and these */
};

/* Notes a run of words for an address in words. Returns 0 when there is no room. */
int tw_late_add(struct tw_late_words *late, uint32_t address, const uint32_t *words, uint32_t n);
/* Writes all of them, in their order. */
void tw_late_write(struct tw_late_words *late, uint8_t *memory);

#endif
