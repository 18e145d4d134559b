/* Any accesses to registers and memories of the array, and letting it run: an error or results, never a crash or a
 * hang. */
#include "emu/array.h"
#include "npu1/buffer_descriptor.h"
#include "npu1/dma.h"
#include "npu1/lock.h"
#include "npu1/stream_switch.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 2, HOST_BYTES = 4096, STEPS = 400, RUN_CYCLES = 600, TOTAL_CYCLES = 6000 };

static unsigned char host[HOST_BYTES];

static unsigned char *find(void *arg, uint64_t address, uint64_t bytes, int write)
{
    (void)arg, (void)write;
    return address <= HOST_BYTES && bytes <= HOST_BYTES - address ? host + address : NULL;
}

struct input {
    const uint8_t *at;
    size_t left;
};

static uint32_t take(struct input *in, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes && in->left > 0; i++, in->left--)
        value |= (uint32_t)*in->at++ << (8 * i);
    return value;
}

static uint32_t descriptor(enum tw_tile_kind kind, uint32_t which)
{
    return tw_bd_offset(kind, which / 8 % tw_bd_count(kind)) + which % 8 * 4;
}

static uint32_t channel(enum tw_tile_kind kind, uint32_t which)
{
    struct tw_dma_channel c = {which & 1 ? TW_MM2S : TW_S2MM, (which >> 1) % tw_dma_channels(kind)};
    return which & 0x80   ? tw_dma_control_offset(kind, c)
           : which & 0x40 ? tw_dma_status_offset(kind, c)
                          : tw_dma_queue_offset(kind, c);
}

static uint32_t port(enum tw_tile_kind kind, uint32_t which)
{
    unsigned slaves = tw_switch_ports(kind, TW_SLAVE), masters = tw_switch_ports(kind, TW_MASTER);
    if (which & 0x80)
        return tw_switch_offset(kind, TW_MASTER, which % masters);
    if (which & 0x40)
        return tw_switch_slot_offset(kind, which % slaves, which >> 4 & 3);
    return tw_switch_offset(kind, TW_SLAVE, which % slaves);
}

/* Anything, but more often what does something. */
static uint32_t address(struct input *in)
{
    uint32_t how = take(in, 1), which = take(in, 1);
    unsigned tile = how % (COLUMNS * TW_NPU1_ROWS), column = tile / TW_NPU1_ROWS, row = tile % TW_NPU1_ROWS;
    enum tw_tile_kind kind = tw_tile_kind(row);
    switch (take(in, 1) % 8) {
    case 0:
        return take(in, 4);
    case 1:
        return tw_tile_address(column, row, take(in, 3) & 0xffffc);
    case 2:
        return tw_tile_address(column, row, tw_lock_offset(kind, which % tw_lock_count(kind)));
    case 3:
        if (kind == TW_TILE_SHIM)
            return tw_tile_address(column, row, TW_SHIM_MUX + which % 2 * 4);
        if (which % 64 == 0) /* a core takes most of the time, and is fuzzed elsewhere */
            return tw_tile_address(column, row, TW_CORE_CONTROL);
        return tw_tile_address(column, row, port(kind, which));
    case 4:
        return tw_tile_address(column, row, channel(kind, which));
    case 5:
    case 6:
        return tw_tile_address(column, row, port(kind, which));
    default:
        return tw_tile_address(column, row, descriptor(kind, which));
    }
}

/* Registers want certain bits: enable, valid, small numbers. */
static uint32_t value(struct input *in)
{
    uint32_t how = take(in, 1);
    uint32_t v = take(in, 1 + how % 4);
    return (how & 0x40 ? v | UINT32_C(1) << 31 : v) | (how & 0x80 ? UINT32_C(1) << 30 : 0) |
           (how & 0x20 ? 1u << 25 : 0);
}

static void one_step(struct tw_array *a, struct input *in)
{
    struct tw_error err;
    uint32_t v, kind = take(in, 1), words[8];
    uint64_t until = tw_array_clock(a) + take(in, 1) * RUN_CYCLES / 256;
    struct tw_token token;
    switch (kind % 16) {
    case 0:
        tw_array_advance(a, until, &err);
        break;
    case 1:
        tw_array_drain(a, until, &err);
        break;
    case 2:
        token = (struct tw_token){(uint8_t)take(in, 1), (uint8_t)take(in, 1), (uint8_t)take(in, 1)};
        tw_array_wait_token(a, &token, until, &err);
        break;
    case 3:
        v = value(in);
        tw_array_wait_register(a, address(in), v, v, until, &err);
        break;
    case 4:
        tw_array_read(a, address(in), &v, &err);
        break;
    case 5:
        v = value(in);
        tw_array_mask_write(a, address(in), v, value(in), &err);
        break;
    case 6:
        if (kind > 200)
            tw_array_reset(a);
        break;
    case 7:
        for (unsigned i = 0; i < 8; i++)
            words[i] = value(in);
        tw_array_write(a, address(in), words, 8, &err);
        break;
    default:
        v = value(in);
        tw_array_write(a, address(in), &v, 1, &err);
    }
}

/* Making an array takes far longer than most inputs: one is made, and wiped each time. */
static struct tw_array *clean_array(void)
{
    static struct tw_array *array;
    struct tw_array_options options = {.columns = COLUMNS, .host = {.find = find}};
    static const uint32_t zeroise[TW_TILE_KINDS] = {[TW_TILE_MEMORY] = 0x96048, [TW_TILE_CORE] = 0x16010};
    enum { PROGRAM_ZEROISE = 0x36070 };
    const uint32_t one = 1;
    if (array == NULL && tw_array_create(&options, &array, NULL) != 0)
        abort();
    tw_array_reset(array);
    memset(host, 0, sizeof host);
    for (unsigned t = 0; t < COLUMNS * TW_NPU1_ROWS; t++) {
        unsigned column = t / TW_NPU1_ROWS, row = t % TW_NPU1_ROWS;
        if (row > 0)
            tw_array_write(array, tw_tile_address(column, row, zeroise[tw_tile_kind(row)]), &one, 1, NULL);
        if (row >= TW_NPU1_CORE_ROW)
            tw_array_write(array, tw_tile_address(column, row, PROGRAM_ZEROISE), &one, 1, NULL);
    }
    return array;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_array *a = clean_array();
    struct tw_error err;
    struct input in = {data, size};
    char text[300];
    uint64_t end = tw_array_clock(a) + TOTAL_CYCLES;
    for (unsigned i = 0; i < STEPS && in.left > 0 && tw_array_clock(a) < end; i++)
        one_step(a, &in);
    tw_array_drain(a, tw_array_clock(a) + RUN_CYCLES, &err);
    tw_array_describe_waits(a, text, sizeof text);
    return 0;
}
