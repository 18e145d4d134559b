/*
 * Packets: at a switch port in packet mode the header's id chooses an arbiter and through it the masters, and so on
 * from switch to switch. A packet holds each arbiter that it has come to until its last word is through.
 */
#ifndef TW_EMU_ARRAY_PACKET_H
#define TW_EMU_ARRAY_PACKET_H

#include "emu/array/stream.h"
#include "npu1/stream_switch.h"

#include <stdint.h>

enum tw_packet_limit { TW_PACKET_ARBITERS = 32, TW_PACKET_SINKS = 32 };

struct tw_arbiter {
    struct tw_packets *holder;
    unsigned n_waiters;
    struct tw_packets *waiters[TW_SWITCH_PORTS_MAX]; /* in the order in which they came */
};

enum tw_packet_state {
    TW_PACKET_NONE,    /* waits for a header */
    TW_PACKET_WAITS,   /* for an arbiter */
    TW_PACKET_PASSES,  /* its sinks take it */
    TW_PACKET_THROUGH, /* all have taken the last word: the arbiters are let go at that time */
    TW_PACKET_LOST     /* an error */
};

struct tw_packet_end {
    struct tw_sink *sink;
    uint32_t latency;
    uint8_t drop; /* the header */
};

/* The packets that come to one switch port. */
struct tw_packets {
    struct tw_tile *tile;
    uint8_t slave;
    uint8_t waited; /* for an arbiter */
    uint16_t actor;
    struct tw_stream *from, *before; /* as of a sink */
    uint32_t latency;                /* from the source to this port */
    uint32_t capacity;               /* of the way to this port */
    uint64_t next;                   /* number of the header's word, or of the next header */
    uint64_t end_cycle;              /* when a sink took the last word */
    enum tw_packet_state state;
    unsigned n_arbiters, n_held, n_ends, n_ended;
    struct tw_arbiter *arbiters[TW_PACKET_ARBITERS]; /* in the order of the way */
    struct tw_packet_end ends[TW_PACKET_SINKS];
};

/* What the port does at the array's present time. */
void tw_packets_act(struct tw_array *array, struct tw_packets *packets);
/* Leaves the arbiters that it waits for or holds; its packet is still there. */
void tw_packets_leave(struct tw_array *array, struct tw_packets *packets);
/* A sink has taken the packet's last word at a cycle. */
void tw_packets_ended(struct tw_array *array, struct tw_packets *packets, uint64_t cycle);
/* The first word that not all sinks of its packet have taken. */
uint64_t tw_packets_position(const struct tw_packets *packets);

#endif
