/*
 * A DMA channel: its queue of tasks, the descriptor that it executes and how far it is. A task is a chain of
 * descriptors, executed once or more often; each descriptor waits for a lock, moves its words and releases a lock. By
 * AM020.
 */
#ifndef TW_EMU_ARRAY_DMA_CHANNEL_H
#define TW_EMU_ARRAY_DMA_CHANNEL_H

#include "emu/array/address_pattern.h"
#include "emu/array/stream.h"
#include "npu1/dma.h"

/* The number of a descriptor in bits 10:5 of a packet's header: DMA alone writes and reads them, and the public
 * descriptions leave them free. */
enum tw_out_of_order { TW_OUT_OF_ORDER_SHIFT = 5, TW_OUT_OF_ORDER_TOP = 0x3f };

enum tw_dma_phase {
    TW_DMA_IDLE,
    TW_DMA_LOAD,    /* is about to read the next descriptor */
    TW_DMA_HEADER,  /* out of order: waits for the packet whose header names it */
    TW_DMA_ACQUIRE, /* waits for its lock */
    TW_DMA_MOVE,    /* moves words */
    TW_DMA_FINISH,  /* all words of the descriptor are moved at the time of its event */
    TW_DMA_DONE,    /* all of the task is, likewise */
    TW_DMA_TOKEN    /* waits until there is room for the task's token */
};

struct tw_dma_engine {
    struct tw_tile *tile;
    struct tw_dma_channel channel;
    uint16_t actor;
    struct tw_dma_control settings; /* the control register */
    enum tw_dma_phase phase;
    uint8_t granted; /* has got the lock that it waited for */
    uint8_t header;  /* MM2S: the packet's header has still to be sent */
    uint8_t fetches; /* MM2S: has had no time to read ahead */
    struct {
        uint64_t due; /* 0: none */
        uint8_t lock;
        int8_t value;
    } release;       /* S2MM: of the lock, when the last words will have been written */
    uint32_t sticky; /* status bits that stay: overflow, errors */
    uint32_t tasks_done;
    uint64_t due;        /* LOAD, FINISH, DONE: the cycle at which it happens */
    uint64_t begun;      /* the cycle at which the present descriptor began to move words */
    uint64_t move_at;    /* the tick of the next word */
    uint32_t interval;   /* ticks from one word to the next */
    uint32_t burst_left; /* shim: words of the present burst */
    uint64_t words;      /* moved since power-on */
    uint64_t granule;    /* of a core tile's memory, the 128 bits accessed last */
    unsigned n_queue;    /* tasks, the running one first */
    struct tw_dma_task queue[TW_DMA_QUEUE_DEPTH + 1];
    unsigned repeat; /* executions of the running task that are still to come, this one included */
    unsigned number; /* of the present descriptor */
    struct tw_bd bd;
    struct tw_address_pattern pattern;
    struct tw_stream *out; /* MM2S */
    struct tw_sink in;     /* S2MM */
};

void tw_dma_act(struct tw_array *array, struct tw_dma_engine *engine);
void tw_dma_push(struct tw_array *array, struct tw_dma_engine *engine, struct tw_dma_task task);
/* Gives up all tasks. */
void tw_dma_reset(struct tw_array *array, struct tw_dma_engine *engine);
uint32_t tw_dma_status_word(const struct tw_dma_engine *engine);
/* The control register has been written. */
void tw_dma_configure(struct tw_array *array, struct tw_dma_engine *engine);
/* "DMA (0, 1) MM2S 2" */
void tw_dma_name(const struct tw_dma_engine *engine, char *text, unsigned size);

/*
 * Moves words until the descriptor is finished, the other side has to act first, or enough is done for one turn; then
 * the phase is FINISH or an event is set. Data phase only (dma_move.c).
 */
void tw_dma_move(struct tw_array *array, struct tw_dma_engine *engine);
/*
 * The lock that a descriptor names: its tile and its number there. Returns 0, or -1 after raising a fault: there is no
 * such lock (dma_reach.c).
 */
int tw_dma_lock(struct tw_array *array, struct tw_dma_engine *engine, unsigned id, struct tw_tile **tile,
                unsigned *lock);
/* Copies words between memory at a word address and a buffer. Returns 0, or -1 after raising a fault (dma_reach.c). */
int tw_dma_copy(struct tw_array *array, struct tw_dma_engine *engine, uint64_t address, uint32_t *words, uint32_t n);
/*
 * Before words of a shim channel are moved: engine->burst_left of them may be, at engine->interval, when these
 * return 1. When they return 0 an event is set: reads wait for their turn and for room in the stream, writes until as
 * many words as the ingress holds have come (ddr.c).
 */
int tw_ddr_read_burst(struct tw_array *array, struct tw_dma_engine *engine);
int tw_ddr_write_burst(struct tw_array *array, struct tw_dma_engine *engine);
/* Works out what each has of the DDR for any number of channels. */
void tw_ddr_prepare(struct tw_array *array);
/* The channel has moved all words of its descriptor, or has been reset. */
void tw_ddr_rest(struct tw_array *array, const struct tw_dma_engine *engine);

#endif
