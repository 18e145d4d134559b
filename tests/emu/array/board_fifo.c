#include "emu/array/board_fifo.h"

#include "emu/array/board_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { BUFFER_IN = 0x400, BUFFER_OUT = 0x4800 }; /* in the core's memory */

static const char program[] =
    ".foreign\n.text\n mova r1, #-1\n mova r2, #1\n"
    "again:\n acq #49, r1\n nop\n acq #50, r1\n movxm p0, #0x70400\n movxm p1, #0x74800\n .rept 12\n nop\n.endr\n"
    ".rept 8\n lda r0, [p0], #4\n .rept 12\n nop\n.endr\n add r0, r0, #1\n st r0, [p1], #4\n.endr\n"
    ".rept 12\n nop\n.endr\n rel #48, r2\n nop\n rel #51, r2\n j #again\n nop\n nop\n nop\n nop\n nop\n";

static struct tw_bd locked_bd(uint64_t address, unsigned number, unsigned acquire, unsigned release)
{
    struct tw_bd bd = plain_bd(address, FIFO_WORDS);
    bd.acquire_enable = bd.use_next = 1;
    bd.acquire_id = (uint8_t)acquire;
    bd.acquire_value = -1;
    bd.release_id = (uint8_t)release;
    bd.release_value = 1;
    bd.next = (uint8_t)number;
    return bd;
}

static void build_ways(struct board *b)
{
    shim_dma(b, 0);
    token_circuit(b, 0);
    circuit(b, 0, 1, PORT(SOUTH, 0), PORT(NORTH, 0));
    circuit(b, 0, 2, PORT(SOUTH, 0), PORT(DMA, 0));
    circuit(b, 0, 2, PORT(DMA, 0), PORT(SOUTH, 1));
    circuit(b, 0, 1, PORT(NORTH, 1), PORT(SOUTH, 1));
}

void start_fifo(struct board *b, unsigned rounds)
{
    const struct tw_bd host_in = plain_bd(HOST_ADDRESS, rounds * FIFO_WORDS);
    const struct tw_bd host_out = plain_bd(HOST_ADDRESS + FIFO_OUT, rounds * FIFO_WORDS);
    const struct tw_bd in = locked_bd(BUFFER_IN, 0, 0, 1), out = locked_bd(BUFFER_OUT, 1, 3, 2);
    build_ways(b);
    put_bd(b, 0, 2, 0, &in);
    put_bd(b, 0, 2, 1, &out);
    put_bd(b, 0, 0, 0, &host_in);
    put_bd(b, 0, 0, 1, &host_out);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 0), 1);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 2), 1);
    put_program(b, 0, 2, program);
    for (uint32_t i = 0; i < rounds * FIFO_WORDS; i++)
        host_words(b, 0)[i] = 3 * i;
    start(b, 0, 2, TW_S2MM, 0, 0, 1, 0);
    start(b, 0, 2, TW_MM2S, 0, 1, 1, 0);
    start_core(b, 0, 2);
    start(b, 0, 0, TW_S2MM, 1, 1, 1, 1);
    start(b, 0, 0, TW_MM2S, 0, 0, 1, 0);
}

void assert_fifo_done(struct board *b, unsigned rounds)
{
    for (uint32_t i = 0; i < rounds * FIFO_WORDS; i++)
        assert_int_equal(host_words(b, FIFO_OUT)[i], 3 * i + 1);
}
