/* Locks as registers. By AM020, AM025 and the aie-rt driver. */
#ifndef TW_NPU1_LOCK_H
#define TW_NPU1_LOCK_H

#include "npu1/tile.h"

#include <stdint.h>

enum tw_lock_limit { TW_LOCK_VALUE_TOP = 63 };

unsigned tw_lock_count(enum tw_tile_kind kind);
uint32_t tw_lock_offset(enum tw_tile_kind kind, unsigned number); /* of its value register */
int tw_lock_at(enum tw_tile_kind kind, uint32_t offset);          /* the lock whose value register is there, or -1 */

/* A read of the request window acquires or releases without waiting; the value read says whether it did. */
struct tw_lock_request {
    uint8_t lock, acquire;
    int8_t value;
};
/* Returns 1 when the offset lies in the request window. */
int tw_lock_request_at(enum tw_tile_kind kind, uint32_t offset, struct tw_lock_request *request);

#endif
