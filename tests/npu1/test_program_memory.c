/* What the commands of a CDO leave in program memories. */
#include "npu1/program_memory.h"

#include "base/little_endian.h"
#include "npu1/make_cdo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* Program memory of column 3, row 4. */
#define PLACE (3u << 25 | 4u << 20 | 0x20000u)
#define TILE_OF(memories) ((memories).cores[3][2])

static int write_all(struct made *m, struct tw_program_memories *memories, struct tw_error *err)
{
    struct tw_view view = made_view(m);
    struct tw_cdo cdo;
    cdo_end(m, 0);
    assert_int_equal(tw_cdo_open(&view, &cdo, err), 0);
    return tw_program_memories_write(memories, &cdo, err);
}

static uint32_t word_at(const struct tw_program_memory *memory, uint32_t address)
{
    return tw_load_u32(memory->bytes + address);
}

static unsigned count_cores(const struct tw_program_memories *memories)
{
    unsigned n = 0;
    for (unsigned c = 0; c < TW_NPU1_COLUMNS; c++)
        for (unsigned r = 0; r < TW_NPU1_CORE_ROWS; r++)
            n += memories->cores[c][r] != NULL;
    return n;
}

static void all_ways_of_writing(void **state)
{
    struct made m = {0};
    struct tw_program_memories memories = {0};
    static const unsigned char data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    cdo_begin(&m);
    cdo_dma_write(&m, PLACE, data, 8);
    CDO(&m, TW_CDO_WRITE, PLACE + 8, 0x11);
    CDO(&m, TW_CDO_WRITE64, 0, PLACE + 12, 0x12);
    CDO(&m, TW_CDO_MASK_WRITE, PLACE, 0xff00, 0xeeee);       /* keeps the other bits */
    CDO(&m, TW_CDO_MASK_WRITE64, 0, PLACE + 16, 0xf0, 0xff); /* of a word that nobody wrote: zero */
    CDO(&m, TW_CDO_SET, 0, PLACE + 0x100, 3, 0x5a);
    CDO(&m, TW_CDO_DMA_WRITE_KEYHOLE, 0, PLACE + 0x200, 1, 2, 3);
    assert_int_equal(write_all(&m, &memories, NULL), 0);
    assert_int_equal(count_cores(&memories), 1);
    const struct tw_program_memory *memory = TILE_OF(memories);
    assert_int_equal(word_at(memory, 0), 0x0403ee01);
    assert_int_equal(word_at(memory, 4), 0x08070605);
    assert_int_equal(word_at(memory, 8), 0x11);
    assert_int_equal(word_at(memory, 12), 0x12);
    assert_int_equal(word_at(memory, 16), 0xf0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(word_at(memory, 0x100 + 4 * i), 0x5a);
    assert_int_equal(word_at(memory, 0x200), 3);

    static const uint32_t runs[][2] = {{0, 20}, {0x100, 12}, {0x200, 4}};
    uint32_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tw_program_memory_run(memory, &at), runs[i][1]);
        assert_int_equal(at, runs[i][0] + runs[i][1]);
    }
    assert_int_equal(tw_program_memory_run(memory, &at), 0);
    tw_program_memories_free(&memories);
    assert_int_equal(count_cores(&memories), 0);
    made_free(&m);
}

static void pieces_become_one_run(void **state)
{
    struct made m = {0};
    struct tw_program_memories memories = {0};
    static const unsigned char data[TW_CORE_PROGRAM_BYTES / 2] = {0};
    uint32_t at = 0;
    (void)state;
    cdo_begin(&m);
    cdo_dma_write(&m, PLACE + sizeof data, data, sizeof data);
    cdo_dma_write(&m, PLACE, data, sizeof data);
    assert_int_equal(write_all(&m, &memories, NULL), 0);
    assert_int_equal(tw_program_memory_run(TILE_OF(memories), &at), TW_CORE_PROGRAM_BYTES);
    assert_int_equal(at, TW_CORE_PROGRAM_BYTES);
    assert_int_equal(tw_program_memory_run(TILE_OF(memories), &at), 0);
    tw_program_memories_free(&memories);
    made_free(&m);
}

