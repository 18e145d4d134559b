/* Runs one vector instruction outside of a core. */
#include "cli/vectors.h"

#include "emu/semantics.h"
#include "emu/vector_kernels.h"

#include <stdalign.h>
#include <string.h>

static const struct tw_semantics *find_row(uint16_t instruction)
{
    unsigned count;
    const struct tw_semantics *rows = tw_vector_semantics(&count);
    for (unsigned i = 0; i < count; i++)
        if (rows[i].instruction == instruction)
            return &rows[i];
    return NULL;
}

/* The name of value k: operands, then implicit definitions, then implicit uses. */
static const char *value_name(const struct tw_instruction *info, unsigned k)
{
    if (k < info->n_operands)
        return info->operands[k].name;
    k -= info->n_operands;
    return tw_registers[k < info->n_defs ? info->defs[k] : info->uses[k - info->n_defs]].name;
}

static int is_output(const struct tw_instruction *info, unsigned k)
{
    return k < info->n_operands ? info->operands[k].role == TW_OPERAND_OUT : k < info->n_operands + info->n_defs;
}

int tw_vectors_columns(const struct tw_table *table, const struct tw_wanted_column *wanted, size_t count,
                       struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = 0; i < count && code == TW_OK; i++)
        code = tw_table_column(table, wanted[i].name, wanted[i].number, err);
    return code;
}

void tw_instruction_call(const struct tw_vectors *vectors, uint16_t instruction, const struct tw_named_value *values,
                         size_t count, struct tw_instruction_call *call)
{
    alignas(64) unsigned char cells[TW_VALUES_MAX][TW_CELL_BYTES] = {{0}};
    const void *in[TW_VALUES_MAX] = {NULL};
    void *out[TW_VALUES_MAX] = {NULL};
    const struct tw_semantics *row = find_row(instruction);
    const struct tw_instruction *info = &tw_instructions[instruction];
    memset(call->result, 0, sizeof call->result);
    if (row == NULL) {
        call->unknown = "the instruction is not modelled";
        return;
    }
    for (unsigned k = 0; k < (unsigned)info->n_operands + info->n_defs + info->n_uses; k++) {
        if (is_output(info, k))
            out[k] = cells[k];
        else
            in[k] = cells[k];
        for (size_t i = 0; i < count; i++)
            if (strcmp(values[i].name, value_name(info, k)) == 0)
                memcpy(cells[k], values[i].value, values[i].size < TW_CELL_BYTES ? values[i].size : TW_CELL_BYTES);
    }
    call->unknown = row->function(row, vectors->kernels, in, out);
    if (call->unknown == NULL)
        memcpy(call->result, cells[0], sizeof call->result);
}
