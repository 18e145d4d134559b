/* Looks things up in the generated tables. */
#include "isa/isa.h"

#include "isa/tables.h"

#include <string.h>

int tw_format_find(unsigned slots, int exact)
{
    int best = -1;

    for (int i = 0; i < TW_FORMAT_COUNT; i++) {
        const struct tw_format *f = &tw_formats[i];
        if (f->slots == slots)
            return i;
        if (exact || (slots & ~(unsigned)f->slots) != 0)
            continue;
        if (best < 0 || f->bytes < tw_formats[best].bytes)
            best = i;
    }
    return best;
}

/* Compares a text with a register's name as strcmp does. */
static int compare_name(const char *name, size_t size, unsigned reg)
{
    size_t length = tw_register_name_lengths[reg];
    int c = memcmp(name, tw_registers[reg].name, size < length ? size : length);
    return c != 0 ? c : (size > length) - (size < length);
}

int tw_register_find(const char *name, size_t size)
{
    unsigned low = 0, high = TW_R_COUNT;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (compare_name(name, size, tw_registers_by_name[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == TW_R_COUNT || compare_name(name, size, tw_registers_by_name[low]) != 0)
        return -1;
    return tw_registers_by_name[low];
}

static int applies(const struct tw_variant *v, const struct tw_operation *op)
{
    for (unsigned i = 0; i < v->n_conditions; i++) {
        int64_t reg = op->operands[v->operand[i]];
        if (reg < 0 || reg >= TW_R_COUNT || (v->groups[i] >> tw_registers[reg].group & 1) == 0)
            return 0;
    }
    return 1;
}

const struct tw_schedule_class *tw_operation_schedule(const struct tw_operation *op)
{
    unsigned class = tw_instructions[op->instruction].schedule;
    int first = tw_first_variant[class];

    for (unsigned v = (unsigned)first; first >= 0 && v < tw_variant_count && tw_variants[v].from == class; v++)
        if (applies(&tw_variants[v], op))
            return &tw_schedule_classes[tw_variants[v].to];
    return &tw_schedule_classes[class];
}