static void all_else_is_ignored(void **state)
{
    struct made m = {0};
    struct tw_program_memories memories = {0};
    static const unsigned char data[16] = {0};
    (void)state;
    cdo_begin(&m);
    CDO(&m, TW_CDO_WRITE, PLACE - 4, 1);
    CDO(&m, TW_CDO_WRITE, PLACE + TW_CORE_PROGRAM_BYTES, 1);
    CDO(&m, TW_CDO_MASK_POLL, PLACE, 1, 1, 1);
    CDO(&m, TW_CDO_DMA_WRITE, 0, tw_tile_address(9, 2, 0x20004)); /* no words */
    cdo_dma_write(&m, tw_tile_address(0, 1, 0x20000), data, 16);  /* data of a memory tile */
    cdo_dma_write(&m, tw_tile_address(9, 2, 0), data, 16);        /* not our business */
    cdo_dma_write(&m, tw_tile_address(0, 2, 0x20000 - 16), data, 16);
    cdo_dma_write(&m, tw_tile_address(0, 2, 0xffff0), data, 16);
    assert_int_equal(write_all(&m, &memories, NULL), 0);
    assert_int_equal(count_cores(&memories), 0);
    made_free(&m);
}

static void assert_refused(unsigned id, const uint32_t *payload, uint32_t n, int code, const char *words)
{
    struct made m = {0};
    struct tw_program_memories memories = {0};
    struct tw_error err = {0};
    cdo_begin(&m);
    CDO(&m, TW_CDO_WRITE, PLACE, 1);
    cdo_command(&m, id, payload, n);
    assert_int_equal(write_all(&m, &memories, &err), code);
    if (strstr(err.text, "'made', byte 0x20: ") == NULL || strstr(err.text, words) == NULL)
        fail_msg("no '%s' in: %s", words, err.text);
    tw_program_memories_free(&memories);
    made_free(&m);
}

#define REFUSED(code, words, id, ...)                                                                                  \
    assert_refused(id, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, code, words)

static void wrong_places_are_refused(void **state)
{
    (void)state;
    REFUSED(TW_E_FORMAT, "column 5, row 2", TW_CDO_WRITE, tw_tile_address(5, 2, 0x20000), 1);
    REFUSED(TW_E_FORMAT, "column 127, row 5", TW_CDO_WRITE, tw_tile_address(127, 5, 0x20000), 1);
    REFUSED(TW_E_FORMAT, "column 0, row 6", TW_CDO_WRITE, tw_tile_address(0, 6, 0x20000), 1);
    REFUSED(TW_E_FORMAT, "in words of 4 bytes", TW_CDO_WRITE, PLACE + 2, 1);
    REFUSED(TW_E_FORMAT, "32 bits", TW_CDO_WRITE64, 1, PLACE, 1);
    REFUSED(TW_E_FORMAT, "0x23ffc to 0x24004", TW_CDO_DMA_WRITE, 0, PLACE + TW_CORE_PROGRAM_BYTES - 4, 1, 2);
    REFUSED(TW_E_FORMAT, "0x1fffc to 0x20004", TW_CDO_DMA_WRITE, 0, PLACE - 4, 1, 2);
    REFUSED(TW_E_FORMAT, "SET writes from 0x20000 to 0x24004", TW_CDO_SET, 0, PLACE, 0x1001, 0);
    REFUSED(TW_E_FORMAT, "past the end of the tile", TW_CDO_SET, 0, PLACE, 0xffffffff, 0);
    REFUSED(TW_E_FORMAT, "past the end of the tile", TW_CDO_SET, 0, tw_tile_address(0, 1, 0xffffc), 2, 0);
    REFUSED(TW_E_UNSUPPORTED, "not in this file", TW_CDO_DMA_XFER, 0, 0x1000, 0, PLACE, 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_of_writing),
        cmocka_unit_test(pieces_become_one_run),
        cmocka_unit_test(all_else_is_ignored),
        cmocka_unit_test(wrong_places_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
