/* How the shim channels share the memory outside the array. */
#include "emu/array/dma_channel.h"
#include "emu/array/state.h"

enum { WORD_BYTES = 4, THOUSANDTHS = 1000 };

/*
 * A channel takes part in the sharing when it has moved words within so many cycles. Channels may be simulated that far
 * apart, which is why those of shims run less far ahead than others.
 */
enum { RECENT = 2 * TW_SHIM_RUN_AHEAD };

static unsigned active(const struct tw_array *a, enum tw_dma_direction direction, uint64_t tick)
{
    unsigned n = 0;
    for (unsigned column = 0; column < a->options.columns; column++) {
        const struct tw_tile *shim = tw_array_tile(a, (int)column, 0);
        for (unsigned c = 0; c < shim->n_channels; c++) {
            const struct tw_dma_engine *e = &shim->channels[direction][c];
            n += e->phase == TW_DMA_MOVE && e->move_at + RECENT * TW_TICKS >= tick;
        }
    }
    return n;
}

/* Thousandths of a byte a cycle that each of n channels gets of what there is for all. */
static unsigned share(unsigned n, unsigned bytes)
{
    unsigned each = n > 0 ? bytes * THOUSANDTHS / n : 0;
    return each < WORD_BYTES * THOUSANDTHS ? each : WORD_BYTES * THOUSANDTHS;
}

uint32_t tw_ddr_interval(const struct tw_array *array, const struct tw_dma_engine *engine)
{
    if (engine->tile->kind != TW_TILE_SHIM)
        return TW_TICKS;
    unsigned readers = active(array, TW_MM2S, engine->move_at), writers = active(array, TW_S2MM, engine->move_at);
    unsigned read = share(readers, TW_DDR_READ_BYTES), write = share(writers, TW_DDR_WRITE_BYTES);
    unsigned total = read * readers + write * writers, most = TW_DDR_BYTES * THOUSANDTHS;
    unsigned own = engine->channel.direction == TW_MM2S ? read : write;
    if (total > most)
        own = (unsigned)((uint64_t)own * most / total);
    return own > 0 ? WORD_BYTES * THOUSANDTHS * TW_TICKS / own : TW_TICKS;
}
