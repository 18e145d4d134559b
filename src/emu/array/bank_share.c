#include "emu/array/bank_share.h"

#include "emu/array/state.h"

enum {
    GRANULE_WORDS = 4,  /* 128 bits */
    LOGICAL_SHIFT = 10, /* in those: 4 banks of 16 KiB, each two physical ones that take turns */
    BANKS_OF_WINDOW = 8,
    BANKS_MASK = 0xff
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Notes a bank for a cycle. */
static void note(struct tw_bank_note *ring, uint64_t cycle, unsigned bank)
{
    struct tw_bank_note *place = &ring[cycle % TW_BANK_CYCLES];
    uint32_t others = place->cycle == (uint32_t)cycle ? place->banks : 0;
    *place = (struct tw_bank_note){others | 1u << bank, (uint32_t)cycle};
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
 * Cycles from one on, between which the rings do not end, in which the core used a bank of a window and DMA used the
 * same one. *used gets all that the core has noted in places of these cycles, of whatever cycle it is.
 */
static uint32_t conflicts_between(const struct tw_bank_note *core, const struct tw_bank_note *dma, unsigned window,
                                  uint32_t first, uint32_t cycles, uint32_t *used)
{
    uint32_t n = 0, all = 0;
    for (uint32_t i = 0; i < cycles; i++) {
        uint32_t both = core[i].banks >> window * BANKS_OF_WINDOW & dma[i].banks & BANKS_MASK;
        uint32_t other_time = (core[i].cycle ^ (first + i)) | (dma[i].cycle ^ (first + i));
        n += (other_time == 0) & (both != 0);
        all |= core[i].banks;
    }
    *used |= all;
    return n;
}

static uint64_t conflicts_in(const struct tw_bank_share *own, const struct tw_bank_share *other, unsigned window,
                             uint64_t from, uint64_t to, uint32_t *used)
{
    uint64_t n = 0;
    while (from < to) {
        uint64_t place = from % TW_BANK_CYCLES, part = TW_BANK_CYCLES - place;
        part = part < to - from ? part : to - from;
        n += conflicts_between(own->core + place, other->dma + place, window, (uint32_t)from, (uint32_t)part, used);
        from += part;
    }
    return n;
}

/* Conflicts of the core in all of its windows; first in its own, then in others if it has used any. */
static uint64_t conflicts_of(const struct tw_bank_share *own, struct tw_bank_share *const others[TW_WINDOWS],
                             uint64_t from, uint64_t to)
{
    uint32_t used = 0, others_used = 0;
    uint64_t n = conflicts_in(own, own, TW_WINDOW_OWN, from, to, &used);
    for (unsigned w = 0; w < TW_WINDOWS; w++)
        if (w != TW_WINDOW_OWN && others[w] != NULL && (used >> w * BANKS_OF_WINDOW & BANKS_MASK) != 0)
            n += conflicts_in(own, others[w], w, from, to, &others_used);
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
