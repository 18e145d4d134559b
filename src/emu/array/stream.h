/*
 * A stream: the words that one source has sent and that some of its sinks have not yet taken. Not each buffer on the
 * way is modelled but the way as a whole: a word reaches a sink the way's latency after it was sent, and the source can
 * be ahead of its slowest sink by what the buffers on the shortest way hold. Each word knows when it was sent and when
 * the last sink took it; so source and sinks may be simulated one after the other for many words.
 */
#ifndef TW_EMU_ARRAY_STREAM_H
#define TW_EMU_ARRAY_STREAM_H

#include <stdint.h>

struct tw_array;
struct tw_tile;
struct tw_stream;
struct tw_packets;

enum tw_stream_limit {
    TW_STREAM_RING = 256,     /* a power of two */
    TW_STREAM_CAPACITY = 128, /* at most; the ring still knows when the word before that was taken */
    TW_STREAM_BRANCHES = 64
};

/* Times with eight bits behind the point, for rates that are no whole number of cycles. */
enum { TW_TICK_SHIFT = 8, TW_TICKS = 1 << TW_TICK_SHIFT };

/* Where words leave the switches: a DMA channel, a core, a control port, the firmware. */
struct tw_sink {
    uint16_t actor;
    uint8_t hungry;             /* wants to act when something comes */
    uint8_t ended;              /* has taken the last word of its packet */
    struct tw_stream *from;     /* NULL: nothing leads here now */
    struct tw_packets *packets; /* NULL: by circuit, else packet by packet */
    struct tw_stream *before;   /* while routes are traced again: what from was */
    uint64_t next;              /* number of the next word in the stream */
    uint64_t since;             /* no word arrives before */
    uint32_t latency;
};

/* One end of the circuits that begin at a source: a sink, or a switch port that looks at packets. */
struct tw_branch {
    struct tw_sink *sink;
    struct tw_packets *packets;
};

struct tw_stream {
    struct tw_tile *tile;
    uint8_t slave;     /* the port where it enters the tile's switch */
    uint8_t own;       /* words of buffer that the source itself has */
    uint8_t blocked;   /* the source wants to act when there is room */
    uint8_t is_steady; /* the source is a channel of DMA: between two words there is always a cycle or more */
    uint16_t actor;    /* of the source */
    uint16_t capacity, n_branches;
    uint64_t written, freed; /* words sent; words that all have taken */
    struct tw_branch branches[TW_STREAM_BRANCHES];
    uint32_t words[TW_STREAM_RING];
    uint64_t sent[TW_STREAM_RING], taken[TW_STREAM_RING];
    uint8_t last[TW_STREAM_RING];
};

/* How many words the source can send now. */
unsigned tw_stream_room(const struct tw_stream *stream);
/*
 * Sends n words, no more than there is room for; the first not before the tick `at`, each `interval` ticks after the
 * one before or later; TLAST comes with the last one if asked for. Sinks that are hungry are woken. Returns the tick at
 * which the next word could be sent.
 */
uint64_t tw_stream_send(struct tw_array *array, struct tw_stream *stream, const uint32_t *words, unsigned n, int last,
                        uint64_t at, uint32_t interval);
/* The cycles at which tw_stream_send would send n words. */
void tw_stream_times(const struct tw_stream *stream, uint64_t *cycles, unsigned n, uint64_t at, uint32_t interval);
/* As tw_stream_send, for one word at a cycle. */
void tw_stream_send_word(struct tw_array *array, struct tw_stream *stream, uint32_t word, int last, uint64_t cycle);

/* The first cycle at which the next word can be sent; there is room for it. */
uint64_t tw_stream_ready(const struct tw_stream *stream);

/* How many words there are for the sink; with to_last none behind a TLAST (always so for packets). */
unsigned tw_sink_available(const struct tw_sink *sink, int to_last);
/* When the next word arrives; there is one. */
uint64_t tw_sink_arrival(const struct tw_sink *sink);
/* How many words have arrived at a cycle, at most `most`; for packets none behind the last one. */
unsigned tw_sink_arrived(const struct tw_sink *sink, uint64_t cycle, unsigned most);
/*
 * Takes n words that are there into words; the first not before the tick `at`, then as tw_stream_send. *last, if not
 * NULL, says whether TLAST came with the last one; cycles, if not NULL, get when each is taken. Returns the tick at
 * which the next one could be taken.
 */
uint64_t tw_sink_take(struct tw_array *array, struct tw_sink *sink, uint32_t *words, uint64_t *cycles, unsigned n,
                      int *last, uint64_t at, uint32_t interval);

/* Finds out what all sinks have taken; wakes the source if that made room. */
void tw_stream_free(struct tw_array *array, struct tw_stream *stream);

#endif
