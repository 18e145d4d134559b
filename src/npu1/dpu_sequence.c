#include "npu1/dpu_sequence.h"

#include "base/little_endian.h"
#include "npu1/bits.h"
#include "npu1/buffer_descriptor.h"
#include "npu1_registers.h"

#include <inttypes.h>

/* Codes in the highest byte of an operation's first word. */
enum code { CODE_WRITE = 2, CODE_WAIT = 3, CODE_DESCRIPTOR = 6 };

static const struct kind {
    uint8_t code, kind, words;
    const char *name;
} kinds[] = {
    {CODE_WRITE, TW_CONTROL_OP_WRITE, 3, "WRITE"},
    {CODE_WAIT, TW_CONTROL_OP_WAIT, 2, "SYNC"},
    {CODE_DESCRIPTOR, TW_CONTROL_OP_BLOCK_WRITE, 10, "SHIM_BD"},
};

static uint32_t word(const struct tw_view *v, size_t index)
{
    return tw_load_u32(v->data + 4 * index);
}

static const struct kind *find_kind(unsigned code)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].code == code)
            return &kinds[i];
    return NULL;
}

int tw_dpu_sequence_recognise(const struct tw_view *view)
{
    return view->size >= 4 * TW_DPU_SEQUENCE_PROLOGUE && view->size % 4 == 0 && word(view, 0) == TW_DPU_SEQUENCE_MARK;
}

/* The place of a tile, in bits 23:16 and 15:8 of an operation's first word. */
static unsigned column_of(uint32_t first)
{
    return first >> 16 & 0xff;
}

static unsigned row_of(uint32_t first)
{
    return first >> 8 & 0xff;
}

static int read_write(const struct tw_view *record, struct tw_control_op *op, struct tw_error *err)
{
    uint32_t first = word(record, 0), offset = word(record, 1);
    if (column_of(first) >= TW_NPU1_COLUMNS || row_of(first) >= TW_NPU1_ROWS || offset >= TW_TILE_BYTES)
        return tw_view_fail(record, 0, TW_E_FORMAT, err,
                            "a write to 0x%" PRIx32 " of the tile in column %u, row %u, which NPU1 does not have",
                            offset, column_of(first), row_of(first));
    op->address = tw_tile_address(column_of(first), row_of(first), offset);
    op->value = word(record, 2);
    return TW_OK;
}

static void read_wait(const struct tw_view *record, struct tw_control_op *op)
{
    uint32_t first = word(record, 0), over = word(record, 1);
    op->wait = (struct tw_control_wait){
        .column = (uint8_t)column_of(first),
        .row = (uint8_t)row_of(first),
        .columns = over >> 16 & 0xff,
        .rows = over >> 8 & 0xff,
        .channel = {(first & 0xff) == 0 ? TW_S2MM : TW_MM2S, over >> 24},
    };
}

/* The first word ends with the number of columns, the argument and the descriptor's number; behind a word for the step
 * from column to column follows the descriptor, whose address is the distance from the argument's beginning. */
static int read_descriptor(const struct tw_view *record, struct tw_control_op *op, struct tw_error *err)
{
    enum { FIRST_WORD = 2, ARGUMENT_SHIFT = 4, LOW_FOUR = 0xf };
    uint32_t first = word(record, 0), columns = first >> 8 & 0xff;
    if (columns > 1)
        return tw_view_fail(record, 0, TW_E_UNSUPPORTED, err,
                            "a descriptor for %" PRIu32 " columns at once; how their addresses differ is not known",
                            columns);
    if (column_of(first) >= TW_NPU1_COLUMNS)
        return tw_view_fail(record, 0, TW_E_FORMAT, err, "a descriptor for column %u, which NPU1 does not have",
                            column_of(first));
    op->address = tw_tile_address(column_of(first), 0, tw_bd_offset(TW_TILE_SHIM, first & LOW_FOUR));
    op->words = (struct tw_view){record->data + 4 * FIRST_WORD, record->size - 4 * FIRST_WORD, record->file,
                                 record->at + 4 * FIRST_WORD};
    op->n_words = (uint32_t)(op->words.size / 4);
    op->is_patched = 1;
    op->patch.argument = first >> ARGUMENT_SHIFT & LOW_FOUR;
    op->patch.addend = (word(record, FIRST_WORD + 1) & tw_bits_mask(TW_FIELD_SHIM_DMA_BD_1_BASE_ADDRESS_LOW)) |
                       (uint64_t)tw_bits_get(word(record, FIRST_WORD + 2), TW_FIELD_SHIM_DMA_BD_2_BASE_ADDRESS_HIGH)
                           << 32;
    return TW_OK;
}

int tw_dpu_sequence_next(const struct tw_dpu_sequence *sequence, size_t *at, struct tw_control_op *op,
                         struct tw_error *err)
{
    struct tw_view record;
    if (*at >= sequence->ops.size)
        return 0;
    int code = tw_view_part(&sequence->ops, *at, 4, "an operation of a DPU sequence", &record, err);
    if (code < 0)
        return code;
    uint32_t first = word(&record, 0);
    const struct kind *k = find_kind(first >> 24);
    if (k == NULL)
        return tw_view_fail(&record, 0, TW_E_FORMAT, err, "there is no operation 0x%08" PRIx32 " of a DPU sequence",
                            first);
    code = tw_view_part(&sequence->ops, *at, 4 * (uint64_t)k->words, "an operation of a DPU sequence", &record, err);
    if (code < 0)
        return code;
    *op = (struct tw_control_op){.kind = (enum tw_control_op_kind)k->kind,
                                 .code = k->code,
                                 .name = k->name,
                                 .offset = *at,
                                 .words = {record.data + record.size, 0, record.file, record.at + record.size}};
    if (k->code == CODE_WRITE)
        code = read_write(&record, op, err);
    else if (k->code == CODE_DESCRIPTOR)
        code = read_descriptor(&record, op, err);
    else
        read_wait(&record, op);
    *at += record.size;
    return code < 0 ? code : 1;
}

int tw_dpu_sequence_open(const struct tw_view *view, struct tw_dpu_sequence *sequence, struct tw_error *err)
{
    enum { PROLOGUE_BYTES = 4 * TW_DPU_SEQUENCE_PROLOGUE };
    struct tw_view prologue;
    struct tw_control_op op;
    size_t at = 0;
    int code = tw_view_part(view, 0, PROLOGUE_BYTES, "the prologue of a DPU sequence", &prologue, err);
    if (code < 0)
        return code;
    if (word(&prologue, 0) != TW_DPU_SEQUENCE_MARK)
        return tw_view_fail(view, 0, TW_E_FORMAT, err,
                            "no DPU sequence begins here: word 0x%" PRIx32 " instead of 0x%x", word(&prologue, 0),
                            TW_DPU_SEQUENCE_MARK);
    *sequence = (struct tw_dpu_sequence){0};
    code = tw_view_part(view, PROLOGUE_BYTES, view->size - PROLOGUE_BYTES, "the operations of a DPU sequence",
                        &sequence->ops, err);
    if (code < 0)
        return code;
    while ((code = tw_dpu_sequence_next(sequence, &at, &op, err)) == 1)
        sequence->n_ops++;
    return code;
}
