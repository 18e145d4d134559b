#include "npu1/dma.h"

#include "npu1/bits.h"
#include "npu1/packet.h"
#include "npu1_registers.h"

#include "tilewright.h"

/* A register that each channel of a direction has. */
struct array {
    uint32_t offset, step;
};

static const struct kind {
    unsigned channels;
    struct array registers[TW_DMA_STATUS + 1][2]; /* by enum tw_dma_register and direction */
    int bd_field;
} kinds[TW_TILE_KINDS] = {
    [TW_TILE_SHIM] = {2,
                      {[TW_DMA_CONTROL] = {{TW_REG_SHIM_DMA_S2MM_CTRL, TW_REG_SHIM_DMA_S2MM_CTRL_STEP},
                                           {TW_REG_SHIM_DMA_MM2S_CTRL, TW_REG_SHIM_DMA_MM2S_CTRL_STEP}},
                       [TW_DMA_QUEUE] = {{TW_REG_SHIM_DMA_S2MM_TASK_QUEUE, TW_REG_SHIM_DMA_S2MM_TASK_QUEUE_STEP},
                                         {TW_REG_SHIM_DMA_MM2S_TASK_QUEUE, TW_REG_SHIM_DMA_MM2S_TASK_QUEUE_STEP}},
                       [TW_DMA_STATUS] = {{TW_REG_SHIM_DMA_S2MM_STATUS, TW_REG_SHIM_DMA_S2MM_STATUS_STEP},
                                          {TW_REG_SHIM_DMA_MM2S_STATUS, TW_REG_SHIM_DMA_MM2S_STATUS_STEP}}},
                      TW_FIELD_SHIM_DMA_S2MM_TASK_QUEUE_START_BD_ID},
    [TW_TILE_MEMORY] =
        {6,
         {[TW_DMA_CONTROL] = {{TW_REG_MEMORY_DMA_S2MM_CTRL, TW_REG_MEMORY_DMA_S2MM_CTRL_STEP},
                              {TW_REG_MEMORY_DMA_MM2S_CTRL, TW_REG_MEMORY_DMA_MM2S_CTRL_STEP}},
          [TW_DMA_QUEUE] = {{TW_REG_MEMORY_DMA_S2MM_START_QUEUE, TW_REG_MEMORY_DMA_S2MM_START_QUEUE_STEP},
                            {TW_REG_MEMORY_DMA_MM2S_START_QUEUE, TW_REG_MEMORY_DMA_MM2S_START_QUEUE_STEP}},
          [TW_DMA_STATUS] = {{TW_REG_MEMORY_DMA_S2MM_STATUS, TW_REG_MEMORY_DMA_S2MM_STATUS_STEP},
                             {TW_REG_MEMORY_DMA_MM2S_STATUS, TW_REG_MEMORY_DMA_MM2S_STATUS_STEP}}},
         TW_FIELD_MEMORY_DMA_S2MM_START_QUEUE_START_BD_ID},
    [TW_TILE_CORE] = {2,
                      {[TW_DMA_CONTROL] = {{TW_REG_CORE_DMA_S2MM_CTRL, TW_REG_CORE_DMA_S2MM_CTRL_STEP},
                                           {TW_REG_CORE_DMA_MM2S_CTRL, TW_REG_CORE_DMA_MM2S_CTRL_STEP}},
                       [TW_DMA_QUEUE] = {{TW_REG_CORE_DMA_S2MM_START_QUEUE, TW_REG_CORE_DMA_S2MM_START_QUEUE_STEP},
                                         {TW_REG_CORE_DMA_MM2S_START_QUEUE, TW_REG_CORE_DMA_MM2S_START_QUEUE_STEP}},
                       [TW_DMA_STATUS] = {{TW_REG_CORE_DMA_S2MM_STATUS, TW_REG_CORE_DMA_S2MM_STATUS_STEP},
                                          {TW_REG_CORE_DMA_MM2S_STATUS, TW_REG_CORE_DMA_MM2S_STATUS_STEP}}},
                      TW_FIELD_CORE_DMA_S2MM_START_QUEUE_START_BD_ID},
};

unsigned tw_dma_channels(enum tw_tile_kind kind)
{
    return kinds[kind].channels;
}

static uint32_t offset_of(enum tw_tile_kind kind, enum tw_dma_register which, struct tw_dma_channel channel)
{
    const struct array *a = &kinds[kind].registers[which][channel.direction];
    return a->offset + channel.number * a->step;
}

uint32_t tw_dma_control_offset(enum tw_tile_kind kind, struct tw_dma_channel channel)
{
    return offset_of(kind, TW_DMA_CONTROL, channel);
}

uint32_t tw_dma_queue_offset(enum tw_tile_kind kind, struct tw_dma_channel channel)
{
    return offset_of(kind, TW_DMA_QUEUE, channel);
}

uint32_t tw_dma_status_offset(enum tw_tile_kind kind, struct tw_dma_channel channel)
{
    return offset_of(kind, TW_DMA_STATUS, channel);
}

