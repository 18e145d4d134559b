/* How the shim channels share the memory outside the array. */
#include "emu/array/dma_channel.h"
#include "emu/array/state.h"

enum { WORD_BYTES = 4, THOUSANDTHS = 1000 };

void tw_ddr_share(struct tw_array *array, struct tw_dma_engine *engine, int moving)
{
    if (engine->tile->kind != TW_TILE_SHIM || engine->moving == moving)
        return;
    engine->moving = (uint8_t)moving;
    unsigned *count = engine->channel.direction == TW_MM2S ? &array->reading : &array->writing;
    *count = moving ? *count + 1 : *count - 1;
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
    unsigned read = share(array->reading, TW_DDR_READ_BYTES), write = share(array->writing, TW_DDR_WRITE_BYTES);
    unsigned total = read * array->reading + write * array->writing, most = TW_DDR_BYTES * THOUSANDTHS;
    unsigned own = engine->channel.direction == TW_MM2S ? read : write;
    if (total > most)
        own = (unsigned)((uint64_t)own * most / total);
    return own > 0 ? WORD_BYTES * THOUSANDTHS * TW_TICKS / own : TW_TICKS;
}
