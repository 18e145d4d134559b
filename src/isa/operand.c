/* Which values an operand takes, and what follows from them. */
#include "isa/operand.h"

#include "isa/tables.h"

#include <inttypes.h>
#include <stdio.h>

/* The least and the greatest value of an immediate. */
static void limits(const struct tw_operand_info *o, int64_t *low, int64_t *high)
{
    int64_t count = (int64_t)1 << o->bits;
    int64_t first = o->is_negative ? -count : o->is_signed ? -count / 2 : 0;
    *low = first * o->scale;
    *high = (first + count - 1) * o->scale;
}

int tw_operand_fits(const struct tw_operand_info *o, int64_t value)
{
    int64_t low, high;

    if (o->kind == TW_OPERAND_REGISTER)
        return value >= 0 && value < TW_R_COUNT && tw_class_values[o->register_class][value] >= 0;
    limits(o, &low, &high);
    return value >= low && value <= high && value % o->scale == 0;
}

uint64_t tw_operand_field(const struct tw_operand_info *o, int64_t value)
{
    if (o->kind == TW_OPERAND_REGISTER)
        return (uint64_t)tw_class_values[o->register_class][value];
    return (uint64_t)(value / o->scale) & (((uint64_t)1 << o->bits) - 1);
}

static void describe_class(const struct tw_register_class *c, char *dst, size_t size)
{
    const char *first = NULL, *last = NULL;

    for (unsigned v = 0; v < c->count; v++) {
        if (c->by_value[v] < 0)
            continue;
        last = tw_registers[c->by_value[v]].name;
        first = first == NULL ? last : first;
    }
    if (first == last)
        snprintf(dst, size, "%s", first == NULL ? "nothing" : first);
    else
        snprintf(dst, size, "one of %s .. %s", first, last);
}

void tw_operand_describe(const struct tw_operand_info *o, char *dst, size_t size)
{
    int64_t low, high;

    if (o->kind == TW_OPERAND_REGISTER) {
        describe_class(&tw_register_classes[o->register_class], dst, size);
        return;
    }
    limits(o, &low, &high);
    if (o->scale > 1)
        snprintf(dst, size, "multiples of %d from %" PRId64 " to %" PRId64, o->scale, low, high);
    else
        snprintf(dst, size, "%s from %" PRId64 " to %" PRId64, o->kind == TW_OPERAND_ADDRESS ? "addresses" : "numbers",
                 low, high);
}

void tw_operation_complete(struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->bits != 0)
            continue;
        if (o->tied_to >= 0)
            op->operands[i] = op->operands[o->tied_to];
        else if (o->leaf_of >= 0)
            op->operands[i] = tw_registers[op->operands[o->leaf_of]].leaves[o->leaf];
        else
            op->operands[i] = tw_register_classes[o->register_class].by_value[0];
    }
}
