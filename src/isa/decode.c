/* Bytes to bundles. */
#include "isa/operand.h"
#include "isa/tables.h"

#include <string.h>

/* A bundle's bits, the low half first. */
struct bits {
    uint64_t word[2];
};

unsigned tw_bundle_size(uint8_t first)
{
    static const uint8_t odd[16] = {0, 2, 0, 8, 0, 6, 0, 12, 0, 4, 0, 10, 0, 6, 0, 14};
    return first % 2 == 0 ? 16 : odd[first % 16];
}

static uint64_t load_half(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24 |
           (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* Bits behind the bundle may be anything: no format looks at them. */
static struct bits load(const uint8_t *bytes, size_t size)
{
    uint8_t copy[TW_BUNDLE_MAX] = {0};

    if (size < sizeof copy) {
        memcpy(copy, bytes, size);
        bytes = copy;
    }
    return (struct bits){{load_half(bytes), load_half(bytes + 8)}};
}

static uint64_t slot_word(const struct bits *b, struct tw_bit_range place)
{
    unsigned n = place.high - place.low + 1u;
    uint64_t word;

    if (place.low >= 64)
        word = b->word[1] >> (place.low - 64);
    else if (place.high < 64)
        word = b->word[0] >> place.low;
    else
        word = b->word[0] >> place.low | b->word[1] << (64 - place.low);
    return word & (((uint64_t)1 << n) - 1);
}

/*
 * The operands of an instruction; returns 1 when a register's field holds a reserved value. What follows from an
 * earlier operand is set on the way; *later tells that something follows from a later one.
 */
static int decode_operands(const struct tw_instruction *in, uint64_t word, int64_t *operands, int *later)
{
    *later = 0;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->bits == 0) {
            if (o->tied_to >= 0)
                operands[i] = operands[o->tied_to];
            else
                *later = 1;
            continue;
        }
        uint64_t field = tw_field_get(o, word);
        if (o->kind != TW_OPERAND_REGISTER) {
            operands[i] = tw_field_immediate(o, field);
            continue;
        }
        operands[i] = tw_register_classes[o->register_class].by_value[field];
        if (operands[i] < 0)
            return 1;
    }
    return 0;
}

int tw_operation_decode(enum tw_slot slot, uint64_t word, struct tw_operation *op)
{
    for (const uint16_t *c = tw_index_find(&tw_slot_index[slot], word); *c != TW_INDEX_END; c++) {
        const struct tw_instruction *in = &tw_instructions[*c];
        int later;
        if ((word & in->mask) != in->value || decode_operands(in, word, op->operands, &later) != 0)
            continue;
        op->instruction = *c;
        if (later)
            tw_operation_complete(op);
        return 0;
    }
    return TW_E_FORMAT;
}

static int find_format(const struct bits *b, unsigned size)
{
    for (const uint16_t *c = tw_index_find(&tw_format_index, b->word[0]); *c != TW_INDEX_END; c++) {
        const struct tw_format *f = &tw_formats[*c];
        if (f->bytes == size && (b->word[0] & f->mask[0]) == f->value[0] && (b->word[1] & f->mask[1]) == f->value[1])
            return *c;
    }
    return -1;
}

int tw_bundle_decode(const uint8_t *bytes, size_t size, struct tw_bundle *bundle, unsigned *skip)
{
    unsigned announced = size == 0 ? 0 : tw_bundle_size(bytes[0]);

    bundle->slots = 0;
    bundle->format = -1;
    if (announced > size)
        announced = 0;
    if (skip != NULL)
        *skip = announced;
    if (announced == 0)
        return TW_E_FORMAT;

    struct bits b = load(bytes, size);
    int format = find_format(&b, announced);
    if (format < 0)
        return TW_E_FORMAT;
    bundle->format = (int16_t)format;
    bundle->slots = tw_formats[format].slots;
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
        if ((bundle->slots >> s & 1) == 0)
            continue;
        if (tw_operation_decode((enum tw_slot)s, slot_word(&b, tw_formats[format].place[s]), &bundle->op[s]) != 0)
            return TW_E_FORMAT;
    }
    return (int)announced;
}
