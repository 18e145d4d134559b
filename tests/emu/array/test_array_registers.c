/* Access by address: every register of every kind of tile, memories, and what is neither. */
#include "emu/array/board.h"

#include "base/random.h"
#include "npu1/registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int try_write(struct board *b, uint32_t address, uint32_t value)
{
    return tw_array_write(b->array, address, &value, 1, &b->err);
}

static int try_read(struct board *b, uint32_t address)
{
    uint32_t value;
    return tw_array_read(b->array, address, &value, &b->err);
}

static void memory(struct board *b, unsigned row, uint32_t first, uint32_t bytes)
{
    static uint32_t words[0x80000 / 4];
    struct tw_random r = {row};
    for (uint32_t i = 0; i < bytes / 4; i++)
        words[i] = (uint32_t)tw_random_u64(&r);
    assert_int_equal(tw_array_write(b->array, tw_tile_address(0, row, first), words, bytes / 4, &b->err), 0);
    for (uint32_t i = 0; i < bytes / 4; i++)
        assert_int_equal(get(b, 0, row, first + 4 * i), words[i]);
    put(b, 0, row, first + bytes - 4, 5);
    assert_int_equal(get(b, 0, row, first + bytes - 4), 5);
    /* A write that goes past the end has written what fits. */
    const uint32_t two[] = {6, 7};
    assert_int_equal(tw_array_write(b->array, tw_tile_address(0, row, first + bytes - 4), two, 2, &b->err),
                     TW_E_ARGUMENT);
    assert_int_equal(get(b, 0, row, first + bytes - 4), 6);
}

static void memories(void **state)
{
    enum { DATA_CONTROL = 0x16010, PROGRAM_CONTROL = 0x36070, MEMORY_CONTROL = 0x96048, INTERLEAVE = 2 };
    struct board *b = board_new(1);
    (void)state;
    memory(b, 1, 0, TW_MEMORY_TILE_BYTES);
    memory(b, 2, TW_CORE_DATA, TW_CORE_DATA_BYTES);
    memory(b, 5, TW_CORE_PROGRAM, TW_CORE_PROGRAM_BYTES);
    assert_int_equal(get(b, 0, 1, MEMORY_CONTROL), INTERLEAVE);
    put(b, 0, 1, MEMORY_CONTROL, INTERLEAVE | 1);
    put(b, 0, 2, DATA_CONTROL, 1);
    put(b, 0, 5, PROGRAM_CONTROL, 1);
    assert_int_equal(get(b, 0, 1, MEMORY_CONTROL), INTERLEAVE);
    assert_int_equal(get(b, 0, 2, DATA_CONTROL), 0);
    for (uint32_t at = 0; at < TW_CORE_PROGRAM_BYTES; at += 4) {
        assert_int_equal(get(b, 0, 1, at * 32), 0);
        assert_int_equal(get(b, 0, 2, at * 4), 0);
        assert_int_equal(get(b, 0, 5, TW_CORE_PROGRAM + at), 0);
    }
    board_free(b);
}

/* Each register can be written and read, or says why not; those without behaviour give back what was written. */
static void each_register(void **state)
{
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        struct board *b = board_new(1);
        unsigned count, kept = 0;
        const struct tw_tile_register *r = tw_tile_registers(tw_tile_kind(row), &count);
        for (unsigned i = 0; i < count; i++) {
            uint32_t address = tw_tile_address(0, row, r[i].offset), value = 0x2a, back = 0;
            int result = try_write(b, address, value);
            if (result != 0) { /* deterministic merge, resets, debugging */
                assert_int_equal(result, TW_E_UNSUPPORTED);
                assert_non_null(strstr(b->err.text, "not modelled"));
                tw_array_reset(b->array);
                continue;
            }
            result = tw_array_read(b->array, address, &back, &b->err);
            if (result != 0) {
                assert_int_equal(result, TW_E_UNSUPPORTED);
                assert_non_null(strstr(b->err.text, "cannot be read"));
            } else {
                kept += back == value;
            }
        }
        assert_true(kept * 10 > count * 8);
        board_free(b);
    }
}

/* Every word of a tile's address space is memory, a register, a lock request, or an error. */
static void each_address(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        enum tw_tile_kind kind = tw_tile_kind(row);
        uint32_t data = kind == TW_TILE_SHIM ? 0 : kind == TW_TILE_MEMORY ? TW_MEMORY_TILE_BYTES : TW_CORE_DATA_BYTES;
        for (uint32_t at = 0; at < TW_TILE_BYTES; at += 4) {
            struct tw_lock_request request;
            int program = kind == TW_TILE_CORE && at >= TW_CORE_PROGRAM && at < TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES;
            int known =
                at < data || program || tw_tile_register_at(kind, at) != NULL || tw_lock_request_at(kind, at, &request);
            int result = try_write(b, tw_tile_address(0, row, at), 0);
            if (result != (known ? 0 : TW_E_ARGUMENT))
                fail_msg("row %u, offset 0x%x: %d", row, at, result);
        }
    }
    board_free(b);
}

