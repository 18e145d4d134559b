#include "device/packet.h"

#include <string.h>

static unsigned sent_buffers(unsigned n_buffers)
{
    return n_buffers > TW_LAUNCH_BUFFERS_MIN ? n_buffers : TW_LAUNCH_BUFFERS_MIN;
}

static unsigned map_words(unsigned n_buffers)
{
    return TW_MAP_BUFFERS + 2 * sent_buffers(n_buffers);
}

unsigned tw_launch_buffers_max(enum tw_packet_opcode opcode)
{
    unsigned words =
        opcode == TW_PACKET_START_NPU ? TW_NPU_ARGUMENT_WORDS_MAX : (TW_CHAIN_WINDOW_BYTES - TW_NPU_SLOT_BYTES) / 4;
    return (words - TW_MAP_BUFFERS) / 2;
}

size_t tw_launch_slot_bytes(unsigned n_buffers)
{
    /* For START_NPU too: what it puts in front of the map goes into the slot's own fields. */
    return TW_NPU_SLOT_BYTES + (size_t)4 * map_words(n_buffers);
}

static void put_u64(uint32_t *words, uint64_t value)
{
    words[0] = (uint32_t)value;
    words[1] = (uint32_t)(value >> 32);
}

static void write_map(const struct tw_launch *l, uint32_t *map)
{
    memset(map, 0, (size_t)4 * map_words(l->n_buffers));
    put_u64(map + TW_MAP_OPCODE, l->kernel);
    put_u64(map + TW_MAP_INSTRUCTIONS, l->code_address);
    map[TW_MAP_LENGTH] = (uint32_t)(l->code_bytes / 4);
    for (unsigned i = 0; i < l->n_buffers; i++)
        put_u64(map + TW_MAP_BUFFERS + (size_t)2 * i, l->buffers[i]);
}

uint32_t tw_packet_write_launch(const struct tw_launch *l, uint32_t words[TW_PACKET_WORDS])
{
    uint32_t *payload = words + TW_PACKET_PAYLOAD;
    uint32_t count = 1 + map_words(l->n_buffers);
    words[TW_PACKET_CU_MASK] = (uint32_t)1 << l->cu;
    if (l->opcode == TW_PACKET_START_NPU) {
        put_u64(payload + TW_NPU_INSTRUCTIONS, l->code_address);
        payload[TW_NPU_BYTES] = (uint32_t)l->code_bytes;
        payload[TW_NPU_PROPERTIES] = 0;
        payload += TW_NPU_ARGUMENTS;
        count += TW_NPU_ARGUMENTS;
    }
    write_map(l, payload);
    return tw_packet_header(l->opcode, count);
}

uint32_t tw_packet_write_chain(const uint32_t *handles, unsigned n, uint32_t words[TW_PACKET_WORDS])
{
    memset(words + 1, 0, sizeof words[0] * TW_CHAIN_FIXED_WORDS);
    words[TW_CHAIN_COUNT] = n;
    for (unsigned i = 0; i < n; i++)
        put_u64(words + TW_CHAIN_HANDLES + (size_t)2 * i, handles[i]);
    return tw_packet_header(TW_PACKET_CHAIN, TW_CHAIN_FIXED_WORDS + 2 * n);
}
