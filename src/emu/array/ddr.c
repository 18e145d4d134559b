/*
 * How the shim channels share the memory outside the array: burst by burst. What a burst gets is decided when it
 * begins, by who has begun one lately; bursts begin at the array's present time only, so that all channels see the
 * same.
 */
#include "emu/array/dma_channel.h"
#include "emu/array/state.h"

enum { WORD_BYTES = 4, THOUSANDTHS = 1000 };

/*
 * A channel takes part in the sharing when it has begun a burst within so many cycles: more than the longest burst
 * takes at the lowest rate.
 */
enum { RECENT = 256 };

static uint64_t *until(struct tw_array *a, const struct tw_dma_engine *e)
{
    return &a->bursts[e->channel.direction][e->tile->column * TW_SHIM_CHANNELS + e->channel.number];
}

static unsigned active(const struct tw_array *a, enum tw_dma_direction direction)
{
    unsigned n = 0;
    for (unsigned i = 0; i < TW_ALL_SHIM_CHANNELS; i++)
        n += a->bursts[direction][i] > a->now;
    return n;
}

void tw_ddr_rest(struct tw_array *array, const struct tw_dma_engine *engine)
{
    if (engine->tile->kind == TW_TILE_SHIM)
        *until(array, engine) = 0;
}

/* Thousandths of a byte a cycle that each of n channels gets of what there is for all, no more than `most`. */
static unsigned share(unsigned n, unsigned bytes, unsigned most)
{
    unsigned each = n > 0 ? bytes * THOUSANDTHS / n : 0;
    return each < most ? each : most;
}

/* Ticks from one word of a channel to the next while so many read and so many write. */
static uint32_t interval(enum tw_dma_direction direction, unsigned readers, unsigned writers)
{
    unsigned write = share(writers, TW_DDR_WRITE_BYTES, WORD_BYTES * THOUSANDTHS);
    unsigned read = share(readers, TW_DDR_READ_BYTES, WORD_BYTES * THOUSANDTHS * 100 / TW_SHIM_MM2S_WORD_PERCENT);
    unsigned total = read * readers + write * writers, most = TW_DDR_BYTES * THOUSANDTHS;
    unsigned own = direction == TW_MM2S ? read : write;
    if (total > most)
        own = (unsigned)((uint64_t)own * most / total);
    return own > 0 ? WORD_BYTES * THOUSANDTHS * TW_TICKS / own : TW_TICKS;
}

void tw_ddr_prepare(struct tw_array *array)
{
    for (unsigned readers = 0; readers <= TW_ALL_SHIM_CHANNELS; readers++)
        for (unsigned writers = 0; writers <= TW_ALL_SHIM_CHANNELS; writers++) {
            array->intervals[TW_S2MM][readers][writers] = interval(TW_S2MM, readers, writers);
            array->intervals[TW_MM2S][readers][writers] = interval(TW_MM2S, readers, writers);
        }
}

/* 64 bytes, 128 or 256. */
static unsigned burst_words(const struct tw_bd *bd)
{
    enum { SHORTEST = 16, DOUBLINGS = 2 };
    return SHORTEST << (bd->burst < DOUBLINGS ? bd->burst : DOUBLINGS);
}

static void begin_burst(struct tw_array *a, struct tw_dma_engine *e, unsigned words)
{
    *until(a, e) = a->now + RECENT;
    e->burst_left = words;
    e->interval = a->intervals[e->channel.direction][active(a, TW_MM2S)][active(a, TW_S2MM)];
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int wait_until(struct tw_array *a, struct tw_dma_engine *e, uint64_t cycle)
{
    if (cycle <= a->now)
        return 0;
    tw_array_wake(a, e->actor, cycle);
    return 1;
}

static uint64_t cycle_of(uint64_t tick)
{
    return (tick + TW_TICKS - 1) >> TW_TICK_SHIFT;
}

int tw_ddr_read_burst(struct tw_array *array, struct tw_dma_engine *engine)
{
    if (engine->burst_left > 0)
        return 1;
    if (wait_until(array, engine, later(cycle_of(engine->move_at), tw_stream_ready(engine->out))))
        return 0;
    begin_burst(array, engine, burst_words(&engine->bd));
    return 1;
}

int tw_ddr_write_burst(struct tw_array *array, struct tw_dma_engine *engine)
{
    uint64_t gather = engine->pattern.left < TW_WORDS_S2MM ? engine->pattern.left : TW_WORDS_S2MM;
    uint64_t complete = tw_sink_arrival(&engine->in) + gather - 1;
    if (wait_until(array, engine, later(cycle_of(engine->move_at), complete)))
        return 0;
    begin_burst(array, engine, tw_sink_arrived(&engine->in, array->now, (unsigned)gather));
    return 1;
}
