/* DMA channels as registers: where they are and what they hold. By AM025 and the aie-rt driver. */
#ifndef TW_NPU1_DMA_H
#define TW_NPU1_DMA_H

#include "npu1/tile.h"

#include <stdint.h>

/* S2MM: from the stream to memory; MM2S: from memory to the stream. */
enum tw_dma_direction { TW_S2MM, TW_MM2S };
enum tw_dma_limit { TW_DMA_CHANNELS_MAX = 6, TW_DMA_QUEUE_DEPTH = 4 };

struct tw_dma_channel {
    enum tw_dma_direction direction;
    unsigned number;
};

unsigned tw_dma_channels(enum tw_tile_kind kind); /* of each direction */
uint32_t tw_dma_control_offset(enum tw_tile_kind kind, struct tw_dma_channel channel);
uint32_t tw_dma_queue_offset(enum tw_tile_kind kind, struct tw_dma_channel channel);
uint32_t tw_dma_status_offset(enum tw_tile_kind kind, struct tw_dma_channel channel);

enum tw_dma_register { TW_DMA_NO_REGISTER, TW_DMA_CONTROL, TW_DMA_QUEUE, TW_DMA_STATUS };
/* Which register of which channel an offset is. */
enum tw_dma_register tw_dma_register_at(enum tw_tile_kind kind, uint32_t offset, struct tw_dma_channel *channel);

/* What is written to a queue register. */
struct tw_dma_task {
    uint8_t bd;
    uint16_t repeat; /* how often it is executed, 1 or more (the field holds one less) */
    uint8_t token;   /* a token when it is complete */
};
struct tw_dma_task tw_dma_task_decode(enum tw_tile_kind kind, uint32_t word);
uint32_t tw_dma_task_encode(const struct tw_dma_task *task);

/* What is written to a control register. */
struct tw_dma_control {
    uint8_t reset, pause_memory, pause_stream, out_of_order, compression, controller_id, finish_on_tlast;
};
struct tw_dma_control tw_dma_control_decode(enum tw_tile_kind kind, uint32_t word);

/* Bits of a status register. */
enum tw_dma_status {
    TW_DMA_STATE_MASK = 3, /* 0 idle, 1 starting, 2 running, 3 stalled */
    TW_DMA_STALLED_ACQUIRE = 1 << 2,
    TW_DMA_STALLED_RELEASE = 1 << 3,
    TW_DMA_STALLED_STREAM = 1 << 4, /* S2MM: starvation; MM2S: back-pressure */
    TW_DMA_STALLED_TOKEN = 1 << 5,
    TW_DMA_LOCK_UNAVAILABLE = 1 << 8,
    TW_DMA_MEMORY_UNAVAILABLE = 1 << 9,
    TW_DMA_BD_UNAVAILABLE = 1 << 10,
    TW_DMA_BD_INVALID = 1 << 11,
    TW_DMA_AXI_DECODE_ERROR = 1 << 16,
    TW_DMA_AXI_SLAVE_ERROR = 1 << 17,
    TW_DMA_QUEUE_OVERFLOW = 1 << 18, /* stays */
    TW_DMA_RUNNING = 1 << 19,
    TW_DMA_QUEUE_SHIFT = 20, /* 3 bits: tasks that wait */
    TW_DMA_BD_SHIFT = 24
};

/* The number by which tokens name a channel; -1: none is known. */
int tw_dma_actor(enum tw_tile_kind kind, struct tw_dma_channel channel);
/* The channel of an actor number. Returns 0 or TW_E_NOT_FOUND. */
int tw_dma_channel_of_actor(enum tw_tile_kind kind, unsigned actor, struct tw_dma_channel *channel);

/* A token's stream word, parity included. */
uint32_t tw_dma_token_word(unsigned column, unsigned row, unsigned actor, unsigned controller_id);

#endif
