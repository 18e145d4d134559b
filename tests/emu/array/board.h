/* An array with some host memory, and short ways to set it up. All of it stops the test when it fails. */
#ifndef TESTS_EMU_ARRAY_BOARD_H
#define TESTS_EMU_ARRAY_BOARD_H

#include "emu/array.h"
#include "npu1/buffer_descriptor.h"
#include "npu1/dma.h"
#include "npu1/lock.h"
#include "npu1/stream_switch.h"

/* Two buffers of the host side by side; the second begins there. */
enum { HOST_BYTES = 1 << 20, HOST_ADDRESS = 0x40000000, HOST_SECOND = 0xe0000 };

struct board {
    struct tw_array *array;
    struct tw_error err;
    uint64_t limit; /* cycles that a run may take */
    int second_is_constant;
    unsigned char host[HOST_BYTES];
};

struct board *board_new(unsigned columns);
/* Columns, run_ahead and unknown of the options count. */
struct board *board_make(const struct tw_array_options *options);
void board_free(struct board *b);

uint32_t *host_words(struct board *b, uint32_t byte);

/* Registers and memory by tile and offset. */
void put(struct board *b, unsigned column, unsigned row, uint32_t offset, uint32_t value);
uint32_t get(struct board *b, unsigned column, unsigned row, uint32_t offset);

/* A descriptor without anything but length and address (bytes), and its writing. */
struct tw_bd plain_bd(uint64_t address, uint32_t words);
void put_bd(struct board *b, unsigned column, unsigned row, unsigned number, const struct tw_bd *bd);

/* Starts a task; a token comes with controller id `token` - 1 when token is not 0. */
void start(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel,
           unsigned bd, unsigned repeat, unsigned token);
uint32_t status(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel);

/* Circuit from slave to master inside one switch. */
void circuit(struct board *b, unsigned column, unsigned row, struct tw_port slave, struct tw_port master);
#define PORT(kind, number) ((struct tw_port){TW_PORT_##kind, number})
/* Shim DMA in both directions by both channels: channel c to and from the shim's North c. */
void shim_dma(struct board *b, unsigned column);
/* The way of tokens of a shim itself to the firmware, as circuit. */
void token_circuit(struct board *b, unsigned column);

/* A packet rule at a slave, and a master that listens to an arbiter and a set of msel. */
void rule(struct board *b, unsigned column, unsigned row, struct tw_port slave, unsigned slot, unsigned id,
          unsigned mask, unsigned arbiter, unsigned msel);
void packet_master(struct board *b, unsigned column, unsigned row, struct tw_port master, unsigned arbiter,
                   unsigned msels, int drop_header);

/* Waits for a token of a channel of a tile. */
void wait_token(struct board *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel);
/* Runs until nothing moves; returns the code. */
int drain(struct board *b);

#endif
