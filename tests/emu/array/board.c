#include "emu/array/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static unsigned char *find(void *arg, uint64_t address, uint64_t size, int write)
{
    struct board *b = arg;
    uint64_t at = address - HOST_ADDRESS;
    if (address < HOST_ADDRESS || at >= HOST_BYTES || size > HOST_BYTES - at)
        return NULL;
    if (at < HOST_SECOND ? size > HOST_SECOND - at : write && b->second_is_constant)
        return NULL;
    return b->host + at;
}

static void must(struct board *b, int result)
{
    if (result != 0)
        fail_msg("%s", b->err.text);
}

struct board *board_make(const struct tw_array_options *options)
{
    struct board *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->limit = 1000000;
    struct tw_array_options all = *options;
    all.host = (struct tw_host_memory){.arg = b, .find = find};
    must(b, tw_array_create(&all, &b->array, &b->err));
    return b;
}

struct board *board_new(unsigned columns)
{
    return board_make(&(struct tw_array_options){.columns = columns});
}

void board_free(struct board *b)
{
    tw_array_free(b->array);
    free(b);
}

uint32_t *host_words(struct board *b, uint32_t byte)
{
    return (uint32_t *)(void *)(b->host + byte);
}

void put(struct board *b, unsigned column, unsigned row, uint32_t offset, uint32_t value)
{
    must(b, tw_array_write(b->array, tw_tile_address(column, row, offset), &value, 1, &b->err));
}

uint32_t get(struct board *b, unsigned column, unsigned row, uint32_t offset)
{
    uint32_t value = 0;
    must(b, tw_array_read(b->array, tw_tile_address(column, row, offset), &value, &b->err));
    return value;
}

struct tw_bd plain_bd(uint64_t address, uint32_t words)
{
    struct tw_bd bd = {.length = words, .address = address, .valid = 1};
    for (unsigned d = 0; d < TW_BD_DIMENSIONS_MAX; d++)
        bd.dimensions[d].step = 1;
    bd.iteration.step = bd.iteration.count = 1;
    return bd;
}

void put_bd(struct board *b, unsigned column, unsigned row, unsigned number, const struct tw_bd *bd)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    uint32_t words[TW_BD_WORDS_MAX];
    struct tw_bd fits = *bd;
    for (unsigned d = tw_bd_dimensions(kind); d < TW_BD_DIMENSIONS_MAX; d++)
        fits.dimensions[d] = (struct tw_bd_dimension){0};
    must(b, tw_bd_encode(kind, &fits, words, &b->err));
    must(b, tw_array_write(b->array, tw_tile_address(column, row, tw_bd_offset(kind, number)), words, tw_bd_words(kind),
                           &b->err));
}

enum { CONTROLLER_SHIFT = 8, CONTROLLER_MASK = 0xff00 };

void start(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel,
           unsigned bd, unsigned repeat, unsigned token)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    struct tw_dma_channel c = {direction, channel};
    struct tw_dma_task task = {.bd = (uint8_t)bd, .repeat = (uint16_t)repeat, .token = token != 0};
    if (token != 0)
        must(b, tw_array_mask_write(b->array, tw_tile_address(column, row, tw_dma_control_offset(kind, c)),
                                    CONTROLLER_MASK, (token - 1) << CONTROLLER_SHIFT, &b->err));
    put(b, column, row, tw_dma_queue_offset(kind, c), tw_dma_task_encode(&task));
}

uint32_t status(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel)
{
    return get(b, column, row, tw_dma_status_offset(tw_tile_kind(row), (struct tw_dma_channel){direction, channel}));
}

static unsigned index_of(unsigned row, enum tw_port_side side, struct tw_port port)
{
    int index = tw_switch_index(tw_tile_kind(row), side, port);
    assert_true(index >= 0);
    return (unsigned)index;
}

static void put_master(struct board *b, unsigned column, unsigned row, struct tw_port port,
                       const struct tw_switch_master *master)
{
    put(b, column, row, tw_switch_offset(tw_tile_kind(row), TW_MASTER, index_of(row, TW_MASTER, port)),
        tw_switch_master_encode(master));
}

static void put_slave(struct board *b, unsigned column, unsigned row, struct tw_port port, int packet)
{
    struct tw_switch_slave slave = {.enable = 1, .packet = (uint8_t)packet};
    put(b, column, row, tw_switch_offset(tw_tile_kind(row), TW_SLAVE, index_of(row, TW_SLAVE, port)),
        tw_switch_slave_encode(&slave));
}

void circuit(struct board *b, unsigned column, unsigned row, struct tw_port slave, struct tw_port master)
{
    struct tw_switch_master m = {.enable = 1, .slave = (uint8_t)index_of(row, TW_SLAVE, slave)};
    put_slave(b, column, row, slave, 0);
    put_master(b, column, row, master, &m);
}

void shim_dma(struct board *b, unsigned column)
{
    enum { MUX_DMA = 0x4400, DEMUX_DMA = 0x50 };
    put(b, column, 0, TW_SHIM_MUX, MUX_DMA);
    put(b, column, 0, TW_SHIM_DEMUX, DEMUX_DMA);
    for (unsigned c = 0; c < 2; c++) {
        circuit(b, column, 0, PORT(SOUTH, tw_shim_mm2s_port(c)), PORT(NORTH, c));
        circuit(b, column, 0, PORT(NORTH, c), PORT(SOUTH, tw_shim_s2mm_port(c)));
    }
}

void token_circuit(struct board *b, unsigned column)
{
    circuit(b, column, 0, PORT(CONTROL, 0), PORT(SOUTH, 0));
}

void rule(struct board *b, unsigned column, unsigned row, struct tw_port slave, unsigned slot, unsigned id,
          unsigned mask, unsigned arbiter, unsigned msel)
{
    struct tw_switch_slot s = {
        .enable = 1, .id = (uint8_t)id, .mask = (uint8_t)mask, .msel = (uint8_t)msel, .arbiter = (uint8_t)arbiter};
    put_slave(b, column, row, slave, 1);
    put(b, column, row, tw_switch_slot_offset(tw_tile_kind(row), index_of(row, TW_SLAVE, slave), slot),
        tw_switch_slot_encode(&s));
}

void packet_master(struct board *b, unsigned column, unsigned row, struct tw_port master, unsigned arbiter,
                   unsigned msels, int drop_header)
{
    struct tw_switch_master m = {.enable = 1,
                                 .packet = 1,
                                 .drop_header = (uint8_t)drop_header,
                                 .arbiter = (uint8_t)arbiter,
                                 .msel = (uint8_t)msels};
    put_master(b, column, row, master, &m);
}

void wait_token(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel)
{
    int actor = tw_dma_actor(tw_tile_kind(row), (struct tw_dma_channel){direction, channel});
    assert_true(actor >= 0);
    struct tw_token token = {.column = (uint8_t)column, .row = (uint8_t)row, .actor = (uint8_t)actor};
    must(b, tw_array_wait_token(b->array, &token, tw_array_clock(b->array) + b->limit, &b->err));
}

int drain(struct board *b)
{
    b->err = (struct tw_error){0};
    return tw_array_drain(b->array, tw_array_clock(b->array) + b->limit, &b->err);
}
