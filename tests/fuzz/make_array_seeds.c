/* Writes seeds for fuzz_array into a folder: set-ups that work, in the steps that it reads, and random bytes. */
#include "base/random.h"
#include "npu1/buffer_descriptor.h"
#include "npu1/dma.h"
#include "npu1/stream_switch.h"

#include <stdio.h>

/* As fuzz_array reads a step: what, how long, then a value of four bytes and any address. */
enum { STEP_WRITE = 8, STEP_DRAIN = 1, VALUE_FOUR_BYTES = 3 };

static void word(FILE *f, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        fputc((int)(value >> (8 * i) & 0xff), f);
}

static void put(FILE *f, unsigned row, uint32_t offset, uint32_t value)
{
    fputc(STEP_WRITE, f);
    fputc(0, f);
    fputc(VALUE_FOUR_BYTES, f);
    word(f, value);
    for (unsigned i = 0; i < 3; i++)
        fputc(0, f);
    word(f, tw_tile_address(0, row, offset));
}

static void run(FILE *f)
{
    fputc(STEP_DRAIN, f);
    fputc(255, f);
}

static void descriptor(FILE *f, unsigned row, unsigned number, struct tw_bd bd)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    uint32_t words[TW_BD_WORDS_MAX];
    bd.valid = 1;
    bd.iteration.step = bd.iteration.count = 1;
    for (unsigned d = 0; d < tw_bd_dimensions(kind); d++)
        bd.dimensions[d].step = 1;
    if (tw_bd_encode(kind, &bd, words, NULL) != 0)
        return;
    for (unsigned w = 0; w < tw_bd_words(kind); w++)
        put(f, row, tw_bd_offset(kind, number) + 4 * w, words[w]);
}

static void start(FILE *f, unsigned row, enum tw_dma_direction direction, unsigned channel, unsigned bd, unsigned token)
{
    struct tw_dma_task task = {.bd = (uint8_t)bd, .repeat = 2, .token = (uint8_t)token};
    put(f, row, tw_dma_queue_offset(tw_tile_kind(row), (struct tw_dma_channel){direction, channel}),
        tw_dma_task_encode(&task));
}

static void circuit(FILE *f, unsigned row, struct tw_port from, struct tw_port to)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    struct tw_switch_slave slave = {.enable = 1};
    int index = tw_switch_index(kind, TW_SLAVE, from);
    struct tw_switch_master master = {.enable = 1, .slave = (uint8_t)index};
    put(f, row, tw_switch_offset(kind, TW_SLAVE, (unsigned)index), tw_switch_slave_encode(&slave));
    put(f, row, tw_switch_offset(kind, TW_MASTER, (unsigned)tw_switch_index(kind, TW_MASTER, to)),
        tw_switch_master_encode(&master));
}

static void packets(FILE *f, unsigned row, struct tw_port from, struct tw_port to)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    struct tw_switch_slave slave = {.enable = 1, .packet = 1};
    struct tw_switch_slot slot = {.enable = 1, .msel = 1, .arbiter = 2};
    struct tw_switch_master master = {.enable = 1, .packet = 1, .msel = 2, .arbiter = 2, .drop_header = 1};
    unsigned index = (unsigned)tw_switch_index(kind, TW_SLAVE, from);
    put(f, row, tw_switch_offset(kind, TW_SLAVE, index), tw_switch_slave_encode(&slave));
    put(f, row, tw_switch_slot_offset(kind, index, 0), tw_switch_slot_encode(&slot));
    put(f, row, tw_switch_offset(kind, TW_MASTER, (unsigned)tw_switch_index(kind, TW_MASTER, to)),
        tw_switch_master_encode(&master));
}

#define PORT(kind, number) ((struct tw_port){TW_PORT_##kind, number})

static void shim_loop(FILE *f)
{
    put(f, 0, TW_SHIM_MUX, 0x4400);
    put(f, 0, TW_SHIM_DEMUX, 0x50);
    circuit(f, 0, PORT(SOUTH, 3), PORT(SOUTH, 2));
    circuit(f, 0, PORT(CONTROL, 0), PORT(SOUTH, 0));
    descriptor(f, 0, 0, (struct tw_bd){.length = 64});
    descriptor(f, 0, 1, (struct tw_bd){.length = 64, .address = 1024});
    start(f, 0, TW_S2MM, 0, 1, 1);
    start(f, 0, TW_MM2S, 0, 0, 1);
    run(f);
}

static void up_and_down(FILE *f)
{
    circuit(f, 1, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(f, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    packets(f, 2, PORT(DMA, 1), PORT(SOUTH, 1));
    circuit(f, 1, PORT(NORTH, 1), PORT(DMA, 2));
    descriptor(f, 1, 0, (struct tw_bd){.length = 100, .address = 0x80000});
    descriptor(f, 1, 1, (struct tw_bd){.length = 100, .address = 0x90000});
    descriptor(f, 2, 0, (struct tw_bd){.length = 100, .release_id = 1, .release_value = 1});
    descriptor(
        f, 2, 1,
        (struct tw_bd){.length = 100, .packet_enable = 1, .acquire_enable = 1, .acquire_id = 1, .acquire_value = -1});
    start(f, 1, TW_S2MM, 2, 1, 0);
    start(f, 2, TW_S2MM, 0, 0, 0);
    start(f, 2, TW_MM2S, 1, 1, 0);
    start(f, 1, TW_MM2S, 0, 0, 0);
    run(f);
}

static void control(FILE *f)
{
    struct tw_packet_header header = {.id = 1};
    packets(f, 3, PORT(DMA, 0), PORT(NORTH, 0));
    circuit(f, 3, PORT(DMA, 1), PORT(NORTH, 1));
    circuit(f, 4, PORT(SOUTH, 1), PORT(CONTROL, 0));
    circuit(f, 4, PORT(CONTROL, 0), PORT(DMA, 0));
    circuit(f, 4, PORT(CONTROL, 0), PORT(SOUTH, 0));
    put(f, 3, 0, tw_packet_header_encode(&header));
    put(f, 3, 4, 0x80400000); /* read one word at 0 */
    descriptor(f, 3, 0, (struct tw_bd){.length = 2});
    start(f, 3, TW_MM2S, 1, 0, 0);
    run(f);
}

static void random_bytes(FILE *f)
{
    struct tw_random r = {1};
    for (unsigned n = 0; n < 2000; n++)
        fputc((int)tw_random_range(&r, 0, 255), f);
}

int main(int argc, char **argv)
{
    static void (*const seeds[])(FILE *) = {shim_loop, up_and_down, control, random_bytes};
    if (argc != 2)
        return 1;
    for (unsigned i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%u", argv[1], i);
        FILE *f = fopen(path, "wb");
        if (f == NULL)
            return 1;
        seeds[i](f);
        if (fclose(f) != 0)
            return 1;
    }
    return 0;
}
