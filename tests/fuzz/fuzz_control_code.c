/*
 * Control code: the first byte tells the form (enum control_kind), so that headers do not keep the fuzzer from what is
 * behind them.
 */
#include "fuzz/control_kinds.h"

#include "base/little_endian.h"
#include "npu1/control_code.h"
#include "npu1/control_writer.h"
#include "npu1/dpu_sequence.h"
#include "npu1/hex_words.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* A failure has a sentence; success has none. */
static int checked(int code, const struct tw_error *err)
{
    require(code <= 0 && code == err->code && (code < 0) == (err->text[0] != '\0'));
    return code;
}

static void touch_op(const struct tw_view *all, const struct tw_control_op *op)
{
    static volatile unsigned sink;
    require(op->name != NULL && op->words.size == 4 * (size_t)op->n_words);
    require(op->words.data >= all->data && op->words.data + op->words.size <= all->data + all->size);
    for (size_t i = 0; i < op->words.size; i++)
        sink = op->words.data[i];
    (void)sink;
}

/* Appends an operation that the writer knows; returns nonzero when it does. */
static int write_op(struct tw_control_writer *w, const struct tw_control_op *op)
{
    uint32_t words[64];
    switch (op->kind) {
    case TW_CONTROL_OP_WRITE:
        tw_control_writer_write(w, op->address, op->value);
        return 1;
    case TW_CONTROL_OP_MASK_WRITE:
        tw_control_writer_mask_write(w, op->address, op->mask, op->value);
        return 1;
    case TW_CONTROL_OP_BLOCK_WRITE:
        if (op->n_words > 64)
            return 0;
        for (uint32_t i = 0; i < op->n_words; i++)
            words[i] = tw_load_u32(op->words.data + 4 * (size_t)i);
        tw_control_writer_block_write(w, op->address, words, op->n_words);
        return 1;
    case TW_CONTROL_OP_WAIT:
        tw_control_writer_wait(w, &op->wait);
        return 1;
    case TW_CONTROL_OP_PATCH:
        tw_control_writer_patch(w, op->address, &op->patch);
        return 1;
    default:
        return 0;
    }
}

static void same_op(const struct tw_control_op *a, const struct tw_control_op *b)
{
    require(a->kind == b->kind && a->address == b->address && a->value == b->value && a->mask == b->mask);
    require(a->n_words == b->n_words && memcmp(&a->wait, &b->wait, sizeof a->wait) == 0);
    require(a->patch.argument == b->patch.argument && a->patch.addend == b->patch.addend);
    require(a->n_words == 0 || memcmp(a->words.data, b->words.data, a->words.size) == 0);
}

/* Written again, an operation is read as the same. */
static void rewrite_op(const struct tw_control_op *op)
{
    struct tw_control_writer w;
    struct tw_control_code code;
    struct tw_control_op again;
    unsigned char *bytes;
    size_t size, at = 0;
    tw_control_writer_begin(&w, 4);
    int known = write_op(&w, op);
    require(tw_control_writer_finish(&w, &bytes, &size, NULL) == 0);
    struct tw_view view = {bytes, size, "written", 0};
    require(tw_control_code_open(&view, &code, NULL) == 0 && code.n_ops == (uint32_t)known);
    if (known) {
        require(tw_control_code_next(&code, &at, &again, NULL) == 1);
        same_op(op, &again);
    }
    free(bytes);
}

static void read_transactions(const struct tw_view *view)
{
    struct tw_control_code code;
    struct tw_control_op op;
    struct tw_error err = {0};
    size_t at = 0;
    uint32_t n = 0;
    if (checked(tw_control_code_open(view, &code, &err), &err) < 0)
        return;
    while (tw_control_code_next(&code, &at, &op, NULL) == 1) {
        touch_op(view, &op);
        if (n++ < 64)
            rewrite_op(&op);
    }
    require(n <= code.n_ops && at == code.ops.size);
}

static void read_sequence(const struct tw_view *view)
{
    struct tw_dpu_sequence sequence;
    struct tw_control_op op;
    struct tw_error err = {0};
    size_t at = 0;
    uint32_t n = 0;
    if (checked(tw_dpu_sequence_open(view, &sequence, &err), &err) < 0)
        return;
    while (tw_dpu_sequence_next(&sequence, &at, &op, NULL) == 1) {
        touch_op(view, &op);
        n++;
    }
    require(n == sequence.n_ops);
}

static void read_text(const struct tw_view *view)
{
    unsigned char *bytes;
    size_t size;
    struct tw_error err = {0};
    int recognised = tw_hex_words_recognise(view);
    if (checked(tw_hex_words_read(view, &bytes, &size, &err), &err) < 0)
        return;
    require(recognised && size > 0 && size % 4 == 0);
    free(bytes);
}

/* Makes a transaction's header right for as many operations as the fuzzer says. */
static void sign(unsigned char *code, size_t size)
{
    if (size < TW_CONTROL_CODE_HEADER_BYTES)
        return;
    int older = code[0] & 1;
    code[0] = older != 0;
    code[1] = older == 0;
    tw_store_u32(code + 12, (uint32_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    /* A block of exactly this size, so that the sanitizer sees a read past its end; at an odd address. */
    unsigned char *copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data, size);
    struct tw_view view = {copy + 1, size - 1, "input", 0};
    if (data[0] == CONTROL_SIGNED)
        sign(copy + 1, size - 1);
    if (data[0] == CONTROL_SEQUENCE)
        read_sequence(&view);
    else if (data[0] == CONTROL_TEXT)
        read_text(&view);
    else
        read_transactions(&view);
    free(copy);
    return 0;
}
