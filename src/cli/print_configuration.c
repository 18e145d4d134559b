#include "cli/print_configuration.h"

#include "base/little_endian.h"
#include "npu1/cdo.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"
#include "npu1/registers.h"

#include <inttypes.h>
#include <string.h>

static void count(struct tw_configuration_totals *totals, const char *name)
{
    unsigned i = 0;
    while (i < totals->n_names && strcmp(totals->names[i], name) != 0)
        i++;
    if (i == TW_COUNTED_NAMES_MAX)
        return;
    if (i == totals->n_names) {
        totals->names[totals->n_names++] = name;
        totals->counts[i] = 0;
    }
    totals->counts[i]++;
}

enum place { IN_REGISTERS, IN_DATA, IN_PROGRAM };

/* What lies at an address, and how many words of the same follow it, itself included. */
static enum place place_of(uint32_t address, uint32_t *words)
{
    uint32_t offset = tw_tile_offset(address), end = 0;
    enum tw_tile_kind kind = tw_tile_kind(tw_tile_row(address));
    enum place place = IN_REGISTERS;
    if (kind == TW_TILE_MEMORY && offset < TW_MEMORY_TILE_BYTES) {
        place = IN_DATA;
        end = TW_MEMORY_TILE_BYTES;
    } else if (kind == TW_TILE_CORE && offset < TW_CORE_DATA_BYTES) {
        place = IN_DATA;
        end = TW_CORE_DATA_BYTES;
    } else if (kind == TW_TILE_CORE && offset >= TW_CORE_PROGRAM && offset < TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES) {
        place = IN_PROGRAM;
        end = TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES;
    }
    *words = place == IN_REGISTERS ? 1 : (end - offset + 3) / 4;
    return place;
}

static void count_words(struct tw_configuration_totals *totals, enum place place, uint64_t words)
{
    uint64_t *const sums[] = {&totals->register_words, &totals->data_words, &totals->program_words};
    *sums[place] += words;
}

/* The name of what is at an address, and the value in its words. */
static void name_property(struct tw_tree *t, uint64_t address)
{
    char name[TW_TILE_REGISTER_TEXT];
    if (address > UINT32_MAX)
        snprintf(name, sizeof name, "0x%" PRIx64, address);
    else
        tw_tile_register_name((uint32_t)address, name, sizeof name);
    tw_tree_plain(t, "register", name);
}

static void value_properties(struct tw_tree *t, uint64_t address, uint32_t mask, uint32_t value)
{
    char fields[TW_TILE_REGISTER_TEXT] = "";
    tw_tree_hex(t, "value", value);
    if (mask != UINT32_MAX)
        tw_tree_hex(t, "mask", mask);
    uint32_t words;
    if (address > UINT32_MAX || place_of((uint32_t)address, &words) != IN_REGISTERS ||
        tw_tile_register_at(tw_tile_kind(tw_tile_row((uint32_t)address)), tw_tile_offset((uint32_t)address)) == NULL)
        return;
    tw_tile_register_print((uint32_t)address, mask, value, fields, sizeof fields);
    if (fields[0] != '\0')
        tw_tree_plain(t, "fields", fields);
}

static void count_place(struct tw_configuration_totals *totals, uint64_t address)
{
    uint32_t words;
    count_words(totals, address > UINT32_MAX ? IN_REGISTERS : place_of((uint32_t)address, &words), 1);
}

/* One node for each register, and one for each run of words of memory. */
static void print_words(struct tw_tree *t, uint64_t address, const struct tw_view *words,
                        struct tw_configuration_totals *totals)
{
    size_t n = words->size / 4;
    for (size_t i = 0; i < n;) {
        uint64_t at = address + 4 * (uint64_t)i;
        uint32_t run = 1;
        enum place place = at > UINT32_MAX ? IN_REGISTERS : place_of((uint32_t)at, &run);
        size_t length = run < n - i ? run : n - i;
        tw_tree_begin(t, place == IN_REGISTERS ? "word" : "words");
        name_property(t, at);
        if (place == IN_REGISTERS)
            value_properties(t, at, UINT32_MAX, tw_load_u32(words->data + 4 * i));
        else
            tw_tree_number(t, "count", length);
        tw_tree_end(t);
        count_words(totals, place, length);
        i += length;
    }
}

/* ---- CDO */

static void print_command(struct tw_tree *t, const struct tw_cdo_command *c, struct tw_configuration_totals *totals)
{
    int has_data = c->id == TW_CDO_DMA_WRITE || c->id == TW_CDO_DMA_WRITE_KEYHOLE;
    int is_poll = c->id == TW_CDO_MASK_POLL || c->id == TW_CDO_MASK_POLL64;
    int is_masked = is_poll || c->id == TW_CDO_MASK_WRITE || c->id == TW_CDO_MASK_WRITE64;
    count(totals, c->name);
    tw_tree_begin(t, c->name);
    if (c->n_words > 0 || is_poll || has_data)
        name_property(t, c->address);
    if (is_masked || c->id == TW_CDO_WRITE || c->id == TW_CDO_WRITE64)
        value_properties(t, c->address, is_masked ? c->mask : UINT32_MAX, c->value);
    else if (c->id == TW_CDO_SET)
        tw_tree_hex(t, "value", c->value);
    else if (c->id == TW_CDO_DELAY)
        tw_tree_number(t, "microseconds", c->value);
    if (has_data || c->id == TW_CDO_SET || c->id == TW_CDO_DMA_XFER)
        tw_tree_number(t, "words", c->n_words);
    if (c->id == TW_CDO_DMA_WRITE)
        print_words(t, c->address, &c->words, totals);
    else if (c->n_words == 1 && !has_data)
        count_place(totals, c->address);
    tw_tree_end(t);
}

