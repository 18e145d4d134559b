#include "emu/array/bank_share.h"

#include "emu/array/state.h"

enum {
    LOGICAL_SHIFT = 14, /* 4 banks of 16 KiB, each two physical ones that take turns every 16 bytes */
    PHYSICAL_SHIFT = 4,
    BANKS_OF_WINDOW = 8,
    BANKS_MASK = 0xff,
    CYCLE_SHIFT = 32
};

static uint64_t *place(uint64_t *ring, uint64_t cycle)
{
    return &ring[cycle % TW_BANK_CYCLES];
}

/* The banks noted for a cycle. */
static uint32_t banks_at(uint64_t *ring, uint64_t cycle)
{
    uint64_t noted = *place(ring, cycle);
    return (uint32_t)(noted >> CYCLE_SHIFT) == (uint32_t)cycle ? (uint32_t)noted : 0;
}

void tw_bank_use(struct tw_tile *tile, uint32_t byte, uint64_t cycle)
{
    unsigned bank = 2 * (byte >> LOGICAL_SHIFT & 3) + (byte >> PHYSICAL_SHIFT & 1);
    struct tw_bank_share *share = tile->banks;
    *place(share->dma, cycle) = cycle << CYCLE_SHIFT | banks_at(share->dma, cycle) | UINT32_C(1) << bank;
    if (cycle > share->dma_last)
        share->dma_last = cycle;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Whether the core used a bank of one of its windows in the cycle in which DMA did. */
static int meets(struct tw_bank_share *other, uint32_t used, uint64_t cycle)
{
    return other != NULL && cycle <= other->dma_last && (used & banks_at(other->dma, cycle)) != 0;
}

/* Conflicts of the core in all of its windows. */
static uint64_t conflicts_of(struct tw_bank_share *own, struct tw_bank_share *const others[TW_WINDOWS], uint64_t from,
                             uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t cycle = from; cycle < to; cycle++) {
        uint32_t used = banks_at(own->core, cycle);
        while (used != 0) {
            unsigned w = (unsigned)__builtin_ctz(used) / BANKS_OF_WINDOW;
            uint32_t of_window = used & (uint32_t)BANKS_MASK << w * BANKS_OF_WINDOW;
            n += (uint64_t)meets(others[w], of_window >> w * BANKS_OF_WINDOW, cycle);
            used -= of_window;
        }
    }
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
