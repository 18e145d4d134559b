#include "npu1/lock.h"

#include "npu1_registers.h"

static const struct kind {
    unsigned count;
    uint32_t values, step, requests;
} kinds[TW_TILE_KINDS] = {
    [TW_TILE_SHIM] = {16, TW_REG_SHIM_LOCK_VALUE, TW_REG_SHIM_LOCK_VALUE_STEP, TW_REG_SHIM_LOCK_REQUEST},
    [TW_TILE_MEMORY] = {64, TW_REG_MEMORY_LOCK_VALUE, TW_REG_MEMORY_LOCK_VALUE_STEP, TW_REG_MEMORY_LOCK_REQUEST},
    [TW_TILE_CORE] = {16, TW_REG_CORE_LOCK_VALUE, TW_REG_CORE_LOCK_VALUE_STEP, TW_REG_CORE_LOCK_REQUEST},
};

/* An offset in the request window: lock in the bits from 10 on, acquire in bit 9, value in bits 8:2 (AM025). */
enum request { REQUEST_LOCK_SHIFT = 10, REQUEST_ACQUIRE = 1 << 9, REQUEST_VALUE_SHIFT = 2, REQUEST_VALUE_TOP = 0x7f };

unsigned tw_lock_count(enum tw_tile_kind kind)
{
    return kinds[kind].count;
}

uint32_t tw_lock_offset(enum tw_tile_kind kind, unsigned number)
{
    return kinds[kind].values + number * kinds[kind].step;
}

int tw_lock_at(enum tw_tile_kind kind, uint32_t offset)
{
    const struct kind *k = &kinds[kind];
    uint32_t distance = offset - k->values;
    if (offset < k->values || distance >= k->count * k->step || distance % k->step != 0)
        return -1;
    return (int)(distance / k->step);
}

int tw_lock_request_at(enum tw_tile_kind kind, uint32_t offset, struct tw_lock_request *request)
{
    const struct kind *k = &kinds[kind];
    uint32_t distance = offset - k->requests;
    if (offset < k->requests || distance >= k->count << REQUEST_LOCK_SHIFT)
        return 0;
    int value = (int)(distance >> REQUEST_VALUE_SHIFT & REQUEST_VALUE_TOP);
    request->lock = (uint8_t)(distance >> REQUEST_LOCK_SHIFT);
    request->acquire = (distance & REQUEST_ACQUIRE) != 0;
    request->value = (int8_t)(value > REQUEST_VALUE_TOP / 2 ? value - REQUEST_VALUE_TOP - 1 : value);
    return 1;
}
