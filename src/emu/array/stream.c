#include "emu/array/stream.h"

#include "emu/array/state.h"

#include <string.h>

static unsigned slot(uint64_t word)
{
    return (unsigned)(word & (TW_STREAM_RING - 1));
}

unsigned tw_stream_room(const struct tw_stream *stream)
{
    uint64_t inside = stream->written - stream->freed;
    return inside < stream->capacity ? stream->capacity - (unsigned)inside : 0;
}

uint64_t tw_stream_ready(const struct tw_stream *stream)
{
    return stream->written >= stream->capacity ? stream->taken[slot(stream->written - stream->capacity)] : 0;
}

/* The DMA channel that a sink belongs to, when it is one that only waits for words. */
static struct tw_dma_engine *moving_channel(struct tw_array *a, const struct tw_sink *sink)
{
    unsigned own = sink->actor % TW_ACTORS;
    if (own < TW_ACTOR_S2MM || own >= TW_ACTOR_MM2S)
        return NULL;
    struct tw_dma_engine *e = &a->tiles[sink->actor / TW_ACTORS].channels[TW_S2MM][own - TW_ACTOR_S2MM];
    return e->phase == TW_DMA_MOVE ? e : NULL;
}

/*
 * A channel that moves words does so at once: when its words come is known, and nobody else has a part in it.
 * All others act when their time has come.
 */
static void feed(struct tw_array *a, struct tw_sink *sink)
{
    if (!sink->hungry || sink->from == NULL || tw_sink_available(sink, 0) == 0)
        return;
    sink->hungry = 0;
    struct tw_dma_engine *channel = moving_channel(a, sink);
    if (channel != NULL)
        tw_dma_move(a, channel);
    else
        tw_array_wake(a, sink->actor, tw_sink_arrival(sink));
}

static void feed_packets(struct tw_array *a, struct tw_packets *p)
{
    if (p->state == TW_PACKET_PASSES)
        for (unsigned i = 0; i < p->n_ends; i++)
            feed(a, p->ends[i].sink);
    else if (p->state == TW_PACKET_NONE && p->next < p->from->written)
        tw_array_wake(a, p->actor, p->from->sent[slot(p->next)] + p->latency);
}