static void wrong_addresses(void **state)
{
    struct board *b = board_new(2);
    uint32_t value;
    (void)state;
    assert_int_equal(try_read(b, tw_tile_address(2, 0, 0x1d000)), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "tile (2, 0), which the partition of 2 columns has not"));
    assert_int_equal(try_read(b, tw_tile_address(0, 6, 0)), TW_E_ARGUMENT);
    assert_int_equal(try_read(b, 0xffffffff), TW_E_ARGUMENT);
    assert_int_equal(try_read(b, tw_tile_address(0, 1, 2)), TW_E_ARGUMENT);
    assert_int_equal(try_write(b, tw_tile_address(0, 2, 0x32001), 1), TW_E_ARGUMENT);
    assert_int_equal(try_write(b, tw_tile_address(0, 0, 0), 1), TW_E_ARGUMENT);
    assert_int_equal(tw_array_mask_write(b->array, tw_tile_address(0, 0, 0), 1, 1, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_array_mask_write(b->array, tw_tile_address(0, 0, 3), 1, 1, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_array_mask_write(b->array, tw_tile_address(4, 1, 0), 1, 1, &b->err), TW_E_ARGUMENT);
    assert_int_equal(tw_array_wait_register(b->array, tw_tile_address(4, 1, 0), 1, 1, 100, &b->err), TW_E_ARGUMENT);
    struct tw_token nobody = {.column = 5};
    assert_int_equal(tw_array_wait_token(b->array, &nobody, 100, &b->err), TW_E_ARGUMENT);
    struct tw_tile_counts counts;
    assert_int_equal(tw_array_counts(b->array, 2, 0, &counts), TW_E_ARGUMENT);
    assert_int_equal(tw_array_counts(b->array, 0, 6, &counts), TW_E_ARGUMENT);
    board_free(b);
    struct tw_array_options options = {.columns = 6};
    struct tw_array *array;
    assert_int_equal(tw_array_create(&options, &array, NULL), TW_E_ARGUMENT);
    options.columns = 0;
    assert_int_equal(tw_array_create(&options, &array, NULL), TW_E_ARGUMENT);
    (void)value;
    tw_array_free(NULL);
}

/* The core's own registers, parts of wide ones too. */
static void core_registers(void **state)
{
    enum {
        R5 = 0x30c50,
        P7 = 0x31070,
        WH11 = 0x30820 + 11 * 0x40,
        AMHL8 = 0x30040 + 8 * 0x80,
        CR = 0x31170,
        SR = 0x31180
    };
    struct board *b = board_new(1);
    (void)state;
    assert_int_equal(get(b, 0, 2, CR), 0x1800);
    put(b, 0, 2, R5, 0x89abcdef);
    put(b, 0, 2, P7, 0x12345678);
    for (uint32_t i = 0; i < 32; i += 4) {
        put(b, 0, 2, WH11 + i, 100 + i);
        put(b, 0, 2, AMHL8 + i, 200 + i);
    }
    put(b, 0, 2, CR, 0x0002a5a7);
    put(b, 0, 2, SR, 0x00600005);
    assert_int_equal(get(b, 0, 2, R5), 0x89abcdef);
    assert_int_equal(get(b, 0, 2, P7), 0x45678); /* 20 bits */
    for (uint32_t i = 0; i < 32; i += 4) {
        assert_int_equal(get(b, 0, 2, WH11 + i), 100 + i);
        assert_int_equal(get(b, 0, 2, AMHL8 + i), 200 + i);
    }
    assert_int_equal(get(b, 0, 2, CR), 0x0002a5a7);
    assert_int_equal(get(b, 0, 2, SR), 0x00600005);
    assert_int_equal(tw_array_mask_write(b->array, tw_tile_address(0, 2, R5), 0xffff, 1, &b->err), 0);
    assert_int_equal(get(b, 0, 2, R5), 0x89ab0001);
    board_free(b);
}

static void mask_writes(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    put(b, 0, 1, 0x100, 0xffff0000);
    assert_int_equal(tw_array_mask_write(b->array, tw_tile_address(0, 1, 0x100), 0xff00ff, 0x120034, &b->err), 0);
    assert_int_equal(get(b, 0, 1, 0x100), 0xff120034);
    /* A control register with its bits as written, whatever reading it would tell. */
    uint32_t control = tw_dma_control_offset(TW_TILE_SHIM, (struct tw_dma_channel){TW_MM2S, 1});
    put(b, 0, 0, control, 0xf00);
    assert_int_equal(tw_array_mask_write(b->array, tw_tile_address(0, 0, control), 0x100, 0, &b->err), 0);
    assert_int_equal(get(b, 0, 0, control), 0xe00);
    board_free(b);
}

/* The request window acquires and releases by reading; it never waits. */
static void lock_requests(void **state)
{
    static const uint32_t windows[] = {0x40000, 0xd0000, 0x40000};
    struct board *b = board_new(1);
    (void)state;
    for (unsigned row = 0; row < 3; row++) {
        enum tw_tile_kind kind = tw_tile_kind(row);
        uint32_t lock = windows[row] + (7 << 10), acquire = 1 << 9;
        uint32_t value = tw_lock_offset(kind, 7);
        assert_int_equal(get(b, 0, row, lock + acquire + (0x7e << 2)), 0); /* at least 2 */
        assert_int_equal(get(b, 0, row, lock + (3 << 2)), 1);              /* 3 more */
        assert_int_equal(get(b, 0, row, value), 3);
        assert_int_equal(get(b, 0, row, lock + acquire + (2 << 2)), 0); /* exactly 2 */
        assert_int_equal(get(b, 0, row, lock + acquire + (0x7e << 2)), 1);
        assert_int_equal(get(b, 0, row, value), 1);
        put(b, 0, row, value, 0xffffff05); /* six bits */
        assert_int_equal(get(b, 0, row, value), 5);
    }
    put(b, 0, 1, tw_lock_offset(TW_TILE_MEMORY, 40), 63);
    assert_int_equal(
        tw_array_read(b->array, tw_tile_address(0, 1, 0xd0000 + (40 << 10) + (1 << 2)), &(uint32_t){0}, &b->err),
        TW_E_ARGUMENT);
    enum { OVERFLOW_LOW = 0xc0420, OVERFLOW_HIGH = 0xc0424 };
    assert_int_equal(get(b, 0, 1, OVERFLOW_LOW), 0);
    assert_int_equal(get(b, 0, 1, OVERFLOW_HIGH), 1 << 8);
    board_free(b);
}

static void timers(void **state)
{
    static const uint32_t low[] = {0x340f8, 0x940f8, 0x340f8};
    struct board *b = board_new(1);
    (void)state;
    assert_int_equal(tw_array_advance(b->array, 0x100000005, &b->err), 0);
    for (unsigned row = 0; row < 3; row++) {
        assert_int_equal(get(b, 0, row, low[row]), 5);
        assert_int_equal(get(b, 0, row, low[row] + 4), 1);
    }
    assert_true(tw_array_clock(b->array) == 0x100000005);
    assert_int_equal(tw_array_advance(b->array, 7, &b->err), 0); /* never back */
    assert_true(tw_array_clock(b->array) == 0x100000005);
    board_free(b);
}

/* Waiting for a register, and the two ways in which it can end in vain. */
static void wait_register(void **state)
{
    struct board *b = board_new(1);
    uint32_t last = tw_tile_address(0, 2, 0x800 + 4 * 99);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(0, 100), in = plain_bd(0x800, 100);
    put_bd(b, 0, 2, 0, &out);
    put_bd(b, 0, 2, 1, &in);
    put(b, 0, 2, 4 * 99, 0x1234);
    start(b, 0, 2, TW_S2MM, 0, 1, 1, 0);
    assert_int_equal(tw_array_wait_register(b->array, last, 0xff, 0x34, 5000, &b->err), TW_E_STATE);
    start(b, 0, 2, TW_MM2S, 0, 0, 50, 0);
    assert_int_equal(tw_array_wait_register(b->array, last, 0xff, 0x34, 5000, &b->err), 0);
    assert_in_range(tw_array_clock(b->array), 0, 300);
    start(b, 0, 2, TW_S2MM, 0, 1, 49, 0);
    uint64_t limit = tw_array_clock(b->array) + 1000;
    assert_int_equal(tw_array_wait_register(b->array, last, 0xff, 0x35, limit, &b->err), TW_E_LIMIT);
    assert_true(tw_array_clock(b->array) == limit);
    assert_int_equal(drain(b), 0);
    board_free(b);
}

/* A reset leaves memories and the clock, and nothing else. */
static void reset(void **state)
{
    struct board *b = board_new(1);
    (void)state;
    circuit(b, 0, 2, PORT(DMA, 0), PORT(DMA, 0));
    struct tw_bd out = plain_bd(0, 400);
    put_bd(b, 0, 2, 0, &out);
    put(b, 0, 2, 0, 99);
    put(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 3), 9);
    start(b, 0, 2, TW_MM2S, 0, 0, 1, 0);
    assert_int_equal(drain(b), TW_E_STATE);
    uint64_t clock = tw_array_clock(b->array);
    tw_array_reset(b->array);
    assert_int_equal(drain(b), 0);
    assert_true(tw_array_clock(b->array) == clock);
    assert_int_equal(get(b, 0, 2, 0), 99);
    assert_int_equal(get(b, 0, 2, tw_lock_offset(TW_TILE_CORE, 3)), 0);
    assert_int_equal(status(b, 0, 2, TW_MM2S, 0), 0);
    assert_int_equal(get(b, 0, 2, tw_bd_offset(TW_TILE_CORE, 0)), 0);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memories),        cmocka_unit_test(each_register), cmocka_unit_test(each_address),
        cmocka_unit_test(wrong_addresses), cmocka_unit_test(mask_writes),   cmocka_unit_test(core_registers),
        cmocka_unit_test(lock_requests),   cmocka_unit_test(timers),        cmocka_unit_test(wait_register),
        cmocka_unit_test(reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
