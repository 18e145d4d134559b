#include "emu/array/bank_share.h"

#include "emu/array/state.h"

enum {
    GRANULE_WORDS = 4,  /* 128 bits */
    LOGICAL_SHIFT = 10, /* in those: 4 banks of 16 KiB, each two physical ones that take turns */
    BANKS_OF_WINDOW = 8,
    BANKS_MASK = 0xff,
    CYCLE_SHIFT = 32
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Notes a bank for a cycle. */
static void note(uint64_t *ring, uint64_t cycle, unsigned bank)
{
    uint64_t *place = &ring[cycle % TW_BANK_CYCLES];
    uint64_t others = (uint32_t)(*place >> CYCLE_SHIFT) == (uint32_t)cycle ? (uint32_t)*place : 0;
    *place = cycle << CYCLE_SHIFT | others | UINT64_C(1) << bank;
}

void tw_bank_use(struct tw_bank_share *share, uint64_t address, uint32_t n, const uint64_t *cycles, uint64_t *granule)
{
    for (uint32_t i = 0; i < n;) {
        uint64_t word = address + i, own = word / GRANULE_WORDS;
        if (own != *granule)
            note(share->dma, cycles[i], 2 * (own >> LOGICAL_SHIFT & 3) + (own & 1));
        *granule = own;
        i += GRANULE_WORDS - (uint32_t)(word % GRANULE_WORDS);
    }
}

/*
 * Cycles in which the core used a bank of a window and DMA used the same one. *used: all that the core has noted in
 * places of these cycles, of whatever cycle it is.
 */
static uint64_t conflicts_in(const struct tw_bank_share *own, const struct tw_bank_share *other, unsigned window,
                             uint64_t from, uint64_t to, uint32_t *used)
{
    uint64_t n = 0;
    uint32_t all = 0;
    for (uint64_t cycle = from; cycle < to; cycle++) {
        uint64_t core = own->core[cycle % TW_BANK_CYCLES], dma = other->dma[cycle % TW_BANK_CYCLES];
        uint64_t other_time = ((core >> CYCLE_SHIFT) ^ (uint32_t)cycle) | ((dma >> CYCLE_SHIFT) ^ (uint32_t)cycle);
        uint32_t both = (uint32_t)core >> window * BANKS_OF_WINDOW & (uint32_t)dma & BANKS_MASK;
        n += (other_time == 0) & (both != 0);
        all |= (uint32_t)core;
    }
    *used = all;
    return n;
}

/* Conflicts of the core in all of its windows; first in its own, then in others if it has used any. */
static uint64_t conflicts_of(const struct tw_bank_share *own, struct tw_bank_share *const others[TW_WINDOWS],
                             uint64_t from, uint64_t to)
{
    uint32_t used = 0, unused;
    uint64_t n = conflicts_in(own, own, TW_WINDOW_OWN, from, to, &used);
    for (unsigned w = 0; w < TW_WINDOWS; w++)
        if (w != TW_WINDOW_OWN && others[w] != NULL && (used >> w * BANKS_OF_WINDOW & BANKS_MASK) != 0)
            n += conflicts_in(own, others[w], w, from, to, &unused);
    return n;
}

void tw_bank_compare(const struct tw_array *array, struct tw_tile *tile)
{
    struct tw_bank_share *own = tile->banks, *others[TW_WINDOWS];
    uint64_t clock = tw_core_clock(tile->seat.core), to = clock < array->now ? clock : array->now;
    uint64_t from = later(own->compared, to > TW_BANK_CYCLES ? to - TW_BANK_CYCLES : 0);
    for (unsigned w = 0; w < TW_WINDOWS; w++) {
        struct tw_tile *other = tw_core_window_tile(array, tile, (enum tw_core_window)w);
        others[w] = other != NULL ? other->banks : NULL;
    }
    own->conflicts += conflicts_of(own, others, from, to);
    own->compared = later(own->compared, to);
}

uint64_t tw_bank_pay(struct tw_tile *tile, uint64_t next)
{
    struct tw_bank_share *own = tile->banks;
    uint64_t cycles = own->conflicts / TW_BANK_CONFLICTS - own->paid;
    own->paid += cycles;
    own->compared = later(own->compared, next);
    return cycles;
}