enum tw_dma_register tw_dma_register_at(enum tw_tile_kind kind, uint32_t offset, struct tw_dma_channel *channel)
{
    static const enum tw_dma_register all[] = {TW_DMA_CONTROL, TW_DMA_QUEUE, TW_DMA_STATUS};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        for (unsigned j = 0; j < 2 * kinds[kind].channels; j++) {
            struct tw_dma_channel c = {j % 2 == 0 ? TW_S2MM : TW_MM2S, j / 2};
            if (offset_of(kind, all[i], c) == offset) {
                *channel = c;
                return all[i];
            }
        }
    return TW_DMA_NO_REGISTER;
}

/* Queue and control words of all kinds and directions are alike but for the fields asked for below; a test proves it.
 */
enum shared {
    QUEUE_BD = TW_FIELD_MEMORY_DMA_S2MM_START_QUEUE_START_BD_ID, /* the widest */
    QUEUE_REPEAT = TW_FIELD_MEMORY_DMA_S2MM_START_QUEUE_REPEAT_COUNT,
    QUEUE_TOKEN = TW_FIELD_MEMORY_DMA_S2MM_START_QUEUE_ENABLE_TOKEN_ISSUE
};

struct tw_dma_task tw_dma_task_decode(enum tw_tile_kind kind, uint32_t word)
{
    return (struct tw_dma_task){
        .bd = (uint8_t)tw_bits_get(word, kinds[kind].bd_field),
        .repeat = (uint16_t)(tw_bits_get(word, QUEUE_REPEAT) + 1),
        .token = (uint8_t)tw_bits_get(word, QUEUE_TOKEN),
    };
}

uint32_t tw_dma_task_encode(const struct tw_dma_task *task)
{
    return tw_bits_put(task->bd, QUEUE_BD) | tw_bits_put(task->repeat - 1u, QUEUE_REPEAT) |
           tw_bits_put(task->token, QUEUE_TOKEN);
}

struct tw_dma_control tw_dma_control_decode(enum tw_tile_kind kind, uint32_t word)
{
    struct tw_dma_control c = {
        .out_of_order = (uint8_t)tw_bits_get(word, TW_FIELD_MEMORY_DMA_S2MM_CTRL_ENABLE_OUT_OF_ORDER),
        .controller_id = (uint8_t)tw_bits_get(word, TW_FIELD_MEMORY_DMA_S2MM_CTRL_CONTROLLER_ID),
        .finish_on_tlast = (uint8_t)tw_bits_get(word, TW_FIELD_MEMORY_DMA_S2MM_CTRL_FOT_MODE),
    };
    if (kind == TW_TILE_SHIM) {
        c.pause_memory = (uint8_t)tw_bits_get(word, TW_FIELD_SHIM_DMA_S2MM_CTRL_PAUSE_MEM);
        c.pause_stream = (uint8_t)tw_bits_get(word, TW_FIELD_SHIM_DMA_S2MM_CTRL_PAUSE_STREAM);
    } else {
        c.reset = (uint8_t)tw_bits_get(word, TW_FIELD_MEMORY_DMA_S2MM_CTRL_RESET);
        c.compression = (uint8_t)tw_bits_get(word, TW_FIELD_MEMORY_DMA_S2MM_CTRL_DECOMPRESSION_ENABLE);
    }
    return c;
}

/* Actor numbers, -1: none known. From mlir-aie's table, as the firmware uses it. */
static const int8_t actors[TW_TILE_KINDS][2][TW_DMA_CHANNELS_MAX] = {
    [TW_TILE_SHIM] = {{0, 2, -1, -1, -1, -1}, {6, 7, -1, -1, -1, -1}},
    [TW_TILE_MEMORY] = {{1, 2, 3, 4, 5, 6}, {16, 17, 18, 19, 20, 22}},
    [TW_TILE_CORE] = {{0, 1, -1, -1, -1, -1}, {6, -1, -1, -1, -1, -1}},
};

int tw_dma_actor(enum tw_tile_kind kind, struct tw_dma_channel channel)
{
    return channel.number < TW_DMA_CHANNELS_MAX ? actors[kind][channel.direction][channel.number] : -1;
}

int tw_dma_channel_of_actor(enum tw_tile_kind kind, unsigned actor, struct tw_dma_channel *channel)
{
    for (unsigned i = 0; i < 2 * kinds[kind].channels; i++) {
        struct tw_dma_channel c = {i % 2 == 0 ? TW_S2MM : TW_MM2S, i / 2};
        int known = tw_dma_actor(kind, c);
        if (known >= 0 && (unsigned)known == actor) {
            *channel = c;
            return TW_OK;
        }
    }
    return TW_E_NOT_FOUND;
}

/* A token by AM020: source as in a packet header, actor and controller id. */
enum token { TOKEN_MARK = 3 << 13, TOKEN_ACTOR_SHIFT = 8, TOKEN_ACTOR_TOP = 0x1f, TOKEN_CONTROLLER_TOP = 0xff };

uint32_t tw_dma_token_word(unsigned column, unsigned row, unsigned actor, unsigned controller_id)
{
    uint32_t word = packet_source(column, row) | TOKEN_MARK | (actor & TOKEN_ACTOR_TOP) << TOKEN_ACTOR_SHIFT |
                    (controller_id & TOKEN_CONTROLLER_TOP);
    return packet_parity(word);
}
