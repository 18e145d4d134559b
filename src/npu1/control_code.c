#include "npu1/control_code.h"

#include "base/little_endian.h"
#include "npu1/control_record.h"

#include <inttypes.h>
#include <string.h>

static uint32_t word(const struct tw_view *v, size_t index)
{
    return tw_load_u32(v->data + 4 * index);
}

/* Which word of a record is what; -1: none. All fields of a kind lie in the same order, but with gaps in version 0.1.
 */
struct layout {
    uint8_t words; /* of the record, without data behind it */
    int8_t size;   /* the record's size in bytes; it is followed by data when the size is larger */
    int8_t address;
    int8_t value, mask;
    int8_t argument, addend; /* two words each in version 0.1, one in 1.0 */
};

/* A code and its record in version 0.1 and in version 1.0. */
static const struct code {
    uint8_t code;
    uint8_t kind; /* enum tw_control_op_kind */
    const char *name;
    struct layout layouts[2];
} codes[] = {
    {CONTROL_WRITE, TW_CONTROL_OP_WRITE, "WRITE", {{6, 5, 2, 4, -1, -1, -1}, {3, -1, 1, 2, -1, -1, -1}}},
    {CONTROL_BLOCK_WRITE,
     TW_CONTROL_OP_BLOCK_WRITE,
     "BLOCKWRITE",
     {{4, 3, 2, -1, -1, -1, -1}, {3, 2, 1, -1, -1, -1, -1}}},
    {CONTROL_BLOCK_SET, TW_CONTROL_OP_OTHER, "BLOCKSET", {{0, -1, -1, -1, -1, -1, -1}, {0, -1, -1, -1, -1, -1, -1}}},
    {CONTROL_MASK_WRITE, TW_CONTROL_OP_MASK_WRITE, "MASKWRITE", {{7, 6, 2, 4, 5, -1, -1}, {4, -1, 1, 2, 3, -1, -1}}},
    {CONTROL_MASK_POLL, TW_CONTROL_OP_POLL, "MASKPOLL", {{7, 6, 2, 4, 5, -1, -1}, {4, -1, 1, 2, 3, -1, -1}}},
    {CONTROL_NOOP, TW_CONTROL_OP_NOOP, "NOOP", {{1, -1, -1, -1, -1, -1, -1}, {1, -1, -1, -1, -1, -1, -1}}},
    {CONTROL_PREEMPT, TW_CONTROL_OP_OTHER, "PREEMPT", {{1, -1, -1, -1, -1, -1, -1}, {1, -1, -1, -1, -1, -1, -1}}},
    {CONTROL_MASK_POLL_BUSY, TW_CONTROL_OP_POLL, "MASKPOLL_BUSY", {{7, 6, 2, 4, 5, -1, -1}, {4, -1, 1, 2, 3, -1, -1}}},
    {CONTROL_LOAD_PDI, TW_CONTROL_OP_OTHER, "LOADPDI", {{4, -1, -1, -1, -1, -1, -1}, {4, -1, -1, -1, -1, -1, -1}}},
    {CONTROL_LOAD_PM_START,
     TW_CONTROL_OP_OTHER,
     "LOAD_PM_START",
     {{4, -1, -1, -1, -1, -1, -1}, {4, -1, -1, -1, -1, -1, -1}}},
    {CONTROL_WAIT, TW_CONTROL_OP_WAIT, "TCT", {{4, 1, -1, -1, -1, -1, -1}, {4, 1, -1, -1, -1, -1, -1}}},
    {CONTROL_PATCH, TW_CONTROL_OP_PATCH, "DDR_PATCH", {{12, 1, 6, -1, -1, 8, 10}, {6, 1, 2, -1, -1, 3, 4}}},
    {CONTROL_READ_REGISTERS,
     TW_CONTROL_OP_OTHER,
     "READ_REGS",
     {{2, 1, -1, -1, -1, -1, -1}, {2, 1, -1, -1, -1, -1, -1}}},
    {CONTROL_RECORD_TIMER,
     TW_CONTROL_OP_OTHER,
     "RECORD_TIMER",
     {{2, 1, -1, -1, -1, -1, -1}, {2, 1, -1, -1, -1, -1, -1}}},
    {CONTROL_MERGE_SYNC, TW_CONTROL_OP_OTHER, "MERGE_SYNC", {{2, 1, -1, -1, -1, -1, -1}, {2, 1, -1, -1, -1, -1, -1}}},
};

