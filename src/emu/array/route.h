/* The ways through the switches, found from their configuration registers. */
#ifndef TW_EMU_ARRAY_ROUTE_H
#define TW_EMU_ARRAY_ROUTE_H

#include "emu/array/packet.h"
#include "npu1/tile.h"

/* Finds the ends of all streams anew, after switch registers have been written. */
void tw_routes_trace(struct tw_array *array);

/*
 * Finds arbiters and sinks of a packet with a header at a port, and how many words the way holds (from the source).
 * Raises the array's fault and returns -1 when the way is one that no packet gets through.
 */
int tw_route_packet(struct tw_array *array, struct tw_packets *packets, uint32_t header, uint32_t *capacity);

/* Tile_Control, whose bits isolate a tile from its neighbours. */
uint32_t tw_isolation_offset(enum tw_tile_kind kind);

#endif
