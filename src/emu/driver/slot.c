/* The firmware's side of a window: taking its slots apart. The process can write there, so nothing is believed. */
#include "base/little_endian.h"
#include "emu/driver/state.h"

#include <string.h>

/* Where a slot's fields are, by protocol and kind of command. */
struct layout {
    size_t size, code, code_bytes; /* code 0 and code_bytes 0: in the arguments */
};

static const struct layout layouts[2][2] = {
    /* START_CU, START_NPU */
    {{.size = TW_NPU_SLOT_BYTES}, {.size = TW_NPU_SLOT_BYTES, .code = 4, .code_bytes = 28}}, /* 5.8 */
    {{.size = TW_CF_SLOT_BYTES}, {.size = 24, .code = 0, .code_bytes = 8}},                  /* 5.7 */
};

static uint32_t read_arguments(const unsigned char *words, uint32_t n, struct tw_drv_slot *slot)
{
    if (n < TW_MAP_BUFFERS)
        return DRV_STATUS_BAD_PARAMETER;
    slot->opcode = tw_load_u32(words + 4 * TW_MAP_OPCODE);
    if (!slot->host_patched) {
        slot->code = tw_load_u64(words + 4 * TW_MAP_INSTRUCTIONS);
        slot->code_bytes = 4 * (uint64_t)tw_load_u32(words + 4 * TW_MAP_LENGTH);
    }
    slot->n_buffers = (n - TW_MAP_BUFFERS) / 2;
    for (size_t i = 0; i < slot->n_buffers; i++)
        slot->buffers[i] = tw_load_u64(words + 4 * (TW_MAP_BUFFERS + 2 * i));
    return 0;
}

uint32_t tw_drv_slot_next(const struct tw_drv_window *window, int old_firmware, size_t *at, struct tw_drv_slot *slot)
{
    int patched = window->opcode == TW_PACKET_START_NPU;
    const struct layout *l = &layouts[old_firmware != 0][patched];
    const unsigned char *bytes = window->bytes + *at;
    if (window->used - *at < l->size)
        return DRV_STATUS_BAD_BUFFER;
    uint32_t words = tw_load_u32(bytes + l->size - 4);
    if ((window->used - *at - l->size) / 4 < words)
        return DRV_STATUS_BAD_BUFFER;
    slot->cu = tw_load_u32(bytes + l->size - 8);
    slot->host_patched = patched;
    if (patched) {
        slot->code = tw_load_u64(bytes + l->code);
        slot->code_bytes = tw_load_u32(bytes + l->code_bytes);
    }
    *at += l->size + 4 * (size_t)words;
    return read_arguments(bytes + l->size, words, slot);
}
