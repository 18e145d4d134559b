/* Bundles to bytes. */
#include "isa/operand.h"
#include "isa/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail_operand(const struct tw_instruction *in, const struct tw_operand_info *o, int64_t value,
                        struct tw_error *err)
{
    char expected[128];

    tw_operand_describe(o, expected, sizeof expected);
    if (o->kind != TW_OPERAND_REGISTER)
        return tw_fail(err, TW_E_ARGUMENT, "#%" PRId64 " does not fit operand %s of %s: %s", value, o->name,
                       in->mnemonic, expected);
    if (value < 0 || value >= TW_R_COUNT)
        return tw_fail(err, TW_E_ARGUMENT, "operand %s of %s is no register: expected %s", o->name, in->mnemonic,
                       expected);
    return tw_fail(err, TW_E_ARGUMENT, "%s cannot be operand %s of %s: expected %s", tw_registers[value].name, o->name,
                   in->mnemonic, expected);
}

/* The operands without a field must be what tw_operation_complete makes of the others. */
static int check_complete(const struct tw_operation *op, struct tw_error *err)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    struct tw_operation whole = *op;

    tw_operation_complete(&whole);
    for (unsigned i = 0; i < in->n_operands; i++)
        if (op->operands[i] != whole.operands[i])
            return tw_fail(err, TW_E_ARGUMENT, "operand %s of %s follows from the others: it must be %s",
                           in->operands[i].name, in->mnemonic, tw_registers[whole.operands[i]].name);
    return 0;
}

int tw_operation_encode(const struct tw_operation *op, uint64_t *word, struct tw_error *err)
{
    if (op->instruction >= TW_I_COUNT)
        return tw_fail(err, TW_E_ARGUMENT, "there is no instruction number %d", op->instruction);

    const struct tw_instruction *in = &tw_instructions[op->instruction];
    *word = in->value;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->bits == 0)
            continue;
        if (!tw_operand_fits(o, op->operands[i]))
            return fail_operand(in, o, op->operands[i], err);
        *word |= tw_field_put(o, tw_operand_field(o, op->operands[i]));
    }
    return check_complete(op, err);
}

/* The format that a bundle asks for or, when it asks for none, the smallest. */
static int choose_format(const struct tw_bundle *bundle, struct tw_error *err)
{
    int format = bundle->format >= 0 ? bundle->format : tw_format_find(bundle->slots, 0);

    if (format >= TW_FORMAT_COUNT)
        return tw_fail(err, TW_E_ARGUMENT, "there is no bundle format number %d", format);
    if (format < 0)
        return tw_fail(err, TW_E_ARGUMENT,
                       "no bundle carries these slots together: slot lng excludes alu and mv, and nop stands alone or "
                       "before lng");
    if ((bundle->slots & ~(unsigned)tw_formats[format].slots) != 0)
        return tw_fail(err, TW_E_ARGUMENT, "bundle format %s does not carry all slots of the bundle",
                       tw_formats[format].name);
    return format;
}

static void put_slot(uint64_t bits[2], struct tw_bit_range place, uint64_t word)
{
    if (place.low >= 64) {
        bits[1] |= word << (place.low - 64);
        return;
    }
    bits[0] |= word << place.low;
    if (place.high >= 64)
        bits[1] |= word >> (64 - place.low);
}

/* The word of a slot: the bundle's operation, or the nop when it has none. */
static int encode_slot(const struct tw_bundle *bundle, unsigned slot, uint64_t *word, struct tw_error *err)
{
    if ((bundle->slots >> slot & 1) == 0) {
        *word = tw_instructions[tw_slot_nops[slot]].value;
        return 0;
    }
    int code = tw_operation_encode(&bundle->op[slot], word, err);
    if (code == 0 && tw_instructions[bundle->op[slot].instruction].slot != slot)
        code = tw_fail(err, TW_E_ARGUMENT, "%s stands in a slot of the bundle that is not its own",
                       tw_instructions[bundle->op[slot].instruction].name);
    return code;
}

int tw_bundle_encode(const struct tw_bundle *bundle, uint8_t bytes[TW_BUNDLE_MAX], struct tw_error *err)
{
    int format = choose_format(bundle, err);
    if (format < 0)
        return format;

    const struct tw_format *f = &tw_formats[format];
    uint64_t bits[2] = {f->value[0], f->value[1]};
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
        uint64_t word;
        if ((f->slots >> s & 1) == 0)
            continue;
        int code = encode_slot(bundle, s, &word, err);
        if (code < 0)
            return code;
        put_slot(bits, f->place[s], word);
    }
    for (unsigned i = 0; i < f->bytes; i++)
        bytes[i] = (uint8_t)(bits[i / 8] >> i % 8 * 8);
    return f->bytes;
}
