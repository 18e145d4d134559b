#include "emu/firmware/operation.h"

#include "emu/cycles.h"

#include <inttypes.h>

/* Words of a shim tile's descriptor, by AM025. */
enum {
    SHIM_BD_LOW = 4,  /* bytes from the beginning to the word with the low part of the address */
    SHIM_BD_HIGH = 4, /* from there to the word with the high part */
    SHIM_BD_HIGH_MASK = 0xffff
};
#define SHIM_BD_LOW_MASK 0xfffffffcu

int tw_firmware_time_is_up(const struct tw_firmware *fw, struct tw_error *err)
{
    char waits[768];
    tw_array_describe_waits(fw->array, waits, sizeof waits);
    return tw_fail(err, TW_E_LIMIT, "the limit of cycles is reached%s%s", waits[0] != '\0' ? ": " : "", waits);
}

int tw_firmware_pass(struct tw_firmware *fw, uint64_t cycles, struct tw_error *err)
{
    uint64_t now = tw_array_clock(fw->array), left = fw->end > now ? fw->end - now : 0;
    int code = tw_array_advance(fw->array, now + (cycles < left ? cycles : left), err);
    return code == TW_OK && cycles > left ? tw_firmware_time_is_up(fw, err) : code;
}

int tw_firmware_launch(struct tw_firmware *fw, uint64_t cycles, struct tw_error *err)
{
    uint64_t begin = tw_array_clock(fw->array);
    int code = tw_firmware_pass(fw, cycles, err);
    fw->report->launch_cycles += tw_array_clock(fw->array) - begin;
    return code;
}

/* Before a write that takes so many cycles; a queue register can only be the first one of a block that makes sense. */
static int pass_before_write(struct tw_firmware *fw, uint64_t cycles, uint32_t address, struct tw_error *err)
{
    int code = tw_firmware_pass(fw, cycles, err);
    return code < 0 ? code : tw_firmware_pass_gate(fw, address, err);
}

int tw_operation_write(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    int code = pass_before_write(fw, TW_CYCLES_WRITE, op->address, err);
    return code < 0 ? code : tw_array_write(fw->array, op->address, &op->value, 1, err);
}

int tw_operation_mask_write(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    int code = pass_before_write(fw, TW_CYCLES_MASK_WRITE, op->address, err);
    return code < 0 ? code : tw_array_mask_write(fw->array, op->address, op->mask, op->value, err);
}

int tw_operation_poll(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    int code = tw_firmware_pass(fw, TW_CYCLES_WAIT, err);
    uint64_t begin = tw_array_clock(fw->array);
    if (code == TW_OK)
        code = tw_array_wait_register(fw->array, op->address, op->mask, op->value, fw->end, err);
    fw->report->wait_cycles += tw_array_clock(fw->array) - begin;
    return code == TW_E_LIMIT ? tw_firmware_time_is_up(fw, err) : code;
}

/* ---- tokens */

static int wait_for(struct tw_firmware *fw, unsigned column, unsigned row, struct tw_dma_channel channel,
                    struct tw_error *err)
{
    if (column >= fw->options.columns || row >= TW_NPU1_ROWS)
        return tw_fail(err, TW_E_ARGUMENT, "a wait for a token of tile (%u, %u), which is not there", column, row);
    enum tw_tile_kind kind = tw_tile_kind(row);
    int actor = channel.number < tw_dma_channels(kind) ? tw_dma_actor(kind, channel) : -1;
    if (actor < 0)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "tokens of channel %s %u of tile (%u, %u) are not modelled: nobody knows how they are named",
                       channel.direction == TW_S2MM ? "S2MM" : "MM2S", channel.number, column, row);
    const struct tw_token token = {(uint8_t)column, (uint8_t)row, (uint8_t)actor};
    int code = tw_array_wait_token(fw->array, &token, fw->end, err);
    fw->report->tokens += code == TW_OK;
    return code == TW_E_LIMIT ? tw_firmware_time_is_up(fw, err) : code;
}

int tw_operation_wait(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    const struct tw_control_wait *wait = &op->wait;
    unsigned columns = wait->columns > 0 ? wait->columns : 1, rows = wait->rows > 0 ? wait->rows : 1;
    int code = tw_firmware_pass(fw, TW_CYCLES_WAIT, err);
    uint64_t begin = tw_array_clock(fw->array);
    for (unsigned i = 0; code == TW_OK && i < columns * rows; i++)
        code = wait_for(fw, wait->column + i / rows, wait->row + i % rows, wait->channel, err);
    fw->report->wait_cycles += tw_array_clock(fw->array) - begin;
    if (code == TW_OK && !fw->has_waited) {
        fw->has_waited = 1;
        code = tw_firmware_launch(fw, TW_CYCLES_FIRST_WAIT, err);
    }
    return code;
}

/* ---- addresses */

/* The array's address of a buffer argument plus addend: the firmware adds the offset to the first few only. */
static int argument_address(const struct tw_firmware *fw, const struct tw_control_patch *patch, uint64_t *address,
                            struct tw_error *err)
{
    const struct tw_command *c = fw->command;
    if (patch->argument >= c->n_arguments)
        return tw_fail(err, TW_E_ARGUMENT,
                       "the control code uses buffer argument %" PRIu64 ", but the command has %zu (counting from 0)",
                       patch->argument, c->n_arguments);
    *address = c->arguments[patch->argument] + patch->addend;
    if (patch->argument < TW_OFFSET_ARGUMENTS)
        *address += TW_HOST_OFFSET;
    return TW_OK;
}

/*
 * The address in the descriptor is replaced, not added to: programs that run on silicon have the addend in the
 * descriptor as well.
 */
static int set_address(struct tw_firmware *fw, uint32_t at, const struct tw_control_patch *patch, struct tw_error *err)
{
    uint64_t address = 0;
    uint32_t high = 0;
    int code = tw_firmware_pass(fw, TW_CYCLES_PATCH, err);
    if (code < 0 || (fw->command->host_patched && !fw->unknown.patch_when_host_patched))
        return code;
    code = argument_address(fw, patch, &address, err);
    if (code == TW_OK)
        code = tw_array_read(fw->array, at + SHIM_BD_HIGH, &high, err);
    if (code < 0)
        return code;
    uint32_t words[] = {(uint32_t)address & SHIM_BD_LOW_MASK,
                        (high & ~(uint32_t)SHIM_BD_HIGH_MASK) | (uint32_t)(address >> 32 & SHIM_BD_HIGH_MASK)};
    return tw_array_write(fw->array, at, words, 2, err);
}

int tw_operation_patch(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    return set_address(fw, op->address, &op->patch, err);
}

int tw_operation_block_write(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    uint64_t cycles = TW_CYCLES_BLOCK_WRITE + TW_CYCLES_BLOCK_WRITE_WORD * (uint64_t)op->n_words;
    int code = pass_before_write(fw, cycles, op->address, err);
    if (code == TW_OK)
        code = tw_firmware_write_words(fw, op->address, &op->words, err);
    if (code == TW_OK && op->is_patched)
        code = set_address(fw, op->address + SHIM_BD_LOW, &op->patch, err);
    return code;
}
