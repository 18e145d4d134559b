#include "npu1/program_memory.h"

#include "base/little_endian.h"

#include <inttypes.h>
#include <stdlib.h>

/* The offset in its tile behind what a command writes. */
static uint64_t end_of_write(const struct tw_cdo_command *c)
{
    uint64_t words = c->id == TW_CDO_DMA_WRITE_KEYHOLE && c->n_words > 1 ? 1 : c->n_words;
    return tw_tile_offset((uint32_t)c->address) + 4 * words;
}

/* Whether a command writes to the program memory of the tile that it begins in. */
static int touches_program(const struct tw_cdo_command *c)
{
    return c->n_words != 0 && tw_tile_row((uint32_t)c->address) >= TW_NPU1_CORE_ROW &&
           tw_tile_offset((uint32_t)c->address) < TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES &&
           end_of_write(c) > TW_CORE_PROGRAM;
}

static int check_tile(const struct tw_cdo *cdo, const struct tw_cdo_command *c, struct tw_error *err)
{
    if (end_of_write(c) > TW_TILE_BYTES)
        return tw_view_fail(&cdo->commands, c->offset, TW_E_FORMAT, err,
                            "%s writes %" PRIu32 " words to 0x%" PRIx64 ", past the end of the tile", c->name,
                            c->n_words, c->address);
    return TW_OK;
}

/* Of a command that touches program memory. */
static int check_place(const struct tw_cdo *cdo, const struct tw_cdo_command *c, struct tw_error *err)
{
    if (c->address >> 32 != 0)
        return tw_view_fail(&cdo->commands, c->offset, TW_E_FORMAT, err,
                            "%s writes to 0x%" PRIx64 ", but addresses of the array have 32 bits", c->name, c->address);
    uint32_t address = (uint32_t)c->address, offset = tw_tile_offset(address);
    unsigned column = tw_tile_column(address), row = tw_tile_row(address);
    if (column >= TW_NPU1_COLUMNS || row >= TW_NPU1_CORE_ROW + TW_NPU1_CORE_ROWS)
        return tw_view_fail(&cdo->commands, c->offset, TW_E_FORMAT, err,
                            "%s writes a program to column %u, row %u; NPU1's cores are in columns 0 to %d, rows %d to "
                            "%d",
                            c->name, column, row, TW_NPU1_COLUMNS - 1, TW_NPU1_CORE_ROW,
                            TW_NPU1_CORE_ROW + TW_NPU1_CORE_ROWS - 1);
    uint64_t end = end_of_write(c);
    if (offset % 4 != 0 || offset < TW_CORE_PROGRAM || end > TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES)
        return tw_view_fail(&cdo->commands, c->offset, TW_E_FORMAT, err,
                            "%s writes from 0x%" PRIx32 " to 0x%" PRIx64
                            " of a tile; program memory is from 0x%x to 0x%x, in words of 4 bytes",
                            c->name, offset, end, TW_CORE_PROGRAM, TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES);
    if (c->id == TW_CDO_DMA_XFER)
        return tw_view_fail(&cdo->commands, c->offset, TW_E_UNSUPPORTED, err,
                            "DMA_XFER copies a program from memory that is not in this file");
    return TW_OK;
}

/* The program memory that a command writes to, made when it is the first one to do so. */
static struct tw_program_memory *memory_of(struct tw_program_memories *m, uint32_t address)
{
    struct tw_program_memory **core = &m->cores[tw_tile_column(address)][tw_tile_row(address) - TW_NPU1_CORE_ROW];
    if (*core == NULL)
        *core = calloc(1, sizeof **core);
    return *core;
}

static void write_word(struct tw_program_memory *m, uint32_t offset, uint32_t mask, uint32_t value)
{
    uint32_t old = tw_load_u32(m->bytes + offset);
    tw_store_u32(m->bytes + offset, (old & ~mask) | (value & mask));
    m->written[offset / 32] |= (unsigned char)(1u << (offset / 4 % 8));
}

static void write_words(struct tw_program_memory *m, const struct tw_cdo_command *c)
{
    uint32_t offset = tw_tile_offset((uint32_t)c->address) - TW_CORE_PROGRAM;
    int has_data = c->id == TW_CDO_DMA_WRITE || c->id == TW_CDO_DMA_WRITE_KEYHOLE;
    int is_masked = c->id == TW_CDO_MASK_WRITE || c->id == TW_CDO_MASK_WRITE64;

    for (uint32_t i = 0; i < c->n_words; i++) {
        uint32_t value = has_data ? tw_load_u32(c->words.data + 4 * (size_t)i) : c->value;
        write_word(m, offset, is_masked ? c->mask : UINT32_MAX, value);
        offset += c->id == TW_CDO_DMA_WRITE_KEYHOLE ? 0 : 4;
    }
}

int tw_program_memories_write(struct tw_program_memories *memories, const struct tw_cdo *cdo, struct tw_error *err)
{
    struct tw_cdo_command command;
    size_t at = 0;
    int code;

    while ((code = tw_cdo_next(cdo, &at, &command, err)) == 1) {
        code = check_tile(cdo, &command, err);
        if (code == 0 && !touches_program(&command))
            continue;
        if (code == 0)
            code = check_place(cdo, &command, err);
        if (code < 0)
            return code;
        struct tw_program_memory *m = memory_of(memories, (uint32_t)command.address);
        if (m == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for the program of a core");
        write_words(m, &command);
    }
    return code;
}

void tw_program_memories_free(struct tw_program_memories *memories)
{
    for (unsigned column = 0; column < TW_NPU1_COLUMNS; column++)
        for (unsigned row = 0; row < TW_NPU1_CORE_ROWS; row++) {
            free(memories->cores[column][row]);
            memories->cores[column][row] = NULL;
        }
}

static int is_written(const struct tw_program_memory *m, uint32_t at)
{
    return m->written[at / 32] >> (at / 4 % 8) & 1;
}

uint32_t tw_program_memory_run(const struct tw_program_memory *memory, uint32_t *at)
{
    uint32_t begin = *at;
    while (begin < TW_CORE_PROGRAM_BYTES && !is_written(memory, begin))
        begin += 4;
    uint32_t end = begin;
    while (end < TW_CORE_PROGRAM_BYTES && is_written(memory, end))
        end += 4;
    *at = end;
    return end - begin;
}