/* What has no row above: of known length only among the custom ones. */
static const struct code unknown = {
    0, TW_CONTROL_OP_OTHER, "?", {{0, -1, -1, -1, -1, -1, -1}, {0, -1, -1, -1, -1, -1, -1}}};
static const struct code unknown_custom = {
    0, TW_CONTROL_OP_OTHER, "?", {{2, 1, -1, -1, -1, -1, -1}, {2, 1, -1, -1, -1, -1, -1}}};

static const struct code *find_code(uint8_t code)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].code == code)
            return &codes[i];
    return code >= CONTROL_CUSTOM ? &unknown_custom : &unknown;
}

/* 0 for version 0.1, 1 for 1.0, -1 for others. */
static int version_of(const struct tw_view *v)
{
    if (v->data[0] == 0 && v->data[1] == 1)
        return 0;
    return v->data[0] == 1 && v->data[1] == 0 ? 1 : -1;
}

int tw_control_code_recognise(const struct tw_view *view)
{
    if (view->size < TW_CONTROL_CODE_HEADER_BYTES || version_of(view) < 0)
        return 0;
    uint32_t size = word(view, 3);
    return view->data[3] == TW_CONTROL_CODE_ROWS && view->data[5] == TW_CONTROL_CODE_MEMORY_ROWS &&
           size >= TW_CONTROL_CODE_HEADER_BYTES && size <= view->size;
}

/* The record's size by the word that says so, checked against the shortest one of its kind. */
static int read_size(const struct tw_view *rest, const struct code *c, const struct layout *l, uint64_t *size,
                     struct tw_error *err)
{
    *size = 4 * (uint64_t)l->words;
    struct tw_view head;
    int code = tw_view_part(rest, 0, *size, "an operation of control code", &head, err);
    if (code < 0 || l->size < 0)
        return code;
    uint32_t told = word(rest, (size_t)l->size);
    int may_be_longer = c->kind == TW_CONTROL_OP_BLOCK_WRITE || c->kind == TW_CONTROL_OP_OTHER;
    if (told % 4 != 0 || told < *size || (told > *size && !may_be_longer))
        return tw_view_fail(rest, 0, TW_E_FORMAT, err,
                            "the operation %s says that it has %" PRIu32 " bytes, %s %" PRIu64 " are expected", c->name,
                            told, may_be_longer ? "a multiple of 4 and at least" : "exactly", *size);
    *size = told;
    return TW_OK;
}

static struct tw_view behind(const struct tw_view *record, size_t words)
{
    return (struct tw_view){record->data + 4 * words, record->size - 4 * words, record->file, record->at + 4 * words};
}

static uint64_t read_pair(const struct tw_view *record, int at, int version)
{
    uint64_t low = word(record, (size_t)at);
    return version == 0 ? low | (uint64_t)word(record, (size_t)at + 1) << 32 : low;
}

static void read_wait(const struct tw_view *record, struct tw_control_wait *wait)
{
    uint32_t from = word(record, 2), over = word(record, 3);
    *wait = (struct tw_control_wait){
        .column = from >> 16 & 0xff,
        .row = from >> 8 & 0xff,
        .columns = over >> 16 & 0xff,
        .rows = over >> 8 & 0xff,
        .channel = {(from & 0xff) == 0 ? TW_S2MM : TW_MM2S, over >> 24},
    };
}

