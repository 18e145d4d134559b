/*
 * Where a core and DMA want the same bank of a core tile's memory in the same cycle. A bank gives one access of 128
 * bits a cycle. DMA that loses asks again, and its buffers are long enough that nobody sees it; of every 50 conflicts
 * the core loses one, and a cycle, as measured. Accesses of both are noted by their cycles while they are simulated,
 * and compared when both are known. What a core has lost it pays at its next request: where it meets others.
 */
#ifndef TW_EMU_ARRAY_BANK_SHARE_H
#define TW_EMU_ARRAY_BANK_SHARE_H

#include "emu/core.h"

struct tw_array;
struct tw_tile;

struct tw_bank_share {
    struct tw_bank_note core[TW_BANK_CYCLES]; /* what the tile's core used; see tw_core_options */
    struct tw_bank_note dma[TW_BANK_CYCLES];  /* what DMA used of the tile's memory, in the same form: eight banks */
    uint64_t compared;                        /* up to this cycle the core's accesses have been */
    uint64_t conflicts, paid;                 /* of the core: with all DMA; of these, whose cycles it has paid */
};

/*
 * DMA accesses n words side by side from a word address on, at these cycles: the banks are used once for each 128 bits,
 * when the first word of them is moved. *granule: the 128 bits that the channel has accessed last.
 */
void tw_bank_use(struct tw_bank_share *share, uint64_t address, uint32_t n, const uint64_t *cycles, uint64_t *granule);
/* Compares up to the array's present time, or that of the core when it is behind. */
void tw_bank_compare(const struct tw_array *array, struct tw_tile *tile);
/* Cycles that the core has to pay; it has then paid them, and asks for nothing before the cycle `next`. */
uint64_t tw_bank_pay(struct tw_tile *tile, uint64_t next);

#endif
