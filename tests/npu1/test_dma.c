/* DMA channels and locks as registers. */
#include "npu1/dma.h"

#include "npu1/lock.h"
#include "npu1/registers.h"

#include "tilewright.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct tw_dma_channel s2mm0 = {TW_S2MM, 0}, s2mm1 = {TW_S2MM, 1}, mm2s1 = {TW_MM2S, 1},
                                   mm2s5 = {TW_MM2S, 5};

static void offsets_are_those_of_the_manual(void **state)
{
    (void)state;
    assert_int_equal(tw_dma_control_offset(TW_TILE_CORE, s2mm1), 0x1de08);
    assert_int_equal(tw_dma_queue_offset(TW_TILE_CORE, mm2s1), 0x1de1c);
    assert_int_equal(tw_dma_status_offset(TW_TILE_CORE, mm2s1), 0x1df14);
    assert_int_equal(tw_dma_control_offset(TW_TILE_MEMORY, mm2s5), 0xa0658);
    assert_int_equal(tw_dma_queue_offset(TW_TILE_MEMORY, s2mm0), 0xa0604);
    assert_int_equal(tw_dma_status_offset(TW_TILE_MEMORY, mm2s5), 0xa0694);
    assert_int_equal(tw_dma_queue_offset(TW_TILE_SHIM, s2mm0), 0x1d204);
    assert_int_equal(tw_dma_queue_offset(TW_TILE_SHIM, mm2s1), 0x1d21c);
    assert_int_equal(tw_dma_status_offset(TW_TILE_SHIM, mm2s1), 0x1d22c);
}

/* Every offset of a tile: those that are a channel's register lead back to themselves, and there are as many as
 * expected. */
static void registers_are_found_by_offset(void **state)
{
    static uint32_t (*const offset_of[])(enum tw_tile_kind,
                                         struct tw_dma_channel) = {[TW_DMA_CONTROL] = tw_dma_control_offset,
                                                                   [TW_DMA_QUEUE] = tw_dma_queue_offset,
                                                                   [TW_DMA_STATUS] = tw_dma_status_offset};
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++) {
        unsigned found = 0;
        for (uint32_t offset = 0; offset < TW_TILE_BYTES; offset += 2) {
            struct tw_dma_channel channel;
            enum tw_dma_register r = tw_dma_register_at(kind, offset, &channel);
            if (r == TW_DMA_NO_REGISTER)
                continue;
            found++;
            assert_int_equal(offset_of[r](kind, channel), offset);
            assert_true(channel.number < tw_dma_channels(kind));
        }
        assert_int_equal(found, 3 * 2 * tw_dma_channels(kind));
    }
}

static void tasks_there_and_back(void **state)
{
    (void)state;
    struct tw_dma_task t = tw_dma_task_decode(TW_TILE_SHIM, 0x80000001);
    assert_int_equal(t.bd, 1);
    assert_int_equal(t.repeat, 1);
    assert_int_equal(t.token, 1);
    assert_int_equal(tw_dma_task_encode(&t), 0x80000001);
    t = tw_dma_task_decode(TW_TILE_MEMORY, 0x00ff002f);
    assert_int_equal(t.bd, 47);
    assert_int_equal(t.repeat, 256);
    assert_int_equal(t.token, 0);
    assert_int_equal(tw_dma_task_encode(&t), 0x00ff002f);
    assert_int_equal(tw_dma_task_decode(TW_TILE_CORE, 0x2f).bd, 15);
}

static void control_words_differ_by_tile(void **state)
{
    (void)state;
    struct tw_dma_control c = tw_dma_control_decode(TW_TILE_SHIM, 0x00030f0e);
    assert_int_equal(c.controller_id, 15);
    assert_int_equal(c.finish_on_tlast, 3);
    assert_int_equal(c.out_of_order, 1);
    assert_int_equal(c.pause_memory, 1);
    assert_int_equal(c.pause_stream, 1);
    assert_int_equal(c.reset, 0);
    c = tw_dma_control_decode(TW_TILE_CORE, 0x12);
    assert_int_equal(c.reset, 1);
    assert_int_equal(c.compression, 1);
    assert_int_equal(c.pause_memory, 0);
}

static const struct tw_tile_register_field *field_of(enum tw_tile_kind kind, uint32_t offset, const char *name)
{
    const struct tw_tile_register *r = tw_tile_register_at(kind, offset);
    for (unsigned i = 0; r != NULL && i < r->n_fields; i++)
        if (strcmp(r->fields[i].name, name) == 0)
            return &r->fields[i];
    return NULL;
}

