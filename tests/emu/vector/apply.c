#include "emu/vector/apply.h"

#include "emu/vector_kernels.h"

#include <stdalign.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#define CELL 128

const struct tw_semantics *vector_row(uint16_t instruction)
{
    unsigned count;
    const struct tw_semantics *rows = tw_vector_semantics(&count);
    for (unsigned i = 0; i < count; i++)
        if (rows[i].instruction == instruction)
            return &rows[i];
    return NULL;
}

/* The place of a named value. */
static unsigned place(const struct tw_instruction *info, const char *name)
{
    for (unsigned k = 0; k < info->n_operands; k++)
        if (strcmp(info->operands[k].name, name) == 0)
            return k;
    for (unsigned k = 0; k < info->n_defs; k++)
        if (strcmp(tw_registers[info->defs[k]].name, name) == 0)
            return info->n_operands + k;
    for (unsigned k = 0; k < info->n_uses; k++)
        if (strcmp(tw_registers[info->uses[k]].name, name) == 0)
            return info->n_operands + info->n_defs + k;
    assert_string_equal(name, "memory");
    return TW_VALUE_MEMORY;
}

const char *apply(uint16_t instruction, const struct named *values, size_t count, const char *output, void *result,
                  size_t size)
{
    alignas(64) unsigned char cells[TW_VALUES_MAX][CELL] = {{0}}, outputs[TW_VALUES_MAX][CELL] = {{0}};
    const void *in[TW_VALUES_MAX];
    void *out[TW_VALUES_MAX];
    const struct tw_instruction *info = &tw_instructions[instruction];
    const struct tw_semantics *row = vector_row(instruction);
    assert_non_null(row);
    for (unsigned k = 0; k < TW_VALUES_MAX; k++) {
        in[k] = cells[k];
        out[k] = outputs[k];
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(values[i].size <= CELL);
        memcpy(cells[place(info, values[i].name)], values[i].value, values[i].size);
    }
    const char *reason = row->function(row, tw_vector_kernels_of(TW_KERNELS_C, 0), in, out);
    memcpy(result, outputs[place(info, output)], size);
    return reason;
}

uint32_t apply_scalar(uint16_t instruction, const struct named *values, size_t count, const char *output)
{
    uint32_t number;
    assert_null(apply(instruction, values, count, output, &number, sizeof number));
    return number;
}