int tw_print_cdo(struct tw_tree *t, const struct tw_view *view, struct tw_configuration_totals *totals,
                 struct tw_error *err)
{
    struct tw_cdo cdo;
    struct tw_cdo_command command;
    size_t at = 0;
    int code = tw_cdo_open(view, &cdo, err);
    if (code < 0)
        return code;
    tw_tree_begin(t, "CDO");
    tw_tree_number(t, "bytes", view->size);
    while ((code = tw_cdo_next(&cdo, &at, &command, err)) == 1)
        print_command(t, &command, totals);
    tw_tree_end(t);
    return code;
}

/* ---- Control code */

static void print_wait(struct tw_tree *t, const struct tw_control_wait *wait)
{
    char tile[64];
    tw_tile_name(tw_tile_address(wait->column & 0x7f, wait->row & 0x1f, 0), tile, sizeof tile);
    tw_tree_plain(t, "tile", tile);
    tw_tree_plain(t, "direction", wait->channel.direction == TW_S2MM ? "S2MM" : "MM2S");
    tw_tree_number(t, "channel", wait->channel.number);
    if (wait->columns > 1 || wait->rows > 1) {
        tw_tree_number(t, "columns", wait->columns);
        tw_tree_number(t, "rows", wait->rows);
    }
}

static void print_patch(struct tw_tree *t, const struct tw_control_patch *patch)
{
    tw_tree_number(t, "argument", patch->argument);
    tw_tree_hex(t, "addend", patch->addend);
}

static void print_op(struct tw_tree *t, const struct tw_control_op *op, struct tw_configuration_totals *totals)
{
    count(totals, op->name);
    tw_tree_begin(t, op->name);
    switch (op->kind) {
    case TW_CONTROL_OP_WRITE:
    case TW_CONTROL_OP_MASK_WRITE:
    case TW_CONTROL_OP_POLL:
        name_property(t, op->address);
        value_properties(t, op->address, op->kind == TW_CONTROL_OP_WRITE ? UINT32_MAX : op->mask, op->value);
        if (op->kind != TW_CONTROL_OP_POLL)
            count_place(totals, op->address);
        break;
    case TW_CONTROL_OP_BLOCK_WRITE:
        name_property(t, op->address);
        tw_tree_number(t, "words", op->n_words);
        if (op->is_patched)
            print_patch(t, &op->patch);
        print_words(t, op->address, &op->words, totals);
        break;
    case TW_CONTROL_OP_WAIT:
        print_wait(t, &op->wait);
        break;
    case TW_CONTROL_OP_PATCH:
        name_property(t, op->address);
        print_patch(t, &op->patch);
        break;
    case TW_CONTROL_OP_NOOP:
        break;
    case TW_CONTROL_OP_OTHER:
        tw_tree_hex(t, "code", op->code);
        tw_tree_number(t, "words", op->n_words);
        break;
    }
    tw_tree_end(t);
}

int tw_print_control_code(struct tw_tree *t, const struct tw_view *view, struct tw_configuration_totals *totals,
                          struct tw_error *err)
{
    struct tw_control_code control;
    struct tw_control_op op;
    size_t at = 0;
    int code = tw_control_code_open(view, &control, err);
    if (code < 0)
        return code;
    char version[16];
    snprintf(version, sizeof version, "%u.%u", control.major, control.minor);
    tw_tree_begin(t, "control-code");
    tw_tree_text(t, "version", version);
    tw_tree_number(t, "generation", control.generation);
    tw_tree_number(t, "columns", control.columns);
    tw_tree_number(t, "operations", control.n_ops);
    while ((code = tw_control_code_next(&control, &at, &op, err)) == 1)
        print_op(t, &op, totals);
    tw_tree_end(t);
    return code;
}

int tw_print_dpu_sequence(struct tw_tree *t, const struct tw_view *view, struct tw_configuration_totals *totals,
                          struct tw_error *err)
{
    struct tw_dpu_sequence sequence;
    struct tw_control_op op;
    size_t at = 0;
    int code = tw_dpu_sequence_open(view, &sequence, err);
    if (code < 0)
        return code;
    tw_tree_begin(t, "DPU-sequence");
    tw_tree_number(t, "operations", sequence.n_ops);
    while ((code = tw_dpu_sequence_next(&sequence, &at, &op, err)) == 1)
        print_op(t, &op, totals);
    tw_tree_end(t);
    return code;
}

void tw_print_totals(struct tw_tree *t, const struct tw_configuration_totals *totals)
{
    tw_tree_begin(t, "totals");
    for (unsigned i = 0; i < totals->n_names; i++)
        tw_tree_number(t, totals->names[i], totals->counts[i]);
    tw_tree_number(t, "register_words", totals->register_words);
    tw_tree_number(t, "data_words", totals->data_words);
    tw_tree_number(t, "program_words", totals->program_words);
    tw_tree_end(t);
}
