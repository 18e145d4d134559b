/* The time between two writes to the queue register of one DMA channel. */
#include "emu/cycles.h"
#include "emu/firmware/operation.h"

/* Cycles until the next write when the channel has been written to n times, once or more. */
static uint64_t gap(enum tw_dma_direction direction, uint64_t n)
{
    uint64_t cycles = TW_CYCLES_QUEUE_FIRST + TW_CYCLES_QUEUE_STEP * (n - 1);
    return direction == TW_S2MM || cycles > TW_CYCLES_QUEUE_MAX ? TW_CYCLES_QUEUE_MAX : cycles;
}

static int pass_to(struct tw_firmware *fw, uint64_t time, struct tw_error *err)
{
    uint64_t now = tw_array_clock(fw->array);
    return now < time ? tw_firmware_pass(fw, time - now, err) : TW_OK;
}

static int is_busy(struct tw_firmware *fw, uint32_t tile, enum tw_tile_kind kind, struct tw_dma_channel channel,
                   struct tw_error *err)
{
    uint32_t status;
    int code = tw_array_read(fw->array, tile | tw_dma_status_offset(kind, channel), &status, err);
    if (code < 0)
        return code;
    return (status & TW_DMA_RUNNING) != 0 || (status >> TW_DMA_QUEUE_SHIFT & 7) != 0;
}

int tw_firmware_pass_gate(struct tw_firmware *fw, uint32_t address, struct tw_error *err)
{
    unsigned column = tw_tile_column(address), row = tw_tile_row(address);
    struct tw_dma_channel channel;
    if (column >= fw->options.columns || row >= TW_NPU1_ROWS)
        return TW_OK; /* the write will say so */
    enum tw_tile_kind kind = tw_tile_kind(row);
    if (tw_dma_register_at(kind, tw_tile_offset(address), &channel) != TW_DMA_QUEUE)
        return TW_OK;

    struct tw_queue_writes *q = &fw->queues[column][row][channel.direction][channel.number];
    int code = TW_OK;
    if (q->n > 0) {
        code = pass_to(fw, q->last + TW_CYCLES_QUEUE_BUSY, err);
        int busy = code < 0 || fw->unknown.busy_queues_wait
                       ? code
                       : is_busy(fw, address - tw_tile_offset(address), kind, channel, err);
        code = busy == 0 ? pass_to(fw, q->last + gap(channel.direction, q->n), err) : busy < 0 ? busy : TW_OK;
    }
    q->n++;
    q->last = tw_array_clock(fw->array);
    return code;
}