/* Takes the fields out of a record that is long enough. */
static void read_fields(const struct tw_view *record, const struct code *c, int version, struct tw_control_op *op)
{
    const struct layout *l = &c->layouts[version];
    if (l->address >= 0)
        op->address = word(record, (size_t)l->address);
    if (l->value >= 0)
        op->value = word(record, (size_t)l->value);
    if (l->mask >= 0)
        op->mask = word(record, (size_t)l->mask);
    if (c->kind == TW_CONTROL_OP_BLOCK_WRITE || c->kind == TW_CONTROL_OP_OTHER) {
        op->words = behind(record, c->kind == TW_CONTROL_OP_OTHER ? 1 : l->words);
        op->n_words = (uint32_t)(op->words.size / 4);
    }
    if (c->kind == TW_CONTROL_OP_WAIT)
        read_wait(record, &op->wait);
    if (c->kind == TW_CONTROL_OP_PATCH)
        op->patch =
            (struct tw_control_patch){read_pair(record, l->argument, version), read_pair(record, l->addend, version)};
}

int tw_control_code_next(const struct tw_control_code *code, size_t *at, struct tw_control_op *op, struct tw_error *err)
{
    struct tw_view rest, record;
    int version = code->major;
    if (*at >= code->ops.size)
        return 0;
    int result = tw_view_part(&code->ops, *at, code->ops.size - *at, "an operation of control code", &rest, err);
    if (result == 0)
        result = tw_view_part(&rest, 0, 4, "an operation of control code", &record, err);
    if (result < 0)
        return result;
    const struct code *c = find_code(rest.data[0]);
    uint64_t size = rest.size / 4 * 4;
    if (c->layouts[version].words != 0)
        result = read_size(&rest, c, &c->layouts[version], &size, err);
    if (result == 0)
        result = tw_view_part(&rest, 0, size, "an operation of control code", &record, err);
    if (result < 0)
        return result;
    *op = (struct tw_control_op){.kind = (enum tw_control_op_kind)c->kind,
                                 .code = rest.data[0],
                                 .name = c->name,
                                 .offset = *at,
                                 .words = behind(&record, record.size / 4)};
    read_fields(&record, c, version, op);
    *at = c->layouts[version].words != 0 ? *at + (size_t)size : code->ops.size;
    return 1;
}

/* Reads all operations once. */
static int check_ops(const struct tw_control_code *code, struct tw_error *err)
{
    struct tw_control_op op = {0};
    size_t at = 0;
    uint32_t n = 0;
    int result;
    while ((result = tw_control_code_next(code, &at, &op, err)) == 1)
        n++;
    /* Behind an operation of unknown length there may be more. */
    int may_be_more = n > 0 && op.kind == TW_CONTROL_OP_OTHER && find_code(op.code)->layouts[code->major].words == 0;
    if (result == 0 && n != code->n_ops && !(may_be_more && n < code->n_ops))
        return tw_view_fail(&code->ops, 0, TW_E_FORMAT, err,
                            "%" PRIu32 " operations of control code, but its header says %" PRIu32, n, code->n_ops);
    return result;
}

int tw_control_code_open(const struct tw_view *view, struct tw_control_code *code, struct tw_error *err)
{
    struct tw_view header;
    int result = tw_view_part(view, 0, TW_CONTROL_CODE_HEADER_BYTES, "the header of control code", &header, err);
    if (result < 0)
        return result;
    const unsigned char *h = header.data;
    uint32_t size = word(&header, 3);
    if (version_of(&header) < 0)
        return tw_view_fail(view, 0, TW_E_UNSUPPORTED, err, "control code of version %u.%u; only 0.1 and 1.0 are known",
                            h[0], h[1]);
    if (size < TW_CONTROL_CODE_HEADER_BYTES)
        return tw_view_fail(view, 12, TW_E_FORMAT, err, "control code of %" PRIu32 " bytes; its header alone has %d",
                            size, TW_CONTROL_CODE_HEADER_BYTES);
    *code = (struct tw_control_code){h[0], h[1], h[2], h[3], h[4], h[5], word(&header, 2), {0}};
    result = tw_view_part(view, TW_CONTROL_CODE_HEADER_BYTES, size - TW_CONTROL_CODE_HEADER_BYTES,
                          "the operations of control code", &code->ops, err);
    return result < 0 ? result : check_ops(code, err);
}
