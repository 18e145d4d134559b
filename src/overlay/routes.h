/* The overlay's fixed routes through the stream switches, as register writes. */
#ifndef TW_OVERLAY_ROUTES_H
#define TW_OVERLAY_ROUTES_H

#include "npu1/stream_switch.h"

#include <stddef.h>

/* A circuit inside one tile: what comes in by the slave leaves by the master. */
struct tw_overlay_route {
    unsigned column, row;
    struct tw_port slave, master;
};

enum tw_overlay_routes_limit { TW_OVERLAY_ROUTES_MAX = 256 };

/* Writes all circuits to routes, which has room for TW_OVERLAY_ROUTES_MAX; returns how many there are. */
size_t tw_overlay_routes(struct tw_overlay_route *routes);

/*
 * Calls `write` for each register that the routes need: switches, the shims' multiplexers (with a mask; all others
 * have mask UINT32_MAX), and the way of tokens to the firmware.
 */
void tw_overlay_write_routes(void (*write)(void *arg, uint32_t address, uint32_t mask, uint32_t value), void *arg);

#endif
