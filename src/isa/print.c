/* Operations and bundles to text. No printf: a disassembler spends most of its time here. */
#include "isa/tables.h"

#include <string.h>

/* Where text goes; left is what remains, the NUL counted. */
struct sink {
    char *at;
    size_t left;
    int code; /* the first error */
};

static void put(struct sink *s, const char *text, size_t n)
{
    if (n >= s->left) {
        s->code = s->code != 0 ? s->code : TW_E_LIMIT;
        return;
    }
    memcpy(s->at, text, n);
    s->at += n;
    s->left -= n;
}

/* "#12", "#-0x20" */
static void put_number(struct sink *s, int64_t value, unsigned base)
{
    char text[24];
    unsigned at = sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        text[--at] = "0123456789abcdef"[rest % base];
        rest /= base;
    } while (rest != 0);
    if (base == 16) {
        text[--at] = 'x';
        text[--at] = '0';
    }
    if (value < 0)
        text[--at] = '-';
    text[--at] = '#';
    put(s, text + at, sizeof text - at);
}

static void put_operand(struct sink *s, const struct tw_instruction *in, const struct tw_operand_info *o, int64_t value)
{
    if (o->kind != TW_OPERAND_REGISTER) {
        /* AMD's disassembler writes the offsets of loads and stores in decimal, all other immediates in hexadecimal. */
        int is_offset = o->kind == TW_OPERAND_IMMEDIATE && (in->flags & (TW_FLAG_LOAD | TW_FLAG_STORE)) != 0;
        put_number(s, value, is_offset ? 10 : 16);
    } else if (value < 0 || value >= TW_R_COUNT) {
        s->code = TW_E_ARGUMENT;
    } else {
        put(s, tw_registers[value].name, tw_register_name_lengths[value]);
    }
}

static void put_operation(struct sink *s, const struct tw_operation *op)
{
    if (op->instruction >= TW_I_COUNT) {
        s->code = TW_E_ARGUMENT;
        return;
    }
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    const struct tw_syntax *syntax = &tw_syntaxes[op->instruction];
    for (unsigned i = 0; i < syntax->n_pieces; i++) {
        const struct tw_piece *p = &syntax->pieces[i];
        put(s, p->text, p->length);
        if (p->operand >= 0)
            put_operand(s, in, &in->operands[p->operand], op->operands[p->operand]);
    }
}

/* Ends the text; returns its length or the error. */
static int finish(struct sink *s, char *dst, size_t size)
{
    if (s->code != 0) {
        if (size > 0)
            dst[0] = '\0';
        return s->code;
    }
    *s->at = '\0';
    return (int)(s->at - dst);
}

int tw_operation_print(const struct tw_operation *op, char *dst, size_t size)
{
    struct sink s = {dst, size, size == 0 ? TW_E_LIMIT : 0};
    put_operation(&s, op);
    return finish(&s, dst, size);
}

int tw_bundle_print(const struct tw_bundle *bundle, char *dst, size_t size)
{
    /* The filler bit comes first, so that the padded long form reads as a nop before its instruction. */
    static const uint8_t order[TW_SLOT_COUNT] = {TW_SLOT_NOP, TW_SLOT_LDB, TW_SLOT_LDA, TW_SLOT_ST,
                                                 TW_SLOT_ALU, TW_SLOT_LNG, TW_SLOT_MV,  TW_SLOT_VEC};
    struct sink s = {dst, size, size == 0 ? TW_E_LIMIT : 0};
    int first = 1;

    for (unsigned i = 0; i < TW_SLOT_COUNT; i++) {
        if ((bundle->slots >> order[i] & 1) == 0)
            continue;
        if (!first)
            put(&s, "; ", 2);
        first = 0;
        put_operation(&s, &bundle->op[order[i]]);
    }
    return finish(&s, dst, size);
}