/* The bits of enum tw_dma_status and the words that dma.c takes to be alike are where the table has them. */
static void the_table_has_the_same_bits(void **state)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } status[] = {
        {"Stalled_Lock_Acq", TW_DMA_STALLED_ACQUIRE},         {"Stalled_Lock_Rel", TW_DMA_STALLED_RELEASE},
        {"Stalled_Stream_Starvation", TW_DMA_STALLED_STREAM}, {"Stalled_TCT_or_Count_FIFO_Full", TW_DMA_STALLED_TOKEN},
        {"Error_BD_Unavailable", TW_DMA_BD_UNAVAILABLE},      {"Error_BD_Invalid", TW_DMA_BD_INVALID},
        {"Task_Queue_Overflow", TW_DMA_QUEUE_OVERFLOW},       {"Channel_Running", TW_DMA_RUNNING},
        {"Task_Queue_Size", 1 << TW_DMA_QUEUE_SHIFT},         {"Cur_BD", 1 << TW_DMA_BD_SHIFT}};
    (void)state;
    for (unsigned kind = 0; kind < TW_TILE_KINDS; kind++) {
        for (size_t i = 0; i < sizeof status / sizeof status[0]; i++) {
            const struct tw_tile_register_field *f = field_of(kind, tw_dma_status_offset(kind, s2mm0), status[i].name);
            assert_non_null(f);
            assert_int_equal(status[i].bit, 1u << f->low);
        }
        for (unsigned j = 0; j < 2 * tw_dma_channels(kind); j++) {
            struct tw_dma_channel c = {j % 2, j / 2};
            assert_int_equal(field_of(kind, tw_dma_queue_offset(kind, c), "Repeat_Count")->low, 16);
            assert_int_equal(field_of(kind, tw_dma_queue_offset(kind, c), "Enable_Token_Issue")->low, 31);
            assert_int_equal(field_of(kind, tw_dma_control_offset(kind, c), "Controller_ID")->low, 8);
        }
    }
    assert_int_equal(1u << field_of(TW_TILE_SHIM, 0x1d220, "AXI_MM_Slave_Error")->low, TW_DMA_AXI_SLAVE_ERROR);
}

static void actors_and_tokens(void **state)
{
    struct tw_dma_channel c;
    (void)state;
    assert_int_equal(tw_dma_actor(TW_TILE_SHIM, s2mm1), 2);
    assert_int_equal(tw_dma_actor(TW_TILE_MEMORY, mm2s5), 22);
    assert_int_equal(tw_dma_actor(TW_TILE_CORE, mm2s1), -1);
    assert_int_equal(tw_dma_channel_of_actor(TW_TILE_SHIM, 7, &c), 0);
    assert_int_equal(c.direction, TW_MM2S);
    assert_int_equal(c.number, 1);
    assert_int_equal(tw_dma_channel_of_actor(TW_TILE_CORE, 7, &c), TW_E_NOT_FOUND);
    assert_int_equal(tw_dma_token_word(1, 1, 1, 14), 0x8021610e);
    assert_int_equal(tw_dma_token_word(0, 0, 0, 15), 0x8000600f);
}

static void locks(void **state)
{
    struct tw_lock_request r;
    (void)state;
    assert_int_equal(tw_lock_offset(TW_TILE_CORE, 15), 0x1f0f0);
    assert_int_equal(tw_lock_offset(TW_TILE_MEMORY, 63), 0xc03f0);
    assert_int_equal(tw_lock_at(TW_TILE_SHIM, 0x14010), 1);
    assert_int_equal(tw_lock_at(TW_TILE_SHIM, 0x14100), -1);
    assert_int_equal(tw_lock_at(TW_TILE_CORE, 0x1f004), -1);
    assert_int_equal(tw_lock_at(TW_TILE_CORE, 0x1eff0), -1);
    assert_int_equal(tw_lock_request_at(TW_TILE_CORE, 0x40000 + (3 << 10) + 0x200 + (0x7f << 2), &r), 1);
    assert_int_equal(r.lock, 3);
    assert_int_equal(r.acquire, 1);
    assert_int_equal(r.value, -1);
    assert_int_equal(tw_lock_request_at(TW_TILE_MEMORY, 0xd0000 + (63 << 10) + (63 << 2), &r), 1);
    assert_int_equal(r.lock, 63);
    assert_int_equal(r.acquire, 0);
    assert_int_equal(r.value, 63);
    assert_int_equal(tw_lock_request_at(TW_TILE_CORE, 0x44000, &r), 0);
    assert_int_equal(tw_lock_request_at(TW_TILE_CORE, 0x3fffc, &r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_manual),
        cmocka_unit_test(registers_are_found_by_offset),
        cmocka_unit_test(tasks_there_and_back),
        cmocka_unit_test(control_words_differ_by_tile),
        cmocka_unit_test(the_table_has_the_same_bits),
        cmocka_unit_test(actors_and_tokens),
        cmocka_unit_test(locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
