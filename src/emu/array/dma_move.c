/* The data phase of a DMA channel: words from memory into a stream, or from a stream into memory. */
#include "emu/array/dma_channel.h"
#include "emu/array/state.h"
#include "npu1/packet.h"
#include "npu1/stream_switch.h"

#include <string.h>

/* Words that are moved at once. */
enum { BURST = 64 };

static int is_shim(const struct tw_dma_engine *e)
{
    return e->tile->kind == TW_TILE_SHIM;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * How many cycles before a word leaves it has been asked of memory, when the stream takes all of them at once: memory
 * gives 128 bits a cycle, more than leave, so that words that lie side by side are read ahead until the egress is full;
 * a memory tile counts those still in its memory's pipeline among them.
 */
static uint64_t lead(const struct tw_dma_engine *e)
{
    if (e->channel.direction == TW_S2MM || is_shim(e))
        return 0;
    if (e->bd.dimensions[0].step != 1)
        return TW_CYCLES_MEMORY;
    return TW_WORDS_MM2S + (e->tile->kind == TW_TILE_CORE ? TW_CYCLES_MEMORY : 0);
}

static uint64_t less_lead(const struct tw_dma_engine *e, uint64_t cycle)
{
    uint64_t cycles = lead(e);
    return cycle > cycles ? cycle - cycles : 0;
}

/* The earliest cycle at which all words can have been asked of memory: four a cycle, and with room for the last one. */
static uint64_t asked(const struct tw_dma_engine *e)
{
    enum { WORDS_A_CYCLE = 4 };
    const struct tw_stream *s = e->out;
    uint64_t room = s->written > s->capacity ? s->taken[(s->written - 1 - s->capacity) & (TW_STREAM_RING - 1)] : 0;
    return later(e->begun + (e->bd.length + UINT64_C(3)) / WORDS_A_CYCLE, room + 1);
}

/*
 * The descriptor's words have all been moved by the tick `move_at`. MM2S of a tile is done with them before, when the
 * last one has been asked of memory.
 */
static void finished(struct tw_array *a, struct tw_dma_engine *e)
{
    uint64_t cycle = (e->move_at + TW_TICKS - 1) >> TW_TICK_SHIFT;
    if (lead(e) > 0)
        cycle = later(less_lead(e, cycle), asked(e));
    e->phase = TW_DMA_FINISH;
    e->due = later(cycle, a->now);
    tw_array_wake(a, e->actor, e->due);
}

/* Enough for one turn: others may have to act first. */
static int is_ahead(struct tw_array *a, struct tw_dma_engine *e)
{
    uint64_t cycle = less_lead(e, e->move_at >> TW_TICK_SHIFT);
    if (cycle <= a->now + a->options.run_ahead)
        return 0;
    tw_array_wake(a, e->actor, cycle);
    return 1;
}

/* Reads the next n words of the pattern, or writes them. They are moved at these cycles. */
static int copy(struct tw_array *a, struct tw_dma_engine *e, uint32_t *words, const uint64_t *cycles, uint32_t n)
{
    struct tw_address_run run;
    for (uint32_t at = 0; at < n && tw_address_next(&e->pattern, n - at, &run); at += run.words) {
        if (e->tile->kind == TW_TILE_CORE && !run.zeros)
            tw_bank_use(e->tile->banks, run.address, run.words, cycles + at, &e->granule);
        if (run.zeros)
            memset(words + at, 0, run.words * sizeof words[0]);
        else if (tw_dma_copy(a, e, run.address, words + at, run.words) != 0)
            return -1;
    }
    e->words += n;
    return 0;
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* How many of n words are moved at once. */
static uint32_t burst(struct tw_dma_engine *e, uint32_t n)
{
    n = smaller(n, is_shim(e) ? e->burst_left : BURST);
    n = smaller(n, BURST);
    e->burst_left -= is_shim(e) ? n : 0;
    return n;
}

static uint32_t header_word(const struct tw_dma_engine *e)
{
    struct tw_packet_header header = {
        .id = e->bd.packet_id, .type = e->bd.packet_type, .row = e->tile->row, .column = e->tile->column};
    uint32_t word = tw_packet_header_encode(&header) & ~(UINT32_C(1) << PACKET_PARITY_SHIFT);
    return packet_parity(word | (uint32_t)e->bd.out_of_order_id << TW_OUT_OF_ORDER_SHIFT);
}

static void move_out(struct tw_array *a, struct tw_dma_engine *e)
{
    uint32_t words[BURST];
    uint64_t cycles[BURST] = {0};
    struct tw_stream *s = e->out;
    while (e->header || e->pattern.left > 0) {
        unsigned room = tw_stream_room(s);
        if (room == 0) {
            s->blocked = 1;
            return;
        }
        if (is_shim(e) ? !tw_ddr_read_burst(a, e) : is_ahead(a, e))
            return;
        if (e->header) {
            uint32_t word = header_word(e);
            e->header = 0;
            e->move_at = tw_stream_send(a, s, &word, 1, 0, e->move_at, TW_TICKS);
            continue;
        }
        uint32_t n = burst(e, smaller(room, e->pattern.left));
        if (e->tile->kind == TW_TILE_CORE)
            tw_stream_times(s, cycles, n, e->move_at, e->interval);
        if (copy(a, e, words, cycles, n) != 0)
            return;
        int last = e->pattern.left == 0 && !e->bd.tlast_suppress;
        e->move_at = tw_stream_send(a, s, words, n, last, e->move_at, e->interval);
    }
    finished(a, e);
}

static void move_in(struct tw_array *a, struct tw_dma_engine *e)
{
    uint32_t words[BURST];
    uint64_t cycles[BURST];
    e->in.hungry = 0;
    int to_last = e->settings.finish_on_tlast != 0;
    while (e->pattern.left > 0) {
        unsigned there = tw_sink_available(&e->in, to_last);
        if (there == 0) {
            e->in.hungry = 1;
            return;
        }
        if (is_shim(e) ? !tw_ddr_write_burst(a, e) : is_ahead(a, e))
            return;
        int last;
        uint32_t n = burst(e, smaller(there, e->pattern.left));
        e->move_at = tw_sink_take(a, &e->in, words, cycles, n, &last, e->move_at, e->interval);
        if (copy(a, e, words, cycles, n) != 0)
            return;
        if (last && to_last)
            e->pattern.left = 0;
    }
    finished(a, e);
}

void tw_dma_move(struct tw_array *array, struct tw_dma_engine *engine)
{
    if (array->fault.code != 0 || engine->settings.pause_memory || engine->settings.pause_stream)
        return;
    if (engine->channel.direction == TW_S2MM)
        move_in(array, engine);
    else
        move_out(array, engine);
}
