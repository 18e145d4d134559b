#include "isa/random_operation.h"

void immediate_limits(const struct tw_operand_info *o, int64_t *low, int64_t *high)
{
    int64_t count = (int64_t)1 << o->bits;
    *low = o->is_negative ? -count : o->is_signed ? -(count / 2) : 0;
    *high = *low + count - 1;
    *low *= o->scale;
    *high *= o->scale;
}

static int64_t random_immediate(struct tw_random *random, const struct tw_operand_info *o)
{
    int64_t low, high;
    immediate_limits(o, &low, &high);
    switch (tw_random_range(random, 0, 15)) {
    case 0:
        return low;
    case 1:
        return high;
    default:
        return tw_random_range(random, low / o->scale, high / o->scale) * o->scale;
    }
}

static int64_t random_register(struct tw_random *random, const struct tw_operand_info *o)
{
    const struct tw_register_class *c = &tw_register_classes[o->register_class];
    int reg;
    do
        reg = c->by_value[tw_random_range(random, 0, c->count - 1)];
    while (reg < 0);
    return reg;
}

void random_operation(struct tw_random *random, unsigned instruction, struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[instruction];
    op->instruction = (uint16_t)instruction;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->bits > 0)
            op->operands[i] = o->kind == TW_OPERAND_REGISTER ? random_register(random, o) : random_immediate(random, o);
    }
    tw_operation_complete(op);
}

unsigned random_instruction(struct tw_random *random, unsigned slot)
{
    unsigned number;
    do
        number = (unsigned)tw_random_range(random, 0, TW_I_COUNT - 1);
    while (tw_instructions[number].slot != slot);
    return number;
}

void random_bundle(struct tw_random *random, int format, struct tw_bundle *bundle)
{
    bundle->format = (int16_t)format;
    bundle->slots = tw_formats[format].slots;
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++)
        if ((bundle->slots >> s & 1) != 0)
            random_operation(random, random_instruction(random, s), &bundle->op[s]);
}