static void feed_all(struct tw_array *a, struct tw_stream *s)
{
    for (unsigned i = 0; i < s->n_branches; i++)
        if (s->branches[i].sink != NULL)
            feed(a, s->branches[i].sink);
        else
            feed_packets(a, s->branches[i].packets);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The tick at which the i-th word from now can be sent, not before `at`. */
static uint64_t send_tick(const struct tw_stream *stream, unsigned i, uint64_t at)
{
    uint64_t word = stream->written + i;
    if (word < stream->capacity)
        return at;
    return later(at, stream->taken[slot(word - stream->capacity)] << TW_TICK_SHIFT);
}

void tw_stream_times(const struct tw_stream *stream, uint64_t *cycles, unsigned n, uint64_t at, uint32_t interval)
{
    for (unsigned i = 0; i < n; i++, at += interval) {
        at = send_tick(stream, i, at);
        cycles[i] = at >> TW_TICK_SHIFT;
    }
}

/* Sends n words, between which the ring does not end. */
static uint64_t send_part(struct tw_stream *stream, const uint32_t *words, unsigned n, uint64_t at, uint32_t interval)
{
    unsigned first = slot(stream->written);
    uint64_t *sent = stream->sent + first;
    for (unsigned i = 0; i < n; i++, at += interval) {
        at = send_tick(stream, i, at);
        sent[i] = at >> TW_TICK_SHIFT;
    }
    memcpy(stream->words + first, words, n * sizeof *words);
    memset(stream->taken + first, 0, n * sizeof stream->taken[0]);
    memset(stream->last + first, 0, n * sizeof stream->last[0]);
    stream->written += n;
    return at;
}

uint64_t tw_stream_send(struct tw_array *array, struct tw_stream *stream, const uint32_t *words, unsigned n, int last,
                        uint64_t at, uint32_t interval)
{
    for (unsigned done = 0; done < n;) {
        unsigned first = slot(stream->written), part = TW_STREAM_RING - first;
        part = part < n - done ? part : n - done;
        at = send_part(stream, words + done, part, at, interval);
        done += part;
    }
    if (last)
        stream->last[slot(stream->written - 1)] = 1;
    feed_all(array, stream);
    return at;
}

void tw_stream_send_word(struct tw_array *array, struct tw_stream *stream, uint32_t word, int last, uint64_t cycle)
{
    tw_stream_send(array, stream, &word, 1, last, cycle << TW_TICK_SHIFT, TW_TICKS);
}

unsigned tw_sink_available(const struct tw_sink *sink, int to_last)
{
    const struct tw_stream *s = sink->from;
    if (s == NULL || sink->ended)
        return 0;
    unsigned n = (unsigned)(s->written - sink->next);
    if (!to_last && sink->packets == NULL)
        return n;
    for (unsigned i = 0; i < n; i++)
        if (s->last[slot(sink->next + i)])
            return i + 1;
    return n;
}

/* When the i-th word from now arrives. */
static inline uint64_t arrival(const struct tw_sink *sink, unsigned i)
{
    return later(sink->from->sent[slot(sink->next + i)] + sink->latency, sink->since);
}

uint64_t tw_sink_arrival(const struct tw_sink *sink)
{
    return arrival(sink, 0);
}

unsigned tw_sink_arrived(const struct tw_sink *sink, uint64_t cycle, unsigned most)
{
    unsigned n = 0, there = tw_sink_available(sink, 0);
    there = there < most ? there : most;
    while (n < there && arrival(sink, n) <= cycle)
        n++;
    return n;
}

/* The words themselves, and where the ring ends in between, those from its beginning. */
static void copy_words(const struct tw_stream *from, uint64_t first, uint32_t *words, unsigned n)
{
    unsigned begin = slot(first), part = n < TW_STREAM_RING - begin ? n : TW_STREAM_RING - begin;
    memcpy(words, from->words + begin, part * sizeof *words);
    memcpy(words + part, from->words, (n - part) * sizeof *words);
}

/* Takes n words, between which the ring does not end; returns as tw_sink_take. */
static uint64_t take(const struct tw_sink *sink, uint64_t first, uint64_t *cycles, unsigned n, uint64_t at,
                     uint32_t interval)
{
    const uint64_t *sent = sink->from->sent + slot(first), latency = sink->latency;
    uint64_t *taken = sink->from->taken + slot(first);
    for (unsigned i = 0; i < n; i++, at += interval) {
        at = later(at, (sent[i] + latency) << TW_TICK_SHIFT);
        cycles[i] = at >> TW_TICK_SHIFT;
        taken[i] = later(taken[i], cycles[i]);
    }
    return at;
}

/*
 * The same at a word a cycle, of a stream whose source is a channel of DMA: that sends at most one word a cycle, so
 * that no word is late because the one before was.
 */
static uint64_t take_steadily(const struct tw_sink *sink, uint64_t first, uint64_t *cycles, unsigned n, uint64_t at)
{
    const uint64_t *sent = sink->from->sent + slot(first), latency = sink->latency, cycle = at >> TW_TICK_SHIFT;
    uint64_t *taken = sink->from->taken + slot(first);
    for (unsigned i = 0; i < n; i++) {
        cycles[i] = later(cycle + i, sent[i] + latency);
        taken[i] = later(taken[i], cycles[i]);
    }
    uint64_t last = n - 1;
    return later(at + (last << TW_TICK_SHIFT), (sent[last] + latency) << TW_TICK_SHIFT) + TW_TICKS;
}

uint64_t tw_sink_take(struct tw_array *array, struct tw_sink *sink, uint32_t *words, uint64_t *cycles, unsigned n,
                      int *last, uint64_t at, uint32_t interval)
{
    struct tw_stream *from = sink->from;
    uint64_t times[TW_STREAM_RING];
    unsigned done = 0;
    cycles = cycles != NULL ? cycles : times;
    at = later(at, sink->since << TW_TICK_SHIFT);
    copy_words(from, sink->next, words, n);
    while (done < n) {
        uint64_t first = sink->next + done;
        unsigned part = TW_STREAM_RING - slot(first);
        part = part < n - done ? part : n - done;
        at = interval == TW_TICKS && from->is_steady ? take_steadily(sink, first, cycles + done, part, at)
                                                     : take(sink, first, cycles + done, part, at, interval);
        done += part;
    }
    uint64_t cycle = cycles[n - 1];
    sink->next += n;
    int was_last = from->last[slot(sink->next - 1)];
    if (last != NULL)
        *last = was_last;
    if (was_last && sink->packets != NULL) {
        sink->ended = 1;
        tw_packets_ended(array, sink->packets, cycle);
    }
    tw_stream_free(array, from);
    return at;
}

void tw_stream_free(struct tw_array *array, struct tw_stream *stream)
{
    uint64_t freed = stream->written;
    for (unsigned i = 0; i < stream->n_branches; i++) {
        const struct tw_branch *b = &stream->branches[i];
        uint64_t position = b->sink != NULL ? b->sink->next : tw_packets_position(b->packets);
        freed = position < freed ? position : freed;
    }
    if (stream->n_branches > 0 && freed > stream->freed)
        stream->freed = freed;
    if (!stream->blocked || tw_stream_room(stream) == 0)
        return;
    stream->blocked = 0;
    tw_array_wake(array, stream->actor, tw_stream_ready(stream));
}
