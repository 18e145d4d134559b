/*
 * The control port of a tile's switch: packets that read and write the tile's registers come in, their replies and the
 * DMA's tokens go out. And the shim's South 0 port, where tokens reach the firmware. By AM020.
 */
#ifndef TW_EMU_ARRAY_CONTROL_PORT_H
#define TW_EMU_ARRAY_CONTROL_PORT_H

#include "emu/array/stream.h"
#include "emu/cycles.h"

enum tw_control_limit { TW_CONTROL_BEATS = 4, TW_CONTROL_QUEUE = TW_TOKENS };

struct tw_control_port {
    uint16_t actor;
    struct tw_sink in;
    struct tw_stream *out;
    uint8_t n_words; /* of the packet that is coming in */
    uint32_t words[2 + TW_CONTROL_BEATS];
    unsigned first, n; /* what waits to go out, a ring */
    uint32_t queue[TW_CONTROL_QUEUE];
    uint8_t queue_last[TW_CONTROL_QUEUE];
};

void tw_control_act(struct tw_array *array, struct tw_tile *tile);
/* Puts a channel's token in the way out; returns 1, or 0: no room. */
int tw_control_token(struct tw_array *array, struct tw_tile *tile, uint32_t word);

/* Tokens that reached the firmware by one shim's South 0 port. */
struct tw_token_port {
    uint16_t actor;
    struct tw_sink in;
    uint8_t inside; /* a packet whose first word has been taken */
};

void tw_token_port_act(struct tw_array *array, struct tw_tile *tile);

#endif
